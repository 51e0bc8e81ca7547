"""Lowering of sorting: heaps for the k largest or smallest elements, ranks for short rows, NumPy for long ones.

In a short row the rank of an element is the number of elements that precede it, a sum without branches.  Long rows are
sorted by NumPy's C functions, which use vector instructions.
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
from aesara.lower.context import Context
from aesara.lower.dimensions import with_dimensions
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import Unsupported, check_dtype
from aesara.lower.ordering.searching import sorts_before
from aesara.lower.ranges import all_of
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.tensor.ordering.searching import Unique
from aesara.tensor.ordering.sorting import ArgSortOp, SortOp, TopKOp

#: length of rows up to which they are sorted by ranks
_SHORT = 16
_TWO = const(2)


@lower_op.register(SortOp)
@lower_op.register(ArgSortOp)
def _sort(op: SortOp | ArgSortOp, node: Apply, context: Context) -> Sequence[Array]:
    array, given_axis = context.array(node.inputs[0]), context.size_from(context.array(node.inputs[1]))
    check_dtype(array.dtype)
    if not given_axis.is_const or not -array.ndim <= given_axis.attr < array.ndim:
        raise Unsupported("sorting along an axis that is known at run time only")
    axis = given_axis.attr % array.ndim
    size = array.shape[axis]
    if size.is_const and size.attr <= _SHORT:
        positions = context.add(_sort_by_rank(array, axis, context))
    elif isinstance(op, SortOp) or op.kind != "heapsort":
        return [_sort_by_numpy(op, array, axis, node, context)]
    elif context.outer is not None:
        # otherwise the whole loop would run in Python
        positions = context.add(_positions(array, axis, size, const(False, "bool"), ()))
    else:
        raise Unsupported("which of equal elements comes first in a heapsort depends on the release of NumPy")
    return [_take(array, positions, axis, ()) if isinstance(op, SortOp) else positions]


def _sort_by_numpy(op: SortOp | ArgSortOp, array: Array, axis: int, node: Apply, context: Context) -> Array:
    """Sort long rows by the C function of `numpy.sort` or `numpy.argsort`."""
    rows = _move_axis_last(array, axis)
    *lead, n = rows.shape
    kind = sorting.KINDS[op.kind]
    arguments = {"row": rows}
    if isinstance(op, ArgSortOp):
        routine = sorting.argsort(kind, array.dtype)
        arguments["places"] = Pointwise("int64", rows.shape, (), lambda index, readers: index[-1], 0)
    else:
        routine = sorting.sort(kind, array.dtype)
    results_of_call = call_routine(context, node, routine, {"n": n}, arguments, lead)
    if "status" in results_of_call:
        require_success(context, node, results_of_call["status"], MemoryError, "There is no memory for a stable sort.")
    return _move_axis_back(results_of_call["row" if isinstance(op, SortOp) else "places"], axis)


def _move_axis_last(array: Array, axis: int) -> Array:
    return with_dimensions(array, [*(d for d in range(array.ndim) if d != axis), axis])


def _move_axis_back(array: Array, axis: int) -> Array:
    last = array.ndim - 1
    return with_dimensions(array, [*range(axis), last, *range(axis, last)])


def _sort_by_rank(array: Array, axis: int, context: Context) -> Array:
    """Return the positions that sort an axis, by the rank of each element."""
    dtype = "int8" if array.dtype == "bool" else array.dtype

    def at(index: Index, position: Expr) -> Index:
        return (*index[:axis], position, *index[axis + 1 :])

    def comes_before(index: Index, readers: Sequence[Reader]) -> Expr:
        *element, other = index
        values = [cast(readers[0](i), dtype) for i in (at(tuple(element), other), tuple(element))]
        return cast(_ascends(other, values[0], element[axis], values[1]), "int64")

    pairs = Pointwise("int64", (*array.shape, array.shape[axis]), (array,), comes_before, 4, [True])
    ranks = reduce_array(context, context.add(pairs), (array.ndim,), "add")
    write = Write(
        array.shape, (ranks,), lambda index, readers: at(index, readers[0](index)), lambda index, _: index[axis]
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
    k = context.size_from(context.array(node.inputs[1]))
    count = primitive("maximum", k, ZERO - k)
    if k.is_const:
        count = const(abs(k.attr))
    # -size, since the negative of the smallest integer overflows
    possible = primitive("ne", k, ZERO) & (k <= size)
    possible = all_of(possible, k >= ZERO - size)
    message = "topk: kth cannot be zero or larger than the length of the axis; got {0} for length {1}."
    guards = context.guard(possible, ValueError, message, node, [k, size])
    positions = context.add(_positions(array, axis, count, k > ZERO, guards))
    results: list[Array] = []
    if op.return_values:
        results.append(_take(array, positions, axis, guards))
    if op.return_indices:
        results.append(convert(positions, op.idx_dtype))
    return results


def _take(array: Array, positions: Array, axis: int, guards: Sequence[object]) -> Array:
    """Return the elements at positions along an axis."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0]((*index[:axis], readers[1](index), *index[axis + 1 :]))

    return Pointwise(array.dtype, positions.shape, (array, positions), body, 2, [True, False], guards)


def _positions(array: Array, axis: int, count: Expr, largest: Expr, guards: Sequence[object]) -> Array:
    """Return the positions of the first `count` elements in descending (or ascending) order.

    The order of equal elements is that of a stable ascending sort.
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
        i, filled = var("r0"), var("r0") + count
        statements: tuple[Statement, ...] = (
            For("r0", count, (write(at(i), i),)),
            For("r0", count // _TWO, heap.sift("a", _inner_node(count, i), count)),
            For("r0", size - count, (
                Declare("rv", heap.value(filled)), Declare("rt", read(at(ZERO))),
                If(
                    heap.precedes(filled, var("rv", dtype), var("rt"), heap.value(var("rt"))),
                    (write(at(ZERO), filled), *heap.sift("b", ZERO, count)),
                ),
            )),
            For("r0", count - ONE, heap.take_last("c", count - i)),
        )  # fmt: skip
        return loops_over([d for d in range(array.ndim) if d != axis], array.shape, statements, independent=True)

    shape = [count if d == axis else n for d, n in enumerate(array.shape)]
    return Sequential("int64", shape, (array,), body, guards)


def _inner_node(count: Expr, i: Expr) -> Expr:
    """Return the inner node number i of a heap, counted from the last."""
    return count // _TWO - ONE - i


class _Heap:
    """A heap of positions whose root is the last one of the result."""

    def __init__(
        self, read: Callable[[Expr], Expr], write: Callable[[Expr, Expr], Statement], value: Callable[[Expr], Expr],
        largest: Expr, dtype: str,
    ) -> None:  # fmt: skip
        self.read, self.write, self.value, self.largest, self.dtype = read, write, value, largest, dtype

    def precedes(self, a: Expr, value_a: Expr, b: Expr, value_b: Expr) -> Expr:
        """Return whether position a precedes position b in the result."""
        return primitive(
            "select", self.largest, _ascends(b, value_b, a, value_a), _ascends(a, value_a, b, value_b)
        )  # fmt: skip

    def sift(self, names: str, start: Expr, size: Expr) -> tuple[Statement, ...]:
        """Sift the entry at `start` down in a heap of the given size."""
        item, kept, place = var(f"r{names}i"), var(f"r{names}v", self.dtype), var(f"r{names}p")
        child, child_value = var(f"r{names}c"), var(f"r{names}w", self.dtype)
        other, other_value = var(f"r{names}o"), var(f"r{names}x", self.dtype)
        left = place * _TWO + ONE
        right = primitive("minimum", left + ONE, size - ONE)
        later = self.precedes(child, child_value, other, other_value)
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
        """Move the root of a heap behind it."""
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
    """Return whether position a precedes position b in a stable ascending sort."""
    same = ~sorts_before(value_b, value_a)
    return sorts_before(value_a, value_b) | same & (a < b)
