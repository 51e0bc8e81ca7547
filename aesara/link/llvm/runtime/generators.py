"""Random generators: their locks, and their words out of and back into their own memory.

Locks that a call holds at the same time are taken in the order of the addresses of the bit generators, whatever the
function calls these: of two calls that draw from the same ones, none waits for the other with a lock that it needs.

Calls that draw from no generator do without these functions.

The frame has the link of a generator as long as the call needs it, and the function that releases its lock as long as
the call has the lock.
"""

from aesara.ir.generators import HEADER
from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import allocate, copy_bytes, view
from aesara.ir.typed.types import Pointer, i1, i8, i64, null, ptr, u64
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.structures import (
    RUNTIME,
    CallFrame,
    CallPlan,
    FunctionTable,
    GeneratorLink,
    NdArray,
    PyList,
    PyObject,
    StateRegion,
)

__all__ = ["attach", "copy_words", "copy_words_locked", "is_unchanged", "lock_all", "store_words", "unlock_all"]


@typed_function("ae.attach", attributes=RUNTIME)
def attach(frame: CallFrame, table: FunctionTable, plan: CallPlan, cell: PyList, generator: i64) -> None:
    """Give the call the link in a cell, of the generator with this number."""
    link = cell.items[0]
    table.Py_IncRef(link)
    view(frame, plan.linked_at, Pointer[PyObject])[generator] = link


@typed_function("ae.open", attributes=RUNTIME)
def copy_words(frame: CallFrame, table: FunctionTable, plan: CallPlan, generator: i64, target: ptr) -> i1:
    """Copy the words of a generator, under its lock; return whether that was possible."""
    if not _lock(frame, table, plan, generator):
        return False
    copy_words_locked(frame, plan, generator, target)
    _unlock(frame, table, plan, generator)
    return True


@typed_function("ae.fetch", attributes=RUNTIME)
def copy_words_locked(frame: CallFrame, plan: CallPlan, generator: i64, target: ptr) -> None:
    """Copy the words of a generator whose lock the call has."""
    link = _link_of(frame, plan, generator)
    copy_bytes(target, link.header, HEADER)
    region = view(link.first_region, 0, StateRegion)
    for _ in range(link.regions):
        copy_bytes(view(target, region.offset, ptr), region.address, region.size)
        region = view(region, layout.PIECE, StateRegion)


@typed_function("ae.hold", attributes=RUNTIME)
def lock_all(frame: CallFrame, table: FunctionTable, plan: CallPlan) -> i1:
    """Take the locks of all generators that the call draws from; return whether that was possible."""
    pairs = view(plan, plan.drawn_at, Pointer[i64])
    last = u64(0)
    while True:
        # Find the bit generator with the lowest address above the last one.
        lowest = u64(-1)
        chosen = -1
        for k in range(plan.drawn):
            generator = pairs[2 * k + 1]
            bits = u64(_link_of(frame, plan, generator).bits)
            if bits > last and bits < lowest:
                lowest = bits
                chosen = generator
        if chosen < 0:
            return True
        if not _lock(frame, table, plan, chosen):
            return False
        last = lowest


@typed_function("ae.link.of", attributes=RUNTIME)
def _link_of(frame: CallFrame, plan: CallPlan, generator: i64) -> GeneratorLink:
    """Return the words of the link of a generator."""
    link = view(view(frame, plan.linked_at, Pointer[PyList])[generator].items[0], 0, NdArray)
    return view(link.data, 0, GeneratorLink)


@typed_function("ae.lock", attributes=RUNTIME)
def _lock(frame: CallFrame, table: FunctionTable, plan: CallPlan, generator: i64) -> i1:
    """Take the lock of a generator; an exception is set if that is not possible."""
    link = _link_of(frame, plan, generator)
    answer = table.PyObject_Vectorcall(link.acquire, null, 0, null)
    if answer == null:
        return False
    table.Py_DecRef(answer)
    view(frame, plan.locked_at, Pointer[PyObject])[generator] = link.release
    return True


@typed_function("ae.unlock", attributes=RUNTIME)
def _unlock(frame: CallFrame, table: FunctionTable, plan: CallPlan, generator: i64) -> None:
    """Release the lock of a generator, if the call has it; an exception that is set stays."""
    locked = view(frame, plan.locked_at, Pointer[PyObject])
    release = locked[generator]
    if release == null:
        return
    locked[generator] = null
    error = allocate(ptr, 3)
    table.PyErr_Fetch(error, error + 1, error + 2)
    table.Py_DecRef(table.PyObject_Vectorcall(release, null, 0, null))
    table.PyErr_Restore(error[0], error[1], error[2])


@typed_function("ae.unlock.all", attributes=RUNTIME)
def unlock_all(frame: CallFrame, table: FunctionTable, plan: CallPlan) -> None:
    """Release all locks that the call has."""
    for k in range(plan.links):
        _unlock(frame, table, plan, k)


@typed_function("ae.settle", attributes=RUNTIME)
def is_unchanged(frame: CallFrame, plan: CallPlan, generator: i64, before: ptr) -> i1:
    """Return whether the words of a generator whose lock the call has are still these."""
    link = _link_of(frame, plan, generator)
    region = view(link.first_region, 0, StateRegion)
    for _ in range(link.regions):
        mine = view(before, region.offset, Pointer[i8])
        now = view(region.address, 0, Pointer[i8])
        for k in range(region.size):
            if mine[k] != now[k]:
                return False
        region = view(region, layout.PIECE, StateRegion)
    return True


@typed_function("ae.keep", attributes=RUNTIME)
def store_words(frame: CallFrame, table: FunctionTable, plan: CallPlan) -> None:
    """Copy new words into the memory of generators, drop the arrays that have them, and release the locks of these
    generators."""
    pairs = view(plan, plan.drawn_at, Pointer[i64])
    for k in range(plan.drawn):
        result = view(frame.places[pairs[2 * k]], 0, NdArray)
        generator = pairs[2 * k + 1]
        link = _link_of(frame, plan, generator)
        region = view(link.first_region, 0, StateRegion)
        for _ in range(link.regions):
            copy_bytes(region.address, view(result.data, region.offset, ptr), region.size)
            region = view(region, layout.PIECE, StateRegion)
        table.Py_DecRef(result)
        _unlock(frame, table, plan, generator)
