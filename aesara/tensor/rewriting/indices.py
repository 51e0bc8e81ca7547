"""Predicates of indices for conditions of rules, and the composition of two indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.core.tensor_like import IndexEntry, IntegerLike, TemplateEntry
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.index_forms import get_constant_idx, get_idx_list
from aesara.tensor.indexing.index_shapes import basic_shape
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.rewriting.helpers import apply_or_none, same_elements
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.rows import replacing

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


#: Ops that read a subtensor, and ops that write to one.
READERS = (AdvancedSubtensor, AdvancedSubtensor1, Subtensor)
WRITERS = (IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1)

FULL = slice(None)
#: The largest integer in an index.
LARGEST = 2**63 - 1
BACKWARDS = slice(None, None, -1)

#: A decorator that makes a rule about tensors of any dtype; see `replacing`.
replacing_part = partial(replacing, each=None)
#: Ops of patterns: the node ``read`` reads a subtensor, the node ``write`` writes to one.
READ = one_of(Subtensor, node="read")
WRITE = one_of(IncSubtensor, node="write")
SET = one_of(IncSubtensor, node="write", set_instead_of_inc=True)


def index_of(node: Apply, values_only: bool = False) -> list[Any]:
    """Return the index of a `Subtensor` or `IncSubtensor` node, with known entries as integers."""
    inputs = node.inputs if isinstance(node.op, Subtensor) else node.inputs[1:]
    return get_constant_idx(node.op.idx_list, inputs, allow_partial=True, only_process_constants=values_only)


def symbolic_index_of(node: Apply) -> tuple[Any, ...]:
    """Return the index of a `Subtensor` or `IncSubtensor` node with the inputs of the node as entries."""
    inputs = node.inputs if isinstance(node.op, Subtensor) else node.inputs[1:]
    return get_idx_list(inputs, node.op.idx_list)


def has_slices(idx_list: Sequence[TemplateEntry]) -> bool:
    """Return whether an index keeps a dimension."""
    return any(isinstance(entry, slice) for entry in idx_list)


def has_integers(idx_list: Sequence[TemplateEntry]) -> bool:
    """Return whether an index drops a dimension."""
    return not all(isinstance(entry, slice) for entry in idx_list)


def kept_axes(read: Apply) -> list[int]:
    """Return the dimensions that a subtensor keeps: all that are not indexed by an integer."""
    index = read.op.idx_list
    return [axis for axis in range(read.inputs[0].type.ndim) if axis >= len(index) or isinstance(index[axis], slice)]


def part_of(x: Variable, index: Sequence[IndexEntry]) -> Any:
    """Return ``x[index]``, without trailing full slices; None if a position is out of range."""
    n = len(index)
    while n and index[n - 1] == FULL:
        n -= 1
    return apply_or_none(getitem, x, tuple(index[:n])) if n else x


def adding(op: IncSubtensor, set_instead_of_inc: bool = False) -> IncSubtensor:
    """Return the op that adds to, or sets, the subtensor to which another one writes."""
    return IncSubtensor(op.idx_list, op.inplace, set_instead_of_inc, op.destroyhandler_tolerate_aliased)


def is_full_slice(x: object) -> bool:
    """Return whether a slice selects everything.

    Examples
    --------
    >>> is_full_slice(slice(None, None, None))
    True
    """
    return isinstance(x, slice) and x.start in (None, 0) and x.stop is None and x.step in (None, 1)


def is_known(entry: IndexEntry) -> bool:
    """Return whether all parts of an entry of an index are known integers or None."""
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    return not any(isinstance(part, Variable) for part in parts)


def same_index(first: Sequence[IndexEntry], second_: Sequence[IndexEntry]) -> bool:
    """Return whether two indices are the same, entry by entry."""
    return len(first) == len(second_) and all(map(_same_entry, first, second_))


def _same_entry(a: IndexEntry, b: IndexEntry) -> bool:
    if isinstance(a, slice) and isinstance(b, slice):
        return all(_same_entry(getattr(a, part), getattr(b, part)) for part in ("start", "stop", "step"))
    if isinstance(a, Variable) and isinstance(b, Variable):
        return same_elements(a, b)
    return not isinstance(a, Variable) and not isinstance(b, Variable) and bool(a == b)


def whole_dimensions(node: Apply) -> list[bool]:
    """Return for each entry of the index of a node whether it selects a whole dimension, in its order."""
    x = node.inputs[0]
    index = index_of(node, values_only=True)
    return [selects_whole_dimension(entry, x.type.shape[axis], x, axis) for axis, entry in enumerate(index)]


def selects_whole_dimension(entry: IndexEntry, length_known: int | None, x: Variable, axis: int) -> bool:
    """Return whether an entry of an index selects a whole dimension, in its order."""
    if not isinstance(entry, slice):
        return False
    if length_known == 1 and is_known(entry) and entry.step != 0:
        return len(range(1)[entry]) == 1  # in either direction
    if entry.step not in (None, 1) or isinstance(entry.step, Variable):
        return False
    if isinstance(entry.start, Variable) or entry.start not in (None, 0):
        return False
    stop = entry.stop
    if stop is None:
        return True
    if isinstance(stop, Variable):
        return dimension_measured_by(stop) == (x, axis)
    return length_known is not None and stop >= length_known


def basic_lengths(fgraph: FunctionGraph, x: Any, index: Sequence[IndexEntry]) -> tuple[IntegerLike, ...]:
    """Return the lengths of a subtensor."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is not None:
        sizes = feature.shape_of[x]
    else:
        sizes = [x.shape[i] for i in range(x.type.ndim)]
    return (*basic_shape(sizes, index), *sizes[len(index) :])


def merge_two_slices(fgraph: Any, slice1: Any, len1: Any, slice2: Any, len2: Any) -> Any:
    """Return the entry of an index that composes two, the second of which applies to the result of the first.

    Parameters
    ----------
    slice1, slice2
        The entries: a slice, and a slice or an integer, of known integers.
    len1, len2
        The lengths before and after the first, which are used if they are integers.

    Returns
    -------
    A slice or an integer, or None if the entries have no known composition.

    Examples
    --------
    >>> merge_two_slices(None, slice(2, None), None, slice(1, 5, 2), None)
    slice(3, 7, 2)
    """
    length = len1 if isinstance(len1, (int, np.integer)) else None
    if is_full_slice(slice1):
        return slice2
    if not (is_known(slice1) and is_known(slice2)):
        return slice1 if is_full_slice(slice2) else None
    if is_full_slice(slice2):
        return slice1
    if length is not None:
        return _composed_for_length(slice1, slice2, int(length))
    if slice1 == BACKWARDS:
        return _reversed_entry(slice2)
    start, stop, step = slice1.start or 0, slice1.stop, slice1.step or 1
    if start < 0 or step < 0 or (stop is not None and stop < 0):
        return None
    if not isinstance(slice2, slice):
        position = start + slice2 * step
        inside = slice2 >= 0 and (stop is None or position < stop)
        return position if inside and position <= LARGEST else None
    start2, stop2, step2 = slice2.start or 0, slice2.stop, slice2.step or 1
    if start2 < 0 or step2 < 0 or (stop2 is not None and stop2 < 0):
        return None
    last = stop
    if stop2 is not None:
        last = start + stop2 * step if stop is None else min(stop, start + stop2 * step)
    # No tensor is longer than the largest integer.
    return slice(
        *(part if part is None else min(part, LARGEST) for part in (start + start2 * step, last, step * step2))
    )


def _composed_for_length(first: slice, second_: Any, length: int) -> IndexEntry:
    chosen = range(length)[first]
    if not isinstance(second_, slice):
        return chosen[second_] if -len(chosen) <= second_ < len(chosen) else None
    chosen = chosen[second_]
    if not len(chosen):
        return slice(0, 0, None)
    if len(chosen) == 1:
        return slice(chosen[0], chosen[0] + 1, None)
    stop = chosen[-1] + (1 if chosen.step > 0 else -1)
    return slice(chosen[0], None if stop < 0 else stop, chosen.step)


def _reversed_entry(entry: Any) -> IndexEntry:
    """Return the entry of a dimension that selects the same as an entry of the reversed dimension; None if unknown."""
    if not isinstance(entry, slice):
        return -1 - entry
    return FULL if entry == BACKWARDS else None
