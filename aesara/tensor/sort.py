"""Sorting along an axis, and the k largest or smallest elements: the documented names."""

from __future__ import annotations

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
    "SortOp",
    "ArgSortOp",
    "sort",
    "argsort",
    "TopKOp",
    "topk",
    "argtopk",
    "topk_and_argtopk",
]
