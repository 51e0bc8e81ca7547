"""Systems of equations with banded matrices in diagonal storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import and_, conj, eq, maximum, real
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.joining.join_split import concatenate, stack
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    as_matrix,
    as_right_hand_side,
    cast_together,
    column,
    common_size,
    for_batches,
    scipy_linalg,
)
from aesara.tensor.linear_algebra.solve import core_of_right_hand_side, with_right_hand_side

__all__ = ["SolveBanded", "SolveHermitianBanded", "solve_banded", "solve_tridiagonal", "solveh_banded"]


def shift(x: TensorVariable, n: int) -> TensorVariable:
    """Shift `x` by `n` positions along axis 0, toward larger indices if n > 0; fill with zeros."""
    if n == 0:
        return x
    zeros = x.zeros_like()
    if n > 0:
        return set_subtensor(zeros[n:], x[:-n])
    return set_subtensor(zeros[:n], x[-n:])


class _SolveBands(MatrixOp):
    """The solution of equations with a banded matrix; column j of the storage belongs to column j of the matrix."""

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        return "(k,m),(m)->(m)" if inputs[1].type.ndim == 1 else "(k,m),(m,n)->(m,n)"

    def _number_of_diagonals(self) -> int | None:
        return None

    def make_node(self, ab: Any, b: Any) -> Apply:
        ab, b = cast_together(self, as_matrix(self, ab, "ab"), as_right_hand_side(self, b))
        n_diagonals, n_rows = self._number_of_diagonals(), ab.type.shape[0]
        if n_diagonals is not None and n_rows is not None and n_diagonals != n_rows:
            raise ValueError(f"{self}: `ab` must have {n_diagonals} rows, one for each diagonal; it has {n_rows}.")
        size = common_size(self, ab.type.shape[1], b.type.shape[0], quantity="numbers of columns and of equations")
        return Apply(self, [ab, b], [tensor_type(b.type.dtype, (size, *b.type.shape[1:]))()])

    def solution(self, ab: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the solution for arrays of matching shapes."""
        raise NotImplementedError(f"{type(self).__name__}.solution")

    def perform(self, node, inputs, output_storage, params=None):
        ab, b = inputs
        if ab.shape[1] != b.shape[0] or self._number_of_diagonals() not in (None, ab.shape[0]):
            raise ValueError(f"{self}: diagonals of shape {ab.shape} and a right-hand side of {b.shape} do not fit.")
        output_storage[0][0] = np.asarray(b.copy() if b.size == 0 else self.solution(ab, b), dtype=b.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[1]]


def _products(left: TensorVariable, right: TensorVariable) -> TensorVariable:
    """Return products of `left` and the conjugate of `right`, summed over right-hand sides."""
    return (left * conj(right)).sum(axis=1)


class SolveBanded(_SolveBands):
    """The solution x of ``A x = b`` for a matrix with few diagonals.

    Parameters
    ----------
    lower, upper
        The numbers of diagonals below and above the main one. The element (i, j) of the matrix is the element
        ``(upper + i - j, j)`` of the first input.
    """

    __props__ = ("lower", "upper")

    def __init__(self, lower: int, upper: int):
        if lower < 0 or upper < 0:
            raise ValueError(f"The numbers of diagonals must not be negative; got {lower} and {upper}.")
        self.lower = int(lower)
        self.upper = int(upper)

    def _number_of_diagonals(self) -> int:
        return self.lower + self.upper + 1

    def solution(self, ab: np.ndarray, b: np.ndarray) -> np.ndarray:
        return scipy_linalg().solve_banded((self.lower, self.upper), ab, b, check_finite=False)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (ab, _), (x,) = inputs, outputs
        back = stack([conj(shift(ab[self.upper + d], d)) for d in range(self.lower, -self.upper - 1, -1)])
        of_b = SolveBanded(self.upper, self.lower)(back, output_grads[0])
        g, x = column(of_b), column(x)
        offsets = range(self.upper, -self.lower - 1, -1)
        return [stack([-_products(shift(g, d), x) * _within(x, d) for d in offsets]), of_b]


def _within(x: TensorVariable, offset: int) -> TensorVariable:
    """Return one for columns in which a diagonal is part of the matrix, and zero for others."""
    return shift(x[:, 0].zeros_like() + 1, offset)


class SolveHermitianBanded(_SolveBands):
    """The solution x of ``A x = b`` for a Hermitian positive definite matrix with few diagonals.

    Parameters
    ----------
    lower
        Whether the first input has the diagonals below the main one, element ``(i - j, j)`` for (i, j); else those
        above, element ``(u + i - j, j)``, where u is their number.
    """

    __props__ = ("lower",)

    def __init__(self, lower: bool = False):
        self.lower = bool(lower)

    def solution(self, ab: np.ndarray, b: np.ndarray) -> np.ndarray:
        return scipy_linalg().solveh_banded(ab, b, lower=self.lower, check_finite=False)

    def make_node(self, ab: Any, b: Any) -> Apply:
        node = super().make_node(ab, b)
        if node.inputs[0].type.shape[0] is None:
            raise ValueError(
                f"{self}: the number of diagonals must be known when the graph is built; `ab` has type "
                f"{node.inputs[0].type}. Use specify_shape."
            )
        return node

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (ab, _), (x,) = inputs, outputs
        of_b = self(ab, output_grads[0])
        g, x = column(of_b), column(x)
        count = ab.type.shape[0]
        assert count is not None, "make_node asks for it"
        rows = []
        for row in range(count):
            # Element (j + below, j) of the matrix, and its mirror image
            below = row if self.lower else row - (count - 1)
            if below == 0:
                diagonal = -_products(g, x)
                rows.append(real(diagonal).astype(ab.type.dtype))
            else:
                rows.append(-_products(shift(g, -below), x) - conj(_products(g, shift(x, -below))))
        return [stack(rows), of_b]


def solve_banded(l_and_u: tuple[int, int], ab: TensorLike, b: TensorLike, b_ndim: int | None = None) -> TensorVariable:
    """The solution x of ``a x = b`` for a matrix with few diagonals; see `scipy.linalg.solve_banded`.

    Parameters
    ----------
    l_and_u
        The numbers of diagonals below and above the main one.
    ab
        The diagonals: ``ab[u + i - j, j] = a[i, j]``.
    b
        The right-hand side: a vector, or a matrix with one in each column.
    b_ndim
        With batches: whether one member of `b` is a vector (1) or a matrix (2).

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve_banded((0, 1), [[0.0, 1.0], [2.0, 4.0]], [3.0, 4.0]).eval()
    array([1., 1.])
    """
    return with_right_hand_side(SolveBanded(*l_and_u), ab, b, b_ndim)


def solveh_banded(ab: TensorLike, b: TensorLike, lower: bool = False, b_ndim: int | None = None) -> TensorVariable:
    """The solution x of ``a x = b`` for a Hermitian positive definite matrix with few diagonals.

    Parameters
    ----------
    ab
        The diagonals, a number that is known: ``ab[i - j, j] = a[i, j]`` with `lower`, else
        ``ab[u + i - j, j] = a[i, j]``, u being the number of those above the main one.
    b
        The right-hand side: a vector, or a matrix with one in each column.
    lower
        Whether `ab` has the diagonals below the main one.
    b_ndim
        With batches: whether one member of `b` is a vector (1) or a matrix (2).

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solveh_banded([[0.0, 1.0], [2.0, 4.0]], [3.0, 5.0]).eval()
    array([1., 1.])
    """
    return with_right_hand_side(SolveHermitianBanded(lower), ab, b, b_ndim)


def solve_tridiagonal(
    dl: TensorLike, d: TensorLike, du: TensorLike, b: TensorLike, b_ndim: int | None = None
) -> TensorVariable:
    """The solution x of ``a x = b`` for a matrix with three diagonals.

    Parameters
    ----------
    dl, d, du
        The diagonals below, on and above the main one: vectors of lengths n - 1, n and n - 1, or batches of them.
    b
        The right-hand side: a vector, or a matrix with one in each column.
    b_ndim
        With batches: whether one member of `b` is a vector (1) or a matrix (2). By default `b` is a vector if it has
        one dimension, else matrices.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.solve_tridiagonal([1.0], [2.0, 4.0], [1.0], [3.0, 5.0]).eval()
    array([1., 1.])
    """
    dl, d, du = cast_together("solve_tridiagonal", *[as_tensor_variable(x) for x in (dl, d, du)])
    b = as_tensor_variable(b)
    core_dims = core_of_right_hand_side(b, b_ndim)
    return for_batches("solve_tridiagonal", _solution_of_three, f"(m),(n),(m),{core_dims}->{core_dims}", dl, d, du, b)


_diagonals_fit = CheckAndRaise(
    ValueError, "solve_tridiagonal: the diagonals below and above the main one must have one element less than it."
)


def _solution_of_three(dl: TensorVariable, d: TensorVariable, du: TensorVariable, b: TensorVariable) -> TensorVariable:
    n = maximum(d.shape[0] - 1, 0)
    d = _diagonals_fit(d, and_(eq(dl.shape[0], n), eq(du.shape[0], n)))
    nothing = d[:1].zeros_like()
    return SolveBanded(1, 1)(stack([concatenate([nothing, du]), d, concatenate([dl, nothing])]), b)
