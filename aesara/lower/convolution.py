"""Lowering of the convolution of two vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Assembled, Index, Pointwise, Reader, Write, literal
from aesara.lower.context import Context, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.reductions import converted
from aesara.tensor.convolve import Convolve

#: where sums are taken: half precision would lose them, booleans count
_ACCUMULATORS = {"float16": "float32", "bool": "int64"}


@lower_op.register
def _convolve(op: Convolve, node: Apply, context: Context) -> Sequence[Array]:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    accumulator = _ACCUMULATORS.get(dtype, dtype)
    a, v = (_in_dtype(context.array(x), dtype, accumulator) for x in node.inputs)
    guards: list[object] = []
    for name, array in (("a", a), ("v", v)):
        message = f"{name} cannot be empty"
        guards += context.guard(primitive("gt", array.shape[0], ZERO), ValueError, message, node)
    (n,), (m,) = a.shape, v.shape
    shorter, longer = primitive("minimum", n, m), primitive("maximum", n, m)
    before = primitive("sub", shorter, ONE)
    if op.mode == "valid":
        result = _complete_overlaps(a, v, primitive("sub", longer, before), guards)
    else:
        result = _all_overlaps(a, v, guards)
    if op.mode == "same":
        first = primitive("intdiv", before, const(2))
        full = result
        context.add(full)
        result = Pointwise(
            accumulator, (longer,), (full,), lambda index, readers: readers[0]((primitive("add", index[0], first),)), 0
        )
    return [converted(result, dtype)]


def _in_dtype(array: Array, dtype: str, accumulator: str) -> Array:
    return converted(converted(array, dtype), accumulator)


def _all_overlaps(a: Array, v: Array, guards: Sequence[object]) -> Array:
    """result[i + j] += a[i] * v[j], with the longer vector in the inner loop."""
    (n,), (m,) = a.shape, v.shape
    length = primitive("sub", primitive("add", n, m), ONE)

    def piece(short: Array, long: Array, extent: Expr) -> Write:
        return Write(
            (extent, long.shape[0]), (short, long), lambda index, readers: (primitive("add", *index),), _term,
            accumulate=True,
        )  # fmt: skip

    return _sum_of_rows(a, v, length, piece, guards)


def _complete_overlaps(a: Array, v: Array, length: Expr, guards: Sequence[object]) -> Array:
    """result[k] += short[j] * long[k + (number of entries of the short one) - 1 - j]."""

    def piece(short: Array, long: Array, extent: Expr) -> Write:
        last = primitive("sub", short.shape[0], ONE)
        columns = primitive("add", primitive("sub", long.shape[0], short.shape[0]), ONE)

        def value(index: Index, readers: Sequence[Reader]) -> Expr:
            j, k = index
            return _term((j, primitive("add", k, primitive("sub", last, j))), readers)

        return Write((extent, columns), (short, long), lambda index, readers: (index[1],), value, accumulate=True)

    return _sum_of_rows(a, v, length, piece, guards)


def _term(index: Index, readers: Sequence[Reader]) -> Expr:
    return primitive("mul", readers[0]((index[0],)), readers[1]((index[1],)))


def _sum_of_rows(
    a: Array, v: Array, length: Expr, piece: Callable[[Array, Array, Expr], Write], guards: Sequence[object]
) -> Array:
    """The sum, with one loop for each order of the two lengths, of which the other has no iterations."""
    (n,), (m,) = a.shape, v.shape
    v_shorter = primitive("ge", n, m)
    writes = []
    for short, long, chosen in ((v, a, v_shorter), (a, v, primitive("lt", n, m))):
        if not (chosen.is_const and not chosen.attr):
            extent = primitive("select", chosen, short.shape[0], ZERO)
            writes.append(piece(short, long, extent))
    return Assembled(a.dtype, (length,), literal(0, a.dtype, (length,)), writes, guards)
