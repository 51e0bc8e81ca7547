"""Sparse matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.sparse.basic as psb
import pytensor.sparse.math as psm
from pytensor.graph.basic import Apply as PyTensorApply

import aesara.tensor as at
from aesara.pytensor.conversion import convert_op
from aesara.sparse.arithmetic import add_s_d, add_s_s, mul_s_d, mul_s_s
from aesara.sparse.conversion import SparseFromDense, dense_from_sparse
from aesara.sparse.parts import CSM, csm_properties
from aesara.sparse.products import dot, structured_dot, true_dot
from aesara.sparse.reductions import sp_sum

#: functions of the inputs, by the class of Op
_FUNCTIONS: dict[type, Callable[..., Any]] = {
    psb.CSMProperties: csm_properties,
    psb.DenseFromSparse: dense_from_sparse,
    psm.AddSS: add_s_s,
    psm.AddSD: add_s_d,
    psm.SparseSparseMultiply: mul_s_s,
    psm.SparseDenseMultiply: mul_s_d,
    psm.Dot: dot,
    psm.StructuredDot: structured_dot,
    psm.TrueDot: true_dot,
}


def _by_function(op: Any, node: PyTensorApply, *inputs: Any) -> Any:
    return _FUNCTIONS[type(op)](*inputs)


for _class in _FUNCTIONS:
    convert_op.register(_class, _by_function)


@convert_op.register(psb.SparseFromDense)
def _sparse_from_dense(op: psb.SparseFromDense, node: PyTensorApply, x: Any) -> Any:
    return SparseFromDense(op.format)(x)


@convert_op.register(psb.CSM)
def _csm(op: psb.CSM, node: PyTensorApply, *parts: Any) -> Any:
    return CSM(op.format)(*parts)


@convert_op.register(psb.Transpose)
def _transpose(op: psb.Transpose, node: PyTensorApply, x: Any) -> Any:
    return x.T


@convert_op.register(psm.SpSum)
def _sum(op: psm.SpSum, node: PyTensorApply, x: Any) -> Any:
    return at.as_tensor_variable(sp_sum(x, axis=op.axis))
