"""Matrix products by our own routine, which calls BLAS for large ones; see `link.llvm.runtime.products`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aesara.ir.expr import const
from aesara.ir.routine import (
    Data,
    Int64,
    Number,
    Parameter,
    Routine,
    Scalar,
    SignalWatch,
    Stride,
    Table,
    family,
    size,
)
from aesara.ir.work import Work

__all__ = ["accumulated_product", "product"]

_ROWS, _INNER, _COLUMNS = size("rows"), size("inner"), size("columns")
#: nanoseconds for a call, and for a multiply-add
_PRODUCT, _MULTIPLY_ADD = 50.0, 0.1


@family("matmul")
def product(dtype: str) -> Routine:
    """Return the routine ``out = alpha * left @ right``, for float32 and float64."""
    return _product("matmul", dtype, 0.0)


@family("matmul_added")
def accumulated_product(dtype: str) -> Routine:
    """Return the routine ``out += alpha * left @ right``, for float32 and float64."""
    return _product("matmul_added", dtype, 1.0)


def _product(family: str, dtype: str, beta: float) -> Routine:
    return Routine(
        name=f"{family}.{dtype}",
        title="matrix product",
        word=f"matmul.{dtype}",
        sizes=("rows", "inner", "columns"),
        scalars=(("alpha", dtype),),
        parameters=(
            Parameter("left", dtype, (_ROWS, _INNER), strides=2),
            Parameter("right", dtype, (_INNER, _COLUMNS), strides=2),
            Parameter("out", dtype, (_ROWS, _COLUMNS), strides=1, is_read=bool(beta), is_written=True),
        ),
        arguments=(
            Table(), SignalWatch(), Int64(_ROWS), Int64(_INNER), Int64(_COLUMNS),
            Data("left"), Stride("left", 0), Stride("left", 1), Data("right"), Stride("right", 0), Stride("right", 1),
            Data("out"), Stride("out", 0), Scalar("alpha"), Number(const(beta, dtype)),
        ),
        work=Work({(_COLUMNS, _INNER, _ROWS): _MULTIPLY_ADD, (): _PRODUCT}),
        reference=functools.partial(_multiply, beta),
        kind="product",
    )  # fmt: skip


def _multiply(beta: float, values: dict[str, Any], left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        product_of_matrices = (values["alpha"] * (left @ right)).astype(out.dtype)
        out[...] = product_of_matrices + out if beta else product_of_matrices
