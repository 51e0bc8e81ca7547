"""Lowering of ops that are linear in complex operands: the real op on each part.

Structural ops need no complex lowering: `lower_with` lowers their node with real arrays in place of complex operands.
The tables below list these ops.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Alias, Array, Index, Pointwise, Reader
from aesara.lower.complex import ComplexArray, complex_from_real, part_dtype, split
from aesara.lower.context import Context
from aesara.lower.dispatch import is_complex, lower_complex_op, lower_op
from aesara.lower.errors import Unsupported
from aesara.scalar.types import ScalarType, get_scalar_type
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.creation.allocation import Alloc, AllocEmpty
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag, FillDiagonal, FillDiagonalOffset
from aesara.tensor.creation.eye_tri import Eye, Tri
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.indexing.chained_index import ChainedIndex
from aesara.tensor.indexing.choosing import Choose
from aesara.tensor.indexing.nonzero import Nonzero
from aesara.tensor.indexing.permuting import PermuteRowElements
from aesara.tensor.indexing.selection import Default
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.joining.join_split import Join, Split
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.shape import Shape, Shape_i
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast

#: ops whose outputs are linear in the inputs at these positions, for any values of the others
LINEAR: dict[type[Op], slice] = {
    **dict.fromkeys((DimShuffle, SpecifyShape, Unbroadcast, CheckAndRaise, Default), slice(0, 1)),
    **dict.fromkeys((Alloc, BroadcastTo, Split, Subtensor, AdvancedSubtensor, AdvancedSubtensor1), slice(0, 1)),
    **dict.fromkeys((ExtractDiag, AllocDiag, PermuteRowElements), slice(0, 1)),
    **dict.fromkeys((IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1), slice(0, 2)),
    **dict.fromkeys((FillDiagonal, FillDiagonalOffset), slice(0, 2)),
    Choose: slice(1, 2),
    Join: slice(1, None),
    MakeVector: slice(0, None),
}

#: ops that depend only on the shape of their first input
OF_SHAPE = (ChainedIndex, Shape, Shape_i)

#: ops that create real numbers of a complex dtype
WITHOUT_OPERANDS = (AllocEmpty, Eye, Tri)


def lower_with(arrays: Mapping[int, Array], node: Apply, context: Context) -> Sequence[Array]:
    """Lower a node with real outputs, after replacing inputs at some positions with arrays."""
    inputs = list(node.inputs)
    for position, array in arrays.items():
        inputs[position] = stand_in = _typed_like(inputs[position], array.dtype)
        context.set(stand_in, array)
    outputs = [_typed_like(v, part_dtype(v.type.dtype)) for v in node.outputs]
    real_node = Apply(_real_op(node.op), inputs, outputs)
    known = len(context.errors)
    try:
        return lower_op(real_node.op, real_node, context)
    finally:
        # errors must name the node of the graph
        context.errors[known:] = [replace(e, node=node) if e.node is real_node else e for e in context.errors[known:]]


def _typed_like(variable: Variable, dtype: str) -> Variable:
    if isinstance(variable.type, ScalarType):
        kind: Any = get_scalar_type(dtype=dtype)
    else:
        kind = tensor_type(dtype, variable.type.shape)
    result: Variable = kind()
    return result


def _real_op(op: Op) -> Op:
    """Return the op with real dtypes in place of complex ones."""
    complex_attributes = [name for name in ("dtype", "acc_dtype") if str(getattr(op, name, "")).startswith("complex")]
    if not complex_attributes:
        return op
    real = copy.copy(op)
    for name in complex_attributes:
        setattr(real, name, part_dtype(getattr(op, name)))
    return real


def on_each_part(positions: slice, node: Apply, context: Context) -> list[Array | ComplexArray]:
    """Lower a node once on the real and once on the imaginary parts of the inputs at `positions`."""
    chosen = range(len(node.inputs))[positions]
    pairs = {k: context.pair(node.inputs[k]) for k in chosen}
    real = lower_with({k: pair.real for k, pair in pairs.items()}, node, context)
    if not is_complex(node.outputs[0]):
        return list(real)
    imag = lower_with({k: pair.imag for k, pair in pairs.items()}, node, context)
    return [ComplexArray(re, im) for re, im in zip(real, imag, strict=True)]


def _linear(op: Op, node: Apply, context: Context) -> list[Array | ComplexArray]:
    positions = next(LINEAR[cls] for cls in type(op).__mro__ if cls in LINEAR)
    chosen = set(range(len(node.inputs))[positions])
    if any(is_complex(v) for k, v in enumerate(node.inputs) if k not in chosen):
        raise Unsupported(f"{type(op).__name__} with a complex number as an index or a length")
    return on_each_part(positions, node, context)


for _op in LINEAR:
    lower_complex_op.register(_op)(_linear)


@lower_complex_op.register
def _reshape(op: Reshape, node: Apply, context: Context) -> list[Array | ComplexArray]:
    """Lower a reshape; if it needs its operand in memory, both parts are views of the interleaved array."""
    (real,) = lower_with({0: context.pair(node.inputs[0]).real}, node, context)
    if not isinstance(real, Alias):
        return on_each_part(slice(0, 1), node, context)
    whole = context.in_memory(node.inputs[0])
    return [split(context.add(Alias(whole, (*real.shape, const(2)), real.requires)))]


def _of_shape(op: Op, node: Apply, context: Context) -> Sequence[Array]:
    return lower_with({0: context.pair(node.inputs[0]).real}, node, context)


for _op in OF_SHAPE:
    lower_complex_op.register(_op)(_of_shape)


def _without_operands(op: Op, node: Apply, context: Context) -> list[ComplexArray]:
    return [complex_from_real(array) for array in lower_with({}, node, context)]


for _op in WITHOUT_OPERANDS:
    lower_complex_op.register(_op)(_without_operands)


@lower_complex_op.register
def _nonzero(op: Nonzero, node: Apply, context: Context) -> Sequence[Array]:
    z = context.pair(node.inputs[0])

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        parts = [primitive("ne", read(index), const(0, z.real.dtype)) for read in readers]
        return primitive("or", *parts)

    return lower_with({0: Pointwise("bool", z.real.shape, z.parts, body, 3)}, node, context)
