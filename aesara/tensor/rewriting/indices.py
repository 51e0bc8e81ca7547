"""Questions about indices that rules ask, and two indices as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.tensor.indexing.index_forms import get_constant_idx, get_idx_list
from aesara.tensor.indexing.index_shapes import basic_shape
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.rewriting.helpers import same_elements
from aesara.tensor.rewriting.length_facts import dimension_measured_by

FULL = slice(None)
#: The largest integer in an index.
LARGEST = 2**63 - 1
BACKWARDS = slice(None, None, -1)


def index_of(node: Apply, values_only: bool = False) -> list[Any]:
    """The index of a `Subtensor` or `IncSubtensor` node, with integers where they are known."""
    inputs = node.inputs if isinstance(node.op, Subtensor) else node.inputs[1:]
    return get_constant_idx(node.op.idx_list, inputs, allow_partial=True, only_process_constants=values_only)


def symbolic_index_of(node: Apply) -> tuple[Any, ...]:
    """The index of a `Subtensor` or `IncSubtensor` node as it stands in its inputs."""
    inputs = node.inputs if isinstance(node.op, Subtensor) else node.inputs[1:]
    return get_idx_list(inputs, node.op.idx_list)


def is_full_slice(x: Any) -> bool:
    """Whether a slice takes everything.

    Examples
    --------
    >>> is_full_slice(slice(None, None, None))
    True
    """
    return isinstance(x, slice) and x.start in (None, 0) and x.stop is None and x.step in (None, 1)


def is_known(entry: Any) -> bool:
    """Whether all parts of an entry of an index are known integers or None."""
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    return not any(isinstance(part, Variable) for part in parts)


def same_index(first: Sequence[Any], second_: Sequence[Any]) -> bool:
    """Whether two indices are the same, entry by entry."""
    if len(first) != len(second_):
        return False

    def same(a, b):
        if isinstance(a, Variable) or isinstance(b, Variable):
            return isinstance(a, Variable) and isinstance(b, Variable) and same_elements(a, b)
        return a == b

    for a, b in zip(first, second_):
        if isinstance(a, slice) != isinstance(b, slice):
            return False
        if isinstance(a, slice):
            if not (same(a.start, b.start) and same(a.stop, b.stop) and same(a.step, b.step)):
                return False
        elif not same(a, b):
            return False
    return True


def takes_everything(entry: Any, length_known: int | None, x: Variable, axis: int) -> bool:
    """Whether an entry of an index takes a whole dimension as it is."""
    if not isinstance(entry, slice):
        return False
    if length_known == 1 and is_known(entry) and entry.step != 0:
        return len(range(1)[entry]) == 1  # in whatever direction
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


def basic_lengths(fgraph: Any, x: Any, index: Sequence[Any]) -> tuple[Any, ...]:
    """The lengths of a part of a tensor."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is not None:
        sizes = feature.shape_of[x]
    else:
        sizes = [x.shape[i] for i in range(x.type.ndim)]
    return (*basic_shape(sizes, index), *sizes[len(index) :])


def merge_two_slices(fgraph: Any, slice1: Any, len1: Any, slice2: Any, len2: Any) -> Any:
    """One entry of an index for two, the second applied to what the first gives.

    Parameters
    ----------
    slice1, slice2
        The entries: a slice, and a slice or an integer, of known integers.
    len1, len2
        The lengths before and after the first; used if they are known integers.

    Returns
    -------
    A slice or an integer, or None where one cannot be told.

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
        return _merged_in_length(slice1, slice2, int(length))
    if slice1 == BACKWARDS:
        return _counted_from_the_other_end(slice2)
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
    # No tensor has more entries than the largest bound.
    return slice(
        *(part if part is None else min(part, LARGEST) for part in (start + start2 * step, last, step * step2))
    )


def _merged_in_length(first: slice, second_: Any, length: int) -> Any:
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


def _counted_from_the_other_end(entry: Any) -> Any:
    """What an entry of an index takes of a reversed dimension, as an entry for the dimension; None if unknown."""
    if not isinstance(entry, slice):
        return -1 - entry
    return FULL if entry == BACKWARDS else None
