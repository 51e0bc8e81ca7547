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
    index_row,
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
    """Whether a number is the length of a dimension of a tensor, if there is no error."""
    if isinstance(length, Constant):
        return int(length.data) == x.type.shape[axis]
    feature, measured = getattr(fgraph, "shape_feature", None), dimension_measured_by(length)
    if feature is None or measured is None:
        return False
    return feature.same_shape(x, measured[0], axis, measured[1], with_checks=True)


def _is_of_shape(fgraph: FunctionGraph, x: Any, lengths: list[Variable], out: Any) -> bool:
    """Whether a tensor must have these lengths, of which one may be left to be found out."""
    if len(lengths) != x.type.ndim:
        return False
    wrong = [length for axis, length in enumerate(lengths) if not _must_be_length_of(fgraph, length, x, axis)]
    is_open = len(wrong) == 1 and has_value(wrong[0], -1)
    return not wrong or (is_open and not may_leave_length_open(out.owner.inputs[1]))


def _is_repeated_nowhere(fgraph: FunctionGraph, x: Any, lengths: list[Variable]) -> bool:
    """Whether an allocation of a tensor must be the tensor: what is longer than one is not repeated."""
    return 0 < len(lengths) == x.type.ndim and all(
        known not in (None, 1) or _must_be_length_of(fgraph, length, x, axis)
        for axis, (length, known) in enumerate(zip(lengths, x.type.shape))
    )


rules.add(
    index_row(
        "local_reshape_to_checked_shape",
        (Reshape, "x", (MakeVector, "**lengths")),
        "x",
        _is_of_shape,
        requirements=[ShapeFeature],
        why="A reshape to the shape of another tensor, which a tensor must have anyway: ``reshape(x, y.shape) -> x``",
    ),
    index_row(
        "local_alloc_of_checked_lengths",
        (Alloc, "x", "**lengths"),
        "x",
        _is_repeated_nowhere,
        requirements=[ShapeFeature],
        why="An allocation of a tensor that must be as long as what the lengths are taken from: ``alloc(x, n) -> x``",
    ),
    to=(rules.canonicalize, rules.specialize),
    tags=("shape_unsafe",),
)


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
