"""Supports of gradients that consist of tensors; see `aesara.graph.support`.

The pullback of an op moves entries of cotangents, selects between them, and writes them to zeros. The support of the
result follows from these operations, independently of the op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import cotangents_of_inputs
from aesara.graph.support import (
    EMPTY,
    FULL,
    Condition,
    Support,
    Supported,
    complement,
    intersection,
    structure_of,
    union,
)
from aesara.graph.view import ViewOp
from aesara.scalar.structure import structure_of_scalar_op, without_choice
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag
from aesara.tensor.creation.make_vector import MakeVector, vector_of
from aesara.tensor.elementwise.elemwise import Elemwise, Everywhere, any_along, is_uniform, tensor_condition
from aesara.tensor.elementwise.ops import second
from aesara.tensor.indexing.index_forms import indices_from_subtensor
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    advanced_set_subtensor,
    advanced_set_subtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.joining.join_split import Join, Split
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.sequences.cumulative import CumOp
from aesara.tensor.shapes.cpu_contiguous import CpuContiguous
from aesara.tensor.shapes.dimshuffle import DimShuffle, dimshuffle
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast

SupportsOfVariables = Mapping[Variable, Supported]

_TRUE, _FALSE = constant(np.array(True)), constant(np.array(False))


@singledispatch
def structure_of_output(op: Op, node: Apply, output: Any, supports_of: SupportsOfVariables) -> tuple[Support, bool]:
    """Return the support of an output, and whether the output is zero outside of it, given those of the inputs.

    Functions are registered by class of op; for other classes the result is the full support.
    """
    return FULL, True


_unknown = structure_of_output.dispatch(object)


@structure_of.register(TensorType)
def structure_of_tensor(term_type: TensorType, term: Any, known: SupportsOfVariables) -> Supported:
    """Return a tensor with its support; a choice between a value and zero is that value, at a condition."""
    if term in known:
        return known[term]
    supports_of = dict(known)
    todo: list[Any] = [term]
    while todo:
        variable = todo[-1]
        if variable in supports_of:
            todo.pop()
            continue
        node = variable.owner
        if node is None or structure_of_output.dispatch(type(node.op)) is _unknown:
            zero = isinstance(variable, Constant) and isinstance(variable.type, TensorType) and not variable.data.any()
            supports_of[variable] = Supported(variable, EMPTY if zero else FULL)
            continue
        missing = [v for v in node.inputs if v not in supports_of]
        if missing:
            todo.extend(missing)
            continue
        supports_of[variable] = Supported(variable, *structure_of_output(node.op, node, variable, supports_of))
    return without_choice(supports_of[term], supports_of)


def full_mask(support: Support, model: Any) -> Any:
    """Return the mask of a support in the shape of `model`."""
    if not support.is_partial:
        return second(model, _TRUE if support is FULL else _FALSE)
    mask = support.mask()
    same = mask.type.broadcastable == model.type.broadcastable
    return mask if same else second(model, mask)


def move_support(support: Support, ndim: int, key: Any, move: Callable[[Any], Any]) -> Support:
    """Return the support after entries are moved to a tensor of `ndim` dimensions; `move` moves those of a mask."""

    def change(condition: Condition) -> Support:
        if isinstance(condition, Everywhere):
            return Everywhere(condition.scalar, ndim)
        return Condition(("moved", key, condition.key), lambda: move(condition.mask()), condition.is_of_row)

    return support.map_conditions(change)


# Choices and arithmetic


@structure_of_output.register(Elemwise)
def _(op, node, output, supports_of):
    if len(node.outputs) > 1:
        return FULL, True
    return structure_of_scalar_op(op.scalar_op, [supports_of[v] for v in node.inputs], tensor_condition)


@structure_of_output.register(Sum)
def _(op, node, output, supports_of):
    (x,) = node.inputs
    support, is_clean = supports_of[x].support, supports_of[x].is_clean
    if not support.is_partial:
        return support, is_clean
    axes = range(x.type.ndim) if op.axis is None else [axis % x.type.ndim for axis in op.axis]
    left = [axis for axis in range(x.type.ndim) if axis not in axes]
    kept = any_along(support, tuple(axes))
    return move_support(kept, len(left), ("without", tuple(axes)), lambda mask: dimshuffle(mask, left)), is_clean


# The same entries


@structure_of_output.register(ViewOp)
@structure_of_output.register(CheckAndRaise)
@structure_of_output.register(CpuContiguous)
@structure_of_output.register(SpecifyShape)
@structure_of_output.register(Unbroadcast)
def _(op, node, output, supports_of):
    value = supports_of[node.inputs[0]]
    return value.support, value.is_clean


# Moved entries


@structure_of_output.register(DimShuffle)
def _(op, node, output, supports_of):
    value = supports_of[node.inputs[0]]
    order = tuple(op.new_order)
    # The static shape of a mask may be less precise than that of the value.
    ones = tuple([1 if length == 1 else None for length in node.inputs[0].type.shape])

    def move(mask: Any) -> Any:
        return dimshuffle(mask.with_static_shape(ones), order)

    return move_support(value.support, len(order), ("order", order), move), value.is_clean


@structure_of_output.register(Alloc)
def _(op, node, output, supports_of):
    value, *sizes = node.inputs
    support = supports_of[value].support
    key = ("alloc", value.type.ndim, tuple(sizes))
    return move_support(support, output.type.ndim, key, lambda mask: alloc(mask, *sizes)), supports_of[value].is_clean


@structure_of_output.register(Reshape)
@structure_of_output.register(Subtensor)
@structure_of_output.register(AdvancedSubtensor)
@structure_of_output.register(AdvancedSubtensor1)
@structure_of_output.register(Split)
@structure_of_output.register(ExtractDiag)
def _(op, node, output, supports_of):
    value, *others = node.inputs
    place = node.outputs.index(output)

    def move(mask: TensorLike) -> Any:
        return op(full_mask(Condition("mask", lambda: mask), value), *others, return_list=True)[place]

    return move_support(supports_of[value].support, output.type.ndim, (op, place, tuple(others)), move), supports_of[
        value
    ].is_clean


@structure_of_output.register(Join)
def _(op, node, output, supports_of):
    axis, *values = node.inputs
    supports = {supports_of[v].support for v in values}
    is_clean = all(supports_of[v].is_clean for v in values)
    if len(supports) == 1 and is_uniform(next(iter(supports))):
        return supports.pop(), is_clean
    key = ("join", axis, tuple((v, supports_of[v].support.key) for v in values))
    is_of_row = any(support.is_of_row for support in supports)
    return Condition(
        key, lambda: op(axis, *(full_mask(supports_of[v].support, v) for v in values)), is_of_row
    ), is_clean


@structure_of_output.register(MakeVector)
def _(op, node, output, supports_of):
    supports = [supports_of[v].support for v in node.inputs]
    is_clean = all(supports_of[v].is_clean for v in node.inputs)
    if len(set(supports)) == 1 and not supports[0].is_partial:
        return supports[0], is_clean
    key = ("vector", tuple(support.key for support in supports))
    is_of_row = any(support.is_of_row for support in supports)
    masks = list(zip(supports, node.inputs))
    return Condition(key, lambda: vector_of([full_mask(s, v) for s, v in masks]), is_of_row), is_clean


@structure_of_output.register(AllocDiag)
def _(op, node, output, supports_of):
    (value,) = node.inputs
    support = supports_of[value].support
    if support is EMPTY:
        return EMPTY, True
    made = Condition((op, value, support.key), lambda: op(full_mask(support, value)), support.is_of_row)
    return made, supports_of[value].is_clean


# Entries that are written


@structure_of_output.register(IncSubtensor)
@structure_of_output.register(AdvancedIncSubtensor)
@structure_of_output.register(AdvancedIncSubtensor1)
def _(op, node, output, supports_of):
    base, value, *index = node.inputs
    below, above = supports_of[base], supports_of[value]
    is_clean = below.is_clean and above.is_clean
    if below.support is FULL and (above.support is not EMPTY or not op.set_instead_of_inc):
        return FULL, True
    part = region(op, base, tuple(index))
    inside = intersection(part, _support_of_written(op, base, above.support, value, tuple(index)))
    outside = intersection(complement(part), below.support) if op.set_instead_of_inc else below.support
    return union(outside, inside), is_clean


def region(op: Op, base: Any, index: tuple[Any, ...]) -> Support:
    """Return the entries of `base` that an index names."""
    ndim = base.type.ndim
    if isinstance(op, IncSubtensor):
        entries = [*indices_from_subtensor(index, op.idx_list)]
        masks = [_part_of_axis(base, axis, entry) for axis, entry in enumerate(entries) if not _is_all(entry)]
        return intersection(*masks)
    if isinstance(op, AdvancedIncSubtensor1):
        return Condition(
            ("entries", ndim, index),
            lambda: _beside(advanced_set_subtensor1(_none(base, [0]), _TRUE, *index), [0], ndim),
        )
    axes = list(range(ndim))
    return Condition(
        ("advanced", ndim, index), lambda: _beside(advanced_set_subtensor(_none(base, axes), _TRUE, *index), axes, ndim)
    )


def _is_all(entry: Any) -> bool:
    return isinstance(entry, slice) and entry == slice(None)


def _part_of_axis(base: Any, axis: int, entry: Any) -> Support:
    """Return the mask of the entries along one axis that an integer or a slice selects."""
    ndim, length = base.type.ndim, base.type.shape[axis]
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else entry
    if length is not None and _is_whole(parts, length):
        return FULL

    def build() -> Any:
        return _beside(_set_true(_none(base, [axis]), entry), [axis], ndim)

    return Condition(("along", axis, ndim, _key_of(parts)), build)


def _is_whole(parts: Any, length: int) -> bool:
    """Return whether a slice of constants, or an integer, is known to name all positions along an axis."""
    if not isinstance(parts, tuple):
        return length == 1
    numbers = [int(part.data) if isinstance(part, Constant) else part for part in parts]
    if any(isinstance(number, Variable) for number in numbers):
        return False
    return len(range(length)[slice(*numbers)]) == length


def _key_of(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(map(_key_of, part))
    return ("constant", part.data.item()) if isinstance(part, Constant) else part


def _set_true(mask: TensorLike, entry: Any) -> Any:
    index = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    op = IncSubtensor([entry], set_instead_of_inc=True)
    return op(mask, _TRUE, *[v for v in index if v is not None])


def _none(base: Any, axes: Sequence[int]) -> Any:
    """Return a mask over some axes of `base` that is false everywhere."""
    return alloc(_FALSE, *(base.shape[axis] for axis in axes))


def _beside(mask: TensorLike, axes: Sequence[int], ndim: int) -> Any:
    """Extend a mask over some axes to a mask over all axes."""
    return dimshuffle(mask, [axes.index(axis) if axis in axes else "x" for axis in range(ndim)])


def _support_of_written(op: Op, base: Any, support: Support, value: TensorLike, index: tuple[Any, ...]) -> Support:
    """Return the support of a tensor of zeros to which a value with a given support is written."""
    if is_uniform(support):
        return move_support(support, base.type.ndim, None, lambda mask: mask)

    def build() -> Any:
        mask = full_mask(support, value)
        writer = IncSubtensor(op.idx_list) if isinstance(op, IncSubtensor) else type(op)()
        return writer(_none(base, range(base.type.ndim)), mask, *index)  # adding Booleans is a union

    return Condition(("written", op, base.type.ndim, index, support.key), build, support.is_of_row)


# Ops that combine the entries along an axis


@cotangents_of_inputs.register(Softmax)
@cotangents_of_inputs.register(LogSoftmax)
@cotangents_of_inputs.register(SoftmaxGrad)
@cotangents_of_inputs.register(CumOp)
def _(op, node, of_outputs):
    terms = cotangents_of_inputs.dispatch(object)(op, node, of_outputs)
    (support,) = (g.support for g in of_outputs)
    axis = getattr(op, "axis", None)
    if not support.is_partial or axis is None:
        return terms
    return [
        Supported(term.value, any_along(support, (axis % x.type.ndim,)), False)
        if isinstance(term.value.type, TensorType) and term.support is FULL and x.type.ndim == node.outputs[0].type.ndim
        else term
        for term, x in zip(terms, node.inputs)
    ]
