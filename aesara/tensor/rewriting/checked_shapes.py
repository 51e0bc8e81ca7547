"""Rules about shapes that must be right, since the graph would raise an error otherwise."""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.matching import ops
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.rewriting.helpers import has_value
from aesara.tensor.rewriting.indices import (
    FULL,
    index_of,
    replacing_part,
    symbolic_index_of,
    takes_everything,
)
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.shape import may_leave_length_open
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.reshape import Reshape

rules = Rules()


def _must_be_length_of(fgraph: FunctionGraph, length: Variable, x: Variable, axis: int) -> bool:
    """Return whether a number is the length of a dimension of a tensor, if there is no error."""
    if isinstance(length, Constant):
        return int(length.data) == x.type.shape[axis]
    feature, measured = getattr(fgraph, "shape_feature", None), dimension_measured_by(length)
    if feature is None or measured is None:
        return False
    return feature.same_shape(x, measured[0], axis, measured[1], with_checks=True)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((Reshape, "x", (MakeVector, "**lengths")), requirements=[ShapeFeature])
def local_reshape_to_checked_shape(fgraph: FunctionGraph, x: Any, lengths: list[Variable], out: Any) -> Any:
    """Leave out a reshape to a shape that a tensor must have: ``reshape(x, y.shape) -> x``."""
    if len(lengths) != x.type.ndim:
        return None
    wrong = [length for axis, length in enumerate(lengths) if not _must_be_length_of(fgraph, length, x, axis)]
    # One length may be left to be found out.
    is_open = len(wrong) == 1 and has_value(wrong[0], -1)
    return x if not wrong or (is_open and not may_leave_length_open(out.owner.inputs[1])) else None


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part(
    (Alloc, "x", "**lengths"), lambda x, lengths: 0 < len(lengths) == x.type.ndim, requirements=[ShapeFeature]
)
def local_alloc_of_checked_lengths(fgraph: FunctionGraph, x: Any, lengths: list[Variable]) -> Any:
    """Leave out an allocation of a tensor of lengths that it must have: ``alloc(x, y.shape[0]) -> x``."""
    for axis, (length, known) in enumerate(zip(lengths, x.type.shape)):
        # What is longer than one is not repeated.
        if known in (None, 1) and not _must_be_length_of(fgraph, length, x, axis):
            return None
    return x


def _has_stops(idx_list: tuple[Any, ...]) -> bool:
    return any(isinstance(entry, slice) and entry.stop is not None for entry in idx_list)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((ops(Subtensor, node="read", idx_list=_has_stops), "x", ...), requirements=[ShapeFeature])
def local_slice_to_checked_length(fgraph: FunctionGraph, read: Apply, x: Variable) -> Any:
    """Take everything by a slice up to the length of another tensor, which the tensor must have: ``x[:n] -> x``."""
    index, old = list(symbolic_index_of(read)), symbolic_index_of(read)
    for axis, known in enumerate(index_of(read, values_only=True)):
        if not isinstance(known, slice) or not isinstance(known.stop, Variable):
            continue
        from_start = takes_everything(slice(known.start, None, known.step), None, x, axis)
        if from_start and _must_be_length_of(fgraph, known.stop, x, axis):
            index[axis] = FULL
    return None if tuple(index) == old else getitem(x, tuple(index))
