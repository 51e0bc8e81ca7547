"""Lowering of ops that put elements in order: the k largest or smallest by a heap, and sorts of short rows.

In a short row the place of an element is how many come before it, which is a sum without branches.  Long rows are
sorted by NumPy's own C functions, which use vector instructions in a way that no loop here would match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Assign, Declare, For, If, Statement, While
from aesara.ir.routines import sorting
from aesara.lower.arrays import (
    ONE,
    ZERO,
    Array,
    Assembled,
    Index,
    Pointwise,
    Reader,
    Sequential,
    Write,
    Writer,
    loops_over,
)
from aesara.lower.calling import call_routine, require_success
from aesara.lower.context import Context, Unsupported, check_dtype
from aesara.lower.dimensions import with_dimensions
from aesara.lower.dispatch import lower_op
from aesara.lower.ordering.searching import sorts_before
from aesara.lower.ranges import all_of
from aesara.lower.reductions.careduce import converted, reduce_array
from aesara.tensor.ordering.searching import Unique
from aesara.tensor.ordering.sorting import ArgSortOp, SortOp, TopKOp

#: longest rows that are sorted by counting
_SHORT = 16
_TWO = const(2)


@lower_op.register(SortOp)
@lower_op.register(ArgSortOp)
def _sort(op: SortOp | ArgSortOp, node: Apply, context: Context) -> Sequence[Array]:
    array, given = context.array(node.inputs[0]), context.size_from(context.array(node.inputs[1]))
    check_dtype(array.dtype)
    if not given.is_const or not -array.ndim <= given.attr < array.ndim:
        raise Unsupported("sorting along an axis that is known at run time only")
    axis = given.attr % array.ndim
    size = array.shape[axis]
    if size.is_const and size.attr <= _SHORT:
        positions = context.add(_sorted_by_counting(array, axis, context))
    elif isinstance(op, SortOp) or op.kind != "heapsort":
        return [_sorted_by_numpy(op, array, axis, node, context)]
    elif context.outer is not None:
        # in the step of a loop, all of which would run in Python
        positions = context.add(_positions(array, axis, size, const(False, "bool"), ()))
    else:
        raise Unsupported("which of equal elements comes first in a heapsort depends on the release of NumPy")
    return [_taken(array, positions, axis, ()) if isinstance(op, SortOp) else positions]


def _sorted_by_numpy(op: SortOp | ArgSortOp, array: Array, axis: int, node: Apply, context: Context) -> Array:
    """Long rows: the function behind `numpy.sort` or `numpy.argsort`, for each row where it is contiguous."""
    rows = _with_axis_last(array, axis)
    *lead, n = rows.shape
    kind = sorting.KINDS[op.kind]
    given = {"row": rows}
    if isinstance(op, ArgSortOp):
        routine = sorting.argsort(kind, array.dtype)
        given["places"] = Pointwise("int64", rows.shape, (), lambda index, readers: index[-1], 0)
    else:
        routine = sorting.sort(kind, array.dtype)
    made = call_routine(context, node, routine, {"n": n}, given, lead)
    if "status" in made:
        require_success(context, node, made["status"], MemoryError, "There is no memory for a stable sort.")
    return _with_axis_back(made["row" if isinstance(op, SortOp) else "places"], axis)


def _with_axis_last(array: Array, axis: int) -> Array:
    return with_dimensions(array, [*(d for d in range(array.ndim) if d != axis), axis])


def _with_axis_back(array: Array, axis: int) -> Array:
    last = array.ndim - 1
    return with_dimensions(array, [*range(axis), last, *range(axis, last)])


def _sorted_by_counting(array: Array, axis: int, context: Context) -> Array:
    """Positions of the elements in ascending order, by how many elements come before each."""
    dtype = "int8" if array.dtype == "bool" else array.dtype

    def moved(index: Index, position: Expr) -> Index:
        return (*index[:axis], position, *index[axis + 1 :])

    def comes_before(index: Index, readers: Sequence[Reader]) -> Expr:
        *here, other = index
        values = [cast(readers[0](i), dtype) for i in (moved(tuple(here), other), tuple(here))]
        return cast(_ascends(other, values[0], here[axis], values[1]), "int64")

    pairs = Pointwise("int64", (*array.shape, array.shape[axis]), (array,), comes_before, 4, [True])
    places = reduce_array(context, context.add(pairs), (array.ndim,), "add")
    write = Write(
        array.shape, (places,), lambda index, readers: moved(index, readers[0](index)), lambda index, _: index[axis]
    )  # fmt: skip
    return Assembled("int64", array.shape, None, [write])


@lower_op.register
def _unique(op: Unique, node: Apply, context: Context) -> Sequence[Array]:
    raise Unsupported("NumPy finds what is unique by hashing and by sorting with vector instructions")


@lower_op.register
def _top_k(op: TopKOp, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    check_dtype(array.dtype)
    axis = op.axis % array.ndim
    size = array.shape[axis]
    asked = context.size_from(context.array(node.inputs[1]))
    count = primitive("maximum", asked, ZERO - asked)
    if asked.is_const:
        count = const(abs(asked.attr))
    # counted down, since the smallest integer has no negative
    possible = primitive("ne", asked, ZERO) & (asked <= size)
    possible = all_of(possible, asked >= ZERO - size)
    message = "topk: kth cannot be zero or larger than the length of the axis; got {0} for length {1}."
    guards = context.guard(possible, ValueError, message, node, [asked, size])
    positions = context.add(_positions(array, axis, count, asked > ZERO, guards))
    results: list[Array] = []
    if op.return_values:
        results.append(_taken(array, positions, axis, guards))
    if op.return_indices:
        results.append(converted(positions, op.idx_dtype))
    return results


def _taken(array: Array, positions: Array, axis: int, guards: Sequence[object]) -> Array:
    """The elements at positions along an axis."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0]((*index[:axis], readers[1](index), *index[axis + 1 :]))

    return Pointwise(array.dtype, positions.shape, (array, positions), body, 2, [True, False], guards)


def _positions(array: Array, axis: int, count: Expr, largest: Expr, guards: Sequence[object]) -> Array:
    """Positions of the first `count` elements in descending (or ascending) order.

    Among equal elements the last one is the largest, as if they had been sorted by a stable sort.
    """
    size = array.shape[axis]
    loops = tuple(var(f"v{d}") for d in range(array.ndim))
    dtype = "int8" if array.dtype == "bool" else array.dtype

    def at(position: Expr) -> Index:
        return (*loops[:axis], position, *loops[axis + 1 :])

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        heap = _Heap(
            lambda place: read(at(place)),
            lambda place, value: write(at(place), value),
            lambda position: cast(readers[0](at(position)), dtype),
            largest, dtype,
        )  # fmt: skip
        turn, filled = var("r0"), var("r0") + count
        statements: tuple[Statement, ...] = (
            For("r0", count, (write(at(turn), turn),)),
            For("r0", count // _TWO, heap.sift("a", _half_down(count, turn), count)),
            For("r0", size - count, (
                Declare("rv", heap.value(filled)), Declare("rt", read(at(ZERO))),
                If(
                    heap.precedes(filled, var("rv", dtype), var("rt"), heap.value(var("rt"))),
                    (write(at(ZERO), filled), *heap.sift("b", ZERO, count)),
                ),
            )),
            For("r0", count - ONE, heap.take_last("c", count - turn)),
        )  # fmt: skip
        return loops_over([d for d in range(array.ndim) if d != axis], array.shape, statements)

    shape = [count if d == axis else n for d, n in enumerate(array.shape)]
    return Sequential("int64", shape, (array,), body, guards)


def _half_down(count: Expr, turn: Expr) -> Expr:
    """The inner places of a heap, the last first."""
    return count // _TWO - ONE - turn


class _Heap:
    """A heap of positions whose root is the one that comes last in the result."""

    def __init__(
        self, read: Callable[[Expr], Expr], write: Callable[[Expr, Expr], Statement], value: Callable[[Expr], Expr],
        largest: Expr, dtype: str,
    ) -> None:  # fmt: skip
        self.read, self.write, self.value, self.largest, self.dtype = read, write, value, largest, dtype

    def precedes(self, a: Expr, value_a: Expr, b: Expr, value_b: Expr) -> Expr:
        """Whether position a comes before position b in the result."""
        return primitive(
            "select", self.largest, _ascends(b, value_b, a, value_a), _ascends(a, value_a, b, value_b)
        )  # fmt: skip

    def sift(self, names: str, start: Expr, size: Expr) -> tuple[Statement, ...]:
        """Let the entry at `start` sink to its place in a heap of that size."""
        item, kept, place = var(f"r{names}i"), var(f"r{names}v", self.dtype), var(f"r{names}p")
        child, child_value = var(f"r{names}c"), var(f"r{names}w", self.dtype)
        other, other_value = var(f"r{names}o"), var(f"r{names}x", self.dtype)
        left = place * _TWO + ONE
        right = primitive("minimum", left + ONE, size - ONE)
        later = self.precedes(child, child_value, other, other_value)
        # A place of `size` says that the entry has found its own.
        step = (
            Declare(other.attr, self.read(right)),
            Declare(other_value.attr, self.value(other)),
            Declare(child.attr, self.read(left)),
            Declare(child_value.attr, self.value(child)),
            Declare(f"r{names}l", later),
            Declare(f"r{names}q", primitive("select", var(f"r{names}l", "bool"), right, left)),
            Assign(child_value.attr, primitive("select", var(f"r{names}l", "bool"), other_value, child_value)),
            Assign(child.attr, primitive("select", var(f"r{names}l", "bool"), other, child)),
            Declare(f"r{names}s", self.precedes(item, kept, child, child_value)),
            self.write(place, primitive("select", var(f"r{names}s", "bool"), child, item)),
            Assign(
                f"r{names}n", primitive("select", var(f"r{names}s", "bool"), ONE, ZERO)
            ),
            Assign(place.attr, primitive("select", var(f"r{names}s", "bool"), var(f"r{names}q"), place)),
        )  # fmt: skip
        sinking = primitive("ne", var(f"r{names}n"), ZERO) & (left < size)
        return (
            Declare(place.attr, start),
            Declare(item.attr, self.read(start)),
            Declare(kept.attr, self.value(item)),
            Declare(f"r{names}n", ONE),
            While(sinking, step),
            self.write(place, item),
        )

    def take_last(self, names: str, size: Expr) -> tuple[Statement, ...]:
        """Move the root of a heap of that size behind the heap."""
        last = size - ONE
        root, end = var(f"r{names}r"), var(f"r{names}e")
        return (
            Declare(root.attr, self.read(ZERO)),
            Declare(end.attr, self.read(last)),
            self.write(ZERO, end),
            self.write(last, root),
            *self.sift(names, ZERO, last),
        )


def _ascends(a: Expr, value_a: Expr, b: Expr, value_b: Expr) -> Expr:
    """Whether position a comes before position b when values are sorted by a stable sort."""
    same = ~sorts_before(value_b, value_a)
    return sorts_before(value_a, value_b) | same & (a < b)
