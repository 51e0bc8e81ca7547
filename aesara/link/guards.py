"""Guards of shared variables: calls that update the same variable come one after the other.

A guard is four words of memory, which compiled code reads and writes while it holds the GIL:

=======  ===========================================================================
owner    the thread whose call holds the guard, or 0; only compiled code and the call
         that is first in the queue set it
wanted   how many calls wait for it in the queue; compiled code does not take a guard
         that others wait for
depth    how often its owner holds it: a function that a call runs may want it, too
bell     a lock of the C API, which is released when the guard becomes free
=======  ===========================================================================

A call takes all of its guards at once or none, so that calls that only compute cannot block each other.  A call that
may run other functions before it ends (it has nodes in Python) takes `EVERYTHING` in addition: at most one thread
waits for guards while it holds some.

While no call holds or wants any guard, which the words of `state` say, calls that keep the GIL until they end need
none.
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

__all__ = ["EVERYTHING", "Guard", "Held", "guard_of", "state", "store_together", "wait_for"]

_OWNER, _WANTED, _DEPTH, _BELL = range(4)


def _threads_of_products() -> int:
    """How many threads BLAS is likely to use."""
    asked = [os.environ.get(f"{name}_NUM_THREADS", "") for name in ("OPENBLAS", "OMP", "MKL")]
    return max(1, min([os.cpu_count() or 1, *(int(n) for n in asked if n.isdecimal())]))


#: words that compiled code reads: the main thread, calls of compiled code with guards, other calls with guards, and how
#: many multiply-adds BLAS is given at once where signals are looked for (about a twentieth of a second)
state = (ctypes.c_int64 * 4)(threading.main_thread().ident or 0, 0, 0, 1_000_000_000 * _threads_of_products())
_MAIN, _NATIVE, _PYTHON = range(3)

#: seconds after which a waiting call looks again even if no bell has rung
_PATIENCE = 0.01

_mutex = threading.Lock()
_queue: list[_Ticket] = []
_bells: list[int] = []

_api = ctypes.CDLL(None, handle=ctypes.pythonapi._handle)  # these wait, so they are called without the GIL
_new_lock, _acquire_lock, _release_lock = (
    getattr(_api, f"PyThread_{name}") for name in ("allocate_lock", "acquire_lock_timed", "release_lock")
)
_new_lock.restype, _new_lock.argtypes = ctypes.c_void_p, []
_acquire_lock.argtypes = [ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int]
_release_lock.restype, _release_lock.argtypes = None, [ctypes.c_void_p]


_all_guards: weakref.WeakSet[Guard] = weakref.WeakSet()


class Guard:
    """The guard of one cell, or of nothing in particular."""

    __slots__ = ("cell", "words", "__weakref__")

    def __init__(self, cell: list[Any] | None = None) -> None:
        self.cell = cell  # as long as the guard lives no other cell has this one's address
        self.words = (ctypes.c_int64 * 4)()
        _all_guards.add(self)

    @property
    def address(self) -> int:
        """Where its words are."""
        return ctypes.addressof(self.words)


_guards: weakref.WeakValueDictionary[int, Guard] = weakref.WeakValueDictionary()

#: taken by calls that may run other functions before they end
EVERYTHING = Guard()


def guard_of(cell: list[Any]) -> Guard:
    """The guard of the cell of a shared variable."""
    with _mutex:
        guard = _guards.get(id(cell))
        if guard is None:
            guard = _guards[id(cell)] = Guard(cell)
        return guard


class _Ticket:
    """A place in the queue."""

    __slots__ = ("guards", "bell", "wanted", "held")

    def __init__(self, guards: Sequence[Guard]) -> None:
        self.guards = guards
        self.bell = _bells.pop() if _bells else _new_lock()
        self.wanted = self.held = 0  # for how many of the guards it has counted itself as waiting; how many it has


class Held:
    """Context: this thread holds guards.

    Examples
    --------
    >>> with Held([guard_of([1.0])]):
    ...     pass
    """

    __slots__ = ("guards", "held")

    def __init__(self, guards: Iterable[Guard]) -> None:
        self.guards = tuple(guards)
        self.held = 0

    def __enter__(self) -> None:
        _count(1)
        try:
            if not self._take_what_is_free():
                wait_for(self.guards)
                self.held = len(self.guards)
        except BaseException:
            _complete(self._leave)
            _count(-1)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            _complete(self._leave)
        finally:
            _count(-1)

    def _take_what_is_free(self) -> bool:
        """Take all guards, or none if one is not free."""
        me = threading.get_ident()
        for guard in self.guards:
            words = guard.words
            # From here on no call and no loop, so neither another thread nor a signal comes in between.
            if words[_OWNER] != me and (words[_OWNER] or words[_WANTED]):
                self._leave()
                return False
            words[_OWNER] = me
            words[_DEPTH] += 1
            self.held += 1
        return True

    def _leave(self) -> None:
        while self.held:
            words = self.guards[self.held - 1].words
            # As above.
            words[_DEPTH] -= 1
            free = words[_DEPTH] == 0
            if free:
                words[_OWNER] = 0
            self.held -= 1
            if free and words[_BELL]:
                _release_lock(words[_BELL])


def _count(change: int) -> None:
    state[_PYTHON] += change  # as above


def _complete(action: Callable[[], None]) -> None:
    """Run an action, which goes on where it has stopped, to its end, also if signals interrupt it."""
    late: BaseException | None = None
    for _ in range(5):
        try:
            action()
            break
        except BaseException as error:
            late = error
    if late is not None:
        raise late


def wait_for(guards: Sequence[Guard]) -> None:
    """Take all of the guards as soon as this thread may; one of the counts of `state` must include the call."""
    me = threading.get_ident()
    ticket = _Ticket(guards)
    try:
        with _mutex:
            _queue.append(ticket)
            while ticket.wanted < len(guards):
                guards[ticket.wanted].words[_WANTED] += 1
                ticket.wanted += 1
            _set_bells(guards)
        patient = True
        while not ticket.held:
            with _mutex:
                if _may_go(ticket, me, patient):
                    while ticket.held < len(guards):
                        words = guards[ticket.held].words
                        words[_OWNER] = me
                        words[_DEPTH] += 1
                        ticket.held += 1
                    break
            patient = bool(_acquire_lock(ticket.bell, int(1e6 * _PATIENCE), 0))
        _complete(lambda: _leave_queue(ticket))
    except BaseException:
        _complete(lambda: _leave_queue(ticket))
        held = Held(guards)
        held.held = ticket.held
        _complete(held._leave)
        raise


def _leave_queue(ticket: _Ticket) -> None:
    with _mutex:
        if ticket in _queue:
            _queue.remove(ticket)
        while ticket.wanted:
            ticket.guards[ticket.wanted - 1].words[_WANTED] -= 1
            ticket.wanted -= 1
        _set_bells(ticket.guards)
        if ticket.bell:
            _bells.append(ticket.bell)
            ticket.bell = 0


def _set_bells(guards: Sequence[Guard]) -> None:
    """Let the guards ring for the first call that waits for them."""
    for guard in guards:
        first = next((t for t in _queue if guard in t.guards), None)
        guard.words[_BELL] = 0 if first is None else first.bell


def _may_go(ticket: _Ticket, me: int, patient: bool) -> bool:
    """Whether a thread may take what it waits for: nobody else has it, and nobody else has waited longer.

    A thread that has guards already does not wait for its turn, since those before it may wait for what it has.
    """
    if any(guard.words[_OWNER] not in (0, me) for guard in ticket.guards):
        return False
    before = _queue[: _queue.index(ticket)]
    if not any(guard in other.guards for other in before for guard in ticket.guards):
        return True
    # Any guard may be meant; to look at all of them takes time, so it is done when nothing has moved for a while.
    return any(g.words[_OWNER] == me for g in ticket.guards) or (
        not patient and any(g.words[_OWNER] == me for g in list(_all_guards))
    )


def store_together(cells: Sequence[list[Any]], values: Sequence[Any]) -> None:
    """Put values into cells; no other thread sees some of them without the others."""
    before = [cell[0] for cell in cells]  # they go away when all is in place
    deque(map(list.__setitem__, cells, itertools.repeat(0), values), maxlen=0)  # one call, which runs no Python code
    del before


def _prepare_fork() -> None:
    _mutex.acquire()


def _after_fork() -> None:
    _mutex.release()


def _start_child() -> None:
    """Only the thread that has forked goes on in the child: what others held or wanted is free."""
    me = threading.get_ident()
    _queue.clear()
    state[_MAIN] = me
    held = 0
    for guard in list(_all_guards):
        mine = guard.words[_OWNER] == me
        guard.words[_WANTED] = guard.words[_BELL] = 0
        if mine:
            held += 1
        else:
            guard.words[_OWNER] = guard.words[_DEPTH] = 0
    state[_NATIVE], state[_PYTHON] = (state[_NATIVE], state[_PYTHON]) if held else (0, 0)
    _mutex.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_prepare_fork, after_in_parent=_after_fork, after_in_child=_start_child)
