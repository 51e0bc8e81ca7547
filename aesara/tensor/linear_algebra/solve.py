"""Systems of linear equations with square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import TensorType, tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.ops import conj
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_right_hand_side,
    as_square,
    cast_together,
    check_choice,
    column,
    common_size,
    of_triangle,
    real_dtype,
    scipy_linalg,
    triangle,
)
from aesara.tensor.linear_algebra.failures import with_on_error
from aesara.tensor.products.dot import dot

if TYPE_CHECKING:
    from aesara.graph.op import Op


__all__ = ["Solve", "SolveBase", "SolveTriangular", "solve", "solve_triangular", "solvetriangular"]


def right_hand_sides(b: TensorVariable) -> str:
    """Return the signature for a matrix and a right-hand side: a vector if it has one dimension, else matrices."""
    return "(m,m),(m)->(m)" if b.type.ndim == 1 else "(m,m),(m,n)->(m,n)"


def solved_type(op: Op, a: TensorVariable, b: TensorVariable) -> TensorType:
    """Return the type of the solution of a system of equations."""
    rows = common_size(
        op, *a.type.shape, b.type.shape[0], quantity="lengths of rows, of columns and of right-hand sides"
    )
    return tensor_type(b.type.dtype, (rows, *b.type.shape[1:]))


def with_right_hand_side(op: MatrixOp, a: TensorLike, b: TensorLike, b_ndim: int | None) -> TensorVariable:
    """Apply an op to matrices and right-hand sides, which are vectors if ``b_ndim=1``."""
    b = as_tensor_variable(b)
    if b_ndim is None or check_choice("b_ndim", b_ndim, (1, 2)) == 2 or b.type.ndim == 1:
        return op(a, b)
    return op(a, b.dimshuffle([*range(b.type.ndim), "x"]))[..., 0]


def core_of_right_hand_side(b: TensorVariable, b_ndim: int | None) -> str:
    """Return the core dimensions of right-hand sides of order n in a signature: vectors if ``b_ndim=1``."""
    wanted = check_choice("b_ndim", b_ndim, (None, 1, 2)) or min(b.type.ndim, 2)
    return "(n)" if wanted == 1 else "(n,k)"


class SolveBase(MatrixOp):
    """The solution x of ``A x = b``; base class of solvers.

    Parameters
    ----------
    lower
        Which triangle of the matrix is read, where only one is.
    check_finite
        Whether to raise a ValueError if there are infinities or NaN.
    """

    __props__: tuple[str, ...] = ("lower", "check_finite")

    def __init__(self, *, lower: bool = False, check_finite: bool = True):
        self.lower = lower
        self.check_finite = check_finite

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        return right_hand_sides(inputs[1])

    def make_node(self, A: Any, b: Any) -> Apply:
        A, b = as_square(self, A, "A"), as_right_hand_side(self, b)
        A, b = cast_together(self, A, b)
        return Apply(self, [A, b], [solved_type(self, A, b)()])

    def perform(self, node, inputs, output_storage, params=None):
        A, b = inputs
        if A.shape[0] != A.shape[1]:
            raise ValueError(f"{self}: `A` must be a square matrix; it has shape {A.shape}.")
        if A.shape[0] != b.shape[0]:
            raise ValueError(
                f"{self}: a matrix of shape {A.shape} and a right-hand side of shape {b.shape} do not fit."
            )
        result = np.empty_like(b) if b.size == 0 else self.solution(A, b)
        output_storage[0][0] = np.asarray(result, dtype=node.outputs[0].type.dtype)

    def solution(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the solution for arrays of matching shapes."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it solves equations.")

    def infer_shape(self, fgraph, node, shapes):
        return [(shapes[0][1], *shapes[1][1:])]


class Solve(SolveBase):
    """The solution x of ``A x = b`` for any matrix without zero eigenvalues.

    Parameters
    ----------
    assume_a
        The structure of the matrix: ``"gen"`` nothing, ``"sym"`` symmetric, ``"her"`` Hermitian, ``"pos"`` Hermitian
        and positive definite. Of all but the first, one triangle is read, and gradients are zero in the other.
    lower
        Whether this is the lower one.
    check_finite
        Whether to raise a ValueError if there are infinities or NaN.
    """

    __props__ = ("assume_a", "lower", "check_finite")

    def __init__(self, *, assume_a: str = "gen", lower: bool = False, check_finite: bool = True):
        if assume_a not in ("gen", "sym", "her", "pos"):
            raise ValueError(f"{assume_a} is not a recognized matrix structure: use 'gen', 'sym', 'her' or 'pos'.")
        super().__init__(lower=lower, check_finite=check_finite)
        self.assume_a = assume_a

    def read_of(self, a: np.ndarray) -> np.ndarray:
        return a if self.assume_a == "gen" else np.tril(a) if self.lower else np.triu(a)

    def solution(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        # A single equation has a solution whatever the sign; SciPy says so from 1.17 on.
        assume_a = self.assume_a if len(A) > 1 else "gen"
        try:
            return scipy_linalg().solve(A, b, lower=bool(self.lower), check_finite=self.check_finite, assume_a=assume_a)
        except ValueError:
            # Before 1.16 SciPy estimates the condition of a matrix of NaN, which LAPACK refuses.
            if self.check_finite or np.isfinite(A).all():
                raise
            return np.full_like(b, np.nan)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        A, _ = inputs
        if self.assume_a == "sym" and A.type.dtype.startswith("complex"):
            of_b = conj(self(A, conj(output_grads[0])))
        elif self.assume_a == "gen":
            of_b = self(adjoint(A), output_grads[0])
        else:
            of_b = self(A, output_grads[0])
        of_a = -dot(column(of_b), adjoint(column(outputs[0])))
        if self.assume_a == "gen":
            return [of_a, of_b]
        if self.assume_a == "sym":
            halves = 1 - 0.5 * eye(of_a.shape[0], dtype=real_dtype(of_a.type.dtype))
            both = triangle(of_a + of_a.T, bool(self.lower))
            return [both * halves.astype(real_dtype(of_a.type.dtype)), of_b]
        return [of_triangle(of_a, bool(self.lower)), of_b]


TRANSPOSITIONS = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


class SolveTriangular(SolveBase):
    """The solution x of ``A x = b``, ``A^T x = b`` or ``A^H x = b`` for a triangular matrix.

    The other triangle is not read, and gradients are zero in it.

    Parameters
    ----------
    trans
        0 or ``"N"`` for the matrix itself, 1 or ``"T"`` for its transpose, 2 or ``"C"`` for its conjugate transpose.
    lower
        Whether the matrix is lower triangular.
    unit_diagonal
        Whether the diagonal is assumed to be ones, and not read.
    check_finite
        Whether to raise a ValueError if there are infinities or NaN.
    """

    __props__ = ("lower", "trans", "unit_diagonal", "check_finite")

    def __init__(
        self,
        *,
        trans: int | str = 0,
        lower: bool = False,
        unit_diagonal: bool = False,
        check_finite: bool = True,
    ):
        super().__init__(lower=lower, check_finite=check_finite)
        self.trans = check_choice("trans", trans, tuple(TRANSPOSITIONS))
        self.unit_diagonal = unit_diagonal

    def read_of(self, a: np.ndarray) -> np.ndarray:
        beside = 1 if self.unit_diagonal else 0
        return np.tril(a, -beside) if self.lower else np.triu(a, beside)

    def solution(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        return scipy_linalg().solve_triangular(
            A,
            b,
            lower=bool(self.lower),
            trans=TRANSPOSITIONS[self.trans],
            unit_diagonal=bool(self.unit_diagonal),
            check_finite=self.check_finite,
        )

    def _with_trans(self, trans: int | str) -> SolveTriangular:
        return SolveTriangular(
            trans=trans, lower=self.lower, unit_diagonal=self.unit_diagonal, check_finite=self.check_finite
        )

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        A, _ = inputs
        (x,), (g,) = outputs, output_grads
        trans = TRANSPOSITIONS[self.trans]
        is_complex = A.type.dtype.startswith("complex")
        if trans == 1 and is_complex:
            of_b = conj(self._with_trans(0)(A, conj(g)))
        else:
            of_b = self._with_trans(0 if trans else 2 if is_complex else 1)(A, g)
        of_taken = -dot(column(of_b), adjoint(column(x)))
        of_a = of_taken if trans == 0 else of_taken.T if trans == 1 else adjoint(of_taken)
        return [triangle(of_a, bool(self.lower), k=1 if self.unit_diagonal else 0), of_b]


solvetriangular = SolveTriangular()


def solve(
    a: TensorLike,
    b: TensorLike,
    assume_a: str = "gen",
    lower: bool = False,
    check_finite: bool = True,
    b_ndim: int | None = None,
    on_error: str = "raise",
) -> TensorVariable:
    """The solution x of ``a x = b``, as by `scipy.linalg.solve`.

    Parameters
    ----------
    a
        A square matrix, or a batch of them.
    b
        The right-hand side: a vector, or a matrix with one in each column.
    assume_a
        The structure of the matrix: ``"gen"`` nothing, ``"sym"`` symmetric, ``"her"`` Hermitian, ``"pos"`` Hermitian
        and positive definite (of a matrix with one element, whose type says so, nothing is asked but that it is not
        zero).
    lower
        Whether of a matrix with such a structure the lower triangle is read.
    check_finite
        Whether to raise a ValueError if there are infinities or NaN.
    b_ndim
        With batches: whether one member of `b` is a vector (1) or a matrix (2). By default `b` is a vector if it has
        one dimension, else matrices.
    on_error
        ``"raise"``: a matrix that has no solutions, or numbers that are not finite, are an exception. ``"nan"``: the
        members of a batch that fail are NaN, and `check_finite` has no effect.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve([[2.0, 1.0], [1.0, 3.0]], [3.0, 4.0]).eval()
    array([1., 1.])
    """
    op = Solve(assume_a=assume_a, lower=lower, check_finite=check_finite)
    return with_right_hand_side(with_on_error(op, on_error), a, b, b_ndim)


def solve_triangular(
    a: TensorLike,
    b: TensorLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    check_finite: bool = True,
    b_ndim: int | None = None,
    on_error: str = "raise",
) -> TensorVariable:
    """The solution x of ``a x = b`` for a triangular matrix, as by `scipy.linalg.solve_triangular`.

    Parameters
    ----------
    a
        A triangular matrix, or a batch of them. The other triangle is not read.
    b
        The right-hand side: a vector, or a matrix with one in each column.
    trans
        1 or ``"T"`` to solve with the transpose, 2 or ``"C"`` with the conjugate transpose.
    lower
        Whether the matrix is lower triangular.
    unit_diagonal
        Whether ones are taken for the diagonal.
    check_finite
        Whether to raise a ValueError if there are infinities or NaN.
    b_ndim
        With batches: whether one member of `b` is a vector (1) or a matrix (2). By default `b` is a vector if it has
        one dimension, else matrices.
    on_error
        ``"raise"``: a matrix that has no solutions, or numbers that are not finite, are an exception. ``"nan"``: the
        members of a batch that fail are NaN, and `check_finite` has no effect.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve_triangular([[2.0, 0.0], [1.0, 3.0]], [2.0, 4.0], lower=True).eval()
    array([1., 1.])
    """
    op = SolveTriangular(trans=trans, lower=lower, unit_diagonal=unit_diagonal, check_finite=check_finite)
    return with_right_hand_side(with_on_error(op, on_error), a, b, b_ndim)
