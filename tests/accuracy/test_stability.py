"""Values and gradients at points at which plain formulas overflow, underflow or cancel."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.special

import aesara
import aesara.tensor as at
from aesara.tensor import special
from tests.accuracy.functions import log_ndtr
from tests.accuracy.ulps import DIGITS, ulps
from tests.closeness import assert_close

INF = np.inf


@pytest.fixture(autouse=True)
def precision():
    with mpmath.workdps(DIGITS):
        yield


def with_gradient(function, rank=1, dtype="float64"):
    x = at.TensorType(dtype, (None,) * rank)()
    y = function(x)
    compiled = aesara.function([x], [y, aesara.grad(y.sum(), x)])
    assert not compiled._native.report.python_nodes
    return compiled


def check(function, points, value, slope, dtype="float64", limit=4.0, slope_limit=8.0):
    """Values and gradients of an elementwise function against functions of mpmath."""
    x = np.array(points, dtype)
    for found, truth, allowed in zip(with_gradient(function, dtype=dtype)(x), (value, slope), (limit, slope_limit)):
        for point, got in zip(x, found):
            exact = mpmath.mpf(truth(mpmath.mpf(float(point))))
            assert ulps(got, exact, dtype) <= allowed, (point, got, exact)


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


FAR = [-1e4, -800.0, -745.2, -700.0, -40.0, -1.0, -1e-3, -1e-300, 0.0, 1e-20, 1e-3, 0.7, 30.0, 40.0, 700.0, 800.0, 1e4]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
class TestLogistic:
    def test_log1pexp(self, dtype):
        for function in (at.softplus, lambda x: at.log1p(at.exp(x)), lambda x: at.log(1 + at.exp(x))):
            check(function, FAR, lambda x: mpmath.log1p(mpmath.exp(x)), logistic, dtype)

    def test_sigmoid(self, dtype):
        def slope(x):
            return logistic(x) * logistic(-x)

        # 1 - sigmoid loses digits as far as sigmoid is from 0.
        check(at.sigmoid, [x for x in FAR if x < 30], logistic, slope, dtype)
        values, slopes = with_gradient(at.sigmoid, dtype=dtype)(np.array([40.0, 800.0, INF, -INF], dtype))
        np.testing.assert_array_equal(values, [1, 1, 1, 0])
        np.testing.assert_allclose(slopes, [0, 0, 0, 0], rtol=0, atol=1e-16 if dtype == "float64" else 1e-7)

    def test_logarithm_of_sigmoid(self, dtype):
        for function in (special.log_expit, lambda x: at.log(at.sigmoid(x))):
            check(function, FAR, lambda x: -mpmath.log1p(mpmath.exp(-x)), lambda x: logistic(-x), dtype)

    def test_log1mexp(self, dtype):
        points = [-1e4, -745.0, -100.0, -37.0, -1.0, -0.7, -0.69, -1e-3, -1e-10]
        for function in (at.log1mexp, lambda x: at.log(1 - at.exp(x)), lambda x: at.log1p(-at.exp(x))):
            # The gradient of what is written out is that of the parts, whose difference cancels.
            slope_limit = 8.0 if function is at.log1mexp else np.inf
            check(
                function, points, lambda x: mpmath.log(-mpmath.expm1(x)), lambda x: -1 / mpmath.expm1(-x), dtype,
                slope_limit=slope_limit,
            )  # fmt: skip


def test_small_arguments():
    tiny = [0.0, 5e-324, -5e-324, 1e-300, -1e-20, 1e-16, -1e-8, 1e-3]
    check(at.expm1, tiny, mpmath.expm1, mpmath.exp)
    check(at.log1p, tiny, mpmath.log1p, lambda x: 1 / (1 + x))
    check(lambda x: at.exp(x) - 1, tiny, mpmath.expm1, mpmath.exp)
    check(lambda x: at.log(1 + x), tiny, mpmath.log1p, lambda x: 1 / (1 + x))
    check(at.tanh, tiny, mpmath.tanh, lambda x: 1 / mpmath.cosh(x) ** 2)


LARGE = [
    (1e308, 1e308), (1e308, -1e308), (-1e308, -1e308), (1000.0, 1000.0), (-1000.0, -1000.0), (0.0, 1e-20),
    (5.0, -800.0),
]  # fmt: skip


def test_logarithm_of_a_sum_of_exponentials():
    x, y = at.dvectors("xy")
    out = at.logaddexp(x, y)
    function = aesara.function([x, y], [out, *aesara.grad(out.sum(), [x, y])])
    a, b = map(np.array, zip(*LARGE, strict=True))
    value, wrt_a, wrt_b = function(a, b)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(value, np.logaddexp(a, b), rtol=1e-15)
        np.testing.assert_allclose(wrt_a, scipy.special.expit(a - b), rtol=1e-14)
        np.testing.assert_allclose(wrt_b, scipy.special.expit(b - a), rtol=1e-14)
    edges = [(INF, 1.0), (1.0, INF), (-INF, 1.0), (2.0, -INF), (-INF, -INF), (INF, INF), (INF, -INF), (-INF, INF)]
    a, b = map(np.array, zip(*edges, strict=True))
    value, wrt_a, wrt_b = function(a, b)
    np.testing.assert_array_equal(value, np.logaddexp(a, b))
    np.testing.assert_array_equal(wrt_a[2:4], [0, 1])
    np.testing.assert_array_equal(wrt_b[2:4], [1, 0])
    assert not np.isnan(wrt_a).any(), wrt_a
    assert not np.isnan(wrt_b).any(), wrt_b
    assert np.isnan(function(np.array([np.nan]), np.array([1.0]))[0]).all()


ROWS = np.array([
    [1000.0, 1001.0, 999.0], [-1000.0, -1001.0, -5000.0], [0.0, -INF, 1.0], [-INF, -INF, 3.0], [1e308, -1e308, 0.0],
    [1e-20, 0.0, -1e-20],
])  # fmt: skip


def log_of_softmax(x, axis):
    return at.log(special.softmax(x, axis))


def quotient_of_exponentials(x, axis):
    return at.exp(x) / at.exp(x).sum(axis, keepdims=True)


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (special.softmax, scipy.special.softmax),
        (special.log_softmax, scipy.special.log_softmax),
        (log_of_softmax, scipy.special.log_softmax),
        (
            lambda x, axis: at.logsumexp(x, axis, keepdims=True),
            lambda x, axis: scipy.special.logsumexp(x, axis, keepdims=True),
        ),
        (
            lambda x, axis: at.log(at.exp(x).sum(axis, keepdims=True)),
            lambda x, axis: scipy.special.logsumexp(x, axis, keepdims=True),
        ),
        (quotient_of_exponentials, scipy.special.softmax),
    ],
    ids=["softmax", "log_softmax", "log of softmax", "logsumexp", "log of sum of exp", "quotient of exp"],
)
@pytest.mark.parametrize("axis", [1, 0])
def test_functions_of_exponentials_along_an_axis(function, reference, axis):
    x = at.dmatrix()
    out = function(x, axis)
    compiled = aesara.function([x], [out, aesara.grad(at.switch(at.isinf(out), 0.0, 2 * out).sum(), x)])
    rows = ROWS if axis == 1 else np.ascontiguousarray(ROWS.T)
    value, slope = compiled(rows)
    with np.errstate(all="ignore"):
        expected = reference(rows, axis)
    np.testing.assert_allclose(value, expected, rtol=1e-14, atol=1e-300)
    # Gradients of what is written out are those of the parts, which overflow.
    written_out = function in (log_of_softmax, quotient_of_exponentials)
    assert written_out or not np.isnan(slope).any(), slope


def test_rows_of_minus_infinity():
    x = at.dmatrix()
    rows = np.full((2, 3), -INF)
    rows[1] = 0.0
    total = at.logsumexp(x, axis=1)
    value, slope = aesara.function([x], [total, aesara.grad(total[1:].sum(), x)])(rows)
    assert_close(value, [-INF, np.log(3)])
    assert_close(slope[1], 1 / 3)
    assert not np.isnan(slope).any(), slope


def test_gradients_of_logarithms_of_probabilities():
    far = [-1e8, -1e3, -38.0, -1.0, 0.0, 5.0]
    density = lambda x: mpmath.npdf(x) / mpmath.ncdf(x)
    points = [x for x in far if x > -1e3]
    check(special.log_ndtr, points, log_ndtr, density, limit=64, slope_limit=64)
    _, slope = with_gradient(special.log_ndtr)(np.array([-1e8, -1e3, 1e3]))
    np.testing.assert_allclose(slope, [1e8, 1000.000999998, 0.0], rtol=1e-9)


@pytest.mark.parametrize("scale", [1.0, -1.0, 3.0, -0.5])
@pytest.mark.parametrize(
    ("quotient", "exact"),
    [
        (lambda x: at.exp(-(x**2)) / at.erfc(x), lambda x: mpmath.exp(-x * x) / mpmath.erfc(x)),
        (lambda x: 0.7 * at.exp(x**2) * at.erfc(x), lambda x: 0.7 * mpmath.exp(x * x) * mpmath.erfc(x)),
        (lambda x: at.exp(-0.5 * x**2) / special.ndtr(x), lambda x: mpmath.exp(-x * x / 2) / mpmath.ncdf(x)),
        (lambda x: 3 * at.exp(-(x**2) / 2) / (7 * special.ndtr(x)),
         lambda x: 3 * mpmath.exp(-x * x / 2) / (7 * mpmath.ncdf(x))),
    ],
    ids=["erfc below", "erfc", "ndtr below", "ndtr with factors"],
)  # fmt: skip
def test_exponentials_times_or_over_tails(quotient, exact, scale):
    """One of the two overflows or vanishes where the other one vanishes."""
    points = [x for x in (-1e3, -50.0, -30.0, -3.0, -0.4, 0.0, 1.5, 8.0, 40.0, 1e3) if abs(exact(x * scale)) < 1e300]
    f = aesara.function([x := at.dvector("x")], quotient(scale * x))
    for point, got in zip(points, f(points), strict=True):
        wanted = exact(mpmath.mpf(point * scale))
        if wanted > 1e-300:
            np.testing.assert_allclose(got, float(wanted), rtol=1e-13 + 4e-16 * (point * scale) ** 2 * (got < 1e-3))
        else:
            assert got == float(wanted) or abs(got) < 1e-300


@pytest.mark.parametrize(
    "exponent",
    [
        lambda x: -x, lambda x: -(x**4), lambda x: -(x**2 * x), lambda x: -1.000001 * x**2, lambda x: x**2,
        lambda x: -(x**2) * abs(x), lambda x: -((x - 1) ** 2), lambda x: -(x**2) / 3, lambda x: -(x**2) / 2,
    ],
)  # fmt: skip
def test_other_exponentials_over_tails(exponent):
    x, points = at.dvector("x"), np.array([-2.0, 0.3, 1.5])
    found = aesara.function([x], [at.exp(exponent(x)) / at.erfc(x), at.exp(-exponent(x)) * at.erfc(x)])(points)
    tail = scipy.special.erfc(points)
    for got, wanted in zip(found, (np.exp(exponent(points)) / tail, np.exp(-exponent(points)) * tail), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13)


def test_logarithms_of_written_sums_of_exponentials():
    x, y = at.dvectors("xy")
    out = at.log(at.exp(x) + at.exp(y))
    a = np.array([0.0, 1000.0, -1000.0, 3.0, 1e308, -INF, INF])
    b = np.array([-40.0, 1000.0, -1001.0, -INF, 0.0, -INF, -INF])
    with np.errstate(all="ignore"):
        expected = np.logaddexp(a, b)
    np.testing.assert_allclose(aesara.function([x, y], out)(a, b), expected, rtol=1e-15)
