"""A last look of early passes at what late passes have changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.db import RewriteDatabase, does_nothing
from aesara.graph.rewriting.equilibrium import EquilibriumGraphRewriter, WorkList
from aesara.graph.rewriting.rewriter import GraphRewriter


class Changes(WorkList):
    """The nodes that are new, or have changed, since a pass has ended."""

    def __init__(self, since: str):
        super().__init__(())
        self.since = since


class Watch(GraphRewriter):
    """Notes from here on which nodes are new, or have changed: news for the pass that has just ended.

    Parameters
    ----------
    after
        The name of that pass.
    """

    def __init__(self, after: str):
        self.after = after

    def apply(self, fgraph: FunctionGraph) -> None:
        fgraph.attach_feature(Changes(self.after))

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Nothing: the list is attached when the pass is reached."""


class Settling(GraphRewriter):
    """Applies each of several passes once more, to what has changed since it ended.

    Passes run one after the other. A late one may leave an expression that an early one has rules for; looking only
    at the nodes that changed costs little, and the graph that comes out is one that the passes leave as it is. (Once is
    enough: canonical and fast forms of the same expression would take turns.)

    Parameters
    ----------
    rewriters
        The passes by their names. One that is not watched is left out.
    """

    def __init__(self, rewriters: Mapping[str, EquilibriumGraphRewriter]):
        self.rewriters = dict(rewriters)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rewriter in self.rewriters.values():
            rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> None:
        changes = {feature.since: feature for feature in fgraph._features if isinstance(feature, Changes)}
        for name, rewriter in self.rewriters.items():
            news = changes.pop(name, None)
            if news is None:
                continue
            # What the pass itself changes is no news to it.
            fgraph.remove_feature(news)
            news.settle(fgraph)
            outputs = [output for node in news.queue if node in fgraph.apply_nodes for output in node.outputs]
            if outputs:
                rewriter.apply(fgraph, start_from=outputs)
        for unread in changes.values():
            fgraph.remove_feature(unread)


class SettlingDB(RewriteDatabase):
    """Makes a `Settling` of what databases of equilibria answer to a query."""

    def __init__(self, *databases: RewriteDatabase):
        super().__init__()
        self.databases = databases

    def query(self, *tags: Any, **kwtags: Any) -> Settling:
        answers = {str(database.name): database.query(*tags, **kwtags) for database in self.databases}
        return Settling({name: rewriter for name, rewriter in answers.items() if not does_nothing(rewriter)})
