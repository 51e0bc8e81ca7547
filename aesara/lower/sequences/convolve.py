"""Lowering of convolutions of two vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Assembled, Index, Pointwise, Reader, Write, literal
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.products.dot import bilinear, convert_factor
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.tensor.sequences.convolve import Convolve

#: dtypes of accumulators
_ACCUMULATORS = {"float16": "float32", "bool": "int64"}

#: length of the blocks of the longer vector, which stay in the first-level cache
_BLOCK = 1024


@lower_op.register
def _convolve(op: Convolve, node: Apply, context: Context) -> Sequence[Array]:
    dtype = node.outputs[0].type.dtype
    accumulator = _ACCUMULATORS.get(dtype, dtype)
    a, v = (convert_factor(convert_factor(context.array(x), dtype), accumulator) for x in node.inputs)
    guards: list[object] = []
    for name, array in (("a", a), ("v", v)):
        message = f"{name} cannot be empty"
        guards += context.guard(array.shape[0] > ZERO, ValueError, message, node)
    result = bilinear(lambda x, y: _convolution(x, y, op.mode, guards, context), a, v, context)
    return [convert(result, dtype)]


def _convolution(a: Array, v: Array, mode: str, guards: Sequence[object], context: Context) -> Array:
    (n,), (m,) = a.shape, v.shape
    shorter, longer = primitive("minimum", n, m), primitive("maximum", n, m)
    before = shorter - ONE
    if mode == "valid":
        result = _valid_convolution(a, v, longer - before, guards, context)
    else:
        result = _full_convolution(a, v, guards)
    if mode == "same":
        first = before // 2
        full = result
        context.add(full)
        result = Pointwise(a.dtype, (longer,), (full,), lambda index, readers: readers[0]((index[0] + first,)), 0)
    return result


def _full_convolution(a: Array, v: Array, guards: Sequence[object]) -> Array:
    """Return ``result[i + j] += a[i] * v[j]``, with the longer vector in the inner loop."""
    (n,), (m,) = a.shape, v.shape
    length = n + m - ONE

    def writes_for(short: Array, long: Array, extent: Expr) -> list[Write]:
        """Multiply all of the shorter vector with each block of the longer one; then with the remainder."""
        blocks = long.shape[0] // _BLOCK
        before = blocks * _BLOCK

        def in_block(index: Index) -> Index:
            block, i, inside = index
            return i, block * _BLOCK + inside

        def in_remainder(index: Index) -> Index:
            return index[0], before + index[1]

        def products(domain: tuple[Expr, ...], at: Callable[[Index], Index]) -> Write:
            return Write(
                domain,
                (short, long),
                lambda index, _: (primitive("add", *at(index)),),
                lambda index, readers: _term(at(index), readers),
                accumulate=True,
            )

        return [
            products((blocks, extent, const(_BLOCK)), in_block),
            products((extent, long.shape[0] - before), in_remainder),
        ]

    return _sum_of_rows(a, v, length, writes_for, guards)


def _valid_convolution(a: Array, v: Array, length: Expr, guards: Sequence[object], context: Context) -> Array:
    """Return ``result[k] += short[j] * long[k + len(short) - 1 - j]``.

    If there are fewer results than terms, each result is one reduction; otherwise the loop over results is innermost.
    """

    def product(short: Array) -> Callable[[Index, Sequence[Reader]], Expr]:
        last = short.shape[0] - ONE

        def value(index: Index, readers: Sequence[Reader]) -> Expr:
            k, j = index
            return _term((j, k + (last - j)), readers)

        return value

    def writes_for(short: Array, long: Array, extent: Expr) -> list[Write]:
        columns = long.shape[0] - short.shape[0] + ONE
        is_short = columns < short.shape[0]
        value = product(short)
        rows = primitive("select", is_short, ZERO, extent)
        by_rows = Write(
            (rows, columns), (short, long), lambda index, readers: (index[1],),
            lambda index, readers: value((index[1], index[0]), readers), accumulate=True,
        )  # fmt: skip
        by_reduction = is_short & (extent > ZERO)
        shape = (primitive("select", by_reduction, columns, ZERO), short.shape[0])
        terms = context.add(Pointwise(a.dtype, shape, (short, long), value, 1, (True, True), guards))
        sums = reduce_array(context, terms, (1,), "add", guards)
        reductions = Write(
            sums.shape, (sums,), lambda index, readers: index, lambda index, readers: readers[0](index)
        )  # fmt: skip
        return [by_rows, reductions]

    return _sum_of_rows(a, v, length, writes_for, guards)


def _term(index: Index, readers: Sequence[Reader]) -> Expr:
    return readers[0]((index[0],)) * readers[1]((index[1],))


def _sum_of_rows(
    a: Array, v: Array, length: Expr, writes_for: Callable[[Array, Array, Expr], list[Write]], guards: Sequence[object]
) -> Array:
    """Sum with writes for each order of the lengths; those for the wrong order have no iterations."""
    (n,), (m,) = a.shape, v.shape
    v_shorter = n >= m
    writes: list[Write] = []
    for short, long, condition in ((v, a, v_shorter), (a, v, n < m)):
        if not (condition.is_const and not condition.attr):
            extent = primitive("select", condition, short.shape[0], ZERO)
            writes += writes_for(short, long, extent)
    return Assembled(a.dtype, (length,), literal(0, a.dtype, (length,)), writes, guards)
