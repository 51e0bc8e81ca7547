"""Sizes of draws for back ends that compile a program for each shape."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.tensor.core.constant_value import known_entries
from aesara.tensor.core.conversion import constant
from aesara.tensor.random.random_variable import RandomVariable


@node_rewriter([RandomVariable])
def size_parameter_as_tuple(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """A size whose elements are known becomes a constant."""
    rng, size, dtype, *params = node.inputs
    if isinstance(size, Constant):
        return False
    entries = known_entries(size)
    if entries is None or None in entries:
        return False
    return node.op.make_node(rng, constant(entries, dtype="int64"), dtype, *params).outputs
