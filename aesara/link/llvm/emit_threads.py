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
from collections.abc import Iterable, Iterator, Sequence

from aesara.ir.expr import Expr, const, walk
from aesara.ir.kernel import Kernel
from aesara.ir.program import Allocate, Program, PythonCall, Step
from aesara.ir.work import UNKNOWN, Work, kernel_work, step_work
from aesara.link.llvm import layout
from aesara.link.llvm.host_code import HostCode

__all__ = ["ThreadCode", "guard_count", "may_be_cut", "needs_gil", "poll_definition"]

#: nanoseconds of estimated work for which the GIL is released
LONG = 20e3
#: nanoseconds of estimated work after which the clock is read
PORTION = 3e6
#: seconds after which signals are looked for
PATIENCE = 0.04
#: nanoseconds of estimated work that may overwrite a shared value in place, with the GIL held
IN_PLACE = 20e6
#: nanoseconds of a step that is not worth counting
_NOTHING = 1e5
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
        #: buffers that hold their values from the beginning
        self.complete = complete
        #: i1: this call holds references to shared values and, if it updates some, guards
        self.careful: str = "false"
        #: i1: no shared value is overwritten in place; None as long as none could be
        self.keeps_values: str | None = None
        #: whether the GIL may have been released at this point, and anywhere
        self.stretch_may_be_long = False
        self.may_release = False

    # -- estimates -------------------------------------------------------------------------------------------

    def work(self, steps: Iterable[Step]) -> Work:
        """The work of steps, in sizes that are known here."""
        total = Work()
        for step in steps:
            total += step_work(step)
        return self.known(total)

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
        return all(self._is_known(size) for step in steps for sizes in step_work(step).terms for size in sizes)

    def more_than(self, work: Work, limit: float) -> str:
        """An i1: whether there is more work than that."""
        if work.constant is not None:
            return "true" if work.constant > limit else "false"
        return self.compare("ogt", "double", self.value(work.expression()), _double(limit))

    # -- the GIL ---------------------------------------------------------------------------------------------

    def release_gil(self, steps: Sequence[Step]) -> bool:
        """Release the GIL if a stretch is long; returns whether it may be."""
        long = self.more_than(self.work(steps), LONG)
        if not self.may_release and long != "false":
            self.variable("thread")  # its state while the GIL is released
            self.allocas.append(f"%watcher = alloca [{layout.WATCHER_WORDS} x i64]")
            self.variable("watch")  # the address of this in the main thread while the GIL is released, or null
            self.variable("left", "double", _double(PORTION))  # work until signals are looked for
        if self.keeps_values is not None and long != "false":
            both = self.fresh("c")
            self.add(f"{both} = and i1 {long}, {self.keeps_values}")
            long = both
        if long == "false":
            return False
        release, on = self.label("release"), self.label("on")
        self.branch(long, release, on)
        self.block(release)
        me = self.thread_id()
        main = self.compare("eq", "i64", me, self.field(self.word("state"), layout.STATE_MAIN, "i64"))
        thread, watch = self.call("PyEval_SaveThread", "ptr"), self.fresh("w")
        self.set_field("%watcher", layout.WATCHER_THREAD, thread)
        self.set_field("%watcher", layout.WATCHER_TIME, self.clock(), "i64")
        self.set_field("%watcher", layout.WATCHER_TABLE, "%table")
        self.add(
            f"store ptr {thread}, ptr %thread",
            f"{watch} = select i1 {main}, ptr %watcher, ptr null",
            f"store ptr {watch}, ptr %watch",
            f"br label %{on}",
        )
        self.block(on)
        self.may_release = True
        return True

    def take_gil(self) -> None:
        """Take the GIL if it was released."""
        thread = self.read("thread")
        take, on = self.label("take"), self.label("on")
        self.branch(self.compare("eq", "ptr", thread, "null"), on, take, likely=on)
        self.block(take)
        self.call("PyEval_RestoreThread", "void", f"ptr {thread}")
        self.add("store ptr null, ptr %thread", "store ptr null, ptr %watch", f"br label %{on}")
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
        nobody = self.compare("eq", "ptr", self.read("watch"), "null")
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
        self._poll(self.read("watch"), on)
        self.block(on)

    def _poll(self, watch: str, on: str) -> None:
        self.module.helper("@ae.poll", poll_definition())
        stop = self.fresh("c")
        self.add(f"{stop} = call i1 @ae.poll(ptr {watch})")
        self.branch(stop, "cleanup", on)

    def spend(self, work: Work) -> None:
        """In a stretch that may be long: count work that is done, and look for signals if it is time."""
        nothing = work.constant is not None and work.constant < _NOTHING
        if nothing or not self.stretch_may_be_long:
            return
        done = self.value(work.expression())
        count, look, on = self.label("count"), self.label("look"), self.label("on")
        watch = self.read("watch")
        self.branch(self.compare("eq", "ptr", watch, "null"), on, count, likely=on)
        self.block(count)
        before, after = self.read("left", "double"), self.fresh("d")
        self.add(f"{after} = fsub double {before}, {done}", f"store double {after}, ptr %left")
        self.branch(self.compare("olt", "double", after, _double(0.0)), look, on, likely=on)
        self.block(look)
        self.add(f"store double {_double(PORTION)}, ptr %left")
        self._poll(watch, on)
        self.block(on)

    def cut(self, work: Work) -> str:
        """What a kernel with so much work takes as its watcher, which says into how many pieces its loops are cut."""
        if not self.stretch_may_be_long:
            return "null"
        total = self.value(work.expression())
        self.module.declare("@llvm.minnum.f64", "declare double @llvm.minnum.f64(double, double)")
        watch, several, on = self.read("watch"), self.label("several"), self.label("on")
        self.branch(self.compare("eq", "ptr", watch, "null"), on, several, likely=on)
        self.block(several)
        portions, bounded, whole, pieces = (self.fresh("d") for _ in range(4))
        self.add(
            f"{portions} = fmul double {total}, {_double(1 / PORTION)}",
            f"{bounded} = call double @llvm.minnum.f64(double {portions}, double {_double(1e9)})",
            f"{whole} = fptosi double {bounded} to i64",
            f"{pieces} = add i64 {whole}, 1",
        )
        self.set_field(watch, layout.WATCHER_PIECES, pieces, "i64")
        self.add(f"br label %{on}")
        self.block(on)
        return watch

    # -- guards ----------------------------------------------------------------------------------------------

    def take_guards(self, first_word: int, count: int, again: str) -> None:
        """Take the guards in `count` words of the table, unless the call is short and nobody has any.

        Values that were read before are to be read again, from `again` on, if this had to wait.
        """
        self.module.helper("@ae.guards", guards_definition())
        self.variable("guarded", "i64", "0")
        state = self.word("state")
        native = self.field(state, layout.STATE_NATIVE, "i64")
        others = self.field(state, layout.STATE_PYTHON, "i64")
        anybody, alone = self.fresh("g"), self.fresh("c")
        self.add(f"{anybody} = or i64 {native}, {others}")
        none = self.compare("eq", "i64", anybody, "0")
        self.add(f"{alone} = xor i1 {self.careful}, true")
        self.add(f"{alone}.now = and i1 {none}, {alone}")
        detail, ask, wait, go = (self.label(s) for s in ("guards", "ask", "wait", "go"))
        self.branch(f"{alone}.now", go, detail, likely=go)
        self.block(detail)
        guarded = self.read("guarded", "i64")
        self.branch(self.compare("eq", "i64", guarded, "0"), ask, go)
        self.block(ask)
        self._count_holder(state, 1)
        self.add("store i64 1, ptr %guarded")
        guards, taken = self.fresh("g"), self.fresh("c")
        self.add(f"{guards} = getelementptr i64, ptr %table, i64 {first_word}")
        self.add(f"{taken} = call i1 @ae.guards.take(ptr {guards}, i64 {count}, i64 {self.thread_id()})")
        self.branch(taken, go, wait)
        self.block(wait)
        got = self.call_python("wait")
        failed = self.label("failed")
        fine = self.label("fine")
        self.branch(self.compare("eq", "ptr", got, "null"), failed, fine)
        self.block(failed)
        self._count_holder(state, -1)
        self.add("store i64 0, ptr %guarded", "br label %cleanup")
        self.block(fine)
        self.call("Py_DecRef", "void", f"ptr {got}")
        self.add(f"br label %{again}")
        self.block(go)

    def give_guards(self, first_word: int, count: int) -> None:
        """Give back the guards that this call has."""
        give, on = self.label("give"), self.label("on")
        guarded = self.read("guarded", "i64")
        self.branch(self.compare("eq", "i64", guarded, "0"), on, give, likely=on)
        self.block(give)
        guards = self.fresh("g")
        self.add(f"{guards} = getelementptr i64, ptr %table, i64 {first_word}")
        self.add(f"call void @ae.guards.give(ptr {guards}, i64 {count}, ptr {self.word('PyThread_release_lock')})")
        self._count_holder(self.word("state"), -1)
        self.add("store i64 0, ptr %guarded", f"br label %{on}")
        self.block(on)

    def _count_holder(self, state: str, change: int) -> None:
        new = self.fresh("n")
        self.add(f"{new} = add i64 {self.field(state, layout.STATE_NATIVE, 'i64')}, {change}")
        self.set_field(state, layout.STATE_NATIVE, new, "i64")

    # -- values that are overwritten -------------------------------------------------------------------------

    def decide_about_values(self, steps: Sequence[Step], size: Expr) -> None:
        """Decide whether the rest of the steps may overwrite shared values, `size` bytes in all, in place.

        That happens with the GIL held and cannot be interrupted.  It saves memory that is fresh, which costs little
        beside much work.
        """
        work = self.work(steps)
        if work.constant is not None and work.constant <= LONG:
            self.keeps_values = "false"
            return
        total = self.value(work.expression())
        long = self.compare("ogt", "double", total, _double(LONG))
        very_long = self.compare("ogt", "double", total, _double(IN_PLACE))
        price = self.value(Work({(): _FRESH_BYTE}).times(size).expression())
        cheap = self.compare("olt", "double", price, total)
        self.keeps_values = self.fresh("c")
        self.add(
            f"{self.keeps_values}.any = or i1 {very_long}, {cheap}",
            f"{self.keeps_values} = and i1 {long}, {self.keeps_values}.any",
        )


def _double(value: float) -> str:
    return f"{value:.17e}"


def poll_definition() -> str:
    """``@ae.poll(watcher)``: run the handlers of signals that have come; whether one of them has raised."""
    code = HostCode(frozenset())
    code.add(f"%table = select i1 true, ptr {code.field('%watcher', layout.WATCHER_TABLE)}, ptr null")
    now, before = code.clock(), code.field("%watcher", layout.WATCHER_TIME, "i64")
    passed = code.fresh("n")
    code.add(f"{passed} = sub i64 {now}, {before}")
    code.demand(code.compare("sge", "i64", passed, str(code.ticks(PATIENCE))), "early")
    code.set_field("%watcher", layout.WATCHER_TIME, now, "i64")
    code.call("PyEval_RestoreThread", "void", f"ptr {code.field('%watcher', layout.WATCHER_THREAD)}")
    answer = code.call("PyErr_CheckSignals", "i32")
    code.call("PyEval_SaveThread", "ptr")
    code.add(f"ret i1 {code.compare('ne', 'i32', answer, '0')}", "early:", "ret i1 false")
    text = "\n".join([*code.allocas, *code.code])
    return f"define internal i1 @ae.poll(ptr %watcher) noinline nounwind cold {{\nentry:\n{text}\n}}"


def guards_definition() -> str:
    """``@ae.guards.take``: take all guards if nobody else has or wants any; ``@ae.guards.give``: give them back."""
    return f"""
define internal i1 @ae.guards.take(ptr %guards, i64 %count, i64 %me) noinline nounwind {{
entry:
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
  ret i1 true
refused:
  ret i1 false
}}

define internal void @ae.guards.give(ptr %guards, i64 %count, ptr %ring) noinline nounwind {{
entry:
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
