"""Rows of a loop's outputs that are read, in the gradient of the loop; see `aesara.graph.support`.

A gradient that is zero in the last rows of an output must not meet the slopes of the steps that computed them: a loop
of which the third state is read may have infinite ones later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.support import EMPTY, Condition, Support
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.elementwise.elemwise import any_along
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.shapes.dimshuffle import dimshuffle

__all__ = ["is_any", "row_support", "rows_of_support", "support_of_rows"]


def rows_of_support(support: Support, out: Any) -> Any:
    """Return a vector that is true for the rows of `out` that a support has entries in.

    It is None where the last row is among them: all others come before it, so that nothing has to be told apart.
    """
    if not support.is_partial or not isinstance(out.type, TensorType) or _has_last_row(support.key):
        return None
    mask = any_along(support, range(1, out.type.ndim)).mask()
    return None if mask.type.shape[0] == 1 != out.type.shape[0] else dimshuffle(mask, [0])


def _has_last_row(key: Any) -> bool:
    """Return whether the support of this key has entries in the last row, as far as can be seen.

    It has if it is that of an index ``[-1]`` or ``[start:]``, or of one of these in such a slice.
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
    """Return the support of a row with `ndim` dimensions of which all entries are read, or none."""
    return Condition(("row", read), lambda: dimshuffle(read, ["x"] * ndim))


def support_of_rows(read: Any, ndim: int) -> Support:
    """Return the support of all entries of the rows for which a vector is true."""
    return Condition(("rows", read), lambda: dimshuffle(read, [0, *["x"] * (ndim - 1)]))


def is_any(support: Support) -> Any:
    """Return a scalar that is true if a support has entries."""
    if not support.is_partial:
        return constant(np.array(support is not EMPTY))
    mask = support.mask()
    return dimshuffle(mask, []) if all(n == 1 for n in mask.type.shape) else mask.any()
