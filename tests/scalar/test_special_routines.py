"""Routines: what the reference makes of them, and how accurate those of the package are, there and natively."""

from __future__ import annotations

import functools

import mpmath
import numpy as np
import pytest
import scipy.special

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.scalar.routine import FloatRoutine, exp, horner, routine
from aesara.scalar.routines import hurwitz_zeta, polygamma_function, trigamma_function
from aesara.scalar.routines.gamma import gammainc_of_large
from aesara.scalar.routines.stirling import digamma_change
from aesara.tensor.elemwise import Elemwise
from tests.closeness import assert_close

EPSILON = 2.0**-52
RNG = np.random.default_rng(5)


@routine
def smallest_power(x, bound):
    """Count how often x must be doubled to reach the bound, at most 100 times."""
    n = 0.0
    while x < bound and n < 100.0:
        x *= 2.0
        n += 1.0
    return n


def test_a_routine_is_a_function_of_arrays():
    assert isinstance(smallest_power, FloatRoutine)
    assert smallest_power.parameters == ("x", "bound")
    assert "doubled" in smallest_power.__doc__
    np.testing.assert_array_equal(smallest_power([[1.0], [3.0]], np.array([1, 10, 100])), [[0, 4, 7], [0, 2, 6]])
    assert smallest_power(2.0, 8.0) == 2.0
    assert smallest_power(np.zeros((0, 3)), 1.0).shape == (0, 3)
    assert smallest_power(np.int8(3), np.float32(10.0)).dtype == "float64"


def test_arithmetic_of_the_reference_does_not_raise():
    @routine
    def inverse(x):
        return 1.0 / x + exp(x)

    np.testing.assert_array_equal(inverse([0.0, -np.inf, 1e10]), [np.inf, 0.0, np.inf])


def test_horner():
    assert horner(2.0, (1.0, 0.0, 3.0)) == 13.0
    assert horner(np.inf, (5.0,)) == 5.0


# -- accuracy ----------------------------------------------------------------------------------------------------


@functools.cache
def native(scalar_op):
    inputs = [at.dvector() for _ in range(scalar_op.nin)]
    function = aesara.function(inputs, Elemwise(scalar_op)(*inputs))
    assert not function._native.report.python_nodes
    return function


def check(scalar_op, points, truth, ulps):
    """Compare with the truth, in units of the last place; points are where it is not tiny."""
    points = np.array(points, dtype="float64")
    exact = [truth(*map(float, point)) for point in points]
    for name, found in (
        ("reference", scalar_op.impl(*points.T)),
        ("native", native(scalar_op)(*map(np.ascontiguousarray, points.T))),
    ):
        for point, got, value in zip(points, found, exact, strict=True):
            error = abs(mpmath.mpf(float(got)) - value)
            assert error <= ulps * EPSILON * abs(value) + mpmath.mpf(2) ** -1074, (name, list(point), got, value)


def derivative(function, arguments, position):
    """By central differences in high precision."""
    step = mpmath.mpf(10) ** -30 * max(abs(arguments[position]), mpmath.mpf(10) ** -3)

    def at_(value):
        return function(*arguments[:position], value, *arguments[position + 1 :])

    here = mpmath.mpf(arguments[position])
    return (at_(here + step) - at_(here - step)) / (2 * step)


def lower_gamma_by_k(k, x):
    """The derivative of P(k, x), or of P - 1 where that is smaller."""
    tail = (0, x) if x < k else (x, mpmath.inf)
    sign = 1 if x < k else -1
    return derivative(lambda k: sign * mpmath.gammainc(k, *tail, regularized=True), (mpmath.mpf(k),), 0)


GAMMA_POINTS = {
    # Near the mean a relative error of x counts sqrt(k) times, far from it |x - k| times.
    16: [(k, k + s * k**0.5) for k in (0.9, 2.0, 7.3, 14.9) for s in (-0.9, -0.1, 0.0, 0.5, 2.0)],
    64: [(k, x) for k in (1e-300, 1e-5, 0.01, 0.3, 1.0, 2.5) for x in (1e-3, 0.1, 0.9, 1.1, 3.0, 20.0)],
    300: [(k, k * r) for k in (15.0, 40.0, 300.0, 2e3, 9e3, 1.1e4, 1e5) for r in (0.97, 0.999, 1.0, 1.001, 1.03)],
    1000: [(k, k * r) for k in (15.0, 100.0, 150.0) for r in (1e-2, 0.1, 0.6, 2.0, 4.0)],
}


@pytest.mark.parametrize("ulps", GAMMA_POINTS)
def test_incomplete_gamma_functions(ulps):
    with mpmath.workdps(80):
        points = GAMMA_POINTS[ulps]
        check(aes.gammainc_der, points, lower_gamma_by_k, ulps)
        check(aes.gammaincc_der, points, lambda k, x: -lower_gamma_by_k(k, x), ulps)


def test_incomplete_gamma_functions_far_out():
    values = [(2.0, 0.0), (2.0, np.inf), (1e-320, 3.0), (1e300, 1e300), (1e300, 1.0), (np.inf, 1.0), (5.0, 1e300)]
    for op in (aes.gammainc_der, aes.gammaincc_der):
        found = native(op)(*np.array(values).T.copy())
        assert np.all(np.isfinite(found)), found
        np.testing.assert_array_equal(found[[0, 1, 4, 5, 6]], 0.0)
        invalid = [(-1.0, 2.0), (0.0, 1.0), (1.0, -1.0), (np.nan, 1.0), (1.0, np.nan), (np.inf, np.inf)]
        assert np.isnan(native(op)(*np.array(invalid).T.copy())).all()
        assert np.isnan(op.impl(*np.array(invalid).T)).all()
    small, large = [(2e4, 0.0), (2e4, 1.0), (1e300, 1.0)], [(2e4, 1e5), (5e4, np.inf), (1e290, 1e300)]
    for points, lower in ((small, 0.0), (large, 1.0)):
        k, x = np.array(points).T
        np.testing.assert_array_equal(gammainc_of_large(k, x, 1.0), lower)
        np.testing.assert_array_equal(gammainc_of_large(k, x, -1.0), 1.0 - lower)


@pytest.mark.parametrize("by", [0, 1])
def test_incomplete_beta_function(by):
    def truth(a, b, x, wrt_a):
        sign, ends = (1, (0, x)) if x <= a / (a + b) else (-1, (x, 1))
        integral = lambda a, b: sign * mpmath.betainc(a, b, *ends, regularized=True)
        return derivative(integral, (mpmath.mpf(a), mpmath.mpf(b)), 0 if wrt_a else 1)

    points = [(a, b, x) for a in (0.03, 0.5, 3.0, 14.0) for b in (0.1, 1.0, 2.0, 30.0) for x in (1e-9, 0.1, 0.5, 0.98)]
    points += [(2.0, 3.0, 0.4), (150.0, 150.0, 0.52), (150.0, 20.0, 0.86), (1000.0, 1500.0, 0.41)]
    with mpmath.workdps(100):
        check(aes.betainc_der, [(*p, 1.0 - by) for p in points], truth, 200)


@pytest.mark.parametrize("small", [1e-300, 1e-100, 1e-12, 1e-6, 1e-3, 0.0999, 0.1001])
def test_incomplete_beta_function_for_a_small_parameter(small):
    """The derivative by the other parameter is of the size of the small one, and as accurate."""

    def lower(a, b, x):
        return x**a / (a * mpmath.beta(a, b)) * mpmath.hyp2f1(a, 1 - b, a + 1, x)

    def truth(a, b, x, wrt_a):
        # I_x(a, b) = 1 - I_{1-x}(b, a), which is near 0 and not 1 if b is the small one
        first, second, x, sign = (b, a, 1 - mpmath.mpf(x), -1) if wrt_a else (a, b, mpmath.mpf(x), 1)
        return sign * derivative(lower, (mpmath.mpf(first), mpmath.mpf(second), x), 1)

    others = (1e-8, 0.3, 1.0, 2.5, 14.0, 40.0, 1e3)
    points = [(small, other, x, 0.0) for other in others for x in (1e-200, 1e-9, 1e-3, 0.2, 0.45) if x * other < 1]
    with mpmath.workdps(400):
        check(aes.betainc_der, points, truth, 64)
        check(aes.betainc_der, [(b, a, 1 - x, 1.0) for a, b, x, _ in points if x > 1e-2], truth, 128)


@pytest.mark.parametrize("k", [1e-300, 1e-5, 0.7, 14.99, 15.0, 40.0, 1e9])
def test_change_of_the_digamma_function(k):
    steps = np.array([0.0, 1e-300, 1e-14, 1e-3, 0.1, 1.0, 7.5, 100.0])
    with mpmath.workdps(700):
        exact = [mpmath.psi(0, mpmath.mpf(k) + mpmath.mpf(a)) - mpmath.psi(0, mpmath.mpf(k)) for a in steps]
        for found, value in zip(digamma_change(k, steps), exact, strict=True):
            assert abs(mpmath.mpf(float(found)) - value) <= 16 * EPSILON * value + mpmath.mpf(2) ** -1074


def test_incomplete_beta_function_far_out():
    values = [(1.0, 2.0, 0.0), (1.0, 2.0, 1.0), (1e12, 3.0, 0.5), (1e-310, 2.0, 0.5), (1e8, 1e8, 0.5)]
    for wrt_a in (0.0, 1.0):
        found = native(aes.betainc_der)(*np.array([(*v, wrt_a) for v in values]).T.copy())
        assert np.all(np.isfinite(found)), found
        np.testing.assert_array_equal(found[:3], 0.0)
        invalid = [(0.0, 1.0, 0.5), (1.0, -1.0, 0.5), (1.0, 1.0, -0.1), (1.0, 1.0, 1.1), (np.nan, 1.0, 0.5)]
        invalid += [(1.0, 1.0, np.nan), (np.inf, 1.0, 0.5)]
        assert np.isnan(native(aes.betainc_der)(*np.array([(*v, wrt_a) for v in invalid]).T.copy())).all()


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize(
    ("ulps", "arguments"),
    [
        (16, (-0.5, -0.1, 1e-10, 0.2, 0.5)),
        (1000, (0.500001, 0.9, 0.99, 0.999999, 1 - 1e-13)),
        (1000, (-0.50001, -1.0, -3.0, -100.0, -1e8)),
    ],
)
def test_hypergeometric_function(position, ulps, arguments):
    parameters = [(1.5, 0.5, 2.0), (1.0, 2.0, 3.5), (0.3, 0.7, 1.1), (2.0, 0.2, 4.0), (3.0, 1.5, 2.2)]
    points = [(*p, z, position) for p in parameters for z in arguments]

    def truth(a, b, c, z, _):
        return derivative(mpmath.hyp2f1, tuple(map(mpmath.mpf, (a, b, c, z))), position)

    with mpmath.workdps(80):
        check(aes.hyp2f1_der, points, truth, ulps)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_hypergeometric_function_between_its_poles(position):
    """Its third parameter may be negative, but no whole number."""
    points = [(1.5, 0.5, c, z, position) for c in (-0.5, -1.25, -3.75) for z in (-0.4, 0.3)]

    def truth(a, b, c, z, _):
        return derivative(mpmath.hyp2f1, tuple(map(mpmath.mpf, (a, b, c, z))), position)

    with mpmath.workdps(50):
        check(aes.hyp2f1_der, points, truth, 200)
    poles = np.array([(1.5, 0.5, c, 0.3, position) for c in (0.0, -0.0, -1.0, -7.0)]).T
    assert np.isnan(aes.hyp2f1_der.impl(*poles)).all() and np.isnan(native(aes.hyp2f1_der)(*poles.copy())).all()


@pytest.mark.parametrize("position", [0, 1, 2])
def test_hypergeometric_function_at_one(position):
    """It is finite there, and has derivatives, where the third parameter is larger than the others together."""
    points = [
        (a, b, a + b + rest, 1.0, position) for a in (0.5, 2.0, -0.375) for b in (0.75, 3.5) for rest in (0.5, 4.0)
    ]

    def truth(a, b, c, z, _):
        return derivative(mpmath.hyp2f1, tuple(map(mpmath.mpf, (a, b, c, z))), position)

    with mpmath.workdps(50):
        check(aes.hyp2f1_der, points, truth, 200)
    beyond = [
        (a, b, a + b - less, 1.0, position) for a in (0.5, 2.0) for b in (0.5, 3.25) for less in (0.0, 0.125, 0.75)
    ]
    columns = np.array(beyond).T.copy()
    assert np.isnan(aes.hyp2f1_der.impl(*columns)).all() and np.isnan(native(aes.hyp2f1_der)(*columns)).all()


POLYNOMIALS = [
    (degree, b, c)
    for degree in (0, 1, 2, 5, 9)
    for b, c in ((1.5, 2.5), (-0.7, 3.25), (4.0, 0.5), (-3.0, 1.75), (2.5, -0.5), (0.0, 1.5), (1.5, 1.5), (2.0, 1.0))
]
POLYNOMIALS += [(2, 1.5, -2.0), (2, 1.5, -5.0), (3, -4.0, -6.0), (0, 2.0, 0.0)]


@pytest.mark.parametrize("z", [-300.0, -2.0, -0.4, 0.0, 0.3, 0.75, 1 - 1e-12, 1.0, 1.5, 40.0])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("by_c", [False, True])
def test_hypergeometric_polynomials(z, swapped, by_c):
    """If one of the first parameters is 0, -1, ..., the function is a polynomial, with derivatives everywhere."""

    def polynomial(degree, b, c, z):
        return mpmath.fsum(
            mpmath.binomial(degree, k) * (-1) ** k * mpmath.rf(b, k) / mpmath.rf(c, k) * z**k for k in range(degree + 1)
        )

    position = 2 if by_c else 0 if swapped else 1
    points = [(b, -d, c, z, position) if swapped else (-d, b, c, z, position) for d, b, c in POLYNOMIALS]

    def truth(a, b, c, z, _):
        degree, other = (-b, a) if swapped else (-a, b)
        if by_c and swapped and -other in range(int(degree)):
            degree, other = -other, -degree
        at_ = derivative(
            lambda b, c: polynomial(int(degree), b, c, mpmath.mpf(z)), (mpmath.mpf(other), mpmath.mpf(c)), int(by_c)
        )
        return at_ if abs(at_) > 1e-25 else mpmath.mpf(0)

    with mpmath.workdps(60):
        check(aes.hyp2f1_der, points, truth, 2000)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_hypergeometric_function_at_one_where_it_is_zero(position):
    """1 / gamma(c - b) is zero there, and its derivative is not."""
    points = [(-m - 1.5 - k, 2.5 + m, 2.5, 1.0, position) for m in (0.0, 1.0, 4.0) for k in (0.0, 2.25)]
    points += [(b, a, c, z, position) for a, b, c, z, _ in points]
    points += [(-0.5, 1.5, 1.5, 1.0, position), (3.5, -4.5, 1.5, 1.0, position)]

    def truth(a, b, c, z, _):
        a, b, c = map(mpmath.mpf, (a, b, c))
        value = lambda a, b, c: mpmath.gamma(c) * mpmath.gamma(c - a - b) * mpmath.rgamma(c - a) * mpmath.rgamma(c - b)
        found = derivative(value, (a, b, c), position)
        return found if abs(found) > 1e-20 else mpmath.mpf(0)

    with mpmath.workdps(60):
        check(aes.hyp2f1_der, points, truth, 200)


def test_hypergeometric_function_at_the_borders():
    f = native(aes.hyp2f1_der)

    def value(*arguments):
        return f(*np.array([arguments], dtype="float64").T.copy())[0]

    assert value(0.0, 2.0, 3.0, 0.5, 1.0) == 0.0  # it is 1 for all b
    assert value(-2.0, 0.0, 2.5, 0.3, 0.0) == 0.0
    assert value(1.0, 2.0, 3.0, 0.0, 0.0) == 0.0
    with mpmath.workdps(50):
        at_one = derivative(mpmath.hyp2f1, tuple(map(mpmath.mpf, (0.5, 0.25, 2.0, 1))), 2)
    assert value(0.5, 0.25, 2.0, 1.0, 2.0) == pytest.approx(float(at_one), rel=1e-14)
    assert value(1.0, 2.0, 3.0, 0.25, 3.0) == pytest.approx(2 / 3 * scipy.special.hyp2f1(2, 3, 4, 0.25), rel=1e-15)
    for arguments in (
        (1.0, 2.0, 3.0, 1.5, 0.0), (1.0, 2.0, -3.0, 0.5, 0.0), (1.0, 2.0, 3.0, 0.5, 4.0), (np.nan, 2.0, 3.0, 0.5, 1.0),
        (1.0, 2.0, 3.0, np.nan, 1.0), (1.0, 2.0, 3.0, -np.inf, 1.0), (2.0, 2.0, 3.0, 1.0, 1.0),
    ):  # fmt: skip
        assert np.isnan(value(*arguments)), arguments
    others = np.array([-1.0, 0.5, 2.5, 4.0, np.inf, np.nan])
    for z in (-3.0, 0.2, 0.9, 1.0):
        points = np.array([(0.5, 0.25, 2.0, z, other) for other in others]).T.copy()
        assert np.isnan(f(*points)).all() and np.isnan(aes.hyp2f1_der.impl(*points)).all(), z


def test_polygamma_functions():
    positive = [1e-300, 1e-5, 0.3, 1.0, 2.5, 11.99, 12.0, 100.0, 1e8]
    with mpmath.workdps(60):
        check(aes.tri_gamma, [(x,) for x in [*positive[1:], -0.5, -3.25, -1000.125]], lambda x: mpmath.psi(1, x), 4)
        points = [(n, x) for n in (0.0, 1.0, 2.0, 5.0, 30.0) for x in positive[1:] if (n + 1) * np.log10(x) < 290]
        check(aes.polygamma, points, lambda n, x: mpmath.psi(int(n), x), 12)
        check(aes.polygamma, [(n, x) for n in (1, 2, 3) for x in (-0.3, -5.7)], lambda n, x: mpmath.psi(int(n), x), 12)
    # Of large numbers, x**-n is a number where x**-(n + 1) is zero.
    large = [(n, 10.0 ** (300 / (n + share))) for n in (1.0, 2.0, 5.0, 30.0) for share in (0, 0.5, 1)]
    np.testing.assert_allclose(
        native(aes.polygamma)(*np.transpose(large)), [float(mpmath.psi(int(n), x)) for n, x in large], rtol=1e-13
    )
    edges = np.array([0.0, -0.0, -2.0, np.inf, np.nan, 1e-300])
    np.testing.assert_array_equal(native(aes.tri_gamma)(edges), [np.inf, np.inf, np.inf, 0.0, np.nan, np.inf])
    np.testing.assert_array_equal(trigamma_function(edges), [np.inf, np.inf, np.inf, 0.0, np.nan, np.inf])
    np.testing.assert_array_equal(polygamma_function(1.0, edges[:5]), trigamma_function(edges[:5]))


def test_zeta():
    s = np.array([1.0 + 1e-8, 1.5, 2.0, 3.0, 12.5, 60.0, 500.0])[:, None]
    q = np.array([1e-3, 0.5, 1.0, 3.3, 50.0, 1e3])
    np.testing.assert_allclose(hurwitz_zeta(s, q), scipy.special.zeta(s, q), rtol=8 * EPSILON)
    edges = [(1.0, 2.0), (0.5, 2.0), (2.0, 0.0), (2.0, -3.0), (2.5, -0.5), (np.nan, 1.0), (2.0, np.nan), (2.0, np.inf)]
    expected = [np.inf, np.nan, np.inf, np.inf, np.nan, np.nan, np.nan, 0.0]
    np.testing.assert_array_equal(hurwitz_zeta(*np.array(edges).T), expected)


def test_densities():
    with mpmath.workdps(60):

        def gamma_density(k, x):
            k, x = mpmath.mpf(k), mpmath.mpf(x)
            return x ** (k - 1) * mpmath.exp(-x) / mpmath.gamma(k)

        near = [(k, k * r) for k in (0.3, 1.0, 2.5, 14.0) for r in (1e-3, 0.5, 1.0, 3.0)]
        check(aes.gamma_density, near, gamma_density, 16)
        tiny = [(k, x) for k in (0.001, 0.1, 0.3, 0.45, 0.7, 1.3) for x in (1e-30, 1e-100, 1e-300)]
        check(aes.gamma_density, tiny, gamma_density, 16)
        # A relative error of x counts |x - k| times.
        large = [(k, k * (1 + s / k**0.5)) for k in (16.0, 300.0, 1e5, 1e9) for s in (-3, -1, 0, 1, 3)]
        check(aes.gamma_density, large, gamma_density, 32)
        check(aes.gamma_density, [(16.0, 1e-5), (150.0, 1.0), (150.0, 500.0), (0.5, 1e-300)], gamma_density, 1000)

        def beta_density(a, b, x):
            a, b, x = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
            return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)

        near = [(a, b, x) for a in (0.5, 1.0, 3.0, 14.0) for b in (0.7, 2.0, 12.0) for x in (1e-10, 0.1, 0.5, 0.99)]
        check(aes.beta_density, near, beta_density, 32)
        large = [
            (a, b, a / (a + b) * (1 + s / a**0.5))
            for a in (20.0, 1e3, 1e6)
            for b in (16.0, 5e3)
            for s in (-0.2, 0, 0.05)
        ]
        check(aes.beta_density, [p for p in large if p[2] < 1], beta_density, 256)
        one_small = [
            (a, b, min(a / (a + b) * ratio, 0.9))
            for a in (0.3, 2.0, 14.0)
            for b in (16.0, 1e3)
            for ratio in (1e-3, 0.3, 0.55, 0.95, 3.0)
        ]
        check(aes.beta_density, one_small, beta_density, 256)
        tiny = [(a, b, x) for a in (0.3, 1.0, 1.125, 1.5) for b in (0.7, 2.0, 300.0) for x in (1e-150, 1e-300, 5e-310)]
        check(aes.beta_density, [p for p in tiny if p[0] >= 1 or p[2] > 1e-308], beta_density, 64)


def test_densities_at_the_ends():
    k, x = (
        np.array([0.5, 1.0, 2.0, 2.0, 0.0, 2.0, np.nan, 40.0, 40.0]),
        np.array([0.0, 0, 0, np.inf, 1, -1, 1, 0, np.inf]),
    )
    for density in (native(aes.gamma_density), aes.gamma_density.impl):
        np.testing.assert_array_equal(density(k, x), [np.inf, 1, 0, 0, np.nan, np.nan, np.nan, 0, 0])
    a, b = np.array([0.5, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0]), np.array([3.0, 3.0, 3.0, 0.5, 1.0, 2.0, 2.0])
    x = np.array([0.0, 0, 0, 1, 1, 1, 1.5])
    for density in (native(aes.beta_density), aes.beta_density.impl):
        np.testing.assert_array_equal(density(a, b, x), [np.inf, 3, 0, np.inf, 3, 0, np.nan])


def test_gradients_of_quantiles_at_the_ends():
    k, p = at.dvectors("kp")
    out = Elemwise(aes.gammaincinv)(k, p)
    wrt_k, wrt_p = aesara.function([k, p], aesara.grad(out.sum(), [k, p]))(
        np.array([0.5, 2.0, 2.0]), np.array([0.0, 0.0, 1.0])
    )
    np.testing.assert_array_equal(wrt_k, 0)
    np.testing.assert_array_equal(wrt_p, [0, np.inf, np.inf])


def repeated_integrals_of_erfc(order, x):
    """Of orders from -1, DLMF 7.18.7."""
    found = [2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x), mpmath.erfc(x)]
    for k in range(1, order + 1):
        found.append(found[-2] / (2 * k) - x / k * found[-1])
    return found


ERFC_ARGUMENTS = [-300.0, -26.7, -5.0, -1e-10, 0.0, 0.5, 1.5, 1.99, 2.0, 2.01, 2.5, 4.0, 9.0, 27.0, 60.0]


@pytest.mark.slow
@pytest.mark.parametrize(("order", "ulps"), [(1, 16), (2, 128), (3, 512)])
def test_quotients_of_repeated_integrals_of_erfc(order, ulps):
    def truth(n, x):
        integrals = repeated_integrals_of_erfc(order, x)
        return integrals[order + 1] / integrals[order]

    with mpmath.workdps(4000):  # the recurrence cancels
        check(aes.erfc_ratio, [(float(order), x) for x in ERFC_ARGUMENTS], truth, ulps)


def test_quotients_of_repeated_integrals_of_erfc_far_out():
    n, x = np.array([(1.0, np.inf), (1.0, -np.inf), (2.0, 1e200), (2.0, -1e200), (1.0, -np.inf)]).T.copy()
    assert_close(native(aes.erfc_ratio)(n, x), [0, np.inf, 5e-201, 5e199, np.inf])
    n, x = np.array([(0.0, 1.0), (1.5, 1.0), (np.nan, 1.0), (np.inf, 1.0), (1e9, 5.0), (1.0, np.nan)]).T.copy()
    assert np.isnan(native(aes.erfc_ratio)(n, x)).all()
    assert np.isnan(aes.erfc_ratio.impl(n, x)).all()
