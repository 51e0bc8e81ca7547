"""Selection of updates and results that overwrite an input in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aesara.ir.expr import walk
from aesara.ir.program import Input
from aesara.lower.accesses import Accesses
from aesara.lower.arrays import Array, NameOf, ScheduledStep
from aesara.lower.context import Context
from aesara.lower.groups import Group
from aesara.lower.sizes import is_known_at_entry

__all__ = ["results_in_place", "updates_in_place"]


def updates_in_place(
    context: Context,
    steps: Sequence[ScheduledStep],
    accesses: Accesses,
    arrays: Mapping[str, Array],
    results: Sequence[Array],
    updates: Mapping[int, int],
    name_of: NameOf,
) -> dict[str, int]:
    """Return the updates that may overwrite their old value, as a map from buffer to number of the input.

    The writing step must be the last reader of the old value, and read only the element that it writes.  Nothing after
    it may fail, including allocations whose size is computed by then.
    """
    first = _first_that_cannot_fail(context, steps, accesses, arrays)
    in_place: dict[str, int] = {}
    for k, number in updates.items():
        if results[k].buffer is not None:
            continue
        name, source = name_of(results[k]), context.inputs[number]
        at = accesses.writers[name][0]
        if not source.implicit or source.is_generator or at < first:
            continue
        if results[k].starts_as_base:
            fits = _starts_as_copy(name, source.buffer.name, steps, accesses, name_of)
        else:
            fits = _element_by_element(results[k], name, source, context, steps, accesses)
        if fits:
            in_place[name] = number
    return in_place


def results_in_place(
    context: Context,
    steps: Sequence[ScheduledStep],
    accesses: Accesses,
    arrays: Mapping[str, Array],
    results: Sequence[Array],
    lent: Iterable[int],
    overwritable: Sequence[int],
    name_of: NameOf,
) -> dict[str, int]:
    """Return the results that may overwrite a donated argument, as a map from buffer to number of the input.

    Only lent results may, since they may share memory with arrays of the caller.  The conditions are those for updates;
    besides, no other input may be read from then on, because it may alias the argument.
    """
    first = _first_that_cannot_fail(context, steps, accesses, arrays) if overwritable else 0
    in_place: dict[str, int] = {}
    for number in overwritable:
        source = context.inputs[number]
        others = {item.buffer.name for item in context.inputs if item is not source}
        last_of_others = max([at for name in others for at in accesses.readers.get(name, ())], default=-1)
        for result in (results[k] for k in lent):
            if result.buffer is not None or result.starts_as_base or results.count(result) > 1:
                continue
            if not result.shape:  # an argument without dimensions may be a Python number
                continue
            name = name_of(result)
            at = accesses.writers[name][0]
            if name in in_place or at < first or at <= last_of_others:
                continue
            if _element_by_element(result, name, source, context, steps, accesses):
                in_place[name] = number
                break
    return in_place


def _first_that_cannot_fail(
    context: Context, steps: Sequence[ScheduledStep], accesses: Accesses, arrays: Mapping[str, Array]
) -> int:
    """Return the first step from which on nothing can fail, and no allocation has a computed size."""
    last_failure = max([at for at, step in enumerate(steps) if step.can_fail], default=-1)
    last_memory = max(
        [
            at[0]
            for name, at in accesses.writers.items()
            if not is_known_at_entry(map(context.canonical, arrays[name].shape))
        ],
        default=-1,
    )
    return max(last_failure + 1, last_memory)


def _element_by_element(
    array: Array, name: str, source: Input, context: Context, steps: Sequence[ScheduledStep], accesses: Accesses
) -> bool:
    """Return whether an array can overwrite an old value element by element."""
    old, readers = source.buffer, accesses.readers.get(source.buffer.name, set())
    if len(accesses.writers[name]) > 1 or not array.is_elementwise or array.dtype != old.dtype:
        return False
    (at,) = accesses.writers[name]
    same_shape = tuple(map(context.canonical, array.shape)) == tuple(map(context.canonical, old.shape))
    if not same_shape or any(reader > at for reader in readers):
        return False
    return at not in readers or steps[at].reads_own_element_only(old.name, array)


def _starts_as_copy(
    name: str, old: str, steps: Sequence[ScheduledStep], accesses: Accesses, name_of: NameOf
) -> bool:  # fmt: skip
    """Return whether a buffer starts as a copy of an old value that is not read once the copy is overwritten."""
    first, *_ = numbers = accesses.writers[name]
    if any(reader > first for reader in accesses.readers.get(old, ())):
        return False
    groups = [step for step in (steps[at] for at in numbers) if isinstance(step, Group)]
    starts = [t.prologue for g in groups for t in g.tasks if t.prologue and name_of(t.target) == name]
    if len(groups) < len(numbers) or len(starts) != 1:
        return False
    (start,), first_group = starts, groups[0]
    if start.value.op != "load" or start.value.attr != old or start.value.args[0] is not start.offset:
        return False
    others = [e for t in first_group.tasks for e in (t.value, t.offset)]
    others += [prologue.value for prologue in first_group.prologues if prologue is not start]
    return not any(e.op == "load" and e.attr == old for e in walk(others))
