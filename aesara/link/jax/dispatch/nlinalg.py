"""Conversions of determinants, inverses, and eigenvalue, singular value and QR decompositions.

`Eig` runs its `perform` on the host: JAX computes eigenvalues of general matrices on CPUs only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import by_expression, jax_funcify, require
from aesara.link.jax.dispatch.matrices import (
    adjoint,
    matrix_of_triangle,
    require_finite,
    require_square,
    solve_by_lu,
    solve_triangular,
)
from aesara.link.jax.dispatch.products import product
from aesara.lower.linear_algebra.expressions import STANDS_FOR
from aesara.tensor.linear_algebra.determinant import Cofactors, CofactorsGrad, Det, SLogDet
from aesara.tensor.linear_algebra.eigen import Eigh, EighGrad, Eigvalsh, EigvalshGrad, GeneralizedEigh
from aesara.tensor.linear_algebra.inverse import MatrixInverse, MatrixPinv
from aesara.tensor.linear_algebra.least_squares import Lstsq, PinvWithCutoff
from aesara.tensor.linear_algebra.matrix_functions import Polar
from aesara.tensor.linear_algebra.qr import QRFull, QRPivoted
from aesara.tensor.linear_algebra.svd import SVD


@jax_funcify.register(Det)
def jax_funcify_Det(op: Det, **kwargs: Any) -> Callable[..., Any]:
    """Return the determinant."""

    def det(x: jax.Array) -> Any:
        require_square(op, x, np.linalg.LinAlgError)
        return jnp.linalg.det(x)

    return det


@jax_funcify.register(SLogDet)
def jax_funcify_SLogDet(op: SLogDet, **kwargs: Any) -> Callable[..., Any]:
    """Return sign and logarithm of the absolute value of a determinant."""

    def slogdet(x: jax.Array) -> Any:
        require_square(op, x, np.linalg.LinAlgError)
        return tuple(jnp.linalg.slogdet(x))

    return slogdet


@jax_funcify.register(MatrixInverse)
def jax_funcify_MatrixInverse(
    op: MatrixInverse, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the inverse; all NaN if the matrix has a NaN."""

    def inverse(x: jax.Array) -> Any:
        require_square(op, x, np.linalg.LinAlgError)
        result, is_regular = solve_by_lu(x, jnp.eye(x.shape[0], dtype=x.dtype))
        has_nan = jnp.isnan(x).any()
        require(checks, is_regular | has_nan, np.linalg.LinAlgError, "Singular matrix", node)
        return jnp.where(has_nan, jnp.nan, result)

    return inverse


for _kind in (Cofactors, CofactorsGrad, EighGrad, EigvalshGrad, MatrixPinv, PinvWithCutoff, Polar):

    @jax_funcify.register(_kind)
    def _as_expression(op: Any, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
        """Convert the expression of the op in other matrix ops."""
        assert node is not None
        inputs = [variable.type() for variable in node.inputs]
        function = by_expression(op, node, inputs, STANDS_FOR[type(op)](op, *inputs), **kwargs)

        def expression(*values: Any) -> Any:
            if isinstance(op, Cofactors | CofactorsGrad):
                require_square(op, values[0])
            if isinstance(op, MatrixPinv) and op.hermitian:
                require_square(op, values[0], np.linalg.LinAlgError)
            return function(*values)

        return expression


# -- eigenvalues -------------------------------------------------------------------------------------------------


def _spectrum(x: jax.Array) -> tuple[Any, Any]:
    """Return ascending eigenvalues and eigenvectors of a Hermitian matrix."""
    vectors, values = jax.lax.linalg.eigh(x, lower=True, symmetrize_input=False, sort_eigenvalues=True)
    return values, vectors


def _generalized_spectrum(checks: Any, node: Apply | None, a: jax.Array, b: jax.Array) -> tuple[Any, Any]:
    """Solve ``A v = w B v`` for Hermitian matrices, by the Cholesky factor of B."""
    factor = jax.lax.linalg.cholesky(b, symmetrize_input=False)
    message = "The matrix B is not positive definite."
    require(checks, ~jnp.isnan(factor).any(), np.linalg.LinAlgError, message, node)
    solve = functools.partial(solve_triangular, factor, lower=True)
    values, vectors = _spectrum(matrix_of_triangle(solve(adjoint(solve(a))), lower=True))
    return values, solve(vectors, trans=2)


@jax_funcify.register(Eigh)
def jax_funcify_Eigh(op: Eigh, **kwargs: Any) -> Callable[..., Any]:
    """Return eigenvalues and eigenvectors of a Hermitian matrix."""

    def eigh(x: jax.Array) -> Any:
        require_square(op, x, np.linalg.LinAlgError)
        return _spectrum(matrix_of_triangle(x, op.UPLO == "L"))

    return eigh


@jax_funcify.register(Eigvalsh)
@jax_funcify.register(GeneralizedEigh)
def _of_hermitian_matrices(
    op: Eigvalsh | GeneralizedEigh, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return eigenvalues, and maybe eigenvectors, of one or two Hermitian matrices."""

    def eigen(*matrices: Any) -> Any:
        for x in matrices:
            require_square(op, x)
        if len({x.shape for x in matrices}) > 1:
            raise ValueError(f"{op}: matrices of shapes {matrices[0].shape} and {matrices[1].shape} do not fit.")
        require_finite(checks, node, *matrices)
        a, *others = (matrix_of_triangle(x, bool(op.lower)) for x in matrices)
        found = _generalized_spectrum(checks, node, a, *others) if others else _spectrum(a)
        return found if isinstance(op, GeneralizedEigh) else found[0]

    return eigen


# -- singular values ---------------------------------------------------------------------------------------------


def _decompose(checks: Any, node: Apply | None, x: jax.Array, full: bool) -> tuple[Any, Any, Any]:
    """Return the singular value decomposition; raise an error for infinities and NaNs."""
    u, s, vh = jnp.linalg.svd(x, full_matrices=full)
    _require_values(checks, node, x, s)
    return u, s, vh


def _require_values(checks: Any, node: Apply | None, x: jax.Array, s: Any) -> None:
    holds = jnp.isfinite(x).all() & ~jnp.isnan(s).any()
    require(checks, holds, np.linalg.LinAlgError, "SVD did not converge", node)


@jax_funcify.register(SVD)
def jax_funcify_SVD(op: SVD, node: Apply | None = None, checks: Any = None, **kwargs: Any) -> Callable[..., Any]:
    """Return the singular value decomposition, or the singular values."""

    def svd(x: jax.Array) -> Any:
        if op.compute_uv:
            return _decompose(checks, node, x, bool(op.full_matrices))
        s = jnp.linalg.svd(x, compute_uv=False)
        _require_values(checks, node, x, s)
        return s

    return svd


@jax_funcify.register(Lstsq)
def jax_funcify_Lstsq(op: Lstsq, node: Apply | None = None, checks: Any = None, **kwargs: Any) -> Callable[..., Any]:
    """Solve least squares problems by singular values.

    Residuals are NaN if the matrix does not have full rank: their number must be known, so they cannot be empty.
    """

    def lstsq(x: jax.Array, y: jax.Array, rcond: Any) -> Any:
        (rows, columns), right = x.shape, y if y.ndim == 2 else y[:, None]
        if rows != y.shape[0]:
            raise ValueError(f"{op}: a matrix of shape {x.shape} and a right-hand side of {y.shape} do not fit.")
        finite = jnp.isfinite(x).all() & jnp.isfinite(y).all()
        require(checks, finite, np.linalg.LinAlgError, "SVD did not converge in Linear Least Squares", node)
        u, s, vh = jnp.linalg.svd(x, full_matrices=False)
        precision = jnp.finfo(s.dtype).eps
        cutoff = jnp.where(rcond < 0, precision, rcond).astype(s.dtype)
        counts = s > cutoff * s.max(initial=0)
        inverse = jnp.where(counts, 1 / jnp.where(counts, s, 1), 0)
        solution = product(adjoint(vh) * inverse, product(adjoint(u), right, x.dtype), x.dtype)
        rank = counts.sum()
        errors = jnp.zeros(0, s.dtype)
        if rows > columns:
            residual = jnp.abs(right - product(x, solution, x.dtype))
            errors = jnp.where(rank == columns, (residual * residual).sum(axis=0), jnp.nan)
        return solution.reshape(columns, *y.shape[1:]), errors, rank, s

    return lstsq


# -- orthogonal factors ------------------------------------------------------------------------------------------


@jax_funcify.register(QRFull)
def jax_funcify_QRFull(op: QRFull, **kwargs: Any) -> Callable[..., Any]:
    """Return Q and R, R alone, or the output of LAPACK."""
    return lambda x: _one_or_pair(jnp.linalg.qr(x, mode={"full": "reduced"}.get(op.mode, op.mode)))


def _one_or_pair(found: Any) -> Any:
    return tuple(found) if isinstance(found, tuple) else found


@jax_funcify.register(QRPivoted)
def jax_funcify_QRPivoted(
    op: QRPivoted, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the factors of the matrix with permuted columns, and the permutation."""

    def qr(x: jax.Array) -> Any:
        require_finite(checks, node, x)
        order = _pivot_columns(jax.lax.stop_gradient(x))
        found = _one_or_pair(jnp.linalg.qr(x[:, order], mode=op.mode))
        return (*found, order) if isinstance(found, tuple) else (found, order)

    return qr


def _pivot_columns(x: jax.Array) -> Any:
    """Return column numbers by greedy pivoting: each has the largest component orthogonal to those before."""
    columns = x.shape[1]

    def step(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        rest, order = state
        lengths = jnp.linalg.norm(rest, axis=0)[order]
        chosen = jnp.argmax(jnp.where(jnp.arange(columns) < k, -1, lengths))
        order = order.at[jnp.array([k, chosen])].set(order[jnp.array([chosen, k])])
        direction = rest[:, order[k]] / jnp.where(lengths[chosen] > 0, lengths[chosen], 1)
        along = product(jnp.conj(direction), rest, rest.dtype)
        return rest - direction[:, None] * along, order

    start = x, jnp.arange(columns, dtype="int64")
    return jax.lax.fori_loop(0, min(x.shape), step, start)[1] if x.size else start[1]
