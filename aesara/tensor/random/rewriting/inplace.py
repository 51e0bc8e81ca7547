"""Draws that update the state of a generator without other clients in place, instead of a copy of it."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.tensor.random.random_variable import RandomVariable
from aesara.tensor.rewriting.inplace import InplaceWriter


@node_rewriter([RandomVariable])
def random_make_inplace(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Change the state of the generator that comes in."""
    op: RandomVariable = node.op
    if op.inplace:
        return False
    properties = {**op._props_dict(), "inplace": True}
    return type(op)(**properties).make_node(*node.inputs).outputs


optdb.register("random_make_inplace", InplaceWriter(random_make_inplace), "fast_run", "inplace", position=99)
