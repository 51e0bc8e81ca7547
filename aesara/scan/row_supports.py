"""Supports of cotangents of loops, by rows; see `aesara.graph.support`.

A cotangent that is zero in the last rows of an output must not be multiplied by the slopes of the last steps, which may
be infinite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.support import EMPTY, Condition, Support
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.elementwise.elemwise import any_along
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.shapes.dimshuffle import dimshuffle

if TYPE_CHECKING:
    from aesara.graph.nodes import Variable


__all__ = ["is_any", "row_support", "rows_of_support", "support_of_rows"]


def rows_of_support(support: Support, out: Variable) -> Variable | None:
    """Return a vector that is true for the rows of `out` in which a support has entries.

    The result is None if the last row is among them, because all steps before it take part then.
    """
    if not support.is_partial or not isinstance(out.type, TensorType) or _has_last_row(support.key):
        return None
    mask = any_along(support, range(1, out.type.ndim)).mask()
    return None if mask.type.shape[0] == 1 != out.type.shape[0] else dimshuffle(mask, [0])


def _has_last_row(key: Any) -> bool:
    """Return whether the support with this key is known to have entries in the last row.

    This holds for the indices ``[-1]`` and ``[start:]``, and for nested ones of these.
    """
    match key:
        case "full":
            return True
        case ("and", parts):
            return all(map(_has_last_row, parts))
        case ("or", parts):
            return any(map(_has_last_row, parts))
        case ("along", axis, _, entry):
            return axis > 0 or entry == ("constant", -1) or (isinstance(entry, tuple) and entry[1:] == (None, None))
        case ("written", IncSubtensor(idx_list=[slice(stop=None, step=None), *_]), _, _, inner):
            return _has_last_row(inner)
    return False


def row_support(read: Any, ndim: int) -> Support:
    """Return the support of a row with `ndim` dimensions: all entries if `read` is true, else none."""
    return Condition(("row", read), lambda: dimshuffle(read, ["x"] * ndim))


def support_of_rows(read: Any, ndim: int) -> Support:
    """Return the support that consists of the rows for which a vector is true."""
    return Condition(("rows", read), lambda: dimshuffle(read, [0, *["x"] * (ndim - 1)]))


def is_any(support: Support) -> Variable:
    """Return a scalar that is true if a support is not empty."""
    if not support.is_partial:
        return constant(np.array(support is not EMPTY))
    mask = support.mask()
    return dimshuffle(mask, []) if all(n == 1 for n in mask.type.shape) else mask.any()
