"""Compiled functions among other threads: when the GIL is released, where Ctrl-C is looked for.

Steps that touch no Python object follow one another in a *segment*.  Before one that is estimated to last longer than
`LONG` the GIL is released, after it taken again.  Calls that may release it hold references to the shared values that
they read; those that update also hold the guards of what they update (`link/guards.py`) from before the values are
read until the new ones are in place.  Calls that keep the GIL until they end need neither.

In the main thread, while the GIL is released, signals are looked for: in loops over steps, between steps, and in long
kernels after each of the chunks that their outermost loops are cut into.  This happens after every `PORTION` of
estimated work and comes to nothing if, by the clock, little time has gone by, since it needs the GIL.

What happens then is in `shared/threads.py`; this is about where.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

from aesara.ir.expr import Expr, const, walk
from aesara.ir.kernel import Kernel
from aesara.ir.steps import Step
from aesara.ir.work import UNKNOWN, Work, kernel_work, sum_of
from aesara.link.llvm import layout
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.shared.threads import PORTION

__all__ = ["LONG", "Threads", "may_be_cut"]

#: nanoseconds of estimated work for which the GIL is released
LONG = 20e3
#: nanoseconds of estimated work that may overwrite a shared value in place, with the GIL held
IN_PLACE = 20e6
#: nanoseconds that a byte of fresh memory costs, in comparisons with what may be computed without the GIL meanwhile
_FRESH_BYTE = 2.5


def may_be_cut(kernel: Kernel) -> bool:
    """Whether a kernel's loops may last so long that signals are looked for in between."""
    constant = kernel_work(kernel).constant
    return constant is None or constant > PORTION


class Threads:
    """Emits what a function does for the sake of other threads and of signals."""

    def __init__(self, code: HostCode, complete: frozenset[str]) -> None:
        self.code = code
        #: the work of each step, which is kept: no other gets its identity
        self.works: dict[int, tuple[Step, Work]] = {}
        #: buffers that hold their values from the beginning
        self.complete = complete
        #: i1: this call holds references to shared values and, if it updates some, guards
        self.careful: str = "false"
        #: i1: no shared value is overwritten in place; None as long as none could be
        self.keeps_values: str | None = None
        #: i32: references to a shared value that nobody else sees, and that may be overwritten
        self.lonely = "1"
        #: i1: the GIL is released at this point
        self.released = "false"

    # -- estimates -------------------------------------------------------------------------------------------

    def work(self, steps: Iterable[Step]) -> Work:
        """The work of steps, in sizes that are known here."""
        return self.known(sum_of(self.step_work(step) for step in steps))

    def step_work(self, step: Step) -> Work:
        """The work of a step, in any sizes."""
        found = self.works.get(id(step))
        if found is None:
            found = self.works[id(step)] = step, step.work()
        return found[1]

    def known(self, work: Work) -> Work:
        """Work in sizes that are known here."""
        return work.replace(lambda size: size if self._is_known(size) else const(UNKNOWN))

    def _is_known(self, size: Expr) -> bool:
        here = len(self.code.emitter.scopes)
        return all(
            e.attr in self.complete if e.op == "load" else self.code.emitter.variables.get(e.attr, ("", here))[1] < here
            for e in walk([size])
            if e.op in ("load", "var")
        )

    def segments(self, steps: Sequence[Step]) -> Iterator[Sequence[Step]]:
        """Parts of a run of steps: what the first steps of each do is known before it, as far as it ever is."""
        start = 0
        while start < len(steps):
            end = start + 1
            while end < len(steps) and self.all_known([steps[end]]):
                end += 1
            yield steps[start:end]
            start = end

    def all_known(self, steps: Iterable[Step]) -> bool:
        """Whether the work of steps depends only on sizes that are known here."""
        return all(self._is_known(size) for step in steps for sizes in self.step_work(step).terms for size in sizes)

    def same_each_round(self, step: Step) -> bool:
        """Whether the work of a step in a loop depends only on sizes that are known before all loops."""
        places = self.code.emitter.variables
        return all(
            e.attr in self.complete if e.op == "load" else places.get(e.attr, ("", 1))[1] == 0
            for sizes in self.step_work(step).terms
            for e in walk(sizes)
            if e.op in ("load", "var")
        )

    def runs(self, steps: Iterable[Step]) -> Iterator[tuple[bool, list[Step]]]:
        """Steps in runs that need the GIL (True) or do not."""
        for with_gil, run in itertools.groupby(steps, lambda step: step.needs_gil):
            yield with_gil, list(run)

    def total(self, steps: Iterable[Step]) -> Expr:
        """The work of all segments of the steps, of what is known here."""
        parts = [
            self.work(part).expression()
            for with_gil, run in self.runs(steps)
            if not with_gil
            for part in self.segments(run)
        ]
        return functools.reduce(lambda a, b: b + a, parts) if parts else const(0.0, "float64")

    def more_than(self, work: Expr, limit: float) -> str:
        """An i1: whether there is more work than that."""
        return self.code.compare("ogt", "double", self.code.value(work), _double(limit))

    # -- the GIL ---------------------------------------------------------------------------------------------

    def release_gil(self, steps: Sequence[Step]) -> None:
        """Release the GIL if a segment is long, or if nobody can know."""
        work = self.work(steps)
        if any(step.nested() and not self.all_known([step]) for step in steps):
            long = "true"  # rounds find out sizes for themselves
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

    def _if_released(self, routine: str, *more: str) -> None:
        code = self.code
        if self.released == "false":
            return
        act, on = code.label(routine), code.label("on")
        code.branch(self.released, act, on)
        code.block(act)
        code.call(routine, "void", "ptr %frame", "ptr %table", *more)
        code.writer.jump(on)
        code.block(on)

    # -- signals ---------------------------------------------------------------------------------------------

    def watcher(self) -> str:
        """What looks for signals: null if nobody does."""
        return "null" if self.released == "false" else self.code.field("%frame", layout.FRAME_WATCHER)

    def look(self) -> None:
        """Look for signals, if the clock says that it is time."""
        code = self.code
        look, on = code.label("look"), code.label("on")
        watcher = self.watcher()
        code.branch(code.compare("eq", "ptr", watcher, "null"), on, look, likely=on)
        self._poll(look, on)

    def rounds(self, work: Work) -> str:
        """How many rounds of a loop with so much work each take about a `PORTION`: a power of two, less one (an i64).

        It is -1 where nobody looks for signals.
        """
        if self.released == "false":
            return "-1"
        each = self.code.value(work.expression())
        return self.code.call("rounds", "i64", f"ptr {self.watcher()}", f"double {each}")

    def look_after_round(self, index: str, rounds: str) -> None:
        """At the end of a round of a loop, look for signals if it is time."""
        code = self.code
        if self.released == "false":
            return
        number, mask = code.writer.value("i64", index), code.writer.value("i64", rounds)
        look, on = code.label("look"), code.label("on")
        code.branch(((number + 1) & mask).equals(0).name, look, on, likely=on)
        self._poll(look, on)

    def ends_early(self, stopped: str) -> None:
        """Fail if a handler of a signal has raised, which `stopped` says."""
        if self.released != "false":
            on = self.code.label("on")
            self.code.stop_if(stopped, on)
            self.code.block(on)

    def _poll(self, look: str, on: str) -> None:
        code = self.code
        code.block(look)
        code.stop_if(code.call("poll", "i1", "ptr %frame"), on)
        code.block(on)

    # -- values that are overwritten -------------------------------------------------------------------------

    def decide_about_values(self, steps: Sequence[Step], size: Expr) -> None:
        """Decide whether the rest of the steps may overwrite shared values, `size` bytes in all, in place.

        That happens with the GIL held and cannot be interrupted.  It saves memory that is fresh, which costs little
        beside much work.
        """
        code = self.code
        lonely = code.writer.value("i1", self.careful).widen("i32") + 1
        work = self.total(steps)
        total = code.value(work)
        long, very_long = self.more_than(work, LONG), self.more_than(work, IN_PLACE)
        price = code.value(Work({(): _FRESH_BYTE}).times(size).expression())
        cheap = code.compare("olt", "double", price, total)
        keeps = code.writer.value("i1", long) & (code.writer.value("i1", very_long) | code.writer.value("i1", cheap))
        self.keeps_values, self.lonely = keeps.name, keeps.select(-1, lonely).name
        code.forget()


def _double(value: float) -> str:
    return f"{value:.17e}"
