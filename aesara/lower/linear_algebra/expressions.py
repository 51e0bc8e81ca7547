"""Lowering of functions of matrices by graphs of other matrix ops."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.graph.op import Op
from aesara.graph.vectorization import vectorize_graph
from aesara.lower.arrays import Array
from aesara.lower.linear_algebra.matrices import MatrixBatch, adopt
from aesara.scan.carried import fori_loop
from aesara.tensor.core.casting import cast
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import ExtractDiag
from aesara.tensor.creation.eye_tri import eye, tril
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise import ops
from aesara.tensor.elementwise.numpy_ops import isfinite
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.core import adjoint, one_norm, real_dtype, rows_of
from aesara.tensor.linear_algebra.determinant import Cofactors, CofactorsGrad, Det
from aesara.tensor.linear_algebra.eigen import EighGrad, EigvalshGrad
from aesara.tensor.linear_algebra.failures import NanOnError
from aesara.tensor.linear_algebra.inverse import MatrixPinv
from aesara.tensor.linear_algebra.least_squares import PinvWithCutoff
from aesara.tensor.linear_algebra.matrix_functions import Expm, ExpmGrad, Polar
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.linear_algebra.svd import SVD
from aesara.tensor.products.matmul import matmul
from aesara.tensor.reductions.sum_prod_max import max as largest
from aesara.tensor.reductions.sum_prod_max import prod
from aesara.tensor.sequences.cumulative import cumprod
from aesara.tensor.vectorization.gufunc_signature import parse_signature

__all__ = ["STANDS_FOR"]

#: by class of Op, the function that builds an equal graph from the op and its inputs
STANDS_FOR: dict[type[Op], Callable[..., list[Any]]] = {}

#: ops that require square matrices
_REQUIRE_SQUARE = (Cofactors, CofactorsGrad, Expm, ExpmGrad)


def _equals_graph(kind: type[Op]) -> Callable[[Callable[..., list[Any]]], Callable[..., list[Any]]]:
    """Register a function that builds the graph of an op from the op and batched inputs."""

    def register(build: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        @adopt(kind)
        def lower(op: Op, batch: MatrixBatch) -> Sequence[Array]:
            if kind in _REQUIRE_SQUARE:
                batch.require_square(batch.inputs[0], batch.linalg_error if kind is Expm else ValueError)
            if isinstance(op, MatrixPinv) and op.hermitian:
                rows, columns = batch.inputs[0].shape[-2:]
                message = "the matrix must be square; it has {0} rows and {1} columns."
                batch.require_equal(rows, columns, message, batch.linalg_error)
            return batch.expression(lambda *inputs: build(op, *inputs))

        STANDS_FOR[kind] = build
        return build

    return register


# -- by singular values ------------------------------------------------------------------------------------------


def _pseudoinverse(x: TensorVariable, cutoff: Any) -> list[TensorVariable]:
    u, s, vh = SVD(False, True)(x)
    zero, one = np.zeros((), s.type.dtype), np.ones((), s.type.dtype)
    counts = ops.gt(s, cutoff * largest(s, axis=-1, keepdims=True, initial=0))
    scale = ops.switch(counts, one / ops.switch(counts, s, one), zero)
    return [matmul(adjoint(vh) * rows_of(scale), adjoint(u))]


@_equals_graph(MatrixPinv)
def _pinv(op: MatrixPinv, x: TensorVariable) -> list[TensorVariable]:
    """Build the pseudoinverse with the cutoff of SciPy."""
    dtype = real_dtype(x.type.dtype)
    cutoff = ops.maximum(x.shape[-2], x.shape[-1]).astype(dtype) * np.finfo(dtype).eps
    return _pseudoinverse(_hermitian(x) if op.hermitian else x, cutoff)


def _hermitian(x: TensorVariable) -> TensorVariable:
    """Return the Hermitian matrices with the given lower triangles."""
    below = tril(x, -1)
    diagonal = tril(x) - below
    if x.type.dtype.startswith("complex"):
        diagonal = ops.real(diagonal).astype(x.type.dtype)
    whole: TensorVariable = below + diagonal + adjoint(below)
    return whole


@_equals_graph(PinvWithCutoff)
def _pinv_with_cutoff(op: PinvWithCutoff, x: TensorVariable, rcond: TensorVariable) -> list[TensorVariable]:
    """Build the pseudoinverse; a negative cutoff means the machine precision."""
    dtype = real_dtype(x.type.dtype)
    cutoff = ops.switch(ops.lt(rcond, 0), np.finfo(dtype).eps, rcond)
    return _pseudoinverse(x, cast(cutoff, dtype).dimshuffle(*range(rcond.type.ndim), "x"))


@_equals_graph(Polar)
def _polar(op: Polar, x: TensorVariable) -> list[TensorVariable]:
    u, s, vh = SVD(False, True)(x)
    values = rows_of(s)
    stretch = matmul(adjoint(vh) * values, vh) if op.side == "right" else matmul(u * values, adjoint(u))
    return [matmul(u, vh), stretch]


@_equals_graph(Cofactors)
def _cofactors(op: Cofactors, x: TensorVariable) -> list[TensorVariable]:
    """Build cofactors from products of all singular values but one, which are exact for zero singular values."""
    u, s, vh = NanOnError(SVD())(x)
    first = s[..., :1] * 0 + 1
    before = concatenate([first, cumprod(s[..., :-1], axis=-1)], axis=-1)
    after = concatenate([cumprod(s[..., :0:-1], axis=-1)[..., ::-1], first], axis=-1)
    sign = (Det()(u) * Det()(vh)).dimshuffle(*range(s.type.ndim - 1), "x", "x")
    return [sign * matmul(ops.conj(u) * rows_of(before * after), ops.conj(vh))]


@_equals_graph(CofactorsGrad)
def _cofactors_grad(op: CofactorsGrad, x: TensorVariable, direction: TensorVariable) -> list[TensorVariable]:
    """Build the derivative of cofactors from products of all singular values but two."""
    direction = ops.second(x, direction)  # either may be broadcast over the batch
    u, s, vh = NanOnError(SVD())(ops.second(direction, x))
    transformed = matmul(adjoint(u), matmul(direction, adjoint(vh)))
    *lead, rows, columns = range(transformed.type.ndim)
    position = arange(s.shape[-1])
    first, other = position.dimshuffle(0, "x", "x"), position.dimshuffle("x", 0, "x")
    numbers = s.dimshuffle(*lead, "x", "x", rows)
    zero, one = np.zeros((), s.type.dtype), np.ones((), s.type.dtype)
    products = prod(ops.switch(ops.or_(ops.eq(position, first), ops.eq(position, other)), one, numbers), axis=-1)
    same = ops.eq(position.dimshuffle(0, "x"), position)
    products = ops.switch(same, zero, products)
    values = ExtractDiag(0, rows, columns)(transformed)
    on_diagonal = (products * rows_of(values)).sum(axis=-1)
    middle = ops.switch(same, rows_of(on_diagonal), -transformed.dimshuffle(*lead, columns, rows) * products)
    sign = (Det()(u) * Det()(vh)).dimshuffle(*lead, "x", "x")
    return [sign * matmul(ops.conj(u), matmul(middle, ops.conj(vh)))]


@_equals_graph(EighGrad)
@_equals_graph(EigvalshGrad)
def _gradient(op: EighGrad | EigvalshGrad, *inputs: TensorVariable) -> list[TensorVariable]:
    """Vectorize the expression of the op, which is for one matrix."""
    ranks = [len(dims) for dims in parse_signature(op.gufunc_signature)[0]]
    members = [tensor_type(x.type.dtype, x.type.shape[x.type.ndim - n :])() for x, n in zip(inputs, ranks, strict=True)]
    results: list[TensorVariable] = vectorize_graph(op.expression(*members), dict(zip(members, inputs, strict=True)))
    return results


# -- exponentials ------------------------------------------------------------------------------------------------

#: coefficients of the Padé approximant of degree 13, and the largest norm for which it is accurate
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_RADIUS = 4.25
#: the logarithm of the first coefficient of the error of the approximant, over the precision
_ERROR = math.log2(113250775606021113483283660800000000.0) - 53
#: more than this many squarings leave the range of float64
_MOST_SQUARINGS = 1100


def _squarings(x: TensorVariable, four: TensorVariable, six: TensorVariable) -> TensorVariable:
    """Return the number of squarings, for which the approximant is accurate.

    `four` and `six` are powers of the matrix.  A. H. Al-Mohy and N. J. Higham (2009), "A new scaling and
    squaring algorithm for the matrix exponential", with norms that are computed rather than estimated.
    """
    dtype = real_dtype(x.type.dtype)
    powers = ((six, 6), (matmul(four, four), 8), (matmul(four, six), 10))
    roots = [one_norm(p) ** np.asarray(1 / k, dtype) for p, k in powers]
    size = ops.minimum(ops.maximum(roots[0], roots[1]), ops.maximum(roots[1], roots[2]))
    count = ops.maximum(ops.ceil(ops.log2(size / np.asarray(_RADIUS, dtype))), 0)
    norm = one_norm(x)
    divisor = ops.switch(ops.gt(norm, 0), norm, 1)
    sizes = ops.abs(x) / divisor.dimshuffle(*range(norm.type.ndim), "x", "x")
    # norm of the 27th power of absolute values
    row = fori_loop(0, 27, lambda _, sums: matmul(sums, sizes), sizes[..., :1, :] * 0 + 1)
    power = ops.log2(largest(row, axis=(-2, -1), initial=0)) + 26 * ops.log2(divisor)
    more = ops.ceil((power - np.asarray(_ERROR, dtype) - 26 * count) / 26)
    total = count + ops.maximum(ops.switch(isfinite(more), more, 0), 0)
    return cast(ops.minimum(ops.switch(isfinite(total), total, 0), _MOST_SQUARINGS), dtype)


def _exponential(x: TensorVariable) -> TensorVariable:
    square = matmul(x, x)
    four = matmul(square, square)
    six = matmul(four, square)
    count = _squarings(x, four, six)
    count_of_all = largest(count.flatten(), initial=0) if count.type.ndim else count
    factor = ops.exp2(-count).dimshuffle(*range(count.type.ndim), "x", "x")
    second = factor * factor
    fourth = second * second
    x, square, four, six = x * factor, square * second, four * fourth, six * (second * fourth)
    unit = eye(x.shape[-1], dtype=real_dtype(x.type.dtype))
    b = [np.asarray(c, unit.type.dtype) for c in _PADE]

    def terms(first: int) -> TensorVariable:
        """Return the even (0) terms of the approximant, or the odd (1) ones over x."""
        low = [b[first + 2 * k] * power for k, power in enumerate((unit, square, four, six))]
        high = [b[first + 8 + 2 * k] * power for k, power in enumerate((square, four, six))]
        total: TensorVariable = functools.reduce(ops.add, low) + matmul(six, functools.reduce(ops.add, high))
        return total

    even, odd = terms(0), matmul(x, terms(1))
    start = Solve(check_finite=False)(even - odd, even + odd)

    def square_if_needed(k: TensorVariable, result: TensorVariable) -> TensorVariable:
        following: TensorVariable = matmul(result, result)
        if not count.type.ndim:
            return following
        chosen: TensorVariable = ops.switch(
            ops.lt(k, count).dimshuffle(*range(count.type.ndim), "x", "x"), following, result
        )
        return chosen

    result: TensorVariable = fori_loop(0, cast(count_of_all, "int64"), square_if_needed, start)
    return result


@_equals_graph(Expm)
def _expm(op: Expm, x: TensorVariable) -> list[TensorVariable]:
    return [_exponential(x)]


@_equals_graph(ExpmGrad)
def _expm_grad(op: ExpmGrad, x: TensorVariable, g: TensorVariable) -> list[TensorVariable]:
    """Build the derivative along a direction: a block of the exponential of a block matrix of twice the order.

    The direction is scaled to the norm of the matrix, so that it does not cause more squarings.
    """
    n, base = x.shape[-1], adjoint(x)
    size, norm = one_norm(g), one_norm(x)
    scale = ops.switch(ops.gt(size, norm), size / ops.switch(ops.gt(norm, 0), norm, 1), 1)
    scale = scale.dimshuffle(*range(scale.type.ndim), "x", "x")
    direction = ops.second(base, g / scale)  # either may be broadcast over the batch
    base = ops.second(direction, base)
    upper = concatenate([base, direction], axis=-1)
    lower = concatenate([base.zeros_like(), base], axis=-1)
    corner = _exponential(concatenate([upper, lower], axis=-2))[..., :n, n:]
    return [corner * scale]
