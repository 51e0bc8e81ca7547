"""Products of large matrices by BLAS, in one call, or in blocks with checks for signals in between.

A row-major product C = A B is the column-major product C' = B' A', so nothing is copied; an operand is passed
transposed if its unit stride requires it.

A call of BLAS cannot be interrupted.  With a watcher (not null), a product of more multiply-adds than ``guards.state``
allows is split into blocks of its result, with checks for signals in between; each element is still the sum over the
whole inner dimension, in one call.  BLAS may round elements at the edges of a thread's block differently from those
inside, so results may differ in the last bits, as they do between numbers of threads.  The sizes of blocks are
multiples of 192, a multiple of the register blocks of today's kernels.
"""

import functools
from typing import Any

from aesara.ir.typed.function import TypedFunction, typed_function
from aesara.ir.typed.operations import reference, sqrt
from aesara.ir.typed.types import Pointer, f64, i1, i8, i32, i64, null, ptr
from aesara.link.llvm.runtime.product_types import NUMBERS, table_type
from aesara.link.llvm.runtime.symmetric_products import (
    PLAIN,
    TRANSPOSED,
    is_symmetric,
    leading_dimension,
    symmetric_product,
)

__all__ = ["large_product"]

#: number of rows and columns of blocks is a multiple of this
_BLOCK = 192
#: size of a matrix so thin that BLAS is bound by memory
_THIN = 16

#: LLVM would find little to optimize.
_ATTRIBUTES = "noinline optnone nounwind"


@functools.cache
def large_product(dtype: str) -> TypedFunction:
    """Return the function ``large`` for a dtype, with the parameters of ``matmul`` (see `products`)."""
    number, product_in_blocks = NUMBERS[dtype], _product_in_blocks(dtype)
    has_symmetric_result, compute_symmetric = is_symmetric(dtype), symmetric_product(dtype)
    Table: Any = table_type(dtype)

    @typed_function(f"ae.large.{dtype}", "", _ATTRIBUTES, c="noalias")
    def large_product(
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
        if watcher != null:
            return product_in_blocks(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
        if has_symmetric_result(m, n, a, ars, acs, b, brs, bcs, beta):
            return compute_symmetric(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
        if m == 1 and n != 1:
            # A single row is the single column of the transposed product.
            return large_product(table, watcher, n, k, 1, b, bcs, brs, a, acs, ars, c, 1, alpha, beta)
        a_by_rows, b_by_rows = acs == 1, bcs == 1
        lda, ldb = leading_dimension(m, k, ars, acs), leading_dimension(k, n, brs, bcs)
        if n == 1:
            # The column-major matrix in the memory of A is A' if its rows are contiguous.
            table.gemv(
                reference(i8(TRANSPOSED if a_by_rows else PLAIN)),
                reference(i32(k if a_by_rows else m)),
                reference(i32(m if a_by_rows else k)),
                reference(alpha),
                a,
                reference(i32(lda)),
                b,
                reference(i32(max(brs if b_by_rows else 1, 1))),
                reference(beta),
                c,
                reference(i32(1)),
            )
            return False
        table.gemm(
            reference(i8(PLAIN if b_by_rows else TRANSPOSED)),
            reference(i8(PLAIN if a_by_rows else TRANSPOSED)),
            reference(i32(n)),
            reference(i32(m)),
            reference(i32(k)),
            reference(alpha),
            b,
            reference(i32(ldb)),
            a,
            reference(i32(lda)),
            reference(beta),
            c,
            reference(i32(max(crs, 1))),
        )
        return False

    return large_product


@typed_function("ae.matmul.block_size", attributes=_ATTRIBUTES)
def _block_size(limit: i64, across: i64, depth: i64, length: i64) -> i64:
    """Return how many rows a block with `across` columns has, or columns with `across` rows.

    Parameters
    ----------
    limit
        Number of multiply-adds of a block.
    depth
        Number of multiply-adds of an element.
    length
        Number of rows (or columns) of the result.
    """
    size = limit // (across * depth)
    return min((size + _BLOCK) // _BLOCK * _BLOCK, length)


@functools.cache
def _product_in_blocks(dtype: str) -> TypedFunction:
    number, has_symmetric_result = NUMBERS[dtype], is_symmetric(dtype)
    Table: Any = table_type(dtype)

    @typed_function(f"ae.matmul.blocks.{dtype}", "hidden", _ATTRIBUTES, c="noalias")
    def product_in_blocks(
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
        limit = table.state.uninterrupted_multiply_adds
        if m == 1 or n == 1:
            limit //= _THIN
        depth = max(k, _THIN)
        if m * n * depth <= limit:
            return table.product(table, null, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
        side = i64(sqrt(f64(limit // depth)))
        rows = _block_size(side, 1, 1, m)
        columns = rows
        symmetric = has_symmetric_result(m, n, a, ars, acs, b, brs, bcs, beta)
        if not symmetric:
            columns = _block_size(limit, rows, depth, n)
            rows = _block_size(limit, columns, depth, m)
        i = 0
        while i < m:
            # Without a smaller block at the end: the last one is larger instead.
            height = rows if m - i >= rows + _BLOCK else m - i
            j = 0
            while j < n:
                width = columns if n - j >= columns + _BLOCK else n - j
                block = c + i * crs + j
                table.product(
                    table, null, height, k, width, a + i * ars, ars, acs, b + j * bcs, brs, bcs, block, crs, alpha, beta
                )
                # Of a symmetric result the blocks above the diagonal are those below it, transposed.
                if symmetric and j < i:
                    table.mirror(block, c + j * crs + i, height, width, crs, False)
                if table.poll(watcher):
                    return True
                if symmetric and j == i:
                    break
                j += width
            i += height
        return False

    return product_in_blocks
