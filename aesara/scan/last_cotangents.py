"""Cotangents that are zero except in the last rows, as those of ``states[-1]`` and ``states[-3:]``.

The gradient of a loop starts with such rows.  Were they entries of a sequence, it would have a row of zeros for each of
the other steps.
"""

from __future__ import annotations

from typing import Any

from aesara.records import dataclass
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.constant_value import get_scalar_constant_value, known_integer
from aesara.tensor.core.conversion import constant
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import add, ge
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.indexing.index_forms import indices_from_subtensor
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.shapes.rearranging import sizes_of

__all__ = ["LastRows", "is_zero_before", "last_entry", "rows_from", "split_last_rows"]

#: Rows up to which they are carried from step to step; it takes a copy of each of them in each step.
MOST_ROWS = 4


@dataclass(frozen=True, eq=False)
class LastRows:
    """A cotangent as a sum.

    Attributes
    ----------
    rows
        Its last rows, by their distance from the end: 1 for the last one.  Others are zero.
    rest
        The second term, of as many rows as the cotangent has; None for zero.
    """

    rows: dict[int, Any]
    rest: Any


def split_last_rows(gradient: Any) -> LastRows:
    """Split a cotangent into its last rows and a rest, by the operations that have written them to zeros.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x, row = at.dmatrix("x"), at.dvector("row")
    >>> found = split_last_rows(at.set_subtensor(at.zeros_like(x)[-1], row))
    >>> list(found.rows), found.rest
    ([1], None)
    """
    node = gradient.owner
    if node is not None and node.op == add:
        return _sum_of([split_last_rows(term) if term.type == gradient.type else LastRows({}, term)
                        for term in node.inputs])  # fmt: skip
    whole = LastRows({}, gradient)
    if not _writes_to_zeros(node):
        return whole
    zero, value, *inputs = node.inputs
    entry, *others = indices_from_subtensor(inputs, node.op.idx_list)
    if not isinstance(entry, slice):
        return _of_entry(gradient, entry, others)
    start = 0 if entry.start is None else known_integer(entry.start)
    if others or start is None or entry.stop is not None or entry.step is not None:
        return whole
    if value.type.ndim != gradient.type.ndim or value.type.broadcastable[1:] != gradient.type.broadcastable[1:]:
        return whole
    is_repeated = value.type.broadcastable[0] and not gradient.type.broadcastable[0] and start != -1
    if is_repeated or start < -MOST_ROWS:
        return whole
    if start < 0:
        return _of_end(zero, value, -start)
    found = split_last_rows(value)
    rest = found.rest
    if rest is value:
        return whole
    return LastRows(found.rows, None if rest is None else node.op(zero, rest, *inputs))


def last_entry(gradient: Any) -> Any:
    """Return the last entry of a cotangent that is zero otherwise; None for others."""
    found = split_last_rows(gradient)
    return found.rows[1] if list(found.rows) == [1] and found.rest is None else None


def rows_from(gradient: Any, start: int) -> Any:
    """Return the rows of a cotangent from `start` on, as they were written where they were."""
    found = _rows_behind(gradient)
    return found[1] if found is not None and found[0] == start else gradient[start:]


def is_zero_before(gradient: Any, stop: int) -> bool:
    """Return whether a cotangent is known to be zero in the rows before `stop`."""
    found = _rows_behind(gradient)
    return found is not None and found[0] >= stop


def _rows_behind(gradient: Any) -> tuple[int, Any] | None:
    """Return how many rows of zeros a cotangent begins with, and the others; None if it was made otherwise."""
    node = gradient.owner
    if not _writes_to_zeros(node) or len(node.op.idx_list) != 1:
        return None
    value, *inputs = node.inputs[1:]
    (entry,) = indices_from_subtensor(inputs, node.op.idx_list)
    if not isinstance(entry, slice) or entry.stop is not None or entry.step is not None:
        return None
    start = 0 if entry.start is None else known_integer(entry.start)
    is_whole = value.type.ndim == gradient.type.ndim and value.type.broadcastable == gradient.type.broadcastable
    return (start, value) if is_whole and start is not None and start >= 0 else None


def _sum_of(terms: list[LastRows]) -> LastRows:
    rows: dict[int, Any] = {}
    for term in terms:
        for place, row in term.rows.items():
            rows[place] = add(rows[place], row) if place in rows else row
    rests = [term.rest for term in terms if term.rest is not None]
    return LastRows(rows, None if not rests else rests[0] if len(rests) == 1 else add(*rests))


def _of_entry(gradient: Any, entry: Any, others: list[Any]) -> LastRows:
    """Split what has one row, or a part of one."""
    zero, value = gradient.owner.inputs[:2]
    number, length = known_integer(entry), gradient.type.shape[0]
    if number is not None and length is not None and 0 <= number < length:
        number -= length
    if number is None or not -MOST_ROWS <= number < 0 or (length is not None and length < -number):
        return LastRows({}, gradient)
    if length is None:
        message = f"scan: the gradient reads row {number} of a loop that has taken fewer steps."
        value = CheckAndRaise(IndexError, message)(value, ge(zero.shape[0], constant(-number, dtype="int64")))
    row = alloc(constant(0, dtype=gradient.type.dtype), *sizes_of(zero)[1:])
    if others:
        row = set_subtensor(row[tuple(others)], value)
    elif value.type.broadcastable == row.type.broadcastable:
        row = value
    else:
        row = alloc(value, *sizes_of(zero)[1:])
    return LastRows({-number: row}, None)


def _of_end(zero: Any, value: Any, count: int) -> LastRows:
    """Split what has at most `count` rows."""
    if value.type.shape[0] is None:
        whole = alloc(constant(0, dtype=value.type.dtype), count, *sizes_of(zero)[1:])
        value = set_subtensor(whole[count - value.shape[0] :], value)
    else:
        count = value.type.shape[0]
    return LastRows({place: value[count - place] for place in range(1, count + 1)}, None)


def _writes_to_zeros(node: Any) -> bool:
    if node is None or not isinstance(node.op, IncSubtensor) or not node.op.idx_list:
        return False
    return _is_zero(node.inputs[0])


def _is_zero(variable: Any) -> bool:
    try:
        return bool(get_scalar_constant_value(variable) == 0)
    except NotScalarConstantError:
        return False
