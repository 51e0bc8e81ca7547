"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.autodiff import Lop
from aesara.graph.cloning import graph_replace
from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import stand_in
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import abs as absolute
from aesara.tensor.elementwise.ops import conj, eq, imag, real
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    are_closed,
    as_square,
    cast_together,
    check_choice,
    common_size,
    divided_by_gaps,
    gaps_between,
    identity_like,
    is_connected,
    matrix_type,
    of_triangle,
    real_dtype,
    scipy_linalg,
    vector_type,
    zeros_without_derivative,
)
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.products.dot import dot
from aesara.tensor.reductions.argmax import argmax
from aesara.tensor.reductions.sum_prod_max import max as largest

__all__ = [
    "Eig",
    "Eigh",
    "EighGrad",
    "Eigvalsh",
    "EigvalshGrad",
    "GeneralizedEigh",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
]


COMPLEX_EIGENVALUES = (
    "the eigenvalues of this real matrix are complex. Cast it to complex numbers first: eig(x.astype('complex128'))."
)


class Eig(MatrixOp):
    """The eigenvalues and right eigenvectors (columns) of a square matrix.

    The results have the dtype of the matrix. Complex eigenvalues of a real matrix raise an error; cast the matrix to a
    complex dtype to get them.

    Examples
    --------
    >>> values, vectors = Eig()([[2.0, 0.0], [0.0, 3.0]])
    >>> values.eval()
    array([2., 3.])
    """

    __props__: tuple[str, ...] = ()
    gufunc_signature = "(n,n)->(n),(n,n)"

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_square(self, x, "x"))
        size = common_size(self, *x.type.shape)
        dtype = x.type.dtype
        return Apply(self, [x], [vector_type(dtype, size)(), matrix_type(dtype, size, size)()])

    def perform(self, node, inputs, output_storage, params=None):
        values, vectors = np.linalg.eig(inputs[0])
        if values.dtype.kind == "c" and inputs[0].dtype.kind != "c":
            if values.imag.any():
                raise np.linalg.LinAlgError(f"{self}: {COMPLEX_EIGENVALUES}")
            # Since 2.5 NumPy gives complex numbers always.
            values, vectors = values.real.copy(), vectors.real.copy()
        output_storage[0][0], output_storage[1][0] = values, vectors

    def infer_shape(self, fgraph, node, shapes):
        return [(shapes[0][0],), shapes[0]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Boeddeker et al. (2017), "On the computation of complex-valued gradients ...", for vectors of length one.

        LAPACK makes the largest element of each vector real.
        """
        (w, v), (of_w, of_v) = outputs, output_grads
        middle = None
        if is_connected(of_w):
            middle = identity_like(v) * of_w.astype(v.type.dtype)
        if is_connected(of_v):
            if v.type.dtype.startswith("complex"):
                is_largest = eq(arange(v.shape[0]).dimshuffle(0, "x"), argmax(absolute(v), axis=0).dimshuffle("x", 0))
                turned = imag((conj(of_v) * v).sum(axis=0)) / real((v * is_largest).sum(axis=0))
                of_v = of_v + is_largest * (turned.astype(v.type.dtype) * np.asarray(1j, dtype=v.type.dtype))
            inner = dot(adjoint(v), of_v)
            lengths = real((conj(v) * of_v).sum(axis=0)).astype(v.type.dtype)
            inner = inner - dot(adjoint(v), v) * lengths
            gaps = conj(gaps_between(w))
            off_diagonal = 1 - identity_like(v)
            part = off_diagonal * inner / (gaps + identity_like(v))
            middle = part if middle is None else middle + part
        if middle is None:
            return [inputs[0].zeros_like()]
        return [Solve()(adjoint(v), dot(middle, adjoint(v)))]


eig = Eig()


def eigvals(x: TensorLike) -> TensorVariable:
    """The eigenvalues of a square matrix; see `eig`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.eigvals([[2.0, 0.0], [0.0, 3.0]]).eval()
    array([2., 3.])
    """
    return eig(x)[0]


class Eigh(Eig):
    """The eigenvalues, ascending, and eigenvectors (columns) of a Hermitian matrix.

    Only one triangle of the matrix is read; gradients are zero in the other.

    Parameters
    ----------
    UPLO
        Which one: ``"L"`` or ``"U"``.
    """

    __props__ = ("UPLO",)

    def __init__(self, UPLO: str = "L"):
        self.UPLO = check_choice("UPLO", UPLO, ("L", "U"))

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_square(self, x, "x"))
        size = common_size(self, *x.type.shape)
        dtype = x.type.dtype
        return Apply(self, [x], [vector_type(real_dtype(dtype), size)(), matrix_type(dtype, size, size)()])

    def read_of(self, a: np.ndarray) -> np.ndarray:
        return np.tril(a) if self.UPLO == "L" else np.triu(a)

    def perform(self, node, inputs, output_storage, params=None):
        output_storage[0][0], output_storage[1][0] = np.linalg.eigh(inputs[0], self.UPLO)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        w, v = outputs
        of_w, of_v = output_grads
        return [_hermitian_gradient(inputs[0], w, v, of_w, of_v, self.UPLO == "L")]


def _hermitian_gradient(
    x: TensorVariable, w: TensorVariable, v: TensorVariable, of_w: TensorVariable, of_v: TensorVariable, lower: bool
) -> TensorVariable:
    """Return the gradient for a triangle of a Hermitian matrix, given those for its eigenvalues and eigenvectors."""
    parts = []
    if is_connected(of_w):
        parts.append(identity_like(v) * of_w.astype(v.type.dtype))
    if is_connected(of_v):
        inner = dot(adjoint(v), of_v)
        scale = largest(absolute(w), initial=0)
        # Directions within the matrix are Hermitian: only this part of the result counts.
        parts.append(divided_by_gaps(0.5 * (inner - adjoint(inner)), gaps_between(w), scale, inner))
    if not parts:
        return x.zeros_like()
    middle = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return of_triangle(dot(dot(v, middle), adjoint(v)), lower)


class _GradientOp(MatrixOp):
    """A gradient as one op, which is differentiated as an expression."""

    def expression(self, *inputs: TensorVariable) -> list[TensorVariable]:
        """Return the outputs in terms of other ops."""
        raise NotImplementedError(f"{type(self).__name__}.expression")

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        free = [stand_in(v) for v in inputs]
        pairs = [(o, g) for o, g in zip(self.expression(*free), output_grads) if is_connected(g)]
        gradients = Lop([o for o, _ in pairs], free, [g for _, g in pairs], disconnected_inputs="ignore")
        return graph_replace(gradients, dict(zip(free, inputs)), strict=False)


class EighGrad(_GradientOp):
    """The gradient of `Eigh` for its matrix, from the matrix, its results and their gradients.

    Parameters
    ----------
    UPLO
        Which triangle of the matrix was read.
    """

    __props__ = ("UPLO",)
    gufunc_signature = "(n,n),(n),(n,n),(n),(n,n)->(n,n)"

    def __init__(self, UPLO: str = "L"):
        self.UPLO = check_choice("UPLO", UPLO, ("L", "U"))

    def make_node(self, x: Any, w: Any, v: TensorLike, gw: TensorLike, gv: TensorLike) -> Apply:
        tensors = [as_tensor_variable(value) for value in (x, w, v, gw, gv)]
        return Apply(self, tensors, [tensors[0].type()])

    def expression(self, *inputs: TensorVariable) -> list[TensorVariable]:
        x, w, v, of_w, of_v = inputs
        return [_hermitian_gradient(x, w, v, of_w, of_v, self.UPLO == "L")]

    def perform(self, node, inputs, output_storage, params=None):
        x, w, v, gw, gv = inputs
        n, eps = len(w), np.finfo(w.dtype).eps
        inner = v.conj().T @ gv
        gaps = w[None, :] - w[:, None]
        # As `divided_by_gaps` has it
        closed = abs(gaps) <= n * abs(w).max(initial=0) * 4 * eps
        size = abs(inner)
        ends = closed & (np.maximum(size, size.T) <= n * size.max(initial=0) * 64 * eps)
        left_out = ends | np.eye(n, dtype=bool)
        inner[left_out] = 0
        gaps[closed], gaps[left_out] = np.nan, 1
        whole = v @ (np.diag(gw) + inner / gaps) @ v.conj().T
        both = whole + whole.conj().T
        both[np.diag_indices(len(w))] *= 0.5
        output_storage[0][0] = (np.tril(both) if self.UPLO == "L" else np.triu(both)).astype(x.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]


def eigh(a: TensorLike, b: Any = None, UPLO: str = "L") -> list[TensorVariable]:
    """The eigenvalues, ascending, and the eigenvectors, in columns, of a Hermitian matrix.

    Parameters
    ----------
    a
        The matrix, of which one triangle is read.
    b
        A Hermitian positive definite matrix: solve ``a v = w b v`` with ``v^H b v = 1``. A text is taken for `UPLO`.
    UPLO
        Which triangle: ``"L"`` or ``"U"``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> values, vectors = at.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> values.eval()
    array([1., 2.])
    """
    if isinstance(b, str):
        b, UPLO = None, b
    if b is None:
        return Eigh(UPLO)(a)
    return GeneralizedEigh(check_choice("UPLO", UPLO, ("L", "U")) == "L")(a, b)


class GeneralizedEigh(MatrixOp):
    """The eigenvalues w, ascending, and eigenvectors v of ``A v = w B v``, with ``v^H B v = 1``.

    Only one triangle of each matrix is read; gradients are zero in the other.

    Parameters
    ----------
    lower
        Whether it is the lower one.
    """

    __props__ = ("lower",)
    gufunc_signature = "(n,n),(n,n)->(n),(n,n)"

    def __init__(self, lower: bool = True):
        self.lower = bool(lower)

    def make_node(self, a: Any, b: Any) -> Apply:
        a, b = cast_together(self, as_square(self, a), as_square(self, b, "b"))
        size = common_size(self, *a.type.shape, *b.type.shape, quantity="orders of the matrices")
        dtype = a.type.dtype
        return Apply(self, [a, b], [vector_type(real_dtype(dtype), size)(), matrix_type(dtype, size, size)()])

    def perform(self, node, inputs, output_storage, params=None):
        a, b = inputs
        if a.size == b.size == 0:  # SciPy refuses them before 1.14
            values, vectors = a.real.diagonal().copy(), a.copy()
        else:
            values, vectors = scipy_linalg().eigh(a, b, lower=self.lower)
        output_storage[0][0], output_storage[1][0] = values, vectors

    def infer_shape(self, fgraph, node, shapes):
        return [(shapes[0][0],), shapes[0]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (w, v), (of_w, of_v) = outputs, output_grads
        values = w.dimshuffle("x", 0).astype(v.type.dtype)
        of_a, of_b = [], []
        if is_connected(of_w):
            diagonal = identity_like(v) * of_w.astype(v.type.dtype)
            of_a.append(diagonal)
            of_b.append(diagonal * values)
        if is_connected(of_v):
            inner = dot(adjoint(v), of_v)
            beside = divided_by_gaps(inner, gaps_between(w), largest(absolute(w), initial=0), inner)
            of_a.append(beside)
            of_b.append(beside * values + 0.5 * identity_like(v) * inner)
        if not of_a:
            return [x.zeros_like() for x in inputs]
        whole = [dot(dot(v, _sum(parts)), adjoint(v)) for parts in (of_a, of_b)]
        return [of_triangle(whole[0], self.lower), -of_triangle(whole[1], self.lower)]


def _sum(parts: Sequence[TensorVariable]) -> TensorVariable:
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


class Eigvalsh(MatrixOp):
    """The eigenvalues w, ascending, of ``A v = w B v`` for Hermitian matrices, of which B is positive definite.

    Parameters
    ----------
    lower
        Whether the lower triangles are read.
    """

    __props__ = ("lower",)

    def __init__(self, lower: bool = True):
        self.lower = check_choice("lower", lower, (True, False))

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        return "(n,n)->(n)" if len(inputs) == 1 else "(n,n),(n,n)->(n)"

    def __call__(self, a: Any, b: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]  # these go to make_node
        return super().__call__(a, **kwargs) if _is_nothing(b) else super().__call__(a, b, **kwargs)

    def make_node(self, a: Any, b: Any = None) -> Apply:
        matrices = [as_square(self, a)] if _is_nothing(b) else [as_square(self, a), as_square(self, b, "b")]
        tensors = cast_together(self, *matrices)
        size = common_size(self, *[n for x in tensors for n in x.type.shape], quantity="orders of the matrices")
        return Apply(self, tensors, [vector_type(real_dtype(tensors[0].type.dtype), size)()])

    def perform(self, node, inputs, output_storage, params=None):
        if all(x.size == 0 for x in inputs):  # SciPy refuses them before 1.14
            output_storage[0][0] = inputs[0].real.diagonal().copy()
        else:
            output_storage[0][0] = scipy_linalg().eigvalsh(*inputs, lower=bool(self.lower))

    def infer_shape(self, fgraph, node, shapes):
        return [(shapes[0][0],)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        return _gradient_of_values(inputs, output_grads[0], bool(self.lower))


def _is_nothing(b: TensorLike) -> bool:
    return b is None or (isinstance(b, Constant) and b.data is None)


def _gradient_of_values(matrices: Sequence[TensorVariable], g: TensorVariable, lower: bool) -> list[TensorVariable]:
    w, v = GeneralizedEigh(lower)(*matrices) if len(matrices) == 2 else Eigh("L" if lower else "U")(*matrices)
    gaps = gaps_between(w)
    unsure = zeros_without_derivative(gaps, are_closed(gaps, largest(absolute(w), initial=0)))
    g = g + unsure.sum(axis=0).astype(g.type.dtype)
    scaled = v * g.dimshuffle("x", 0).astype(v.type.dtype)
    of_a = of_triangle(dot(scaled, adjoint(v)), lower)
    if len(matrices) == 1:
        return [of_a]
    return [of_a, -of_triangle(dot(scaled * w.dimshuffle("x", 0).astype(v.type.dtype), adjoint(v)), lower)]


class EigvalshGrad(_GradientOp):
    """The gradients of `Eigvalsh` for its two matrices, from these and the gradient for the eigenvalues.

    Parameters
    ----------
    lower
        Whether the lower triangles of the matrices were read.
    """

    __props__ = ("lower",)
    gufunc_signature = "(n,n),(n,n),(n)->(n,n),(n,n)"

    def __init__(self, lower: bool = True):
        self.lower = check_choice("lower", lower, (True, False))

    def make_node(self, a: Any, b: Any, gw: TensorLike) -> Apply:
        a, b = cast_together(self, as_square(self, a), as_square(self, b, "b"))
        return Apply(self, [a, b, as_tensor_variable(gw)], [a.type(), b.type()])

    def expression(self, *inputs: TensorVariable) -> list[TensorVariable]:
        return _gradient_of_values(inputs[:2], inputs[2], bool(self.lower))

    def perform(self, node, inputs, output_storage, params=None):
        a, b, gw = inputs
        w, v = scipy_linalg().eigh(a, b, lower=bool(self.lower))
        for cell, sign, weights in zip(output_storage, (1, -1), (gw, gw * w)):
            both = 2 * (v * weights) @ v.conj().T
            both[np.diag_indices(len(w))] *= 0.5
            cell[0] = (sign * (np.tril(both) if self.lower else np.triu(both))).astype(a.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0], shapes[1]]


def eigvalsh(a: TensorLike, b: TensorLike | None = None, lower: bool = True) -> TensorVariable:
    """The eigenvalues, ascending, of a Hermitian matrix.

    Parameters
    ----------
    a
        The matrix, of which one triangle is read.
    b
        A Hermitian positive definite matrix: solve ``a v = w b v``.
    lower
        Whether the lower triangles are read.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).eval()
    array([1., 2.])
    """
    return Eigvalsh(lower)(a, b)
