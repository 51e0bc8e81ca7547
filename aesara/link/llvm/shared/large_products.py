"""Products of large matrices by BLAS, in one call, or in blocks with checks for signals in between.

A row-major product C = A B is the column-major product C' = B' A', so nothing is copied; an operand is passed
transposed if its unit stride requires it.

A call of BLAS cannot be interrupted. With a watcher (not null), a product of more multiply-adds than ``guards.state``
allows is split into blocks of its result, with checks for signals in between; each element is still the sum over the
whole inner dimension, in one call. BLAS may round elements at the edges of a thread's block differently from those
inside, so results may differ in the last bits, as they do between numbers of threads. The sizes of blocks are multiples
of 192, a multiple of the register blocks of today's kernels.

The text is in the notation of `products`.
"""

from __future__ import annotations

__all__ = ["LARGE_PRODUCTS"]

#: number of rows and columns of blocks is a multiple of this
_BLOCK = 192
#: size of a matrix so thin that BLAS is bound by memory
_THIN = 16

_TEXT = """
define i1 @ae.large.DTYPE(ARGUMENTS) noinline optnone nounwind {
entry:
  %nobody = icmp eq ptr %watcher, null
  br i1 %nobody, label %whole, label %watched
watched:
  JUMP pieces
whole:
  ; a single row is the single column of the transposed product
  %mone = icmp eq i64 %m, 1
  %none = icmp eq i64 %n, 1
  %more = xor i1 %none, true
  %turn = and i1 %mone, %more
  br i1 %turn, label %turned, label %straight
turned:
  %r.turned = musttail call i1 @ae.large.DTYPE(
    ptr %table, ptr %watcher, i64 %n, i64 %k, i64 1, ptr %b, i64 %bcs, i64 %brs,
    ptr %a, i64 %acs, i64 %ars, ptr %c, i64 1,
    TYPE %alpha, TYPE %beta)
  ret i1 %r.turned
straight:
  %palpha = alloca TYPE
  store TYPE %alpha, ptr %palpha
  %pbeta = alloca TYPE
  store TYPE %beta, ptr %pbeta
  %pm = alloca i32
  %pk = alloca i32
  %pn = alloca i32
  %pone = alloca i32
  store i32 1, ptr %pone
  %m32 = trunc i64 %m to i32
  %k32 = trunc i64 %k to i32
  %n32 = trunc i64 %n to i32
  store i32 %m32, ptr %pm
  store i32 %k32, ptr %pk
  store i32 %n32, ptr %pn
  %an = icmp eq i64 %acs, 1
  %bn = icmp eq i64 %bcs, 1
  %at = select i1 %an, i8 78, i8 84
  %bt = select i1 %bn, i8 78, i8 84
  %pat = alloca i8
  %pbt = alloca i8
  store i8 %at, ptr %pat
  store i8 %bt, ptr %pbt
  %alda0 = select i1 %an, i64 %ars, i64 %acs
  %alda1 = select i1 %an, i64 %k, i64 %m
  %alda2 = call i64 @llvm.smax.i64(i64 %alda0, i64 %alda1)
  %alda = call i64 @llvm.smax.i64(i64 %alda2, i64 1)
  %blda0 = select i1 %bn, i64 %brs, i64 %bcs
  %blda1 = select i1 %bn, i64 %n, i64 %k
  %blda2 = call i64 @llvm.smax.i64(i64 %blda0, i64 %blda1)
  %blda = call i64 @llvm.smax.i64(i64 %blda2, i64 1)
  %clda = call i64 @llvm.smax.i64(i64 %crs, i64 1)
  %alda32 = trunc i64 %alda to i32
  %blda32 = trunc i64 %blda to i32
  %clda32 = trunc i64 %clda to i32
  %plda = alloca i32
  %pldb = alloca i32
  %pldc = alloca i32
  store i32 %alda32, ptr %plda
  store i32 %blda32, ptr %pldb
  store i32 %clda32, ptr %pldc
  %vector = icmp eq i64 %n, 1
  br i1 %vector, label %matvec, label %matmat
matvec:
  ; column-major, A row-major is its own transpose: 'T' multiplies by A, 'N' by A'
  %vt = select i1 %an, i8 84, i8 78
  %pvt = alloca i8
  store i8 %vt, ptr %pvt
  %vr = select i1 %an, ptr %pk, ptr %pm
  %vc = select i1 %an, ptr %pm, ptr %pk
  %binc0 = select i1 %bn, i64 %brs, i64 1
  %binc1 = call i64 @llvm.smax.i64(i64 %binc0, i64 1)
  %binc32 = trunc i64 %binc1 to i32
  %pbinc = alloca i32
  store i32 %binc32, ptr %pbinc
  %gemv = word LETTERgemv
  call void %gemv(
    ptr %pvt, ptr %vr, ptr %vc, ptr %palpha, ptr %a, ptr %plda, ptr %b, ptr %pbinc, ptr %pbeta, ptr %c, ptr %pone)
  ret i1 false
matmat:
  %gemm = word LETTERgemm
  call void %gemm(
    ptr %pbt, ptr %pat, ptr %pn, ptr %pm, ptr %pk,
    ptr %palpha, ptr %b, ptr %pldb, ptr %a, ptr %plda, ptr %pbeta, ptr %c, ptr %pldc)
  ret i1 false
}

define internal i64 @ae.matmul.share.DTYPE(i64 %limit, i64 %a, i64 %b, i64 %most) noinline optnone nounwind {
  ; how many rows (or columns) of a result of so many columns (or rows) make a block
  %each = mul i64 %a, %b
  %share = udiv i64 %limit, %each
  %up = add i64 %share, _BLOCK
  %count = udiv i64 %up, _BLOCK
  %rounded = mul i64 %count, _BLOCK
  %size = call i64 @llvm.smin.i64(i64 %rounded, i64 %most)
  ret i64 %size
}

define hidden i1 @ae.matmul.pieces.DTYPE(ARGUMENTS) noinline optnone nounwind {
entry:
  %state = word state
  %all = field i64 %state, STATE_PRODUCT
  %mn = mul i64 %m, %n
  %thin.k = call i64 @llvm.smax.i64(i64 %k, i64 THIN)
  %mone = icmp eq i64 %m, 1
  %none = icmp eq i64 %n, 1
  %vector = or i1 %mone, %none
  %few = sdiv i64 %all, THIN
  %limit = select i1 %vector, i64 %few, i64 %all
  %work = mul i64 %mn, %thin.k
  %short = icmp sle i64 %work, %limit
  br i1 %short, label %whole, label %cut
whole:
  %r.whole = ask i1 matmul.DTYPE(UNWATCHED)
  ret i1 %r.whole
cut:
  %area = udiv i64 %limit, %thin.k
  %area.f = uitofp i64 %area to double
  %side.f = call double @llvm.sqrt.f64(double %area.f)
  %side = fptoui double %side.f to i64
  %few.rows = call i64 @ae.matmul.share.DTYPE(i64 %side, i64 1, i64 1, i64 %m)
  %few.columns = call i64 @ae.matmul.share.DTYPE(i64 %limit, i64 %thin.k, i64 %few.rows, i64 %n)
  SYMMETRIC
  %columns = select i1 %symmetric, i64 %few.rows, i64 %few.columns
  %more.rows = call i64 @ae.matmul.share.DTYPE(i64 %limit, i64 %thin.k, i64 %columns, i64 %m)
  %rows = select i1 %symmetric, i64 %few.rows, i64 %more.rows
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
  %product = word matmul.DTYPE
  %r.part = call i1 %product(
    ptr %table, ptr null, i64 %i.size, i64 %k, i64 %j.size, ptr %a.p, i64 %ars, i64 %acs, ptr %b.p, i64 %brs, i64 %bcs,
    ptr %d.p, i64 %crs, TYPE %alpha, TYPE %beta)
  ; of a symmetric result the blocks above the diagonal are those below it, transposed
  %below = icmp slt i64 %j, %i
  %twice = and i1 %symmetric, %below
  br i1 %twice, label %copy, label %look
copy:
  %e.o = mul i64 %j, %crs
  %e.q = add i64 %e.o, %i
  %e.p = getelementptr TYPE, ptr %c, i64 %e.q
  ask void mirror.DTYPE(ptr %d.p, ptr %e.p, i64 %i.size, i64 %j.size, i64 %crs, i1 false)
  br label %look
look:
  %stop = ask i1 poll(ptr %watcher)
  br i1 %stop, label %stopped, label %across.next
across.next:
  %diagonal = icmp eq i64 %j, %i
  %half = and i1 %symmetric, %diagonal
  %across.last = or i1 %j.last, %half
  br i1 %across.last, label %down.next, label %across
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

LARGE_PRODUCTS = _TEXT.replace("THIN", str(_THIN)).replace("LESS", str(_BLOCK - 1)).replace("_BLOCK", str(_BLOCK))
