"""Small helpers of rewrites of loops, by the names of Aesara."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.elementwise.ops import maximum, minimum

__all__ = ["has_duplicates", "make_equiv", "sanitize", "select_max", "select_min"]


def has_duplicates(l: Sequence[Any]) -> bool:
    """Return whether something stands in a list twice.

    Examples
    --------
    >>> has_duplicates([1, 2, 1]), has_duplicates([1, 2])
    (True, False)
    """
    return len(set(l)) < len(l)


def make_equiv(lo: Sequence[Any], li: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the entries of `li` that stand beside an entry of `lo` that came before, and those beside the first one.

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


def sanitize(x: Any) -> Variable | None:
    """Return a bound of a slice as a variable, None as it is."""
    return None if x is None else as_tensor_variable(x)


def select_min(x: Any, y: Any) -> Any:
    """Return the lesser of two numbers or variables; the other one if one is None."""
    return _select(x, y, min, minimum)


def select_max(x: Any, y: Any) -> Any:
    """Return the greater of two numbers or variables; the other one if one is None."""
    return _select(x, y, max, maximum)


def _select(x: Any, y: Any, of_numbers: Any, of_variables: Any) -> Any:
    if x is None or y is None:
        return y if x is None else x
    known = [v.data.item() if isinstance(v, Constant) else v for v in (x, y)]
    return of_variables(x, y) if any(isinstance(v, Variable) for v in known) else of_numbers(known)
