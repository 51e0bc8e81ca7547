"""Conversions of Cholesky, LU and banded factorizations, linear systems, and matrix exponentials.

Schur decompositions, and ops that need them, run `perform` on the host, since JAX computes them on CPUs only.  These
are `Schur`, `QZ`, `SqrtMatrix`, `LogMatrix`, and Sylvester, Lyapunov and Riccati equations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import jax_funcify, require
from aesara.link.jax.dispatch.matrices import (
    adjoint,
    matrix_of_triangle,
    require_finite,
    require_square,
    solve_by_lu,
    solve_triangular,
    triangle,
)
from aesara.link.jax.dispatch.products import product
from aesara.tensor.linear_algebra.banded import SolveBanded, SolveHermitianBanded
from aesara.tensor.linear_algebra.by_factors import InverseByCholesky, InverseByLU, SolveByLU
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.failures import NanOnError
from aesara.tensor.linear_algebra.lu import LU, LUFactor, PivotsToPermutation
from aesara.tensor.linear_algebra.matrix_functions import Expm, ExpmGrad
from aesara.tensor.linear_algebra.solve import TRANSPOSITIONS, Solve, SolveBase, SolveTriangular

LinAlgError = np.linalg.LinAlgError


# -- Cholesky factors --------------------------------------------------------------------------------------------


@jax_funcify.register(Cholesky)
def jax_funcify_Cholesky(
    op: Cholesky, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the Cholesky factor of the matrix with the given triangle."""

    def cholesky(x: jax.Array) -> Any:
        require_square(op, x)
        if op.on_error == "raise":
            require_finite(checks, node, x)
        factor = _factor(x, bool(op.lower))
        if op.on_error == "nan":
            return jnp.where(jnp.isfinite(factor).all(), factor, jnp.nan)
        require(checks, ~jnp.isnan(factor).any(), LinAlgError, "The matrix is not positive definite.", node)
        return factor

    return cholesky


def _factor(x: jax.Array, lower: bool) -> Any:
    """Return the Cholesky factor, NaN if there is none."""
    factor = jax.lax.linalg.cholesky(matrix_of_triangle(x, lower), symmetrize_input=False)
    return factor if lower else adjoint(factor)


def _solve_by_cholesky(factor: Any, b: jax.Array, lower: bool) -> Any:
    first, other = (0, 2) if lower else (2, 0)
    inner = solve_triangular(factor, b, lower, first)
    return solve_triangular(factor, inner, lower, other)


@jax_funcify.register(InverseByCholesky)
def jax_funcify_InverseByCholesky(
    op: InverseByCholesky, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the inverse of a matrix, or a triangle of it, from the Cholesky factor."""

    def inverse(factor: Any) -> Any:
        require_square(op, factor)
        _require_regular(checks, node, factor)
        result = _solve_by_cholesky(factor, jnp.eye(factor.shape[0], dtype=factor.dtype), bool(op.lower))
        return matrix_of_triangle(result, bool(op.lower)) if op.whole else triangle(result, bool(op.lower))

    return inverse


def _require_regular(checks: Any, node: Apply | None, factors: Any, unless: Any = False) -> None:
    assert node is not None
    message = f"{node.op}: the matrix is singular: the diagonal of its factor has a zero."
    require(checks, (jnp.diag(factors) != 0).all() | unless, LinAlgError, message, node)


# -- linear systems ----------------------------------------------------------------------------------------------


@jax_funcify.register(SolveBase)
def jax_funcify_SolveBase(
    op: SolveBase, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Solve a system with a square matrix."""

    def solve(a: jax.Array, b: jax.Array) -> Any:
        if a.shape[0] != a.shape[1]:
            raise ValueError(f"{op}: `A` must be a square matrix; it has shape {a.shape}.")
        if a.shape[0] != b.shape[0]:
            raise ValueError(f"{op}: a matrix of shape {a.shape} and a right-hand side of shape {b.shape} do not fit.")
        if b.size == 0:
            return b
        if op.check_finite:
            require_finite(checks, node, a, b)
        solution, holds, message = _solution(op, a, b)
        require(checks, holds, LinAlgError, message, node)
        return solution

    return solve


def _solution(op: SolveBase, a: jax.Array, b: jax.Array) -> tuple[Any, Any, str]:
    """Return the solution, whether it exists, and the error message otherwise."""
    lower = bool(op.lower)
    if isinstance(op, SolveTriangular):
        unit = bool(op.unit_diagonal)
        holds = True if unit else (jnp.diag(a) != 0).all()
        solution = solve_triangular(a, b, lower, TRANSPOSITIONS[op.trans], unit)
        return solution, holds, "singular matrix: its diagonal has a zero"
    if not isinstance(op, Solve):
        return _solve_by_cholesky(a, b, lower), True, ""
    assume = op.assume_a if len(a) > 1 else "gen"
    if assume == "pos":
        factor = _factor(a, lower)
        found = _solve_by_cholesky(factor, b, lower), ~jnp.isnan(factor).any()
    else:
        found = solve_by_lu(a if assume == "gen" else matrix_of_triangle(a, lower, hermitian=assume == "her"), b)
    return *found, "A singular matrix detected."


@jax_funcify.register(NanOnError)
def jax_funcify_NanOnError(
    op: NanOnError, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the results of the op, all NaN if an input or result is not finite."""
    assert node is not None
    inner = Apply(op.op, node.inputs, [out.type() for out in node.outputs])
    function = jax_funcify(op.op, node=inner, checks=None, **kwargs)

    def or_nan(a: jax.Array, *others: Any) -> Any:
        is_read = op.op.read_of(np.ones(a.shape)) != 0
        finite = [jnp.isfinite(jnp.where(is_read, a, 0)), *map(jnp.isfinite, others)]
        is_valid = jnp.stack([part.all() for part in finite]).all()
        identity = jnp.eye(a.shape[0], a.shape[1], dtype=a.dtype)
        valid = [jnp.where(is_valid, a, identity), *(jnp.where(is_valid, x, 0) for x in others)]
        results = function(*valid)
        results = results if isinstance(results, tuple) else (results,)
        is_valid &= jnp.stack([jnp.isfinite(one).all() for one in results]).all()
        results = tuple(jnp.where(is_valid, one, jnp.nan) for one in results)
        return results if len(results) > 1 else results[0]

    return or_nan


# -- LU factors --------------------------------------------------------------------------------------------------


@jax_funcify.register(LU)
def jax_funcify_LU(op: LU, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Return the factors and the permutation of rows."""
    assert node is not None
    dtype = node.outputs[0].type.dtype

    def lu(x: jax.Array) -> Any:
        rows, k = x.shape[0], min(x.shape)
        factors, _, permutation = jax.lax.linalg.lu(x)
        low = jnp.tril(factors[:, :k], -1) + jnp.eye(rows, k, dtype=x.dtype)
        up = jnp.triu(factors[:k])
        order = jnp.argsort(permutation)
        if op.permute_l:
            return low[order], up
        return (order.astype(dtype) if op.p_indices else jnp.eye(rows, dtype=dtype)[order]), low, up

    return lu


@jax_funcify.register(LUFactor)
def jax_funcify_LUFactor(op: LUFactor, **kwargs: Any) -> Callable[..., Any]:
    """Return the factors in one matrix, and the pivots."""

    def lu_factor(x: jax.Array) -> Any:
        require_square(op, x, LinAlgError)
        return jax.lax.linalg.lu(x)[:2]

    return lu_factor


@jax_funcify.register(PivotsToPermutation)
def jax_funcify_PivotsToPermutation(
    op: PivotsToPermutation, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the permutation of rows for a sequence of swaps."""

    def order(pivots: Any) -> Any:
        count = pivots.shape[0]
        if count == 0:  # JAX would trace the step of the empty loop
            return jnp.arange(0, dtype="int64")
        exist = ((pivots >= 0) & (pivots < count)).all()
        message = f"{op}: pivots must be row numbers from 0 to {count - 1}."
        require(checks, exist, IndexError, message, node)

        def swap(k: Any, rows: Any) -> Any:
            return rows.at[jnp.stack([k, other[k]])].set(rows[jnp.stack([other[k], k])])

        other = jnp.asarray(pivots, "int64")
        return jax.lax.fori_loop(0, count, swap, jnp.arange(count, dtype="int64"))

    return order


@jax_funcify.register(SolveByLU)
def jax_funcify_SolveByLU(
    op: SolveByLU, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Solve a system by LU factors."""

    def solve(factors: Any, pivots: Any, b: jax.Array) -> Any:
        if factors.shape[0] != b.shape[0]:
            order = factors.shape[0]
            raise ValueError(f"{op}: a matrix of order {order} and a right-hand side of shape {b.shape} do not fit.")
        _require_regular(checks, node, factors)
        if b.size and op.check_finite:
            require_finite(checks, node, factors, b)
        return _solve_by_lu_factors(factors, pivots, b, int(op.transposed))

    return solve


@jax_funcify.register(InverseByLU)
def jax_funcify_InverseByLU(
    op: InverseByLU, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the inverse by LU factors; all NaN if they have a NaN."""

    def inverse(factors: Any, pivots: Any) -> Any:
        has_nan = jnp.isnan(factors).any()
        _require_regular(checks, node, factors, unless=has_nan)
        result = _solve_by_lu_factors(factors, pivots, jnp.eye(factors.shape[0], dtype=factors.dtype), 0)
        return jnp.where(has_nan, jnp.nan, result)

    return inverse


def _solve_by_lu_factors(factors: Any, pivots: Any, b: jax.Array, trans: int) -> Any:
    return jax.scipy.linalg.lu_solve((factors, jnp.asarray(pivots, "int32")), b, trans=trans)


# -- banded matrices ---------------------------------------------------------------------------------------------


@jax_funcify.register(SolveBanded)
def jax_funcify_SolveBanded(
    op: SolveBanded, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Solve a system with a banded matrix, with pivoting."""

    def solve(ab: Any, b: jax.Array) -> Any:
        if ab.shape[1] != b.shape[0] or ab.shape[0] != op.lower + op.upper + 1:
            raise ValueError(f"{op}: diagonals of shape {ab.shape} and a right-hand side of {b.shape} do not fit.")
        if b.size == 0:
            return b
        solution, pivots = _solve_banded(ab, b, op.lower, op.upper, pivot=True)
        require(checks, (pivots != 0).all(), LinAlgError, "singular matrix", node)
        return solution

    return solve


@jax_funcify.register(SolveHermitianBanded)
def jax_funcify_SolveHermitianBanded(
    op: SolveHermitianBanded, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Solve a system with a positive definite banded matrix, of which one triangle is given."""

    def solve(ab: Any, b: jax.Array) -> Any:
        if ab.shape[1] != b.shape[0]:
            raise ValueError(f"{op}: diagonals of shape {ab.shape} and a right-hand side of {b.shape} do not fit.")
        if b.size == 0:
            return b
        below = ab if op.lower else _conjugate_transpose_diagonals(ab[::-1], above=True)
        above = _conjugate_transpose_diagonals(below, above=False)[:0:-1]
        whole = jnp.concatenate([above, below[:1].real.astype(ab.dtype), below[1:]])
        count = ab.shape[0] - 1
        solution, pivots = _solve_banded(whole, b, count, count, pivot=False)
        positive = ((pivots.real > 0) | jnp.isnan(pivots)).all()
        require(checks, positive, LinAlgError, "The matrix is not positive definite.", node)
        return solution

    return solve


def _conjugate_transpose_diagonals(diagonals: Any, above: bool) -> Any:
    """Return the diagonals on one side of the conjugate transpose, from those on the other side."""
    n = diagonals.shape[1]
    positions = np.arange(n) + np.arange(diagonals.shape[0])[:, None] * (1 if above else -1)
    entries = jnp.take_along_axis(diagonals, np.clip(positions, 0, n - 1), axis=1)
    return jnp.where((positions >= 0) & (positions < n), jnp.conj(entries), 0)


def _solve_banded(ab: Any, b: jax.Array, lower: int, upper: int, pivot: bool) -> tuple[Any, Any]:
    """Eliminate one column after the other; return the solution and the pivots.

    The state holds the rows with entries in the current column, from this column on.
    """
    n, width = ab.shape[1], lower + upper + 1
    right = b.reshape(n, -1)
    row, offset = np.arange(n + lower)[:, None], np.arange(width)
    column = row + offset - lower
    inside = (column >= 0) & (column < n) & (row < n)
    rows = jnp.where(inside, ab[lower + upper - offset, np.clip(column, 0, n - 1)], 0)
    right = jnp.concatenate([right, jnp.zeros((lower, right.shape[1]), b.dtype)])

    def shift(matrix: jax.Array, by: int) -> Any:
        return jnp.concatenate([matrix[by:], jnp.zeros(by, matrix.dtype)])

    # Row i starts in column i - lower; the first rows are shifted to column 0.
    first = jnp.stack([shift(rows[i], lower - i) for i in range(lower)]) if lower else rows[:0]

    def eliminate(state: tuple[Any, Any], new: tuple[Any, Any]) -> tuple[Any, Any]:
        active = jnp.concatenate([state[0], new[0][None]])
        values = jnp.concatenate([state[1], new[1][None]])
        if pivot:
            chosen = jnp.argmax(jnp.abs(active[:, 0]))
            order = jnp.arange(lower + 1).at[jnp.stack([0 * chosen, chosen])].set(jnp.stack([chosen, 0 * chosen]))
            active, values = active[order], values[order]
        factors = active[1:, 0] / active[0, 0]
        rest = active[1:] - factors[:, None] * active[0]
        right_rest = values[1:] - factors[:, None] * values[0]
        shifted = jnp.concatenate([rest[:, 1:], jnp.zeros((lower, 1), rest.dtype)], axis=1)
        return (shifted, right_rest), (active[0], values[0])

    _, (up, middle) = jax.lax.scan(eliminate, (first, right[:lower]), (rows[lower:], right[lower:]))

    def substitute(after: Any, equation: tuple[Any, Any]) -> tuple[Any, Any]:
        known = product(equation[0][1:], after, b.dtype)
        found = (equation[1] - known) / equation[0][0]
        return jnp.concatenate([found[None], after])[: width - 1], found

    nothing = jnp.zeros((width - 1, right.shape[1]), b.dtype)
    _, solution = jax.lax.scan(substitute, nothing, (up, middle), reverse=True)
    return solution.reshape(b.shape), up[:, 0]


# -- exponentials ------------------------------------------------------------------------------------------------

#: base-2 logarithm of the largest norm of a matrix whose exponential is computed
_MOST_SQUARINGS = 64


def _exponential(x: jax.Array) -> Any:
    # JAX scales matrices by one power of 2 less than its approximant requires.
    half = jax.scipy.linalg.expm(x / 2, max_squarings=_MOST_SQUARINGS)
    return product(half, half, x.dtype)


@jax_funcify.register(Expm)
def jax_funcify_Expm(op: Expm, **kwargs: Any) -> Callable[..., Any]:
    """Return the exponential; NaN for matrices that are not finite."""

    def expm(x: jax.Array) -> Any:
        require_square(op, x, LinAlgError)
        return _exponential(x) if x.size else x

    return expm


@jax_funcify.register(ExpmGrad)
def jax_funcify_ExpmGrad(op: ExpmGrad, **kwargs: Any) -> Callable[..., Any]:
    """Return the derivative of the exponential of the conjugate transpose along the output gradient."""

    def gradient(x: jax.Array, g: Any) -> Any:
        require_square(op, x)
        return jax.jvp(_exponential, (adjoint(x),), (g,))[1] if x.size else x

    return gradient
