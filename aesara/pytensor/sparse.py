"""Conversion of Ops on sparse matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.sparse.basic as psb
import pytensor.sparse.math as psm
from pytensor.graph.basic import Apply as PyTensorApply

import aesara.tensor as at
from aesara.pytensor.conversion import convert_op
from aesara.pytensor.versions import classes
from aesara.sparse import comparison
from aesara.sparse.arithmetic import (
    ColScaleCSC,
    RowScaleCSC,
    add_s_d,
    add_s_s,
    add_s_s_data,
    mul_s_d,
    mul_s_s,
    mul_s_v,
    structured_add_s_v,
)
from aesara.sparse.arrangement import ensure_sorted_indices, neg, remove0
from aesara.sparse.conversion import SparseFromDense, cast, dense_from_sparse
from aesara.sparse.parts import CSM, CSMGrad, csm_properties
from aesara.sparse.products import dot, sampling_dot, sdg_csc, sdg_csr, structured_dot, true_dot, usmm
from aesara.sparse.reductions import diag, sp_sum, square_diagonal
from aesara.sparse.slicing import (
    get_item_2d,
    get_item_2lists,
    get_item_2lists_grad,
    get_item_list,
    get_item_list_grad,
    get_item_scalar,
)
from aesara.sparse.stacking import HStack, VStack, construct_sparse_from_list


def _rectangle(x: Any, *limits: Any) -> Any:
    return get_item_2d(x, [slice(*limits[:3]), slice(*limits[3:])])


def _element(x: Any, row: Any, column: Any) -> Any:
    return get_item_scalar(x, [row, column])


#: functions of the inputs by names of classes; classes that the installed version lacks are skipped
_FUNCTIONS: dict[str, dict[str, Callable[..., Any]]] = {
    psb.__name__: {
        "ColScaleCSC": ColScaleCSC(), "ConstructSparseFromList": construct_sparse_from_list,
        "CSMGrad": CSMGrad(), "CSMProperties": csm_properties, "DenseFromSparse": dense_from_sparse, "Diag": diag,
        "EnsureSortedIndices": ensure_sorted_indices, "GetItem2d": _rectangle, "GetItem2Lists": get_item_2lists,
        "GetItem2ListsGrad": get_item_2lists_grad, "GetItemList": get_item_list, "GetItemListGrad": get_item_list_grad,
        "GetItemScalar": _element, "Neg": neg, "Remove0": remove0, "RowScaleCSC": RowScaleCSC(),
        "SquareDiagonal": square_diagonal,
    },
    psm.__name__: {
        "AddSD": add_s_d, "AddSS": add_s_s, "AddSSData": add_s_s_data, "Dot": dot, "SamplingDot": sampling_dot,
        "SparseDenseMultiply": mul_s_d, "SparseDenseVectorMultiply": mul_s_v, "SparseSparseMultiply": mul_s_s,
        "StructuredAddSV": structured_add_s_v, "StructuredDot": structured_dot, "StructuredDotGradCSC": sdg_csc,
        "StructuredDotGradCSR": sdg_csr, "TrueDot": true_dot, "Usmm": usmm,
        **{name: getattr(comparison, name)() for name in comparison.__all__ if name.endswith(("SS", "SD"))},
    },
}  # fmt: skip


def _register(class_of_op: type, function: Callable[..., Any]) -> None:
    def by_function(op: Any, node: PyTensorApply, *inputs: Any) -> Any:
        return function(*inputs)

    convert_op.register(class_of_op, by_function)


for _module, _functions in _FUNCTIONS.items():
    for _name, _class in classes(_module, _functions).items():
        _register(_class, _functions[_name])


@convert_op.register(psb.Cast)
def _cast(op: psb.Cast, node: PyTensorApply, x: Any) -> Any:
    return cast(x, op.out_type)


@convert_op.register(psb.HStack)
def _hstack(op: psb.HStack, node: PyTensorApply, *blocks: Any) -> Any:
    return HStack(op.format, op.dtype)(*blocks)


@convert_op.register(psb.VStack)
def _vstack(op: psb.VStack, node: PyTensorApply, *blocks: Any) -> Any:
    return VStack(op.format, op.dtype)(*blocks)


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
