"""Types of matrix products: their numbers, their parameters, and the words of the table that they use."""

import functools
from typing import Any

from aesara.ir.typed.types import (
    FLOAT32,
    FLOAT64,
    FunctionField,
    FunctionType,
    Pointer,
    Struct,
    field,
    function_field,
    function_type,
    i1,
    i64,
    ptr,
)
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.structures import GuardState

__all__ = ["NUMBERS", "product_type", "table_type"]

#: types of the elements by dtype
NUMBERS = {"float64": FLOAT64, "float32": FLOAT32}
#: first letter of BLAS's names by dtype
_LETTERS = {"float64": "d", "float32": "s"}


def product_type(dtype: str) -> FunctionType:
    """Return the type of the function ``matmul`` for a dtype, see `products`."""
    number = NUMBERS[dtype]
    matrix = (Pointer[number], i64, i64)
    return function_type(i1, ptr, ptr, i64, i64, i64, *matrix, *matrix, Pointer[number], i64, number, number)


@functools.cache
def table_type(dtype: str) -> Any:
    """Return the structure of the table with the words for products of a dtype."""
    number, letter = NUMBERS[dtype], _LETTERS[dtype]

    class Table(Struct):
        state: GuardState = field(_offset("state"))
        poll = _function("poll", i1, ptr)
        # BLAS takes all arguments by reference.
        gemm = _function(f"{letter}gemm", None, *[ptr] * 13)
        gemv = _function(f"{letter}gemv", None, *[ptr] * 11)
        syrk = _function(f"{letter}syrk", None, *[ptr] * 10)
        product = FunctionField(_offset(f"matmul.{dtype}"), product_type(dtype))
        large_product = FunctionField(_offset(f"large.{dtype}"), product_type(dtype))
        mirror = _function(f"mirror.{dtype}", None, Pointer[number], Pointer[number], i64, i64, i64, i1)

    return Table


def _function(name: str, result: Any, *parameters: Any) -> Any:
    return function_field(_offset(name), result, *parameters)


def _offset(name: str) -> int:
    return 8 * layout.WORD[name]
