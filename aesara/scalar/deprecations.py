"""Old names of scalar classes and ops, with replacements."""

from __future__ import annotations

from aesara.scalar.arithmetic import Reciprocal, floor_divide, reciprocal, true_divide
from aesara.scalar.power import square
from aesara.scalar.types import ScalarType

__all__ = ["BASIC_DEPRECATIONS", "DEPRECATED_NAMES"]

#: old name, message, object
DEPRECATED_NAMES: list[tuple[str, str, object]] = [
    ("Inv", "`Inv` is deprecated; use `Reciprocal` instead.", Reciprocal),
    ("inv", "`inv` is deprecated; use `reciprocal` instead.", reciprocal),
    ("Scalar", "`Scalar` is deprecated; use `ScalarType` instead.", ScalarType),
    ("true_div", "`true_div` is deprecated; use `true_divide` or `divide` instead.", true_divide),
    ("int_div", "`int_div` is deprecated; use `floor_divide` instead.", floor_divide),
    ("floor_div", "`floor_div` is deprecated; use `floor_divide` instead.", floor_divide),
    ("sqr", "`sqr` is deprecated; use `square` instead.", square),
]
BASIC_DEPRECATIONS = DEPRECATED_NAMES
