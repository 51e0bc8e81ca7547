"""Graphs of every op and function of `aesara.tensor`, with values for their inputs, for the tests of shapes.

Inputs that are values of a shape stand in the graph as constants: what is inferred from them is known when a graph is
built, if the shapes of the inputs are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.tensor import nnet
from aesara.tensor.basic import Default
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.extra_ops import CpuContiguous, to_one_hot
from aesara.tensor.nnet import abstract_conv, batchnorm, conv, corr, corr3d, ctc
from aesara.tensor.nnet.blocksparse import sparse_block_gemv, sparse_block_outer
from aesara.tensor.nnet.composed import checked_classes
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.gemm import Dot22, Dot22Scalar, gemm_no_inplace
from aesara.tensor.products.gemv import gemv_no_inplace, ger
from aesara.tensor.reductions.fused_reduction import FusedReduction
from aesara.tensor.reductions.sum_prod_max import ProdWithoutZeros, Sum, Supremum
from aesara.tensor.sequences.cumulative import CumprodOp, CumsumOp
from aesara.tensor.sequences.recurrence import LinearRecurrence
from aesara.tensor.shapes.repeating import Repeat
from aesara.tensor.shapes.shape import Shape_i
from aesara.tensor.special import SoftmaxGrad, factorial, log_softmax, logit, poch, softmax
from aesara.tensor.statistics.mean_var import Mean
from aesara.tensor.subtensor import (
    advanced_inc_subtensor,
    advanced_inc_subtensor1,
    advanced_inc_subtensor_nodup,
    advanced_set_subtensor,
    advanced_set_subtensor1,
    advanced_set_subtensor_nodup,
    advanced_subtensor,
    advanced_subtensor1,
    inc_subtensor,
    set_subtensor,
)
from aesara.tensor.vectorization.blockwise import Blockwise

__all__ = ["ROWS", "Row"]


@dataclass(frozen=True)
class Row:
    """A graph, and values for its inputs.

    `depends_on_values` says why its shape cannot be known, or inferred, without values; `inferred` why the shape is
    not known from static shapes although it is inferred when the graph is computed.
    """

    name: str
    build: Callable[..., Any]
    values: tuple[np.ndarray, ...]
    depends_on_values: str = ""
    inferred: str = ""

    def outputs(self, variables: list[Any]) -> list[Any]:
        made = self.build(*variables)
        return list(made) if isinstance(made, (tuple, list)) else [made]


ROWS: dict[str, Row] = {}
SEEDS = itertools.count(3)


def row(name: str, build: Callable[..., Any], *values: Any, **facts: str) -> None:
    assert name not in ROWS, name
    ROWS[name] = Row(name, build, tuple(np.asarray(v) for v in values), **facts)


def f(*shape: int) -> np.ndarray:
    return np.random.default_rng(next(SEEDS)).uniform(0.1, 0.9, shape)


def i(*values: int) -> np.ndarray:
    return np.array(values, dtype="int64")


M, V, T = f(3, 4), f(4), f(2, 3, 4)


def _operands(op: Any) -> list[np.ndarray]:
    """Values that broadcast, floats if the op takes them."""
    values = [f(3, 4) if k == 0 else f(4) for k in range(op.scalar_op.nin)]
    try:
        op(*values)
    except TypeError:
        return [(9 * v).astype("int64") for v in values]
    return values


# Elementwise: one row for each op.
for _name in dir(at):
    _op = getattr(at, _name)
    if type(_op).__name__ == "Elemwise" and _op.scalar_op.nin > 0:
        row(f"elementwise {_name}", _op, *_operands(_op))

# Making tensors.
row("alloc", lambda x: at.alloc(x, 5, 3, 4), M)
row("alloc of sizes", lambda x: at.alloc(0.0, x.shape[0], x.shape[1] + 1, 2), M)
row("zeros", lambda x: at.zeros((x.shape[1], 7)), M)
row("ones", lambda x: at.ones(x.shape), M)
row("full", lambda x: at.full((x.shape[0], 2), x[0, 0]), M)
row("empty", lambda x: at.empty((x.shape[0], 2)), M)
row("zeros_like", at.zeros_like, M)
row("ones_like", at.ones_like, M)
row("full_like", lambda x: at.full_like(x, 2), M)
row("empty_like", at.empty_like, M)
row("identity_like", at.identity_like, M)
row("arange", lambda x: at.arange(2, x.shape[1] * 3, 2), M)
row("arange of floats", lambda x: at.arange(0.0, 1.0, 0.3) + 0 * x[0, 0], M)
row("linspace", lambda x: at.linspace(x[0, 0], 2.0, 5), M)
row("logspace", lambda x: at.logspace(x[0, 0], 2.0, 5), M)
row("geomspace", lambda x: at.geomspace(x[0, 0], 2.0, 5), M)
row("eye", lambda x: at.eye(x.shape[0], 5, 1), M)
row("tri", lambda x: at.tri(x.shape[0], 5, 1), M)
row("tril", at.tril, M)
row("triu", at.triu, M)
row("tril_indices", lambda x: at.tril_indices(x.shape[0]), M)
row("triu_indices", lambda x: at.triu_indices(x.shape[0], 1), M)
row("tril_indices_from", at.tril_indices_from, M)
row("triu_indices_from", at.triu_indices_from, M)
row("bartlett", lambda x: at.bartlett(x.shape[1]), M)
row("blackman", lambda x: at.blackman(x.shape[1]), M)
row("hamming", lambda x: at.hamming(x.shape[1]), M)
row("hanning", lambda x: at.hanning(x.shape[1]), M)
row("kaiser", lambda x: at.kaiser(x.shape[1], 2.0), M)
row("vander", lambda x: at.vander(x, 3), V)
row("polyval", lambda x: at.polyval([1.0, 2.0], x), M)
row("mgrid", lambda x: at.mgrid[0:3, 0:4], M)
row("ogrid", lambda x: at.ogrid[0:3, 0:4], M)

# Shapes.
row("shape", at.shape, M)
row("shape_i", lambda x: x.shape[0], M)
row("reshape", lambda x: at.reshape(x, (2, 6)), M)
row("reshape, one size left out", lambda x: at.reshape(x, (-1, 2)), M)
row("reshape by sizes", lambda x: at.reshape(x, (x.shape[1], x.shape[0])), M)
row("reshape by arithmetic", lambda x: at.reshape(x, (x.shape[0] * x.shape[1],)), M)
row("reshape to the size", lambda x: at.reshape(x, (x.size, 1)), M)
row("reshape by a product", lambda x: at.reshape(x, (at.prod(x.shape[:2]), x.shape[2])), T)
row("reshape by a vector", lambda x: at.reshape(x, x.shape[::-1]), M)
row("reshape by a vector with one size set", lambda x: at.reshape(x, at.set_subtensor(x.shape[0], -1)), M)
row("Shape_i", lambda x: Shape_i(1)(x), M)
row("reshape by a joined vector", lambda x: at.reshape(x, at.concatenate([x.shape[:1] * 2, [-1]])), f(3, 4))
row("flatten", at.flatten, T)
row("flatten partly", lambda x: at.flatten(x, 2), T)
row("ravel", lambda x: x.ravel(), T)
row("dimshuffle", lambda x: x.dimshuffle(1, "x", 0), M)
row("transpose", at.transpose, T)
row("transpose by axes", lambda x: at.transpose(x, (1, 0, 2)), T)
row("swapaxes", lambda x: at.swapaxes(x, 0, 2), T)
row("moveaxis", lambda x: at.moveaxis(x, 0, 2), T)
row("squeeze", at.squeeze, f(1, 3, 1))
row("expand_dims", lambda x: at.expand_dims(x, 1), M)
row("shape_padleft", at.shape_padleft, M)
row("shape_padright", at.shape_padright, M)
row("shape_padaxis", lambda x: at.shape_padaxis(x, 1), M)
row("atleast_Nd", lambda x: at.atleast_Nd(x, n=3), V)
row("atleast_1d", at.atleast_1d, V)
row("atleast_2d", at.atleast_2d, V)
row("atleast_3d", at.atleast_3d, V)
row("specify_shape", lambda x: at.specify_shape(x, (3, 4)), M)
row("specify_shape in part", lambda x: at.specify_shape(x, (None, 4)), M)
row("specify_broadcastable", lambda x: at.specify_broadcastable(x, 0), f(1, 4))
row("unbroadcast", lambda x: at.unbroadcast(x, 0), f(1, 4), inferred="it forgets that a length is one")
row("broadcast_to", lambda x: at.broadcast_to(x, (5, 3, 4)), M)
row("broadcast_arrays", at.broadcast_arrays, M, V)
row("broadcast_shape", lambda x, y: at.zeros(at.broadcast_shape(x, y)), M, V)
row("broadcast_shape_iter", lambda x, y: at.zeros(at.broadcast_shape_iter([x, y])), M, V)
row("tile", lambda x: at.tile(x, (2, 3)), M)
row("repeat", lambda x: at.repeat(x, 3, axis=1), M)
row("repeat flat", lambda x: at.repeat(x, 3), M)
row("repeat each", lambda x: at.repeat(x, [1, 2, 0], axis=0), M)
row("Repeat", lambda x: Repeat(1)(x, 3), M)
row("Repeat flat", lambda x: Repeat(None)(x, 3), M)
row("Repeat each", lambda x: Repeat(0)(x, [1, 2, 0]), M)
row("Repeat each by sizes", lambda x: Repeat(0)(x, at.stack([x.shape[0], 1, x.shape[1]])), M)
row("Repeat each by numbers", Repeat(1), M, i(1, 2, 0, 3), depends_on_values="how often entries are repeated")
row("repeat by a size", lambda x: Repeat(0)(x, x.shape[1]), M)
row("roll", lambda x: at.roll(x, 1, axis=1), M)
row("fill", lambda x: at.fill(x, 1.0), M)
row("vectorize", lambda x: at.vectorize(lambda v: v.sum(), "(n)->()")(x), M)

# Joining and splitting.
row("join", lambda x, y: at.join(0, x, y), M, f(2, 4))
row("join that knows one operand", lambda x, y: at.join(1, x, at.zeros((3, 2)), y), M, f(3, 1))
row("concatenate", lambda x, y: at.concatenate([x, y], axis=-1), M, f(3, 2))
row("stack", lambda x, y: at.stack([x, y], axis=1), M, M)
row("stacklists", lambda x, y: at.stacklists([[x, y], [y, x]]), M, M)
row("horizontal_stack", at.horizontal_stack, M, M)
row("vertical_stack", at.vertical_stack, M, M)
row("split", lambda x: at.split(x, [1, 2], 2, axis=0), M)
row("make vector", lambda x: at.stack([x[0, 0], x[1, 1], 2.0]), M)

# Reductions.
for _name in "sum prod mean var std max min argmax argmin all any max_and_argmax ptp logsumexp".split():
    _reduce = getattr(at, _name)
    row(_name, _reduce, M)
    row(f"{_name} along an axis", lambda x, reduce=_reduce: reduce(x, axis=1), T)
    if _name not in ("ptp",):
        row(f"{_name}, axes kept", lambda x, reduce=_reduce: reduce(x, axis=0, keepdims=True), T)
row("cumsum", lambda x: at.cumsum(x, axis=0), M)
row("cumprod flat", at.cumprod, M)
row("CumsumOp", lambda x: CumsumOp(1)(x), M)
row("CumprodOp", lambda x: CumprodOp()(x), M)
row("cov", at.cov, M)
row("bincount", lambda x: at.bincount(x, minlength=3), i(0, 2, 1), depends_on_values="the largest entry")

# Products.
row("dot", at.dot, M, f(4, 5))
row("dot, vector and matrix", at.dot, f(3), M)
row("dot, matrix and vector", at.dot, M, V)
row("dot, vectors", at.dot, V, V)
row("dense_dot", at.dense_dot, M, f(4, 5))
row("sum_of_exp", FusedReduction(Sum(1), at.exp), M)
row("dot22", Dot22(), M, f(4, 5))
row("dot22scalar", Dot22Scalar(), M, f(4, 5), f())
row("gemm", gemm_no_inplace, f(3, 5), f(), M, f(4, 5), f())
row("gemv", gemv_no_inplace, f(3), f(), M, V, f())
row("ger", ger, M, f(), f(3), V)
row("supremum", Supremum(axis=1), M)
row("dot of tensors", at.dot, T, f(4, 5))
row("matmul", at.matmul, M, f(4, 5))
row("matmul in batches", at.matmul, T, f(4, 5))
row("matmul in batches of both", at.matmul, f(5, 1, 3, 4), f(2, 4, 5))
row("batched_dot", at.batched_dot, T, f(2, 4, 5))
row("batched_tensordot", lambda x, y: at.batched_tensordot(x, y, axes=1), T, f(2, 4, 5))
row("tensordot", lambda x, y: at.tensordot(x, y, axes=[[1, 2], [1, 0]]), T, f(4, 3, 5))
row("outer", at.outer, V, f(3))
row("convolve", lambda x, y: at.convolve(x, y), f(5), f(3))
row("convolve same", lambda x, y: at.convolve(x, y, mode="same"), f(5), f(3))
row("convolve valid", lambda x, y: at.convolve(x, y, mode="valid"), f(5), f(3))

# Order.
row("sort", lambda x: at.sort(x, axis=0), M)
row("sort flat", lambda x: at.sort(x, axis=None), M)
row("argsort", lambda x: at.argsort(x, axis=1), M)
row("argsort flat", lambda x: at.argsort(x, axis=None), M)
row("topk", lambda x: at.topk(x, 2, axis=1), M)
row("argtopk", lambda x: at.argtopk(x, 2, axis=0), M)
row("topk of a size", lambda x: at.topk(x, x.shape[0] - 1, axis=1), M)
row("topk_and_argtopk", lambda x: at.topk_and_argtopk(x, -2, axis=1), M)
row("topk of a negative size", lambda x: at.topk(x, 1 - x.shape[0], axis=1), M)
row("topk_and_argtopk of a negative size", lambda x: at.topk_and_argtopk(x, 1 - x.shape[1], axis=0), f(5, 4))
row("largest", at.largest, M, M)
row("smallest", at.smallest, M, M)
row("searchsorted", at.searchsorted, f(5), M)
row("unique", at.unique, V, depends_on_values="which entries are equal")

# Indexing.
row("slices", lambda x: x[1:, ::-2], M)
row("slices of known sizes", lambda x: x[1 : x.shape[0], : x.shape[1] - 1], M)
row("integer and new axis", lambda x: x[0, None, 1:], M)
row("ellipsis", lambda x: x[..., 1], T)
row("integer array", lambda x: x[[0, 2]], M)
row("integer array inside", lambda x: x[:, [0, 2, 1, 0]], M)
row("integer arrays apart", lambda x: x[[[0], [1]], :, [0, 2, 1]], T)
row("symbolic integer array", lambda x, j: x[:, j], M, i(0, 1, 2, 1, 0))
row("mask that is known", lambda x: x[np.array([True, False, True])], M)
row("mask", lambda x, m: x[m], M, M > 0.5, depends_on_values="how many entries are true")
row("set_subtensor", lambda x, y: set_subtensor(x[1:], y), M, V)
row("inc_subtensor", lambda x, y: inc_subtensor(x[[0, 0]], y), M, V)
row("inc_subtensor of an inner axis", lambda x, y: inc_subtensor(x[:, [0, 0]], y), M, f(2))
row("inc_subtensor under a mask", lambda x: inc_subtensor(x[x > 0.5], 1.0), M)
row("take", lambda x: at.take(x, [[0, 1], [2, 1]], axis=0), M)
row("take from all", lambda x: at.take(x, [0, 1, 2]), M)
row("take_along_axis", lambda x, j: at.take_along_axis(x, j, 1), M, np.zeros((3, 2), "int64"))
row("compress", lambda x: at.compress(np.array([True, False, True]), x, axis=0), M)
row("choose", lambda a, x: at.choose(a, x), np.zeros((3, 4), "int64"), f(2, 3, 4))
row("nonzero", at.nonzero, M, depends_on_values="how many entries are not zero")
row("flatnonzero", at.flatnonzero, M, depends_on_values="how many entries are not zero")
row("nonzero_values", at.nonzero_values, M, depends_on_values="how many entries are not zero")
row("ravel_multi_index", lambda a, b: at.ravel_multi_index((a, b), (3, 4)), i(0, 1, 2), i(1, 2, 3))
row("unravel_index", lambda a: at.unravel_index(a, (3, 4)), i(0, 5, 11))
row("inverse_permutation", at.inverse_permutation, i(1, 2, 0))
row("permute_row_elements", at.permute_row_elements, M, i(1, 2, 0, 3))
row("diff", lambda x: at.diff(x, n=2, axis=1), M)

row("advanced_subtensor", lambda x: advanced_subtensor(x, slice(None), [0, 1, 1]), M)
row("advanced_subtensor1", lambda x: advanced_subtensor1(x, [0, 1]), M)
for _write in (
    advanced_inc_subtensor,
    advanced_set_subtensor,
    advanced_inc_subtensor_nodup,
    advanced_set_subtensor_nodup,
    advanced_inc_subtensor1,
    advanced_set_subtensor1,
):
    row(f"writing by {_write} {len(ROWS)}", lambda x, y, write=_write: write(x, y, [0, 1]), M, V)
row("to_one_hot", lambda j: to_one_hot(j, 5), i(0, 1, 4))

# Diagonals.
row("diag", at.diag, V)
row("diag of a matrix", lambda x: at.diag(x, 1), M)
row("diagonal", lambda x: at.diagonal(x, offset=-1, axis1=1, axis2=2), T)
row("extract_diag", at.extract_diag, M)
row("fill_diagonal", lambda x: at.fill_diagonal(x, 1.0), M)
row("fill_diagonal_offset", lambda x: at.fill_diagonal_offset(x, 1.0, 1), M)

# Numbers.
row("cast", lambda x: at.cast(x, "int8"), M)
row("isnan", at.isnan, M)
row("isinf", at.isinf, M)
row("isclose", at.isclose, M, M)
row("allclose", at.allclose, M, M)
row("round", at.round, M)
row("iround", at.iround, M)
row("logaddexp", at.logaddexp, M, M)
row("log_expit", at.log_expit, M)
row("multigammaln", lambda x: at.multigammaln(x, 2), M)
row("ceil_intdiv", at.ceil_intdiv, i(3, 4), i(2, 2))
row("divmod", at.divmod, M, V)
row("power", at.power, M, V)
row("conj", at.conj, M)
row("conjugate", at.conjugate, M)
row("consider_constant", at.consider_constant, M)
row("tensor and scalar", lambda x: TensorFromScalar()(ScalarFromTensor()(x.sum())), M)
row("default", lambda x: Default()(x, x + 1), M, depends_on_values="the second is taken if the first is None")
row("check", lambda x: CheckAndRaise(ValueError, "no")(x, x.sum() > 0), M)
row("check of classes", lambda x: checked_classes(x, at.zeros(x.shape[0], dtype="int64")), M)
row("transfer", lambda x: at.transfer(x, "cpu"), M)
row("contiguous", lambda x: CpuContiguous()(x), M)
row("nonzero products", lambda x: at.prod(x, axis=0, no_zeros_in_input=True), M)
row("products without zeros", lambda x: ProdWithoutZeros(axis=(1,))(x), M)

row("Mean", lambda x: Mean(axis=1)(x), T)
row("LinearRecurrence", LinearRecurrence(1), M, M)
row("factorial", factorial, M)
row("poch", poch, M, M)
row("logit", logit, M)

# Neural networks.
row("softmax", lambda x: softmax(x, axis=1), M)
row("log_softmax", lambda x: log_softmax(x, axis=-1), M)
row("softmax gradient", lambda x: SoftmaxGrad(axis=-1)(x, softmax(x, axis=-1)), M)
row("softmax_with_bias", nnet.softmax_with_bias, M, V)
for _name in ("elu", "hard_sigmoid", "relu", "selu", "softsign", "ultra_fast_sigmoid"):
    row(f"nnet {_name}", getattr(nnet.activations, _name), M)
row("binary_crossentropy", nnet.binary_crossentropy, M, M)
row("sigmoid_binary_crossentropy", nnet.sigmoid_binary_crossentropy, M, M)
row("categorical_crossentropy", nnet.categorical_crossentropy, M, M)
row("categorical_crossentropy of labels", nnet.categorical_crossentropy, M, i(0, 1, 2))
row("crossentropy_categorical_1hot_grad", nnet.crossentropy_categorical_1hot_grad, f(3), M, i(0, 1, 2))
row("crossentropy_softmax_argmax_1hot_with_bias", nnet.crossentropy_softmax_argmax_1hot_with_bias, M, V, i(0, 1, 2))
row("crossentropy_softmax_1hot_with_bias_dx", nnet.crossentropy_softmax_1hot_with_bias_dx, f(3), M, i(0, 1, 2))
row("crossentropy_softmax_1hot", nnet.crossentropy_softmax_1hot, M, i(0, 1, 2))
row("crossentropy_categorical_1hot", nnet.crossentropy_categorical_1hot, M, i(0, 1, 2))
row("crossentropy_softmax_1hot_with_bias", nnet.crossentropy_softmax_1hot_with_bias, M, V, i(0, 1, 2))
row("crossentropy_softmax_max_and_argmax_1hot", nnet.crossentropy_softmax_max_and_argmax_1hot, M, i(0, 1, 2))
row("the same with bias", nnet.crossentropy_softmax_max_and_argmax_1hot_with_bias, M, V, i(0, 1, 2))
row("logsoftmax", nnet.logsoftmax, M)
row("softmax_legacy", nnet.softmax_legacy, M)
row("softmax_grad_legacy", nnet.softmax_grad_legacy, M, M)
row("h_softmax", lambda x, a, b, c, d: nnet.h_softmax(x, 3, 6, 2, 3, a, b, c, d), M, f(4, 2), f(2), f(2, 4, 3), f(2, 3))
row("prepend_0_to_each_row", nnet.prepend_0_to_each_row, M)
row("prepend_1_to_each_row", nnet.prepend_1_to_each_row, M)
row("prepend_scalar_to_each_row", nnet.prepend_scalar_to_each_row, np.asarray(2.0), M)
row("confusion_matrix", nnet.confusion_matrix, i(0, 1, 2), i(0, 1, 1), depends_on_values="which labels there are")
row("blockwise", lambda x: Blockwise(Dot(), signature="(m,n),(n,p)->(m,p)")(x, at.ones((4, 5))), T)

# Convolutions and products of blocks.
IMAGES, FILTERS, TOP = f(2, 4, 6, 5), f(4, 2, 3, 2), f(2, 4, 3, 6)
CONV = {"border_mode": ((1, 0), 1), "subsample": (2, 1), "num_groups": 2}
row("conv2d", lambda x, w: nnet.conv2d(x, w, **CONV), IMAGES, FILTERS)
row("batch_normalization", nnet.batch_normalization, M, V, V, V, V)
NORMALIZED = (M, f(1, 4), f(1, 4))
row("batch_normalization_train", batchnorm.batch_normalization_train, *NORMALIZED)
row("batch_normalization_test", batchnorm.batch_normalization_test, *NORMALIZED, f(1, 4), f(1, 4))
row("AbstractBatchNormTrainGrad", lambda x, a, b: aesara.grad(
    (batchnorm.batch_normalization_train(x, a, b)[0] ** 2).sum(), [x, a, b]
), *NORMALIZED)  # fmt: skip
row("ctc", ctc.ctc, f(5, 2, 3), np.array([[1, 2], [1, -1]], dtype="int32"), np.array([5, 4], dtype="int32"))
row("abstract_conv2d unshared", lambda x, w: nnet.abstract_conv2d(x, w, unshared=True), IMAGES, f(2, 4, 4, 4, 3, 2))
row("conv2d_grad_wrt_inputs", lambda w, y: nnet.conv2d_grad_wrt_inputs(y, w, (2, 4, 6, 5), **CONV), FILTERS, TOP)
row("weights", lambda x, y: abstract_conv.conv2d_grad_wrt_weights(x, y, (4, 2, 3, 2), **CONV), IMAGES, TOP)
row("conv2d_transpose", lambda y, w: nnet.conv2d_transpose(y, w, (2, 3, 6, 7)), f(2, 4, 5, 4), f(4, 3, 2, 4))
row("separable_conv2d", lambda x, w, v: nnet.separable_conv2d(x, w, v, 4), IMAGES, f(8, 1, 2, 2), f(3, 8, 1, 1))
row("conv3d", nnet.conv3d, f(2, 2, 4, 5, 3), f(3, 2, 2, 1, 3))
row(
    "inputs",
    lambda w, y: abstract_conv.conv3d_grad_wrt_inputs(y, w, (2, 2, 4, 5, 3)),
    f(3, 2, 2, 1, 3),
    f(2, 3, 3, 5, 1),
)
row(
    "weights 3d",
    lambda x, y: abstract_conv.conv3d_grad_wrt_weights(x, y, (3, 2, 2, 1, 3)),
    f(2, 2, 4, 5, 3),
    f(2, 3, 3, 5, 1),
)
# Groups, where neither the channels nor the outputs are given.
IN_GROUPS = {"num_groups": 2}
row("inputs in groups", lambda w, y: nnet.conv2d_grad_wrt_inputs(y, w, (None, None, 6, 5), **CONV), FILTERS, TOP)
row(
    "inputs in groups 3d",
    lambda w, y: abstract_conv.conv3d_grad_wrt_inputs(y, w, (None, None, 4, 5, 3), **IN_GROUPS),
    f(6, 2, 3, 2, 2),
    f(2, 6, 2, 4, 2),
)
row(
    "weights in groups 3d",
    lambda x, y: abstract_conv.conv3d_grad_wrt_weights(x, y, (None, None, 3, 2, 2), **IN_GROUPS),
    f(2, 4, 4, 5, 3),
    f(2, 6, 2, 4, 2),
)
row(
    "CorrMM_gradInputs unshared in groups",
    lambda w, y: corr.CorrMM_gradInputs(unshared=True, **IN_GROUPS)(w, y, (6, 5)),
    f(6, 5, 2, 3, 2, 4),
    f(2, 6, 5, 2),
)
row(
    "CorrMM_gradWeights unshared in groups",
    lambda x, y: corr.CorrMM_gradWeights(unshared=True, **IN_GROUPS)(x, y, (2, 4)),
    f(2, 6, 6, 5),
    f(2, 6, 5, 2),
)
row("ConvOp", lambda x, w: conv.ConvOp((None,) * 3, (None,) * 2, output_mode="full")(x, w), IMAGES, f(3, 4, 2, 2))
row("CorrMM", corr.CorrMM("half"), IMAGES, f(3, 4, 2, 2))
row("CorrMM_gradWeights", lambda x, y: corr.CorrMM_gradWeights()(x, y, (2, 3)), IMAGES, f(2, 3, 5, 3))
row("CorrMM_gradInputs", lambda w, y: corr.CorrMM_gradInputs()(w, y, (6, 5)), f(3, 4, 2, 3), f(2, 3, 5, 3))
row("Corr3dMM", corr3d.Corr3dMM("full"), f(2, 2, 4, 5, 3), f(3, 2, 2, 1, 3))
row(
    "Corr3dMMGradWeights",
    lambda x, y: corr3d.Corr3dMMGradWeights()(x, y, (2, 1, 3)),
    f(2, 2, 4, 5, 3),
    f(2, 3, 3, 5, 1),
)
row("Corr3dMMGradInputs", lambda w, y: corr3d.Corr3dMMGradInputs()(w, y, (4, 5, 3)), f(3, 2, 2, 1, 3), f(2, 3, 3, 5, 1))
row(
    "sparse_block_gemv",
    lambda o, w, h: sparse_block_gemv(o, w, h, [[0, 1]], [[1, 0, 1]]),
    f(1, 3, 2),
    f(2, 2, 4, 2),
    f(1, 2, 4),
)
row(
    "sparse_block_outer",
    lambda o, x, y: sparse_block_outer(o, x, y, [[0, 1]], [[1, 1]]),
    f(2, 2, 4, 3),
    f(1, 2, 4),
    f(1, 2, 3),
)
