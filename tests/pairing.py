"""Pairs of values of two parameters that do not interact, in place of all combinations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def pair_in_turn(first: Sequence[Any], second: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return each value of the first with one of the second, in turn, and the last value of the first with all."""
    pairs = [(value, second[k % len(second)]) for k, value in enumerate(first)]
    return pairs + [(first[-1], other) for other in second if (first[-1], other) not in pairs]
