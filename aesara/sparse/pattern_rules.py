"""Rules for sparse matrices that make their graphs smaller, or let operations write over inputs."""

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
    made = node.inputs[0].owner
    if made is None or not isinstance(made.op, CSM):
        return None
    return [
        kind.type.filter_variable(part) if kind.type != part.type else part
        for kind, part in zip(node.outputs, made.inputs)
    ]


@rules.canonicalize
@rules.specialize
@node_rewriter([DenseFromSparse], operands=[SparseFromDense])
def local_dense_from_sparse_sparse_from_dense(fgraph: FunctionGraph, node: Apply) -> Any:
    """dense_from_sparse(sparse_from_dense(x)) -> x"""
    made = node.inputs[0].owner
    if made is None or not isinstance(made.op, SparseFromDense):
        return None
    return [made.inputs[0]]


@node_rewriter([Remove0])
def local_inplace_remove0(fgraph: FunctionGraph, node: Apply) -> Any:
    """Remove stored zeros from a matrix that nobody reads afterwards."""
    if node.op.inplace:
        return False
    return [Remove0(inplace=True)(*node.inputs)]


rules.into(
    optdb, InplaceWriter(local_inplace_remove0), "fast_run", "inplace", name=local_inplace_remove0.name, position=60
)
