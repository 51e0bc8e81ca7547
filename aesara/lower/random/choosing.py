"""Choosing from what is there: categories, elements and orders."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Constant
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Declare, For, Statement
from aesara.ir.routines import draws
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Index, Pointwise, Reader, Sequential, Writer
from aesara.lower.context import Unsupported
from aesara.lower.random.drawing import NON_NEGATIVE, PROBABILITY, Drawing, number
from aesara.lower.reductions.careduce import converted, reduce_array
from aesara.lower.sequences.sequential import running
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.type_other import NoneTypeT

__all__ = ["categorical", "choice", "multinomial", "permutation"]

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
    """Elements along the first axis, each of which may be chosen again."""
    a, p, replace = drawing.variables
    if not isinstance(replace, Constant) or not replace.data:
        raise Unsupported("choosing without putting back")
    if not isinstance(p.type, NoneTypeT):
        raise Unsupported("choosing with probabilities")
    array = drawing.context.array(a)
    count = array.shape[0]
    drawing.batch_of_size()
    none = primitive("eq", count_of(drawing.shape), ZERO)
    possible = (count > ZERO) | none
    message = "a cannot be empty unless no samples are taken"
    drawing.requires += drawing.context.guard(possible, ValueError, message, drawing.node)

    def size_array(size: Expr) -> Array:
        return Pointwise("int64", (), (), lambda index, readers: size, 0)

    places = drawing.draw("integers", size_array(ZERO), size_array(count - ONE))
    return _taken(array, places, count)


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
        first = For("v0", count, (write((var("v0"),), var("v0")),), parallel=True)
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
