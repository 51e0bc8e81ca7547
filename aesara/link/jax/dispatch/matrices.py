"""Checks of matrices, triangles, and solutions of linear systems."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import Checks, require


def require_square(op: Any, x: jax.Array, error: type[Exception] = ValueError) -> None:
    """Raise an error unless a matrix is square."""
    if x.shape[0] != x.shape[1]:
        raise error(f"{op}: the matrix must be square; it has shape {x.shape}.")


def require_finite(checks: Checks | None, node: Apply | None, *arrays: Any) -> None:
    """Check that arrays have no infinities and NaNs."""
    for x in arrays:
        require(checks, jnp.isfinite(x).all(), ValueError, "array must not contain infs or NaNs", node)


def adjoint(x: jax.Array) -> Any:
    """Return the conjugate transpose."""
    return jnp.conj(x.T)


def triangle(x: jax.Array, lower: bool, k: int = 0) -> Any:
    """Return a triangle of a matrix, without the `k` longest diagonals."""
    return jnp.tril(x, -k) if lower else jnp.triu(x, k)


def matrix_of_triangle(x: jax.Array, lower: bool, hermitian: bool = True) -> Any:
    """Return the Hermitian or symmetric matrix with the given triangle."""
    off_diagonal, diagonal = triangle(x, lower, 1), jnp.diag(x)
    if hermitian:
        return off_diagonal + adjoint(off_diagonal) + jnp.diag(diagonal.real.astype(x.dtype))
    return off_diagonal + off_diagonal.T + jnp.diag(diagonal)


def solve_triangular(a: jax.Array, b: jax.Array, lower: bool, trans: int = 0, unit_diagonal: bool = False) -> Any:
    """Solve a system with a triangular matrix, or its transpose (1) or conjugate transpose (2)."""
    return jax.scipy.linalg.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


def solve_by_lu(a: jax.Array, b: jax.Array) -> tuple[Any, Any]:
    """Solve a system with a square matrix; return the solution, and whether the matrix is regular."""
    factors, pivots, _ = jax.lax.linalg.lu(a)
    return jax.scipy.linalg.lu_solve((factors, pivots), b), (jnp.diag(factors) != 0).all()
