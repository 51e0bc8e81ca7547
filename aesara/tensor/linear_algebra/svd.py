"""The singular value decomposition, and functions of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq, minimum, switch
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_matrix,
    cast_together,
    divided_by_gaps,
    gaps_between,
    identity_like,
    is_connected,
    matrix_type,
    real_dtype,
    refuse_infinities,
    vector_type,
)
from aesara.tensor.products.dot import dot
from aesara.tensor.reductions.sum_prod_max import max as largest

__all__ = ["SVD", "svd", "svdvals"]


class SVD(MatrixOp):
    """The singular value decomposition ``A = U diag(s) V^H``; the outputs are U, s and V^H.

    Parameters
    ----------
    full_matrices
        Whether U and V are square; else they have as many columns as there are singular values.
    compute_uv
        Whether there are U and V^H; else s is the only output.
    """

    __props__ = ("full_matrices", "compute_uv")

    def __init__(self, full_matrices: bool = True, compute_uv: bool = True):
        self.full_matrices = full_matrices
        self.compute_uv = compute_uv

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        if not self.compute_uv:
            return "(m,n)->(k)"
        return "(m,n)->(m,m),(k),(n,n)" if self.full_matrices else "(m,n)->(m,k),(k),(k,n)"

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_matrix(self, x, "x"))
        rows, columns = x.type.shape
        k = None if rows is None or columns is None else min(rows, columns)
        s = vector_type(real_dtype(x.type.dtype), k)()
        if not self.compute_uv:
            return Apply(self, [x], [s])
        dtype = x.type.dtype
        u = matrix_type(dtype, rows, rows if self.full_matrices else k)()
        return Apply(self, [x], [u, s, matrix_type(dtype, columns if self.full_matrices else k, columns)()])

    def read_of(self, a: np.ndarray) -> np.ndarray:
        return a

    def harmless(self, a: TensorVariable) -> TensorVariable:
        zeros: TensorVariable = a.zeros_like()
        return zeros

    def perform(self, node, inputs, output_storage, params=None):
        refuse_infinities(self, inputs[0])
        factors = np.linalg.svd(inputs[0], full_matrices=bool(self.full_matrices), compute_uv=bool(self.compute_uv))
        for cell, value in zip(output_storage, tuple(factors) if self.compute_uv else (factors,)):
            cell[0] = value

    def infer_shape(self, fgraph, node, shapes):
        rows, columns = shapes[0]
        k = minimum(rows, columns)
        if not self.compute_uv:
            return [(k,)]
        if self.full_matrices:
            return [(rows, rows), (k,), (columns, columns)]
        return [(rows, k), (k,), (k, columns)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (x,) = inputs
        if not self.compute_uv:
            u, _, vh = SVD(False, True)(x)
            return [dot(u * output_grads[0].dimshuffle("x", 0).astype(x.type.dtype), vh)]
        (u, s, vh), (of_u, of_s, of_vh) = outputs, output_grads
        parts = []
        if is_connected(of_s):
            columns = SVD(False, True)(x) if self.full_matrices else outputs
            parts.append(dot(columns[0] * of_s.dimshuffle("x", 0).astype(x.type.dtype), columns[2]))
        if is_connected(of_u) or is_connected(of_vh):
            if self.full_matrices:
                square = Assert(
                    "The gradient of a full singular value decomposition with U and V is that of a square matrix: the "
                    "vectors that fill up U or V are not determined. Use svd(x, full_matrices=False)."
                )
                u = square(u, eq(x.shape[0], x.shape[1]))
            parts.append(_gradient_by_vectors(u, s, vh, of_u, of_vh))
        if not parts:
            return [x.zeros_like()]
        return [parts[0] if len(parts) == 1 else parts[0] + parts[1]]


def _gradient_by_vectors(
    u: TensorVariable, s: TensorVariable, vh: TensorVariable, of_u: TensorVariable, of_vh: TensorVariable
) -> TensorVariable:
    """Wan and Zhang (2019), "Automatic differentiation for complex valued SVD"."""
    v, uh = adjoint(vh), adjoint(u)
    dtype = u.type.dtype
    values = s.dimshuffle("x", 0).astype(dtype)
    middle: list[TensorVariable] = []
    beside: list[TensorVariable] = []
    # s_j^2 - s_i^2, without the loss of digits in squares
    sums = s.dimshuffle("x", 0) + s.dimshuffle(0, "x")
    sums = switch(eq(sums, 0), np.asarray(1, sums.type.dtype), sums).astype(dtype)
    scale = largest(s, initial=0)
    if is_connected(of_u):
        inner = dot(uh, of_u)
        part = divided_by_gaps(inner - adjoint(inner), gaps_between(s), scale, inner) / sums
        middle.append(part * values)
        beside.append(dot((of_u - dot(u, inner)) / values, vh))
    if is_connected(of_vh):
        of_v = adjoint(of_vh)
        inner = dot(vh, of_v)
        part = divided_by_gaps(inner - adjoint(inner), gaps_between(s), scale, inner) / sums
        middle.append(values.T * part)
        beside.append(dot(u, adjoint((of_v - dot(v, inner)) / values)))
        if dtype.startswith("complex"):
            phases = identity_like(inner) * inner
            middle.append(0.5 * (adjoint(phases) - phases) / values)
    total = middle[0]
    for part in middle[1:]:
        total = total + part
    result = dot(dot(u, total), vh)
    for part in beside:
        result = result + part
    return result


def svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """The singular value decomposition ``a = U diag(s) V^H``.

    Parameters
    ----------
    a
        A matrix, or a batch of them.
    full_matrices
        Whether U and V are square; else they have as many columns as there are singular values. Gradients for U and V
        of matrices that are not square need the latter.
    compute_uv
        Whether U and V^H are returned.

    Returns
    -------
    list of Variable or Variable
        U, s, descending, and V^H; or s alone.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.svd([[0.0, 3.0], [-2.0, 0.0]], compute_uv=False).eval()
    array([3., 2.])
    """
    return SVD(full_matrices, compute_uv)(a)


def svdvals(a: TensorLike) -> TensorVariable:
    """The singular values of a matrix, descending.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.svdvals([[0.0, 3.0], [-2.0, 0.0]]).eval()
    array([3., 2.])
    """
    return SVD(False, False)(a)
