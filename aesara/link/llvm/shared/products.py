"""Matrix products: `small_products` for small matrices, BLAS for others (`symmetric_products`, `large_products`).

C = alpha A B + beta C, where beta is 0 or 1 (with 0, the content of C does not matter). One routine for each dtype
takes the sizes and the operands with their strides, in elements, one of which is 1 for each of A and B:

``matmul.float64(table, watcher, m, k, n, a, row stride, column stride, b, row stride, column stride, c, row stride,
alpha, beta)``.  It returns whether a signal handler, called by the watcher (or null), has stopped it.
``large.float64`` takes the same arguments and calls BLAS.

=============  =====================================================================================
In the text    means
=============  =====================================================================================
``DTYPE``      float64
``TYPE``       double
``ARGUMENTS``  the parameters of the routine
``PASSED``     its arguments, passed on to another one; ``UNWATCHED``: with null for the watcher
``SYMMETRIC``  code that sets ``%symmetric`` if B is the transpose of A and nothing is added
``JUMP name``  a tail call of ``ae.matmul.name.DTYPE`` with the same arguments
=============  =====================================================================================
"""

from __future__ import annotations

import re

from aesara.link.llvm.shared.large_products import LARGE_PRODUCTS
from aesara.link.llvm.shared.notation import expand
from aesara.link.llvm.shared.small_products import small_products_text
from aesara.link.llvm.shared.symmetric_products import SYMMETRIC_PRODUCTS

__all__ = ["ONE_THREAD", "SMALL", "large_products_text", "products_text"]

#: largest numbers of multiply-adds, of matrices and with a vector, without BLAS.  By `benchmarks/products.py`, compared
#: with OpenBLAS: squares of 16 take a third of the time, of 64 half of it, of 128 about as long; a square of 16 and a
#: vector take half of it, one of 96 about as long.  From there on OpenBLAS uses threads.
SMALL = (64**3, 8192)

#: largest numbers of multiply-adds for BLAS on one thread.  With an idle processor OpenBLAS on two threads takes
#: 0.6 of the time for squares of 128 and 180, 0.5 for those of 256; with a busy one it may take a hundred times
#: as long.  A matrix and a vector gain nothing as long as the matrix is in a cache.
ONE_THREAD = (128**3, 128**3 // 16)


def products_text(dtype: str, vector_bytes: int, small: tuple[int, int] = SMALL) -> str:
    """Return the routine ``matmul`` for a dtype and a size of vectors in bytes."""
    limits = {"LIMIT": small, "SHORT": ONE_THREAD}
    text = _PRODUCT
    for name, (matrix, vector) in limits.items():
        text = text.replace(f"{name}_VECTOR", str(vector)).replace(name, str(matrix))
    return _plain(text + SYMMETRIC_PRODUCTS + small_products_text(dtype, vector_bytes), dtype)


def large_products_text(dtype: str) -> str:
    """Return the routine ``large`` for a dtype."""
    return _plain(LARGE_PRODUCTS, dtype)


def _plain(text: str, dtype: str) -> str:
    kind, letter = {"float64": ("double", "d"), "float32": ("float", "s")}[dtype]
    text = re.sub(r"JUMP (\w+)", _JUMP, text).replace("SYMMETRIC", _SYMMETRIC.strip())
    words = {
        "ARGUMENTS": _ARGUMENTS, "PASSED": _PASSED, "UNWATCHED": _PASSED.replace("%watcher", "null"),
        "DTYPE": dtype, "TYPE": kind, "LETTER": letter,
    }  # fmt: skip
    for name, value in words.items():
        text = text.replace(name, value)
    return expand(text)


# Tail calls need equal signatures, so routines may have arguments that they do not use.
_ARGUMENTS = (
    "ptr %table, ptr %watcher, i64 %m, i64 %k, i64 %n, ptr %a, i64 %ars, i64 %acs, ptr %b, i64 %brs, i64 %bcs, "
    "ptr noalias %c, i64 %crs, TYPE %alpha, TYPE %beta"
)
_PASSED = _ARGUMENTS.replace(" noalias", "")
_JUMP = r"%r.\1 = musttail call i1 @ae.matmul.\1.DTYPE(PASSED)" + "\n" + r"ret i1 %r.\1"

_SYMMETRIC = """
  %one.memory = icmp eq ptr %a, %b
  %rows.columns = icmp eq i64 %ars, %bcs
  %columns.rows = icmp eq i64 %acs, %brs
  %square = icmp eq i64 %m, %n
  %fresh = fcmp oeq TYPE %beta, 0.0
  %turned.0 = and i1 %rows.columns, %columns.rows
  %turned.1 = and i1 %turned.0, %one.memory
  %turned.2 = and i1 %turned.1, %square
  %symmetric = and i1 %turned.2, %fresh
"""

_PRODUCT = """
define i1 @ae.matmul.DTYPE(ARGUMENTS) noinline nounwind {
entry:
  %mk = mul i64 %m, %k
  %mkn = mul i64 %mk, %n
  %mone = icmp eq i64 %m, 1
  %none = icmp eq i64 %n, 1
  %vector = or i1 %mone, %none
  %limit = select i1 %vector, i64 LIMIT_VECTOR, i64 LIMIT
  %few = icmp sle i64 %mkn, %limit
  br i1 %few, label %small, label %large
large:
  ; zero times NaN is NaN, but BLAS does not read operands that it multiplies by zero
  %nothing = fcmp oeq TYPE %alpha, 0.0
  %nobody = icmp eq ptr %watcher, null
  %all = and i1 %nothing, %nobody
  br i1 %all, label %small, label %blas
small:
  JUMP small
blas:
  %most = select i1 %vector, i64 SHORT_VECTOR, i64 SHORT
  %few.too = icmp sle i64 %mkn, %most
  ; one that is watched comes here again without a watcher
  %short = and i1 %few.too, %nobody
  br i1 %short, label %alone, label %many
alone:
  %entered = call i1 @threads.enter(i1 true)
  %r.alone = call i1 @ae.matmul.blas.DTYPE(PASSED)
  call void @threads.leave(i1 %entered)
  ret i1 %r.alone
many:
  JUMP blas
}
declare i1 @threads.enter(i1)
declare void @threads.leave(i1)

define hidden i1 @ae.matmul.blas.DTYPE(ARGUMENTS) noinline nounwind {
entry:
  %nobody = icmp eq ptr %watcher, null
  SYMMETRIC
  %now = and i1 %symmetric, %nobody
  br i1 %now, label %triangle, label %general
triangle:
  JUMP symmetric
general:
  %routine = word large.DTYPE
  %r.large = musttail call i1 %routine(PASSED)
  ret i1 %r.large
}
"""
