"""Loops over steps that are short enough to be one kernel, whose states are in registers.

The body of such a loop computes a few scalars: its kernels only have loops of small constant trip counts, which are
unrolled. A value that one iteration writes and later ones read is a mutable scalar of the kernel, shifted through
registers, so that no iteration waits for memory; only the entries of sequences and the rows that are kept stay in
memory. A loop that may end early stores its trip count to a buffer of one element. A loop with checks stores the number
of the check that has failed, with the values of its message, and ends; the rest of the iteration is in a branch.

Both forms of a loop do the same operations in the same order, with the same bits as results.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from aesara.ir.expr import Expr, const, load, substitute, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import (
    Assign,
    BufferParam,
    Declare,
    For,
    If,
    Kernel,
    ScalarParam,
    Statement,
    Store,
    map_expressions,
)
from aesara.ir.loop_iteration import ITERATION, LoopIteration, NotConvertible, RowElement
from aesara.ir.loop_registers import RegisterPlan
from aesara.ir.steps import Check, Iterate, Launch, Step
from aesara.records import dataclass

__all__ = ["checks_after", "failure_buffer", "failure_size", "loop_as_launch", "rounds_buffer"]

#: limit of redundant register moves in each iteration: twice as many make loops up to twice as slow
_MAX_EXTRA_MOVES = 8

#: for a loop that may end early: whether this iteration is the last one, and the number of iterations
_DONE, _COUNT = var("done", "bool"), var("n")


def rounds_buffer(step: Iterate) -> str:
    """Return the name of the buffer for the trip count of a loop that may end early."""
    return f"rounds_{step.count}"


def failure_buffer(step: Iterate) -> str:
    """Return the name of the buffer for the number of the check that failed, from 1 on, and its values."""
    return f"failure_{step.count}"


def failure_size(step: Iterate) -> int:
    """Return the length of that buffer; 0 if the loop has no checks."""
    return max((1 + len(check.values) for check in _checks_of(step)), default=0)


def checks_after(step: Iterate) -> list[Check]:
    """Return the checks to insert after the kernel of a loop, which fail if one inside of it has failed."""
    name = failure_buffer(step)
    number = load(name, "int64", const(0))
    return [
        Check(
            primitive("ne", number, const(k)),
            check.error,
            tuple(load(name, "int64", const(1 + j)) for j in range(len(check.values))),
        )
        for k, check in enumerate(_checks_of(step), 1)
    ]


def _checks_of(step: Iterate) -> list[Check]:
    return [check for inner in step.body for check in inner.checks()]


@singledispatch
def loop_as_launch(step: Step, bases: Mapping[str, str], taken: frozenset[str] = frozenset()) -> Launch | None:
    """Return the launch of a kernel that runs the whole loop; None if the loop is not short enough.

    Parameters
    ----------
    step
        The loop.
    bases
        The owner of the memory of each view (see `Program.bases`).
    taken
        Buffers that may share their memory with others.
    """
    return None


@loop_as_launch.register
def _iterate_as_launch(step: Iterate, bases: Mapping[str, str], taken: frozenset[str] = frozenset()) -> Launch | None:
    try:
        iteration = LoopIteration(step, bases, taken)
        plan = RegisterPlan(iteration.stored, iteration.read, iteration.written)
    except NotConvertible:
        return None
    return _KernelBuilder(step, iteration, plan).launch()


@dataclass(frozen=True)
class _StoredValue:
    """Code for a value that an iteration stores.

    Attributes
    ----------
    declaration
        The mutable scalar that has the value in this iteration.
    registers
        Declarations, before the loop, of the scalars that have the values of earlier iterations.
    stores
        Its store in each iteration.
    shifts, final_shifts
        Moves from register to register at the end of each iteration, and those that only the last iterations need.
    last
        Stores after the loop.
    """

    declaration: Declare
    registers: list[Declare]
    stores: list[Store]
    shifts: list[Assign]
    final_shifts: list[Assign]
    last: list[If]


class _KernelBuilder:
    """Builds the kernel of a loop from one iteration and the plan of its registers."""

    def __init__(self, step: Iterate, iteration: LoopIteration, plan: RegisterPlan) -> None:
        self.step, self.iteration, self.plan = step, iteration, plan
        #: values of earlier iterations, by the variables that stand for them
        self.registers = plan.registers(iteration.read)

    def launch(self) -> Launch:
        """Return the launch of the kernel."""
        iteration, parameters = self.iteration, self.iteration.parameters
        extent = parameters.scalar(self.step.extent)
        values = self._stored_values(extent)
        # Values that others depend on come first: a processor starts with the first instruction that is ready.
        dependents = self.plan.count_dependents(iteration.stored, iteration.read)
        order = sorted(range(len(values)), key=lambda k: -dependents[k])
        declared = [values[k].declaration for k in order]
        before: list[Statement] = [register for value in values for register in value.registers]
        after: list[Statement] = [store for value in values for store in value.last]
        stores = [store for value in values for store in value.stores]
        shifts = [move for value in values for move in value.shifts]
        if self._may_end:
            loop = self._loop_that_may_end(extent, declared, [*stores, *shifts], before, after)
        else:
            final_shifts = [move for value in values for move in value.final_shifts]
            final = max((kept - 1 for kept in self.plan.kept_rows.values()), default=0)
            loop = _loop_over_iterations(extent, (*declared, *stores, *shifts), final_shifts, final)
        params: tuple[BufferParam | ScalarParam, ...] = (*parameters.buffers.values(), *parameters.scalars.values())
        kernel = Kernel(f"loop_{self.step.var}", params, (*before, loop, *after))
        return Launch(kernel, (*parameters.buffers, *parameters.scalars))

    @property
    def _may_end(self) -> bool:
        """True if the loop may end before its last iteration."""
        return self.iteration.until is not None or bool(self.iteration.checks)

    def _stored_values(self, extent: Expr) -> list[_StoredValue]:
        """Return the code for each value that an iteration stores."""
        count = extent if self.iteration.until is None else _COUNT
        stored = self.iteration.stored
        values = substitute(stored.values(), self.registers.get, {})
        return [
            self._stored_value(k, element, value, count)
            for k, (element, value) in enumerate(zip(stored, values, strict=True))
        ]

    def _stored_value(self, k: int, element: RowElement, value: Expr, count: Expr) -> _StoredValue:
        """Return the code for value number `k` of a loop with `count` iterations."""
        name, param = var(f"x{k}", value.dtype), self.iteration.parameter(element.root)
        kept = self.plan.kept_rows.get(element.root, 0)
        depth = max(self.plan.depths.get(element, 0), kept if self._may_end else min(kept, 1))
        registers = [var(f"x{k}_{m}", value.dtype) for m in range(1, max(depth, kept) + 1)]
        declared = []
        for m, register in enumerate(registers, 1):
            row = element.ahead - m if element.rows else 0
            first = load(param.name, param.dtype, const(row * element.rows + element.index))
            is_read = row >= 0 and m <= depth
            declared.append(Declare(register.attr, first if is_read else const(0, value.dtype)))
        moves = [Assign(new.attr, old) for new, old in zip(registers, [name, *registers])]
        stores, last = [], []
        if not kept:
            stores.append(Store(param.name, element.offset(ITERATION), name))
        else:
            for m, register in enumerate(registers, 1):
                last.append(If(count >= m, (Store(param.name, element.offset(count - m), register),)))
        return _StoredValue(Declare(f"x{k}", value), declared, stores, moves[:depth][::-1], moves[depth:][::-1], last)

    def _loop_that_may_end(
        self,
        extent: Expr,
        declared: list[Declare],
        stores: list[Statement],
        before: list[Statement],
        after: list[Statement],
    ) -> For:
        """Return a loop with a condition to end, or with checks; append to the code before and after it."""
        body: tuple[Statement, ...] = (*declared, *stores)
        before.append(Declare(_DONE.attr, const(False, "bool")))
        if self.iteration.until is not None:
            before.append(Declare(_COUNT.attr, const(0)))
            ends = Declare("ends", substitute([self.iteration.until], self.registers.get, {})[0])
            counting = (Assign(_DONE.attr, var("ends", "bool")), Assign(_COUNT.attr, ITERATION + 1))
            body = (*declared, ends, *stores, *counting)
            after.append(Store(self._report(rounds_buffer(self.step)), const(0), _COUNT))
        checks = [substitute(check, self.registers.get, {}) for check in self.iteration.checks]
        if checks:
            failure = self._report(failure_buffer(self.step))
            before += [Store(failure, const(j), const(0)) for j in range(failure_size(self.step))]
            body = _guard_by_checks(checks, failure, body)
        return For(ITERATION.attr, extent, body, interleave=0, until=_DONE.attr)

    def _report(self, name: str) -> str:
        """Add a parameter for a buffer that reports how the loop has ended, and return its name in the kernel."""
        return self.iteration.parameters.buffer(name, "int64", True).name


def _loop_over_iterations(extent: Expr, body: tuple[Statement, ...], final_shifts: list[Assign], final: int) -> For:
    """Return the loop over all iterations; `final_shifts` are register moves that only the last `final` ones need.

    A few moves are done in every iteration, at no cost. Many would occupy registers: then an outer loop has one pass
    for all iterations but the last ones, and one pass for each of these.
    """
    if len(final_shifts) <= _MAX_EXTRA_MOVES:
        return For(ITERATION.attr, extent, (*final_shifts, *body), interleave=0)
    stage = var("s")
    final_ones = primitive("minimum", extent, const(final))
    is_first = primitive("eq", stage, const(0))
    start = primitive("select", is_first, const(0), extent - final_ones + stage - 1)
    inside = [map_expressions(s, lambda e: substitute([e], {ITERATION: start + ITERATION}.get, {})[0]) for s in body]
    inner_loop = For(
        ITERATION.attr, primitive("select", is_first, extent - final_ones, const(1)), tuple(inside), interleave=0
    )
    return For(stage.attr, final_ones + 1, (*final_shifts, inner_loop), interleave=0)


def _guard_by_checks(checks: list[list[Expr]], failure: str, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Nest the body in its checks; a check that fails stores its number and its values."""
    for k, (condition, *values) in reversed(list(enumerate(checks, 1))):
        stores = [Store(failure, const(j), value) for j, value in enumerate([const(k), *values])]
        fails = If(primitive("eq", condition, const(False, "bool")), (*stores, Assign(_DONE.attr, const(True, "bool"))))
        body = (fails, If(condition, body))
    return body
