"""Calls of library routines, and their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from aesara.ir.buffers import Operand
from aesara.ir.expr import Expr, const, op
from aesara.ir.routine import Parameter, Routine
from aesara.ir.routines.draws import counts_of, is_draw_of_numbers
from aesara.ir.steps import BATCH, Call, Step
from aesara.lower.arrays.base import (
    ONE,
    ZERO,
    Array,
    Item,
    NameOf,
    Planner,
    ProgramBuilder,
    ScheduledStep,
    UseCounts,
    copy_task,
)
from aesara.lower.arrays.pointwise import row_major_strides
from aesara.lower.shape_arithmetic import batch_offset, count_of
from aesara.lower.sizes import SizeFacts
from aesara.lower.small_matrices import SmallMatrixKernel, small_kernel

__all__ = ["RoutineCall", "RoutineResult"]


_ALWAYS, _NEVER = const(True, "bool"), const(False, "bool")


class RoutineCall(Item, ScheduledStep):
    """A call of a routine, batched over the leading dimensions `lead`.

    `arguments` are the arrays that it reads, by the names of parameters.  A parameter that is read and overwritten has
    a result that starts as a copy of the argument.

    Batches of small matrices run in an inlined kernel (`SmallMatrixKernel`) where the routine has one: always if the
    sizes are static and small, else if `fits` holds at run time.
    """

    __slots__ = ("arguments", "fits", "lead", "results", "routine", "sizes", "small", "workspaces")

    def __init__(
        self,
        routine: Routine,
        sizes: Mapping[str, Expr],
        arguments: Mapping[str, Array],
        lead: Sequence[Expr] = (),
        requires: Sequence[object] = (),
    ) -> None:
        super().__init__(requires)
        self.routine, self.sizes, self.arguments, self.lead = routine, dict(sizes), dict(arguments), tuple(lead)
        self.small, self.fits = self._small_kernel()
        needed = [p for p in routine.parameters if p.is_written and not (p.is_workspace and self.fits is _ALWAYS)]
        self.results = {p.name: self._result(p) for p in needed}
        workspaces = () if self.small is None else self.small.workspaces()
        self.workspaces = tuple(RoutineResult(self, dtype, (length,), None) for dtype, length in workspaces)
        self.results |= {f"workspace of {array.dtype}": array for array in self.workspaces}

    def _small_kernel(self) -> tuple[SmallMatrixKernel | None, Expr]:
        """Return the inlined kernel, if there is one, and the condition on which it runs."""
        small = small_kernel(self.routine) if self.lead else None
        if small is None:
            return None, _NEVER
        fits = small.fits(self.sizes, count_of(self.lead))
        return (None, _NEVER) if fits is _NEVER else (small, fits)

    def _result(self, parameter: Parameter) -> RoutineResult:
        lead = () if parameter.is_workspace else self.lead
        shape = (*lead, *self.routine.shape_of(parameter, self.sizes))
        return RoutineResult(self, parameter.dtype, shape, self.arguments.get(parameter.name))

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "nest" if self.fits is _ALWAYS else "routine"

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.routine.title

    def _only_read(self) -> list[Array]:
        return [array for name, array in self.arguments.items() if name not in self.results]

    def reads(self) -> list[tuple[Array, bool]]:
        """Return the arguments that are not overwritten; the results read the others."""
        return [(array, False) for array in self._only_read()]

    def reads_in_memory(self) -> Iterable[Array]:
        return self._only_read()

    def is_needed(self, needed: set[Item]) -> bool:
        return any(result in needed for result in self.results.values())

    def plan(self, planner: Planner) -> None:
        tracer = planner.tracer
        for result in self.results.values():
            base = tracer.base_of(result)
            if base is not None:
                tracer.take_over(base, result)
            elif result.start is not None:
                planner.place(copy_task(tracer, result, result.start))
        planner.append(self, self)

    def writes(self) -> Iterator[Array]:
        return iter(self.results.values())

    def draws_many(self, sizes: SizeFacts, least: int) -> bool:
        if self.lead or not is_draw_of_numbers(self.routine):
            return False
        count, *others = (sizes.canonical(self.sizes[name]) for name in counts_of(self.routine))
        return all(n is ONE or n is count for n in others) and not (count.is_const and count.attr <= least)

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        started = [result for result in self.results.values() if result.start is not None]
        return ((name_of(array), False) for array in (*self._only_read(), *started))

    def space(self, sizes: SizeFacts) -> tuple[Expr, ...]:
        extents = [self.sizes[self.routine.each]] if self.routine.each else self.sizes.values()
        return tuple(map(sizes.canonical, (*self.lead, *extents)))

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        canonical = builder.sizes.canonical
        lead = tuple(map(canonical, self.lead))
        sizes = {name: canonical(self.sizes[name]) for name in self.routine.sizes}
        count = count_of(lead) if lead else None
        if self.small is not None:
            assert count is not None
            fits = canonical(self.fits)
            inside = [p for p in self.routine.parameters if not p.is_workspace]
            inlined = {p.name: self._operand(p, lead, builder) for p in inside}
            numbers, whole = map(builder.buffer_name, self.workspaces)
            yield self.small.launch(f"k{at}", sizes, inlined, (numbers, whole), op("select", fits, count, ZERO))
            if fits is _ALWAYS:
                return
            count = op("select", fits, ZERO, count)
        operands = tuple(self._operand(p, lead, builder) for p in self.routine.parameters)
        yield Call(self.routine, tuple(sizes.values()), operands, batch=count)

    def _operand(self, parameter: Parameter, lead: Sequence[Expr], builder: ProgramBuilder) -> Operand:
        """Return the operand for the call number `BATCH`."""
        result = self.results.get(parameter.name)
        array: Array = self.arguments[parameter.name] if result is None else result
        shape = builder.shape(array)
        if not lead or parameter.is_workspace:
            return Operand(builder.buffer_name(array), ZERO)
        if result is not None:
            return Operand(builder.buffer_name(array), BATCH * count_of(shape[len(lead) :]))
        strides = row_major_strides(shape)[: len(lead)]
        return Operand(builder.buffer_name(array), batch_offset(lead, shape[: len(lead)], strides))


class RoutineResult(Array):
    """An output of a `RoutineCall`; `start` is the argument that it is initialized with, if the routine reads it."""

    __slots__ = ("producer", "start")
    may_be_result = True
    is_copied_first = True

    def __init__(self, producer: RoutineCall, dtype: str, shape: Sequence[Expr], start: Array | None) -> None:
        super().__init__(dtype, shape, producer.requires)
        self.producer, self.start = producer, start

    def reads(self) -> list[tuple[Array, bool]]:
        return [] if self.start is None else [(self.start, False)]

    def is_needed(self, needed: set[Item]) -> bool:
        return self.producer.is_needed(needed)

    def base_in_memory(self, uses: UseCounts) -> Array | None:
        """Return the initial array if it is materialized and only this result reads it; its memory is then reused."""
        start = self.start
        if start is None or not start.is_stored or not start.may_be_result:
            return None
        return start if uses.has_one_use(start) else None

    def plan(self, planner: Planner) -> None:
        """Do nothing: the call schedules it."""
