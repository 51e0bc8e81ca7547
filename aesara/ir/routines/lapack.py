"""Routines of LAPACK, through the C functions that `scipy.linalg.cython_lapack` exports.

LAPACK's matrices are column-major: a row-major matrix is its transpose there.  What is symmetric stays what it is, and
the lower triangle becomes the upper one.

Reference: E. Anderson et al., LAPACK Users' Guide, 3rd edition, SIAM 1999.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aesara.ir.expr import const, op
from aesara.ir.routine import Character, Data, Integer, Parameter, Routine, Status, size
from aesara.ir.work import Work

__all__ = ["LETTERS", "cholesky"]

#: the letter of LAPACK's names by dtype
LETTERS = {"float32": "s", "float64": "d"}

_N = size("n")
#: the leading dimension of a square matrix is never zero
_AT_LEAST_ONE = op("maximum", _N, const(1))
#: nanoseconds of a multiply-add in a factorization, and of a call
_MULTIPLY_ADD, _CALL = 0.1, 300.0


def _factor_cholesky(lower: bool, values: dict[str, Any], a: np.ndarray, status: np.ndarray) -> None:
    """Replace one triangle by the factor; the status is the order of the first minor that is not positive."""
    whole = np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T
    status[...] = 0
    for k in range(1, values["n"] + 1):
        try:
            factor = np.linalg.cholesky(whole[:k, :k])
        except np.linalg.LinAlgError:
            status[...] = k
            return
        if np.isnan(factor).any():
            status[...] = k
            return
    if values["n"]:
        triangle = np.tril_indices(values["n"]) if lower else np.triu_indices(values["n"])
        a[triangle] = (factor if lower else factor.T)[triangle]


@functools.cache
def cholesky(triangle: str, dtype: str) -> Routine:
    """The Cholesky factorization of a symmetric matrix, whose "lower" or "upper" triangle is read and overwritten."""
    lower = triangle == "lower"
    return Routine(
        name=f"cholesky.{triangle}.{dtype}",
        title="Cholesky factorization",
        symbol=f"lapack.{LETTERS[dtype]}potrf",
        sizes=("n",),
        parameters=(
            Parameter("a", dtype, (_N, _N), is_written=True),
            Parameter("status", "int64", (), is_read=False, is_written=True),
        ),
        arguments=(
            Character("U" if lower else "L"), Integer(_N), Data("a"), Integer(_AT_LEAST_ONE), Status("status"),
        ),
        work=Work({(_N, _N, _N): _MULTIPLY_ADD / 6, (): _CALL}),
        reference=functools.partial(_factor_cholesky, lower),
    )  # fmt: skip
