"""Matrix products: `small_products` for small matrices, BLAS for others (`symmetric_products`, `large_products`).

C = alpha A B + beta C, where beta is 0 or 1 (with 0, the content of C does not matter).  One function for each dtype
takes the sizes and the operands with their strides, in elements, one of which is 1 for each of A and B:

``matmul.float64(table, watcher, m, k, n, a, row stride, column stride, b, row stride, column stride, c, row stride,
alpha, beta)``.  It returns whether a signal handler, called by the watcher (or null), has stopped it.
``large.float64`` takes the same arguments and calls BLAS.

The functions that it chooses from have the same parameters, so that these are tail calls.
"""

from typing import Any

from aesara.ir.typed.function import CFunction, TypedFunction, typed_function
from aesara.ir.typed.types import Pointer, i1, i64, null, ptr
from aesara.link.llvm.module import Module
from aesara.link.llvm.runtime.product_types import NUMBERS, table_type
from aesara.link.llvm.runtime.small_products import add_parts, small_product
from aesara.link.llvm.runtime.symmetric_products import mirror
from aesara.link.llvm.typed_functions import Library, add_function

__all__ = ["ONE_THREAD", "SMALL", "products_library"]

#: largest numbers of multiply-adds, of matrices and with a vector, without BLAS.  By `benchmarks/products.py`, compared
#: with OpenBLAS: squares of 16 take a third of the time, of 64 half of it, of 128 about as long; a square of 16 and a
#: vector take half of it, one of 96 about as long.  From there on OpenBLAS uses threads.
SMALL = (64**3, 8192)

#: largest numbers of multiply-adds for BLAS on one thread.  With an idle processor OpenBLAS on two threads takes
#: 0.6 of the time for squares of 128 and 180, 0.5 for those of 256; with a busy one it may take a hundred times
#: as long.  A matrix and a vector gain nothing as long as the matrix is in a cache.
ONE_THREAD = (128**3, 128**3 // 16)

#: the functions of `one_thread`
_enter = CFunction("threads.enter", i1, i1)
_leave = CFunction("threads.leave", None, i1)

_ATTRIBUTES = "noinline nounwind"


def products_library(dtype: str, vector_bytes: int, small: tuple[int, int] = SMALL) -> Library:
    """Return the library with ``matmul`` and ``mirror`` for a dtype and a size of vectors in bytes."""

    def text() -> str:
        module = Module()
        add_function(module, _product(dtype, small))
        add_function(module, mirror(dtype))
        add_parts(module, dtype, vector_bytes)
        return module.text()

    return Library(f"products {dtype} {vector_bytes} {small}", text)


def _product(dtype: str, small: tuple[int, int]) -> TypedFunction:
    """Return the function ``matmul`` for a dtype, with the largest numbers of multiply-adds without BLAS."""
    number = NUMBERS[dtype]
    Table: Any = table_type(dtype)
    compute = small_product(dtype)
    small_matrices, small_vectors = small
    short_matrices, short_vectors = ONE_THREAD

    @typed_function(f"ae.matmul.{dtype}", "", _ATTRIBUTES, c="noalias")
    def product(
        table: Table,
        watcher: ptr,
        m: i64,
        k: i64,
        n: i64,
        a: Pointer[number],
        ars: i64,
        acs: i64,
        b: Pointer[number],
        brs: i64,
        bcs: i64,
        c: Pointer[number],
        crs: i64,
        alpha: number,
        beta: number,
    ) -> i1:
        multiply_adds = m * k * n
        is_vector = m == 1 or n == 1
        if multiply_adds <= (small_vectors if is_vector else small_matrices):
            return compute(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
        # A product with a watcher comes here again without it.
        if watcher == null:
            # Zero times NaN is NaN, but BLAS does not read operands that it multiplies by zero.
            if alpha == 0.0:
                return compute(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
            if multiply_adds <= (short_vectors if is_vector else short_matrices):
                is_counted = _enter(True)
                is_stopped = table.large_product(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
                _leave(is_counted)
                return is_stopped
        return table.large_product(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)

    return product
