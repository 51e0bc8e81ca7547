"""The order of steps: which tasks share a nest, and what comes before what."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr, walk
from aesara.lower.arrays import Array, Guard, Item, MatrixProduct
from aesara.lower.arrays.product import Multiplication, added_product
from aesara.lower.context import Context, is_early
from aesara.lower.groups import Group
from aesara.lower.schedule.blocks import draws_in_blocks
from aesara.lower.schedule.storage import MAX_GROUP_WEIGHT, choose_stored, values_to_write
from aesara.lower.schedule.tracing import Tracer
from aesara.lower.schedule.uses import Uses
from aesara.lower.steps import ScheduledStep
from aesara.lower.tasks import LOOP, Task, own_element
from aesara.records import dataclass

__all__ = ["Schedule", "Scheduler", "schedule"]

#: bound on the tasks in one nest, which bounds LLVM's time
_MAX_GROUP_TASKS = 48
#: a group of more weight that has had no room for a task is not tried again
_FULL = 0.9 * MAX_GROUP_WEIGHT
#: position of what comes before all steps
_PRELUDE = -1


@dataclass
class Schedule:
    """Steps in order, the checks in front of them, and names of arrays in memory."""

    steps: list[ScheduledStep]
    prelude: list[Guard]
    names: dict[Array, str]


def schedule(context: Context, results: Sequence[Array], replaced: dict[Array, str]) -> Schedule:
    """Decide storage and loop nests for everything that the results and checks need.

    `replaced` names, for results that are new values of shared variables, the buffer of the old value.
    """
    return Scheduler(context, results, replaced).run()


class Scheduler:
    """Puts steps in order.  Items call it with what computes them (`Item.plan`)."""

    def __init__(self, context: Context, results: Sequence[Array], replaced: dict[Array, str]) -> None:
        self.context, self.results, self.replaced = context, results, replaced
        self.uses = Uses(context.items, results)
        #: stored so that what is written over an old value is known before
        self._kept = values_to_write(replaced, self.uses)
        self.uses.forced |= self._kept
        self.stored = choose_stored(context.items, self.uses)
        self.tracer = Tracer(context, self.uses, self.stored)
        #: where each old value that is to be replaced is read last
        self._last_read = dict.fromkeys(replaced.values(), 0)
        self._steps: list[ScheduledStep] = []
        self._prelude: list[Guard] = []
        #: numbers of the steps of items; of those that complete buffers; of groups by what they run over
        self._position: dict[object, int] = {}
        self._ready: dict[str, int] = {}
        self._groups: dict[tuple[Expr, ...], list[int]] = {}
        self._defined_by: dict[str, Item] = {}

    def run(self) -> Schedule:
        added = self._added_products()
        absorbed = {step.product for step in added.values()}
        unread = [a for a in self.replaced if not self.uses.readers.get(a)]
        late = {part for array in unread for part in self.uses.made_in(array)}
        # New values of shared variables come last, so that they can be written over the old ones.
        items = self.context.items
        for item in [i for i in items if i not in late] + [i for i in items if i in late]:
            if item in added:
                self.append(added[item])
            elif item not in absorbed:
                item.plan(self)
        steps = draws_in_blocks(self.context, self._steps, self.results, self.tracer.name)
        return Schedule(steps, self._prelude, self.tracer.names)

    # -- what items put in order -----------------------------------------------------------------------------------

    def append(self, step: ScheduledStep, item: Item | None = None) -> None:
        """Put a step behind all others; the item is what others wait for."""
        at = len(self._steps)
        if item is not None:
            self._position[item] = at
        for array in step.writes():
            self.stored.add(array)
            self._ready[self.tracer.name(array)] = at
        for buffer, _ in step.loads(self.tracer.name):
            if buffer in self._last_read:
                self._last_read[buffer] = at + 1
        self._steps.append(step)

    def check(self, guard: Guard) -> None:
        """Put a check in front of everything if it needs nothing that is computed, or else behind all others."""
        early = all(is_early(e) for e in (guard.condition, *guard.values))
        if early and all(self._position.get(g, 0) == _PRELUDE for g in guard.requires):
            self._prelude.append(guard)
            self._position[guard] = _PRELUDE
        else:
            self.append(guard, guard)

    def define(self, item: Item) -> None:
        """Say that the sizes of an item are known once its step has run."""
        self._defined_by.update(dict.fromkeys(item.defines(), item))

    def place(self, task: Task) -> None:
        """Put a task into the first group that may run it, or into a new one at the end."""
        array, buffer = task.target, self.tracer.name(task.target)
        placed = self._ready.get(buffer, -1)
        second_part = task.kind == "map" and placed >= 0  # of an interleaved array; it may share the nest of the first
        start = max(placed, 0) if task.kind == "map" else placed + 1
        same = own_element(task.domain)
        strict = [task.offset] if task.kind == "write" else []
        if task.prologue is not None:
            strict += [*task.prologue.domain, task.prologue.value]
        needed = (self._position[guard] + 1 for guard in self.tracer.needs(array))
        start = max(start, self._known_after([*task.domain, *self.tracer.shape(array), *strict]), *needed)
        joint: set[int] = set()
        for e in walk([task.value]):
            if e.op == "load" and e.attr in self._ready and self._may_share(e, same, task):
                joint.add(self._ready[e.attr])
                start = max(start, self._ready[e.attr])
            else:
                start = max(start, self._available(e))
        old = self.replaced.get(array)
        if old is not None and not second_part:
            start = max(start, self._last_read[old])
        for e in walk([task.value, *strict]):
            if e.op == "load" and e.attr in self._last_read:
                self._last_read[e.attr] = len(self._steps)
        work = list(walk([task.value]))
        at = self._find_group(task, start, work, joint)
        self._group(at).add(task, work)
        self._ready[buffer] = max(placed, at)

    # -- what comes before what --------------------------------------------------------------------------------------

    def _available(self, e: Expr) -> int:
        """The first position at which a load or a size may be read; it is 0 where it comes from outside."""
        if e.op == "load":
            return self._ready.get(e.attr, -1) + 1
        if e.op == "var" and e.attr in self._defined_by:
            return self._position[self._defined_by[e.attr]] + 1
        return 0

    def _known_after(self, expressions: Sequence[Expr]) -> int:
        """The first position at which everything in the expressions exists."""
        return max(map(self._available, walk(expressions)), default=0)

    def _may_share(self, read: Expr, same: Expr, task: Task) -> bool:
        """Whether what is read can be taken from the register of the nest that makes it: it is of this iteration."""
        source = self.tracer.array_in(read.attr)
        if read.args[0] is not same or source is None or source is task.target or source in self._kept:
            return False
        step = self._steps[self._ready[read.attr]]
        return isinstance(step, Group) and step.domain == task.domain and step.maps(source)

    def _group(self, at: int) -> Group:
        group = self._steps[at]
        assert isinstance(group, Group)
        return group

    def _find_group(self, task: Task, start: int, work: Sequence[Expr], joint: set[int]) -> int:
        sequential = task.kind == "write" and not task.parallel
        unfilled = self._groups.setdefault(task.domain, [])
        for at in list(unfilled):
            group = self._group(at)
            if at < start or group.closed != sequential or (sequential and at in joint):
                continue
            if len(group.tasks) >= _MAX_GROUP_TASKS or group.weight + group.added_weight(work) > MAX_GROUP_WEIGHT:
                if len(group.tasks) >= _MAX_GROUP_TASKS or group.weight > _FULL:
                    unfilled.remove(at)
                continue
            if task.kind == "write" and any(t.kind == "write" and t.target is task.target for t in group.tasks):
                continue
            return at
        unfilled.append(len(self._steps))
        self._steps.append(Group(task.domain))
        return len(self._steps) - 1

    # -- products that are added to inputs ---------------------------------------------------------------------------

    def _added_products(self) -> dict[Item, Multiplication]:
        """Results of the form old + factor * (a @ b), where nobody else wants the product, and old is an input.

        BLAS adds to the old value of a shared variable in its place, to other inputs in a copy.
        """
        found: dict[Item, Multiplication] = {}
        for result in self.results:
            if result.is_stored is not None or result.ndim < 2 or self.uses.readers.get(result):
                continue
            for old in [self.replaced[result]] if result in self.replaced else self._inputs_added(result):
                matched = added_product(result, old, self.tracer)
                if matched is not None:
                    product, factor = matched
                    found[result] = product.added_to(result, old, factor, self.tracer)
                    break
        return found

    def _inputs_added(self, result: Array) -> list[str]:
        """Inputs that are terms of a sum with a product: BLAS can add to a copy."""
        terms = (result, *(a for a, _ in result.reads()))
        if not any(isinstance(a, MatrixProduct) for term in terms for a, _ in term.reads()):
            return []
        value = self.tracer.trace(result, LOOP[: result.ndim])
        names = {item.buffer.name for item in self.context.inputs}
        return [e.attr for e in value.args if e.op == "load" and e.attr in names]
