"""Large arrays and workspace: huge pages, and reuse of memory of dead results without page faults.

========================================  ==========================================================================
``new_array(...)``                        NumPy's ``PyArray_NewFromDescr``, with memory of large arrays from the
                                          functions below
``raw_malloc(size)``                      ``PyMem_RawMalloc``, with huge pages for large blocks
``blocks.malloc``, ``blocks.calloc``,     the functions of a NumPy allocator (``PyDataMemAllocator``)
``blocks.realloc``, ``blocks.free``
``blocks.trim()``                         free memory that is kept beyond the limit
========================================  ==========================================================================

Memory of freed arrays is put into a list, which holds at most as many bytes as ``blocks.state`` says; the oldest goes
first.  An array takes the first block that is at most an eighth of the block too large.  The kernel may reclaim pages
in the list when memory gets scarce (``MADV_FREE``).  Until then, writing to them again costs no page fault.

NumPy calls an allocator for arrays, so no block is in the list while an array, or a view of it, is alive.  The list is
protected by the GIL.
"""

import mmap
import sys
from typing import Any

from aesara.ir.typed.function import CFunction, GlobalVariable, TypedFunction, typed_function
from aesara.ir.typed.operations import address_of, allocate, copy_bytes, fill_bytes, multiply_checked, pointer_to, view
from aesara.ir.typed.types import Pointer, Struct, field, i1, i8, i32, i64, null, ptr, u64

__all__ = ["BLOCK_FUNCTIONS", "LARGE", "NEEDED", "PAGE", "USED", "create_array"]

#: whether large results have their own allocator
USED = sys.platform.startswith("linux")

#: size of a large block in bytes
LARGE = 4 << 20
#: least number of elements of a large array: a complex number takes 16 bytes
_MANY = LARGE // 16
#: advice to the kernel, the same on all processors
_MADV_FREE, _MADV_HUGEPAGE = 8, 14
#: size of a page of memory, on which code depends besides its sources
PAGE = mmap.PAGESIZE
#: size of the header before the elements of a block, and their alignment
_HEAD = 64


class _Link(Struct):
    """The head of the list, or a block in it."""

    next: "_Block" = field(16)


class _Block(_Link):
    """Header of a block.

    Attributes
    ----------
    size
        Number of bytes after the header.
    memory
        The pointer to free.
    """

    size: u64 = field(0)
    memory: ptr = field(8)


class _State(_Link):
    """The list: the limit of its bytes, and their number."""

    limit: i64 = field(0)
    total: i64 = field(8)


_state: Any = GlobalVariable("blocks.state", _State)
#: our allocator and NumPy's, as objects
_handler: Any = GlobalVariable("blocks.handler", i8)
_numpys_handler: Any = GlobalVariable("numpy.handler", i8)

_new_array = CFunction("numpy.PyArray_NewFromDescr", ptr, ptr, ptr, i32, Pointer[i64], ptr, ptr, i32, ptr)
_get_handler = CFunction("numpy.PyDataMem_GetHandler", ptr)
_set_handler = CFunction("numpy.PyDataMem_SetHandler", ptr, ptr)
_decref = CFunction("python.Py_DecRef", None, ptr)
_clear_error = CFunction("python.PyErr_Clear", None)
_fetch_error = CFunction("python.PyErr_Fetch", None, ptr, ptr, ptr)
_restore_error = CFunction("python.PyErr_Restore", None, ptr, ptr, ptr)
_python_malloc = CFunction("python.PyMem_RawMalloc", ptr, u64)
_c_malloc = CFunction("malloc", ptr, u64)
_c_free = CFunction("free", None, ptr)
_madvise = CFunction("madvise", i32, ptr, i64, i32)

#: symbols that the routines refer to
NEEDED = tuple(
    one.symbol
    for one in (
        _state, _handler, _numpys_handler, _new_array, _get_handler, _set_handler, _decref, _clear_error, _fetch_error,
        _restore_error, _python_malloc, _c_malloc, _c_free, _madvise,
    )
)  # fmt: skip


# -- arrays ------------------------------------------------------------------------------------------------------


@typed_function("ae.new_array")
def _plain_array(
    kind: ptr, descr: ptr, rank: i32, lengths: Pointer[i64], strides: ptr, data: ptr, flags: i32, base: ptr
) -> ptr:
    """Return a new array without our allocator."""
    return _new_array(kind, descr, rank, lengths, strides, data, flags, base)


@typed_function("ae.new_array")
def _array(
    kind: ptr, descr: ptr, rank: i32, lengths: Pointer[i64], strides: ptr, data: ptr, flags: i32, base: ptr
) -> ptr:
    """Return a new array; a large one with its own memory gets it from our allocator."""
    elements = 1
    for d in range(rank):
        elements *= lengths[d]
    if data != null or elements < _MANY or _state.limit <= 0 or not _is_numpys_handler_set():
        return _new_array(kind, descr, rank, lengths, strides, data, flags, base)
    old = _set_handler(_handler)
    if old == null:
        _clear_error()
        return _new_array(kind, descr, rank, lengths, strides, data, flags, base)
    made = _new_array(kind, descr, rank, lengths, strides, data, flags, base)
    # Keep an error of NumPy's through the calls that follow.
    error = allocate(ptr, 3)
    _fetch_error(error, error + 1, error + 2)
    _decref(_set_handler(old))
    _decref(old)
    _restore_error(error[0], error[1], error[2])
    return made


@typed_function("ae.blocks.is_numpys_handler_set")
def _is_numpys_handler_set() -> i1:
    """Return whether arrays get NumPy's memory, and not that of an allocator that the user has chosen."""
    handler = _get_handler()
    if handler == null:
        _clear_error()
        return False
    _decref(handler)
    return handler == _numpys_handler


@typed_function("ae.raw_malloc")
def _raw_malloc(size: u64) -> ptr:
    memory = _python_malloc(size)
    if size >= LARGE and memory != null:
        _advise(memory, size, _MADV_HUGEPAGE)
    return memory


@typed_function("ae.blocks.advise")
def _advise(memory: ptr, size: u64, advice: i32) -> None:
    """Advise the kernel about the whole pages in a range of memory."""
    first = address_of(memory)
    begin = first + (PAGE - 1) & -PAGE
    end = first + i64(size) & -PAGE
    _madvise(pointer_to(begin, ptr), end - begin, advice)


# -- allocator ---------------------------------------------------------------------------------------------------


@typed_function("ae.blocks.malloc")
def _malloc(context: ptr, size: u64) -> ptr:
    """Return memory for elements: a block of the list, or a new one."""
    if size >= LARGE:
        before: _Link = _state
        block = before.next
        while block != null:
            if block.size - block.size // 8 <= size <= block.size:
                before.next = block.next
                _state.total -= i64(block.size)
                return view(block, _HEAD, ptr)
            before = block
            block = block.next
    padded = size + 2 * _HEAD
    if padded < size:
        return null
    memory = _c_malloc(padded)
    if memory == null:
        _shrink(0)
        memory = _c_malloc(padded)
        if memory == null:
            return null
    made = pointer_to(address_of(memory) + (_HEAD - 1) & -_HEAD, _Block)
    made.size = size
    made.memory = memory
    if size >= LARGE:
        _advise(made, size, _MADV_HUGEPAGE)
    return view(made, _HEAD, ptr)


@typed_function("ae.blocks.calloc")
def _calloc(context: ptr, count: u64, item_size: u64) -> ptr:
    size, is_too_large = multiply_checked(count, item_size)
    if is_too_large:
        return null
    memory = _malloc(null, size)
    if memory != null:
        fill_bytes(memory, 0, i64(size))
    return memory


@typed_function("ae.blocks.realloc")
def _realloc(context: ptr, old: ptr, size: u64) -> ptr:
    memory = _malloc(null, size)
    if memory != null and old != null:
        old_size = view(old, -_HEAD, _Block).size
        copy_bytes(memory, old, i64(min(old_size, size)))
        _free(null, old, old_size)
    return memory


@typed_function("ae.blocks.free")
def _free(context: ptr, elements: ptr, size: u64) -> None:
    """Put the memory of a large array into the list, and free that of a small one."""
    if elements == null:
        return
    block = view(elements, -_HEAD, _Block)
    if block.size >= LARGE and i64(block.size) <= _state.limit:
        _advise(elements, block.size, _MADV_FREE)
        block.next = _state.next
        _state.next = block
        _state.total += i64(block.size)
        _shrink(_state.limit)
    else:
        _c_free(block.memory)


@typed_function("ae.blocks.trim")
def _trim() -> None:
    _shrink(_state.limit)


@typed_function("ae.blocks.shrink")
def _shrink(limit: i64) -> None:
    """Free the oldest blocks of the list until at most this many bytes are left."""
    while _state.total > limit:
        before: _Link = _state
        block = before.next
        while block.next != null:
            before = block
            block = block.next
        before.next = null
        _state.total -= i64(block.size)
        _c_free(block.memory)


#: the functions that other modules call
BLOCK_FUNCTIONS: tuple[TypedFunction, ...] = (_raw_malloc, _malloc, _calloc, _realloc, _free, _trim) if USED else ()
#: create an array, as `PyArray_NewFromDescr` does
create_array = _array if USED else _plain_array
