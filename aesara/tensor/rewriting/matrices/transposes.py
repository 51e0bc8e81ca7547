"""Transposes that change nothing, and those of inverses."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of, transposed_of
from aesara.tensor.rewriting.matrices.parts import applied_like, is_real, matrix_rewriter, swapped
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

__all__ = ["local_inverse_of_transpose", "local_transpose_into_solve", "no_transpose_symmetric", "transinv_to_invtrans"]

#: How far is looked for symmetry at a transpose, of which there are many.
NEAR = 12


@rules.canonicalize
@rules.stabilize
@rules.specialize
@node_rewriter([DimShuffle])
def no_transpose_symmetric(fgraph, node):
    """The transpose of a symmetric matrix is the matrix."""
    (out,) = node.outputs
    x = transposed_of(out)
    if x is None or x.type.dtype[0] not in "fc" or "symmetric" not in facts_of(x, NEAR):
        return False
    return in_place_of(out, x)


@rules.canonicalize
@node_rewriter([DimShuffle], operands=[MatrixInverse])
def transinv_to_invtrans(fgraph, node):
    """``inv(A).T`` as ``inv(A.T)`` where A is a transpose itself, so that both are gone."""
    (out,) = node.outputs
    inverse = transposed_of(out)
    if inverse is None or inverse.owner is None or not isinstance(inverse.owner.op, MatrixInverse):
        return False
    x = transposed_of(inverse.owner.inputs[0])
    return False if x is None else in_place_of(out, inverse.owner.op(x))


@rules.canonicalize
@matrix_rewriter(MatrixInverse)
def local_inverse_of_transpose(fgraph, node):
    """``inv(A.T)`` as ``inv(A).T``: the inverse of A may be there already."""
    (out,) = node.outputs
    x = transposed_of(node.inputs[0])
    return False if x is None else in_place_of(out, swapped(core_op(node)(x)))


@rules.canonicalize
@matrix_rewriter(SolveTriangular)
def local_transpose_into_solve(fgraph, node):
    """Triangular systems with a transpose: the routine reads the matrix in the other order."""
    (out,) = node.outputs
    x = transposed_of(node.inputs[0])
    if x is None or not is_real(x):
        return False
    op = core_op(node)
    turned = SolveTriangular(
        trans=1 if op.trans in (0, "N") else 0,
        lower=not op.lower,
        unit_diagonal=op.unit_diagonal,
        check_finite=op.check_finite,
    )
    return in_place_of(out, applied_like(node, turned, x, node.inputs[1]))
