"""Rules for in-place products of selected blocks."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.tensor.nnet.blocksparse import (
    SparseBlockGemv,
    SparseBlockOuter,
    sparse_block_gemv_inplace,
    sparse_block_outer_inplace,
)
from aesara.tensor.rewriting.inplace import InplaceWriter
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


@node_rewriter([SparseBlockGemv])
def local_inplace_sparse_block_gemv(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Add products of blocks and vectors to the memory of the first input."""
    if node.op.inplace:
        return False
    return sparse_block_gemv_inplace(*node.inputs, return_list=True)


@node_rewriter([SparseBlockOuter])
def local_inplace_sparse_block_outer(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Add outer products to the memory of the first input."""
    if node.op.inplace:
        return False
    return sparse_block_outer_inplace(*node.inputs, return_list=True)


for _rule in (local_inplace_sparse_block_gemv, local_inplace_sparse_block_outer):
    rules.into(optdb, InplaceWriter(_rule), "fast_run", "inplace", name=_rule.name, position=60)
