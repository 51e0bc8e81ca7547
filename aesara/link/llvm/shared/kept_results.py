"""Results that a function lends (``Out(borrow=True)``): their arrays are reused once nobody else refers to them.

The last two arrays of each result are kept in a list, since a loop with ``y = f(x)`` holds the last one during the next
call. An array with other references, also by a view, is never overwritten.

``lend(table, descriptor, rank, shape, places)`` returns one of them, or a new array, which is kept.
"""

from __future__ import annotations

from typing import Any

from aesara.link.llvm import layout

__all__ = ["COPIES", "KEPT_RESULTS", "empty_places"]

#: number of arrays kept for each result
COPIES = 2

_FLAGS = layout.C_CONTIGUOUS | layout.OWNDATA | layout.ALIGNED | layout.WRITEABLE


def empty_places(lent: int) -> list[Any]:
    """Return the initial list of kept arrays for `lent` results."""
    return [None] * (COPIES * lent)


KEPT_RESULTS = f"""
define ptr @ae.lend(ptr %table, i64 %descr.at, i32 %rank, ptr %shape, ptr %places) nounwind {{
entry:
  %found = call ptr @ae.kept(ptr %table, i64 %descr.at, i32 %rank, ptr %shape, ptr %places)
  %none = icmp eq ptr %found, null
  br i1 %none, label %make, label %again
again:
  ask void Py_IncRef(ptr %found)
  ret ptr %found
make:
  %made = ask ptr array(ptr %table, i64 %descr.at, i32 %rank, ptr %shape, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %nothing, label %good
good:
  ask void Py_IncRef(ptr %made)
  br label %place
place:
  ; shift the arrays by one place
  %k = phi i64 [0, %good], [%k.next, %place]
  %mover = phi ptr [%made, %good], [%one, %place]
  %p = getelementptr ptr, ptr %places, i64 %k
  %one = load ptr, ptr %p
  store ptr %mover, ptr %p
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, {COPIES}
  br i1 %more, label %place, label %full
full:
  ask void Py_DecRef(ptr %one)
  ret ptr %made
nothing:
  ret ptr null
}}

; An array without other references, or null.  Its user may have changed its shape or dtype.
define internal ptr @ae.kept(ptr %table, i64 %descr.at, i32 %rank, ptr %shape, ptr %places) nounwind {{
entry:
  %kind = word PyArray_Type
  %descr = field ptr %table, %descr.at
  %count = zext i32 %rank to i64
  br label %look
look:
  %k = phi i64 [0, %entry], [%k.next, %next]
  %object = item ptr %places, %k
  %type = field ptr %object, OBJECT_TYPE
  %is.array = icmp eq ptr %type, %kind
  br i1 %is.array, label %array, label %next
array:
  %holders = load i32, ptr %object
  %own.descr = field ptr %object, ARRAY_DESCR
  %own.rank = field i32 %object, ARRAY_NDIM
  %flags = field i32 %object, ARRAY_FLAGS
  %masked = and i32 %flags, {_FLAGS}
  %free = icmp eq i32 %holders, 1
  %same.descr = icmp eq ptr %own.descr, %descr
  %same.rank = icmp eq i32 %own.rank, %rank
  %owned = icmp eq i32 %masked, {_FLAGS}
  %a = and i1 %free, %same.descr
  %b = and i1 %same.rank, %owned
  %fits = and i1 %a, %b
  br i1 %fits, label %lengths, label %next
lengths:
  %own = field ptr %object, ARRAY_DIMS
  br label %length
length:
  %d = phi i64 [0, %lengths], [%d.next, %compare]
  %more = icmp ult i64 %d, %count
  br i1 %more, label %compare, label %found
compare:
  %n = item i64 %own, %d
  %wanted = item i64 %shape, %d
  %d.next = add i64 %d, 1
  %same = icmp eq i64 %n, %wanted
  br i1 %same, label %length, label %next
next:
  %k.next = add i64 %k, 1
  %last = icmp eq i64 %k.next, {COPIES}
  br i1 %last, label %none, label %look
found:
  ret ptr %object
none:
  ret ptr null
}}
"""
