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

from aesara.graph import hooks

__all__ = ["EVERYTHING", "UpdateGuard", "Held", "guard_of", "state", "store", "store_together", "wait_for"]

_OWNER, _WANTED, _DEPTH, _BELL = range(4)


def _threads_of_products() -> int:
    """How many threads BLAS is likely to use."""
    asked = [os.environ.get(f"{name}_NUM_THREADS", "") for name in ("OPENBLAS", "OMP", "MKL")]
    return max(1, min([os.cpu_count() or 1, *(int(n) for n in asked if n.isdecimal())]))


#: words that compiled code reads: the main thread, calls of compiled code with guards, other calls with guards, and how
#: many multiply-adds BLAS is given at once where signals are looked for (some hundredths of a second)
state = (ctypes.c_int64 * 4)(threading.main_thread().ident or 0, 0, 0, 600_000_000 * _threads_of_products())
_MAIN, _NATIVE, _PYTHON = range(3)

#: seconds after which a waiting call looks again even if no bell has rung
_PATIENCE = 0.01

_queue: list[_Ticket] = []
_bells: list[int] = []

_api = ctypes.CDLL(None, handle=ctypes.pythonapi._handle)  # these wait, so they are called without the GIL
_new_lock, _acquire_lock, _release_lock = (
    getattr(_api, f"PyThread_{name}") for name in ("allocate_lock", "acquire_lock_timed", "release_lock")
)
_new_lock.restype, _new_lock.argtypes = ctypes.c_void_p, []
_acquire_lock.argtypes = [ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int]
_release_lock.restype, _release_lock.argtypes = None, [ctypes.c_void_p]


class UpdateGuard:
    """The guard of one cell, or of nothing in particular."""

    __slots__ = ("cell", "words", "__weakref__")

    def __init__(self, cell: list[Any] | None = None) -> None:
        self.cell = cell  # as long as the guard lives no other cell has this one's address
        self.words = (ctypes.c_int64 * 4)()
        key = id(self)
        _all_guards[key] = weakref.ref(self, lambda _: _all_guards.pop(key, None))

    @property
    def address(self) -> int:
        """Where its words are."""
        return ctypes.addressof(self.words)


_all_guards: dict[int, weakref.ref[UpdateGuard]] = {}
_guards: dict[int, weakref.ref[UpdateGuard]] = {}

#: taken by calls that may run other functions before they end
EVERYTHING = UpdateGuard()


def guard_of(cell: list[Any]) -> UpdateGuard:
    """The guard of the cell of a shared variable."""
    key = id(cell)
    guard = None
    while guard is None:  # what is found may be about to be forgotten
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
    """A thread's place in the queue."""

    __slots__ = ("guards", "thread", "bell", "wanted")

    def __init__(self, guards: Sequence[UpdateGuard]) -> None:
        self.guards = guards
        self.thread = threading.get_ident()
        self.bell = _bells.pop() if _bells else _new_lock()
        self.wanted = 0  # for how many of the guards it has counted itself as waiting


class Held:
    """Context: this thread holds guards.

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

    def wait(self) -> None:
        """Take all guards as soon as this thread may.

        There is no lock: the handler of a signal may come in between at any place, and call functions that update.
        """
        ticket = _Ticket(self.guards)
        try:
            _queue.append(ticket)
            while ticket.wanted < len(self.guards):
                words = self.guards[ticket.wanted].words
                # As below.
                words[_WANTED] += 1
                ticket.wanted += 1
            patient = True
            while True:
                _set_bells(self.guards)
                if _is_next(ticket, patient) and self._take(waiting=True):
                    break
                patient = bool(_acquire_lock(ticket.bell, int(1e6 * _PATIENCE), 0))
            _complete(lambda: _leave_queue(ticket))
        except BaseException:
            _complete(lambda: _leave_queue(ticket))
            _complete(self._leave)
            raise

    def _take(self, waiting: bool) -> bool:
        """Take all guards, or none if one is not free; those that others wait for are only for who has waited."""
        me = threading.get_ident()
        for guard in self.guards:
            words = guard.words
            # From here on no call and no loop, so neither another thread nor a signal comes in between.
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


def wait_for(guards: Sequence[UpdateGuard]) -> None:
    """Take all of the guards as soon as this thread may; one of the counts of `state` must include the call."""
    Held(guards).wait()


def _leave_queue(ticket: _Ticket) -> None:
    if ticket in _queue:
        _queue.remove(ticket)
    while ticket.wanted:
        words = ticket.guards[ticket.wanted - 1].words
        # As in `Held`.
        words[_WANTED] -= 1
        ticket.wanted -= 1
    _set_bells(ticket.guards)
    bell, ticket.bell = ticket.bell, 0
    if bell:
        _bells.append(bell)


def _set_bells(guards: Sequence[UpdateGuard]) -> None:
    """Let the guards ring for the first call that waits for them.

    If another thread does so at the same time, a call may wait for a wrong bell, until it loses its patience.
    """
    waiting = list(_queue)
    for guard in guards:
        first = next((t for t in waiting if guard in t.guards), None)
        guard.words[_BELL] = 0 if first is None else first.bell


def _is_next(ticket: _Ticket, patient: bool) -> bool:
    """Whether it is a call's turn: nobody else who waits for one of its guards has waited longer.

    A thread that has guards already does not wait for its turn, since those before it may wait for what it has.  One
    that waits already, and runs the handler of a signal meanwhile, need not wait for those that came after it.
    """
    me = ticket.thread
    before = itertools.takewhile(lambda other: other.thread != me, list(_queue))
    if not any(guard in other.guards for other in before for guard in ticket.guards):
        return True
    # Any guard may be meant; to look at all of them takes time, so it is done when nothing has moved for a while.
    return any(g.words[_OWNER] == me for g in ticket.guards) or (
        not patient and any(g.words[_OWNER] == me for g in _living_guards())
    )


def _living_guards() -> list[UpdateGuard]:
    return [guard for ref in list(_all_guards.values()) if (guard := ref()) is not None]


def store_together(cells: Sequence[list[Any]], values: Sequence[Any]) -> None:
    """Put values into cells; no other thread sees some of them without the others."""
    before = [cell[0] for cell in cells]  # they go away when all is in place
    deque(map(list.__setitem__, cells, itertools.repeat(0), values), maxlen=0)  # one call, which runs no Python code
    del before


@hooks.store.set
def store(cell: list[Any], value: Any) -> None:
    """Put a value into a cell; if a call of another thread is updating it, after that call."""
    if state[_NATIVE] or state[_PYTHON]:
        with Held([guard_of(cell)]):
            cell[0] = value
    else:
        cell[0] = value  # no call and no loop since nobody had guards


def _start_child() -> None:
    """Only the thread that has forked goes on in the child: what others held or wanted is free."""
    me = threading.get_ident()
    _queue.clear()
    state[_MAIN] = me
    held = 0
    for guard in _living_guards():
        mine = guard.words[_OWNER] == me
        guard.words[_WANTED] = guard.words[_BELL] = 0
        if mine:
            held += 1
        else:
            guard.words[_OWNER] = guard.words[_DEPTH] = 0
    state[_NATIVE], state[_PYTHON] = (state[_NATIVE], state[_PYTHON]) if held else (0, 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_child)
