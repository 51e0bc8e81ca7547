"""Lowering of draws of vectors: Dirichlet, multivariate normal and multivariate hypergeometric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.routines import draws
from aesara.ir.routines.numpy_loops import has_matrix_loops, matmul, svd
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Index, Pointwise, Reader
from aesara.lower.calling import call_routine
from aesara.lower.errors import Unsupported
from aesara.lower.random.drawing import Drawing, number
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.lower.shape_arithmetic import count_of

__all__ = ["dirichlet", "hypergeometric", "normal"]

#: absolute and relative tolerance for the product of the factors of a covariance
_TOLERANCE = 1e-8


def dirichlet(drawing: Drawing) -> Array:
    """Draw from the Dirichlet distribution."""
    alpha = convert(drawing.params[0], "float64")
    drawing.refuse(lambda a: a < number(0.0), "alpha < 0", alpha)
    arguments = {"alpha": drawing.for_each(alpha, 1)}
    sizes = {"d": alpha.shape[-1], "n.alpha": arguments["alpha"].shape[0]}
    drawn = drawing.call(draws.dirichlet(), arguments, sizes)
    return drawing.context.add(Alias(drawn, (*drawing.shape, alpha.shape[-1])))


def hypergeometric(drawing: Drawing) -> Array:
    """Draw the number of each colour in a sample."""
    colors, sample = drawing.params
    for array in (colors, sample):
        if array.dtype in ("bool", "uint64") or array.dtype.startswith("float"):
            raise Unsupported(f"counts of dtype {array.dtype}")
    colors, sample = convert(colors, "int64"), convert(sample, "int64")
    drawing.refuse(lambda n: n < ZERO, "nsample must be nonnegative.", sample)
    text = "colors must be a one-dimensional sequence of nonnegative integers not exceeding 9223372036854775807."
    drawing.refuse(lambda c: c < ZERO, text, colors)
    context, last = drawing.context, colors.ndim - 1
    # Sum in floats, which do not wrap around.
    rough = reduce_array(context, context.add(convert(colors, "float64")), (last,), "add")
    text = "sum(colors) must not exceed the maximum value of a 64 bit signed integer (9223372036854775807)"
    drawing.refuse(lambda t: t >= number(2.0**63), text, rough)
    total = reduce_array(context, context.add(colors), (last,), "add")
    text = 'When method is "marginals", sum(colors) must be less than 1000000000.'
    drawing.refuse(lambda t: t >= const(10**9), text, total)
    drawing.refuse(lambda t, n: n > t, "nsample > sum(colors)", total, sample)
    count, length = count_of(drawing.shape), colors.shape[-1]
    arguments = {
        "colors": drawing.for_each(colors, 1),
        "total": drawing.for_each(total),
        "sample": drawing.for_each(sample),
        "out": Pointwise("int64", (count, length), (), lambda index, readers: ZERO, 0),
    }
    sizes = {"d": length} | {f"n.{name}": arguments[name].shape[0] for name in ("colors", "total", "sample")}
    drawn = drawing.call(draws.multivariate_hypergeometric(), arguments, sizes)
    return context.add(Alias(drawn, (*drawing.shape, length)))


def normal(drawing: Drawing) -> Array:
    """Draw a mean plus standard normal numbers times a factor of the covariance, by its singular values."""
    if not has_matrix_loops():
        raise Unsupported("NumPy does not export its loops for matrices")
    mean, cov = (convert(array, "float64") for array in drawing.params)
    context, length = drawing.context, mean.shape[-1]
    for a, b, message in (
        (cov.shape[-2], cov.shape[-1], "cov must be 2 dimensional and square"),
        (length, cov.shape[-1], "mean and cov must have same length"),
    ):
        same = primitive("eq", a, b)
        drawing.requires += context.guard(same, ValueError, message, drawing.node)
    nonempty = length > ZERO
    message = "cannot reshape array of size 0 into shape (0)"
    drawing.requires += context.guard(nonempty, ValueError, message, drawing.node)
    lead, shape = cov.shape[:-2], drawing.shape
    factor = _factor(drawing, cov, length)
    drawing.set_shape(*shape, length)
    noise = drawing.draw("standard_normal")
    drawing.set_shape(*shape)
    is_single = not lead and mean.ndim == 1
    # Draws from a single distribution are the rows of one product.
    rows, batch = (count_of(shape), ()) if is_single else (ONE, (count_of(shape),))
    noise = context.add(Alias(noise, (*batch, rows, length)))
    if not is_single:
        factor = drawing.for_each(factor, 2)
    product = _times_transposed(drawing, noise, factor, rows, length, batch)
    vectors = context.add(Alias(product, (*shape, length)))

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index) + readers[1](index)

    wide = drawing.broadcast(mean, (*shape, length))
    return Pointwise("float64", (*shape, length), (wide, vectors), body, 1)


def _is_not_finite(x: Expr) -> Expr:
    return ~(primitive("abs", x) < number(np.inf))


def _factor(drawing: Drawing, cov: Array, length: Expr) -> Array:
    """Return a factor of the covariance: a matrix whose product with its transpose is the covariance."""
    context, lead = drawing.context, cov.shape[:-2]
    drawing.refuse(_is_not_finite, "SVD did not converge", cov, kind=np.linalg.LinAlgError)
    results = call_routine(context, drawing.node, svd("float64"), {"n": length}, {"a": cov}, lead, drawing.requires)
    u, s, vt = results["u"], results["s"], results["vt"]

    def scale(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0]((*index[:-2], index[-1], index[-2])) * readers[1]((*index[:-2], index[-1]))

    def transpose(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0]((*index[:-2], index[-1], index[-2]))

    def factor(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index) * primitive("sqrt", readers[1]((*index[:-2], index[-1])))

    left = context.add(Pointwise("float64", cov.shape, (vt, s), scale, 1, [False, True]))
    right = context.add(Pointwise("float64", cov.shape, (vt,), transpose, 1))
    product = _times_transposed(drawing, left, right, length, length, lead)

    def is_far(a: Expr, b: Expr) -> Expr:
        near = primitive("abs", a - b) <= number(_TOLERANCE) + number(_TOLERANCE) * primitive("abs", b)
        return ~near

    drawing.refuse(is_far, "covariance is not symmetric positive-semidefinite.", product, cov)
    return context.add(Pointwise("float64", cov.shape, (u, s), factor, 1, [False, True]))


def _times_transposed(
    drawing: Drawing, x: Array, y: Array, rows: Expr, length: Expr, lead: Sequence[Expr]
) -> Array:  # fmt: skip
    """Return ``x @ y.T`` by NumPy's loop."""
    sizes = {"m": rows, "n": length}
    return call_routine(
        drawing.context, drawing.node, matmul("float64"), sizes, {"x": x, "y": y}, lead, drawing.requires
    )["out"]
