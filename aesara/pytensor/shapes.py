"""Conversion of shapes, array creation and joining."""

from __future__ import annotations

from typing import Any

import pytensor.tensor.basic as ptb
from pytensor.compile.ops import DeepCopyOp, TypeCastingOp, ViewOp
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.extra_ops import Bartlett, CpuContiguous, FillDiagonal, FillDiagonalOffset
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape

import aesara.tensor as at
from aesara.pytensor.conversion import convert_op
from aesara.pytensor.versions import with_axis
from aesara.tensor.core.check_and_raise import CheckAndRaise


@convert_op.register(DimShuffle)
def _dimshuffle(op: DimShuffle, node: PyTensorApply, x: Any) -> Any:
    unknown = [d for d in op.drop if x.type.shape[d] != 1]
    if unknown:  # PyTensor checks the length at run time
        conditions = [at.eq(x.shape[d], 1) for d in unknown]
        x = CheckAndRaise(ValueError, "Only dimensions of length 1 can be dropped.")(x, *conditions)
        x = at.specify_broadcastable(x, *unknown)
    return x.dimshuffle(*op.new_order)


@convert_op.register(Shape)
def _shape(op: Shape, node: PyTensorApply, x: Any) -> Any:
    return x.shape


@convert_op.register(Shape_i)
def _shape_i(op: Shape_i, node: PyTensorApply, x: Any) -> Any:
    return x.shape[op.i]


@convert_op.register(SpecifyShape)
def _specify_shape(op: SpecifyShape, node: PyTensorApply, x: Any, *sizes: Any) -> Any:
    return at.specify_shape(x, list(sizes))


@convert_op.register(Reshape)
def _reshape(op: Reshape, node: PyTensorApply, x: Any, shape: Any) -> Any:
    return at.reshape(x, shape, ndim=op.ndim)


@convert_op.register(JoinDims)
def _join_dims(op: JoinDims, node: PyTensorApply, x: Any) -> Any:
    start, count = op.start_axis, op.n_axes
    sizes = [x.shape[d] for d in range(x.type.ndim)]
    joined = at.prod(at.stack(sizes[start : start + count])) if count else at.constant(1, dtype="int64")
    shape = [*sizes[:start], joined, *sizes[start + count :]]
    return at.reshape(x, shape, ndim=len(shape))


@convert_op.register(SplitDims)
def _split_dims(op: SplitDims, node: PyTensorApply, x: Any, shape: Any) -> Any:
    sizes = [x.shape[d] for d in range(x.type.ndim)]
    ndim = node.outputs[0].type.ndim
    parts = [shape[i] for i in range(ndim - x.type.ndim + 1)]
    return at.reshape(x, [*sizes[: op.axis], *parts, *sizes[op.axis + 1 :]], ndim=ndim)


@convert_op.register(TypeCastingOp)
@convert_op.register(ViewOp)
@convert_op.register(DeepCopyOp)
@convert_op.register(CpuContiguous)
@convert_op.register(ptb.ScalarFromTensor)
@convert_op.register(ptb.TensorFromScalar)
def _identity(op: Any, node: PyTensorApply, x: Any) -> Any:
    return x


@convert_op.register(ptb.Alloc)
def _alloc(op: ptb.Alloc, node: PyTensorApply, value: Any, *shape: Any) -> Any:
    sizes = shape[len(shape) - value.type.ndim :]
    conditions = [at.eq(value.shape[d], n) for d, n in enumerate(sizes) if not value.type.broadcastable[d]]
    if conditions:
        message = "Runtime broadcasting not allowed: Alloc repeats only what is known to have length 1 beforehand."
        value = CheckAndRaise(ValueError, message)(value, *conditions)
    return at.alloc(value, *shape)


@convert_op.register(ptb.AllocEmpty)
def _alloc_empty(op: ptb.AllocEmpty, node: PyTensorApply, *shape: Any) -> Any:
    return at.empty(list(shape), dtype=op.dtype)


@convert_op.register(ptb.MakeVector)
def _make_vector(op: ptb.MakeVector, node: PyTensorApply, *entries: Any) -> Any:
    if not entries:
        return at.constant([], dtype=op.dtype)
    return at.stack([at.cast(entry, op.dtype) for entry in entries])


@convert_op.register(ptb.Join)
def _join(op: ptb.Join, node: PyTensorApply, *operands: Any) -> Any:
    axis, *tensors = with_axis(op, operands, 0)
    dtype = node.outputs[0].type.dtype
    return at.join(axis, *[at.cast(x, dtype) for x in tensors])


@convert_op.register(ptb.Split)
def _split(op: ptb.Split, node: PyTensorApply, *operands: Any) -> Any:
    x, axis, sizes = with_axis(op, operands, 1)
    return at.split(x, sizes, op.len_splits, axis=axis)


@convert_op.register(ptb.ARange)
def _arange(op: ptb.ARange, node: PyTensorApply, start: Any, stop: Any, step: Any) -> Any:
    return at.arange(start, stop, step, dtype=op.dtype)


@convert_op.register(ptb.Eye)
def _eye(op: ptb.Eye, node: PyTensorApply, n: Any, m: Any, k: Any) -> Any:
    return at.eye(n, m, k, dtype=op.dtype)


@convert_op.register(Bartlett)
def _bartlett(op: Bartlett, node: PyTensorApply, n: Any) -> Any:
    return at.bartlett(n)


@convert_op.register(FillDiagonal)
def _fill_diagonal(op: FillDiagonal, node: PyTensorApply, x: Any, value: Any) -> Any:
    return at.fill_diagonal(x, value)


@convert_op.register(FillDiagonalOffset)
def _fill_diagonal_offset(op: FillDiagonalOffset, node: PyTensorApply, x: Any, value: Any, offset: Any) -> Any:
    return at.fill_diagonal_offset(x, value, offset)


@convert_op.register(ptb.ExtractDiag)
def _extract_diag(op: ptb.ExtractDiag, node: PyTensorApply, x: Any) -> Any:
    return at.diagonal(x, op.offset, op.axis1, op.axis2)


@convert_op.register(ptb.Nonzero)
def _nonzero(op: ptb.Nonzero, node: PyTensorApply, x: Any) -> Any:
    return list(at.nonzero(x, return_matrix=False))
