"""Functions of square matrices: exponentials, logarithms, roots and powers; polar forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.ops import ge
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_matrix,
    as_square,
    cast_together,
    check_choice,
    common_size,
    is_connected,
    matrix_type,
    nan_like,
    refuse_infinities,
    scipy_linalg,
)
from aesara.tensor.linear_algebra.inverse import matrix_inverse
from aesara.tensor.linear_algebra.matrix_equations import SolveSylvester
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.products.dot import dot
from aesara.tensor.products.matmul import matmul
from aesara.tensor.products.vectors import trace

__all__ = [
    "Expm",
    "ExpmGrad",
    "LogMatrix",
    "Polar",
    "SqrtMatrix",
    "expm",
    "logm",
    "matrix_dot",
    "matrix_power",
    "polar",
    "sqrtm",
]


class _MatrixFunction(MatrixOp):
    """A function of a square matrix, whose result has its dtype and order."""

    __props__: tuple[str, ...] = ()
    gufunc_signature = "(n,n)->(n,n)"

    def make_node(self, A: Any) -> Apply:
        (A,) = cast_together(self, as_square(self, A, "A"))
        size = common_size(self, *A.type.shape)
        return Apply(self, [A], [matrix_type(A.type.dtype, size, size)()])

    def function(self, x: np.ndarray) -> np.ndarray:
        """Evaluate the function on an array."""
        raise NotImplementedError(f"{type(self).__name__}.function")

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        if x.ndim != 2 or x.shape[0] != x.shape[1]:
            raise np.linalg.LinAlgError(f"{self} needs a square matrix; got one of shape {x.shape}.")
        result = x.copy() if x.size == 0 else np.asarray(self.function(x))
        output_storage[0][0] = np.asarray(result, dtype=x.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]


def _change_along(function: MatrixOp, x: TensorVariable, direction: TensorVariable) -> TensorVariable:
    """Return the directional derivative of a function of a matrix, as a block of the function of a larger matrix."""
    n = x.shape[0]
    upper = concatenate([x, direction], axis=1)
    lower = concatenate([direction.zeros_like(), x], axis=1)
    return function(concatenate([upper, lower], axis=0))[:n, n:]


class Expm(_MatrixFunction):
    """The exponential of a square matrix; of one that has infinities or NaN it is NaN.

    Examples
    --------
    >>> Expm()([[0.0, 1.0], [0.0, 0.0]]).eval()
    array([[1., 1.],
           [0., 1.]])
    """

    __props__ = ()

    def function(self, x: np.ndarray) -> np.ndarray:
        # some versions of SciPy write to their argument, and refuse read-only arrays
        return scipy_linalg().expm(np.array(x)) if np.isfinite(x).all() else nan_like(x)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        return [ExpmGrad()(inputs[0], output_grads[0])]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (point,) = eval_points
        return [None if point is None else ExpmGrad()(adjoint(inputs[0]), point)]


expm = Expm()


class ExpmGrad(MatrixOp):
    """The gradient of the exponential of a matrix, from the matrix and the gradient for the result.

    It is the change of the exponential of the conjugate transpose along this gradient: Al-Mohy and Higham (2009),
    "Computing the Fréchet derivative of the matrix exponential ...".
    """

    __props__ = ()
    gufunc_signature = "(n,n),(n,n)->(n,n)"

    def make_node(self, A: Any, gw: Any) -> Apply:
        A, gw = cast_together(self, as_square(self, A, "A"), as_square(self, gw, "gw"))
        return Apply(self, [A, gw], [A.type()])

    def perform(self, node, inputs, output_storage, params=None):
        A, gw = inputs
        if A.size == 0:
            output_storage[0][0] = A.copy()
            return
        if not (np.isfinite(A).all() and np.isfinite(gw).all()):
            output_storage[0][0] = nan_like(A)
            return
        result = scipy_linalg().expm_frechet(A.conj().T, gw, compute_expm=False)
        output_storage[0][0] = np.asarray(result, dtype=A.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the gradients; the directional derivative is a block of the exponential of a matrix of twice the
        order.
        """
        A, gw = inputs
        n = A.shape[0]
        taken = adjoint(A)
        upper = concatenate([taken, gw], axis=1)
        whole = concatenate([upper, concatenate([A.zeros_like(), taken], axis=1)], axis=0)
        g = output_grads[0]
        corner = concatenate([g.zeros_like(), g], axis=1)
        gradient = ExpmGrad()(whole, concatenate([corner, concatenate([g.zeros_like(), g.zeros_like()], 1)], axis=0))
        of_taken = gradient[:n, :n] + gradient[n:, n:]
        return [adjoint(of_taken), gradient[:n, n:]]


#: of a function of a real matrix, and of functions that do not exist
COMPLEX_RESULT = (
    "the result for this real matrix is complex, since it has a negative eigenvalue. Cast it to complex numbers first: "
    "x.astype('complex128')."
)
NO_ROOT = (
    "the matrix is singular and has no principal square root: zero is an eigenvalue with fewer eigenvectors than its "
    "multiplicity."
)
NO_LOGARITHM = "the matrix is singular and has no logarithm."


def _schur_form(op: MatrixOp, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Schur form of a matrix, the unitary factor, and a mask of negative real eigenvalues."""
    if not np.isfinite(x).all():
        raise ValueError(f"{op}: array must not contain infs or NaNs")
    form, unitary = scipy_linalg().schur(x)
    if x.dtype.kind == "c":
        return form, unitary, np.zeros(len(x), bool)
    in_pair = np.diagonal(form, -1) != 0
    alone = ~(np.append(in_pair, False) | np.insert(in_pair, 0, False))
    return form, unitary, alone & (np.diagonal(form) < 0)


class LogMatrix(_MatrixFunction):
    """The principal logarithm of a square matrix without eigenvalues on the negative real axis."""

    __props__ = ()

    def function(self, x: np.ndarray) -> np.ndarray:
        form, _, is_negative = _schur_form(self, x)
        if is_negative.any():
            raise np.linalg.LinAlgError(f"{self}: {COMPLEX_RESULT}")
        if (np.diagonal(form) == 0).any():
            raise np.linalg.LinAlgError(f"{self}: {NO_LOGARITHM}")
        result: np.ndarray = scipy_linalg().logm(np.array(x))  # before SciPy 1.14 it takes no read-only one
        return result if x.dtype.kind == "c" else result.real

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        return [_change_along(self, adjoint(inputs[0]), output_grads[0])]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (point,) = eval_points
        return [None if point is None else _change_along(self, inputs[0], point)]


def logm(a: TensorLike) -> TensorVariable:
    """Return the principal logarithm of a square matrix, the inverse of `expm`.

    The result has the dtype of the matrix; a complex logarithm of a real matrix raises an error.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.logm([[1.0, 1.0], [0.0, 1.0]]).eval().round(12)
    array([[0., 1.],
           [0., 0.]])
    """
    return LogMatrix()(a)


def _rounding(form: np.ndarray) -> float:
    """Return a bound of the rounding errors of a Schur form."""
    return float(np.finfo(form.dtype).eps * len(form) * np.abs(form).sum(axis=0).max())


#: how large a sum of two roots of zeros is, in roots of a rounding error
ROOT_OF_ZERO = 4


class SqrtMatrix(_MatrixFunction):
    """The principal square root of a square matrix.

    A singular matrix has a square root if its zero eigenvalue is semisimple. In floating-point arithmetic, zero
    eigenvalues and the elements between them in the Schur form are rounding errors of either sign; they are treated as
    zero, and so are negative eigenvalues of this magnitude.
    """

    __props__ = ()

    def function(self, x: np.ndarray) -> np.ndarray:
        form, unitary, is_negative = _schur_form(self, x)
        if (np.diagonal(form)[is_negative] < -_rounding(form)).any():
            raise np.linalg.LinAlgError(f"{self}: {COMPLEX_RESULT}")
        if x.dtype.kind != "c":
            form = form.copy()
            form[is_negative, is_negative] = 0
            form, unitary = scipy_linalg().rsf2csf(form, unitary)
        root = self.of_triangle(form)
        if not np.isfinite(root).all():
            raise np.linalg.LinAlgError(f"{self}: {NO_ROOT}")
        result: np.ndarray = unitary @ root @ unitary.conj().T
        return result if x.dtype.kind == "c" else result.real

    def of_triangle(self, t: np.ndarray) -> np.ndarray:
        """Return the square root of an upper triangular matrix: A. Björck and S. Hammarling (1983)."""
        rounding = _rounding(t)
        root = np.diag(np.sqrt(np.diagonal(t)))
        for k in range(1, len(t)):
            rest = t[:k, k].copy()
            for i in range(k - 1, -1, -1):
                root[i, k] = self.element(rest[i], root[i, i] + root[k, k], rounding)
                rest[:i] -= root[:i, i] * root[i, k]
        return root

    def element(self, rest: Any, divisor: Any, rounding: float) -> Any:
        """Return ``rest / divisor``, or zero if both are rounding errors.

        The divisor is the sum of square roots of two eigenvalues; if it is this small, both are treated as zero.
        Setting the quotient to zero leaves a residual of the size of rounding errors. The quotient itself may be as
        large as the square root of a rounding error, and would enter later elements of the row, some of which are
        divided by small numbers too.
        """
        if abs(rest) <= rounding and abs(divisor) <= ROOT_OF_ZERO * math.sqrt(rounding):
            return 0
        return (rest / divisor) if divisor else (np.inf if rest else rest)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        back = adjoint(outputs[0])
        return [SolveSylvester()(back, back, output_grads[0])]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (point,) = eval_points
        if point is None:
            return [None]
        root = self(inputs[0])
        return [SolveSylvester()(root, root, point)]


def sqrtm(a: TensorLike) -> TensorVariable:
    """Return the principal square root of a square matrix: ``sqrtm(a) @ sqrtm(a) = a``.

    The result has the dtype of the matrix; a complex square root of a real matrix raises an error.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).eval()
    array([[2., 0.],
           [0., 3.]])
    """
    return SqrtMatrix()(a)


def matrix_power(M: Any, n: int) -> TensorVariable:
    """A power of a square matrix, or of each in a batch.

    Parameters
    ----------
    M
        The matrix.
    n
        The exponent; of a negative one the power is that of the inverse.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.matrix_power([[1, 1], [0, 1]], 5).eval()
    array([[1, 5],
           [0, 1]])
    """
    M = as_tensor_variable(M)
    if M.type.ndim < 2:
        raise ValueError(f"matrix_power needs a matrix; got {M.type}.")
    if isinstance(n, (bool, np.bool_)) or int(n) != n:
        raise TypeError(f"The exponent must be a whole number; got {n!r}.")
    n = int(n)
    if n < 0:
        M, n = matrix_inverse(M), -n
    if n == 0:
        return eye(M.shape[-1], dtype=M.type.dtype) + M.zeros_like()
    result: TensorVariable | None = None
    square = M
    while n > 1:
        if n & 1:
            result = square if result is None else _product(result, square)
        n >>= 1
        square = _product(square, square)
    return square if result is None else _product(result, square)


def matrix_trace(X: TensorLike) -> TensorVariable:
    """The sum of the elements on the diagonal of a matrix, or of each in a batch.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.trace([[1.0, 2.0], [3.0, 4.0]]).eval()
    array(5.)
    """
    return trace(X, axis1=-2, axis2=-1)


def _product(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    return dot(x, y) if x.type.ndim == y.type.ndim == 2 else matmul(x, y)


def matrix_dot(*args: Any) -> TensorVariable:
    """The product of several matrices, from left to right.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.matrix_dot([[1.0, 2.0]], [[1.0], [1.0]], [[2.0]]).eval()
    array([[6.]])
    """
    if not args:
        raise ValueError("matrix_dot needs one matrix or more.")
    product = as_tensor_variable(args[0])
    for factor in args[1:]:
        product = dot(product, factor)
    return product


class Polar(MatrixOp):
    """The polar form of a matrix: ``A = U P`` or ``A = P U``, with a positive semidefinite P.

    Parameters
    ----------
    side
        On which side P stands: ``"right"`` or ``"left"``.
    """

    __props__ = ("side",)

    def __init__(self, side: str = "right"):
        self.side = check_choice("side", side, ("right", "left"))

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        return "(m,n)->(m,n),(n,n)" if self.side == "right" else "(m,n)->(m,n),(m,m)"

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_matrix(self, x, "x"))
        rows, columns = x.type.shape
        order = columns if self.side == "right" else rows
        return Apply(self, [x], [x.type(), matrix_type(x.type.dtype, order, order)()])

    def perform(self, node, inputs, output_storage, params=None):
        refuse_infinities(self, inputs[0])
        u, s, vh = np.linalg.svd(inputs[0], full_matrices=False)
        output_storage[0][0] = u @ vh
        output_storage[1][0] = (vh.conj().T * s) @ vh if self.side == "right" else (u * s) @ u.conj().T

    def infer_shape(self, fgraph, node, shapes):
        order = shapes[0][1 if self.side == "right" else 0]
        return [shapes[0], (order, order)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the gradients by a Sylvester equation, which is regular for equal singular values."""
        (x,), (u, p) = inputs, outputs
        of_u, of_p = [g if is_connected(g) else None for g in output_grads]
        if self.side == "left":
            x, u = adjoint(x), adjoint(u)
            of_u = None if of_u is None else adjoint(of_u)
        full = Assert(
            "The gradient of a polar form is that of a matrix whose factor P is regular: on the right for no fewer "
            "rows than columns, on the left for no more."
        )
        p = full(p, ge(x.shape[0], x.shape[1]))
        through_turn = None
        if of_u is not None:
            through_turn = dot(adjoint(u), of_u)
        if of_p is not None:
            of_p = 0.5 * (of_p + adjoint(of_p))
            stretched = -dot(of_p, p)
            through_turn = stretched if through_turn is None else through_turn + stretched
        turn = SolveSylvester()(p, p, through_turn)
        inner = turn - adjoint(turn)
        if of_p is not None:
            inner = inner + of_p
        gradient = dot(u, inner)
        if of_u is not None:
            beside = of_u - dot(u, dot(adjoint(u), of_u))
            gradient = gradient + adjoint(Solve(assume_a="pos", lower=True)(p, adjoint(beside)))
        return [adjoint(gradient) if self.side == "left" else gradient]


def polar(a: TensorLike, side: str = "right") -> list[TensorVariable]:
    """The polar form of a matrix: ``a = U P`` or ``a = P U``, with a positive semidefinite P.

    Parameters
    ----------
    a
        A matrix.
    side
        On which side P stands: ``"right"`` or ``"left"``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> U, P = at.linalg.polar([[0.0, 2.0], [-3.0, 0.0]])
    >>> P.eval()
    array([[3., 0.],
           [0., 2.]])
    """
    return Polar(side)(a)
