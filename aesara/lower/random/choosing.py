"""Choosing from what is there: categories, elements and orders."""

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
from aesara.lower.context import Unsupported
from aesara.lower.ordering.searching import places_in
from aesara.lower.random.drawing import NON_NEGATIVE, PROBABILITY, Drawing, number
from aesara.lower.reductions.careduce import converted, reduce_array
from aesara.lower.sequences.sequential import running
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.type_other import NoneTypeT

__all__ = ["categorical", "choice", "multinomial", "permutation", "permuted"]

_IN_NUMPY_1 = np.lib.NumpyVersion(np.__version__) < "2.0.0"
_NOTES = ". See Notes section of docstring for more information."
#: square roots of the precision of floats, up to which sums of probabilities are one
_ENOUGH = {"float16": 2.0**-5, "float32": 2.0**-11.5, "float64": 2.0**-26}


def categorical(drawing: Drawing) -> Array:
    """How many sums of probabilities are below a uniform number."""
    (p,) = drawing.params
    if p.dtype not in _ENOUGH:
        raise Unsupported(f"probabilities of dtype {p.dtype}")
    _check_probabilities(drawing, p, ("Probabilities are not non-negative", "Probabilities do not sum to 1"))
    sums = drawing.context.add(running(p, p.ndim - 1, "add"))
    found = _how_many(drawing, sums, _uniform(drawing), "lt")
    last = p.shape[-1] - ONE

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive("minimum", readers[0](index), last)

    return Pointwise("int64", found.shape, (found,), body, 1)


def _check_probabilities(drawing: Drawing, p: Array, messages: tuple[str, str]) -> None:
    negative, not_one = messages
    drawing.refuse(lambda x: ~(x >= const(0.0, p.dtype)), negative, p)
    total = reduce_array(drawing.context, drawing.context.add(converted(p, "float64")), (p.ndim - 1,), "add")

    def is_far(x: Expr) -> Expr:
        distance = primitive("abs", x - number(1.0))
        return ~(distance <= number(_ENOUGH[p.dtype]))

    drawing.refuse(is_far, not_one, total)


def _uniform(drawing: Drawing) -> Array:
    """A uniform number between 0 and 1 for each place."""

    def constant(value: float) -> Array:
        return Pointwise("float64", (), (), lambda index, readers: number(value), 0)

    return drawing.draw("uniform", constant(0.0), constant(1.0))


def _how_many(drawing: Drawing, sums: Array, uniform: Array, relation: str) -> Array:
    """For each uniform number, how many of the sums are in a relation to it."""
    rank = uniform.ndim
    wide = drawing.stretch(sums, (*drawing.shape, sums.shape[-1]))

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(primitive(relation, cast(readers[0](index), "float64"), readers[1](index[:-1])), "int64")

    each = Pointwise("int64", wide.shape, (wide, uniform), body, 2, [False, True])
    return reduce_array(drawing.context, drawing.context.add(each), (rank,), "add")


def multinomial(drawing: Drawing) -> Array:
    """How often each outcome occurs."""
    n, p = drawing.params
    if n.dtype.startswith("float") or n.dtype == "uint64" or p.dtype != "float64":
        raise Unsupported(f"a number of trials of dtype {n.dtype}, and probabilities of dtype {p.dtype}")
    outcomes = p.shape[-1]
    message = "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0."
    some = outcomes > ZERO
    drawing.requires += drawing.context.guard(some, ValueError, message, drawing.node)
    drawing.refuse(PROBABILITY.is_wrong, "pvals < 0, pvals > 1 or pvals contains NaNs", p)
    last = outcomes - ONE

    def but_the_last(index: Index, readers: Sequence[Reader]) -> Expr:
        here = readers[0](index)
        return primitive("select", index[-1] < last, here, const(0.0, "float64"))

    first = drawing.context.add(Pointwise("float64", p.shape, (p,), but_the_last, 1))
    total = reduce_array(drawing.context, first, (p.ndim - 1,), "add")
    drawing.refuse(lambda x: x > number(1.0 + 1e-12), "sum(pvals[:-1]) > 1.0", total)
    drawing.require(NON_NEGATIVE, "n", n)
    shape = drawing.shape
    zeros = Pointwise("int64", (count_of(shape), outcomes), (), lambda index, readers: ZERO, 0)
    given = {"n": drawing.for_each(converted(n, "int64")), "p": drawing.for_each(p, 1), "out": zeros}
    sizes = {"d": outcomes, "n.n": given["n"].shape[0], "n.p": given["p"].shape[0]}
    drawn = drawing.call(draws.multinomial(), given, sizes)
    return drawing.context.add(Alias(drawn, (*shape, outcomes)))


def choice(drawing: Drawing) -> Array:
    """Elements along the first axis."""
    a, p, replace = drawing.variables
    if not isinstance(replace, Constant):
        raise Unsupported("choosing with or without putting back")
    array = drawing.context.array(a)
    weights = None if isinstance(p.type, NoneTypeT) else drawing.context.array(p)
    count = array.shape[0]
    drawing.batch_of_size()
    none = primitive("eq", count_of(drawing.shape), ZERO)
    possible = (count > ZERO) | none
    message = "a cannot be empty unless no samples are taken"
    drawing.requires += drawing.context.guard(possible, ValueError, message, drawing.node)

    if weights is not None:
        weights = _checked_weights(drawing, weights, count)
    if not replace.data:
        places = _apart(drawing, count, weights)
    elif weights is not None:
        places = _by_weight(drawing, weights)
    else:
        places = drawing.draw("integers", _number(ZERO), _number(count - ONE))
    return _taken(array, places, count)


def _number(size: Expr) -> Array:
    return Pointwise("int64", (), (), lambda index, readers: size, 0)


def _checked_weights(drawing: Drawing, p: Array, count: Expr) -> Array:
    """Probabilities of as many elements, in double precision."""
    if p.ndim != 1 or p.dtype not in (*_ENOUGH, "int8", "int16", "int32", "int64"):
        raise Unsupported(f"{p.ndim}-dimensional probabilities of dtype {p.dtype}")
    same = primitive("eq", p.shape[0], count)
    drawing.requires += drawing.context.guard(same, ValueError, "a and p must have same size", drawing.node)
    enough = max(_ENOUGH[p.dtype], _ENOUGH["float64"]) if p.dtype in _ENOUGH else _ENOUGH["float64"]
    p = converted(p, "float64")
    total = reduce_array(drawing.context, drawing.context.add(p), (0,), "add")
    for is_wrong, message, array in (
        (lambda x: primitive("ne", x, x), "Probabilities contain NaN", p),
        (lambda x: x < number(0.0), "Probabilities are not non-negative", p),
        (
            lambda x: primitive("abs", x - number(1.0)) > number(enough),
            "Probabilities do not sum to 1" + _NOTES * (not _IN_NUMPY_1),
            total,
        ),
    ):
        drawing.refuse(is_wrong, message[0].lower() + message[1:] if _IN_NUMPY_1 else message, array)
    return p


def _by_weight(drawing: Drawing, p: Array) -> Array:
    """Numbers of elements, by the sums of their probabilities."""
    sums = drawing.context.add(running(p, 0, "add"))
    last = p.shape[0] - ONE

    def part(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index) / readers[0]((last,))

    parts = drawing.context.add(Pointwise("float64", p.shape, (sums,), part, 1))
    return drawing.context.add(places_in(drawing.context, (parts, drawing.draw("standard_uniform")), "right"))


def _apart(drawing: Drawing, count: Expr, weights: Array | None) -> Array:
    """Numbers of elements, each at most once."""
    wanted = count_of(drawing.shape)
    enough = wanted <= count
    text = "Cannot take a larger sample than population when replace is False"
    drawing.requires += drawing.context.guard(enough, ValueError, text, drawing.node)
    sizes = {"count": wanted, "of": count}
    given: dict[str, Array] = {}
    if weights is None:
        # NumPy shuffles all if it takes many of many, and else keeps those that it has taken in a table.
        shuffles = (count > const(10000)) & (wanted > count // 50)
        sizes["room"] = primitive("select", shuffles, count, wanted * 2 + ONE)
        routine = draws.subset()
    else:
        positive = drawing.combined(lambda x: cast(x > number(0.0), "int64"), "int64", weights)
        some = reduce_array(drawing.context, drawing.context.add(positive), (0,), "add")
        few = drawing.combined(lambda n: n < wanted, "bool", some)
        drawing.refuse(lambda wrong: wrong, "Fewer non-zero entries in p than size", few)
        given["p"] = Pointwise("float64", (ONE, count), (weights,), lambda index, readers: readers[0](index[1:]), 0)
        routine = draws.weighted_subset()
    found = drawing.call(routine, given, sizes, ONE)
    return drawing.context.add(Alias(found, drawing.shape))


def _taken(array: Array, places: Array, count: Expr) -> Array:
    """The rows of an array at places, all of which exist."""
    rank = places.ndim

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        place = readers[1](index[:rank])
        inside = primitive("maximum", primitive("minimum", place, count - ONE), ZERO)
        return readers[0]((inside, *index[rank:]))

    shape = (*places.shape, *array.shape[1:])
    return Pointwise(array.dtype, shape, (array, places), body, 2, [True, array.ndim > 1])


def permutation(drawing: Drawing) -> Array:
    """An array in another order, or the numbers up to an integer."""
    (x,) = drawing.params
    if x.ndim:
        return _taken(x, _order(drawing, x.shape[0]), x.shape[0])
    if x.dtype.startswith("float"):
        raise Unsupported("a permutation up to a number that is no integer")
    count = drawing.context.size_from(x)
    message = "Maximum allowed dimension exceeded: {0}"
    drawing.requires += drawing.context.guard(count >= ZERO, ValueError, message, drawing.node, [count])
    return _order(drawing, count)


def permuted(drawing: Drawing) -> Array:
    """An array whose elements are in another order, all of them or along an axis."""
    (x,), axis = drawing.params, drawing.node.op.axis
    if drawing.has_size:
        raise Unsupported("a permutation with a size")
    if axis is None or x.ndim == 1:
        if axis not in (None, 0, -1):
            raise Unsupported(f"axis {axis} of a vector")
        flat = x if x.ndim == 1 else drawing.context.add(Alias(drawing.context.add(x), (count_of(x.shape),)))
        taken = _taken(flat, _order(drawing, flat.shape[0]), flat.shape[0])
        return taken if x.ndim == 1 else drawing.context.add(Alias(drawing.context.add(taken), x.shape))
    if not -x.ndim <= axis < x.ndim:
        raise Unsupported(f"axis {axis} of {x.ndim} dimensions")
    axis %= x.ndim
    order = [*(d for d in range(x.ndim) if d != axis), axis]
    shape = tuple(x.shape[d] for d in order)
    last = axis == x.ndim - 1

    def moved(index: Index, readers: Sequence[Reader]) -> Expr:
        """The axis is the last one."""
        return readers[0](tuple(index[order.index(d)] for d in range(x.ndim)))

    rows = drawing.context.add(x if last else Pointwise(x.dtype, shape, (x,), moved, 1))
    shuffled = _shuffled(drawing, drawing.context.add(Alias(rows, (count_of(shape[:-1]), shape[-1]))))
    found = drawing.context.add(Alias(drawing.context.add(shuffled), shape))

    def back(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(index[d] for d in order))

    return found if last else Pointwise(x.dtype, x.shape, (found,), back, 1)


def _shuffled(drawing: Drawing, x: Array) -> Array:
    """The rows of a matrix, each in another order; see `_order`."""
    rows, count = x.shape
    rounds, last = primitive("maximum", count - ONE, ZERO), count - ONE
    drawing.batch_is(rows, rounds)
    others = drawing.draw("interval", Pointwise("int64", (rows, rounds), (), lambda index, readers: last - index[1], 1))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        row, column, k, here, there = var("v0"), var("v1"), var("v2"), var("r0", x.dtype), var("r1", x.dtype)
        first = mark_parallel(For("v1", count, (write((row, column), readers[1]((row, column))),)))
        place = last - k
        other = primitive("maximum", primitive("minimum", readers[0]((row, k)), place), ZERO)
        swap = (
            Declare("r2", other),
            Declare("r0", read((row, place))),
            Declare("r1", read((row, var("r2")))),
            write((row, place), there),
            write((row, var("r2")), here),
        )
        return (For("v0", rows, (first, For("v2", rounds, swap))),)

    return Sequential(x.dtype, x.shape, (others, x), body, requires=drawing.requires)


def _order(drawing: Drawing, count: Expr) -> Array:
    """The numbers up to a count, each of which, from the last one on, changes places with one that is not behind it."""
    rounds = primitive("maximum", count - ONE, ZERO)
    drawing.batch_is(rounds)
    last = count - ONE

    def up_to(index: Index, readers: Sequence[Reader]) -> Expr:
        return last - index[0]

    others = drawing.draw("interval", Pointwise("int64", (rounds,), (), up_to, 1))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        k, here, there = var("v1"), var("r0"), var("r1")
        first = mark_parallel(For("v0", count, (write((var("v0"),), var("v0")),)))
        place = last - k
        # What was drawn is no larger than the place.
        other = primitive("maximum", primitive("minimum", readers[0]((k,)), place), ZERO)
        swap = (
            Declare("r2", other),
            Declare("r0", read((place,))),
            Declare("r1", read((var("r2"),))),
            write((place,), there),
            write((var("r2"),), here),
        )
        return (first, For("v1", rounds, swap))

    return drawing.context.add(Sequential("int64", (count,), (others,), body, requires=drawing.requires))
