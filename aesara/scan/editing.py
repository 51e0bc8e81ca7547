"""Helpers of rewrites of loops: search, and replacement by edited loops."""

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
    """Return the loops of a graph in topological order."""
    if not any(isinstance(node.op, Scan) for node in fgraph.apply_nodes):
        return []
    return [node for node in fgraph.toposort() if isinstance(node.op, Scan)]


class OverLoops(GraphRewriter):
    """Applies a rule to each loop of a graph, from the last one to the first, until nothing changes.

    Parameters
    ----------
    rule
        A node rewriter that returns a dictionary of outputs of the loop and their replacements, or False.
    """

    idempotent = True

    def __init__(self, rule: NodeRewriter) -> None:
        self.rule = rule
        self.name = rule.name or getattr(rule, "__name__", None)

    def apply(self, fgraph: FunctionGraph) -> object:
        """Return the number of loops that were replaced."""
        count = 0
        pending = loops_of(fgraph)
        while pending:
            node = pending.pop()
            if node not in fgraph.apply_nodes:
                continue
            replacements: Any = self.rule.transform(fgraph, node)
            if replacements:
                fgraph.replace_all_validate(list(replacements.items()), reason=self.name)
                count += 1
                new_loops = {
                    v.owner for v in replacements.values() if v.owner is not None and isinstance(v.owner.op, Scan)
                }
                pending += [new for new in new_loops if new is not node and new in fgraph.apply_nodes]
        return count


class _IfLoops(GraphRewriter):
    """Applies a rewriter to graphs that contain loops."""

    def __init__(self, rewriter: GraphRewriter) -> None:
        self.rewriter = rewriter

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        self.rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> object:
        return self.rewriter.apply(fgraph) if loops_of(fgraph) else None


class LoopDB(EquilibriumDB):
    """Rewriters of loops that are applied together until none of them changes the graph."""

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        return _IfLoops(super().query(*tags, **kwtags))


def edited_node(args: ScanArgs, node: Apply, **options: object) -> Apply:
    """Apply an edited loop, and return its node.

    Parameters
    ----------
    args
        The edited parts of the loop.
    node
        The old loop.
    options
        Arguments of `Scan` that differ from those of the old loop.
    """
    op = node.op
    flags = {"profile": op.profile, "allow_gc": op.allow_gc, "strict": op.strict}
    arguments = {**op.options, **flags, **options}
    with inherit_source(node):
        loop = Scan(args.inner_inputs, args.inner_outputs, args.info, **arguments)
        new_node: Apply = loop.make_node(*args.outer_inputs)
    return new_node


def apply_edited(args: ScanArgs, node: Apply, **options: object) -> dict[Variable, Variable]:
    """Apply an edited loop, and return replacements of outputs of the old one.

    `args.outer_outputs` has the outputs of the old loop, and None for each new output. For the parameters see
    `edited_node`.
    """
    new_node = edited_node(args, node, **options)
    return {old: new for old, new in zip(args.outer_outputs, new_node.outputs, strict=True) if old is not None}


def same_length(a: object, b: object) -> bool:
    """Return whether two numbers of steps are known to be equal."""
    if a is b:
        return True
    return isinstance(a, Constant) and isinstance(b, Constant) and int(a.data) == int(b.data)
