"""Routines of special functions beside mpmath, as functions of numbers: over their domains, at the ends and beyond."""

from __future__ import annotations

import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from aesara.scalar.routines.bessel import BESSEL, cos_pi, sin_pi
from aesara.scalar.routines.special_of_jax import ROUTINES

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

INF, NAN = math.inf, math.nan
UNIT = mpf(2) ** -53
#: what is nearer to 0 may be subnormal
TINY = 2.3e-308


def product(*axes):
    return list(itertools.product(*axes))


def change(truth, point, value):
    """Return the total change of a function for changes of its arguments by a unit in the last place."""
    moved = [[x * (1 + UNIT * (i == k)) for i, x in enumerate(point)] for k in range(len(point))]
    return sum(abs(truth(*arguments) - value) for arguments in moved)


def check(function, points, truth, units=60.0, change=change):
    """Compare with the truth, in units of the last places of the result and of the arguments."""
    found = function(*np.array(points, dtype="float64").T)
    with mpmath.workdps(40):
        for point, got in zip(points, map(float, found), strict=True):
            exact = [mpf(x) for x in point]
            value = truth(*exact)
            if abs(value) > 1e308:
                assert got == math.copysign(INF, value), (point, got, value)
                continue
            error, unit = abs(got - value), UNIT * abs(value) + change(truth, exact, value)
            assert error <= units * unit + 2 * TINY, (point, got, float(value), float(error / unit))


def check_inverse(function, points, forward, units=60.0):
    """Check that a function, of the last of its arguments, has the inverse that is found."""
    found = function(*np.array(points, dtype="float64").T)
    with mpmath.workdps(40):
        for (*rest, p), got in zip(points, map(float, found), strict=True):
            exact = [mpf(v) for v in rest]
            if got == 0:
                assert abs(forward(*exact, mpf(TINY)) - p) >= 0, (rest, p)
                continue
            value = forward(*exact, mpf(got))
            unit = UNIT * abs(mpf(p)) + change(lambda x, exact=exact: forward(*exact, x), [mpf(got)], value)
            assert abs(value - p) <= units * unit, (rest, p, got, float(abs(value - p) / unit))


# -- Bessel functions ------------------------------------------------------------------------------------------------

ORDERS = [0.0, 1e-5, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.75, 10.0, 33.25, 120.0]
ORDERS += [-1e-5, -0.25, -0.5, -0.75, -1.0, -1.25, -1.5, -2.0, -2.25, -7.0, -33.25]
RADII = [1e-200, 1e-90, 1e-49, 1e-5, 0.3, 1.0, 1.2, 1.9999, 2.0, 3.7, 10.0, 24.0, 26.0, 29.0, 31.0, 100.0, 700.0, 3e3]
WITH_SIGNS = [(v, sign * x) for v, x in product(ORDERS, RADII) for sign in (1, -1) if sign > 0 or v == int(v)]


@functools.cache
def bessel_k(v, x):
    return mpmath.besselk(v, x)


OF_ORDER = {
    "jv": (mpmath.besselj, WITH_SIGNS),
    "yv": (mpmath.bessely, product(ORDERS, RADII)),
    "iv": (mpmath.besseli, WITH_SIGNS),
    "ive": (lambda v, x: mpmath.besseli(v, x) * mpmath.exp(-abs(x)), WITH_SIGNS),
    "kv": (lambda v, x: bessel_k(abs(v), x), product(ORDERS, RADII)),
    "kve": (lambda v, x: bessel_k(abs(v), x) * mpmath.exp(x), product(ORDERS, RADII)),
}
#: by their names, the functions of fixed order: which function, of which order
FIXED = {
    "j0": ("jv", 0.0), "j1": ("jv", 1.0), "y0": ("yv", 0.0), "y1": ("yv", 1.0), "k0": ("kv", 0.0), "k1": ("kv", 1.0),
    "k0e": ("kve", 0.0), "k1e": ("kve", 1.0),
}  # fmt: skip


def change_in_size(truth, point, value):
    """Return the change of a Bessel function, or its amplitude near zeros."""
    v, x = map(abs, point)
    sizes = [abs(value)]
    if x > v and truth in (mpmath.besselj, mpmath.bessely):
        sizes.append(mpmath.sqrt(1 / x))
    elif point[0] < 0:
        sizes.append(abs(truth(v, x)))
    return UNIT * (v * (1 + abs(mpmath.log(x))) + x) * max(sizes)


@pytest.mark.parametrize("name", OF_ORDER)
def test_bessel_functions(name):
    truth, points = OF_ORDER[name]
    check(BESSEL[name], points, truth, change=change_in_size)
    assert BESSEL.keys() == OF_ORDER.keys() | FIXED.keys()


@pytest.mark.parametrize("name", FIXED)
def test_bessel_functions_of_fixed_orders(name):
    function, order = FIXED[name]
    x = np.array([-30.0, -1.0, 0.0, 1e-5, 0.3, 3.7, 30.0, INF, NAN])
    np.testing.assert_array_equal(BESSEL[name](x), BESSEL[function](order, x))


FAR = [(1e3, 900.0), (1e3, 1100.0), (2e3, 30.0), (300.0, 1e4), (400.0, 1e5), (3.5, 1e6), (0.0, 1e9)]


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "ive"])
def test_bessel_functions_of_large_orders_and_arguments(name):
    check(BESSEL[name], FAR, OF_ORDER[name][0], change=change_in_size)


def test_wronskian_of_modified_bessel_functions():
    v, x = np.array([*FAR, *((order, x) for order, x in product(ORDERS, RADII) if 0.1 < x and -0.5 < order)]).T
    (i, following_i), (k, following_k) = ((BESSEL[name](v, x), BESSEL[name](v + 1, x)) for name in ("ive", "kve"))
    known = (k < INF) & (i > 0) & (following_k < INF) & (following_i > 0)
    assert known.mean() > 0.8
    np.testing.assert_allclose((i * following_k + following_i * k)[known], 1 / x[known], rtol=1e-13)


@pytest.mark.parametrize("name", OF_ORDER)
def test_bessel_functions_that_would_take_too_long_are_nan(name):
    v, x = np.array([(1e5 + 1, 1.0), (2e5, 30.0), (-2e5, 30.0), (INF, 1.0), (1.1e3, 1.1e5), (-1.1e3, 1.1e5)]).T
    assert np.isnan(BESSEL[name](v, x)).all()


@pytest.mark.parametrize("name", OF_ORDER)
def test_bessel_functions_at_zero_have_their_limits(name):
    truth = OF_ORDER[name][0]
    for v in ORDERS:
        with mpmath.workdps(40):
            near = truth(mpf(v), mpf(10) ** -(10**8))
        limit = 1.0 if name[0] in "ij" and v == 0 else 0.0 if abs(near) < 1 else math.copysign(INF, near)
        assert BESSEL[name](v, 0.0) == BESSEL[name](v, -0.0) == limit, v


@pytest.mark.parametrize("name", OF_ORDER)
def test_bessel_functions_at_infinity_and_beyond_their_domains(name):
    function = BESSEL[name]
    limit = INF if name == "iv" else 0.0
    assert (function(np.array(ORDERS), INF) == limit).all()
    for v in (0.0, 1.0, -2.0, -3.0):
        signed = math.copysign(limit, (-1) ** v) if name[0] in "ij" else NAN
        np.testing.assert_array_equal(function(v, -INF), signed)
    fractions = np.array([v for v in ORDERS if v != int(v)])
    for x in (-1.0, -30.0, -INF):
        assert np.isnan(function(fractions, x)).all()
        assert name[0] in "ij" or np.isnan(function(np.array(ORDERS), x)).all()


def test_sine_and_cosine():
    x = [-1e15 - 0.25, -7.0, -2.5, -1.75, -0.3, -1e-20, 0.0, 1e-300, 0.2, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 3.5, 1e3 + 0.25]
    x += [2.0**51 + 0.5, 2.0**52 + 1, 2.0**53 + 2, 1e300]
    with mpmath.workdps(40):
        sines, cosines = ([float(f(mpf(v))) for v in x] for f in (mpmath.sinpi, mpmath.cospi))
    np.testing.assert_allclose(sin_pi(x), sines, rtol=4e-15)
    np.testing.assert_allclose(cos_pi(x), cosines, rtol=4e-15, atol=1e-16)


# -- other functions -------------------------------------------------------------------------------------------------

SIZES = [1e-10, 1e-5, 0.25, 0.5, 1.0, 2.0, 2.5, 3.75, 10.0, 19.0, 33.25, 50.0, 150.0, 1000.25, 1e6, 1e10, 1e10 + 0.5]
SIGNED = [*SIZES, *(-x for x in SIZES)]
SHAPES = [1e-10, 1e-3, 0.1, 0.29, 0.31, 0.5, 1.0, 2.5, 10.0, 33.25, 300.0, 9e3, 1.1e4]
AMOUNTS = [1e-300, 1e-10, 1e-3, 0.3, 0.9, 1.05, 1.15, 3.0, 10.0, 30.0, 40.0, 290.0, 350.0, 8.9e3, 1.1e4, 1.12e4]
LINE = [-1000.25, -30.3, -12.5, -5.75, -2.25, -1.9, -1.1, -1.0, -0.9, -0.5, -1e-5, -1e-200, 0.0, 1e-200, 1e-5, 0.3]
LINE += [0.37, 0.5, 0.69, 0.71, 0.99, 1.0, 1.01, 1.2, 1.31, 1.49, 1.51, 1.69, 1.71, 1.99, 2.0, 2.01, 2.29, 2.31, 3.7]
LINE += [5.5, 7.9, 8.1, 10.0, 26.0, 39.0, 41.0, 100.0, 699.0, 720.0, 799.0, 801.0, 1e4, 1e10]
RATIOS = product([1e-300, 1e-5, 0.3, 1.0, 1.9, 3.0, 1e3, 1e150], [1e-150, 1e-5, 0.3, 1.0, 1.1, 3.0, 1e5, 1e300])


def log_ndtr(x):
    tail = mpmath.erfc(abs(x) / mpmath.sqrt(2)) / 2
    return mpmath.log(tail) if x < 0 else mpmath.log1p(-tail)


def rel_entr(x, y):
    return x * mpmath.log(x / y)


def at_pole(x):
    return x <= 0 and x == int(x)


def gamma_lower(k, x):
    return mpmath.gammainc(k, 0, x, regularized=True)


def gamma_upper(k, x):
    return mpmath.gammainc(k, x, mpmath.inf, regularized=True)


PAIRS = product(SIGNED, SIGNED)
#: the truth, and where it is compared: not at poles, and not where rounding a sum may lead to one
FUNCTIONS = {
    "beta": (mpmath.beta, [p for p in PAIRS if not any(map(at_pole, (*p, sum(p))))]),
    "betaln": (
        lambda a, b: mpmath.log(abs(mpmath.beta(a, b))), [p for p in PAIRS if not any(map(at_pole, (*p, sum(p))))]
    ),
    "binom": (mpmath.binomial, [(n, k) for n, k in PAIRS if n > 0 or (n > -100 and not at_pole(n))]),
    "poch": (mpmath.rf, [(z, m) for z, m in PAIRS if at_pole(z) == at_pole(z + m)]),
    "gammaln": (lambda x: mpmath.re(mpmath.loggamma(x)), [(x,) for x in LINE if not at_pole(x)]),
    "psi": (lambda x: mpmath.psi(0, x), [(x,) for x in LINE if not at_pole(x)]),
    "gammainc": (gamma_lower, product(SHAPES, AMOUNTS)),
    "gammaincc": (gamma_upper, product(SHAPES, AMOUNTS)),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), [(x,) for x in LINE]),
    "log_ndtr": (log_ndtr, [(x,) for x in LINE]),
    "exp1": (mpmath.e1, [(x,) for x in LINE if x > 0]),
    "expi": (mpmath.ei, [(x,) for x in LINE if x]),
    "rel_entr": (rel_entr, RATIOS),
    "kl_div": (lambda x, y: rel_entr(x, y) - x + y, RATIOS),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    truth, points = FUNCTIONS[name]
    check(ROUTINES[name], points, truth, 200.0)


PORTIONS = [1e-300, 1e-20, 1e-10, 1e-5, 0.1, 0.4, 0.5, 0.7, 0.99, 1 - 1e-10]
OF_BETA = [(a, b, p) for a, b in product([0.3, 1.0, 2.5, 33.25], [0.3, 1.0, 2.5, 33.25]) for p in PORTIONS[1:]]
OF_BETA += [(1.0, 1e6, p) for p in PORTIONS[1:]]
#: the function of which each is the inverse
INVERSES = {
    "gammaincinv": (gamma_lower, product(SHAPES, PORTIONS)),
    "gammainccinv": (gamma_upper, product(SHAPES, PORTIONS)),
    "betaincinv": (lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True), OF_BETA),
    "betainccinv": (lambda a, b, x: mpmath.betainc(a, b, x, 1, regularized=True), OF_BETA),
    "erfinv": (mpmath.erf, [(y,) for y in (1e-300, 1e-5, 0.3, 0.5, 0.74, 0.76, 0.99, 1 - 1e-10, -0.3, -0.9)]),
    "erfcinv": (mpmath.erfc, [(y,) for y in (1e-300, 1e-5, 0.3, 0.49, 0.51, 0.99, 1.01, 1.49, 1.51, 1.9999)]),
}


@pytest.mark.parametrize("name", INVERSES)
def test_inverses(name):
    assert ROUTINES.keys() == FUNCTIONS.keys() | INVERSES.keys()
    forward, points = INVERSES[name]
    check_inverse(ROUTINES[name], points, forward, 1e5 if name.startswith("beta") else 400.0)


def test_quantiles_of_large_shapes():
    """The mean and the deviation are known, and the distribution is normal but for its third moment."""
    for k in (1e8, 1e10, 1e12, 1e14, 1e18):
        for name, sign in (("gammaincinv", -1), ("gammainccinv", 1)):
            for p, deviation in ((0.5, 0.0), (0.1, 1.2815515655446004), (1e-10, 6.361340902404056)):
                want = k + sign * k**0.5 * deviation + (deviation**2 - 1) / 3
                np.testing.assert_allclose(ROUTINES[name](k, p), want, rtol=20 * k**-1.5 + 1e-14)


#: what each is at the ends of its domain, and beyond
ENDS = {
    "beta": {(2.0, INF): 0.0, (INF, INF): 0.0, (-5.0, 3.0): -1 / 30, (3.0, -5.0): -1 / 30, (-2.0, 2.0): 0.5,
             (-1e10, 1.0): -1e-10, (1.0, -1e300): -1e-300, (-2.0, 3.0): INF, (-2.0, 0.5): INF, (0.0, 1.0): INF},
    "betaln": {(2.0, INF): -INF, (INF, INF): -INF, (-0.5, INF): INF, (-5.0, 3.0): -math.log(30.0),
               (-2.0, 3.0): INF, (-2.0, 0.5): INF, (0.0, 1.0): INF, (0.25, -33.0): INF, (0.5, -0.5): -INF},
    "binom": {(-3.0, 2.0): NAN, (5.0, 6.0): 0.0, (5.0, -1.0): 0.0, (0.5, -3.0): 0.0, (5.0, INF): 0.0, (5.0, -INF): 0.0,
              (0.5, -INF): 0.0, (50.0, 25.0): 126410606437752.0, (50.0, 48.0): 1225.0, (INF, 2.0): INF, (0.0, 0.0): 1.0,
              (30.0, 31.0): 0.0, (1e300, 0.5): 1.1283791670955126e150, (0.5, 1e300): 0.0, (1e-300, 1.0): 1e-300},
    "poch": {(0.0, 2.0): 0.0, (-3.0, 200.0): 0.0, (-3.0, 0.5): 0.0, (0.5, -2.5): INF, (3.0, -150.0): INF,
             (INF, 0.5): INF, (INF, -0.5): 0.0, (-2.5, INF): -INF, (2.0, INF): INF, (0.0, -3.0): -1 / 6,
             (-200.0, 100.5): 0.0, (5.0, -2.0): 1 / 12, (5.0, 0.0): 1.0, (-150.0, 150.0): 5.7133839564458505e262},
    "gammaln": {(0.0,): INF, (-2.0,): INF, (1.0,): 0.0, (2.0,): 0.0, (INF,): INF, (-INF,): -INF},
    "psi": {(0.0,): -INF, (-2.0,): NAN, (INF,): INF},
    "gammainc": {(0.0, 1.0): 1.0, (0.0, 0.0): NAN, (1.0, 0.0): 0.0, (1.0, INF): 1.0, (INF, 1.0): 0.0, (INF, INF): NAN,
                 (-1.0, 1.0): NAN, (1.0, -1.0): NAN, (2e4, 0.0): 0.0, (2e4, INF): 1.0, (0.0, INF): 1.0},
    "gammaincc": {(0.0, 1.0): 0.0, (0.0, 0.0): NAN, (1.0, 0.0): 1.0, (1.0, INF): 0.0, (INF, 1.0): 1.0, (INF, INF): NAN,
                  (-1.0, 1.0): NAN, (1.0, -1.0): NAN, (2e4, 0.0): 1.0, (2e4, INF): 0.0, (0.1, 0.0): 1.0},
    "gammaincinv": {(2.0, 0.0): 0.0, (2.0, 1.0): INF, (2.0, -0.1): NAN, (2.0, 1.1): NAN, (-1.0, 0.5): NAN,
                    (0.0, 0.5): NAN, (INF, 0.5): NAN, (1e-3, 0.1): 0.0},
    "gammainccinv": {(2.0, 0.0): INF, (2.0, 1.0): 0.0, (2.0, -0.1): NAN, (2.0, 1.1): NAN, (-1.0, 0.5): NAN,
                     (0.0, 0.5): NAN, (INF, 0.5): NAN, (1e-3, 0.9): 0.0},
    "betaincinv": {(2.0, 3.0, 0.0): 0.0, (2.0, 3.0, 1.0): 1.0, (2.0, 3.0, -0.1): NAN, (2.0, 3.0, 1.1): NAN,
                   (0.0, 3.0, 0.5): NAN, (2.0, 0.0, 0.5): NAN, (2.0, INF, 0.5): 0.0, (INF, 2.0, 0.5): 1.0,
                   (INF, INF, 0.5): NAN, (1e-3, 3.0, 0.1): 0.0},
    "betainccinv": {(2.0, 3.0, 0.0): 1.0, (2.0, 3.0, 1.0): 0.0, (2.0, 3.0, -0.1): NAN, (2.0, 3.0, 1.1): NAN,
                    (0.0, 3.0, 0.5): NAN, (2.0, 0.0, 0.5): NAN, (2.0, INF, 0.5): 0.0, (INF, 2.0, 0.5): 1.0,
                    (INF, INF, 0.5): NAN, (1e-3, 3.0, 0.9): 0.0},
    "erfinv": {(0.0,): 0.0, (1.0,): INF, (-1.0,): -INF, (1.1,): NAN, (-1.1,): NAN},
    "erfcinv": {(0.0,): INF, (1.0,): 0.0, (2.0,): -INF, (-0.1,): NAN, (2.1,): NAN},
    "erfcx": {(INF,): 0.0, (-INF,): INF, (0.0,): 1.0},
    "log_ndtr": {(INF,): 0.0, (-INF,): -INF},
    "exp1": {(0.0,): INF, (INF,): 0.0, (-1.0,): NAN, (-INF,): NAN},
    "expi": {(0.0,): -INF, (INF,): INF, (-INF,): 0.0},
    "rel_entr": {(0.0, 0.0): 0.0, (0.0, 2.0): 0.0, (2.0, 0.0): INF, (-1.0, 2.0): INF, (1.0, -2.0): INF,
                 (0.0, -1.0): INF, (0.0, INF): 0.0, (1e-300, 1e300): -1.3815510557964273e-297},
    "kl_div": {(0.0, 0.0): 0.0, (0.0, 2.0): 2.0, (2.0, 0.0): INF, (-1.0, 2.0): INF, (1.0, -2.0): INF, (0.0, -1.0): INF,
               (0.0, INF): INF, (1e-300, 1e300): 1e300},
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_domains(name):
    assert ENDS.keys() == ROUTINES.keys()
    points = np.array([*ENDS[name]]).T
    np.testing.assert_allclose(ROUTINES[name](*points), [*ENDS[name].values()], rtol=1e-12, atol=TINY)


def test_the_sign_of_zero():
    assert ROUTINES["psi"](-0.0) == INF and ROUTINES["expi"](-0.0) == -INF


@pytest.mark.parametrize("name", [*ROUTINES, *BESSEL])
def test_what_is_not_a_number_makes_no_number(name):
    function = {**ROUTINES, **BESSEL}[name]
    count = len(function.parameters)
    for position in range(count):
        for others in product(*[[-1.0, 0.0, 0.5, 1.0, 150.5, INF]] * (count - 1)):
            assert np.isnan(function(*np.insert(others, position, NAN))), (position, others)
