"""Loops that several threads may run: by one thread if they are short, else together with the workers of the pool.

`sharing` has the code for several threads, which is loaded when the pool starts.
"""

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import address_of, call_pointer
from aesara.ir.typed.types import Pointer, f64, function_type, i1, i64, null, ptr
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.structures import RUNTIME, CallFrame, FunctionTable, WorkerPool
from aesara.link.llvm.runtime.threads import end_of_chunk

__all__ = ["CALLS", "LEAST_WORK", "PLAIN", "WATCHED", "WORDS", "accumulate_in_slices", "run_in_slices", "run_part"]

#: least estimated work for each thread, in nanoseconds: the estimates are several times too large on fast processors,
#: where a second thread pays from some 50 microseconds
LEAST_WORK = 150e3
#: forms of functions that run a part of a loop: from the bounds; the same with a watcher, and returns whether a handler
#: of signals has raised; one iteration. An iteration of the last form is a strip of a block: for `form` strips per
#: block, the function is called with the numbers of the block and of the strip.
PLAIN, WATCHED, _SINGLE = -1, 0, 1
#: the same as `WATCHED`, for calls of routines, which may look for signals by themselves if they are long: such loops
#: run in one thread
CALLS = -2
_LONG_CALL = 1e6
#: number of words that are passed to every function that runs a part of a loop, after the bounds and the watcher. It
#: ignores those that it does not take, as C functions do; pointers are passed as integers are.
WORDS = 16
_PART = function_type(i1, i64, i64, ptr, *[i64] * WORDS)


@typed_function("ae.part", attributes=RUNTIME)
def run_part(function: ptr, form: i64, a: Pointer[i64], first: i64, last: i64, watcher: ptr) -> i1:
    """Run iterations of a loop; return whether a handler of signals has raised."""
    end = last if form >= _SINGLE else first + 1
    for k in range(first, end):
        one, other = k, last
        if form >= _SINGLE:
            one, other = k // form, k % form
        stopped = call_pointer(
            _PART, function, one, other, watcher,
            a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15],
        )  # fmt: skip
        if stopped and (form == WATCHED or form == CALLS):
            return True
    return False


@typed_function("ae.slices", attributes=RUNTIME)
def run_in_slices(
    frame: CallFrame,
    table: FunctionTable,
    function: ptr,
    form: i64,
    arguments: Pointer[i64],
    extent: i64,
    work: f64,
) -> i1:
    """Run a loop whose iterations take `work` nanoseconds each; return whether a handler of signals has raised.

    This thread runs it alone if it holds the GIL, if the loop is short, or if other calls use all threads.
    """
    watcher: CallFrame = frame.watcher
    pool: WorkerPool = table.state.workers
    is_long = extent > 1 and work * f64(extent) > 2.0 * pool.least_work
    if is_long and frame.thread != null and (form != CALLS or work < _LONG_CALL):
        if pool.threads == 0:
            _start(frame, table, pool)
        if pool.threads > 1:
            answer = pool.share(frame, pool, function, form, arguments, extent, work)
            if answer >= 0:
                return answer == 1
    if watcher == null:
        return run_part(function, form, arguments, 0, extent, null)
    start: i64 = 0
    while start < extent:
        stop = end_of_chunk(watcher, start, extent, work)
        if stop < 0 or run_part(function, form, arguments, start, stop, watcher):
            return True
        start = stop
    return False


@typed_function("ae.slice.threads", attributes=RUNTIME)
def _start(frame: CallFrame, table: FunctionTable, pool: WorkerPool) -> None:
    """Start the pool."""
    table.PyEval_RestoreThread(frame.thread)
    answer = table.PyObject_Vectorcall(pool.starter, null, 0, null)
    if answer == null:
        table.PyErr_Clear()
    else:
        table.Py_DecRef(answer)
    table.PyEval_SaveThread()


@typed_function("ae.accumulate", attributes=RUNTIME)
def accumulate_in_slices(
    frame: CallFrame,
    table: FunctionTable,
    partials: ptr,
    combination: ptr,
    form: i64,
    arguments: Pointer[i64],
    count: i64,
    buffers: i64,
    elements: i64,
    iterations: i64,
    work: f64,
    near: i1,
    complete: i1,
) -> i64:
    """Run a loop that computes a partial result of each block, and a function that combines them.

    Word number `count` of the arguments of both is the first of `buffers` addresses of partial results. If these are
    `near` they point to memory, which then holds `complete` results, or needs the combination; else memory is
    allocated, 8 bytes for each element. Return the number of an error, or 0.
    """
    memory: ptr = null
    if not near:
        memory = table.PyMem_RawMalloc(8 * buffers * elements)
        if memory == null:
            return layout.NO_WORKSPACE
        for k in range(buffers):
            arguments[count + k] = address_of(memory) + 8 * elements * k
    stopped = run_in_slices(frame, table, partials, form, arguments, iterations, work)
    if not stopped and not (near and complete):
        run_part(combination, PLAIN, arguments, 0, 0, null)
    if memory != null:
        table.PyMem_RawFree(memory)
    return layout.RAISED if stopped else 0
