"""Guards of shared variables: locks that serialize calls that update the same variable.

A guard is four words of memory, which compiled code accesses while it holds the GIL:

=======  ===========================================================================
owner    the thread whose call holds the guard, or 0; set only by compiled code and the
         call that is first in the queue
wanted   number of calls that wait for it in the queue; compiled code does not take a
         guard that others wait for
depth    how many times its owner holds it: calls may be nested
bell     a lock of the C API, released when the guard becomes free
=======  ===========================================================================

A call takes all of its guards at once or none, so that calls that only compute cannot deadlock.  A call that may run
other functions before it ends (with nodes in Python) takes `EVERYTHING` in addition: at most one thread waits for
guards while it holds some.

While no call holds or wants any guard, according to `state`, calls that hold the GIL throughout need none.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

from aesara.graph import hooks

__all__ = ["EVERYTHING", "UpdateGuard", "Held", "guard_of", "state", "store", "store_together", "wait_for"]

_OWNER, _WANTED, _DEPTH, _BELL = range(4)


def _blas_threads() -> int:
    """Return the number of threads that BLAS probably uses."""
    requested = [os.environ.get(f"{name}_NUM_THREADS", "") for name in ("OPENBLAS", "OMP", "MKL")]
    return max(1, min([os.cpu_count() or 1, *(int(n) for n in requested if n.isdecimal())]))


#: words that compiled code reads: the main thread, number of calls of compiled code with guards, number of other calls
#: with guards, number of multiply-adds in one call of BLAS between checks for signals (some hundredths of a second),
#: and the address of the pool of threads
state = (ctypes.c_int64 * 5)(threading.main_thread().ident or 0, 0, 0, 600_000_000 * _blas_threads(), 0)
_MAIN, _NATIVE, _PYTHON = range(3)

#: seconds after which a waiting call tries again even if no bell has rung
_PATIENCE = 0.01

_queue: list[_Ticket] = []
_bells: list[int] = []

_api = ctypes.CDLL(None, handle=ctypes.pythonapi._handle)  # these block, so they are called without the GIL
_new_lock, _acquire_lock, _release_lock = (
    getattr(_api, f"PyThread_{name}") for name in ("allocate_lock", "acquire_lock_timed", "release_lock")
)
_new_lock.restype, _new_lock.argtypes = ctypes.c_void_p, []
_acquire_lock.argtypes = [ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int]
_release_lock.restype, _release_lock.argtypes = None, [ctypes.c_void_p]


class UpdateGuard:
    """The guard of a cell, or one that belongs to no cell."""

    __slots__ = ("cell", "words", "__weakref__")

    def __init__(self, cell: list[Any] | None = None) -> None:
        self.cell = cell  # kept alive, so that no other cell gets its address
        self.words = (ctypes.c_int64 * 4)()
        key = id(self)
        _all_guards[key] = weakref.ref(self, lambda _: _all_guards.pop(key, None))

    @property
    def address(self) -> int:
        """Address of its words."""
        return ctypes.addressof(self.words)


_all_guards: dict[int, weakref.ref[UpdateGuard]] = {}
_guards: dict[int, weakref.ref[UpdateGuard]] = {}

#: guard of calls that may run other functions before they end
EVERYTHING = UpdateGuard()


def guard_of(cell: list[Any]) -> UpdateGuard:
    """Return the guard of the cell of a shared variable."""
    key = id(cell)
    guard = None
    while guard is None:  # the reference may be dead already
        found = _guards.get(key)
        if found is None:
            new = UpdateGuard(cell)
            found = _guards.setdefault(key, weakref.ref(new, lambda ref: _forget(key, ref)))
        guard = found()
        if guard is None:
            _forget(key, found)
    return guard


def _forget(key: int, ref: weakref.ref[UpdateGuard]) -> None:
    if _guards.get(key) is ref:
        del _guards[key]


class _Ticket:
    """Place of a thread in the queue."""

    __slots__ = ("guards", "thread", "bell", "wanted")

    def __init__(self, guards: Sequence[UpdateGuard]) -> None:
        self.guards = guards
        self.thread = threading.get_ident()
        self.bell = _bells.pop() if _bells else _new_lock()
        self.wanted = 0  # number of guards whose `wanted` includes it


class Held:
    """Context manager that holds guards.

    Examples
    --------
    >>> with Held([guard_of([1.0])]):
    ...     pass
    """

    __slots__ = ("guards", "held")

    def __init__(self, guards: Iterable[UpdateGuard]) -> None:
        self.guards = tuple(guards)
        self.held = 0

    def __enter__(self) -> None:
        _count(1)
        try:
            if not self._take(waiting=False):
                self.wait()
        except BaseException:
            _run_to_end(self._leave)
            _count(-1)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            _run_to_end(self._leave)
        finally:
            _count(-1)

    def wait(self) -> None:
        """Wait for all guards and take them.

        There is no lock: a signal handler may run at any point and call functions that update.
        """
        ticket = _Ticket(self.guards)
        try:
            _queue.append(ticket)
            while ticket.wanted < len(self.guards):
                words = self.guards[ticket.wanted].words
                # Atomic, as in `_take`.
                words[_WANTED] += 1
                ticket.wanted += 1
            in_time = True
            while True:
                _set_bells(self.guards)
                if _is_next(ticket, in_time) and self._take(waiting=True):
                    break
                in_time = bool(_acquire_lock(ticket.bell, int(1e6 * _PATIENCE), 0))
            _run_to_end(lambda: _leave_queue(ticket))
        except BaseException:
            _run_to_end(lambda: _leave_queue(ticket))
            _run_to_end(self._leave)
            raise

    def _take(self, waiting: bool) -> bool:
        """Take all guards, or none if one is not free; guards that others wait for are taken only if `waiting`."""
        me = threading.get_ident()
        for guard in self.guards:
            words = guard.words
            # Atomic: without a call or a loop, no other thread or signal handler runs in between.
            if words[_OWNER] != me and (words[_OWNER] or (words[_WANTED] and not waiting)):
                self._leave()
                return False
            words[_OWNER] = me
            words[_DEPTH] += 1
            self.held += 1
        return True

    def _leave(self) -> None:
        while self.held:
            words = self.guards[self.held - 1].words
            # Atomic, as above.
            words[_DEPTH] -= 1
            free = words[_DEPTH] == 0
            if free:
                words[_OWNER] = 0
            self.held -= 1
            if free and words[_BELL]:
                _release_lock(words[_BELL])


def _count(change: int) -> None:
    state[_PYTHON] += change  # atomic, as above


def _run_to_end(action: Callable[[], None]) -> None:
    """Run a resumable action to its end, even if signals interrupt it."""
    interruption: BaseException | None = None
    for _ in range(5):
        try:
            action()
            break
        except BaseException as error:
            interruption = error
    if interruption is not None:
        raise interruption


def wait_for(guards: Sequence[UpdateGuard]) -> None:
    """Wait for guards and take them; the counts of `state` must include the call."""
    Held(guards).wait()


def _leave_queue(ticket: _Ticket) -> None:
    if ticket in _queue:
        _queue.remove(ticket)
    while ticket.wanted:
        words = ticket.guards[ticket.wanted - 1].words
        # Atomic, as in `Held`.
        words[_WANTED] -= 1
        ticket.wanted -= 1
    _set_bells(ticket.guards)
    bell, ticket.bell = ticket.bell, 0
    if bell:
        _bells.append(bell)


def _set_bells(guards: Sequence[UpdateGuard]) -> None:
    """Set the bell of each guard to that of the first call that waits for it.

    If another thread does so at the same time, a call may wait for the wrong bell, until `_PATIENCE` is over.
    """
    waiting = list(_queue)
    for guard in guards:
        first = next((t for t in waiting if guard in t.guards), None)
        guard.words[_BELL] = 0 if first is None else first.bell


def _is_next(ticket: _Ticket, in_time: bool) -> bool:
    """Return whether no other thread has waited longer for one of the call's guards.

    A thread that holds guards already goes first, since those before it may wait for these. So does one that waits
    already and runs a signal handler meanwhile, before those that came after it.
    """
    me = ticket.thread
    before = itertools.takewhile(lambda other: other.thread != me, list(_queue))
    if not any(guard in other.guards for other in before for guard in ticket.guards):
        return True
    # The guard may be any; searching all of them is slow, so it is done only after a time without progress.
    return any(g.words[_OWNER] == me for g in ticket.guards) or (
        not in_time and any(g.words[_OWNER] == me for g in _living_guards())
    )


def _living_guards() -> list[UpdateGuard]:
    return [guard for ref in list(_all_guards.values()) if (guard := ref()) is not None]


def store_together(cells: Sequence[list[Any]], values: Sequence[Any]) -> None:
    """Store values in cells; other threads see all of them or none."""
    before = [cell[0] for cell in cells]  # freed after all values are stored
    deque(map(list.__setitem__, cells, itertools.repeat(0), values), maxlen=0)  # one call that runs no Python code
    del before


@hooks.store.set
def store(cell: list[Any], value: Any) -> None:
    """Store a value in a cell, after a call of another thread that is updating it."""
    if state[_NATIVE] or state[_PYTHON]:
        with Held([guard_of(cell)]):
            cell[0] = value
    else:
        cell[0] = value  # atomic with the test of `state`


def _start_child() -> None:
    """Free the guards of threads that do not exist in a forked child."""
    me = threading.get_ident()
    _queue.clear()
    state[_MAIN] = me
    held = 0
    for guard in _living_guards():
        guard.words[_WANTED] = guard.words[_BELL] = 0
        if guard.words[_OWNER] == me:
            held += 1
        else:
            guard.words[_OWNER] = guard.words[_DEPTH] = 0
    state[_NATIVE], state[_PYTHON] = (state[_NATIVE], state[_PYTHON]) if held else (0, 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_child)
