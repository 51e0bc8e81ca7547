"""Helpers of rewrites of loops: finding loops, and replacing them by edited ones."""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.db import EquilibriumDB
from aesara.graph.rewriting.rewriter import GraphRewriter, NodeRewriter
from aesara.graph.source import inherit_source
from aesara.scan.arguments import ScanArgs
from aesara.scan.op import Scan

__all__ = ["LoopDB", "OverLoops", "apply_edited", "edited_node", "loops_of", "same_length"]


def loops_of(fgraph: FunctionGraph) -> list[Apply]:
    """The loops of a graph, in an order in which they can run."""
    if not any(isinstance(node.op, Scan) for node in fgraph.apply_nodes):
        return []
    return [node for node in fgraph.toposort() if isinstance(node.op, Scan)]


class OverLoops(GraphRewriter):
    """Applies a rule to the loops of a graph, the last loop first, until it has nothing left to do.

    Parameters
    ----------
    rule
        A node rewriter that gives a dictionary of outputs of the loop with their replacements, or False.
    """

    idempotent = True

    def __init__(self, rule: NodeRewriter) -> None:
        self.rule = rule
        self.name = rule.name or getattr(rule, "__name__", None)

    def apply(self, fgraph: FunctionGraph) -> int:
        """The number of loops that were replaced."""
        done = 0
        pending = loops_of(fgraph)
        while pending:
            node = pending.pop()
            if node not in fgraph.apply_nodes:
                continue
            found: Any = self.rule.transform(fgraph, node)
            if found:
                fgraph.replace_all_validate(list(found.items()), reason=self.name)
                done += 1
                made = {v.owner for v in found.values() if v.owner is not None and isinstance(v.owner.op, Scan)}
                pending += [new for new in made if new is not node and new in fgraph.apply_nodes]
        return done


class _WhereLoops(GraphRewriter):
    """Applies a rewriter to graphs that have loops."""

    def __init__(self, rewriter: GraphRewriter) -> None:
        self.rewriter = rewriter

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        self.rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> Any:
        return self.rewriter.apply(fgraph) if loops_of(fgraph) else None


class LoopDB(EquilibriumDB):
    """Rewriters of loops that are applied together until none of them changes the graph."""

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        return _WhereLoops(super().query(*tags, **kwtags))


def edited_node(args: ScanArgs, node: Apply, **options: Any) -> Apply:
    """Apply an edited loop.

    Parameters
    ----------
    args
        The edited parts of the loop.
    node
        The old loop.
    options
        Arguments of `Scan` that are not those of the old loop.
    """
    op = node.op
    kept = {"profile": op.profile, "allow_gc": op.allow_gc, "strict": op.strict}
    given = {**op.options, **kept, **options}
    with inherit_source(node):
        loop = Scan(args.inner_inputs, args.inner_outputs, args.info, **given)
        made: Apply = loop.make_node(*args.outer_inputs)
    return made


def apply_edited(args: ScanArgs, node: Apply, **options: Any) -> dict[Variable, Variable]:
    """Apply an edited loop; returns for each output of the old one that is left what takes its place.

    The field of an output that the old loop did not have holds None; the parameters are those of `edited_node`.
    """
    made = edited_node(args, node, **options)
    return {old: new for old, new in zip(args.outer_outputs, made.outputs, strict=True) if old is not None}


def same_length(a: Any, b: Any) -> bool:
    """Return whether two numbers of steps are known to be equal."""
    if a is b:
        return True
    return isinstance(a, Constant) and isinstance(b, Constant) and int(a.data) == int(b.data)
