"""Fourier transforms, pooling and normalisation, compiled by JAX."""

import jax
import numpy as np
import pytest

import aesara.tensor as at
from aesara.graph.forward_mode import Rop
from aesara.tensor.nnet.batchnorm import batch_normalization_test, batch_normalization_train
from aesara.tensor.signal.pool import Pool
from tests.link.jax_mode.matching import fail_alike, function_of, on_both


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("shape", [(4, 5), (1, 6), (0, 3)])
def test_fourier_transforms(shape):
    x, n = at.dmatrix("x"), at.lscalar("n")
    results = [at.fft.fft(x), at.fft.ifft(x, n), at.fft.rfft_complex(x, n=n), at.fft.irfft_complex(x, n, norm="ortho")]
    on_both([x, n], results, numbers(*shape), 7)
    on_both([x], at.grad(abs(at.fft.rfft_complex(x)).sum(), x), numbers(*shape))


def test_transforms_over_many_dimensions():
    x = at.tensor(dtype="complex64", shape=(None,) * 4)
    value = (numbers(2, 3, 4, 5) + 1j * numbers(2, 3, 4, 5, seed=1)).astype("complex64")
    on_both([x], [at.fft.fftn(x), at.fft.ifftn(x), at.fft.irfft2(x), at.fft.ifft2(x)], value, rtol=1e-5)


def test_transforms_of_nothing():
    x = at.zmatrix("x")
    fail_alike(ValueError, [x], at.fft.fft(x), np.ones((2, 0)), match="data points")


POOLS = [
    {"ws": (2, 2)},
    {"ws": (3, 2), "stride": (1, 2)},
    {"ws": (2, 3), "ignore_border": True, "stride": (2, 1), "pad": (1, 2)},
    {"ws": (2, 2), "stride": (4, 3)},
    {"ws": (9, 9), "ignore_border": True},
]


@pytest.mark.parametrize("mode", ["max", "sum", "average_inc_pad", "average_exc_pad"])
@pytest.mark.parametrize("options", POOLS, ids=str)
def test_pooling(options, mode):
    options = dict(options)
    op = Pool(ignore_border=options.pop("ignore_border", False), mode=mode)
    x, v = at.dtensor4("x"), at.dtensor4("v")
    y = op(x, **options)
    gradient = at.grad((y * y).sum(), x)
    results = [y, gradient, at.grad((gradient * v).sum(), x), Rop(y, x, v)]
    value = np.round(numbers(2, 3, 7, 8), 1)  # some maxima are alike
    on_both([x, v], results, value, numbers(2, 3, 7, 8))
    whole = at.tensor(dtype="int8", shape=(None, None))
    on_both([whole], op(whole, **options), np.arange(56, dtype="int8").reshape(7, 8))


def test_windows_that_are_inputs():
    x, ws = at.dmatrix("x"), at.lvector("ws")
    on_both([x, ws], Pool()(x, ws), numbers(5, 6), np.array([2, 3]))
    fail_alike(ValueError, [x, ws], Pool()(x, ws), numbers(5, 6), np.array([2, 0]), match="empty")


def test_maxima_of_nan():
    x = at.dmatrix("x")
    value = np.array([[np.nan, 1.0, -np.inf, -np.inf], [2.0, 3.0, -np.inf, -np.inf]])
    on_both([x], Pool()(x, (2, 2)), value)


def test_batch_normalisation():
    x, scale, shift = at.dmatrix("x"), at.drow("scale"), at.drow("shift")
    outputs = batch_normalization_train(x, scale, shift, axes=(0,))
    gradients = at.grad((outputs[0] ** 3).sum(), [x, scale, shift])
    fixed = batch_normalization_test(x, scale, shift, shift, scale**2, axes=(0,))
    values = numbers(5, 3), numbers(1, 3), numbers(1, 3)
    wanted = on_both([x, scale, shift], [*outputs, *gradients, fixed], *values)
    function = function_of([x, scale, shift], [*outputs, *gradients, fixed])  # the ops themselves
    for got, want in zip(jax.jit(function)(*values), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_costs_of_classes():
    x, b, y = at.dmatrix("x"), at.dvector("b"), at.lvector("y")
    from_classes = at.nnet.crossentropy_softmax_1hot_with_bias(x, b, y)
    cost = from_classes[0].sum()
    values = numbers(4, 3), numbers(3), np.array([0, 2, 1, 1])
    wanted = on_both([x, b, y], [*from_classes, *at.grad(cost, [x, b])], *values)
    function = function_of([x, b, y], [*from_classes, *at.grad(cost, [x, b])])
    for got, want in zip(function(*values), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    fail_alike(ValueError, [x, b, y], cost, *values[:2], np.array([0, 3, 1, 1]), match="out of bounds")
