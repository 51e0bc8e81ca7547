"""Memory of a call: new arrays, results, and the block of workspace.

========================================================================  ============================================
``array(table, descriptor, rank, shape, data)``                           a new ndarray: owning its memory, or a
                                                                          read-only view of data
``workspace(frame, table, bytes)``                                        a block from the function's pool, or a new
                                                                          one
``late(frame, table, place, bytes)``                                      a block for an intermediate result, stored
                                                                          in the frame, where it replaces the one of
                                                                          a previous iteration
========================================================================  ============================================

Descriptors are offsets in the table.  All return null if there is no memory.
"""

from __future__ import annotations

from aesara.link.llvm import layout

__all__ = ["ALIGN", "BLOCKS", "MEMORY"]

#: alignment of workspace in bytes
ALIGN = 64

#: ``block(table, bytes)``, which allocates a block of workspace
BLOCKS = f"""
define internal ptr @ae.block(ptr %table, i64 %bytes) nounwind {{
entry:
  %padded = add i64 %bytes, {ALIGN + layout.BLOCK_HEAD}
  %memory = ask ptr PyMem_RawMalloc(i64 %padded)
  %failed = icmp eq ptr %memory, null
  br i1 %failed, label %none, label %align
align:
  %number = ptrtoint ptr %memory to i64
  %up = add i64 %number, {ALIGN - 1}
  %aligned = and i64 %up, {-ALIGN}
  %made = inttoptr i64 %aligned to ptr
  set i64 %bytes, %made, BLOCK_SIZE
  set ptr %memory, %made, BLOCK_MEMORY
  ret ptr %made
none:
  ret ptr null
}}
"""

MEMORY = f"""{BLOCKS}
define ptr @ae.array(ptr %table, i64 %descr.at, i32 %rank, ptr %shape, ptr %data) nounwind {{
entry:
  %descr = field ptr %table, %descr.at
  ask void Py_IncRef(ptr %descr)
  %kind = word PyArray_Type
  %own = icmp eq ptr %data, null
  %flags = select i1 %own, i32 0, i32 {{PLAIN}}
  %made = call ptr @ae.new_array(
    ptr %kind, ptr %descr, i32 %rank, ptr %shape, ptr null, ptr %data, i32 %flags, ptr null)
  ret ptr %made
}}

define ptr @ae.workspace(ptr %frame, ptr %table, i64 %bytes) nounwind {{
entry:
  %first = word pool
  %some = icmp ne ptr %first, null
  br i1 %some, label %pop, label %make
pop:
  %next = field ptr %first, BLOCK_NEXT
  set ptr %next, %table, 0
  %capacity = field i64 %first, BLOCK_SIZE
  %enough = icmp sle i64 %bytes, %capacity
  br i1 %enough, label %ready, label %small
small:
  %old = field ptr %first, BLOCK_MEMORY
  ask void PyMem_RawFree(ptr %old)
  br label %make
make:
  %quarter = lshr i64 %bytes, 2
  %size = add i64 %bytes, %quarter
  %made = call ptr @ae.block(ptr %table, i64 %size)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %none, label %ready
ready:
  %block = phi ptr [%first, %pop], [%made, %make]
  set ptr %block, %frame, FRAME_BLOCK
  %workspace = at %block, BLOCK_HEAD
  ret ptr %workspace
none:
  ret ptr null
}}

define ptr @ae.late(ptr %frame, ptr %table, i64 %place, i64 %bytes) nounwind {{
entry:
  %old = field ptr %frame, %place
  ask void PyMem_RawFree(ptr %old)
  %memory = ask ptr PyMem_RawMalloc(i64 %bytes)
  set ptr %memory, %frame, %place
  ret ptr %memory
}}
"""
