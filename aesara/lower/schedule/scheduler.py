"""The scheduler: fusion of tasks, and the order of steps."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr, walk
from aesara.lower.arrays import Array, Item, ScheduledStep, Task
from aesara.lower.context import Context
from aesara.lower.groups import Group
from aesara.lower.iteration_space import own_element
from aesara.lower.schedule.accumulation import find_accumulations
from aesara.lower.schedule.blocks import fuse_draws
from aesara.lower.schedule.storage import MAX_GROUP_WEIGHT, choose_stored, values_to_write
from aesara.lower.schedule.tracing import Tracer
from aesara.lower.schedule.uses import Uses
from aesara.records import dataclass

__all__ = ["Schedule", "Scheduler", "schedule"]

#: bound on the tasks in one nest, which bounds LLVM's time
_MAX_GROUP_TASKS = 48
#: a group of more weight that rejected a task is not tried again
_FULL = 0.9 * MAX_GROUP_WEIGHT
#: position of checks before all steps
_PRELUDE = -1


@dataclass
class Schedule:
    """Ordered steps, the checks before them, and the buffers of materialized arrays."""

    steps: list[ScheduledStep]
    prelude: list[ScheduledStep]
    names: dict[Array, str]


def schedule(context: Context, results: Sequence[Array], replaced: dict[Array, str]) -> Schedule:
    """Schedule the computation of results and checks.

    `replaced` maps results that are new values of shared variables to the buffers of old values.
    """
    return Scheduler(context, results, replaced).run()


class Scheduler:
    """Orders steps.  Items add theirs by `Item.plan`."""

    def __init__(self, context: Context, results: Sequence[Array], replaced: dict[Array, str]) -> None:
        self.context, self.results, self.replaced = context, results, replaced
        self.uses = Uses(context.items, results)
        #: stored, so that writes over an old value read no element of it that is already overwritten
        self._kept = values_to_write(replaced, self.uses)
        self.uses.forced |= self._kept
        self.stored = choose_stored(context.items, self.uses)
        self.tracer = Tracer(context, self.uses, self.stored)
        #: position after the last read of each old value
        self._last_read = dict.fromkeys(replaced.values(), 0)
        self._steps: list[ScheduledStep] = []
        self._prelude: list[ScheduledStep] = []
        #: steps of items; last writers of buffers; groups by iteration space
        self._position: dict[object, int] = {}
        self._ready: dict[str, int] = {}
        self._groups: dict[tuple[Expr, ...], list[int]] = {}
        #: positions of the steps that define sizes
        self._defined_at: dict[str, int] = {}

    def run(self) -> Schedule:
        accumulations = find_accumulations(self.context.inputs, self.results, self.replaced, self.tracer)
        absorbed = {step.product for step in accumulations.values()}
        unread = [a for a in self.replaced if not self.uses.readers.get(a)]
        late = {part for array in unread for part in self.uses.memory_chain(array)}
        # New values of shared variables come last, so that they can overwrite the old ones.
        items = self.context.items
        for item in [i for i in items if i not in late] + [i for i in items if i in late]:
            if item in accumulations:
                self.append(accumulations[item])
            elif item not in absorbed and item in (self.stored if isinstance(item, Array) else self.uses.needed):
                item.plan(self)
        steps = fuse_draws(self.context, self._steps, self.results, self.tracer.name)
        return Schedule(steps, self._prelude, self.tracer.names)

    # -- called by items -------------------------------------------------------------------------------------------

    def append(self, step: ScheduledStep, item: Item | None = None, early: bool = False) -> None:
        """Append a step, which computes `item`, if given.

        `early`: it reads inputs only; it runs before all others if the checks do that the item requires.
        """
        if item is not None:
            if early and all(self._position.get(guard, 0) == _PRELUDE for guard in item.requires):
                self._prelude.append(step)
                self._position[item] = _PRELUDE
                return
            self._position[item] = len(self._steps)
            self._defined_at.update(dict.fromkeys(item.defines(), len(self._steps)))
        for array in step.writes():
            self.stored.add(array)
            self._ready[self.tracer.name(array)] = len(self._steps)
        for buffer, _ in step.loads(self.tracer.name):
            if buffer in self._last_read:
                self._last_read[buffer] = len(self._steps) + 1
        self._steps.append(step)

    def place(self, task: Task) -> None:
        """Add a task to the first group that can run it, or to a new one at the end."""
        buffer = self.tracer.name(task.target)
        written = self._ready.get(buffer, -1)
        prerequisites = _prerequisites(task)
        start, fusible = self._earliest_position(task, written, prerequisites)
        self._record_reads([task.value, *prerequisites])
        operations = list(walk([task.value]))
        at = self._find_group(task, start, operations, fusible)
        self._group(at).add(task, operations)
        self._ready[buffer] = max(written, at)

    def _earliest_position(self, task: Task, written: int, prerequisites: Sequence[Expr]) -> tuple[int, set[int]]:
        """Return the first position at which a task can run, and the positions of nests that it can be fused with
        although it reads what they store.

        Parameters
        ----------
        task
            The task.
        written
            Position of the last step so far that writes its target; -1 if there is none.
        prerequisites
            Expressions that are evaluated before the nest of the task.
        """
        array, is_map = task.target, task.kind == "map"
        start = max(written, 0) if is_map else written + 1
        needed = (self._position[guard] + 1 for guard in self.tracer.needs(array))
        start = max(start, self._known_after([*task.domain, *self.tracer.shape(array), *prerequisites]), *needed)
        same, fusible = own_element(task.domain), set()
        for e in walk([task.value]):
            if e.op == "load" and e.attr in self._ready and self._may_share(e, same, task):
                fusible.add(self._ready[e.attr])
                start = max(start, self._ready[e.attr])
            else:
                start = max(start, self._available(e))
        old = self.replaced.get(array)
        is_second_part = is_map and written >= 0  # of an interleaved array
        if old is not None and not is_second_part:
            start = max(start, self._last_read[old])
        return start, fusible

    def _record_reads(self, expressions: Sequence[Expr]) -> None:
        """Record that a step at the end, or before it, reads the old values in expressions."""
        for e in walk(expressions):
            if e.op == "load" and e.attr in self._last_read:
                self._last_read[e.attr] = len(self._steps)

    # -- dependences --------------------------------------------------------------------------------------------------

    def _available(self, e: Expr) -> int:
        """Return the first position at which a load or size is available."""
        if e.op == "load":
            return self._ready.get(e.attr, -1) + 1
        return self._defined_at.get(e.attr, -1) + 1 if e.op == "var" else 0

    def _known_after(self, expressions: Sequence[Expr]) -> int:
        """Return the first position at which all loads and sizes in expressions are available."""
        return max(map(self._available, walk(expressions)), default=0)

    def _may_share(self, read: Expr, same: Expr, task: Task) -> bool:
        """Return whether a load can be fused with the nest that stores the element in the same iteration."""
        source = self.tracer.array_in(read.attr)
        if read.args[0] is not same or source is None or source is task.target or source in self._kept:
            return False
        step = self._steps[self._ready[read.attr]]
        return isinstance(step, Group) and step.domain == task.domain and step.maps(source)

    def _group(self, at: int) -> Group:
        group = self._steps[at]
        assert isinstance(group, Group)
        return group

    def _find_group(self, task: Task, start: int, expressions: Sequence[Expr], fusible: set[int]) -> int:
        sequential = task.kind == "write" and not task.parallel
        candidates = self._groups.setdefault(task.domain, [])
        for at in list(candidates):
            group = self._group(at)
            if at < start or group.closed != sequential or (sequential and at in fusible):
                continue
            has_all_tasks = len(group.tasks) >= _MAX_GROUP_TASKS
            if has_all_tasks or group.weight + group.added_weight(expressions) > MAX_GROUP_WEIGHT:
                if has_all_tasks or group.weight > _FULL:
                    candidates.remove(at)
                continue
            if task.kind == "write" and any(t.kind == "write" and t.target is task.target for t in group.tasks):
                continue
            return at
        candidates.append(len(self._steps))
        self._steps.append(Group(task.domain))
        return len(self._steps) - 1


def _prerequisites(task: Task) -> list[Expr]:
    """Return the expressions that are evaluated before the nest of a task: the offset of a write, and the prologue."""
    expressions = [task.offset] if task.kind == "write" else []
    if task.prologue is not None:
        expressions += [*task.prologue.domain, task.prologue.value]
    return expressions
