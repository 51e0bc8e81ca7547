"""Lowering of equations for matrices (of Sylvester, Lyapunov and Riccati): by Schur forms of what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr
from aesara.ir.routines import schur_forms, spectra
from aesara.lower.linear_algebra.matrices import Matrices, Numbers, adopt, conjugate, swapped
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.linear_algebra.core import adjoint, real_dtype
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.matrix_equations import (
    BilinearSolveDiscreteLyapunov,
    SolveContinuousLyapunov,
    SolveSylvester,
)
from aesara.tensor.products.matmul import matmul

__all__: list[str] = []


def _schur(of: Matrices, a: Numbers) -> tuple[Numbers, Numbers]:
    """The Schur form of a matrix, by columns as the routines have it, and the unitary matrix."""
    made = of.call(spectra.schur(a.dtype), {"n": a.shape[-1]}, {"a": swapped(a)}, a.shape[: len(of.lead)])
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    return made["a"], swapped(made["unitary"])


def _fitting(of: Matrices, a: Numbers, q: Numbers, axis: int) -> Expr:
    """The order of a square matrix, which is the number of rows (-2) or columns (-1) of another."""
    order = of.require_square(a)
    name = "rows" if axis == -2 else "columns"
    of.require_equal(order, q.shape[axis], f"a matrix of order {{0}} and one of {{1}} {name} do not fit.")
    return order


def _solution(of: Matrices, first: tuple[Numbers, Numbers], second: tuple[Numbers, Numbers], q: Numbers) -> Numbers:
    """The solution X of ``A X + X B^H = Q``, from the Schur forms of A and B and the unitary matrices."""
    (form, u), (other_form, v) = first, second
    (turned,) = of.expression(lambda u, q, v: [matmul(adjoint(u), matmul(q, v))], [u, q, v])
    given = {"a": form, "b": other_form, "c": swapped(turned)}
    sizes = {"m": form.shape[-1], "n": other_form.shape[-1]}
    made = of.call(schur_forms.sylvester(q.dtype), sizes, given)
    solution: Numbers
    (solution,) = of.expression(
        lambda u, y, v, scale: [matmul(u, matmul(y, adjoint(v))) / _as_matrix(scale)],
        [u, swapped(made["c"]), v, made["scale"]],
    )
    return solution


def _as_matrix(scale: Any) -> Any:
    return scale.dimshuffle(*range(scale.type.ndim), "x")


@adopt(SolveSylvester)
def _sylvester(op: SolveSylvester, of: Matrices) -> Sequence[Numbers]:
    a, b, q = of.inputs
    _fitting(of, a, q, -2)
    _fitting(of, b, q, -1)
    of.require_finite(a, b)
    return [_solution(of, _schur(of, a), _schur(of, conjugate(swapped(b))), q)]


@adopt(SolveContinuousLyapunov)
def _continuous_lyapunov(op: SolveContinuousLyapunov, of: Matrices) -> Sequence[Numbers]:
    a, q = of.inputs
    _fitting(of, a, q, -2)
    of.require_square(q)
    of.require_finite(a)
    form = _schur(of, a)
    return [_solution(of, form, form, q)]


@adopt(BilinearSolveDiscreteLyapunov)
def _discrete_lyapunov(op: BilinearSolveDiscreteLyapunov, of: Matrices) -> Sequence[Numbers]:
    """With ``B = (A - 1) (A + 1)^-1`` and ``C = (A + 1)^-1`` it is ``B X + X B^H = -2 C Q C^H``."""
    a, q = of.inputs
    _fitting(of, a, q, -2)
    of.require_square(q)

    def continuous(a: Any, q: Any) -> list[Any]:
        unit = eye(a.shape[-1], dtype=real_dtype(a.type.dtype))
        inverse = MatrixInverse()(a + unit)
        return [matmul(inverse, a - unit), matmul(inverse, matmul(-2 * q, adjoint(inverse)))]

    b, c = of.expression(continuous)
    of.require_finite(b)
    form = _schur(of, b)
    return [_solution(of, form, form, c)]
