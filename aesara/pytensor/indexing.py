"""Conversion of indexing and of assignment to parts of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.basic import Choose, PermuteRowElements
from pytensor.tensor.extra_ops import RavelMultiIndex, UnravelIndex
from pytensor.tensor.type import TensorType as PyTensorTensorType
from pytensor.tensor.type_other import MakeSlice

import aesara.tensor as at
from aesara.graph.generic import generic
from aesara.graph.nodes import Variable
from aesara.pytensor.conversion import convert_op, perform_in_python
from aesara.pytensor.versions import classes
from aesara.tensor.indexing.permuting import permute_row_elements


def _fill_entry(entry: Any, values: Iterator[Any]) -> Any:
    """Replace the types (2.38) or positions (3.0) in an entry of ``idx_list`` by values."""
    if isinstance(entry, slice):
        parts = (entry.start, entry.stop, entry.step)
        return slice(*[None if part is None else _fill_entry(part, values) for part in parts])
    return next(values)


def _index(op: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the index as a tuple of slices, tensors and None."""
    if any(isinstance(value, Variable) and value.type == generic for value in values):
        raise NotImplementedError("slices that are arguments of the function")
    entries = getattr(op, "idx_list", None)
    if entries is None:
        return tuple(values)
    remaining = iter(values)
    return tuple(_fill_entry(entry, remaining) for entry in entries)


@convert_op.register(MakeSlice)
def _make_slice(op: MakeSlice, node: PyTensorApply, start: Any, stop: Any, step: Any) -> slice:
    return slice(start, stop, step)


def _subtensor(op: Any, node: PyTensorApply, x: Any, *indices: Any) -> Any:
    return x[_index(op, indices)]


def _inc_subtensor(op: Any, node: PyTensorApply, x: Any, y: Any, *indices: Any) -> Any:
    part = x[_index(op, indices)]
    if op.set_instead_of_inc:
        return at.set_subtensor(part, y)
    return at.inc_subtensor(part, y, ignore_duplicates=getattr(op, "ignore_duplicates", False))


for _function, _names in (
    (_subtensor, ("Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1")),  # the last one up to 3.0
    (_inc_subtensor, ("IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1")),
):
    for _class in classes("pytensor.tensor.subtensor", _names).values():
        convert_op.register(_class, _function)


@convert_op.register(Choose)
def _choose(op: Choose, node: PyTensorApply, positions: Any, choices: Any) -> Any:
    if not isinstance(node.inputs[1].type, PyTensorTensorType):  # a list of tensors
        return perform_in_python(node, [positions, choices])
    return at.choose(positions, choices, op.mode)


@convert_op.register(PermuteRowElements)
def _permute_row_elements(op: PermuteRowElements, node: PyTensorApply, x: Any, order: Any) -> Any:
    return permute_row_elements(x, order, int(op.inverse))


@convert_op.register(RavelMultiIndex)
def _ravel_multi_index(op: RavelMultiIndex, node: PyTensorApply, *operands: Any) -> Any:
    *indices, dims = operands
    return at.ravel_multi_index(indices, dims, op.mode, op.order)


@convert_op.register(UnravelIndex)
def _unravel_index(op: UnravelIndex, node: PyTensorApply, indices: Any, dims: Any) -> Any:
    return list(at.unravel_index(indices, dims, op.order))
