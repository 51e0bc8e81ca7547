"""Conversion of reductions, cumulative Ops, sorting and searching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.scalar.basic as ps
import pytensor.tensor.math as ptm
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.extra_ops import CumOp, Repeat, SearchsortedOp, Unique
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.special import LogSoftmax, Softmax

import aesara.tensor as at
from aesara.pytensor.conversion import convert_op, perform_in_python
from aesara.pytensor.versions import classes, with_axis
from aesara.tensor.ordering.sorting import argsort, sort
from aesara.tensor.reductions.sum_prod_max import ProdWithoutZeros

_REDUCTIONS: dict[type, Callable[..., Any]] = {
    ps.Add: at.sum, ps.Mul: at.prod, ps.ScalarMaximum: at.max, ps.ScalarMinimum: at.min, ps.AND: at.all,
    ps.OR: at.any,
}  # fmt: skip


@convert_op.register(CAReduce)
def _reduce(op: CAReduce, node: PyTensorApply, x: Any) -> Any:
    function = _REDUCTIONS.get(type(op.scalar_op))
    dtype = node.outputs[0].type.dtype
    if isinstance(op.scalar_op, ptm.MulWithoutZeros):
        return ProdWithoutZeros(op.axis, dtype, op.acc_dtype)(x)
    if function is None or (function in (at.all, at.any) and x.type.dtype != "bool"):
        return perform_in_python(node, [x])
    axis = None if op.axis is None or not x.type.ndim else list(op.axis)  # PyTensor allows axis 0 of scalars
    if function in (at.sum, at.prod):
        return function(x, axis=axis, dtype=dtype, acc_dtype=op.acc_dtype)
    return function(x, axis=axis)


@convert_op.register(ptm.Argmax)
def _argmax(op: ptm.Argmax, node: PyTensorApply, x: Any) -> Any:
    axes = range(x.type.ndim) if op.axis is None else op.axis
    axes = sorted(axes)
    others = [d for d in range(x.type.ndim) if d not in axes]
    rows = x.dimshuffle(*others, *axes)
    if len(axes) != 1:
        rows = at.reshape(rows, [*[rows.shape[d] for d in range(len(others))], -1], ndim=len(others) + 1)
    return at.argmax(rows, axis=-1)


@convert_op.register(CumOp)
def _cumulative(op: CumOp, node: PyTensorApply, x: Any) -> Any:
    # The result has the dtype of the input, as in PyTensor's code in C.
    return (at.cumsum if op.mode == "add" else at.cumprod)(x, axis=op.axis).astype(node.outputs[0].type.dtype)


@convert_op.register(SortOp)
def _sort(op: SortOp, node: PyTensorApply, *operands: Any) -> Any:
    x, axis = with_axis(op, operands, 1)
    return sort(x, axis, op.kind)


@convert_op.register(ArgSortOp)
def _argsort(op: ArgSortOp, node: PyTensorApply, *operands: Any) -> Any:
    x, axis = with_axis(op, operands, 1)
    return argsort(x, axis, op.kind)


@convert_op.register(Repeat)
def _repeat(op: Repeat, node: PyTensorApply, x: Any, repeats: Any) -> Any:
    return at.repeat(x, repeats, axis=op.axis)


@convert_op.register(SearchsortedOp)
def _searchsorted(op: SearchsortedOp, node: PyTensorApply, x: Any, v: Any, *sorter: Any) -> Any:
    return at.searchsorted(x, v, op.side, *sorter)


@convert_op.register(Unique)
def _unique(op: Unique, node: PyTensorApply, x: Any) -> Any:
    return at.unique(x, op.return_index, op.return_inverse, op.return_counts, op.axis)


def _along(function: Callable[..., Any], axis: Any, x: Any) -> Any:
    """Apply a function along an axis, or (3.0) along several axes, which are merged."""
    if axis is None or isinstance(axis, int):
        return function(x, axis=axis)
    axes = sorted(axis)
    if len(axes) == 1:
        return function(x, axis=axes[0])
    others = [d for d in range(x.type.ndim) if d not in axes]
    order = [*others, *axes]
    transposed = x.dimshuffle(*order)
    rows = at.reshape(transposed, [*[x.shape[d] for d in others], -1], ndim=len(others) + 1)
    result = at.reshape(function(rows, axis=-1), transposed.shape, ndim=x.type.ndim)
    return result.dimshuffle(*[order.index(d) for d in range(x.type.ndim)])


@convert_op.register(Softmax)
def _softmax(op: Softmax, node: PyTensorApply, x: Any) -> Any:
    return _along(at.special.softmax, op.axis, x)


@convert_op.register(LogSoftmax)
def _log_softmax(op: LogSoftmax, node: PyTensorApply, x: Any) -> Any:
    return _along(at.special.log_softmax, op.axis, x)


def _softmax_grad(op: Any, node: PyTensorApply, dy: Any, sm: Any) -> Any:
    weighted = dy * sm
    return weighted - sm * at.sum(weighted, axis=op.axis, keepdims=True)


for _class in classes("pytensor.tensor.special", ["SoftmaxGrad"]).values():
    convert_op.register(_class, _softmax_grad)
