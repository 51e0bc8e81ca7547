"""Loops that several threads run, each a slice of the iterations.

The thread that calls a function takes part.  It divides the iterations of a loop into as many *slices* as it wants
threads, offers the loop to idle threads of the pool, and begins with the first slice.  Each thread takes *chunks* of
its own slice, then of the others, so that the calling thread does all that the others do not come to: nothing waits for
a thread that the system has not started.  The result does not depend on who computes what, since iterations are
independent.

A worker's `loop` is 0 while it is idle.  A caller stores the address of a `SlicedLoop` there and releases the worker's
lock `bell`; the worker adds `_RUNNING` when it begins and stores 0 when it ends.  At its end the caller withdraws the
loop where no worker has begun.  It waits for those that have: a few microseconds in a loop, then it adds `_AWAITED` and
acquires the lock `done`, which the worker releases.
"""

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import (
    address_of,
    allocate,
    atomic_add,
    atomic_load,
    compare_exchange,
    exchange,
    pointer_to,
    view,
)
from aesara.ir.typed.types import Pointer, f64, i1, i64, null, ptr
from aesara.link.llvm.runtime.slices import run_part
from aesara.link.llvm.runtime.structures import RUNTIME, CallFrame, SlicedLoop, Worker, WorkerPool, WorkerWatcher
from aesara.link.llvm.runtime.threads import PORTION, poll

__all__ = ["MOST_THREADS", "end_of_worker_chunk", "share_loop", "work_for_others"]

#: maximum number of threads in a call
MOST_THREADS = 64
#: least estimated work of a chunk, in nanoseconds
_CHUNK = 20e3
#: number of chunks in a slice, unless they would be short or longer than a `PORTION`
_CHUNKS = 8
#: chunks of many iterations are multiples of these, so that slices begin at whole vectors
_ALIGNED = 64
#: how often a caller looks whether a worker has ended, and a worker whether there is another loop, before it waits:
#: some microseconds
_LOOKS = 2000

_RUNNING, _AWAITED = 1, 2
_CALLERS = WorkerPool.field_named("callers")[0].offset
_STOPPED = SlicedLoop.field_named("stopped")[0].offset
_LOOP_BYTES = SlicedLoop.field_named("bounds")[0].offset + 16 * MOST_THREADS


@typed_function("ae.slice.take", attributes=RUNTIME)
def _take_chunks(loop: SlicedLoop, first_slice: i64, watcher: ptr, frame: CallFrame) -> i1:
    """Run chunks of a slice, then of the others, until all have been taken; return whether a handler has raised.

    Signals are checked between chunks if `frame` is not null.
    """
    count = loop.slices
    grain = loop.grain
    for k in range(count):
        number = (first_slice + k) % count
        stop = loop.bounds[2 * number + 1]
        first = view(loop.bounds, 16 * number, Pointer[i64])
        while True:
            start = atomic_add(first, grain)
            if start >= stop:
                break
            if run_part(loop.function, loop.form, loop.arguments, start, min(start + grain, stop), watcher):
                return True
            if frame != null and poll(frame):
                return True
    return False


@typed_function("ae.slice.offer", attributes=RUNTIME)
def _offer(pool: WorkerPool, loop: SlicedLoop, wanted: i64) -> None:
    """Offer a loop to up to so many workers that are idle."""
    missing = wanted
    for k in range(pool.threads - 1):
        if missing == 0:
            break
        worker: Worker = pool.workers[k]
        if compare_exchange(view(worker, 0, Pointer[i64]), 0, address_of(loop)):
            pool.release(worker.bell)
            missing -= 1


@typed_function("ae.slice.await", attributes=RUNTIME)
def _await_workers(pool: WorkerPool, loop: SlicedLoop) -> None:
    """Withdraw a loop from the workers that have not begun, and wait for the others.

    These are among all workers of the pool: its number of threads may have been reduced meanwhile.
    """
    address = address_of(loop)
    for k in range(MOST_THREADS - 1):
        worker: Worker = pool.workers[k]
        if worker == null:
            break
        state = view(worker, 0, Pointer[i64])
        if atomic_load(state) & -4 != address or compare_exchange(state, address, 0):
            continue
        looks: i64 = 0
        while atomic_load(state) == address + _RUNNING:
            looks += 1
            if looks > _LOOKS and compare_exchange(state, address + _RUNNING, address + (_RUNNING + _AWAITED)):
                pool.acquire(worker.done, 1)
                break


@typed_function("ae.share", attributes=RUNTIME)
def share_loop(
    frame: CallFrame,
    pool: WorkerPool,
    function: ptr,
    form: i64,
    arguments: Pointer[i64],
    extent: i64,
    work: f64,
) -> i64:
    """Run a loop together with idle workers.

    Returns 1 if a handler of signals has raised, 0 if none has, and -1 if other calls use all threads: nothing has been
    run then.
    """
    watcher: CallFrame = frame.watcher
    callers = view(pool, _CALLERS, Pointer[i64])
    others = atomic_add(callers, 1)
    count = min(i64(work * f64(extent) / pool.least_work), min(extent, pool.threads)) - others
    if count <= 1:
        atomic_add(callers, -1)
        return -1
    loop: SlicedLoop = view(allocate(i64, _LOOP_BYTES // 8), 0, SlicedLoop)
    length = (extent + count - 1) // count
    grain = max(min(length // _CHUNKS, i64(PORTION / work)), i64(_CHUNK / work)) + 1
    if grain > _ALIGNED:
        grain = grain // _ALIGNED * _ALIGNED
        length = (length + _ALIGNED - 1) // _ALIGNED * _ALIGNED
    loop.function = function
    loop.form = form
    loop.arguments = arguments
    loop.slices = count
    loop.stopped = 0
    loop.grain = grain
    for k in range(count):
        loop.bounds[2 * k] = min(k * length, extent)
        loop.bounds[2 * k + 1] = min(k * length + length, extent)
    _offer(pool, loop, count - 1)
    stopped = _take_chunks(loop, 0, watcher, watcher)
    if stopped:
        loop.stopped = 1
        for k in range(count):
            exchange(view(loop.bounds, 16 * k, Pointer[i64]), extent)
    _await_workers(pool, loop)
    atomic_add(callers, -1)
    return 1 if stopped else 0


@typed_function("ae.slice.chunk")
def end_of_worker_chunk(watcher: WorkerWatcher, start: i64, stop: i64, work: f64) -> i64:
    """Return the end of the chunk of a nested loop that a worker runs from `start`; -1 to stop the loop."""
    if atomic_load(view(watcher.loop, _STOPPED, Pointer[i64])) != 0:
        return -1
    return min(max(stop, 0), start + 1 + i64(PORTION / max(1e-3, work)))


@typed_function("ae.slice.work")
def work_for_others(pool: WorkerPool, number: i64) -> None:
    """Run loops that other threads offer, for ever: the life of a worker."""
    worker: Worker = pool.workers[number]
    watcher: WorkerWatcher = view(allocate(i64, 2), 0, WorkerWatcher)
    watcher.chunk = pool.chunk
    state = view(worker, 0, Pointer[i64])
    while True:
        looks: i64 = 0
        while looks < _LOOKS and atomic_load(state) == 0:  # the next loop of a function comes soon
            looks += 1
        if looks == _LOOKS:
            pool.acquire(worker.bell, 1)
        address = atomic_load(state)
        if address != 0 and compare_exchange(state, address, address + _RUNNING):
            loop: SlicedLoop = pointer_to(address, SlicedLoop)
            watcher.loop = loop
            _take_chunks(loop, (number + 1) % loop.slices, watcher, null)
            if exchange(state, 0) == address + (_RUNNING + _AWAITED):
                pool.release(worker.done)
