"""Products of a matrix and its transpose: BLAS computes one triangle, which is copied to the other.

``matmul.symmetric.float64`` has the arguments of ``matmul.float64`` (see `products`), where B is A transposed in the
same memory, C is square and beta is 0. It takes about half of the time of a general product.

The column-major matrix in the memory of A, by its unit stride, is A or A'; `syrk` writes the upper triangle of the
column-major result, which is the lower one of C. Both triangles of a block are in the cache when it is copied.

``mirror.float64(from, to, rows, columns, stride, below)`` writes a part of a matrix transposed to another part of it.
If `below` holds, it writes only the elements below the part's diagonal, and both may be the same part. Products that
are computed in blocks call it for these.

The text is in the notation of `products`.
"""

from __future__ import annotations

__all__ = ["SYMMETRIC_PRODUCTS"]

#: side of the blocks that are copied
_BLOCK = 32

_TEXT = """
define hidden i1 @ae.matmul.symmetric.DTYPE(ARGUMENTS) noinline nounwind {
entry:
  %upper = alloca i8
  %turned = alloca i8
  %pm = alloca i32
  %pk = alloca i32
  %plda = alloca i32
  %pldc = alloca i32
  %palpha = alloca TYPE
  %pbeta = alloca TYPE
  %along = icmp eq i64 %acs, 1
  %letter = select i1 %along, i8 84, i8 78
  %lda0 = select i1 %along, i64 %ars, i64 %acs
  %lda1 = select i1 %along, i64 %k, i64 %m
  %lda2 = call i64 @llvm.smax.i64(i64 %lda0, i64 %lda1)
  %lda3 = call i64 @llvm.smax.i64(i64 %lda2, i64 1)
  %lda = trunc i64 %lda3 to i32
  %ldc = trunc i64 %crs to i32
  %m32 = trunc i64 %m to i32
  %k32 = trunc i64 %k to i32
  store i8 85, ptr %upper
  store i8 %letter, ptr %turned
  store i32 %m32, ptr %pm
  store i32 %k32, ptr %pk
  store i32 %lda, ptr %plda
  store i32 %ldc, ptr %pldc
  store TYPE %alpha, ptr %palpha
  store TYPE 0.0, ptr %pbeta
  %syrk = word LETTERsyrk
  call void %syrk(
    ptr %upper, ptr %turned, ptr %pm, ptr %pk, ptr %palpha, ptr %a, ptr %plda, ptr %pbeta, ptr %c, ptr %pldc)
  call void @ae.mirror.DTYPE(ptr %c, ptr %c, i64 %m, i64 %m, i64 %crs, i1 true)
  ret i1 false
}

define void @ae.mirror.DTYPE(ptr %from, ptr %to, i64 %m, i64 %n, i64 %stride, i1 %below) noinline nounwind {
entry:
  br label %down
down:
  %i = phi i64 [0, %entry], [%i.end, %down.next]
  %i.full = add i64 %i, BLOCK
  %i.end = call i64 @llvm.smin.i64(i64 %i.full, i64 %m)
  %last = select i1 %below, i64 %i.end, i64 %n
  br label %across
across:
  %j = phi i64 [0, %down], [%j.end, %across.next]
  %j.end = add i64 %j, BLOCK
  br label %row
row:
  %r = phi i64 [%i, %across], [%r.next, %row.next]
  %limit = select i1 %below, i64 %r, i64 %n
  %stop = call i64 @llvm.smin.i64(i64 %j.end, i64 %limit)
  %some = icmp slt i64 %j, %stop
  %r.start = mul i64 %r, %stride
  br i1 %some, label %element, label %row.next
element:
  %q = phi i64 [%j, %row], [%q.next, %element]
  %at = add i64 %r.start, %q
  %at.p = getelementptr TYPE, ptr %from, i64 %at
  %value = load TYPE, ptr %at.p
  %q.start = mul i64 %q, %stride
  %place = add i64 %q.start, %r
  %place.p = getelementptr TYPE, ptr %to, i64 %place
  store TYPE %value, ptr %place.p
  %q.next = add i64 %q, 1
  %q.more = icmp slt i64 %q.next, %stop
  br i1 %q.more, label %element, label %row.next
row.next:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %i.end
  br i1 %r.more, label %row, label %across.next
across.next:
  %j.more = icmp slt i64 %j.end, %last
  br i1 %j.more, label %across, label %down.next
down.next:
  %i.more = icmp slt i64 %i.end, %m
  br i1 %i.more, label %down, label %done
done:
  ret void
}
declare i64 @llvm.smax.i64(i64, i64)
"""

SYMMETRIC_PRODUCTS = _TEXT.replace("BLOCK", str(_BLOCK))
