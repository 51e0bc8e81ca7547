"""Logarithms and quotients of exponentials, in the spellings that rules know, where these leave the range."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.special import ndtr

POINTS = [-800.0, -40.0, -3.0, -0.5, 0.25, 2.0, 30.0, 900.0]
NEAR = [-30.0, -6.0, -0.5, 0.25, 2.0, 7.0, 25.0]
ROOT = math.sqrt(2)
m = mpmath


def logistic(x):
    return 1 / (1 + m.exp(-x))


def distance(x, y):
    """The difference of distribution functions of the normal distribution, from the side where they are small."""
    return m.ncdf(x) - m.ncdf(y)


#: A function of tensors, the same of mpmath's numbers, and points at which one argument is at least another.
FORMS = {
    "1 - share": (
        lambda x, y: at.log(1 - at.exp(x) / (at.exp(x) + at.exp(y))), lambda x, y: -m.log1p(m.exp(x - y)), POINTS,
    ),
    "1 - share of two": (
        lambda x, y: at.log(1 - (at.exp(x) + at.exp(y)) / (at.exp(x) + at.exp(y) + at.exp(x / 2))),
        lambda x, y: x / 2 - m.log(m.exp(x) + m.exp(y) + m.exp(x / 2)),
        POINTS,
    ),
    "logistic functions": (
        lambda x, y: at.log(at.sigmoid(x) - at.sigmoid(y)), lambda x, y: m.log(logistic(x) - logistic(y)), POINTS,
    ),
    "quotients of 1": (
        lambda x, y: at.log(1 / (1 + at.exp(-x)) - 1 / (1 + at.exp(-y))),
        lambda x, y: m.log(logistic(x) - logistic(y)),
        POINTS,
    ),
    "reciprocals": (
        lambda x, y: at.log(at.reciprocal(1 + at.exp(-x)) - at.reciprocal(1 + at.exp(-y))),
        lambda x, y: m.log(logistic(x) - logistic(y)),
        POINTS,
    ),
    "quotients of 2": (
        lambda x, y: at.log(2 / (1 + at.exp(-x)) - 2 / (1 + at.exp(-y))),
        lambda x, y: m.log(2 * (logistic(x) - logistic(y))),
        NEAR[:4],
    ),
    "ndtr": (lambda x, y: at.log(ndtr(x) - ndtr(y)), lambda x, y: m.log(distance(x, y)), NEAR),
    "erfc": (
        lambda x, y: at.log(at.erfc(-x / ROOT) / 2 - at.erfc(-y / ROOT) / 2), lambda x, y: m.log(distance(x, y)), NEAR,
    ),
    "half of erfc": (lambda x, y: at.log(0.5 * at.erfc(x)), lambda x, y: m.log(m.erfc(x) / 2), POINTS),
    "erf": (
        lambda x, y: at.log(at.erf(x / ROOT) - at.erf(y / ROOT)), lambda x, y: m.log(2 * distance(x, y)), NEAR,
    ),
    "1 + erf": (
        lambda x, y: at.log(0.5 * (1 + at.erf(x / ROOT)) - 0.5 * (1 + at.erf(y / ROOT))),
        lambda x, y: m.log(distance(x, y)),
        NEAR,
    ),
    "1 - erf": (
        lambda x, y: at.log((1 - at.erf(y)) - (1 - at.erf(x))),
        lambda x, y: m.log(2 * distance(x * ROOT, y * ROOT)),
        NEAR,
    ),
    "erf + 1": (
        lambda x, y: at.log((at.erf(x) + 1) - ndtr(y) * 2),
        lambda x, y: m.log(2 * (m.ncdf(x * m.sqrt(2)) - m.ncdf(y))),
        [-0.5, 0.25, 2.0],
    ),
    "1 + square": (lambda x, y: at.log((1 + y**2) - ndtr(x)), lambda x, y: m.log(m.ncdf(-x) + y * y), NEAR),
    "1 - exp(-softplus)": (lambda x, y: at.log(1 - at.exp(-at.softplus(x))), lambda x, y: -m.log1p(m.exp(-x)), POINTS),
    "1 - logistic": (lambda x, y: at.log(1 - at.sigmoid(x)), lambda x, y: -m.log1p(m.exp(x)), POINTS),
    "1 + exp": (lambda x, y: at.log(1 + at.exp(x)), lambda x, y: m.log1p(m.exp(x)), POINTS),
    "2 + exp": (lambda x, y: at.log(2 + at.exp(x)), lambda x, y: m.log(2 + m.exp(x)), POINTS),
    "2 + exps": (lambda x, y: at.log(2 + at.exp(x) + at.exp(y)), lambda x, y: m.log(2 + m.exp(x) + m.exp(y)), POINTS),
    "multiple of exp": (lambda x, y: at.log(3 * at.exp(x) / 7), lambda x, y: m.log(3) + x - m.log(7), POINTS),
    "sinh": (lambda x, y: at.log(at.sinh(at.exp(x / 100))), lambda x, y: m.log(m.sinh(m.exp(x / 100))), POINTS),
    "cosh": (lambda x, y: at.log(at.cosh(x)), lambda x, y: m.log(m.cosh(x)), POINTS),
    "1 - exp of a negative": (
        lambda x, y: at.log(1 - at.exp(-at.exp(x / 100))), lambda x, y: m.log(-m.expm1(-m.exp(x / 100))), POINTS,
    ),
    "share": (lambda x, y: at.exp(x) / (at.exp(x) + at.exp(y)), lambda x, y: logistic(x - y), POINTS),
    "share with a constant": (
        lambda x, y: at.exp(x) / (3 + at.exp(x) + at.exp(y)), lambda x, y: m.exp(x) / (3 + m.exp(x) + m.exp(y)), POINTS,
    ),
    "share of a constant": (
        lambda x, y: 3 / (3 + at.exp(x) + at.exp(y)), lambda x, y: 3 / (3 + m.exp(x) + m.exp(y)), POINTS,
    ),
}  # fmt: skip
#: Differences of probabilities that are known to the last place of 1.
NEAR_ONE = {"ndtr", "erf", "erfc", "1 + erf"}


@pytest.mark.parametrize("name", FORMS)
def test_logarithms_agree_with_mpmath(name):
    of_tensors, of_numbers, points = FORMS[name]
    x, y = at.dvectors("x", "y")
    pairs = [(a, b) for a, b in product(points, points) if a > b]
    first, second = (np.array(side) for side in zip(*pairs))
    f = aesara.function([x, y], of_tensors(x, y), on_unused_input="ignore")
    with mpmath.workdps(900):
        wanted = np.array([float(of_numbers(mpmath.mpf(a), mpmath.mpf(b))) for a, b in pairs])
    np.testing.assert_allclose(f(first, second), wanted, rtol=1e-12, atol=4e-16 if name in NEAR_ONE else 0)


@pytest.mark.parametrize("name", FORMS)
def test_gradients_of_logarithms_agree_with_mpmath(name):
    of_tensors, of_numbers, points = FORMS[name]
    x, y = at.dvectors("x", "y")
    pairs = [(a, b) for a, b in product(points, points) if a > b][::3]
    first, second = (np.array(side) for side in zip(*pairs))
    slope = aesara.grad(of_tensors(x, y).sum(), x)
    found = aesara.function([x, y], slope, on_unused_input="ignore")(first, second)
    with mpmath.workdps(900):
        wanted = np.array([float(mpmath.diff(lambda a, b=b: of_numbers(a, mpmath.mpf(b)), a)) for a, b in pairs])
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=4e-16)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_exponentials_with_weights(dtype, rng):
    """Of rows, of columns, and of a vector: the logarithm is that of a weighted sum, where exponentials overflow."""
    M, w, v = at.matrix("M", dtype=dtype), at.vector("w", dtype=dtype), at.vector("v", dtype=dtype)
    exponents = (rng.normal(size=(3, 4)) + np.array([[900.0], [-900.0], [0.0]])).astype(dtype)
    weights, others = (rng.uniform(0.5, 2, size=n).astype(dtype) for n in (4, 3))
    rtol = 8 * np.finfo(dtype).eps

    def wanted(terms, factors):
        peak = terms.max(axis=0)
        return peak + np.log((np.exp(terms - peak) * factors[:, None]).sum(axis=0))

    rows = aesara.function([M, w], at.log(at.dot(at.exp(M), w)))(exponents, weights)
    np.testing.assert_allclose(rows, wanted(exponents.T.astype("float64"), weights), rtol=rtol)
    columns = aesara.function([M, v], at.log(at.dot(v, at.exp(M))))(exponents, others)
    np.testing.assert_allclose(columns, wanted(exponents.astype("float64"), others), rtol=rtol)
    alone = aesara.function([v, w], at.log(at.dot(w, at.exp(v))))(exponents[0], weights)
    np.testing.assert_allclose(alone, wanted(exponents[0][:, None].astype("float64"), weights)[0], rtol=rtol)
    turned = aesara.function([v, w], at.log(at.dot(at.exp(v), w)))(exponents[0], weights)
    np.testing.assert_allclose(turned, alone, rtol=rtol)
