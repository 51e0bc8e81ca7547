"""Schur decompositions, of one matrix and of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    as_square,
    cast_together,
    check_choice,
    common_size,
    matrix_type,
    scipy_linalg,
)

__all__ = ["QZ", "Schur", "qz", "schur"]

_COMPLEX = {"float32": "complex64", "float64": "complex128"}


class _SchurForm(MatrixOp):
    """A decomposition into unitary matrices and (nearly) triangular ones.

    Parameters
    ----------
    output
        ``"real"``: for real matrices the triangular ones are real, with blocks of two by two on the diagonal for pairs
        of complex eigenvalues. ``"complex"``: they are triangular, and all results complex.
    """

    __props__: tuple[str, ...] = ("output",)
    n_inputs = 1

    def __init__(self, output: str = "real"):
        self.output = check_choice("output", output, ("real", "complex"))

    def make_node(self, *given: Any) -> Apply:
        if len(given) != self.n_inputs:
            raise TypeError(f"{self} takes {self.n_inputs} matrices; got {len(given)}.")
        inputs = cast_together(self, *[as_square(self, x, name) for x, name in zip(given, "ab")])
        dtype = inputs[0].type.dtype
        if self.output == "complex":
            dtype = _COMPLEX.get(dtype, dtype)
            inputs = [x if x.type.dtype == dtype else x.astype(dtype) for x in inputs]
        size = common_size(self, *[n for x in inputs for n in x.type.shape], quantity="orders of the matrices")
        return Apply(self, inputs, [matrix_type(dtype, size, size)() for _ in range(2 * self.n_inputs)])

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]] * len(node.outputs)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        raise NotImplementedError(
            f"{self} has no gradient: its results depend on the order in which eigenvalues are found and on signs or "
            "phases of vectors, which a small change of the matrix may change. For eigenvalues use eig or eigh, for "
            "functions of matrices sqrtm, logm, expm or solve_sylvester, which have one."
        )


class Schur(_SchurForm):
    """The Schur decomposition ``A = Z T Z^H``; the outputs are T and Z."""

    __props__ = ("output",)
    gufunc_signature = "(n,n)->(n,n),(n,n)"

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        factors = (x, x) if x.size == 0 else scipy_linalg().schur(x, output=self.output)
        for cell, value in zip(output_storage, factors):
            cell[0] = np.array(value, dtype=x.dtype)


class QZ(_SchurForm):
    """The generalised Schur decomposition ``A = Q S Z^H``, ``B = Q T Z^H``; the outputs are S, T, Q and Z."""

    __props__ = ("output",)
    gufunc_signature = "(n,n),(n,n)->(n,n),(n,n),(n,n),(n,n)"
    n_inputs = 2

    def perform(self, node, inputs, output_storage, params=None):
        a, b = inputs
        factors = (a,) * 4 if a.size == 0 else scipy_linalg().qz(a, b, output=self.output)
        for cell, value in zip(output_storage, factors):
            cell[0] = np.array(value, dtype=a.dtype)


def schur(a: TensorLike, output: str = "real") -> list[TensorVariable]:
    """The Schur decomposition ``a = Z T Z^H`` with a unitary Z; see `scipy.linalg.schur`. It has no gradient.

    Parameters
    ----------
    a
        A square matrix, or a batch of them.
    output
        ``"real"``: T of a real matrix is real, with blocks of two by two on its diagonal for pairs of complex
        eigenvalues. ``"complex"``: T is triangular, and both results are complex.

    Returns
    -------
    list of Variable
        T and Z.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> T, Z = at.linalg.schur([[1.0, 2.0], [0.0, 3.0]])
    >>> T.eval()
    array([[1., 2.],
           [0., 3.]])
    """
    return Schur(output)(a)


def qz(A: TensorLike, B: TensorLike, output: str = "real") -> list[TensorVariable]:
    """The generalised Schur decomposition ``A = Q S Z^H``, ``B = Q T Z^H``; see `scipy.linalg.qz`. It has no gradient.

    Returns
    -------
    list of Variable
        S, T, Q and Z.
    """
    return QZ(output)(A, B)
