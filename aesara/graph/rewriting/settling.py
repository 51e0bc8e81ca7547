"""A last look of early passes at what late passes have changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.db import RewriteDatabase
from aesara.graph.rewriting.equilibrium import EquilibriumGraphRewriter, WorkList
from aesara.graph.rewriting.rewriter import GraphRewriter


class Watch(GraphRewriter):
    """Notes from here on which nodes are new, or have changed."""

    def apply(self, fgraph: FunctionGraph) -> None:
        fgraph.attach_feature(WorkList(()))

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Nothing: the list is attached when the pass is reached."""


class Settling(GraphRewriter):
    """Applies rewriters in turn to what has changed since `Watch`.

    Passes run one after the other. A late one may leave an expression that an early one has rules for; looking only
    at the nodes that changed costs little, and the graph that comes out is one that the passes leave as it is. (Once is
    enough: canonical and fast forms of the same expression would take turns.)
    """

    def __init__(self, rewriters: Sequence[EquilibriumGraphRewriter]):
        self.rewriters = list(rewriters)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rewriter in self.rewriters:
            rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> None:
        watch = next((feature for feature in fgraph._features if type(feature) is WorkList), None)
        if watch is None:
            return
        try:
            for rewriter in self.rewriters:
                watch.settle(fgraph)
                changed = [node for node in watch.queue if node in fgraph.apply_nodes]
                if changed:
                    rewriter.apply(fgraph, start_from=[output for node in changed for output in node.outputs])
        finally:
            fgraph.remove_feature(watch)


class SettlingDB(RewriteDatabase):
    """Makes a `Settling` of what databases of equilibria answer to a query."""

    def __init__(self, *databases: RewriteDatabase):
        super().__init__()
        self.databases = databases

    def query(self, *tags: Any, **kwtags: Any) -> Settling:
        answers = [database.query(*tags, **kwtags) for database in self.databases]
        return Settling([answer for answer in answers if isinstance(answer, EquilibriumGraphRewriter)])
