"""Threads and signals: functions that release and take the GIL and check for signals."""

import ctypes

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import allocate, call_pointer, leading_zeros, view
from aesara.ir.typed.types import Pointer, f64, function_type, i1, i32, i64, null, u32, u64
from aesara.link.llvm.clock import system_clock
from aesara.link.llvm.runtime.structures import RUNTIME, CallFrame, CallPlan, FunctionTable, PyObject

__all__ = [
    "CLOCK_FACTS",
    "PATIENCE",
    "PORTION",
    "count_rounds",
    "drop",
    "end_of_chunk",
    "poll",
    "release_gil",
    "take_gil",
    "thread_number",
]

#: seconds between checks for signals
PATIENCE = 0.04
#: estimated work of a chunk of a loop, in nanoseconds
PORTION = 3e6

_CLOCK = system_clock()
#: the same in ticks; without a clock every check is due
_PATIENCE_TICKS = 0 if _CLOCK is None else round(PATIENCE / _CLOCK.tick)
_HAS_CLOCK = _CLOCK is not None
#: number of the clock for POSIX's ``clock_gettime``; -1 for a function of a pointer alone, which gets the ticks
_CLOCK_NUMBER = -1 if _CLOCK is None or _CLOCK.number is None else _CLOCK.number
#: what code depends on besides its sources
CLOCK_FACTS = (_PATIENCE_TICKS, _CLOCK_NUMBER)
_POSIX_CLOCK = function_type(i32, i32, Pointer[i64])
_TICKS_CLOCK = function_type(i32, Pointer[i64])

_THREAD_NUMBER = u32 if ctypes.sizeof(ctypes.c_ulong) == 4 else u64
_GET_THREAD_NUMBER = function_type(_THREAD_NUMBER)


@typed_function("ae.me", attributes=RUNTIME)
def thread_number(table: FunctionTable) -> i64:
    """Return the identifier of this thread."""
    return i64(call_pointer(_GET_THREAD_NUMBER, table.PyThread_get_thread_ident))


@typed_function("ae.now", attributes=f"{RUNTIME} cold")
def _now(table: FunctionTable) -> i64:
    """Return the time in ticks; 0 without a clock."""
    time = allocate(i64, 2)
    if not _HAS_CLOCK:
        return 0
    elif _CLOCK_NUMBER < 0:
        call_pointer(_TICKS_CLOCK, table.clock, time)
        return time[0]
    else:
        call_pointer(_POSIX_CLOCK, table.clock, _CLOCK_NUMBER, time)
        return time[0] * 1000000000 + time[1]


@typed_function("ae.release", attributes=RUNTIME)
def release_gil(frame: CallFrame, table: FunctionTable, plan: CallPlan, args: Pointer[PyObject]) -> None:
    """Release the GIL.

    In the main thread the frame becomes a watcher.  Arrays that the call reads are pinned, so that no other thread can
    resize them.
    """
    _pin(frame, table, plan, args)
    frame.table = table
    frame.chunk = table.chunk
    frame.watcher = frame if thread_number(table) == table.state.main_thread else null
    frame.time = _now(table)
    frame.thread = table.PyEval_SaveThread()


@typed_function("ae.take", attributes=RUNTIME)
def take_gil(frame: CallFrame, table: FunctionTable, plan: CallPlan) -> None:
    """Take the GIL, if it was released."""
    if frame.thread != null:
        table.PyEval_RestoreThread(frame.thread)
        frame.thread = null
        frame.watcher = null
        drop(table, view(frame, plan.pins_at, Pointer[PyObject]), plan.explicit + frame.holding)


@typed_function("ae.pin", attributes=RUNTIME)
def _pin(frame: CallFrame, table: FunctionTable, plan: CallPlan, args: Pointer[PyObject]) -> None:
    """Create a weak reference to each array that the call reads: NumPy resizes no array that has one."""
    explicit = plan.explicit
    held = view(frame, plan.held_at, Pointer[PyObject])
    pins = view(frame, plan.pins_at, Pointer[PyObject])
    for k in range(explicit + frame.holding):
        value = args[k] if k < explicit else held[k - explicit]
        pin: PyObject = null
        if value != null and value.type == table.PyArray_Type:
            pin = table.PyWeakref_NewRef(value, null)
            if pin == null:
                table.PyErr_Clear()
        pins[k] = pin


@typed_function("ae.drop", attributes=RUNTIME)
def drop(table: FunctionTable, objects: Pointer[PyObject], count: i64) -> None:
    """Drop references to objects, some of which may be null."""
    for k in range(count):
        table.Py_DecRef(objects[k])


@typed_function("ae.poll", attributes=f"{RUNTIME} cold")
def poll(watcher: CallFrame) -> i1:
    """Run the handlers of pending signals; return whether one of them has raised."""
    table: FunctionTable = watcher.table
    now = _now(table)
    if now - watcher.time < _PATIENCE_TICKS:
        return False
    watcher.time = now
    table.PyEval_RestoreThread(watcher.thread)
    answer = table.PyErr_CheckSignals()
    table.PyEval_SaveThread()
    return answer != 0


@typed_function("ae.chunk", attributes=f"{RUNTIME} cold")
def end_of_chunk(watcher: CallFrame, start: i64, stop: i64, work: f64) -> i64:
    """Return the end of the chunk of a loop that begins at `start`, if an iteration takes `work` ns; -1 to stop
    the loop."""
    if start != 0 and poll(watcher):
        return -1
    iterations = i64(PORTION / max(1e-3, work))
    return min(max(stop, 0), start + 1 + iterations)  # an empty loop may have a negative trip count


@typed_function("ae.rounds", attributes=RUNTIME)
def count_rounds(watcher: CallFrame, work: f64) -> i64:
    """Return the number of iterations of `work` nanoseconds that take about a `PORTION`: a power of two minus one; -1
    without a watcher."""
    if watcher == null:
        return -1
    iterations = i64(PORTION / max(1.0, work))
    if iterations == 0:
        return 0  # a long iteration is a chunk of its own
    return i64(u64(-1) >> u64(leading_zeros(iterations))) >> 1
