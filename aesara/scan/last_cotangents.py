"""Cotangents that are zero except in the last rows, such as those of ``states[-1]`` and ``states[-3:]``.

These rows are initial values of the gradient loop. As a sequence they would need a row of zeros for each other step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from aesara.graph.nodes import Apply, Variable

__all__ = ["LastRows", "is_zero_before", "last_entry", "rows_from", "split_last_rows"]

#: maximum number of last rows that are carried from step to step; each costs a copy per step
MOST_ROWS = 4


@dataclass(frozen=True, eq=False)
class LastRows:
    """A cotangent as a sum of its last rows and a rest.

    Attributes
    ----------
    rows
        Last rows by their distance from the end: 1 for the last one. Other rows are zero.
    rest
        A cotangent with all rows, or None for zero.
    """

    rows: dict[int, Any]
    rest: Any


def split_last_rows(gradient: Any) -> LastRows:
    """Split a cotangent into its last rows and a rest.

    The cotangent is matched with ``set_subtensor(zeros[-k], row)``, ``set_subtensor(zeros[-k:], rows)`` and sums of
    such terms.

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
    split = split_last_rows(value)
    rest = split.rest
    if rest is value:
        return whole
    return LastRows(split.rows, None if rest is None else node.op(zero, rest, *inputs))


def last_entry(gradient: object) -> Variable | None:
    """Return the last row of a cotangent if all other rows are zero, else None."""
    split = split_last_rows(gradient)
    return split.rows[1] if list(split.rows) == [1] and split.rest is None else None


def rows_from(gradient: Any, start: int) -> Any:
    """Return ``gradient[start:]``; of rows written to zeros, the rows themselves."""
    written = _written_rows(gradient)
    return written[1] if written is not None and written[0] == start else gradient[start:]


def is_zero_before(gradient: Variable, stop: int) -> bool:
    """Return whether a cotangent is known to be zero in the rows before `stop`."""
    written = _written_rows(gradient)
    return written is not None and written[0] >= stop


def _written_rows(gradient: Any) -> tuple[int, Any] | None:
    """Match ``set_subtensor(zeros[start:], rows)``; return start and rows, or None."""
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
        for position, row in term.rows.items():
            rows[position] = add(rows[position], row) if position in rows else row
    rests = [term.rest for term in terms if term.rest is not None]
    return LastRows(rows, None if not rests else rests[0] if len(rests) == 1 else add(*rests))


def _of_entry(gradient: Any, entry: Any, others: list[Variable]) -> LastRows:
    """Split a cotangent of a row, or of a part of a row."""
    zero, value = gradient.owner.inputs[:2]
    index, length = known_integer(entry), gradient.type.shape[0]
    if index is not None and length is not None and 0 <= index < length:
        index -= length
    if index is None or not -MOST_ROWS <= index < 0 or (length is not None and length < -index):
        return LastRows({}, gradient)
    if length is None:
        message = f"scan: the gradient reads row {index} of a loop that has taken fewer steps."
        value = CheckAndRaise(IndexError, message)(value, ge(zero.shape[0], constant(-index, dtype="int64")))
    row = alloc(constant(0, dtype=gradient.type.dtype), *sizes_of(zero)[1:])
    if others:
        row = set_subtensor(row[tuple(others)], value)
    elif value.type.broadcastable == row.type.broadcastable:
        row = value
    else:
        row = alloc(value, *sizes_of(zero)[1:])
    return LastRows({-index: row}, None)


def _of_end(zero: Any, value: Any, count: int) -> LastRows:
    """Split a cotangent of at most `count` last rows."""
    if value.type.shape[0] is None:
        whole = alloc(constant(0, dtype=value.type.dtype), count, *sizes_of(zero)[1:])
        value = set_subtensor(whole[count - value.shape[0] :], value)
    else:
        count = value.type.shape[0]
    return LastRows({position: value[count - position] for position in range(1, count + 1)}, None)


def _writes_to_zeros(node: Apply) -> bool:
    if node is None or not isinstance(node.op, IncSubtensor) or not node.op.idx_list:
        return False
    return _is_zero(node.inputs[0])


def _is_zero(variable: Variable) -> bool:
    try:
        return bool(get_scalar_constant_value(variable) == 0)
    except NotScalarConstantError:
        return False
