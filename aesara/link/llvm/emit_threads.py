"""Compiled functions among other threads: when the GIL is released, which guards are held, where Ctrl-C is looked for.

Steps that touch no Python object follow one another in a *stretch*.  Before one that is estimated to last longer than
`LONG` the GIL is released, after it taken again.  Calls that may release it hold references to the shared values that
they read; those that update also hold the guards of what they update (`link/guards.py`) from before the values are
read until the new ones are in place.  Calls that keep the GIL until they end need neither.

In the main thread, while the GIL is released, signals are looked for: in loops over steps, between steps, and in long
kernels after each of the pieces that their outermost loops are cut into.  This happens after every `PORTION` of
estimated work and comes to nothing if, by the clock, less than `PATIENCE` has gone by, since it needs the GIL.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

from aesara.ir.expr import Expr, const, op, walk
from aesara.ir.kernel import Kernel
from aesara.ir.program import Allocate, Launch, Loop, MatMul, Program, PythonCall, Step
from aesara.ir.work import UNKNOWN, Work, kernel_work, step_work
from aesara.link.llvm import layout
from aesara.link.llvm.emit_kernel import PORTION
from aesara.link.llvm.host_code import HostCode

__all__ = ["ENOUGH", "WEIGHTS", "ThreadCode", "guard_count", "may_be_cut", "needs_gil", "watcher_definitions"]

#: nanoseconds of estimated work for which the GIL is released
LONG = 20e3
#: seconds after which signals are looked for
PATIENCE = 0.04
#: nanoseconds of estimated work that may overwrite a shared value in place, with the GIL held
IN_PLACE = 20e6
#: signals are looked for after steps of so much weight together; steps last a `PORTION` or look by themselves, but for
#: products, which may be long
ENOUGH = 16
WEIGHTS = {Launch: 1, MatMul: 4, Loop: 4}
#: nanoseconds that a byte of fresh memory costs, in comparisons with what may be computed without the GIL meanwhile
_FRESH_BYTE = 2.5

_THREAD_ID = f"i{8 * ctypes.sizeof(ctypes.c_ulong)}"


def needs_gil(step: Step) -> bool:
    """Whether a step touches Python objects."""
    return isinstance(step, PythonCall) or (isinstance(step, Allocate) and step.output is not None)


def may_be_cut(kernel: Kernel) -> bool:
    """Whether a kernel's loops may last so long that signals are looked for in between."""
    constant = kernel_work(kernel).constant
    return constant is None or constant > PORTION


def guard_count(program: Program) -> int:
    """How many guards a call takes: one for each cell that it updates, and one more if it may run other functions."""
    updated = {number for _, number in program.updates}
    return len(updated) + int(bool(updated) and any(isinstance(s, PythonCall) for s in program.steps))


class ThreadCode(HostCode):
    """Emits what a function does for the sake of other threads and of signals."""

    def __init__(self, written: frozenset[str], complete: frozenset[str]) -> None:
        super().__init__(written)
        self.works: dict[int, Work] = {}
        #: buffers that hold their values from the beginning
        self.complete = complete
        #: i1: this call holds references to shared values and, if it updates some, guards
        self.careful: str = "false"
        #: i1: no shared value is overwritten in place; None as long as none could be
        self.keeps_values: str | None = None
        #: i32: references to a shared value that nobody else sees, and that may be overwritten
        self.lonely = "1"
        #: whether the GIL may have been released at this point, and anywhere
        self.stretch_may_be_long = False
        self.may_release = False

    # -- estimates -------------------------------------------------------------------------------------------

    def work(self, steps: Iterable[Step]) -> Work:
        """The work of steps, in sizes that are known here."""
        total = Work()
        for step in steps:
            total += self.step_work(step)
        return self.known(total)

    def step_work(self, step: Step) -> Work:
        """The work of a step, in any sizes."""
        found = self.works.get(id(step))
        if found is None:
            found = self.works[id(step)] = step_work(step)
        return found

    def known(self, work: Work) -> Work:
        """Work in sizes that are known here."""
        return work.replace(lambda size: size if self._is_known(size) else const(UNKNOWN))

    def _is_known(self, size: Expr) -> bool:
        here = len(self.emitter.scopes)
        return all(
            e.attr in self.complete if e.op == "load" else self.emitter.variables.get(e.attr, ("", here))[1] < here
            for e in walk([size])
            if e.op in ("load", "var")
        )

    def stretches(self, steps: Sequence[Step]) -> Iterator[Sequence[Step]]:
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

    def runs(self, steps: Iterable[Step]) -> Iterator[tuple[bool, list[Step]]]:
        """Steps in runs that need the GIL (True) or do not."""
        for with_gil, run in itertools.groupby(steps, needs_gil):
            yield with_gil, list(run)

    def total(self, steps: Iterable[Step]) -> Expr:
        """The work of all stretches of the steps, of what is known here."""
        parts = [
            self.work(part).expression()
            for with_gil, run in self.runs(steps)
            if not with_gil
            for part in self.stretches(run)
        ]
        return functools.reduce(lambda a, b: op("add", a, b), parts) if parts else const(0.0, "float64")

    def more_than(self, work: Expr, limit: float) -> str:
        """An i1: whether there is more work than that."""
        return self.compare("ogt", "double", self.value(work), _double(limit))

    # -- the GIL ---------------------------------------------------------------------------------------------

    def release_gil(self, steps: Sequence[Step]) -> bool:
        """Release the GIL if a stretch is long; returns whether it may be."""
        work = self.work(steps)
        if work.constant is not None:
            long = "true" if work.constant > LONG else "false"
        else:
            long = self.more_than(work.expression(), LONG)
        if self.keeps_values is not None and long != "false":
            both = self.fresh("c")
            self.add(f"{both} = and i1 {long}, {self.keeps_values}")
            long = both
        if long == "false":
            return False
        if not self.may_release:
            self.may_release = True
            self.module.helper("@ae.release", watcher_definitions())
            self.allocas.append(f"%watcher = alloca [{layout.WATCHER_WORDS} x i64]")
            for word in (layout.WATCHER_THREAD, layout.WATCHER_SELF):
                address = self.fresh("w")
                self.allocas += [
                    f"{address} = getelementptr i8, ptr %watcher, i64 {word}", f"store ptr null, ptr {address}"
                ]  # fmt: skip
        release, on = self.label("release"), self.label("on")
        self.branch(long, release, on)
        self.block(release)
        self.add("call void @ae.release(ptr %watcher, ptr %table)", f"br label %{on}")
        self.block(on)
        return True

    def take_gil(self) -> None:
        """Take the GIL if it was released."""
        take, on = self.label("take"), self.label("on")
        thread = self.field("%watcher", layout.WATCHER_THREAD)
        self.branch(self.compare("eq", "ptr", thread, "null"), on, take, likely=on)
        self.block(take)
        self.add("call void @ae.take(ptr %watcher, ptr %table)", f"br label %{on}")
        self.block(on)

    def thread_id(self) -> str:
        """The identifier of this thread."""
        me = self.call("PyThread_get_thread_ident", _THREAD_ID)
        if _THREAD_ID == "i64":
            return me
        wide = self.fresh("i")
        self.add(f"{wide} = zext {_THREAD_ID} {me} to i64")
        return wide

    # -- signals ---------------------------------------------------------------------------------------------

    def watcher(self) -> str:
        """What looks for signals: null if nobody does."""
        return self.field("%watcher", layout.WATCHER_SELF) if self.stretch_may_be_long else "null"

    def look(self) -> None:
        """Look for signals, if the clock says that it is time."""
        look, on = self.label("look"), self.label("on")
        watcher = self.watcher()
        self.branch(self.compare("eq", "ptr", watcher, "null"), on, look, likely=on)
        self.block(look)
        self._poll(watcher, on)
        self.block(on)

    def rounds(self, work: Work) -> str:
        """How many rounds of a loop with so much work each take about a `PORTION`: a power of two, less one (an i64).

        It is -1 where nobody looks for signals.
        """
        if not self.stretch_may_be_long:
            return "-1"
        each = self.value(work.expression())
        least, share, number, zeros, power, mask, rounds = (self.fresh("d") for _ in range(7))
        for name, declared in (
            ("maxnum.f64", "double @llvm.maxnum.f64(double, double)"), ("ctlz.i64", "i64 @llvm.ctlz.i64(i64, i1)"),
        ):  # fmt: skip
            self.module.declare(f"@llvm.{name}", f"declare {declared}")
        nobody = self.compare("eq", "ptr", self.watcher(), "null")
        self.add(
            f"{least} = call double @llvm.maxnum.f64(double {each}, double {_double(1.0)})",
            f"{share} = fdiv double {_double(PORTION)}, {least}",
            f"{number} = fptosi double {share} to i64",
            f"{zeros} = call i64 @llvm.ctlz.i64(i64 {number}, i1 false)",
            f"{power} = lshr i64 -1, {zeros}",
            f"{mask} = lshr i64 {power}, 1",
            f"{rounds} = select i1 {nobody}, i64 -1, i64 {mask}",
        )
        return rounds

    def look_after_round(self, index: str, rounds: str) -> None:
        """At the end of a round of a loop, look for signals if it is time."""
        if not self.stretch_may_be_long:
            return
        following, place = self.fresh("n"), self.fresh("n")
        self.add(f"{following} = add i64 {index}, 1", f"{place} = and i64 {following}, {rounds}")
        look, on = self.label("look"), self.label("on")
        self.branch(self.compare("eq", "i64", place, "0"), look, on, likely=on)
        self.block(look)
        self._poll(self.watcher(), on)
        self.block(on)

    def _poll(self, watcher: str, on: str) -> None:
        stop = self.fresh("c")
        self.add(f"{stop} = call i1 @ae.poll(ptr {watcher})")
        self.branch(stop, "cleanup", on)

    # -- guards ----------------------------------------------------------------------------------------------

    def take_guards(self, first_word: int, count: int, entry: str) -> None:
        """Take the guards in `count` words of the table, unless the call is short and nobody has any.

        If this has to wait, values that were read before are old: the call is made once more, at `entry`.
        """
        self.module.helper("@ae.guards", guards_definition())
        self.variable("guarded", "i1", "false")
        self.guards_of_call = f"ptr %table, i64 {first_word}, i64 {count}"
        state = self.word("state")
        native = self.field(state, layout.STATE_NATIVE, "i64")
        others = self.field(state, layout.STATE_PYTHON, "i64")
        anybody, needed = self.fresh("g"), self.fresh("c")
        self.add(f"{anybody} = or i64 {native}, {others}")
        some = self.compare("ne", "i64", anybody, "0")
        self.add(f"{needed} = or i1 {some}, {self.careful}")
        ask, wait, failed, fine, go = (self.label(s) for s in ("ask", "wait", "failed", "fine", "go"))
        self.branch(needed, ask, go)
        self.block(ask)
        taken = self.fresh("c")
        self.add(f"{taken} = call i1 @ae.guards.take({self.guards_of_call}, i64 {self.thread_id()})")
        self.add(f"store i1 {taken}, ptr %guarded")
        self.branch(taken, go, wait)
        self.block(wait)
        self._count_call(state, 1)
        got = self.call_python("wait")
        self.branch(self.compare("eq", "ptr", got, "null"), failed, fine)
        self.block(failed)
        self._count_call(state, -1)
        self.add("br label %cleanup")
        self.block(fine)
        self.call("Py_DecRef", "void", f"ptr {got}")
        self.add("store i1 true, ptr %guarded")
        answer = self.fresh("r")
        self.add(f"{answer} = call ptr @{entry}(ptr %self, ptr %args, i64 %nargs, ptr %names)")
        self.add(f"store ptr {answer}, ptr %again", "br label %anew")
        self.block(go)

    def give_guards(self) -> None:
        """Give back the guards that this call has."""
        give, on = self.label("give"), self.label("on")
        self.branch(self.read("guarded", "i1"), give, on)
        self.block(give)
        self.add(f"call void @ae.guards.give({self.guards_of_call})", f"br label %{on}")
        self.block(on)

    def _count_call(self, state: str, change: int) -> None:
        new = self.fresh("n")
        self.add(f"{new} = add i64 {self.field(state, layout.STATE_NATIVE, 'i64')}, {change}")
        self.set_field(state, layout.STATE_NATIVE, new, "i64")

    # -- values that are read --------------------------------------------------------------------------------

    def hold_cells(self, first_word: int, count: int) -> None:
        """Hold references to what is in cells, if the call is careful."""
        self.module.helper("@ae.hold", _HOLD)
        self.allocas.append(f"%held = alloca [{count} x ptr]")
        self.variable("holding", "i64", "0")
        hold, on = self.label("hold"), self.label("on")
        self.branch(self.careful, hold, on)
        self.block(hold)
        cells, increase = self.fresh("g"), self.word("Py_IncRef")
        self.add(
            f"{cells} = getelementptr i64, ptr %table, i64 {first_word}",
            f"call void @ae.hold(ptr {cells}, i64 {count}, ptr %held, ptr {increase})",
            f"store i64 {count}, ptr %holding",
            f"br label %{on}",
        )
        self.block(on)

    def drop_held(self) -> None:
        """Give up the references that `hold_cells` has taken."""
        decrease = self.word("Py_DecRef")
        self.add(f"call void @ae.drop(ptr %held, i64 {self.read('holding', 'i64')}, ptr {decrease})")

    # -- values that are overwritten -------------------------------------------------------------------------

    def decide_about_values(self, steps: Sequence[Step], size: Expr) -> None:
        """Decide whether the rest of the steps may overwrite shared values, `size` bytes in all, in place.

        That happens with the GIL held and cannot be interrupted.  It saves memory that is fresh, which costs little
        beside much work.
        """
        own, lonely = self.fresh("h"), self.fresh("h")
        self.add(f"{own} = zext i1 {self.careful} to i32", f"{lonely} = add i32 {own}, 1")
        work = self.total(steps)
        total = self.value(work)
        long, very_long = self.more_than(work, LONG), self.more_than(work, IN_PLACE)
        price = self.value(Work({(): _FRESH_BYTE}).times(size).expression())
        cheap = self.compare("olt", "double", price, total)
        self.keeps_values, self.lonely = self.fresh("c"), self.fresh("h")
        self.add(
            f"{self.keeps_values}.any = or i1 {very_long}, {cheap}",
            f"{self.keeps_values} = and i1 {long}, {self.keeps_values}.any",
            f"{self.lonely} = select i1 {self.keeps_values}, i32 -1, i32 {lonely}",
        )


#: ``@ae.hold(cells, count, held, increase)`` takes references to what is in cells, ``@ae.drop`` gives them up
_HOLD = f"""
define internal void @ae.hold(ptr %cells, i64 %count, ptr %held, ptr %increase) noinline nounwind {{
entry:
  br label %hold
hold:
  %i = phi i64 [0, %entry], [%i.next, %hold]
  %p = getelementptr ptr, ptr %cells, i64 %i
  %cell = load ptr, ptr %p
  %items.p = getelementptr i8, ptr %cell, i64 {layout.LIST_ITEMS}
  %items = load ptr, ptr %items.p
  %object = load ptr, ptr %items
  call void %increase(ptr %object)
  %q = getelementptr ptr, ptr %held, i64 %i
  store ptr %object, ptr %q
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %hold, label %done
done:
  ret void
}}

define internal void @ae.drop(ptr %objects, i64 %count, ptr %decrease) noinline nounwind {{
entry:
  br label %look
look:
  %i = phi i64 [0, %entry], [%i.next, %drop]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %drop, label %done
drop:
  %p = getelementptr ptr, ptr %objects, i64 %i
  %object = load ptr, ptr %p
  call void %decrease(ptr %object)
  %i.next = add i64 %i, 1
  br label %look
done:
  ret void
}}"""


def _double(value: float) -> str:
    return f"{value:.17e}"


def watcher_definitions() -> str:
    """What is done with watchers.

    ``@ae.poll(watcher)`` runs the handlers of signals that have come, and returns whether one of them has raised;
    ``@ae.release(watcher, table)`` releases the GIL, and ``@ae.take(watcher, table)`` takes it again.
    """
    poll = ThreadCode(frozenset(), frozenset())
    poll.add(f"%table = select i1 true, ptr {poll.field('%watcher', layout.WATCHER_TABLE)}, ptr null")
    now, before = poll.clock(), poll.field("%watcher", layout.WATCHER_TIME, "i64")
    passed = poll.fresh("n")
    poll.add(f"{passed} = sub i64 {now}, {before}")
    poll.demand(poll.compare("sge", "i64", passed, str(poll.ticks(PATIENCE))), "early")
    poll.set_field("%watcher", layout.WATCHER_TIME, now, "i64")
    poll.call("PyEval_RestoreThread", "void", f"ptr {poll.field('%watcher', layout.WATCHER_THREAD)}")
    answer = poll.call("PyErr_CheckSignals", "i32")
    poll.call("PyEval_SaveThread", "ptr")
    poll.add(f"ret i1 {poll.compare('ne', 'i32', answer, '0')}", "early:", "ret i1 false")

    release = ThreadCode(frozenset(), frozenset())
    main = release.field(release.word("state"), layout.STATE_MAIN, "i64")
    is_main, own = release.compare("eq", "i64", release.thread_id(), main), release.fresh("w")
    release.add(f"{own} = select i1 {is_main}, ptr %watcher, ptr null")
    release.set_field("%watcher", layout.WATCHER_SELF, own)
    release.set_field("%watcher", layout.WATCHER_TIME, release.clock(), "i64")
    release.set_field("%watcher", layout.WATCHER_TABLE, "%table")
    release.set_field("%watcher", layout.WATCHER_THREAD, release.call("PyEval_SaveThread", "ptr"))
    release.add("ret void")

    take = ThreadCode(frozenset(), frozenset())
    take.call("PyEval_RestoreThread", "void", f"ptr {take.field('%watcher', layout.WATCHER_THREAD)}")
    take.set_field("%watcher", layout.WATCHER_THREAD, "null")
    take.set_field("%watcher", layout.WATCHER_SELF, "null")
    take.add("ret void")

    heads = (
        "i1 @ae.poll(ptr %watcher)",
        "void @ae.release(ptr %watcher, ptr %table)",
        "void @ae.take(ptr %watcher, ptr %table)",
    )
    # Rarely called, and in every module: not worth the optimiser's time.
    attributes = "noinline optnone nounwind cold"
    return "\n\n".join(
        "\n".join([f"define internal {head} {attributes} {{", "entry:", *code.allocas, *code.code, "}"])
        for head, code in zip(heads, (poll, release, take), strict=True)
    )


def guards_definition() -> str:
    """``@ae.guards.take``: take all guards if nobody else has or wants any; ``@ae.guards.give``: give them back.

    The guards are words of the table.  Both keep count of the calls with guards.
    """
    words = f"""
  %state.p = getelementptr i64, ptr %table, i64 {layout.WORD["state"]}
  %state = load ptr, ptr %state.p
  %calls.p = getelementptr i8, ptr %state, i64 {layout.STATE_NATIVE}
  %calls = load i64, ptr %calls.p
  %guards = getelementptr i64, ptr %table, i64 %first"""
    return f"""
define internal i1 @ae.guards.take(ptr %table, i64 %first, i64 %count, i64 %me) noinline nounwind {{
entry:{words}
  br label %look
look:
  %i = phi i64 [0, %entry], [%i.next, %next]
  %p = getelementptr ptr, ptr %guards, i64 %i
  %guard = load ptr, ptr %p
  %owner.p = getelementptr i8, ptr %guard, i64 {layout.GUARD_OWNER}
  %wanted.p = getelementptr i8, ptr %guard, i64 {layout.GUARD_WANTED}
  %owner = load i64, ptr %owner.p
  %wanted = load i64, ptr %wanted.p
  %mine = icmp eq i64 %owner, %me
  %either = or i64 %owner, %wanted
  %free = icmp eq i64 %either, 0
  %good = or i1 %mine, %free
  br i1 %good, label %next, label %refused
next:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %look, label %take
take:
  %k = phi i64 [0, %next], [%k.next, %take]
  %q = getelementptr ptr, ptr %guards, i64 %k
  %taken = load ptr, ptr %q
  %holder = getelementptr i8, ptr %taken, i64 {layout.GUARD_OWNER}
  store i64 %me, ptr %holder
  %depth.p = getelementptr i8, ptr %taken, i64 {layout.GUARD_DEPTH}
  %depth = load i64, ptr %depth.p
  %deeper = add i64 %depth, 1
  store i64 %deeper, ptr %depth.p
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %count
  br i1 %k.more, label %take, label %done
done:
  %calls.more = add i64 %calls, 1
  store i64 %calls.more, ptr %calls.p
  ret i1 true
refused:
  ret i1 false
}}

define internal void @ae.guards.give(ptr %table, i64 %first, i64 %count) noinline nounwind {{
entry:{words}
  %calls.less = sub i64 %calls, 1
  store i64 %calls.less, ptr %calls.p
  %ring.p = getelementptr i64, ptr %table, i64 {layout.WORD["PyThread_release_lock"]}
  %ring = load ptr, ptr %ring.p
  br label %give
give:
  %i = phi i64 [0, %entry], [%i.next, %next]
  %p = getelementptr ptr, ptr %guards, i64 %i
  %guard = load ptr, ptr %p
  %depth.p = getelementptr i8, ptr %guard, i64 {layout.GUARD_DEPTH}
  %depth = load i64, ptr %depth.p
  %less = sub i64 %depth, 1
  store i64 %less, ptr %depth.p
  %free = icmp eq i64 %less, 0
  br i1 %free, label %open, label %next
open:
  %owner.p = getelementptr i8, ptr %guard, i64 {layout.GUARD_OWNER}
  store i64 0, ptr %owner.p
  %bell.p = getelementptr i8, ptr %guard, i64 {layout.GUARD_BELL}
  %bell = load ptr, ptr %bell.p
  %silent = icmp eq ptr %bell, null
  br i1 %silent, label %next, label %ring.it
ring.it:
  call void %ring(ptr %bell)
  br label %next
next:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %count
  br i1 %more, label %give, label %done
done:
  ret void
}}"""
