"""Selection of the implementation of convolutions: matrix products, or the older `ConvOp`.

`conv_groupopt` contains the implementations in order of preference. With ``mode.excluding("conv_gemm")`` only the later
ones remain. A convolution without an implementation raises an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import copy_stack_trace, in2out, node_rewriter
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.db import LocalGroupDB
from aesara.graph.rewriting.node_rewriters import MetaNodeRewriterSkip, RuleResult
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import entries_of
from aesara.tensor.nnet.conv import ConvOp
from aesara.tensor.nnet.conv_ops import (
    AbstractConv,
    AbstractConv_gradInputs,
    AbstractConv_gradWeights,
    BaseAbstractConv,
)
from aesara.tensor.nnet.corr import CorrMM, CorrMM_gradInputs, CorrMM_gradWeights, MatrixCorrelation
from aesara.tensor.nnet.corr3d import Corr3dMM, Corr3dMMGradInputs, Corr3dMMGradWeights
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.specify_shape import specify_shape

rules = Rules()

conv_groupopt = LocalGroupDB()
conv_groupopt.__name__ = "conv_opts"
rules.specialize_device(conv_groupopt, "fast_compile", name="conv_opts")
# Also register it here, so that other rewrites simplify its results.
rules.specialize(conv_groupopt, name="conv_opts")


def _replace(node: Apply, new: Variable) -> list[Variable] | bool:
    fitting = in_place_of(node.outputs[0], new)
    if fitting is None:
        return False
    copy_stack_trace(node.outputs[0], fitting[0])
    return fitting


def _flip(filters: Any, op: BaseAbstractConv) -> TensorVariable:
    """Filters mirrored in their last dimensions, if the convolution mirrors them."""
    return filters[(..., *(slice(None, None, -1),) * op.convdim)] if op.filter_flip else filters


# -- products of matrices ------------------------------------------------------------------------------------------


def _matrix_form(cls: type[MatrixCorrelation], op: BaseAbstractConv) -> MatrixCorrelation:
    shared = {} if op.convdim == 3 else {"unshared": op.unshared}
    return cls(op.border_mode, op.subsample, op.filter_dilation, num_groups=op.num_groups, **shared)  # type: ignore[call-arg]


def _as_products(node: Apply, cls: type[MatrixCorrelation]) -> list[Variable] | bool:
    op, (x, y, *sizes) = node.op, node.inputs
    if op.convdim != cls.convdim:
        return False
    form = _matrix_form(cls, op)
    if op.direction == "forward":
        return _replace(node, form(x, _flip(y, op)))
    if op.direction == "inputs":
        return _replace(node, form(_flip(x, op), y, *sizes))
    return _replace(node, _flip(form(x, y, *sizes), op))


@node_rewriter([AbstractConv])
def local_abstractconv_gemm(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv2d`` -> ``CorrMM``"""
    return _as_products(node, CorrMM)


@node_rewriter([AbstractConv_gradWeights])
def local_abstractconv_gradweight_gemm(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv2d_gradWeights`` -> ``CorrMM_gradWeights``"""
    return _as_products(node, CorrMM_gradWeights)


@node_rewriter([AbstractConv_gradInputs])
def local_abstractconv_gradinputs_gemm(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv2d_gradInputs`` -> ``CorrMM_gradInputs``"""
    return _as_products(node, CorrMM_gradInputs)


@node_rewriter([AbstractConv])
def local_abstractconv3d_gemm(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv3d`` -> ``Corr3dMM``"""
    return _as_products(node, Corr3dMM)


@node_rewriter([AbstractConv_gradWeights])
def local_abstractconv3d_gradweight_gemm(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv3d_gradWeights`` -> ``Corr3dMMGradWeights``"""
    return _as_products(node, Corr3dMMGradWeights)


@node_rewriter([AbstractConv_gradInputs])
def local_abstractconv3d_gradinputs_gemm(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv3d_gradInputs`` -> ``Corr3dMMGradInputs``"""
    return _as_products(node, Corr3dMMGradInputs)


# -- ConvOp --------------------------------------------------------------------------------------------------------


def _is_plain(op: BaseAbstractConv, strides: bool) -> bool:
    """Return whether `ConvOp` implements a convolution: one group, no dilation, all or only complete overlaps."""
    return (
        op.convdim == 2
        and op.border_mode in ("valid", "full")
        and op.num_groups == 1
        and not op.unshared
        and all(d == 1 for d in op.filter_dilation)
        and (strides or all(s == 1 for s in op.subsample))
    )


def _with_sizes(images: TensorVariable, sizes: Variable) -> TensorVariable:
    """Return images with a check of their declared sizes."""
    return specify_shape(images, (None, None, *entries_of(sizes, 2)))


def _mirror(images: Any) -> TensorVariable:
    return images[:, :, ::-1, ::-1]


@node_rewriter([AbstractConv])
def local_conv2d_cpu(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv2d`` -> ``ConvOp``"""
    op, (x, w) = node.op, node.inputs
    if not _is_plain(op, strides=True):
        return False
    filters = w if op.filter_flip else _mirror(w)
    return _replace(node, ConvOp(dx=op.subsample[0], dy=op.subsample[1], output_mode=op.border_mode)(x, filters))


@node_rewriter([AbstractConv_gradWeights])
def local_conv2d_gradweight_cpu(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv2d_gradWeights`` -> ``ConvOp`` of the images and the output gradient"""
    x: Any
    y: Any
    op, (x, y, sizes) = node.op, node.inputs
    if not _is_plain(op, strides=False):
        return False
    images, outputs = x.dimshuffle(1, 0, 2, 3), y.dimshuffle(1, 0, 2, 3)
    if op.border_mode == "valid":
        gradient = ConvOp()(images, _mirror(outputs)).dimshuffle(1, 0, 2, 3)
    else:
        gradient = _mirror(ConvOp()(outputs, _mirror(images)))
    return _replace(node, _with_sizes(_mirror(gradient) if op.filter_flip else gradient, sizes))


@node_rewriter([AbstractConv_gradInputs])
def local_conv2d_gradinputs_cpu(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``AbstractConv2d_gradInputs`` -> ``ConvOp`` of the output gradient and the filters"""
    w: Any
    op, (w, y, sizes) = node.op, node.inputs
    if not _is_plain(op, strides=False):
        return False
    filters = w.dimshuffle(1, 0, 2, 3)
    mode = "full" if op.border_mode == "valid" else "valid"
    gradient = ConvOp(output_mode=mode)(y, filters if not op.filter_flip else _mirror(filters))
    return _replace(node, _with_sizes(gradient, sizes))


def _at_position(position: float, tags: Sequence[str], *chosen: Any) -> None:
    for rule in chosen:
        rules.into(conv_groupopt, rule, *tags, position=position)


_at_position(
    30,
    ("conv_gemm", "fast_compile", "fast_run"),
    local_abstractconv_gemm,
    local_abstractconv_gradweight_gemm,
    local_abstractconv_gradinputs_gemm,
    local_abstractconv3d_gemm,
    local_abstractconv3d_gradweight_gemm,
    local_abstractconv3d_gradinputs_gemm,
)
_at_position(
    40,
    ("fast_compile", "fast_run"),
    local_conv2d_cpu,
    local_conv2d_gradweight_cpu,
    local_conv2d_gradinputs_cpu,
)


@node_rewriter([BaseAbstractConv])
def local_abstractconv_check(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Raise an error for a convolution without an implementation."""
    raise MetaNodeRewriterSkip(
        f"{type(node.op).__name__}: no implementation is available for these options: {node.op}. Some may have been "
        "excluded from the mode (`conv_gemm`, `conv_opts`, or by name)."
    )


# Without a `failure_callback`, which would make a warning of the error.
rules.into(
    optdb,
    in2out(local_abstractconv_check, name="AbstractConvCheck", failure_callback=None),
    "fast_run",
    position=48.7,
)
