"""Types of matrix products: their numbers, their parameters, and the words of the table that they use."""

import functools
from typing import Any

from aesara.ir.typed.types import (
    FLOAT32,
    FLOAT64,
    FunctionType,
    Pointer,
    Struct,
    Word,
    field,
    i1,
    i64,
    ptr,
    type_of_annotation,
)
from aesara.link.llvm import layout

__all__ = ["NUMBERS", "product_type", "table_type"]

#: types of the elements by dtype
NUMBERS = {"float64": FLOAT64, "float32": FLOAT32}
#: first letter of BLAS's names by dtype
_LETTERS = {"float64": "d", "float32": "s"}


def product_type(dtype: str) -> FunctionType:
    """Return the type of the function ``matmul`` for a dtype, see `products`."""
    number = NUMBERS[dtype]
    matrix = (Pointer[number], i64, i64)
    return _function_type(i1, ptr, ptr, i64, i64, i64, *matrix, *matrix, Pointer[number], i64, number, number)


class GuardState(Struct):
    """`guards.state`."""

    #: number of multiply-adds that may run without a check for signals
    uninterrupted_multiply_adds: i64 = field(layout.STATE_PRODUCT)


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
        product = Word(_offset(f"matmul.{dtype}"), product_type(dtype))
        large_product = Word(_offset(f"large.{dtype}"), product_type(dtype))
        mirror = _function(f"mirror.{dtype}", None, Pointer[number], Pointer[number], i64, i64, i64, i1)

    return Table


def _function(name: str, result: Any, *parameters: Any) -> Word:
    return Word(_offset(name), _function_type(result, *parameters))


def _function_type(result: Any, *parameters: Any) -> FunctionType:
    kind = None if result is None else type_of_annotation(result)
    return FunctionType(kind, tuple(map(type_of_annotation, parameters)))


def _offset(name: str) -> int:
    return 8 * layout.WORD[name]
