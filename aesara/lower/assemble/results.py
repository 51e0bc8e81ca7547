"""Assignment of distinct memory to results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from aesara.lower.arrays import ONE, ZERO, Alias, Array, Guard, Pointwise, Source, row_major_strides, strided_view
from aesara.lower.context import Context
from aesara.lower.shape_arithmetic import count_of
from aesara.lower.sizes import is_known_at_entry

__all__ = ["assign_memory", "find_exchanged"]


def find_exchanged(context: Context, arrays: Sequence[Array], updates: Mapping[int, int]) -> set[int]:
    """Return the results that are old values of shared variables in a cycle of updates, which exchange their arrays.

    Old values outside of such a cycle are copied, and may then be overwritten in place.
    """
    shared = ((k, item) for k, item in enumerate(context.inputs) if item.implicit and not item.is_generator)
    number_of = {item.buffer.name: k for k, item in shared}
    #: for each input that gets the old value of another: the result, and the other input
    source_of: dict[int, tuple[int, int]] = {}
    for k, number in updates.items():
        buffer = arrays[k].buffer
        if buffer is not None and buffer in number_of:
            source_of[number] = k, number_of[buffer]
    exchanged: set[int] = set()
    seen: set[int] = set()
    for number in source_of:
        path: list[int] = []
        while number in source_of and number not in seen:
            seen.add(number)
            path.append(number)
            number = source_of[number][1]
        cycle = path[path.index(number) :] if number in path else []
        if len(cycle) > 1:
            exchanged.update(source_of[member][0] for member in cycle)
    return exchanged


def assign_memory(
    context: Context, arrays: Sequence[Array], replacing: set[int], exchanged: Set[int] = frozenset()
) -> list[Array]:
    """Return an array with its own memory for each result: inputs, constants, views and repeated results are copied.

    A view of a computed array is kept, and computed in the memory of the result, unless it is among those `replacing`
    an input.  Results that are `exchanged` stay inputs.
    """
    assigned: set[Array] = set()
    results = []
    for k, array in enumerate(arrays):
        if k in exchanged:
            results.append(array)
            continue
        if k not in replacing:
            array = _as_alias(array, context)
        memory = array if k in replacing else _computed_memory(array)
        if memory in assigned or memory is None or not memory.is_made_here:
            copied = Pointwise(array.dtype, array.shape, (array,), lambda index, readers: readers[0](index), cost=0)
            copied.has_pairs = array.has_pairs
            array = memory = context.add(copied)
        assigned.add(memory)
        results.append(array)
    return results


def _as_alias(array: Array, context: Context) -> Array:
    """Convert a contiguous view of all elements of a materialized array to an `Alias`."""
    base, offset, strides = strided_view(array, lambda a: a.shape)
    if base is array:
        return array
    contiguous = row_major_strides(array.shape)
    in_order = offset is ZERO and all(
        n is ONE or a is b for n, a, b in zip(array.shape, strides, contiguous, strict=True)
    )
    all_of_it = count_of(base.shape) is count_of(array.shape)
    if isinstance(base, (Pointwise, Source)) or not (in_order and all_of_it):
        return array
    return context.add(Alias(base, array.shape))


def _computed_memory(array: Array) -> Array | None:
    """Return the array that is computed in the memory of a result, or None if it cannot be.

    The result is allocated before anything is computed, so its shape and checks must depend on input sizes only.
    """
    memory = array
    while memory.viewed is not None:
        if not is_known_at_entry(memory.shape) or not all(map(_is_known_at_entry, memory.requires)):
            return None
        memory = memory.viewed
    as_result = memory.may_be_result and memory.has_pairs == array.has_pairs
    return memory if memory is array or as_result else None


def _is_known_at_entry(guard: object) -> bool:
    """Return whether a check depends on input sizes only."""
    return (
        isinstance(guard, Guard)
        and is_known_at_entry((guard.condition, *guard.values))
        and all(map(_is_known_at_entry, guard.requires))
    )
