"""Assembly of programs from schedules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.ir.buffers import Buffer
from aesara.ir.expr import Expr
from aesara.ir.program import Program
from aesara.ir.steps import Allocate, HandOver, Step, View
from aesara.lower.accesses import Accesses
from aesara.lower.arrays import Array
from aesara.lower.assemble.alike import share_kernels
from aesara.lower.assemble.in_place import results_in_place, updates_in_place
from aesara.lower.assemble.results import assign_memory, find_exchanged
from aesara.lower.context import Context
from aesara.lower.errors import ErrorInfo, Unsupported
from aesara.lower.schedule import Schedule, schedule
from aesara.lower.sizes import is_known_at_entry
from aesara.lower.slots import Slots
from aesara.records import dataclass

__all__ = ["Assembler", "Lowered", "assemble", "plan_results"]


@dataclass(frozen=True)
class Lowered:
    """A program with its constants, error messages and Python nodes."""

    program: Program
    constants: tuple[np.ndarray, ...]
    errors: tuple[ErrorInfo, ...]
    python_nodes: tuple[tuple[Apply, tuple[Variable, ...]], ...]
    reasons: dict[Apply, str]


def assemble(
    context: Context,
    outputs: Sequence[Variable],
    updates: dict[int, int],
    returned: int,
    unpack_single: bool,
    overwritable: Sequence[int] = (),
    lent: Sequence[int] = (),
) -> Lowered:
    """Return the program that computes `outputs` from the inputs of the context."""
    results, plan = plan_results(context, outputs, updates)
    slots = Slots()
    for item in context.inputs:
        if item.is_generator:
            slots.keep(item.buffer)
    assembler = Assembler(context, plan, results, slots, updates, overwritable=overwritable, lent=lent)
    steps = share_kernels(assembler.steps())
    program = Program(
        inputs=tuple(context.inputs),
        constants=tuple(buffer for buffer, _ in context.constants.buffers),
        slots=tuple(assembler.slots.slots),
        steps=steps,
        outputs=tuple(map(assembler.buffer_name, results)),
        updates=tuple(updates.items()),
        returned=returned,
        unpack_single=unpack_single,
        lent=tuple(lent),
    )
    return Lowered(
        program,
        tuple(data for _, data in context.constants.buffers),
        tuple(context.errors),
        tuple(context.python_nodes),
        dict(context.reasons),
    )


def plan_results(
    context: Context, outputs: Sequence[Variable], updates: dict[int, int]
) -> tuple[list[Array], Schedule]:
    """Return the arrays of the results, each with its own memory, and the schedule that computes them."""
    arrays = [context.in_memory(v) for v in outputs]
    results = assign_memory(context, arrays, set(updates), find_exchanged(context, arrays, updates))
    replaced = {}
    for k, number in updates.items():
        item = context.inputs[number]
        if results[k].buffer is not None:
            continue
        if not item.is_generator:
            replaced[results[k]] = item.buffer.name
        elif not context.same_size(*results[k].shape, *item.buffer.shape):
            raise Unsupported("a generator whose next state may be of another kind")
    return results, schedule(context, results, replaced)


class Assembler:
    """Emits the steps of a program from those of a schedule (`ScheduledStep.program_steps`).

    Attributes
    ----------
    elided
        Arrays that only their own nest reads, in the same iteration; they need no memory.
    in_place
        Buffers of updates and results that overwrite an input, with the number of the input.
    """

    def __init__(
        self, context: Context, plan: Schedule, results: list[Array], slots: Slots, updates: dict[int, int],
        rows: dict[Array, tuple[str, Expr]] | None = None, overwritable: Sequence[int] = (),
        lent: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self.sizes, self.slots = context.sizes, slots
        self._inputs = context.inputs
        self._plan, self._results, self._updates, self._rows = plan, results, updates, rows or {}
        self._array_of = {name: array for array, name in plan.names.items()}
        self._array_of |= {self.buffer_name(array): array for array in results}
        self._number = {array: k for k, array in enumerate(results)}
        self._input_in = {item.buffer.name: k for k, item in enumerate(context.inputs)}
        self._accesses = Accesses(plan.steps, self.buffer_name)
        self.elided = self._find_elided()
        self.in_place = updates_in_place(
            context, plan.steps, self._accesses, self._array_of, results, updates, self.buffer_name
        )
        borrowed = [k for k in lent if k not in updates]  # a shared variable must own its value
        self.in_place |= results_in_place(
            context, plan.steps, self._accesses, self._array_of, results, borrowed, overwritable, self.buffer_name
        )

    def buffer_name(self, array: Array) -> str:
        """Return the buffer of a materialized array."""
        while array.viewed is not None:
            array = array.viewed
        return self._plan.names[array] if array.buffer is None else array.buffer

    def shape(self, array: Array) -> tuple[Expr, ...]:
        return tuple(map(self.sizes.canonical, array.shape))

    def overwritten_input(self, buffer: str) -> str | None:
        """Return the buffer of the input that a result overwrites in place, or None."""
        number = self.in_place.get(buffer)
        return None if number is None else self._inputs[number].buffer.name

    def steps(self) -> list[Step]:
        """Return checks, allocations and computations in order."""
        steps: list[Step] = [check for guard in self._plan.prelude for check in guard.program_steps(self, -1)]
        last_used_at: dict[int, list[str]] = {}
        for name, last in self._accesses.last_use().items():
            last_used_at.setdefault(last, []).append(name)
        allocated: set[str] = set()
        first_in_place = min([self._accesses.writers[name][0] for name in self.in_place], default=-1)
        for at, step in enumerate(self._plan.steps):
            new = [array for array in step.writes() if array.is_allocated]
            if at == first_in_place:
                # Nothing may fail once a shared value is overwritten, so results are allocated now.
                new += [a for a in self._results if a.buffer is None and is_known_at_entry(self.shape(a))]
            for array in new:
                name = self.buffer_name(array)
                if array not in self.elided and name not in allocated:
                    allocated.add(name)
                    steps.append(self._allocate(name))
            steps.extend(step.program_steps(self, at))
            for name in last_used_at.get(at, ()):
                self.slots.release(name)
        for k, array in enumerate(self._results):
            if array.buffer is not None:
                steps.append(HandOver(array.buffer, k))
        return steps

    def _find_elided(self) -> set[Array]:
        kept = {self.buffer_name(array) for array in self._results}
        return {
            array
            for at, step in enumerate(self._plan.steps)
            for array in step.maps_elements()
            if (name := self.buffer_name(array)) not in kept and self._accesses.is_local(name, at)
        }

    def _allocate(self, name: str) -> Allocate | View:
        array = self._array_of[name]
        if array in self._rows:
            return View(Buffer(name, array.dtype, self.shape(array)), *self._rows[array])
        buffer = Buffer(name, array.dtype, self.shape(array), array.has_pairs)
        k = self._number.get(array)
        if k is None:
            return Allocate(buffer, slot=self.slots.take(buffer))
        old = self._plan.steps[self._accesses.writers[name][0]].initial_buffer()
        initial = None
        if old is not None:
            initial = self._input_in[old]
        elif array.starts_as_base and name in self.in_place:
            initial = self._updates[k]
        return Allocate(buffer, output=k, reuse=self.in_place.get(name), initial=initial)
