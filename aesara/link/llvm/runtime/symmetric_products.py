"""Products of a matrix and its transpose: BLAS computes one triangle, which is copied to the other.

``matmul.symmetric.float64`` has the parameters of ``matmul.float64`` (see `products`), where B is A transposed in the
same memory, C is square and beta is 0.  It takes about half of the time of a general product.

``mirror.float64`` writes a part of a matrix transposed to another part of it.  Products that are computed in blocks
call it for blocks above the diagonal.
"""

import functools
from typing import Any

from aesara.ir.typed.function import TypedFunction, typed_function
from aesara.ir.typed.operations import reference
from aesara.ir.typed.types import Pointer, i1, i8, i32, i64, ptr
from aesara.link.llvm.runtime.product_types import NUMBERS, table_type

__all__ = ["PLAIN", "TRANSPOSED", "is_symmetric", "leading_dimension", "mirror", "symmetric_product"]

#: BLAS's letters for an operand as it is, and for one that is transposed
PLAIN, TRANSPOSED = ord("N"), ord("T")
#: BLAS's letter for the upper triangle
_UPPER = ord("U")

#: side of the blocks that are copied: both triangles of a block are in the cache
_BLOCK = 32


@typed_function("ae.matmul.leading_dimension", attributes="noinline nounwind")
def leading_dimension(rows: i64, columns: i64, rs: i64, cs: i64) -> i64:
    """Return BLAS's leading dimension of a matrix, by its row and column stride: the stride that may not be 1."""
    return max(rs, columns, 1) if cs == 1 else max(cs, rows, 1)


@functools.cache
def is_symmetric(dtype: str) -> TypedFunction:
    """Return the function that tests whether B is the transpose of A and nothing is added."""
    number = NUMBERS[dtype]

    @typed_function(f"ae.matmul.is_symmetric.{dtype}", attributes="noinline nounwind")
    def is_symmetric(
        m: i64, n: i64, a: Pointer[number], ars: i64, acs: i64, b: Pointer[number], brs: i64, bcs: i64, beta: number
    ) -> i1:
        return a == b and ars == bcs and acs == brs and m == n and beta == 0.0

    return is_symmetric


@functools.cache
def symmetric_product(dtype: str) -> TypedFunction:
    """Return the function ``matmul.symmetric`` for a dtype."""
    number = NUMBERS[dtype]
    Table: Any = table_type(dtype)

    @typed_function(f"ae.matmul.symmetric.{dtype}", "hidden", "noinline nounwind", c="noalias")
    def symmetric_product(
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
        # The column-major matrix in the memory of A is A' if the rows of A are contiguous.  The upper triangle of the
        # column-major result is the lower one of C.
        table.syrk(
            reference(i8(_UPPER)),
            reference(i8(TRANSPOSED if acs == 1 else PLAIN)),
            reference(i32(m)),
            reference(i32(k)),
            reference(alpha),
            a,
            reference(i32(leading_dimension(m, k, ars, acs))),
            reference(beta),
            c,
            reference(i32(crs)),
        )
        table.mirror(c, c, m, m, crs, True)
        return False

    return symmetric_product


@functools.cache
def mirror(dtype: str) -> TypedFunction:
    """Return the function ``mirror`` for a dtype."""
    number = NUMBERS[dtype]

    @typed_function(f"ae.mirror.{dtype}", "", "noinline nounwind")
    def mirror(
        source: Pointer[number], target: Pointer[number], rows: i64, columns: i64, stride: i64, is_below: i1
    ) -> None:
        """Write a part of a matrix transposed to another part of it.

        If `is_below`, write only the elements below the part's diagonal; both may be the same part.
        """
        for i in range(0, rows, _BLOCK):
            end = min(i + _BLOCK, rows)
            for j in range(0, end if is_below else columns, _BLOCK):
                for r in range(i, end):
                    row = source + r * stride
                    column = target + r
                    for q in range(j, min(j + _BLOCK, r if is_below else columns)):
                        column[q * stride] = row[q]

    return mirror
