"""Results that a function lends (``Out(borrow=True)``): it keeps their arrays, and returns them again as soon as nobody
else holds them.

For each such result it keeps the last two, in a list, because whoever writes ``y = f(x)`` in a loop holds the last one
during the next call.  What somebody holds, also through a view, is never written to.
"""

from __future__ import annotations

from typing import Any

from aesara.link.llvm import layout

__all__ = ["COPIES", "FIND_KEPT", "empty_places", "find_kept_definition"]

#: how many arrays are kept for each result
COPIES = 2

#: symbol of the function that looks for an array that may be returned again
FIND_KEPT = "@ae.kept"

_FLAGS = layout.C_CONTIGUOUS | layout.OWNDATA | layout.ALIGNED | layout.WRITEABLE


def empty_places(lent: int) -> list[Any]:
    """What a function keeps of `lent` results before its first call."""
    return [None] * (COPIES * lent)


def find_kept_definition() -> str:
    """``@ae.kept(items, array type, descriptor, rank, shape)``: one of the arrays that nobody else holds, or null.

    Whoever held it may have given it another shape or dtype meanwhile.
    """
    return f"""
define internal ptr {FIND_KEPT}(ptr %items, ptr %kind, ptr %descr, i32 %rank, ptr %dims) noinline nounwind {{
entry:
  br label %look
look:
  %k = phi i64 [0, %entry], [%k.next, %next]
  %place = getelementptr ptr, ptr %items, i64 %k
  %object = load ptr, ptr %place
  %type.p = getelementptr i8, ptr %object, i64 {layout.OBJECT_TYPE}
  %type = load ptr, ptr %type.p
  %is.array = icmp eq ptr %type, %kind
  br i1 %is.array, label %array, label %next
array:
  %holders = load i32, ptr %object
  %descr.p = getelementptr i8, ptr %object, i64 {layout.ARRAY_DESCR}
  %own.descr = load ptr, ptr %descr.p
  %rank.p = getelementptr i8, ptr %object, i64 {layout.ARRAY_NDIM}
  %own.rank = load i32, ptr %rank.p
  %flags.p = getelementptr i8, ptr %object, i64 {layout.ARRAY_FLAGS}
  %flags = load i32, ptr %flags.p
  %masked = and i32 %flags, {_FLAGS}
  %free = icmp eq i32 %holders, 1
  %same.descr = icmp eq ptr %own.descr, %descr
  %same.rank = icmp eq i32 %own.rank, %rank
  %owned = icmp eq i32 %masked, {_FLAGS}
  %a = and i1 %free, %same.descr
  %b = and i1 %same.rank, %owned
  %fits = and i1 %a, %b
  br i1 %fits, label %shape, label %next
shape:
  %own.p = getelementptr i8, ptr %object, i64 {layout.ARRAY_DIMS}
  %own = load ptr, ptr %own.p
  %count = zext i32 %rank to i64
  br label %length
length:
  %d = phi i64 [0, %shape], [%d.next, %compare]
  %more = icmp ult i64 %d, %count
  br i1 %more, label %compare, label %found
compare:
  %n.p = getelementptr i64, ptr %own, i64 %d
  %n = load i64, ptr %n.p
  %wanted.p = getelementptr i64, ptr %dims, i64 %d
  %wanted = load i64, ptr %wanted.p
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
}}"""
