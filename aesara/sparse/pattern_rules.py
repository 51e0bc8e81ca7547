"""Rules for sparse matrices: simplification, and updates in place."""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.databases import optdb
from aesara.sparse.arrangement import Remove0
from aesara.sparse.conversion import DenseFromSparse, SparseFromDense
from aesara.sparse.parts import CSM, CSMProperties
from aesara.tensor.rewriting.inplace import InplaceWriter
from aesara.tensor.rewriting.registration import Rules

__all__ = ["local_csm_properties_csm", "local_dense_from_sparse_sparse_from_dense", "local_inplace_remove0"]

rules = Rules()


@rules.canonicalize
@rules.specialize
@node_rewriter([CSMProperties], operands=[CSM])
def local_csm_properties_csm(fgraph: FunctionGraph, node: Apply) -> Any:
    """csm_properties(CSM(data, indices, indptr, shape)) -> data, indices, indptr, shape"""
    construction = node.inputs[0].owner
    if construction is None or not isinstance(construction.op, CSM):
        return None
    return [
        output.type.filter_variable(part) if output.type != part.type else part
        for output, part in zip(node.outputs, construction.inputs)
    ]


@rules.canonicalize
@rules.specialize
@node_rewriter([DenseFromSparse], operands=[SparseFromDense])
def local_dense_from_sparse_sparse_from_dense(fgraph: FunctionGraph, node: Apply) -> Any:
    """dense_from_sparse(sparse_from_dense(x)) -> x"""
    conversion = node.inputs[0].owner
    if conversion is None or not isinstance(conversion.op, SparseFromDense):
        return None
    return [conversion.inputs[0]]


@node_rewriter([Remove0])
def local_inplace_remove0(fgraph: FunctionGraph, node: Apply) -> Any:
    """``remove0(x)`` -> ``remove0(x)`` in place, if `x` is not read afterwards."""
    if node.op.inplace:
        return False
    return [Remove0(inplace=True)(*node.inputs)]


rules.into(
    optdb, InplaceWriter(local_inplace_remove0), "fast_run", "inplace", name=local_inplace_remove0.name, position=60
)
