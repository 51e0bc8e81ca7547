"""Short texts for the boxes of a picture."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable

__all__ = [
    "apply_label", "apply_profile", "broadcastable_to_str", "dtype_to_char", "operation_label", "type_to_str",
    "var_label", "var_tag",
]  # fmt: skip

_CHARACTERS = {
    "complex64": "c", "complex128": "z", "float32": "f", "float64": "d", "int8": "b", "int16": "w", "int32": "i",
    "int64": "l",
}  # fmt: skip
_SHAPES = {
    (): "scalar",
    (False,): "vector",
    (False, True): "col",
    (True, False): "row",
    (False, False): "matrix",
}


def dtype_to_char(dtype: str) -> str:
    """Return the letter of a dtype in the names of types; ``"X"`` if it has none.

    Examples
    --------
    >>> dtype_to_char("float64"), dtype_to_char("bool")
    ('d', 'X')
    """
    return _CHARACTERS.get(str(dtype), "X")


def broadcastable_to_str(b: Sequence[bool]) -> str:
    """Return the name of a pattern of broadcastable dimensions; empty if it has none.

    Examples
    --------
    >>> broadcastable_to_str((False, True)), broadcastable_to_str((False, False, False))
    ('col', '')
    """
    return _SHAPES.get(tuple(b), "")


def type_to_str(t: Any) -> str:
    """Return a short name of a type.

    Examples
    --------
    >>> type_to_str(at.fcol().type), type_to_str(at.dtensor3().type)
    ('fcol', 'TensorType(float64, (?, ?, ?))')
    """
    shape = broadcastable_to_str(t.broadcastable) if hasattr(t, "broadcastable") else ""
    return f"{dtype_to_char(t.dtype)}{shape}" if shape else str(t)


def var_label(var: Variable, precision: int = 3) -> str:
    """Return the name of a variable, the value of a constant, or else its type.

    Parameters
    ----------
    var
        The variable.
    precision
        Digits of a constant after the point.

    Examples
    --------
    >>> var_label(at.dmatrix("x")), var_label(at.dmatrix()), var_label(at.constant(3.14159))
    ('x', 'dmatrix', '3.142')
    """
    if var.name is not None:
        return str(var.name)
    if isinstance(var, Constant):
        if isinstance(var.data, (np.ndarray, np.generic)):
            return np.array2string(np.asarray(var.data), precision=precision, threshold=20, edgeitems=2)
        return str(var.data)
    return type_to_str(var.type)


def var_tag(var: Variable) -> list[Any] | None:
    """Return the line of the user's program that made a variable: file, number, text; None if not known."""
    source = None if var.owner is None else var.owner.source
    if source is None:
        return None
    return [source.filename, source.lineno, linecache.getline(source.filename, source.lineno).strip()]


def apply_label(node: Apply) -> str:
    """Return the name of the class of a node's operation."""
    return type(node.op).__name__


def operation_label(node: Apply) -> str:
    """Return the name of a node's operation; for elementwise ones that of the operation on numbers.

    Examples
    --------
    >>> operation_label((at.dvector() + 1).owner), operation_label(at.dvector().sum().owner)
    ('add', 'Sum{acc_dtype=float64}')
    """
    scalar_op = getattr(node.op, "scalar_op", None)
    elementwise = type(node.op).__name__ == "Elemwise" and scalar_op is not None
    return str(scalar_op if elementwise else node.op)


def apply_profile(fgraph: FunctionGraph, node: Apply, profile: Any) -> list[float] | None:
    """Return the seconds of a node and of all calls of the function; None if there is no profile of it."""
    if profile is None or profile.fct_callcount == 0:
        return None
    return [profile.apply_time.get((fgraph, node), 0.0), profile.fct_call_time]
