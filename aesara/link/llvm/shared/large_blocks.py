"""Large arrays and workspace: huge pages, and reuse of memory of dead results without page faults.

========================================  ==========================================================================
``new_array(...)``                        NumPy's ``PyArray_NewFromDescr``, with memory of large arrays from the
                                          functions below
``raw_malloc(bytes)``                     ``PyMem_RawMalloc``, with huge pages for large blocks
``blocks.malloc``, ``blocks.calloc``,     the functions of a NumPy allocator (``PyDataMemAllocator``)
``blocks.realloc``, ``blocks.free``
``blocks.trim()``                         free memory that is kept beyond the limit
========================================  ==========================================================================

Memory of freed arrays is put into a list, which holds at most as many bytes as ``blocks.state`` says; the oldest goes
first.  An array takes the first block that is at most an eighth of the block too large.  The kernel may reclaim pages
in the list when memory gets scarce (``MADV_FREE``).  Until then, writing to them again costs no page fault.

NumPy calls an allocator for arrays, so no block is in the list while an array, or a view of it, is alive.  The list is
protected by the GIL.

A block begins with its size, the pointer to free, and the next block of the list; then come the elements.
"""

from __future__ import annotations

import re

__all__ = ["LARGE", "NEEDED", "NEEDED_BY_PLAIN_ARRAYS", "PLAIN_ARRAYS", "large_blocks_text"]

#: size of a large block in bytes
LARGE = 4 << 20
#: least number of elements of a large array: a complex number takes 16 bytes
_MANY = LARGE // 16
#: advice to the kernel, the same on all processors
_MADV_FREE, _MADV_HUGEPAGE = 8, 14

#: size of the header before the elements, and their alignment
_HEAD = 64
_MEMORY, _NEXT = 8, 16

#: symbols that the text refers to: the limit, the bytes and the first block of the list; our allocator and NumPy's, as
#: objects; the APIs of NumPy and Python; the C library
NEEDED = (
    "blocks.state", "blocks.handler", "numpy.handler",
    "numpy.PyArray_NewFromDescr", "numpy.PyDataMem_GetHandler", "numpy.PyDataMem_SetHandler",
    "python.Py_DecRef", "python.PyErr_Clear", "python.PyErr_Fetch", "python.PyErr_Restore", "python.PyMem_RawMalloc",
    "malloc", "free", "madvise",
)  # fmt: skip

NEEDED_BY_PLAIN_ARRAYS = ("numpy.PyArray_NewFromDescr",)

#: the routine `new_array` without our allocator
PLAIN_ARRAYS = """
declare ptr @numpy.PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)

define ptr @ae.new_array(
  ptr %kind, ptr %descr, i32 %rank, ptr %lengths, ptr %strides, ptr %data, i32 %flags, ptr %base
) nounwind {
entry:
  %made = call ptr @numpy.PyArray_NewFromDescr(
    ptr %kind, ptr %descr, i32 %rank, ptr %lengths, ptr %strides, ptr %data, i32 %flags, ptr %base)
  ret ptr %made
}
"""

_TEXT = """
@blocks.state = external global [3 x i64]
@blocks.handler = external global i8
@numpy.handler = external global i8
declare ptr @numpy.PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare ptr @numpy.PyDataMem_GetHandler()
declare ptr @numpy.PyDataMem_SetHandler(ptr)
declare void @python.Py_DecRef(ptr)
declare void @python.PyErr_Clear()
declare void @python.PyErr_Fetch(ptr, ptr, ptr)
declare void @python.PyErr_Restore(ptr, ptr, ptr)
declare ptr @python.PyMem_RawMalloc(i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @madvise(ptr, i64, i32)
declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)

define ptr @ae.new_array(
  ptr %kind, ptr %descr, i32 %rank, ptr %lengths, ptr %strides, ptr %data, i32 %flags, ptr %base
) nounwind {
entry:
  %own = icmp eq ptr %data, null
  %some = icmp sgt i32 %rank, 0
  %counted = and i1 %own, %some
  br i1 %counted, label %count, label %plain
count:
  %d = phi i32 [0, %entry], [%d.next, %count]
  %before = phi i64 [1, %entry], [%elements, %count]
  %length.p = getelementptr i64, ptr %lengths, i32 %d
  %length = load i64, ptr %length.p
  %elements = mul i64 %before, %length
  %d.next = add i32 %d, 1
  %more = icmp slt i32 %d.next, %rank
  br i1 %more, label %count, label %counted.all
counted.all:
  %many = icmp sge i64 %elements, MANY
  br i1 %many, label %large, label %plain
plain:
  %ordinary = call ptr @numpy.PyArray_NewFromDescr(
    ptr %kind, ptr %descr, i32 %rank, ptr %lengths, ptr %strides, ptr %data, i32 %flags, ptr %base)
  ret ptr %ordinary
large:
  %limit = load i64, ptr @blocks.state
  %keeps = icmp sgt i64 %limit, 0
  br i1 %keeps, label %look, label %plain
look:
  ; Respect an allocator that the user has chosen.
  %chosen = call ptr @numpy.PyDataMem_GetHandler()
  %none = icmp eq ptr %chosen, null
  br i1 %none, label %clear, label %compare
clear:
  call void @python.PyErr_Clear()
  br label %plain
compare:
  call void @python.Py_DecRef(ptr %chosen)
  %usual = icmp eq ptr %chosen, @numpy.handler
  br i1 %usual, label %set, label %plain
set:
  %old = call ptr @numpy.PyDataMem_SetHandler(ptr @blocks.handler)
  %failed = icmp eq ptr %old, null
  br i1 %failed, label %clear, label %make
make:
  %made = call ptr @numpy.PyArray_NewFromDescr(
    ptr %kind, ptr %descr, i32 %rank, ptr %lengths, ptr %strides, ptr null, i32 %flags, ptr %base)
  %error = alloca [3 x ptr]
  %error.1 = getelementptr ptr, ptr %error, i64 1
  %error.2 = getelementptr ptr, ptr %error, i64 2
  call void @python.PyErr_Fetch(ptr %error, ptr %error.1, ptr %error.2)
  %ours = call ptr @numpy.PyDataMem_SetHandler(ptr %old)
  call void @python.Py_DecRef(ptr %ours)
  call void @python.Py_DecRef(ptr %old)
  %type = load ptr, ptr %error
  %value = load ptr, ptr %error.1
  %trace = load ptr, ptr %error.2
  call void @python.PyErr_Restore(ptr %type, ptr %value, ptr %trace)
  ret ptr %made
}

define ptr @ae.raw_malloc(i64 %bytes) nounwind {
entry:
  %memory = call ptr @python.PyMem_RawMalloc(i64 %bytes)
  %large = icmp uge i64 %bytes, LARGE
  %there = icmp ne ptr %memory, null
  %both = and i1 %large, %there
  br i1 %both, label %advise, label %done
advise:
  call void @ae.blocks.advise(ptr %memory, i64 %bytes, i32 HUGEPAGE)
  br label %done
done:
  ret ptr %memory
}

; Advise the kernel about the whole pages in a range of memory.
define internal void @ae.blocks.advise(ptr %memory, i64 %bytes, i32 %advice) nounwind {
entry:
  %first = ptrtoint ptr %memory to i64
  %last = add i64 %first, %bytes
  %up = add i64 %first, PAGE_LESS
  %from = and i64 %up, NO_PAGE
  %to = and i64 %last, NO_PAGE
  %whole = sub i64 %to, %from
  %pages = inttoptr i64 %from to ptr
  %ignored = call i32 @madvise(ptr %pages, i64 %whole, i32 %advice)
  ret void
}

define ptr @ae.blocks.malloc(ptr %context, i64 %bytes) nounwind {
entry:
  %first.at = getelementptr i64, ptr @blocks.state, i64 2
  %large = icmp uge i64 %bytes, LARGE
  br i1 %large, label %look, label %make
look:
  %place = phi ptr [%first.at, %entry], [%next.at, %other]
  %block = load ptr, ptr %place
  %end = icmp eq ptr %block, null
  br i1 %end, label %make, label %compare
compare:
  %next.at = getelementptr i8, ptr %block, i64 NEXT
  %size = load i64, ptr %block
  %eighth = lshr i64 %size, 3
  %least = sub i64 %size, %eighth
  %enough = icmp uge i64 %size, %bytes
  %not.too.large = icmp ule i64 %least, %bytes
  %fits = and i1 %enough, %not.too.large
  br i1 %fits, label %take, label %other
other:
  br label %look
take:
  %following = load ptr, ptr %next.at
  store ptr %following, ptr %place
  %total.at = getelementptr i64, ptr @blocks.state, i64 1
  %total = load i64, ptr %total.at
  %rest = sub i64 %total, %size
  store i64 %rest, ptr %total.at
  %again = getelementptr i8, ptr %block, i64 HEAD
  ret ptr %again
make:
  %padded = add i64 %bytes, PADDING
  %overflows = icmp ult i64 %padded, %bytes
  br i1 %overflows, label %nothing, label %allocate
allocate:
  %memory = call ptr @malloc(i64 %padded)
  %failed = icmp eq ptr %memory, null
  br i1 %failed, label %scarce, label %align
scarce:
  call void @ae.blocks.keep(i64 0)
  %retried = call ptr @malloc(i64 %padded)
  %failed.again = icmp eq ptr %retried, null
  br i1 %failed.again, label %nothing, label %align
align:
  %raw = phi ptr [%memory, %allocate], [%retried, %scarce]
  %number = ptrtoint ptr %raw to i64
  %up = add i64 %number, HEAD_LESS
  %aligned = and i64 %up, NO_HEAD
  %made = inttoptr i64 %aligned to ptr
  store i64 %bytes, ptr %made
  %memory.at = getelementptr i8, ptr %made, i64 MEMORY
  store ptr %raw, ptr %memory.at
  %elements = getelementptr i8, ptr %made, i64 HEAD
  br i1 %large, label %advise, label %ready
advise:
  call void @ae.blocks.advise(ptr %made, i64 %bytes, i32 HUGEPAGE)
  br label %ready
ready:
  ret ptr %elements
nothing:
  ret ptr null
}

define ptr @ae.blocks.calloc(ptr %context, i64 %count, i64 %each) nounwind {
entry:
  %product = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %count, i64 %each)
  %bytes = extractvalue {i64, i1} %product, 0
  %overflows = extractvalue {i64, i1} %product, 1
  br i1 %overflows, label %nothing, label %make
make:
  %made = call ptr @ae.blocks.malloc(ptr null, i64 %bytes)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %nothing, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %made, i8 0, i64 %bytes, i1 false)
  ret ptr %made
nothing:
  ret ptr null
}

define ptr @ae.blocks.realloc(ptr %context, ptr %old, i64 %bytes) nounwind {
entry:
  %made = call ptr @ae.blocks.malloc(ptr null, i64 %bytes)
  %failed = icmp eq ptr %made, null
  %fresh = icmp eq ptr %old, null
  %either = or i1 %failed, %fresh
  br i1 %either, label %done, label %copy
copy:
  %block = getelementptr i8, ptr %old, i64 -HEAD
  %size = load i64, ptr %block
  %both = call i64 @llvm.umin.i64(i64 %size, i64 %bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %made, ptr %old, i64 %both, i1 false)
  call void @ae.blocks.free(ptr null, ptr %old, i64 %size)
  br label %done
done:
  ret ptr %made
}

define void @ae.blocks.free(ptr %context, ptr %elements, i64 %ignored) nounwind {
entry:
  %nothing = icmp eq ptr %elements, null
  br i1 %nothing, label %done, label %look
look:
  %block = getelementptr i8, ptr %elements, i64 -HEAD
  %size = load i64, ptr %block
  %limit = load i64, ptr @blocks.state
  %large = icmp uge i64 %size, LARGE
  %possible = icmp sle i64 %size, %limit
  %both = and i1 %large, %possible
  br i1 %both, label %keep, label %give
keep:
  call void @ae.blocks.advise(ptr %elements, i64 %size, i32 FREE)
  %first.at = getelementptr i64, ptr @blocks.state, i64 2
  %first = load ptr, ptr %first.at
  %next.at = getelementptr i8, ptr %block, i64 NEXT
  store ptr %first, ptr %next.at
  store ptr %block, ptr %first.at
  %total.at = getelementptr i64, ptr @blocks.state, i64 1
  %total = load i64, ptr %total.at
  %more = add i64 %total, %size
  store i64 %more, ptr %total.at
  call void @ae.blocks.keep(i64 %limit)
  br label %done
give:
  %memory.at = getelementptr i8, ptr %block, i64 MEMORY
  %memory = load ptr, ptr %memory.at
  call void @free(ptr %memory)
  br label %done
done:
  ret void
}

define void @ae.blocks.trim() nounwind {
entry:
  %limit = load i64, ptr @blocks.state
  call void @ae.blocks.keep(i64 %limit)
  ret void
}

; Free the oldest blocks of the list until at most this many bytes are left.
define internal void @ae.blocks.keep(i64 %limit) nounwind {
entry:
  %total.at = getelementptr i64, ptr @blocks.state, i64 1
  %first.at = getelementptr i64, ptr @blocks.state, i64 2
  br label %look
look:
  %total = load i64, ptr %total.at
  %much = icmp sgt i64 %total, %limit
  br i1 %much, label %find, label %done
find:
  %place = phi ptr [%first.at, %look], [%next.at, %find]
  %block = load ptr, ptr %place
  %next.at = getelementptr i8, ptr %block, i64 NEXT
  %next = load ptr, ptr %next.at
  %last = icmp eq ptr %next, null
  br i1 %last, label %free, label %find
free:
  store ptr null, ptr %place
  %size = load i64, ptr %block
  %rest = sub i64 %total, %size
  store i64 %rest, ptr %total.at
  %memory.at = getelementptr i8, ptr %block, i64 MEMORY
  %memory = load ptr, ptr %memory.at
  call void @free(ptr %memory)
  br label %look
done:
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def large_blocks_text(page: int) -> str:
    """Return LLVM IR text of the routines, for this page size."""
    numbers = {
        "MANY": _MANY, "LARGE": LARGE, "HUGEPAGE": _MADV_HUGEPAGE, "FREE": _MADV_FREE, "PAGE_LESS": page - 1,
        "NO_PAGE": -page, "NEXT": _NEXT, "MEMORY": _MEMORY, "PADDING": 2 * _HEAD, "HEAD_LESS": _HEAD - 1,
        "NO_HEAD": -_HEAD, "HEAD": _HEAD,
    }  # fmt: skip
    return re.sub(r"\b[A-Z_]{4,}\b", lambda name: str(numbers[name[0]]), _TEXT)
