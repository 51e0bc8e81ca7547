"""Groups of tasks that share a loop nest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import field

from aesara.ir.expr import Expr, const, cost, linear_offset, walk
from aesara.ir.steps import Step
from aesara.lower.arrays import Array, NameOf, ProgramBuilder, ScheduledStep, Task, is_trailing_run, loads_of
from aesara.lower.iteration_space import LOOP, own_element
from aesara.lower.nests import Launched, Rows, build_launch
from aesara.lower.shape_arithmetic import count_of
from aesara.lower.sizes import SizeFacts
from aesara.records import dataclass

__all__ = ["Group"]


@dataclass(eq=False)
class Group(ScheduledStep):
    """Tasks that share one loop nest."""

    domain: tuple[Expr, ...]
    tasks: list[Task] = field(default_factory=list)
    weight: int = 0
    closed: bool = False
    known: set[Expr] = field(default_factory=set)
    kind = "nest"

    def added_weight(self, work: Sequence[Expr]) -> int:
        """Return the cost of expressions that the nest does not compute yet."""
        return sum(cost(e) for e in work if e not in self.known) + 1

    def add(self, task: Task, work: Sequence[Expr]) -> None:
        """Add a task whose expressions are `work`."""
        self.tasks.append(task)
        self.weight += self.added_weight(work)
        self.known.update(work)
        if task.kind == "write" and not task.parallel:
            self.closed = True

    def maps(self, array: Array) -> bool:
        """Return whether a single map of this nest computes the array."""
        tasks = [t for t in self.tasks if t.target is array]
        return len(tasks) == 1 and tasks[0].kind == "map"

    @property
    def prologues(self) -> Iterator[Task]:
        """The tasks that run before the nest."""
        return (task.prologue for task in self.tasks if task.prologue is not None)

    def writes(self) -> Iterator[Array]:
        return (task.target for task in self.tasks)

    def maps_elements(self) -> Iterator[Array]:
        return (task.target for task in self.tasks if task.kind == "map")

    def space(self, sizes: SizeFacts) -> tuple[Expr, ...]:
        return self.domain

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        same = own_element(self.domain)
        for task in self.tasks:
            for e in walk([task.value, task.offset, *task.domain]):
                if e.op == "load":
                    yield e.attr, e.args[0] is same
        yield from loads_of([task.value for task in self.prologues])

    def reads_own_element_only(self, buffer: str, array: Array) -> bool:
        own_offsets = _own_offsets(self.domain, array.is_interleaved)
        reads = walk([e for task in self.tasks for e in (task.value, task.offset)])
        before = walk([task.value for task in self.prologues])
        return all(e.args[0] in own_offsets for e in reads if e.op == "load" and e.attr == buffer) and not any(
            e.op == "load" and e.attr == buffer for e in before
        )

    @property
    def has_rows(self) -> bool:
        """Return whether iterations of the outermost loop can be split over launches: they carry no dependence."""
        rank = len(self.domain)

        def can_split(task: Task) -> bool:
            if task.prologue is not None:
                return False
            is_inner_reduction = task.kind == "reduce" and 0 not in task.axes and is_trailing_run(task.axes, rank)
            return task.kind == "map" or is_inner_reduction

        return rank > 0 and all(map(can_split, self.tasks))

    def reads_in_rows(self, buffer: str, count: Expr, sizes: SizeFacts, name_of: NameOf) -> bool:
        elsewhere = any(read == buffer and not same for read, same in self.loads(name_of))
        return self.has_rows and not elsewhere and count is sizes.canonical(count_of(self.domain))

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        launch = self._launch(builder, at, None).launch
        if launch.kernel.body:
            yield launch

    def rows_launch(self, builder: ProgramBuilder, at: int, rows: Rows) -> Launched:
        """Return the launch for a range of the outermost loop."""
        return self._launch(builder, at, rows)

    def _launch(self, builder: ProgramBuilder, at: int, rows: Rows | None) -> Launched:
        name_of, tasks = builder.buffer_name, []
        aliased: set[str] = set()
        for task in self.tasks:
            name = name_of(task.target)
            old = builder.overwritten_input(name)
            starts_in_place = old is not None and task.target.starts_as_base
            tasks.append(dataclasses.replace(task, prologue=None) if starts_in_place else task)
            if old is not None and not starts_in_place:
                aliased |= {name, old}
        return build_launch(self.domain, tasks, f"k{at}", name_of, builder.elided, aliased, rows)


def _own_offsets(domain: tuple[Expr, ...], is_interleaved: bool) -> tuple[Expr, ...]:
    """Return the offsets of the element of the current iteration, two if it is complex."""
    if not is_interleaved:
        return (own_element(domain),)
    loops = LOOP[: len(domain)]
    return tuple(linear_offset((*loops, const(k)), (*domain, const(2))) for k in (0, 1))
