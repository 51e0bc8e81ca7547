"""Threads and signals: routines that release and take the GIL and check for signals.

==================================  =================================================================================
``release(frame, table, plan,       release the GIL; in the main thread the frame becomes a watcher; arrays that the
args)``                             call reads are pinned, so that no other thread can resize them
``take(frame, table, plan)``        take the GIL, if it was released
``poll(watcher)``                   run the handlers of pending signals; returns whether one of them has raised
``chunk(watcher, from, to, work)``  end of the chunk of a loop that begins at `from`, if each iteration takes `work`
                                    nanoseconds; -1 if the loop is to be stopped
``rounds(watcher, work)``           number of iterations of `work` nanoseconds that take about a `PORTION`: a power of
                                    two minus one; -1 without a watcher
==================================  =================================================================================
"""

from __future__ import annotations

import ctypes

from aesara.link.llvm.clock import system_clock

__all__ = ["PATIENCE", "PORTION", "thread_text", "threads_text"]

#: seconds between checks for signals
PATIENCE = 0.04
#: estimated work of a chunk of a loop, in nanoseconds
PORTION = 3e6

_THREAD_ID = f"i{8 * ctypes.sizeof(ctypes.c_ulong)}"


def threads_text() -> str:
    """Return the routines for the clock of this system; they call `me`."""
    clock = system_clock()
    patience = 0 if clock is None else round(PATIENCE / clock.tick)  # without a clock every check is due
    return "\n".join((_TEXT.replace("_PATIENCE", str(patience)).replace("_PORTION", f"{PORTION:.17e}"), _now()))


def _now() -> str:
    """Return code for the time in ticks; 0 without a clock."""
    clock = system_clock()
    lines = ["ret i64 0"]
    if clock is not None and clock.number is None:
        lines = ["ask i32 clock(ptr %now)", "%ticks = load i64, ptr %now", "ret i64 %ticks"]
    elif clock is not None:
        lines = [
            f"%r = ask i32 clock(i32 {clock.number}, ptr %now)",
            "%seconds = load i64, ptr %now",
            "%rest = field i64 %now, 8",
            "%scaled = mul i64 %seconds, 1000000000",
            "%total = add i64 %scaled, %rest",
            "ret i64 %total",
        ]
    head = "define internal i64 @ae.now(ptr %table) nounwind cold {"
    return "\n".join([head, "entry:", "%now = alloca [2 x i64]", *lines, "}"])


def thread_text() -> str:
    """Return ``me(table)``, which returns the identifier of this thread."""
    lines = [f"%me = ask {_THREAD_ID} PyThread_get_thread_ident()"]
    lines += ["ret i64 %me"] if _THREAD_ID == "i64" else [f"%wide = zext {_THREAD_ID} %me to i64", "ret i64 %wide"]
    return "\n".join(["define internal i64 @ae.me(ptr %table) nounwind {", "entry:", *lines, "}"])


_TEXT = """
define void @ae.release(ptr %frame, ptr %table, ptr %plan, ptr %args) nounwind {
entry:
  call void @ae.pin(ptr %frame, ptr %table, ptr %plan, ptr %args)
  set ptr %table, %frame, FRAME_TABLE
  %chunk = word chunk
  set ptr %chunk, %frame, FRAME_CHUNK
  %state = word state
  %main = field i64 %state, STATE_MAIN
  %me = call i64 @ae.me(ptr %table)
  %is.main = icmp eq i64 %me, %main
  %watcher = select i1 %is.main, ptr %frame, ptr null
  set ptr %watcher, %frame, FRAME_WATCHER
  %now = call i64 @ae.now(ptr %table)
  set i64 %now, %frame, FRAME_TIME
  %thread = ask ptr PyEval_SaveThread()
  set ptr %thread, %frame, FRAME_THREAD
  ret void
}

define void @ae.take(ptr %frame, ptr %table, ptr %plan) nounwind {
entry:
  %thread = field ptr %frame, FRAME_THREAD
  %has.it = icmp eq ptr %thread, null
  br i1 %has.it, label %done, label %take
take:
  ask void PyEval_RestoreThread(ptr %thread)
  set ptr null, %frame, FRAME_THREAD
  set ptr null, %frame, FRAME_WATCHER
  call void @ae.unpin(ptr %frame, ptr %table, ptr %plan)
  br label %done
done:
  ret void
}

; Create a weak reference to each array that the call reads: NumPy resizes no array that has one.
define internal void @ae.pin(ptr %frame, ptr %table, ptr %plan, ptr %args) nounwind {
entry:
  %array.type = word PyArray_Type
  %explicit = field i64 %plan, PLAN_EXPLICIT
  %holding = field i64 %frame, FRAME_HOLDING
  %count = add i64 %explicit, %holding
  %held.at = field i64 %plan, PLAN_HELD
  %held = at %frame, %held.at
  %pins.at = field i64 %plan, PLAN_PINS
  %pins = at %frame, %pins.at
  br label %next
next:
  %k = phi i64 [0, %entry], [%k.next, %put]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %find, label %done
find:
  %given = icmp slt i64 %k, %explicit
  br i1 %given, label %argument, label %value
argument:
  %one = item ptr %args, %k
  br label %look
value:
  %position = sub i64 %k, %explicit
  %other = item ptr %held, %position
  %none = icmp eq ptr %other, null
  br i1 %none, label %put, label %look
look:
  %object = phi ptr [%one, %argument], [%other, %value]
  %kind = field ptr %object, OBJECT_TYPE
  %is.array = icmp eq ptr %kind, %array.type
  br i1 %is.array, label %make, label %put
make:
  %made = ask ptr PyWeakref_NewRef(ptr %object, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %clear, label %put
clear:
  ask void PyErr_Clear()
  br label %put
put:
  %pin = phi ptr [null, %value], [null, %look], [%made, %make], [null, %clear]
  %place = getelementptr ptr, ptr %pins, i64 %k
  store ptr %pin, ptr %place
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}

define internal void @ae.unpin(ptr %frame, ptr %table, ptr %plan) nounwind {
entry:
  %explicit = field i64 %plan, PLAN_EXPLICIT
  %holding = field i64 %frame, FRAME_HOLDING
  %count = add i64 %explicit, %holding
  %pins.at = field i64 %plan, PLAN_PINS
  %pins = at %frame, %pins.at
  call void @ae.drop(ptr %table, ptr %pins, i64 %count)
  ret void
}

define i1 @ae.poll(ptr %frame) nounwind cold {
entry:
  %table = field ptr %frame, FRAME_TABLE
  %now = call i64 @ae.now(ptr %table)
  %before = field i64 %frame, FRAME_TIME
  %passed = sub i64 %now, %before
  %late = icmp sge i64 %passed, _PATIENCE
  br i1 %late, label %look, label %early
look:
  set i64 %now, %frame, FRAME_TIME
  %thread = field ptr %frame, FRAME_THREAD
  ask void PyEval_RestoreThread(ptr %thread)
  %answer = ask i32 PyErr_CheckSignals()
  %same = ask ptr PyEval_SaveThread()
  %raised = icmp ne i32 %answer, 0
  ret i1 %raised
early:
  ret i1 false
}

define i64 @ae.chunk(ptr %frame, i64 %from, i64 %to, double %work) nounwind cold {
entry:
  %first = icmp eq i64 %from, 0
  br i1 %first, label %go, label %look
look:
  %stop = call i1 @ae.poll(ptr %frame)
  br i1 %stop, label %stopped, label %go
go:
  %much = fcmp ogt double %work, 1.0e-3
  %each = select i1 %much, double %work, double 1.0e-3
  %share = fdiv double _PORTION, %each
  %whole = fptosi double %share to i64
  %more = add i64 %from, 1
  %end = add i64 %more, %whole
  %inside = icmp slt i64 %end, %to
  %until = select i1 %inside, i64 %end, i64 %to
  ret i64 %until
stopped:
  ret i64 -1
}

define i64 @ae.rounds(ptr %watcher, double %work) nounwind {
entry:
  %nobody = icmp eq ptr %watcher, null
  br i1 %nobody, label %never, label %count
count:
  %much = fcmp ogt double %work, 1.0
  %each = select i1 %much, double %work, double 1.0
  %share = fdiv double _PORTION, %each
  %number = fptosi double %share to i64
  %zeros = call i64 @llvm.ctlz.i64(i64 %number, i1 false)
  %power = lshr i64 -1, %zeros
  %mask = lshr i64 %power, 1
  ; shifting by all bits is undefined: a longer iteration is a chunk of its own
  %long = icmp eq i64 %number, 0
  %rounds = select i1 %long, i64 0, i64 %mask
  ret i64 %rounds
never:
  ret i64 -1
}
declare i64 @llvm.ctlz.i64(i64, i1)
"""
