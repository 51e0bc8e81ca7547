"""Smooth sums of terms with kinks: their slopes where the kinks are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

RULES = Mode(linker="py", optimizer="fast_run")
PLAIN = Mode(linker="py", optimizer="fast_compile")
POINTS = np.array([-800.0, -1.0, -0.0, 0.0, 1e-300, 2.0, 40.0, 1e5, -np.inf, np.inf, np.nan])


def decay(x):
    return at.log1p(at.exp(-abs(x)))


def slopes(build, mode=RULES):
    x = at.dvector("x")
    slope = aesara.grad(build(x).sum(), x)
    curvature = aesara.grad(slope.sum(), x)
    return aesara.function([x], [slope, curvature], mode=mode)(POINTS[:8])


SOFTPLUS = [
    lambda x: at.maximum(x, 0) + decay(x),
    lambda x: at.log(1 + at.exp(-abs(x))) + at.maximum(0.0, x),
    lambda x: at.switch(x > 0, x, 0) + at.softplus(-abs(x)),
    lambda x: at.switch(at.ge(x, 0), x, 0) + at.log(at.exp(-abs(x)) + 1),
    lambda x: at.clip(x, 0, np.inf) + decay(x),
    lambda x: x + at.maximum(-x, 0) + decay(-x),
]


@pytest.mark.parametrize("position", range(len(SOFTPLUS)))
@pytest.mark.parametrize("mode", [RULES, PLAIN], ids=["fast_run", "fast_compile"])
def test_softplus(position, mode):
    slope, curvature = slopes(SOFTPLUS[position], mode)
    x = POINTS[:8]
    np.testing.assert_allclose(slope, expit(x), rtol=1e-14)
    np.testing.assert_allclose(curvature, expit(x) * expit(-x), rtol=1e-14)


CROSS_ENTROPIES = [
    lambda x: at.maximum(x, 0) - x * 0.3 + decay(x),
    lambda x: at.maximum(x, 0) + (decay(x) - x * 0.3),
    lambda x: decay(x) - (x * 0.3 - at.maximum(x, 0)),
    lambda x: -(x * 0.3 - at.maximum(x, 0) - decay(x)),
]


@pytest.mark.parametrize("position", range(len(CROSS_ENTROPIES)))
def test_cross_entropy_of_logits(position):
    slope, curvature = slopes(CROSS_ENTROPIES[position])
    x = POINTS[:8]
    np.testing.assert_allclose(slope, expit(x) - 0.3, rtol=1e-13)
    np.testing.assert_allclose(curvature, expit(x) * expit(-x), rtol=1e-14)


def test_logarithm_of_hyperbolic_cosine():
    slope, curvature = slopes(lambda x: abs(x) + at.log1p(at.exp(-2 * abs(x))))
    np.testing.assert_allclose(slope, np.tanh(POINTS[:8]), rtol=1e-14)
    np.testing.assert_allclose(curvature, 4 * expit(2 * POINTS[:8]) * expit(-2 * POINTS[:8]), rtol=1e-14)


def test_logarithm_of_a_sum_of_two_exponentials():
    x, y = at.dvectors("xy")
    for cost in (at.maximum(x, y) + decay(x - y), decay(y - x) + at.maximum(x, y)):
        a, b = np.array([1.0, 3.0, 800.0, 0.0]), np.array([2.0, 3.0, -5.0, 0.0])
        wrt_x, wrt_y = aesara.function([x, y], aesara.grad(cost.sum(), [x, y]), mode=RULES)(a, b)
        np.testing.assert_allclose(wrt_x, expit(a - b), rtol=1e-14)
        np.testing.assert_allclose(wrt_y, expit(b - a), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_other_dtypes(dtype):
    x, row = at.matrix("x", dtype=dtype), at.vector("row", dtype=dtype)
    slope = aesara.grad((at.maximum(x, 0) + decay(x) - row).sum(), x)
    assert slope.type.dtype == dtype
    values = np.array([[0.0, 1.0, -3.0]], dtype)
    found = aesara.function([x, row], slope, mode=RULES, on_unused_input="ignore")(values, np.zeros(3, dtype))
    np.testing.assert_allclose(found, expit(values.astype("float64")), rtol=4 * np.finfo(dtype).eps)
    assert aesara.function([x, row], slope, on_unused_input="ignore")(values[:0], np.zeros(3, dtype)).shape == (0, 3)


def test_what_is_not_smooth_stays_as_it_is():
    for build in (
        lambda x: at.maximum(x, 0) - decay(x),
        lambda x: at.maximum(x, 1) + decay(x),
        lambda x: at.maximum(x, 0) + decay(2 * x),
        lambda x: at.maximum(x, 0) + at.log1p(at.exp(-2 * abs(x))),
        lambda x: at.switch(x > 0, x, 1) + decay(x),
        lambda x: at.switch(x > 1, x, 0) + decay(x),
        lambda x: at.switch(x < 0, x, 0) + decay(x),
        lambda x: at.switch(x > 0, 2 * x, 0) + decay(x),
        lambda x: at.clip(x, -1, np.inf) + decay(x),
        lambda x: at.clip(x, 0, 1) + decay(x),
        lambda x: at.clip(x, 0, 8) + decay(x),
        lambda x: at.maximum(x, 0) + at.log1p(1 + at.exp(-abs(x))),
        lambda x: at.maximum(x, 0) + at.log(2 + at.exp(-abs(x))),
        lambda x: at.maximum(x, 0) + at.log(at.add(1, at.exp(-abs(x)), x**2)),
        lambda x: at.maximum(x, 0) + at.log1p(at.exp(abs(x))),
        lambda x: at.maximum(x, 0) + at.log1p(at.exp(-(x**2))),
        lambda x: abs(x) + decay(x),
        lambda x: abs(2 * x) + at.log1p(at.exp(-2 * abs(x))),
        lambda x: at.maximum(x, x**2) + decay(x),
        lambda x: at.maximum(x, 0) + at.softplus(-abs(x) / 3),
    ):
        x = at.dvector("x")
        slope = aesara.function([x], aesara.grad(build(x).sum(), x), mode=RULES)
        near = np.array([1.5, -0.75])
        step = 1e-6
        value = aesara.function([x], build(x), mode=RULES)
        difference = (value(near + step) - value(near - step)) / (2 * step)
        np.testing.assert_allclose(slope(near), difference, rtol=1e-8)


def test_gradients_of_the_terms_are_those_of_the_terms():
    x = at.dvector("x")
    largest, rest = at.maximum(x, 0), decay(x)
    cost = (largest + rest).sum()
    found = aesara.function([x], aesara.grad(cost, [largest, rest]), mode=RULES)(np.zeros(2))
    np.testing.assert_array_equal(found, np.ones((2, 2)))


def test_values_are_those_as_written():
    x = at.dvector("x")
    f = aesara.function([x], SOFTPLUS[0](x), mode=RULES)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(f(POINTS), np.logaddexp(0, POINTS), rtol=1e-15)
