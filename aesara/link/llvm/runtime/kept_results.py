"""Results that a function lends (``Out(borrow=True)``): their arrays are reused once nobody else refers to them.

The last two arrays of each result are kept in a list, since a loop with ``y = f(x)`` holds the last one during the next
call. An array with other references, also by a view, is never overwritten.
"""

from typing import Any

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import copy_bytes, view
from aesara.ir.typed.types import Pointer, i32, i64, null, ptr
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.structures import RUNTIME, FunctionTable, NdArray

__all__ = ["COPIES", "empty_places", "lend", "reuse"]

#: number of arrays kept for each result
COPIES = 2

_FLAGS = layout.C_CONTIGUOUS | layout.OWNDATA | layout.ALIGNED | layout.WRITEABLE


def empty_places(lent: int) -> list[Any]:
    """Return the initial list of kept arrays for `lent` results."""
    return [None] * (COPIES * lent)


@typed_function("ae.lend", attributes=RUNTIME)
def lend(table: FunctionTable, descr_at: i64, rank: i32, shape: Pointer[i64], places: Pointer[NdArray]) -> NdArray:
    """Return a kept array, or a new one, which is kept."""
    free = _find_free(table, descr_at, rank, shape, places)
    if free != null:
        table.Py_IncRef(free)
        return free
    made = table.array(table, descr_at, rank, shape, null)
    if made != null:
        table.Py_IncRef(made)
        # Shift the arrays by one place and drop the last.
        shifted = made
        for k in range(COPIES):
            following = places[k]
            places[k] = shifted
            shifted = following
        table.Py_DecRef(shifted)
    return made


@typed_function("ae.kept", attributes=RUNTIME)
def _find_free(
    table: FunctionTable, descr_at: i64, rank: i32, shape: Pointer[i64], places: Pointer[NdArray]
) -> NdArray:
    """Return a kept array without other references, or null. Its user may have changed its shape or dtype."""
    descr = view(table, descr_at, Pointer[ptr])[0]
    for k in range(COPIES):
        array = places[k]
        if array.type == table.PyArray_Type and array.references == 1 and array.descr == descr:
            if array.ndim == rank and array.flags & _FLAGS == _FLAGS:
                dims = array.dims
                d = 0
                while d < i64(rank) and dims[d] == shape[d]:
                    d += 1
                if d == i64(rank):
                    return array
    return null


@typed_function("ae.reuse", attributes=RUNTIME)
def reuse(
    table: FunctionTable,
    descr_at: i64,
    rank: i32,
    shape: Pointer[i64],
    old: NdArray,
    holders: i32,
    source: ptr,
    size: i64,
) -> NdArray:
    """Return the array `old`, if it owns its memory and has `holders` references; otherwise a new one with `size` bytes
    of the source. Returns null if there is no memory."""
    if old.references == holders and old.flags & layout.OWN == layout.OWN:
        table.Py_IncRef(old)
        return old
    made = table.array(table, descr_at, rank, shape, null)
    if made != null and source != null:
        copy_bytes(made.data, source, size)
    return made
