"""Threads and signals: where the GIL is released and where Ctrl-C is checked.

Steps that touch no Python object form a *segment*. The GIL is released before a segment that is estimated to take
longer than `LONG`, and taken after it. Calls that may release it hold references to the shared values that they read;
calls that update hold the guards (`link/guards.py`) from before the values are read until the new ones are stored.
Calls that keep the GIL throughout need neither.

In the main thread, while the GIL is released, signals are checked in loops over steps, between steps, and in long
kernels after each chunk of their outermost loops. This happens after every `PORTION` of estimated work, and only if the
clock says that enough time has passed, since it needs the GIL.

The routines are in `runtime/threads.py`; this module decides where they are called.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

from aesara.ir.accumulation import SplitAccumulation, split_accumulation
from aesara.ir.expr import Expr, const, walk
from aesara.ir.kernel import Kernel
from aesara.ir.steps import Step
from aesara.ir.work import UNKNOWN, Work, kernel_work, sum_of
from aesara.link.llvm import layout
from aesara.link.llvm.chunks import kernel_per_loop, only_loop
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.runtime.slices import LEAST_WORK
from aesara.link.llvm.runtime.threads import PORTION

__all__ = ["LONG", "Threads", "accumulation_in_slices", "may_be_cut", "may_be_sliced", "runs_on_threads"]

#: estimated work, in nanoseconds, from which the GIL is released
LONG = 20e3
#: largest estimated work, in nanoseconds, for in-place updates of shared values, which hold the GIL
IN_PLACE = 20e6
#: cost of a byte of fresh memory in nanoseconds, compared with work that could run without the GIL
_FRESH_BYTE_TIME = 2.5


def may_be_cut(kernel: Kernel) -> bool:
    """Return whether a kernel's loops may take long enough to check for signals in between."""
    constant = kernel_work(kernel).constant
    return constant is None or constant > PORTION


def may_be_sliced(kernel: Kernel) -> bool:
    """Return whether several threads may run the only loop of a kernel, since it may take long enough."""
    loop = only_loop(kernel)
    return loop is not None and loop.runs_in_any_order and _is_worth_threads(kernel)


def accumulation_in_slices(kernel: Kernel) -> SplitAccumulation | None:
    """Return the parts of an accumulating kernel of which several threads may run the first; None for others."""
    return split_accumulation(kernel) if _is_worth_threads(kernel) else None


def runs_on_threads(kernel: Kernel) -> bool:
    """Return whether several threads run a kernel if it takes long."""
    return accumulation_in_slices(kernel) is not None or any(map(may_be_sliced, kernel_per_loop(kernel)))


def _is_worth_threads(kernel: Kernel) -> bool:
    constant = kernel_work(kernel).constant
    return constant is None or constant > 2 * LEAST_WORK


class Threads:
    """Emits code for threads and signals."""

    def __init__(self, code: HostCode, complete: frozenset[str]) -> None:
        self.code = code
        #: work by the identity of the step, which is kept alive
        self.works: dict[int, tuple[Step, Work]] = {}
        #: buffers that are complete from the beginning
        self.complete = complete
        #: i1: this call holds references to shared values and, if it updates some, guards
        self.careful: str = "false"
        #: i1: no shared value is overwritten in place; None before the decision
        self.keeps_values: str | None = None
        #: i32: reference count of a shared value that may be overwritten, as it is not shared with others
        self.lonely = "1"
        #: i1: the GIL is released at this point
        self.released = "false"

    # -- estimates -------------------------------------------------------------------------------------------

    def work(self, steps: Iterable[Step]) -> Work:
        """Return the work of steps, in sizes that are known here."""
        return self.in_known_sizes(sum_of(self.step_work(step) for step in steps))

    def step_work(self, step: Step) -> Work:
        """Return the work of a step, in any sizes."""
        found = self.works.get(id(step))
        if found is None:
            found = self.works[id(step)] = step, step.work()
        return found[1]

    def in_known_sizes(self, work: Work) -> Work:
        """Replace the sizes of an estimate that are not known here by `UNKNOWN`."""
        return work.replace(lambda size: size if self._is_known(size) else const(UNKNOWN))

    def _is_known(self, size: Expr) -> bool:
        here = len(self.code.values.scopes)
        return all(
            e.attr in self.complete if e.op == "load" else self.code.values.variables.get(e.attr, ("", here))[1] < here
            for e in walk([size])
            if e.op in ("load", "var")
        )

    def segments(self, steps: Sequence[Step]) -> Iterator[Sequence[Step]]:
        """Split steps so that the work of each part is known before it, except for that of its first step."""
        start = 0
        while start < len(steps):
            end = start + 1
            while end < len(steps) and self.all_known([steps[end]]):
                end += 1
            yield steps[start:end]
            start = end

    def all_known(self, steps: Iterable[Step]) -> bool:
        """Return whether the work of steps depends only on sizes that are known here."""
        return all(self._is_known(size) for step in steps for sizes in self.step_work(step).terms for size in sizes)

    def is_loop_invariant(self, step: Step) -> bool:
        """Return whether the work of a step in a loop depends only on sizes that are known outside of all loops."""
        variables = self.code.values.variables
        return all(
            e.attr in self.complete if e.op == "load" else variables.get(e.attr, ("", 1))[1] == 0
            for sizes in self.step_work(step).terms
            for e in walk(sizes)
            if e.op in ("load", "var")
        )

    def runs(self, steps: Iterable[Step]) -> Iterator[tuple[bool, list[Step]]]:
        """Split steps into runs that need the GIL (True) or do not."""
        for with_gil, run in itertools.groupby(steps, lambda step: step.needs_gil):
            yield with_gil, list(run)

    def total(self, steps: Iterable[Step]) -> Expr:
        """Return the known part of the work of all segments."""
        parts = [
            self.work(part).expression()
            for with_gil, run in self.runs(steps)
            if not with_gil
            for part in self.segments(run)
        ]
        return functools.reduce(lambda a, b: b + a, parts) if parts else const(0.0, "float64")

    def more_than(self, work: Expr, limit: float) -> str:
        """Return an i1: whether the work exceeds the limit."""
        return self.code.compare("ogt", "double", self.code.value(work), _double(limit))

    # -- the GIL ---------------------------------------------------------------------------------------------

    def release_gil(self, steps: Sequence[Step]) -> None:
        """Release the GIL if a segment is long, or if its work is unknown."""
        work = self.work(steps)
        if any(step.nested_steps() and not self.all_known([step]) for step in steps):
            long = "true"  # sizes depend on the iteration
        elif work.constant is not None:
            long = "true" if work.constant > LONG else "false"
        else:
            long = self.more_than(work.expression(), LONG)
        if self.keeps_values is not None and long != "false":
            long = self.code.both(long, self.keeps_values)
        self.code.forget()
        self.released = long
        self._if_released("release", "ptr @plan", "ptr %args")

    def take_gil(self) -> None:
        """Take the GIL if it was released."""
        self._if_released("take", "ptr @plan")
        self.released = "false"

    def _if_released(self, routine: str, *arguments: str) -> None:
        code = self.code
        if self.released == "false":
            return
        act, on = code.label(routine), code.label("on")
        code.branch(self.released, act, on)
        code.block(act)
        code.call(routine, "void", "ptr %frame", "ptr %table", *arguments)
        code.writer.jump(on)
        code.block(on)

    # -- signals ---------------------------------------------------------------------------------------------

    def watcher(self) -> str:
        """Return the watcher for signals; null if signals are not checked."""
        return "null" if self.released == "false" else self.code.field("%frame", layout.FRAME_WATCHER)

    def check_signals(self) -> None:
        """Check for signals, if the clock says that it is time."""
        code = self.code
        look, on = code.label("look"), code.label("on")
        watcher = self.watcher()
        code.branch(code.compare("eq", "ptr", watcher, "null"), on, look, likely=on)
        self._poll(look, on)

    def iterations_between_checks(self, work: Work) -> str:
        """Return the number of iterations that take about a `PORTION`: a power of two minus one (an i64).

        It is -1 if signals are not checked.
        """
        if self.released == "false":
            return "-1"
        each = self.code.value(work.expression())
        return self.code.call("rounds", "i64", f"ptr {self.watcher()}", f"double {each}")

    def check_signals_after_iteration(self, index: str, iterations_between_checks: str) -> None:
        """Check for signals at the end of an iteration, if it is time."""
        code = self.code
        if self.released == "false":
            return
        number, mask = code.writer.value("i64", index), code.writer.value("i64", iterations_between_checks)
        look, on = code.label("look"), code.label("on")
        code.branch(((number + 1) & mask).equals(0).name, look, on, likely=on)
        self._poll(look, on)

    def fail_if_stopped(self, stopped: str) -> None:
        """Fail if a signal handler has raised, as `stopped` says."""
        if self.released != "false":
            on = self.code.label("on")
            self.code.stop_if(stopped, on)
            self.code.block(on)

    def _poll(self, look: str, on: str) -> None:
        code = self.code
        code.block(look)
        code.stop_if(code.call("poll", "i1", "ptr %frame"), on)
        code.block(on)

    # -- in-place updates -----------------------------------------------------------------------------------

    def decide_in_place_updates(self, steps: Sequence[Step], size: Expr) -> None:
        """Decide whether the rest of the steps may overwrite shared values, `size` bytes in total, in place.

        In-place updates hold the GIL and cannot be interrupted. They save fresh memory, which costs little compared to
        much work.
        """
        code = self.code
        lonely = code.writer.value("i1", self.careful).widen("i32") + 1
        work = self.total(steps)
        total = code.value(work)
        long, very_long = self.more_than(work, LONG), self.more_than(work, IN_PLACE)
        allocation_cost = code.value(Work({(): _FRESH_BYTE_TIME}).times(size).expression())
        cheap = code.compare("olt", "double", allocation_cost, total)
        keeps = code.writer.value("i1", long) & (code.writer.value("i1", very_long) | code.writer.value("i1", cheap))
        self.keeps_values, self.lonely = keeps.name, keeps.select(-1, lonely).name
        code.forget()


def _double(value: float) -> str:
    return f"{value:.17e}"
