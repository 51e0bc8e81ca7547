"""Indexing, and writing at indices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    IncSubtensor,
    Subtensor,
)
from pytensor.tensor.type_other import MakeSlice

import aesara.tensor as at
from aesara.pytensor.conversion import convert_op


def _filled(entry: Any, values: Iterator[Any]) -> Any:
    """An entry of ``idx_list`` with values in place of its types (2.38) or positions (3.0), which go up."""
    if isinstance(entry, slice):
        parts = (entry.start, entry.stop, entry.step)
        return slice(*[None if part is None else _filled(part, values) for part in parts])
    return next(values)


def _index(op: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """What stands between the brackets, as a tuple of slices, tensors and None."""
    entries = getattr(op, "idx_list", None)
    if entries is None:
        return tuple(values)
    left = iter(values)
    return tuple(_filled(entry, left) for entry in entries)


@convert_op.register(MakeSlice)
def _make_slice(op: MakeSlice, node: PyTensorApply, start: Any, stop: Any, step: Any) -> slice:
    return slice(start, stop, step)


@convert_op.register(Subtensor)
@convert_op.register(AdvancedSubtensor)
@convert_op.register(AdvancedSubtensor1)
def _subtensor(op: Any, node: PyTensorApply, x: Any, *indices: Any) -> Any:
    return x[_index(op, indices)]


@convert_op.register(IncSubtensor)
@convert_op.register(AdvancedIncSubtensor)
@convert_op.register(AdvancedIncSubtensor1)
def _inc_subtensor(op: Any, node: PyTensorApply, x: Any, y: Any, *indices: Any) -> Any:
    place = x[_index(op, indices)]
    if op.set_instead_of_inc:
        return at.set_subtensor(place, y)
    return at.inc_subtensor(place, y, ignore_duplicates=getattr(op, "ignore_duplicates", False))
