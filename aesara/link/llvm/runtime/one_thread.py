"""Short calls of BLAS and LAPACK on one thread, where their library would start more.

===========================  =======================================================================================
``threads.enter(short)``     limit the library to one thread, if `short`; returns whether the call was counted
``threads.leave(entered)``   end of the call: restore the number of threads after the last one
===========================  =======================================================================================

The number of threads belongs to the whole process.  One word (``threads.calls``) counts, in its upper half, the calls
that need one thread and keeps, in its lower half, the number from before the first of them.  The last one to leave
restores that number, unless it was changed meanwhile.  A call that finds the number at one does nothing.  All of this
takes no lock, since threads may call it without the GIL.  A race can make a call use more or fewer threads than
intended; it cannot lose the number.
"""

from typing import Any

from aesara.ir.typed.function import CFunction, GlobalVariable, TypedFunction, typed_function
from aesara.ir.typed.operations import atomic_load, compare_exchange
from aesara.ir.typed.types import i1, i32, u64

__all__ = ["NEEDED", "NOTHING", "ONE_THREAD", "ROUTINES"]

_calls: Any = GlobalVariable("threads.calls", u64)
_get_threads = CFunction("threads.get", i32)
_set_threads = CFunction("threads.set", None, i32)

#: the two routines
ROUTINES = ("threads.enter", "threads.leave")
#: symbols that they refer to: the word, and the library's functions that get and set its number of threads
NEEDED = (_calls.symbol, _get_threads.symbol, _set_threads.symbol)

#: ``1 << 32``: increment of the count of calls
_CALL = 2**32


@typed_function("ae.threads.enter")
def _enter(short: i1) -> i1:
    if not short:
        return False
    while True:
        calls = atomic_load(_calls)
        if calls != 0:
            if compare_exchange(_calls, calls, calls + _CALL):
                return True
            continue
        number = _get_threads()
        if number <= 1:
            return False
        if compare_exchange(_calls, 0, u64(number) | _CALL):
            _set_threads(1)
            return True


@typed_function("ae.threads.leave")
def _leave(entered: i1) -> None:
    if not entered:
        return
    while True:
        calls = atomic_load(_calls)
        others = calls - _CALL
        is_last = others < _CALL
        if compare_exchange(_calls, calls, 0 if is_last else others):
            break
    if is_last and _get_threads() == 1:
        _set_threads(i32(calls))


@typed_function("ae.threads.enter")
def _do_not_enter(short: i1) -> i1:
    return False


@typed_function("ae.threads.leave")
def _do_not_leave(entered: i1) -> None:
    return


#: the functions of the routines
ONE_THREAD: tuple[TypedFunction, ...] = (_enter, _leave)
#: the same for a library whose number of threads cannot be set
NOTHING: tuple[TypedFunction, ...] = (_do_not_enter, _do_not_leave)
