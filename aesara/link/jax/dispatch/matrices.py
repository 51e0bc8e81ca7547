"""What conversions of linear algebra share: checks of matrices, triangles of them, and solutions of equations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import Checks, require


def require_square(op: Any, x: Any, error: type[Exception] = ValueError) -> None:
    """Complain about a matrix that is not square."""
    if x.shape[0] != x.shape[1]:
        raise error(f"{op}: the matrix must be square; it has shape {x.shape}.")


def require_finite(checks: Checks | None, node: Apply | None, *arrays: Any) -> None:
    """Complain about infinities and NaN."""
    for x in arrays:
        require(checks, jnp.isfinite(x).all(), ValueError, "array must not contain infs or NaNs", node)


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    return jnp.conj(x.T)


def triangle(x: Any, lower: bool, k: int = 0) -> Any:
    """A triangle of a matrix, without `k` diagonals at its long side."""
    return jnp.tril(x, -k) if lower else jnp.triu(x, k)


def of_triangle(x: Any, lower: bool, hermitian: bool = True) -> Any:
    """The Hermitian or symmetric matrix that a triangle stands for."""
    beside, diagonal = triangle(x, lower, 1), jnp.diag(x)
    if hermitian:
        return beside + adjoint(beside) + jnp.diag(diagonal.real.astype(x.dtype))
    return beside + beside.T + jnp.diag(diagonal)


def solved_by_triangle(a: Any, b: Any, lower: bool, trans: int = 0, unit_diagonal: bool = False) -> Any:
    """The solution of equations with a triangular matrix, or its transpose (1) or conjugate transpose (2)."""
    return jax.scipy.linalg.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


def solved_by_lu(a: Any, b: Any) -> tuple[Any, Any]:
    """The solution of equations with a square matrix, and whether there is one."""
    factors, pivots, _ = jax.lax.linalg.lu(a)
    return jax.scipy.linalg.lu_solve((factors, pivots), b), (jnp.diag(factors) != 0).all()
