"""Rules that replace ops on sparse matrices by ops on their parts.

They are applied only if a mode includes them: compiled functions compute with parts in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import PatternNodeRewriter, node_rewriter
from aesara.sparse.arithmetic import AddSD, MulSD, MulSV, StructuredAddSV
from aesara.sparse.parts import CSM, CSMGrad, csm_properties
from aesara.sparse.products import SamplingDot, StructuredDot, Usmm, usmm
from aesara.sparse.type import has_sparse_type
from aesara.sparse.vector_forms import (
    AddSD_ccode,
    CSMGradC,
    UsmmCscDense,
    csm_grad_c,
    mul_s_d_csc,
    mul_s_d_csr,
    mul_s_v_csr,
    sampling_dot_csr,
    sd_csc,
    sd_csr,
    structured_add_s_v_csr,
    usmm_csc_dense,
    usmm_csc_dense_inplace,
)
from aesara.tensor.core.casting import cast
from aesara.tensor.elementwise.ops import mul, neg, sub

if TYPE_CHECKING:
    from aesara.tensor.core.variable import TensorVariable


__all__ = [
    "local_addsd_ccode",
    "local_csm_grad_c",
    "local_inplace_addsd_ccode",
    "local_mul_s_d",
    "local_mul_s_v",
    "local_sampling_dot_csr",
    "local_structured_add_s_v",
    "local_structured_dot",
    "local_usmm",
    "local_usmm_csc_dense_inplace",
    "local_usmm_csx",
]


def _with_data(x: Variable, data: Variable) -> Variable:
    """Return a matrix with the pattern of `x` and other stored values."""
    _, indices, indptr, shape = csm_properties(x)
    return CSM(x.type.format)(data, indices, indptr, shape)


@node_rewriter([AddSD])
def local_addsd_ccode(fgraph: FunctionGraph, node: Apply) -> list[TensorVariable | None]:
    """``AddSD(x, y)`` -> ``AddSD_ccode(*parts(x), y)``"""
    x, y = node.inputs
    data, indices, indptr, _ = csm_properties(x)
    return [AddSD_ccode(format=x.type.format)(data, indices, indptr, y)]


@node_rewriter([AddSD_ccode])
def local_inplace_addsd_ccode(fgraph: FunctionGraph, node: Apply) -> Any:
    """``AddSD_ccode(x, y)`` -> ``AddSD_ccode{inplace}(x, y)``"""
    if node.op.inplace or node.inputs[3].type.dtype != node.outputs[0].type.dtype:
        return False
    return [AddSD_ccode(format=node.op.format, inplace=True)(*node.inputs)]


@node_rewriter([CSMGrad])
def local_csm_grad_c(fgraph: FunctionGraph, node: Apply) -> Any:
    """CSMGrad -> CSMGradC"""
    if isinstance(node.op, CSMGradC):
        return False
    return [csm_grad_c(*node.inputs)]


@node_rewriter([StructuredDot])
def local_structured_dot(fgraph: FunctionGraph, node: Apply) -> Any:
    """``structured_dot(a, b)`` -> ``sd_csr(*parts(a), b)`` or ``sd_csc(*parts(a), b)``"""
    a, b = node.inputs
    if has_sparse_type(b) or a.type.format not in ("csr", "csc"):
        return False
    data, indices, indptr, shape = csm_properties(a)
    if a.type.format == "csc":
        return [sd_csc(data, indices, indptr, shape[0], b)]
    return [sd_csr(data, indices, indptr, b)]


@node_rewriter([MulSD])
def local_mul_s_d(fgraph: FunctionGraph, node: Apply) -> Any:
    """``x * y`` -> a matrix with the stored values ``mul_s_d_csr(*parts(x), y)`` or ``mul_s_d_csc(*parts(x), y)``"""
    x, y = node.inputs
    if y.type.ndim != 2 or any(y.type.broadcastable):
        return False
    data, indices, indptr, _ = csm_properties(x)
    form = mul_s_d_csc if x.type.format == "csc" else mul_s_d_csr
    return [_with_data(x, form(data, indices, indptr, y))]


@node_rewriter([MulSV])
def local_mul_s_v(fgraph: FunctionGraph, node: Apply) -> Any:
    """``mul_s_v(x, y)`` -> a matrix with the stored values ``mul_s_v_csr(*parts(x), y)``"""
    x, y = node.inputs
    if x.type.format != "csr":
        return False
    data, indices, indptr, _ = csm_properties(x)
    return [_with_data(x, mul_s_v_csr(data, indices, indptr, y))]


@node_rewriter([StructuredAddSV])
def local_structured_add_s_v(fgraph: FunctionGraph, node: Apply) -> Any:
    """``structured_add_s_v(x, y)`` -> a matrix with the stored values ``structured_add_s_v_csr(*parts(x), y)``"""
    x, y = node.inputs
    if x.type.format != "csr":
        return False
    data, indices, indptr, _ = csm_properties(x)
    return [_with_data(x, structured_add_s_v_csr(data, indices, indptr, y))]


@node_rewriter([SamplingDot])
def local_sampling_dot_csr(fgraph: FunctionGraph, node: Apply) -> Any:
    """``sampling_dot(x, y, p)`` -> ``CSM(*sampling_dot_csr(x, y, *parts(p)))``"""
    x, y, p = node.inputs
    if p.type.format != "csr":
        return False
    data, indices, indptr, shape = csm_properties(p)
    return [CSM("csr")(*sampling_dot_csr(x, y, data, indices, indptr, shape[1]), shape)]


def _longer(*axes: int) -> Callable[[Variable], bool]:
    """Return a function that tells whether a matrix may be longer than 1 along all given dimensions."""
    return lambda v: all(v.type.shape[axis] != 1 for axis in axes)


local_usmm = PatternNodeRewriter(
    (
        sub,
        {"pattern": "z", "constraint": _longer(0, 1)},
        (
            mul,
            {"pattern": "alpha", "constraint": lambda v: all(v.type.broadcastable)},
            (StructuredDot(), {"pattern": "x", "constraint": _longer(0)}, {"pattern": "y", "constraint": _longer(1)}),
        ),
    ),
    (usmm, (neg, "alpha"), "x", "y", "z"),
    name="local_usmm",
)


@node_rewriter([Usmm])
def local_usmm_csx(fgraph: FunctionGraph, node: Apply) -> Any:
    """``usmm(alpha, x, y, z)`` -> ``usmm_csc_dense(alpha, *parts(x), y, z)`` for a csc matrix `x`"""
    alpha, x, y, z = node.inputs
    if not has_sparse_type(x) or has_sparse_type(y) or x.type.format != "csc":
        return False
    data, indices, indptr, shape = csm_properties(x)
    dtype = node.outputs[0].type.dtype
    cast_operands = [
        operand if operand.type.dtype == dtype else cast(operand, dtype) for operand in (alpha, data, y, z)
    ]
    return [
        usmm_csc_dense(
            cast_operands[0], cast_operands[1], indices, indptr, shape[0], cast_operands[2], cast_operands[3]
        )
    ]


@node_rewriter([UsmmCscDense])
def local_usmm_csc_dense_inplace(fgraph: FunctionGraph, node: Apply) -> Any:
    """``usmm_csc_dense(..., z)`` -> ``usmm_csc_dense{inplace}(..., z)``"""
    if node.op.inplace or node.inputs[6].type.dtype != node.outputs[0].type.dtype:
        return False
    return [usmm_csc_dense_inplace(*node.inputs)]
