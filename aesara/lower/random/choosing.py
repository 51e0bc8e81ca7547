"""Draws of categories, elements, subsets and permutations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Constant
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Declare, For, Statement
from aesara.ir.routines import draws
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Index, Pointwise, Reader, Sequential, Writer
from aesara.lower.errors import Unsupported
from aesara.lower.ordering.searching import sorted_positions
from aesara.lower.random.drawing import NON_NEGATIVE, PROBABILITY, Drawing, number
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.lower.sequences.sequential import cumulate
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.type_other import NoneTypeT

__all__ = ["categorical", "choice", "multinomial", "permutation", "permute"]

_IN_NUMPY_1 = np.lib.NumpyVersion(np.__version__) < "2.0.0"
_NOTES = ". See Notes section of docstring for more information."
#: tolerances of sums of probabilities: square roots of the machine precision
_TOLERANCE = {"float16": 2.0**-5, "float32": 2.0**-11.5, "float64": 2.0**-26}


def categorical(drawing: Drawing) -> Array:
    """Draw categories: the number of cumulative probabilities below a uniform number."""
    (p,) = drawing.params
    if p.dtype not in _TOLERANCE:
        raise Unsupported(f"probabilities of dtype {p.dtype}")
    _check_probabilities(drawing, p, ("Probabilities are not non-negative", "Probabilities do not sum to 1"))
    sums = drawing.context.add(cumulate(p, p.ndim - 1, "add"))
    categories = _count_sums(drawing, sums, _uniform(drawing), "lt")
    last = p.shape[-1] - ONE

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive("minimum", readers[0](index), last)

    return Pointwise("int64", categories.shape, (categories,), body, 1)


def _check_probabilities(drawing: Drawing, p: Array, messages: tuple[str, str]) -> None:
    negative, not_one = messages
    drawing.refuse(lambda x: ~(x >= const(0.0, p.dtype)), negative, p)
    total = reduce_array(drawing.context, drawing.context.add(convert(p, "float64")), (p.ndim - 1,), "add")

    def is_far(x: Expr) -> Expr:
        distance = primitive("abs", x - number(1.0))
        return ~(distance <= number(_TOLERANCE[p.dtype]))

    drawing.refuse(is_far, not_one, total)


def _uniform(drawing: Drawing) -> Array:
    """Draw a uniform number for each element of the shape."""

    def constant(value: float) -> Array:
        return Pointwise("float64", (), (), lambda index, readers: number(value), 0)

    return drawing.draw("uniform", constant(0.0), constant(1.0))


def _count_sums(drawing: Drawing, sums: Array, uniform: Array, relation: str) -> Array:
    """Count for each uniform number the sums that are in the given relation to it."""
    rank = uniform.ndim
    wide = drawing.broadcast(sums, (*drawing.shape, sums.shape[-1]))

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(primitive(relation, cast(readers[0](index), "float64"), readers[1](index[:-1])), "int64")

    holds = Pointwise("int64", wide.shape, (wide, uniform), body, 2, [False, True])
    return reduce_array(drawing.context, drawing.context.add(holds), (rank,), "add")


def multinomial(drawing: Drawing) -> Array:
    """Draw the counts of outcomes."""
    n, p = drawing.params
    if n.dtype.startswith("float") or n.dtype == "uint64" or p.dtype != "float64":
        raise Unsupported(f"a number of trials of dtype {n.dtype}, and probabilities of dtype {p.dtype}")
    outcomes = p.shape[-1]
    message = "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0."
    nonempty = outcomes > ZERO
    drawing.requires += drawing.context.guard(nonempty, ValueError, message, drawing.node)
    drawing.refuse(PROBABILITY.is_wrong, "pvals < 0, pvals > 1 or pvals contains NaNs", p)
    last = outcomes - ONE

    def without_last(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive("select", index[-1] < last, readers[0](index), const(0.0, "float64"))

    first = drawing.context.add(Pointwise("float64", p.shape, (p,), without_last, 1))
    total = reduce_array(drawing.context, first, (p.ndim - 1,), "add")
    drawing.refuse(lambda x: x > number(1.0 + 1e-12), "sum(pvals[:-1]) > 1.0", total)
    drawing.require(NON_NEGATIVE, "n", n)
    shape = drawing.shape
    zeros = Pointwise("int64", (count_of(shape), outcomes), (), lambda index, readers: ZERO, 0)
    arguments = {"n": drawing.for_each(convert(n, "int64")), "p": drawing.for_each(p, 1), "out": zeros}
    sizes = {"d": outcomes, "n.n": arguments["n"].shape[0], "n.p": arguments["p"].shape[0]}
    drawn = drawing.call(draws.multinomial(), arguments, sizes)
    return drawing.context.add(Alias(drawn, (*shape, outcomes)))


def choice(drawing: Drawing) -> Array:
    """Draw elements along the first axis."""
    a, p, replace = drawing.variables
    if not isinstance(replace, Constant):
        raise Unsupported("choices with or without replacement, as known at run time only")
    array = drawing.context.array(a)
    weights = None if isinstance(p.type, NoneTypeT) else drawing.context.array(p)
    count = array.shape[0]
    drawing.use_size()
    draws_nothing = primitive("eq", count_of(drawing.shape), ZERO)
    possible = (count > ZERO) | draws_nothing
    message = "a cannot be empty unless no samples are taken"
    drawing.requires += drawing.context.guard(possible, ValueError, message, drawing.node)

    if weights is not None:
        weights = _require_valid_weights(drawing, weights, count)
    if not replace.data:
        positions = _draw_distinct(drawing, count, weights)
    elif weights is not None:
        positions = _draw_weighted(drawing, weights)
    else:
        positions = drawing.draw("integers", _number(ZERO), _number(count - ONE))
    return _take_rows(array, positions, count)


def _number(size: Expr) -> Array:
    return Pointwise("int64", (), (), lambda index, readers: size, 0)


def _require_valid_weights(drawing: Drawing, p: Array, count: Expr) -> Array:
    """Check the probabilities of elements, and return them in double precision."""
    if p.ndim != 1 or p.dtype not in (*_TOLERANCE, "int8", "int16", "int32", "int64"):
        raise Unsupported(f"{p.ndim}-dimensional probabilities of dtype {p.dtype}")
    same = primitive("eq", p.shape[0], count)
    drawing.requires += drawing.context.guard(same, ValueError, "a and p must have same size", drawing.node)
    tolerance = max(_TOLERANCE[p.dtype], _TOLERANCE["float64"]) if p.dtype in _TOLERANCE else _TOLERANCE["float64"]
    p = convert(p, "float64")
    total = reduce_array(drawing.context, drawing.context.add(p), (0,), "add")
    for is_wrong, message, array in (
        (lambda x: primitive("ne", x, x), "Probabilities contain NaN", p),
        (lambda x: x < number(0.0), "Probabilities are not non-negative", p),
        (
            lambda x: primitive("abs", x - number(1.0)) > number(tolerance),
            "Probabilities do not sum to 1" + _NOTES * (not _IN_NUMPY_1),
            total,
        ),
    ):
        drawing.refuse(is_wrong, message[0].lower() + message[1:] if _IN_NUMPY_1 else message, array)
    return p


def _draw_weighted(drawing: Drawing, p: Array) -> Array:
    """Draw positions by cumulative probabilities."""
    sums = drawing.context.add(cumulate(p, 0, "add"))
    last = p.shape[0] - ONE

    def normalize(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index) / readers[0]((last,))

    normalized = drawing.context.add(Pointwise("float64", p.shape, (sums,), normalize, 1))
    uniform = drawing.draw("standard_uniform")
    return drawing.context.add(sorted_positions(drawing.context, (normalized, uniform), "right"))


def _draw_distinct(drawing: Drawing, count: Expr, weights: Array | None) -> Array:
    """Draw distinct positions."""
    wanted = count_of(drawing.shape)
    is_possible = wanted <= count
    text = "Cannot take a larger sample than population when replace is False"
    drawing.requires += drawing.context.guard(is_possible, ValueError, text, drawing.node)
    sizes = {"count": wanted, "of": count}
    arguments: dict[str, Array] = {}
    if weights is None:
        # As NumPy: a shuffle for many of many elements, else a hash table.
        shuffles = (count > const(10000)) & (wanted > count // 50)
        sizes["room"] = primitive("select", shuffles, count, wanted * 2 + ONE)
        routine = draws.subset()
    else:
        positive = drawing.map(lambda x: cast(x > number(0.0), "int64"), "int64", weights)
        number_of_positive = reduce_array(drawing.context, drawing.context.add(positive), (0,), "add")
        too_few = drawing.map(lambda n: n < wanted, "bool", number_of_positive)
        drawing.refuse(lambda wrong: wrong, "Fewer non-zero entries in p than size", too_few)
        arguments["p"] = Pointwise("float64", (ONE, count), (weights,), lambda index, readers: readers[0](index[1:]), 0)
        routine = draws.weighted_subset()
    positions = drawing.call(routine, arguments, sizes, ONE)
    return drawing.context.add(Alias(positions, drawing.shape))


def _take_rows(array: Array, positions: Array, count: Expr) -> Array:
    """Take the rows of an array at valid positions."""
    rank = positions.ndim

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        position = readers[1](index[:rank])
        clamped = primitive("maximum", primitive("minimum", position, count - ONE), ZERO)
        return readers[0]((clamped, *index[rank:]))

    shape = (*positions.shape, *array.shape[1:])
    return Pointwise(array.dtype, shape, (array, positions), body, 2, [True, array.ndim > 1])


def permutation(drawing: Drawing) -> Array:
    """Draw a permutation of the rows of an array, or of a range."""
    (x,) = drawing.params
    if x.ndim:
        return _take_rows(x, _draw_permutation(drawing, x.shape[0]), x.shape[0])
    if x.dtype.startswith("float"):
        raise Unsupported("a permutation up to a number that is no integer")
    count = drawing.context.size_from(x)
    message = "Maximum allowed dimension exceeded: {0}"
    drawing.requires += drawing.context.guard(count >= ZERO, ValueError, message, drawing.node, [count])
    return _draw_permutation(drawing, count)


def permute(drawing: Drawing) -> Array:
    """Draw a permutation of all elements, or for each row along an axis."""
    (x,), axis = drawing.params, drawing.node.op.axis
    if drawing.has_size:
        raise Unsupported("a permutation with a size")
    if axis is None or x.ndim == 1:
        if axis not in (None, 0, -1):
            raise Unsupported(f"axis {axis} of a vector")
        flat = x if x.ndim == 1 else drawing.context.add(Alias(drawing.context.add(x), (count_of(x.shape),)))
        rows = _take_rows(flat, _draw_permutation(drawing, flat.shape[0]), flat.shape[0])
        return rows if x.ndim == 1 else drawing.context.add(Alias(drawing.context.add(rows), x.shape))
    if not -x.ndim <= axis < x.ndim:
        raise Unsupported(f"axis {axis} of {x.ndim} dimensions")
    axis %= x.ndim
    order = [*(d for d in range(x.ndim) if d != axis), axis]
    shape = tuple(x.shape[d] for d in order)
    last = axis == x.ndim - 1

    def axis_to_last(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(index[order.index(d)] for d in range(x.ndim)))

    rows = drawing.context.add(x if last else Pointwise(x.dtype, shape, (x,), axis_to_last, 1))
    shuffled = _shuffle_rows(drawing, drawing.context.add(Alias(rows, (count_of(shape[:-1]), shape[-1]))))
    permuted = drawing.context.add(Alias(drawing.context.add(shuffled), shape))

    def axis_back(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(index[d] for d in order))

    return permuted if last else Pointwise(x.dtype, x.shape, (permuted,), axis_back, 1)


def _shuffle_rows(drawing: Drawing, x: Array) -> Array:
    """Shuffle each row of a matrix; see `_draw_permutation`."""
    rows, count = x.shape
    rounds, last = primitive("maximum", count - ONE, ZERO), count - ONE
    drawing.set_shape(rows, rounds)
    bounds = Pointwise("int64", (rows, rounds), (), lambda index, readers: last - index[1], 1)
    partners = drawing.draw("interval", bounds)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        row, column, k = var("v0"), var("v1"), var("v2")
        copy = mark_parallel(For("v1", count, (write((row, column), readers[1]((row, column))),)))
        swap = _swap((row,), last - k, readers[0]((row, k)), x.dtype, read, write)
        return (For("v0", rows, (copy, For("v2", rounds, swap))),)

    return Sequential(x.dtype, x.shape, (partners, x), body, requires=drawing.requires)


def _draw_permutation(drawing: Drawing, count: Expr) -> Array:
    """Draw a permutation of a range (Fisher-Yates from the last element on)."""
    rounds = primitive("maximum", count - ONE, ZERO)
    drawing.set_shape(rounds)
    last = count - ONE
    bounds = Pointwise("int64", (rounds,), (), lambda index, readers: last - index[0], 1)
    partners = drawing.draw("interval", bounds)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        position, k = var("v0"), var("v1")
        fill = mark_parallel(For("v0", count, (write((position,), position),)))
        return (fill, For("v1", rounds, _swap((), last - k, readers[0]((k,)), "int64", read, write)))

    return drawing.context.add(Sequential("int64", (count,), (partners,), body, requires=drawing.requires))


def _swap(
    row: Index, position: Expr, drawn: Expr, dtype: str, read: Reader, write: Writer
) -> tuple[Statement, ...]:  # fmt: skip
    """Swap the element at a position of a row with the one at a drawn position, which is at most that."""
    first, second, partner = var("r0", dtype), var("r1", dtype), var("r2")
    return (
        Declare(partner.attr, primitive("maximum", primitive("minimum", drawn, position), ZERO)),
        Declare(first.attr, read((*row, position))),
        Declare(second.attr, read((*row, partner))),
        write((*row, position), second),
        write((*row, partner), first),
    )
