"""Linear and quadratic equations for matrices: of Sylvester, Lyapunov and Riccati."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import and_, conj, eq
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_matrix,
    as_square,
    cast_together,
    common_size,
    identity_like,
    matrix_type,
    scipy_linalg,
)
from aesara.tensor.linear_algebra.solve import Solve, solve
from aesara.tensor.products.dot import dot
from aesara.tensor.products.vectors import kron
from aesara.tensor.shapes.reshape import reshape

__all__ = [
    "BilinearSolveDiscreteLyapunov",
    "SolveContinuousLyapunov",
    "SolveContinuousRiccati",
    "SolveDiscreteRiccati",
    "SolveSylvester",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_sylvester",
]


#: error of equations without the requested solution
NO_UNIQUE_SOLUTION = (
    "the equation is singular: the sum of an eigenvalue of one matrix and one of the other is zero within rounding."
)
NOT_STABILISED = "there is no stabilising solution: the pencil has eigenvalues at the border of stability."


def _solution(op: MatrixOp, a: np.ndarray, b: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the solution X of ``A X + X B^H = Q``: R. Bartels and G. Stewart (1972).

    For a singular equation with solutions, it is one of them.
    """
    schur, get_lapack_funcs = scipy_linalg().schur, scipy_linalg().get_lapack_funcs
    form, u = schur(a)
    other_form, v = schur(b)
    turned = u.conj().T @ q @ v
    (trsyl,) = get_lapack_funcs(("trsyl",), (form, other_form, turned))
    inner, scale, status = trsyl(form, other_form, turned, tranb="C")
    solution: np.ndarray = (u @ inner @ v.conj().T) / scale
    if status:
        left_over = np.linalg.norm(a @ solution + solution @ b.conj().T - q, 1)
        if left_over > np.sqrt(np.finfo(q.dtype).eps) * np.linalg.norm(q, 1):
            raise np.linalg.LinAlgError(f"{op}: {NO_UNIQUE_SOLUTION}")
    return solution


class SolveSylvester(MatrixOp):
    """The solution X of ``A X + X B = Q``; one of them, if the equation is singular but has solutions."""

    __props__ = ()
    gufunc_signature = "(m,m),(n,n),(m,n)->(m,n)"

    def make_node(self, a: Any, b: Any, q: TensorLike) -> Apply:
        a, b, q = cast_together(self, as_square(self, a), as_square(self, b, "b"), as_matrix(self, q, "q"))
        rows = common_size(self, *a.type.shape, q.type.shape[0], quantity="orders of a and of the rows of q")
        columns = common_size(self, *b.type.shape, q.type.shape[1], quantity="orders of b and of the columns of q")
        return Apply(self, [a, b, q], [matrix_type(q.type.dtype, rows, columns)()])

    def perform(self, node, inputs, output_storage, params=None):
        a, b, q = inputs
        if a.shape != (q.shape[0],) * 2 or b.shape != (q.shape[1],) * 2:
            raise ValueError(f"{self}: matrices of shapes {a.shape}, {b.shape} and {q.shape} do not fit.")
        result = q.copy() if q.size == 0 else _solution(self, a, b.conj().T, q)
        output_storage[0][0] = np.asarray(result, dtype=q.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[2]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        a, b, _ = inputs
        of_q = self(adjoint(a), adjoint(b), output_grads[0])
        back = adjoint(outputs[0])
        return [-dot(of_q, back), -dot(back, of_q), of_q]


def solve_sylvester(a: TensorLike, b: TensorLike, q: TensorLike) -> TensorVariable:
    """The solution X of ``a X + X b = q``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve_sylvester([[1.0]], [[2.0]], [[6.0]]).eval()
    array([[2.]])
    """
    return SolveSylvester()(a, b, q)


class _Lyapunov(MatrixOp):
    """An equation with two square matrices A and Q of one order."""

    gufunc_signature = "(n,n),(n,n)->(n,n)"

    def make_node(self, A: Any, Q: Any) -> Apply:
        A, Q = cast_together(self, as_square(self, A, "A"), as_square(self, Q, "Q"))
        size = common_size(self, *A.type.shape, *Q.type.shape, quantity="orders of A and Q")
        return Apply(self, [A, Q], [matrix_type(A.type.dtype, size, size)()])

    def solution(self, A: np.ndarray, Q: np.ndarray) -> np.ndarray:
        """The solution for arrays."""
        raise NotImplementedError(f"{type(self).__name__}.solution")

    def perform(self, node, inputs, output_storage, params=None):
        A, Q = inputs
        if A.shape != Q.shape or A.shape[0] != A.shape[1]:
            raise ValueError(f"{self}: matrices of shapes {A.shape} and {Q.shape} do not fit.")
        output_storage[0][0] = np.asarray(Q.copy() if Q.size == 0 else self.solution(A, Q), dtype=A.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]


class SolveContinuousLyapunov(_Lyapunov):
    """The solution X of ``A X + X A^H = Q``."""

    __props__ = ()

    def solution(self, A: np.ndarray, Q: np.ndarray) -> np.ndarray:
        return _solution(self, A, A, Q)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        of_q = self(adjoint(inputs[0]), output_grads[0])
        x = outputs[0]
        return [-dot(of_q, adjoint(x)) - dot(adjoint(of_q), x), of_q]


class BilinearSolveDiscreteLyapunov(_Lyapunov):
    """The solution X of ``A X A^H - X + Q = 0``, by a continuous equation that has the same."""

    __props__ = ()

    def solution(self, A: np.ndarray, Q: np.ndarray) -> np.ndarray:
        unit = np.eye(len(A), dtype=A.dtype)
        inverse = np.linalg.inv(A + unit)
        b = inverse @ (A - unit)
        return _solution(self, b, b, inverse @ (-2 * Q) @ inverse.conj().T)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        a, _ = inputs
        of_q = self(adjoint(a), output_grads[0])
        x = outputs[0]
        return [dot(of_q, dot(a, adjoint(x))) + dot(adjoint(of_q), dot(a, x)), of_q]


_continuous_lyapunov = SolveContinuousLyapunov()
_bilinear_discrete_lyapunov = BilinearSolveDiscreteLyapunov()


def solve_continuous_lyapunov(A: TensorLike, Q: TensorLike) -> TensorVariable:
    """The solution X of ``A X + X A^H = Q``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve_continuous_lyapunov([[1.0]], [[4.0]]).eval()
    array([[2.]])
    """
    return _continuous_lyapunov(A, Q)


_orders_fit = CheckAndRaise(
    ValueError, "solve_discrete_lyapunov: the matrices A and Q must be square, and of one order."
)


def solve_discrete_lyapunov(
    A: TensorLike, Q: TensorLike, method: Literal["direct", "bilinear"] = "direct"
) -> TensorVariable:
    """The solution X of ``A X A^H - X + Q = 0``.

    Parameters
    ----------
    A, Q
        Square matrices of one order.
    method
        ``"direct"`` solves for all elements at once, at a cost that grows with the sixth power of the order;
        ``"bilinear"`` turns the equation into a continuous one, for large matrices.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve_discrete_lyapunov([[0.5]], [[3.0]]).eval()
    array([[4.]])
    """
    if method not in ("direct", "bilinear"):
        raise ValueError(f"Parameter 'method' must be one of 'direct' or 'bilinear'; got {method!r}.")
    A, Q = as_tensor_variable(A), as_tensor_variable(Q)
    if method == "bilinear" or A.type.ndim != 2 or Q.type.ndim != 2:
        return _bilinear_discrete_lyapunov(A, Q)
    A, Q = cast_together("solve_discrete_lyapunov", A, Q)
    n = A.shape[0]
    A = _orders_fit(A, and_(and_(eq(A.shape[1], n), eq(Q.shape[0], n)), eq(Q.shape[1], n)))
    both = kron(A, conj(A))
    return reshape(solve(identity_like(both) - both, Q.flatten()), Q.shape, ndim=2)


class _Riccati(MatrixOp):
    """An equation with matrices A and Q, and B and R of the controls."""

    __props__: tuple[str, ...] = ()
    gufunc_signature = "(n,n),(n,m),(n,n),(m,m)->(n,n)"

    def make_node(self, a: Any, b: Any, q: TensorLike, r: TensorLike) -> Apply:
        a, b, q, r = cast_together(
            self, as_square(self, a), as_matrix(self, b, "b"), as_square(self, q, "q"), as_square(self, r, "r")
        )
        size = common_size(
            self, *a.type.shape, b.type.shape[0], *q.type.shape, quantity="orders of a and q and rows of b"
        )
        common_size(self, b.type.shape[1], *r.type.shape, quantity="orders of r and columns of b")
        return Apply(self, [a, b, q, r], [matrix_type(a.type.dtype, size, size)()])

    def solution(self, *arrays: np.ndarray) -> np.ndarray:
        """The solution for arrays."""
        raise NotImplementedError(f"{type(self).__name__}.solution")

    def perform(self, node, inputs, output_storage, params=None):
        a = inputs[0]
        if not a.size:
            output_storage[0][0] = a.copy()
            return
        x = self.solution(*inputs)
        terms = self.terms(x, *inputs)
        left_over = np.linalg.norm(sum(terms), 1)
        if left_over > math.sqrt(np.finfo(a.dtype).eps) * max(np.linalg.norm(term, 1) for term in terms):
            raise np.linalg.LinAlgError(f"{self}: {NOT_STABILISED}")
        output_storage[0][0] = np.asarray(x, dtype=a.dtype)

    def terms(self, x: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the terms of the equation, whose sum is zero; SciPy returns matrices even if there is no solution."""
        raise NotImplementedError(f"{type(self).__name__}.terms")

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]


class SolveContinuousRiccati(_Riccati):
    """The stabilising solution X of ``A^H X + X A - X B R^-1 B^H X + Q = 0``."""

    __props__ = ()

    def solution(self, *arrays: np.ndarray) -> np.ndarray:
        return scipy_linalg().solve_continuous_are(*arrays)

    def terms(self, x: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
        a, b, q, r = arrays
        return [a.conj().T @ x, x @ a, -x @ b @ np.linalg.solve(r, b.conj().T @ x), q]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the gradients; the derivative of X solves a Lyapunov equation with the matrix of the controlled
        system.
        """
        (a, b, _, r), (x,) = inputs, outputs
        gain = Solve()(r, dot(adjoint(b), x))
        s = -_continuous_lyapunov(a - dot(b, gain), output_grads[0])
        both = s + adjoint(s)
        of_a = dot(x, both)
        of_b = -dot(of_a, adjoint(gain))
        of_r = dot(dot(gain, s), adjoint(gain))
        return [of_a, of_b, s, of_r]


class SolveDiscreteRiccati(_Riccati):
    """The stabilising solution X of ``A^H X A - X - A^H X B (R + B^H X B)^-1 B^H X A + Q = 0``."""

    __props__ = ()

    def solution(self, *arrays: np.ndarray) -> np.ndarray:
        return scipy_linalg().solve_discrete_are(*arrays)

    def terms(self, x: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
        a, b, q, r = arrays
        gain = np.linalg.solve(r + b.conj().T @ x @ b, b.conj().T @ x @ a)
        return [a.conj().T @ x @ a, -x, -a.conj().T @ x @ b @ gain, q]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (a, b, _, r), (x,) = inputs, outputs
        through = dot(adjoint(b), x)
        gain = Solve()(r + dot(through, b), dot(through, a))
        closed = a - dot(b, gain)
        s = _bilinear_discrete_lyapunov(closed, output_grads[0])
        of_a = dot(dot(x, closed), s + adjoint(s))
        return [of_a, -dot(of_a, adjoint(gain)), s, dot(dot(gain, s), adjoint(gain))]


def solve_continuous_are(a: TensorLike, b: TensorLike, q: TensorLike, r: TensorLike) -> TensorVariable:
    """The stabilising solution X of the Riccati equation ``a^H X + X a - X b r^-1 b^H X + q = 0``.

    `q` and `r` are Hermitian.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve_continuous_are([[0.0]], [[1.0]], [[4.0]], [[1.0]]).eval().round(12)
    array([[2.]])
    """
    return SolveContinuousRiccati()(a, b, q, r)


def solve_discrete_are(a: TensorLike, b: TensorLike, q: TensorLike, r: TensorLike) -> TensorVariable:
    """The stabilising solution X of ``a^H X a - X - a^H X b (r + b^H X b)^-1 b^H X a + q = 0``.

    `q` and `r` are Hermitian.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve_discrete_are([[0.0]], [[1.0]], [[4.0]], [[1.0]]).eval().round(12)
    array([[4.]])
    """
    return SolveDiscreteRiccati()(a, b, q, r)
