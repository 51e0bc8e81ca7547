"""Comparison of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Constant, Variable


def equal_computations(
    xs: Sequence[np.ndarray | Variable],
    ys: Sequence[np.ndarray | Variable],
    in_xs: Sequence[Variable] | None = None,
    in_ys: Sequence[Variable] | None = None,
) -> bool:
    """Tell whether two lists of results are computed the same way.

    Parameters
    ----------
    xs, ys
        Variables, or values, which equal constants of the same value.
    in_xs, in_ys
        Inputs that stand for each other, in pairs. Other variables without owner are equal only to
        themselves, constants to equal constants.

    Examples
    --------
    ::

        equal_computations([x + 1], [y + 1], [x], [y])  # True
    """
    if len(xs) != len(ys):
        raise ValueError(f"The number of graphs in each argument must match: {len(xs)} and {len(ys)} were given.")
    in_xs = () if in_xs is None else in_xs
    in_ys = () if in_ys is None else in_ys
    if len(in_xs) != len(in_ys):
        return False
    for in_x, in_y in zip(in_xs, in_ys):
        if in_x.type != in_y.type:
            return False
    # x may stand for several y where an input was given twice.
    partners: dict[Variable, list[Variable]] = {}
    for in_x, in_y in zip(in_xs, in_ys):
        partners.setdefault(in_x, []).append(in_y)
    given_ys = set(in_ys)

    checked: set[tuple[int, int]] = set()
    stack = list(zip(xs, ys))
    while stack:
        x, y = stack.pop()
        if not (isinstance(x, Variable) and isinstance(y, Variable)):
            if not _equal_values(x, y):
                return False
            continue
        if x in partners:
            if not any(y is partner for partner in partners[x]):
                return False
            continue
        if y in given_ys:
            return False
        node_x, node_y = x.owner, y.owner
        if node_x is None or node_y is None:
            if node_x is not node_y or not _equal_leaves(x, y):
                return False
            continue
        if x.index != y.index:
            return False
        if x is y and not partners:
            continue
        pair = (id(node_x), id(node_y))
        if pair in checked:
            continue
        checked.add(pair)
        if len(node_x.inputs) != len(node_y.inputs) or len(node_x.outputs) != len(node_y.outputs):
            return False
        if node_x.op != node_y.op:
            return False
        stack.extend(zip(node_x.inputs, node_y.inputs))
    return True


def _equal_leaves(x: Variable, y: Variable) -> bool:
    if x is y:
        return True
    equals = getattr(x, "equals", None)
    return isinstance(x, Constant) and isinstance(y, Constant) and equals is not None and bool(equals(y))


def _equal_values(x: Any, y: Any) -> bool:
    """Compare where at least one side is a value and not a variable."""
    for side in (x, y):
        if isinstance(side, Variable) and not isinstance(side, Constant):
            return False
    value_x = x.data if isinstance(x, Constant) else x
    value_y = y.data if isinstance(y, Constant) else y
    array_x, array_y = np.asarray(value_x), np.asarray(value_y)
    if all(hasattr(value, "dtype") for value in (value_x, value_y)):
        if array_x.dtype != array_y.dtype:
            return False
    elif array_x.dtype.kind.replace("u", "i") != array_y.dtype.kind.replace("u", "i"):  # numbers of Python have no size
        return False
    if array_x.dtype.kind in "fc":
        same = np.array_equal(array_x, array_y, equal_nan=True)
        return bool(same and np.array_equal(_signs_of_zeros(array_x), _signs_of_zeros(array_y)))
    return bool(np.array_equal(array_x, array_y))


def _signs_of_zeros(values: np.ndarray) -> np.ndarray:
    """Mask of negative zeros: one row for the real parts, one for the imaginary parts."""
    parts = np.stack([values.real, values.imag])
    return np.signbit(parts) & (parts == 0)
