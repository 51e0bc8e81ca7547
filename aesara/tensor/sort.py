"""Sorting along an axis, and the k largest or smallest elements: the documented names."""

from __future__ import annotations

from aesara.tensor.elementwise.ops import eq, ge, mul, switch
from aesara.tensor.ordering.sorting import (
    ArgSortOp,
    SortOp,
    TopKOp,
    argsort,
    argtopk,
    sort,
    topk,
    topk_and_argtopk,
)

__all__ = [
    "ArgSortOp",
    "SortOp",
    "TopKOp",
    "argsort",
    "argtopk",
    "eq",
    "ge",
    "mul",
    "sort",
    "switch",
    "topk",
    "topk_and_argtopk",
]
