"""Results get memory of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from aesara.lower.arrays import ONE, ZERO, Alias, Array, Guard, Pointwise, Source, row_major_strides, strided_view
from aesara.lower.context import Context, is_known_before
from aesara.lower.shape_arithmetic import count_of

__all__ = ["exchanged", "own_memory"]


def exchanged(context: Context, arrays: Sequence[Array], updates: Mapping[int, int]) -> set[int]:
    """The results that are old values of shared variables which exchange values among them: their arrays do.

    A value that only one takes over is copied, and may then be overwritten in place.
    """
    shared = ((k, item) for k, item in enumerate(context.inputs) if item.implicit and not item.is_generator)
    number_of = {item.buffer.name: k for k, item in shared}
    #: of each input that gets the old value of another: the number of the result, and of the other input
    taken: dict[int, tuple[int, int]] = {}
    for k, number in updates.items():
        buffer = arrays[k].buffer
        if buffer is not None and buffer in number_of:
            taken[number] = k, number_of[buffer]
    found: set[int] = set()
    seen: set[int] = set()
    for number in taken:
        path: list[int] = []
        while number in taken and number not in seen:
            seen.add(number)
            path.append(number)
            number = taken[number][1]
        circle = path[path.index(number) :] if number in path else []
        if len(circle) > 1:
            found.update(taken[member][0] for member in circle)
    return found


def own_memory(
    context: Context, arrays: Sequence[Array], replacing: set[int], exchanged: Set[int] = frozenset()
) -> list[Array]:
    """Give every result an array of its own: inputs, constants, views and repeated results are copied.

    A view of what is computed here stays one, unless it is among those `replacing` something: the memory that the
    result gets is where its elements are computed. Those that are `exchanged` stay the inputs that they are.
    """
    taken: set[Array] = set()
    own = []
    for k, array in enumerate(arrays):
        if k in exchanged:
            own.append(array)
            continue
        if k not in replacing:
            array = _as_alias(array, context)
        memory = array if k in replacing else _computed_memory(array)
        if memory in taken or memory is None or not memory.is_made_here:
            copied = Pointwise(array.dtype, array.shape, (array,), lambda index, readers: readers[0](index), cost=0)
            copied.is_complex = array.is_complex
            array = memory = context.add(copied)
        taken.add(memory)
        own.append(array)
    return own


def _as_alias(array: Array, context: Context) -> Array:
    """A view that has all elements of what is computed as a whole in the same order, as an alias of that."""
    base, offset, strides = strided_view(array, lambda a: a.shape)
    if base is array:
        return array
    own = row_major_strides(array.shape)
    in_order = offset is ZERO and all(n is ONE or a is b for n, a, b in zip(array.shape, strides, own, strict=True))
    all_of_it = count_of(base.shape) is count_of(array.shape)
    if isinstance(base, (Pointwise, Source)) or not (in_order and all_of_it):
        return array
    return context.add(Alias(base, array.shape))


def _computed_memory(array: Array) -> Array | None:
    """The array that has the memory of a result; None if that cannot be made in the shape of the result.

    It is made before anything is computed, so the shape, and the checks that it has as many elements, come first.
    """
    memory = array
    while memory.viewed is not None:
        if not is_known_before(memory.shape) or not all(map(_comes_first, memory.requires)):
            return None
        memory = memory.viewed
    as_result = memory.may_be_result and memory.is_complex == array.is_complex
    return memory if memory is array or as_result else None


def _comes_first(guard: object) -> bool:
    """Whether a check needs nothing that the program computes."""
    return (
        isinstance(guard, Guard)
        and is_known_before((guard.condition, *guard.values))
        and all(map(_comes_first, guard.requires))
    )
