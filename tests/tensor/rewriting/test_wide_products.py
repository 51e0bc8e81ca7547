"""Products with functions that leave the range: in the order in which they are written."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.rewriting.wide_products import is_wide

RULES = aesara.Mode("py", "fast_run")

x, y, z = at.dvectors("xyz")
f, g = at.exp(x), at.cosh(y)

#: Products as they are written, and what is left of them.
ORDERS = {
    "a sign moves out": (-f / y / z, "((([-1.] * exp(x)) / y) / z)"),
    "nothing cancels": (f / (y / z / g), "(exp(x) / ((y / z) / cosh(y)))"),
    "a factor cancels": ((f * y) * (z / y), "(exp(x) * z)"),
    "a divisor cancels": ((z / y) * (f / x) * x / g, "(((z / y) * exp(x)) / cosh(y))"),
    "constants become larger than one": (0.5 * f / y / (z / 4) / x, "(((exp(x) / y) / (z / [2.])) / x)"),
    "constants become smaller": (6 * f / y / (z * 3), "((([2.] * exp(x)) / y) / z)"),
    "constants become larger": (2 * f / y / (z / 3), "([6.] * ((exp(x) / y) / z))"),
    "constants in a product": (2 * f * y * (x * 3 * g), "(((exp(x) * y) * (x * cosh(y))) * [6.])"),
    "negative constants": (-6 * f / y / (z * 3), "((([-2.] * exp(x)) / y) / z)"),
    "one over what is left": (y / f / y / z, "(([1.] / exp(x)) / z)"),
    "divisors wait for what they divide": (1 / y * (1 / z) * f, "((exp(x) / y) / z)"),
    "divided by a quotient": (y / (y / f / z), "(exp(x) * z)"),
}


@pytest.mark.parametrize("name", ORDERS)
def test_written_order(name):
    written, left = ORDERS[name]
    assert aesara.pprint(rewrite_graph(written, include=("canonicalize",))) == left


@pytest.mark.parametrize("exponent, wide", [(4, False), (-4, False), (5, True), (-5, True), (2.5, False), (y, True)])
def test_which_powers_may_leave_the_range(exponent, wide):
    assert is_wide(at.pow(x, exponent)) is wide
    assert is_wide(2.0 * at.pow(x, exponent).dimshuffle(0, "x")) is wide


#: Functions that come near to a limit, of what is infinite at zero.
STEEP = {
    "tanh(1/x)": at.tanh(1 / x),
    "erf(1/x)": at.erf(1 / x),
    "exp(-1/x)": at.exp(-1 / x),
    "tanh(log(x)/x)": at.tanh(at.log(x) / x),
}


@pytest.mark.parametrize("name", STEEP)
def test_what_underflows_is_not_divided_by_a_square_that_does(name):
    slope = aesara.grad(STEEP[name].sum(), x)
    found = aesara.function([x], slope, mode=RULES)([1e-300, 1e-200])
    assert (found == 0).all(), found


@pytest.mark.parametrize(
    ("written", "exponent"),
    [
        (x**2 * x / x**4, -1),
        (at.square(x**2) * x / at.square(at.square(x)), 1),
        (x**5 / x**2, 3),
        (x**3 / at.square(x) / x, 0),
    ],
)
def test_powers_of_one_base_cancel(written, exponent):
    """At 1e-80 and 1e80 the fourth power is not in the range, and at 1e-110 and 1e110 neither is the third."""
    values = np.array([-1e-80, 3.0, 1e80, *([1e-110, -1e110] if abs(exponent) == 1 else [])])
    found = aesara.function([x], written, mode=RULES)(values)
    np.testing.assert_allclose(found, values**exponent, rtol=1e-14)


@pytest.mark.parametrize(
    ("written", "left"),
    [(x**2 * y / x**3, "(y / x)"), (x**3 * y / x**2, "(y * x)"), (x**4 / x**2 / y, "((x ** [2.]) / y)")],
)
def test_the_first_power_is_the_base(written, left):
    assert aesara.pprint(rewrite_graph(written, include=("canonicalize",))) == left


def test_powers_that_are_not_whole_do_not_cancel():
    """They are NaN for negative numbers."""
    found = aesara.function([x], x**2.5 / x**2, mode=RULES)([-4.0, 4.0])
    np.testing.assert_array_equal(found, [np.nan, 2.0])


def test_draws_times_a_power():
    """Draws have a generator among their inputs, which has no dtype."""
    drawn = at.random.RandomStream(1).normal(size=(3,))
    with aesara.config.change_flags(on_opt_error="raise"):
        found = aesara.function([x], drawn * at.square(x), mode=RULES)(np.full(3, 2.0))
    numbers = np.random.default_rng(np.random.SeedSequence(1).spawn(1)[0]).normal(size=3)
    np.testing.assert_allclose(found, 4 * numbers, rtol=1e-15)
