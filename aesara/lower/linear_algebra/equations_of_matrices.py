"""Lowering of equations for matrices (of Sylvester, Lyapunov and Riccati): by Schur forms of what they are given."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.ir.routines import schur_forms, spectra
from aesara.lower.linear_algebra.matrices import Matrices, Numbers, adopt, conjugate, swapped, whole
from aesara.tensor.core.casting import cast
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.numpy_ops import hypot, rint
from aesara.tensor.elementwise.ops import abs as absolute
from aesara.tensor.elementwise.ops import add, and_, eq, exp2, gt, le, log2, lt, maximum, neq, real, switch
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.core import adjoint, one_norm, real_dtype, rows_of
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.matrix_equations import (
    NO_UNIQUE_SOLUTION,
    NOT_STABILISED,
    BilinearSolveDiscreteLyapunov,
    SolveContinuousLyapunov,
    SolveContinuousRiccati,
    SolveDiscreteRiccati,
    SolveSylvester,
)
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.products.matmul import matmul
from aesara.tensor.reductions.sum_prod_max import max as largest

__all__: list[str] = []


def _schur(of: Matrices, a: Numbers) -> tuple[Numbers, Numbers]:
    """The Schur form of a matrix, by columns as the routines have it, and the unitary matrix."""
    made = of.call(spectra.schur(a.dtype), {"n": a.shape[-1]}, {"a": swapped(a)}, a.shape[: len(of.lead)])
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    return made["a"], swapped(made["unitary"])


def _fitting(of: Matrices, a: Numbers, q: Numbers, axis: int) -> None:
    """A matrix must be square, and of the order that is the number of rows (-2) or columns (-1) of another."""
    order = of.require_square(a)
    name = "rows" if axis == -2 else "columns"
    of.require_equal(order, q.shape[axis], f"a matrix of order {{0}} and one of {{1}} {name} do not fit.")


def _solution(of: Matrices, a: Numbers, b: Numbers, q: Numbers) -> Numbers:
    """The solution X of ``A X + X B^H = Q``, from the Schur forms of A and B and the unitary matrices."""
    form, u = _schur(of, a)
    other_form, v = (form, u) if b is a else _schur(of, b)
    (turned,) = of.expression(lambda u, q, v: [matmul(adjoint(u), matmul(q, v))], [u, q, v])
    given = {"a": form, "b": other_form, "c": swapped(turned)}
    sizes = {"m": form.shape[-1], "n": other_form.shape[-1]}
    made = of.call(schur_forms.sylvester(q.dtype), sizes, given)
    solution: Numbers
    (solution,) = of.expression(
        lambda u, y, v, scale: [matmul(u, matmul(y, adjoint(v))) / _as_matrix(scale)],
        [u, swapped(made["c"]), v, made["scale"]],
    )
    (wrong,) = of.expression(_has_no_solution, [a, b, q, solution, made["status"]])
    of.require_none(wrong, of.linalg_error, NO_UNIQUE_SOLUTION)
    return solution


def _has_no_solution(a: Any, b: Any, q: Any, x: Any, status: Any) -> list[Any]:
    """Whether a singular equation was changed to one that has a solution, which does not solve the first one."""
    left_over = matmul(a, x) + matmul(x, adjoint(b)) - q
    bound = np.asarray(np.sqrt(np.finfo(q.type.dtype).eps), real_dtype(q.type.dtype))
    return [and_(neq(status, 0), gt(one_norm(left_over), bound * one_norm(q)))]


def _as_matrix(scale: Any) -> Any:
    return scale.dimshuffle(*range(scale.type.ndim), "x")


@adopt(SolveSylvester)
def _sylvester(op: SolveSylvester, of: Matrices) -> Sequence[Numbers]:
    a, b, q = of.inputs
    _fitting(of, a, q, -2)
    _fitting(of, b, q, -1)
    of.require_finite(a, b)
    return [_solution(of, a, conjugate(swapped(b)), q)]


@adopt(SolveContinuousLyapunov)
def _continuous_lyapunov(op: SolveContinuousLyapunov, of: Matrices) -> Sequence[Numbers]:
    a, q = of.inputs
    _fitting(of, a, q, -2)
    of.require_square(q)
    of.require_finite(a)
    return [_solution(of, a, a, q)]


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
    return [_solution(of, b, b, c)]


# -- Riccati equations -------------------------------------------------------------------------------------------
#
# The columns of ``[1; X]`` span what belongs to the stable eigenvalues of a pencil ``H - w J`` of order 2 n + m, from
# which the m columns for the controls are taken by an orthogonal transformation: P. Van Dooren (1981), "A generalized
# eigenvalue approach for solving Riccati equations". Numbers are balanced by powers of 2 before.


@adopt(SolveContinuousRiccati)
def _continuous_riccati(op: SolveContinuousRiccati, of: Matrices) -> Sequence[Numbers]:
    def pencil(a: Any, b: Any, q: Any, r: Any) -> list[Any]:
        none, unit = _zeros(a, b, r), eye(a.shape[-1], dtype=real_dtype(a.type.dtype)) + a.zeros_like()
        h = ((a, none["n,n"], b), (-q, -adjoint(a), none["n,m"]), (none["m,n"], adjoint(b), r))
        j = ((unit, none["n,n"], none["n,m"]), (none["n,n"], unit, none["n,m"]), _row_of_zeros(none))
        return [_joined(h), _joined(j)]

    def is_stable(above: Any, below: Any, *imaginary: Any) -> list[Any]:
        return [cast(and_(lt(real(above), 0), gt(real(below), 0)), "int32")]

    def terms(x: Any, a: Any, b: Any, q: Any, r: Any) -> list[Any]:
        controlled = matmul(matmul(x, b), Solve(check_finite=False)(r, matmul(adjoint(b), x)))
        return [matmul(adjoint(a), x), matmul(x, a), -controlled, q]

    values = of.call(
        spectra.svd("values", of.inputs[3].dtype), {"m": of.inputs[3].shape[-2], "n": of.inputs[3].shape[-1]},
        {"a": of.inputs[3]},
    )["values"]  # fmt: skip
    (singular,) = of.expression(_is_negligible, [values])
    of.require_none(singular, ValueError, "the matrix r is numerically singular.")
    return [_riccati(of, pencil, is_stable, terms)]


@adopt(SolveDiscreteRiccati)
def _discrete_riccati(op: SolveDiscreteRiccati, of: Matrices) -> Sequence[Numbers]:
    def pencil(a: Any, b: Any, q: Any, r: Any) -> list[Any]:
        none, unit = _zeros(a, b, r), eye(a.shape[-1], dtype=real_dtype(a.type.dtype)) + a.zeros_like()
        h = ((a, none["n,n"], b), (-q, unit, none["n,m"]), (none["m,n"], none["m,n"], r))
        j = ((unit, none["n,n"], none["n,m"]), (none["n,n"], adjoint(a), none["n,m"]))
        return [_joined(h), _joined((*j, (none["m,n"], -adjoint(b), none["m,m"])))]

    def is_stable(above: Any, below: Any, *imaginary: Any) -> list[Any]:
        size = hypot(above, *imaginary) if imaginary else absolute(above)
        return [cast(lt(size, absolute(below)), "int32")]

    def terms(x: Any, a: Any, b: Any, q: Any, r: Any) -> list[Any]:
        before, through = matmul(adjoint(a), x), matmul(adjoint(b), x)
        gain = Solve(check_finite=False)(r + matmul(through, b), matmul(through, a))
        return [matmul(before, a), -x, -matmul(matmul(before, b), gain), q]

    return [_riccati(of, pencil, is_stable, terms)]


def _zeros(a: Any, b: Any, r: Any) -> dict[str, Any]:
    return {
        "n,n": a.zeros_like(), "n,m": b.zeros_like(), "m,n": adjoint(b).zeros_like(), "m,m": r.zeros_like()
    }  # fmt: skip


def _row_of_zeros(none: dict[str, Any]) -> tuple[Any, ...]:
    return none["m,n"], none["m,n"], none["m,m"]


def _joined(blocks: Sequence[Sequence[Any]]) -> Any:
    return concatenate([concatenate(row, axis=-1) for row in blocks], axis=-2)


def _is_negligible(values: Any) -> list[Any]:
    """Whether the smallest of singular values is zero within rounding."""
    eps = np.asarray(np.finfo(values.type.dtype).eps, values.type.dtype)
    return [le(values, eps * largest(values, axis=-1, keepdims=True, initial=0))]


def _is_not_hermitian(x: Any) -> list[Any]:
    eps = np.asarray(100 * np.finfo(x.type.dtype).eps, real_dtype(x.type.dtype))
    return [gt(one_norm(x - adjoint(x)), eps * one_norm(x))]


def _riccati(
    of: Matrices, pencil: Callable[..., list[Any]], is_stable: Callable[..., list[Any]],
    terms: Callable[..., list[Any]],
) -> Numbers:  # fmt: skip
    """The stabilising solution, from the pencil, from which eigenvalues are stable, and the terms of the equation.

    It is computed in double precision, as by SciPy: the problem may be much worse conditioned than its matrices.
    """
    given = of.inputs[0].dtype
    a, b, q, r = of.expression(lambda *inputs: [cast(x, _double(x)) for x in inputs])
    _fitting(of, a, b, -2)
    _fitting(of, q, b, -2)
    _fitting(of, r, b, -1)
    of.require_finite(a, b, q, r)
    for name, x in (("q", q), ("r", r)):
        (found,) = of.expression(_is_not_hermitian, [x])
        of.require_none(found, ValueError, f"the matrix {name} must be symmetric or Hermitian.")
    h, j, sizes = of.expression(
        lambda *known: _with_sizes(*pencil(*known)), [whole(x, of.lead) for x in (a, b, q, r)]
    )  # fmt: skip
    balance = of.call(schur_forms.scales(sizes.dtype), {"n": sizes.shape[-1]}, {"a": swapped(sizes)})["scales"]
    h, j, scale = of.expression(_balanced, [h, j, balance, a])
    left, right = of.expression(_without_controls, [h, j, b])
    made = of.call(schur_forms.qz(left.dtype), {"n": left.shape[-1]}, {"a": swapped(left), "b": swapped(right)})
    of.require_success(made["status"], "has a pencil whose eigenvalues were not found; the routine returned")
    values = [made[name] for name in ("above", "below", "imaginary") if name in made]
    (chosen,) = of.expression(is_stable, values)
    (wrong,) = of.expression(lambda c, a: [neq(c.sum(axis=-1), a.shape[-1])], [chosen, a])
    of.require_none(wrong, of.linalg_error, NOT_STABILISED)
    beside = {"chosen": chosen, **{name: made[name] for name in ("a", "b", "left", "right")}}
    ordered = of.call(schur_forms.qz_reordered(left.dtype), {"n": left.shape[-1]}, beside)
    of.require_success(ordered["status"], "has a pencil whose eigenvalues are too close; the routine returned")
    solution: Numbers
    solution, singular, skew = of.expression(_from_vectors, [swapped(ordered["right"]), scale, a])
    of.require_none(singular, of.linalg_error, "there is no finite solution.")
    of.require_none(skew, of.linalg_error, NOT_STABILISED)
    (wrong,) = of.expression(lambda x, *known: _do_not_cancel(terms(x, *known)), [solution, a, b, q, r])
    of.require_none(wrong, of.linalg_error, NOT_STABILISED)
    (solution,) = of.expression(lambda x: [cast(x, given)], [solution])
    return solution


def _double(x: Any) -> str:
    return "complex128" if x.type.dtype.startswith("complex") else "float64"


def _do_not_cancel(terms: list[Any]) -> list[Any]:
    """Whether the sum of terms is far from zero."""
    dtype = real_dtype(terms[0].type.dtype)
    size = functools.reduce(maximum, [one_norm(term) for term in terms])
    return [gt(one_norm(functools.reduce(add, terms)), np.asarray(np.sqrt(np.finfo(dtype).eps), dtype) * size)]


def _with_sizes(h: Any, j: Any) -> list[Any]:
    """With the sizes of numbers beside the diagonal."""
    sizes = absolute(h) + absolute(j)
    place = arange(sizes.shape[-1])
    return [h, j, switch(eq(place.dimshuffle(0, "x"), place), sizes.zeros_like(), sizes)]


def _balanced(h: Any, j: Any, balance: Any, a: Any) -> list[Any]:
    """Rows and columns in numbers of like size; factors for what belongs to X are the reciprocals of the first ones."""
    n = a.shape[-1]
    exponent = log2(balance)
    half = rint((exponent[..., n : 2 * n] - exponent[..., :n]) / 2)
    factor = exp2(concatenate([half, -half, exponent[..., 2 * n :]], axis=-1))
    change = factor.dimshuffle(*range(factor.type.ndim), "x") / rows_of(factor)
    return [h * change, j * change, exp2(half)]


def _without_controls(h: Any, j: Any, b: Any) -> list[Any]:
    m = b.shape[-1]
    turn = adjoint(QRFull("complete")(h[..., h.shape[-1] - m :])[0])[..., m:, :]
    return [matmul(turn, x[..., : h.shape[-1] - m]) for x in (h, j)]


def _from_vectors(vectors: Any, scale: Any, a: Any) -> list[Any]:
    """X, and whether it is not finite, or not Hermitian but for rounding."""
    n = a.shape[-1]
    first, second = vectors[..., :n, :n], vectors[..., n:, :n]
    eps = np.finfo(vectors.type.dtype).eps
    dtype = real_dtype(vectors.type.dtype)
    inner = matmul(adjoint(first), second)
    skew = gt(
        one_norm(inner - adjoint(inner)),
        maximum(np.asarray(1000 * eps, dtype), np.asarray(0.1, dtype) * one_norm(inner)),
    )
    turned = adjoint(first)
    condition = one_norm(turned) * one_norm(MatrixInverse()(turned))
    x = adjoint(Solve(check_finite=False)(turned, adjoint(second)))
    x = x * scale.dimshuffle(*range(scale.type.ndim), "x") * rows_of(scale)
    return [(x + adjoint(x)) * np.asarray(0.5, dtype), gt(condition, np.asarray(1 / eps, dtype)), skew]
