"""Choice between materialization and recomputation of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aesara.lower.arrays import Array, Assembled, Item, Pointwise
from aesara.lower.schedule.uses import Uses

__all__ = ["MAX_GROUP_WEIGHT", "choose_stored", "values_to_write"]

#: largest number of operations of an inlined expression, which bounds kernels and recursion
_MAX_INLINE = 48
#: largest weight of a nest, which bounds LLVM's compile time
MAX_GROUP_WEIGHT = 300
#: up to this weight, recomputing is cheaper than memory traffic
_CHEAP = 3
_CHEAP_SCALAR = 12
_CHEAP_EXPANDED = 5


def values_to_write(replaced: Mapping[Array, str], uses: Uses) -> set[Array]:
    """Return operands of in-place writes that depend on the old value, and so must be stored first."""
    operands_to_store: set[Array] = set()
    for array, old in replaced.items():
        parts = [part for part in uses.memory_chain(array) if isinstance(part, Assembled)]
        base = parts[-1].base if array.starts_as_base else None
        if base is not None and base.buffer == old:
            operands = (a for part in parts for write in part.writes for a in write.operands)
            operands_to_store.update(a for a in operands if a.is_stored is None and _reads_buffer(a, old))
    return operands_to_store


def _reads_buffer(array: Array, buffer: str) -> bool:
    stack, seen = [array], {array}
    while stack:
        a = stack.pop()
        if a.buffer == buffer:
            return True
        new = [operand for operand, _ in a.reads() if operand not in seen]
        seen.update(new)
        stack.extend(new)
    return False


def choose_stored(items: Sequence[Item], uses: Uses) -> set[Array]:
    """Return the arrays to materialize."""
    stored: set[Array] = set()
    weight: dict[Array, int] = {}
    size: dict[Array, int] = {}
    for item in items:
        if not isinstance(item, Array) or item not in uses.needed:
            continue
        weight[item] = size[item] = 1
        if isinstance(item, Pointwise):
            own_weight = item.cost + sum(weight[a] for a in item.operands)
            own_size = 1 + sum(size[a] for a in item.operands)
            if _should_store(item, own_weight, own_size, uses):
                stored.add(item)
            else:
                weight[item], size[item] = own_weight, own_size
        elif item.is_stored:
            stored.add(item)
    return stored


def _should_store(array: Pointwise, weight: int, size: int, uses: Uses) -> bool:
    """Return whether to store an array whose elements are expressions of this weight and size."""
    if array in uses.forced or size > _MAX_INLINE or weight > MAX_GROUP_WEIGHT:
        return True
    readers = uses.readers.get(array, [])
    expanded = any(expands for _, expands in readers)
    if array.ndim == 0:
        pays = len(readers) > 1 and weight > _CHEAP_SCALAR
    elif expanded:
        pays = weight > _CHEAP_EXPANDED
    else:
        pays = len(readers) > 1 and weight > _CHEAP
    # A scatter does not vectorize, but a nest of its own does.
    return pays or (weight > _CHEAP_EXPANDED and any(reader.is_sequential for reader, _ in readers))
