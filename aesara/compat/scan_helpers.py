"""Helpers of rewrites of loops with the names of Aesara 2.9.4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.elementwise.ops import maximum, minimum

__all__ = ["has_duplicates", "make_equiv", "sanitize", "select_max", "select_min"]


def has_duplicates(l: Sequence[object]) -> bool:
    """Return whether a list contains equal entries.

    Examples
    --------
    >>> has_duplicates([1, 2, 1]), has_duplicates([1, 2])
    (True, False)
    """
    return len(set(l)) < len(l)


def make_equiv(lo: Sequence[object], li: Sequence[object]) -> tuple[list[Any], list[Any]]:
    """Return entries of `li` whose counterparts in `lo` are repetitions, and the entries of `li` of the first
    occurrences.

    Examples
    --------
    >>> make_equiv(["x", "x", "y"], [1, 2, 3])
    ([2], [1])
    """
    first: dict[Any, Any] = {}
    left, right = [], []
    for outer, inner in zip(lo, li, strict=True):
        if outer in first:
            left.append(inner)
            right.append(first[outer])
        else:
            first[outer] = inner
    return left, right


def sanitize(x: object) -> Variable | None:
    """Convert a bound of a slice to a variable; None stays None."""
    return None if x is None else as_tensor_variable(x)


def select_min(x: object, y: object) -> Any:
    """Return the minimum of two numbers or variables; None is ignored."""
    return _select(x, y, min, minimum)


def select_max(x: object, y: object) -> Any:
    """Return the maximum of two numbers or variables; None is ignored."""
    return _select(x, y, max, maximum)


def _select(x: Any, y: Any, for_numbers: Any, for_variables: Any) -> Any:
    if x is None or y is None:
        return y if x is None else x
    values = [v.data.item() if isinstance(v, Constant) else v for v in (x, y)]
    return for_variables(x, y) if any(isinstance(v, Variable) for v in values) else for_numbers(values)
