"""Lowering of the convolution of two vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Assembled, Index, Pointwise, Reader, Write, literal
from aesara.lower.context import Context, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.reductions.careduce import converted, reduce_array
from aesara.tensor.sequences.convolve import Convolve

#: where sums are taken: half precision would lose them, booleans count
_ACCUMULATORS = {"float16": "float32", "bool": "int64"}

#: numbers of a vector that stay in the first cache, with those that they are added to
_BLOCK = 1024


@lower_op.register
def _convolve(op: Convolve, node: Apply, context: Context) -> Sequence[Array]:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    accumulator = _ACCUMULATORS.get(dtype, dtype)
    a, v = (_in_dtype(context.array(x), dtype, accumulator) for x in node.inputs)
    guards: list[object] = []
    for name, array in (("a", a), ("v", v)):
        message = f"{name} cannot be empty"
        guards += context.guard(array.shape[0] > ZERO, ValueError, message, node)
    (n,), (m,) = a.shape, v.shape
    shorter, longer = primitive("minimum", n, m), primitive("maximum", n, m)
    before = shorter - ONE
    if op.mode == "valid":
        result = _complete_overlaps(a, v, longer - before, guards, context)
    else:
        result = _all_overlaps(a, v, guards)
    if op.mode == "same":
        first = before // 2
        full = result
        context.add(full)
        result = Pointwise(accumulator, (longer,), (full,), lambda index, readers: readers[0]((index[0] + first,)), 0)
    return [converted(result, dtype)]


def _in_dtype(array: Array, dtype: str, accumulator: str) -> Array:
    return converted(converted(array, dtype), accumulator)


def _all_overlaps(a: Array, v: Array, guards: Sequence[object]) -> Array:
    """result[i + j] += a[i] * v[j], with the longer vector in the inner loop."""
    (n,), (m,) = a.shape, v.shape
    length = n + m - ONE

    def pieces(short: Array, long: Array, extent: Expr) -> list[Write]:
        """Blocks of the longer vector, to which all of the shorter one comes while they are in the cache; the rest."""
        blocks = long.shape[0] // _BLOCK
        before = blocks * _BLOCK

        def in_block(index: Index) -> Index:
            block, i, inside = index
            return i, block * _BLOCK + inside

        def after(index: Index) -> Index:
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
            products((extent, long.shape[0] - before), after),
        ]

    return _sum_of_rows(a, v, length, pieces, guards)


def _complete_overlaps(a: Array, v: Array, length: Expr, guards: Sequence[object], context: Context) -> Array:
    """result[k] += short[j] * long[k + (number of entries of the short one) - 1 - j].

    The sums are taken one by one if there are fewer of them than they have terms, and else all at once.
    """

    def product(short: Array) -> Callable[[Index, Sequence[Reader]], Expr]:
        last = short.shape[0] - ONE

        def value(index: Index, readers: Sequence[Reader]) -> Expr:
            k, j = index
            return _term((j, k + (last - j)), readers)

        return value

    def pieces(short: Array, long: Array, extent: Expr) -> list[Write]:
        columns = long.shape[0] - short.shape[0] + ONE
        few = columns < short.shape[0]
        value = product(short)
        rows = primitive("select", few, ZERO, extent)
        by_rows = Write(
            (rows, columns), (short, long), lambda index, readers: (index[1],),
            lambda index, readers: value((index[1], index[0]), readers), accumulate=True,
        )  # fmt: skip
        chosen = few & (extent > ZERO)
        shape = (primitive("select", chosen, columns, ZERO), short.shape[0])
        terms = context.add(Pointwise(a.dtype, shape, (short, long), value, 1, (True, True), guards))
        sums = reduce_array(context, terms, (1,), "add", guards)
        one_by_one = Write(
            sums.shape, (sums,), lambda index, readers: index, lambda index, readers: readers[0](index)
        )  # fmt: skip
        return [by_rows, one_by_one]

    return _sum_of_rows(a, v, length, pieces, guards)


def _term(index: Index, readers: Sequence[Reader]) -> Expr:
    return readers[0]((index[0],)) * readers[1]((index[1],))


def _sum_of_rows(
    a: Array, v: Array, length: Expr, pieces: Callable[[Array, Array, Expr], list[Write]], guards: Sequence[object]
) -> Array:
    """The sum, with one loop for each order of the two lengths, of which the other has no iterations."""
    (n,), (m,) = a.shape, v.shape
    v_shorter = n >= m
    writes: list[Write] = []
    for short, long, chosen in ((v, a, v_shorter), (a, v, n < m)):
        if not (chosen.is_const and not chosen.attr):
            extent = primitive("select", chosen, short.shape[0], ZERO)
            writes += pieces(short, long, extent)
    return Assembled(a.dtype, (length,), literal(0, a.dtype, (length,)), writes, guards)
