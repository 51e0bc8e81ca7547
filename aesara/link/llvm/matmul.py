"""Matrix products: loops for small matrices, BLAS for large ones.

C = alpha A B + beta C, where beta is 0 or 1 (with 0, what C held does not matter).  One internal function per dtype
takes the sizes, the operands with their strides, and the BLAS pointers.  A row-major
product C = A B is the column-major product C' = B' A', so nothing is copied; an operand is passed transposed when
its unit stride says so.
"""

from __future__ import annotations

#: products of at most so many multiply-adds are done inline: measured against OpenBLAS's own small kernels
SMALL = 128
SMALL_WITH_VECTOR = 2048


def definition(dtype: str) -> str:
    t = {"float64": "double", "float32": "float"}[dtype]
    return (
        _TEXT.replace("DTYPE", dtype)
        .replace("TYPE", t)
        .replace("LIMIT_VECTOR", str(SMALL_WITH_VECTOR))
        .replace("LIMIT", str(SMALL))
    )


def symbol(dtype: str) -> str:
    return f"@ae.matmul.{dtype}"


_TEXT = """
define internal void @ae.matmul.small.DTYPE(
    i64 %m, i64 %k, i64 %n, ptr %a, i64 %ars, i64 %acs, ptr %b, i64 %brs, i64 %bcs, ptr noalias %c, i64 %crs,
    TYPE %alpha, TYPE %beta
) noinline nounwind {
entry:
  %keep = fcmp one TYPE %beta, 0.0
  %unit = icmp eq i64 %bcs, 1
  br label %rows
rows:
  %i = phi i64 [0, %entry], [%i.next, %rows.end]
  %imore = icmp slt i64 %i, %m
  br i1 %imore, label %row, label %done
row:
  %arow.o = mul i64 %i, %ars
  %arow = getelementptr TYPE, ptr %a, i64 %arow.o
  %crow.o = mul i64 %i, %crs
  %crow = getelementptr TYPE, ptr %c, i64 %crow.o
  br i1 %unit, label %zero.head, label %dots
zero.head:
  %zany = icmp sgt i64 %n, 0
  br i1 %zany, label %zero.pick, label %rows.end
zero.pick:
  br i1 %keep, label %axpys, label %zero
zero:
  %zj = phi i64 [0, %zero.pick], [%zj.next, %zero]
  %zp = getelementptr TYPE, ptr %crow, i64 %zj
  store TYPE 0.0, ptr %zp
  %zj.next = add nuw nsw i64 %zj, 1
  %zmore = icmp slt i64 %zj.next, %n
  br i1 %zmore, label %zero, label %axpys
axpys:
  %p = phi i64 [0, %zero], [0, %zero.pick], [%p.next, %axpy.end]
  %pmore = icmp slt i64 %p, %k
  br i1 %pmore, label %axpy.head, label %rows.end
axpy.head:
  %aip.o = mul i64 %p, %acs
  %aip.p = getelementptr TYPE, ptr %arow, i64 %aip.o
  %aip.v = load TYPE, ptr %aip.p
  %aip = fmul TYPE %aip.v, %alpha
  %brow.o = mul i64 %p, %brs
  %brow = getelementptr TYPE, ptr %b, i64 %brow.o
  br label %axpy
axpy:
  %j = phi i64 [0, %axpy.head], [%j.next, %axpy]
  %bp = getelementptr TYPE, ptr %brow, i64 %j
  %bv = load TYPE, ptr %bp
  %cp = getelementptr TYPE, ptr %crow, i64 %j
  %cv = load TYPE, ptr %cp
  %ab = fmul contract TYPE %aip, %bv
  %cn = fadd contract TYPE %cv, %ab
  store TYPE %cn, ptr %cp
  %j.next = add nuw nsw i64 %j, 1
  %jmore = icmp slt i64 %j.next, %n
  br i1 %jmore, label %axpy, label %axpy.end
axpy.end:
  %p.next = add nuw nsw i64 %p, 1
  br label %axpys
dots:
  %dj = phi i64 [0, %row], [%dj.next, %dot.set], [%dj.next, %dot.add]
  %djmore = icmp slt i64 %dj, %n
  br i1 %djmore, label %dot.head, label %rows.end
dot.head:
  %bcol.o = mul i64 %dj, %bcs
  %bcol = getelementptr TYPE, ptr %b, i64 %bcol.o
  %kany = icmp sgt i64 %k, 0
  %both = icmp eq i64 %brs, 1
  %aunit = icmp eq i64 %acs, 1
  %contiguous = and i1 %both, %aunit
  br i1 %kany, label %dot.pick, label %dot.end
dot.pick:
  br i1 %contiguous, label %cdot, label %dot
cdot:
  %cdp = phi i64 [0, %dot.pick], [%cdp.next, %cdot]
  %cacc = phi TYPE [0.0, %dot.pick], [%cacc.next, %cdot]
  %cap = getelementptr TYPE, ptr %arow, i64 %cdp
  %cav = load TYPE, ptr %cap
  %cbp = getelementptr TYPE, ptr %bcol, i64 %cdp
  %cbv = load TYPE, ptr %cbp
  %cab = fmul reassoc contract TYPE %cav, %cbv
  %cacc.next = fadd reassoc contract TYPE %cacc, %cab
  %cdp.next = add nuw nsw i64 %cdp, 1
  %cdmore = icmp slt i64 %cdp.next, %k
  br i1 %cdmore, label %cdot, label %dot.end
dot:
  %dp = phi i64 [0, %dot.pick], [%dp.next, %dot]
  %acc = phi TYPE [0.0, %dot.pick], [%acc.next, %dot]
  %ap.o = mul i64 %dp, %acs
  %ap = getelementptr TYPE, ptr %arow, i64 %ap.o
  %av = load TYPE, ptr %ap
  %dbp.o = mul i64 %dp, %brs
  %dbp = getelementptr TYPE, ptr %bcol, i64 %dbp.o
  %dbv = load TYPE, ptr %dbp
  %dab = fmul reassoc contract TYPE %av, %dbv
  %acc.next = fadd reassoc contract TYPE %acc, %dab
  %dp.next = add nuw nsw i64 %dp, 1
  %dmore = icmp slt i64 %dp.next, %k
  br i1 %dmore, label %dot, label %dot.end
dot.end:
  %sum = phi TYPE [0.0, %dot.head], [%acc.next, %dot], [%cacc.next, %cdot]
  %dcp = getelementptr TYPE, ptr %crow, i64 %dj
  %scaled = fmul TYPE %sum, %alpha
  %dj.next = add nuw nsw i64 %dj, 1
  br i1 %keep, label %dot.add, label %dot.set
dot.set:
  store TYPE %scaled, ptr %dcp
  br label %dots
dot.add:
  %before = load TYPE, ptr %dcp
  %added = fadd TYPE %before, %scaled
  store TYPE %added, ptr %dcp
  br label %dots
rows.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
done:
  ret void
}

define internal void @ae.matmul.DTYPE(
    ptr %gemm, ptr %gemv, i64 %m, i64 %k, i64 %n,
    ptr %a, i64 %ars, i64 %acs, ptr %b, i64 %brs, i64 %bcs, ptr noalias %c, i64 %crs,
    TYPE %alpha, TYPE %beta
) noinline nounwind {
entry:
  %mk = mul i64 %m, %k
  %mkn = mul i64 %mk, %n
  %mone = icmp eq i64 %m, 1
  %none = icmp eq i64 %n, 1
  %withvector = or i1 %mone, %none
  %limit = select i1 %withvector, i64 LIMIT_VECTOR, i64 LIMIT
  %few = icmp sle i64 %mkn, %limit
  ; zero times NaN is NaN, but BLAS does not look at what it multiplies with zero
  %nothing = fcmp oeq TYPE %alpha, 0.0
  %small = or i1 %few, %nothing
  br i1 %small, label %inline, label %large
inline:
  ; a single column is taken as a row of the transposed product when that runs along memory
  %column = icmp eq i64 %n, 1
  %along = icmp ne i64 %acs, 1
  %flip = and i1 %column, %along
  br i1 %flip, label %flipped, label %plain
flipped:
  call void @ae.matmul.small.DTYPE(
    i64 1, i64 %k, i64 %m, ptr %b, i64 %bcs, i64 %brs, ptr %a, i64 %acs, i64 %ars, ptr %c, i64 %m,
    TYPE %alpha, TYPE %beta)
  ret void
plain:
  call void @ae.matmul.small.DTYPE(
    i64 %m, i64 %k, i64 %n, ptr %a, i64 %ars, i64 %acs, ptr %b, i64 %brs, i64 %bcs, ptr %c, i64 %crs,
    TYPE %alpha, TYPE %beta)
  ret void
large:
  ; a single row is the single column of the transposed product
  %more = xor i1 %none, true
  %turn = and i1 %mone, %more
  br i1 %turn, label %turned, label %straight
turned:
  call void @ae.matmul.DTYPE(
    ptr %gemm, ptr %gemv, i64 %n, i64 %k, i64 1, ptr %b, i64 %bcs, i64 %brs, ptr %a, i64 %acs, i64 %ars, ptr %c, i64 1,
    TYPE %alpha, TYPE %beta)
  ret void
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
  call void %gemv(
    ptr %pvt, ptr %vr, ptr %vc, ptr %palpha, ptr %a, ptr %plda, ptr %b, ptr %pbinc, ptr %pbeta, ptr %c, ptr %pone)
  ret void
matmat:
  call void %gemm(
    ptr %pbt, ptr %pat, ptr %pn, ptr %pm, ptr %pk,
    ptr %palpha, ptr %b, ptr %pldb, ptr %a, ptr %plda, ptr %pbeta, ptr %c, ptr %pldc)
  ret void
}
declare i64 @llvm.smax.i64(i64, i64)
"""
