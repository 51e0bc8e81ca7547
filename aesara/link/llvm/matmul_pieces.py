"""Long matrix products as a sequence of shorter ones, between which signals are looked for.

A call of BLAS cannot be interrupted.  In the main thread a product of more multiply-adds than ``guards.state`` names
is cut into blocks of its result; each element is still the sum over all of the inner dimension, in one call.  BLAS may
round elements at the edges of what a thread computes otherwise than those inside, so results may differ in the last
bits, as they do between numbers of threads.  Blocks are multiples of 192, which is one of the register blocks of
today's kernels, and none is smaller than that.
"""

from __future__ import annotations

from aesara.link.llvm import layout, matmul

__all__ = ["definition", "symbol"]

#: blocks have a multiple of so many rows and columns
_BLOCK = 192
#: BLAS goes through memory rather than compute if a matrix is so thin
_THIN = 16


def symbol(dtype: str) -> str:
    return f"@ae.matmul.pieces.{dtype}"


def definition(dtype: str) -> str:
    """Like `matmul`, with ``guards.state`` and a watcher (or null) in front; returns whether a handler has raised."""
    t = {"float64": "double", "float32": "float"}[dtype]
    words = {
        "TYPE": t, "PLAIN": matmul.symbol(dtype), "PIECES": symbol(dtype), "SHARE": f"@ae.matmul.share.{dtype}",
        "STATE": layout.STATE_PRODUCT,
        "THIN": _THIN, "LESS": _BLOCK - 1, "BLOCK": _BLOCK,
    }  # fmt: skip
    text = _TEXT
    for name, value in words.items():
        text = text.replace(name, str(value))
    return text


_TEXT = """
define internal i64 SHARE(i64 %limit, i64 %a, i64 %b, i64 %most) alwaysinline nounwind {
  ; how many rows (or columns) of a result of so many columns (or rows) make a block
  %each = mul i64 %a, %b
  %share = udiv i64 %limit, %each
  %up = add i64 %share, BLOCK
  %count = udiv i64 %up, BLOCK
  %rounded = mul i64 %count, BLOCK
  %size = call i64 @llvm.smin.i64(i64 %rounded, i64 %most)
  ret i64 %size
}

define internal i1 PIECES(
    ptr %state, ptr %watcher, ptr %gemm, ptr %gemv, i64 %m, i64 %k, i64 %n,
    ptr %a, i64 %ars, i64 %acs, ptr %b, i64 %brs, i64 %bcs, ptr %c, i64 %crs, TYPE %alpha, TYPE %beta
) noinline nounwind {
entry:
  %limit.p = getelementptr i8, ptr %state, i64 STATE
  %all = load i64, ptr %limit.p
  %mn = mul i64 %m, %n
  %thin.k = call i64 @llvm.smax.i64(i64 %k, i64 THIN)
  %mone = icmp eq i64 %m, 1
  %none = icmp eq i64 %n, 1
  %vector = or i1 %mone, %none
  %few = sdiv i64 %all, THIN
  %limit = select i1 %vector, i64 %few, i64 %all
  %work = mul i64 %mn, %thin.k
  %short = icmp sle i64 %work, %limit
  %nobody = icmp eq ptr %watcher, null
  %once = or i1 %short, %nobody
  br i1 %once, label %whole, label %cut
whole:
  call void PLAIN(
    ptr %gemm, ptr %gemv, i64 %m, i64 %k, i64 %n, ptr %a, i64 %ars, i64 %acs, ptr %b, i64 %brs, i64 %bcs,
    ptr %c, i64 %crs, TYPE %alpha, TYPE %beta)
  ret i1 false
cut:
  %area = udiv i64 %limit, %thin.k
  %area.f = uitofp i64 %area to double
  %side.f = call double @llvm.sqrt.f64(double %area.f)
  %side = fptoui double %side.f to i64
  %few.rows = call i64 SHARE(i64 %side, i64 1, i64 1, i64 %m)
  %columns = call i64 SHARE(i64 %limit, i64 %thin.k, i64 %few.rows, i64 %n)
  %rows = call i64 SHARE(i64 %limit, i64 %thin.k, i64 %columns, i64 %m)
  %enough.rows = add i64 %rows, LESS
  %enough.columns = add i64 %columns, LESS
  br label %down
down:
  %i = phi i64 [0, %cut], [%i.next, %down.next]
  %i.left = sub i64 %m, %i
  %i.last = icmp sle i64 %i.left, %enough.rows
  %i.size = select i1 %i.last, i64 %i.left, i64 %rows
  %i.next = add i64 %i, %i.size
  %a.o = mul i64 %i, %ars
  %a.p = getelementptr TYPE, ptr %a, i64 %a.o
  %c.o = mul i64 %i, %crs
  %c.p = getelementptr TYPE, ptr %c, i64 %c.o
  br label %across
across:
  %j = phi i64 [0, %down], [%j.next, %across.next]
  %j.left = sub i64 %n, %j
  %j.last = icmp sle i64 %j.left, %enough.columns
  %j.size = select i1 %j.last, i64 %j.left, i64 %columns
  %j.next = add i64 %j, %j.size
  %b.o = mul i64 %j, %bcs
  %b.p = getelementptr TYPE, ptr %b, i64 %b.o
  %d.p = getelementptr TYPE, ptr %c.p, i64 %j
  call void PLAIN(
    ptr %gemm, ptr %gemv, i64 %i.size, i64 %k, i64 %j.size, ptr %a.p, i64 %ars, i64 %acs, ptr %b.p, i64 %brs, i64 %bcs,
    ptr %d.p, i64 %crs, TYPE %alpha, TYPE %beta)
  %stop = call i1 @ae.poll(ptr %watcher)
  br i1 %stop, label %stopped, label %across.next
across.next:
  br i1 %j.last, label %down.next, label %across
down.next:
  br i1 %i.last, label %done, label %down
done:
  ret i1 false
stopped:
  ret i1 true
}
declare double @llvm.sqrt.f64(double)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
"""
