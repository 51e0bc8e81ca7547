"""Rows of `aesara.tensor.nnet`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sps

from aesara.tensor import nnet
from aesara.tensor.nnet import batchnorm
from tests.optable.inputs import FLOATS, exactly, integer, positive, real, spaced
from tests.optable.table import case, row
from tests.tensor.nnet.convolution_loops import Loops


def softened(x: Any) -> Any:
    return 2 + 2 * np.max(np.abs(x)) + 0 * x


def composed(name: str, oracle: Any, cases: Any, **facts: Any) -> None:
    """A row whose errors are those of a softmax and its logarithm."""
    facts.setdefault("error", "sum")
    row(name, oracle, cases, getattr(nnet, name), **facts)


composed(
    "relu",
    lambda x, alpha=0: np.where(x > 0, x, alpha * x if alpha else 0).astype(x.dtype),
    [case(real(3, 4)), case(real(7), alpha=0.3)],
    error=1.0,
    dtypes=("float32", "float64"),
)
composed(
    "elu",
    lambda x, alpha=1: np.where(x > 0, x, alpha * np.expm1(x)),
    [case(real(3, 4)), case(real(7), alpha=0.3)],
    error=3.0,
    dtypes=FLOATS,
)
ALPHA, SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
composed("selu", lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x)), [case(real(3, 4))], error=4.0)
composed("softsign", lambda x: x / (1 + np.abs(x)), [case(real(3, 4))], error=2.0, dtypes=FLOATS)
composed(
    "hard_sigmoid",
    lambda x: np.clip(x * x.dtype.type(0.2) + x.dtype.type(0.5), 0, 1),
    [case(real(9, low=-5, high=5))],
    error=2.0,
    dtypes=FLOATS,
)
composed("ultra_fast_sigmoid", sps.expit, [case(real(9))], error=2.0)
composed("softmax_legacy", lambda x: sps.softmax(x, axis=1), [case(real(3, 4))], magnitude=softened)
composed(
    "logsoftmax",
    lambda x, axis: sps.log_softmax(x, axis=axis),
    [case(real(3, 4), axis=1)],
    magnitude=lambda x, axis: softened(x),
)
composed(
    "softmax_with_bias",
    lambda x, b: sps.softmax(x + b, axis=1),
    [case(real(3, 4), real(4))],
    magnitude=lambda x, b: softened(x + b),
)


def _softmax_grad(g: np.ndarray, p: np.ndarray) -> np.ndarray:
    return g * p - (g * p).sum(1, keepdims=True) * p


composed(
    "softmax_grad_legacy",
    _softmax_grad,
    [case(real(3, 4), positive(3, 4))],
    magnitude=lambda g, p: 4 * np.max(g * p) * (1 + p),
)


def _one_hot(q: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -np.log(q[np.arange(len(y)), y])


def _categorical(q: np.ndarray, p: np.ndarray) -> np.ndarray:
    if p.ndim == q.ndim:
        return -(p * np.log(q)).sum(-1)
    return -np.log(np.take_along_axis(q, p[..., None], -1))[..., 0]


CLASSES = integer(3, low=0, high=3)
composed("crossentropy_categorical_1hot", _one_hot, [case(positive(3, 4), CLASSES)], magnitude=lambda q, y: 2 + 0.0 * y)
composed(
    "categorical_crossentropy",
    _categorical,
    [
        case(positive(3, 4), positive(3, 4)),
        case(positive(3, 4), CLASSES),
        case(positive(2, 3, 4), integer(2, 3, low=0, high=3)),
    ],
    magnitude=lambda q, p: 16 + 0 * _categorical(q, p),
)


def _one_hot_gradient(g: np.ndarray, q: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = np.zeros_like(q)
    result[np.arange(len(y)), y] = -g / q[np.arange(len(y)), y]
    return result


composed(
    "crossentropy_categorical_1hot_grad",
    _one_hot_gradient,
    [case(real(3), positive(3, 4), CLASSES)],
    gradient=False,
    magnitude=lambda g, q, y: -_one_hot_gradient(g, q, y),
)


def _softmax_1hot(x: np.ndarray, b: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    return [_one_hot(sps.softmax(x + b, axis=1), y), sps.softmax(x + b, axis=1)]


def _softmax_argmax_1hot(x: np.ndarray, b: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    return [*_softmax_1hot(x, b, y), np.argmax(x + b, axis=1)]


def _with_largest(x: np.ndarray, b: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    p = sps.softmax(x + b, axis=1)
    return [*_softmax_1hot(x, b, y), p.max(1), p.argmax(1)]


def _like(oracle: Any) -> Any:
    return lambda *xs: [16 + np.max(np.abs(xs[0])) + 0.0 * r for r in oracle(*xs)]


def without_bias(oracle: Any) -> Any:
    return lambda x, y: oracle(x, np.zeros(x.shape[1]), y)


X, B = spaced(3, 4), real(4)
for name, oracle in (
    ("crossentropy_softmax_argmax_1hot_with_bias", _softmax_argmax_1hot),
    ("crossentropy_softmax_1hot_with_bias", _softmax_1hot),
    ("crossentropy_softmax_max_and_argmax_1hot_with_bias", _with_largest),
):
    composed(name, oracle, [case(X, B, CLASSES)], magnitude=_like(oracle))
for name, oracle in (
    ("crossentropy_softmax_1hot", _softmax_1hot),
    ("crossentropy_softmax_max_and_argmax_1hot", _with_largest),
):
    composed(name, without_bias(oracle), [case(X, CLASSES)], magnitude=_like(without_bias(oracle)))


def _softmax_1hot_gradient(g: np.ndarray, p: np.ndarray, y: np.ndarray) -> np.ndarray:
    return g[:, None] * (p - np.eye(p.shape[1])[y])


composed(
    "crossentropy_softmax_1hot_with_bias_dx",
    _softmax_1hot_gradient,
    [case(real(3), positive(3, 4), CLASSES)],
    error=2.0,
)
composed(
    "binary_crossentropy",
    lambda q, p: -(p * np.log(q) + (1 - p) * np.log1p(-q)),
    [case(real(3, 4, low=0.05, high=0.95), real(3, 4, low=0, high=1))],
    magnitude=lambda q, p: 8 + 0 * q,
)
composed(
    "sigmoid_binary_crossentropy",
    lambda x, p: p * np.logaddexp(0, -x) + (1 - p) * np.logaddexp(0, x),
    [
        case(real(3, 4), real(3, 4, low=0, high=1)),
        case(exactly([1000.0, -1000, 800]), exactly([0.0, 0, 1]), smooth=False),
    ],
    magnitude=lambda x, p: 4 + 2 * x,
)


def _confusion(actual: np.ndarray, predicted: np.ndarray) -> list[np.ndarray]:
    classes = np.unique([actual, predicted])
    counts = [[np.sum((actual == a) & (predicted == p)) for p in classes] for a in classes]
    return [np.array(counts, "int64"), classes]


composed(
    "confusion_matrix",
    _confusion,
    [case(integer(9, low=0, high=3), integer(9, low=0, high=3))],
    gradient=False,
    needs_values="the number of classes",
    python={"Unique": "NumPy finds what is unique by hashing"},
)
composed(
    "prepend_scalar_to_each_row",
    lambda v, x: np.hstack([np.full((len(x), 1), v), x]),
    [case(real(), real(3, 4))],
    error="exact",
)
composed("prepend_0_to_each_row", lambda x: np.hstack([np.zeros((len(x), 1)), x]), [case(real(3, 4))], error="exact")
composed("prepend_1_to_each_row", lambda x: np.hstack([np.ones((len(x), 1)), x]), [case(real(3, 4))], error="exact")


def _hierarchical(
    x: np.ndarray, w1: np.ndarray, b1: np.ndarray, w2: np.ndarray, b2: np.ndarray, *target: np.ndarray
) -> np.ndarray:
    classes = sps.softmax(x @ w1 + b1, axis=1)
    within = sps.softmax(np.einsum("nf,cfo->nco", x, w2) + b2, axis=-1)
    every = (classes[:, :, None] * within).reshape(len(x), -1)
    return every[np.arange(len(x)), target[0]] if target else every


H = (real(5, 3), real(3, 2), real(2), real(2, 3, 4), real(2, 4))
row(
    "h_softmax",
    _hierarchical,
    [case(*H), case(*H, integer(5, low=0, high=7))],
    lambda x, w1, b1, w2, b2, target=None: nnet.h_softmax(x, 5, 8, 2, 4, w1, b1, w2, b2, target),
    error="sum",
    magnitude=lambda *xs: 64 + 0 * _hierarchical(*xs),
)


# -- convolutions --------------------------------------------------------------------------------------------------


def _convolved(x: np.ndarray, w: np.ndarray, num_groups: int = 1, subsample: Any = None) -> np.ndarray:
    n = x.ndim - 2
    loops = Loops([(0, 0)] * n, subsample or (1,) * n, (1,) * n, num_groups)
    return loops.forward(x, w).astype(np.result_type(x, w))


def _spread(y: np.ndarray, w: np.ndarray) -> np.ndarray:
    image = np.zeros((y.shape[0], w.shape[1], 4, 4), dtype=np.result_type(y, w))
    return Loops([(1, 0), (0, 0)], (2, 1), (1, 1)).gradients(image, w, y)[0]


def _separated(x: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _convolved(_convolved(x, w, num_groups=2), v)


_BOTH = [case(real(2, 2, 4, 5), real(2, 2, 2, 3)), case(real(1, 2, 5, 4), real(4, 1, 2, 2), num_groups=2)]
row(
    "conv2d",
    _convolved,
    [*_BOTH, case(real(1, 1, 5, 4), real(2, 1, 2, 1), subsample=(2, 1))],
    nnet.conv2d,
    error="sum",
    covers=("abstract_conv2d",),
)
row("conv3d", _convolved, [case(real(1, 2, 3, 3, 4), real(2, 2, 2, 1, 3))], nnet.conv3d, error="sum")
for _name, _settings in (("conv2d_transpose", "input_dilation"), ("conv2d_grad_wrt_inputs", "subsample")):
    row(
        _name,
        _spread,
        [case(real(2, 3, 2, 3), real(3, 1, 2, 2))],
        lambda y, w, f=getattr(nnet, _name), s=_settings: f(y, w, (None, None, 4, 4), None, ((1, 0), 0), **{s: (2, 1)}),
        error="sum",
    )
row(
    "separable_conv2d",
    _separated,
    [case(real(1, 2, 4, 3), real(4, 1, 2, 2), real(3, 4, 1, 1))],
    lambda x, w, v: nnet.separable_conv2d(x, w, v, 2),
    error="sum",
)


def _normalized(x: Any, scale: Any, bias: Any, axes: Any = (0,)) -> list[np.ndarray]:
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    invstd = 1 / np.sqrt(variance + 1e-4)
    out = (x - mean) * invstd * np.expand_dims(scale, axes) + np.expand_dims(bias, axes)
    return [out, mean.squeeze(axes), invstd.squeeze(axes)]


def _scaled(x: Any, scale: Any, bias: Any, mean: Any, deviation: Any, mode: str = "") -> Any:
    return (x - mean) / deviation * scale + bias


def _at_least(bound: float) -> Any:
    return lambda *values, **params: bound


row(
    "batch_normalization_train",
    _normalized,
    [
        case(real(5, 3), real(3), real(3)),
        case(real(3, 2, 2, 2), real(2), real(2), axes=(0, 2, 3)),
    ],
    batchnorm.batch_normalization_train,
    error="sum",
    magnitude=lambda *values, **params: [50.0, 20.0, 20.0],
    fuzzed=False,
)
row(
    "batch_normalization_test",
    lambda x, scale, bias, mean, variance: _scaled(x, scale, bias, mean, np.sqrt(variance + 1e-4)),
    [case(real(4, 3), real(3), real(3), real(3), positive(3))],
    batchnorm.batch_normalization_test,
    error="sum",
    magnitude=_at_least(100.0),
)
row(
    "batch_normalization",
    _scaled,
    [case(real(4, 3), real(3), real(3), real(3), positive(3)), case(*[real(3)] * 4, positive(3), mode="high_mem")],
    lambda *v, mode="low_mem": nnet.batch_normalization(*v, mode=mode),
    error="sum",
    magnitude=_at_least(100.0),
)
