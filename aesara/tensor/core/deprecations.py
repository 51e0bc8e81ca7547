"""Old names of tensor functions, with replacements."""

from __future__ import annotations

from typing import Any

from aesara.tensor.elementwise.ops import abs, floor_divide, reciprocal, square, true_divide

#: Old name, message, object.
MATH_DEPRECATED_NAMES: list[tuple[str, str, Any]] = [
    ("abs_", "`abs_` is deprecated; use `abs` instead.", abs),
    ("inv", "`inv` is deprecated; use `reciprocal` instead.", reciprocal),
    ("true_div", "`true_div` is deprecated; use `true_divide` or `divide` instead.", true_divide),
    ("int_div", "`int_div` is deprecated; use `floor_divide` instead.", floor_divide),
    ("floor_div", "`floor_div` is deprecated; use `floor_divide` instead.", floor_divide),
    ("sqr", "`sqr` is deprecated; use `square` instead.", square),
]
DEPRECATED_NAMES = MATH_DEPRECATED_NAMES
