"""Products and quotients with a `switch` that has a branch of zeros: NaN and infinity of the rest stay."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor.rewriting.arithmetic import local_div_switch_sink, local_mul_switch_sink

C = np.array([True, True, True, True, False, False, False])
X = np.array([1.0, 2.0, np.inf, np.nan, 0.0, 2.0, np.inf])
Y = np.array([0.0, np.inf, np.nan, 3.0, 0.0, np.nan, np.inf])
MODES = {"native": None, "rewritten": Mode("py", "fast_run"), "FAST_COMPILE": "FAST_COMPILE"}
EXPRESSIONS = {
    "quotient": lambda c, x, y: at.switch(c, 0, x) / y,
    "of the other branch": lambda c, x, y: at.switch(c, x, 0.0) / y,
    "negated": lambda c, x, y: -at.switch(c, 0, x) / y,
    "divided twice": lambda c, x, y: at.switch(c, 0, x) / y / 3,
    "floor": lambda c, x, y: at.switch(c, np.float64(0), x) // y,
    "product": lambda c, x, y: at.switch(c, 0, x) * y,
    "factors": lambda c, x, y: 2 * y * at.switch(c, x, 0) * 3,
    "reciprocal": lambda c, x, y: at.switch(c, 0, x) * (1 / y),
    "of a sum": lambda c, x, y: (at.switch(c, 0, x) + at.switch(c, 0, y)) / y,
    "by a number": lambda c, x, y: at.switch(c, 0, x) / 4 + at.switch(c, x, 0) * 8,
    "by zero": lambda c, x, y: at.switch(c, 0, x) / at.zeros_like(y).astype("float64"),
    "by infinity": lambda c, x, y: at.switch(c, 0, x) * np.inf,
    "of two conditions": lambda c, x, y: at.switch(c, 0, x) / at.switch(y > 0, y, 0),
    "zeros of an allocation": lambda c, x, y: at.switch(c, at.zeros((7,)), x) * y,
    "in a sum": lambda c, x, y: at.sum(at.switch(c, 0, x) / y),
    "masked": lambda c, x, y: (c * x) / y,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_values_of_branches_that_are_zero(name, mode):
    c, x, y = at.vector("c", dtype="bool"), at.dvector("x"), at.dvector("y")
    out = EXPRESSIONS[name](c, x, y)
    expected = aesara.function([c, x, y], out, mode=Mode("py", None), on_unused_input="ignore")
    found = aesara.function([c, x, y], out, mode=MODES[mode], on_unused_input="ignore")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found(C, X, Y), expected(C, X, Y))


SINGULAR = {
    "sqrt": (lambda x: at.switch(x > 0, at.sqrt(x), 0), lambda x: 0.5 / np.sqrt(x)),
    "log": (lambda x: at.switch(x > 0, x * at.log(x), 0.0), lambda x: np.log(x) + 1),
    "reciprocal": (lambda x: at.switch(x > 0, 1 / x, 0) * 3, lambda x: -3 / x**2),
    "power": (lambda x: at.exp(at.switch(x > 0, x**-0.5, 0)), lambda x: -0.5 * x**-1.5 * np.exp(x**-0.5)),
    "nested": (lambda x: at.switch(x > 0, at.switch(x > 0, at.log(x), x), 0), lambda x: 1 / x),
    "product": (
        lambda x: at.switch(x > 0, at.log(x), 0) * at.switch(x > 0, at.sqrt(x), 0),
        lambda x: (1 + np.log(x) / 2) / np.sqrt(x),
    ),
    "clip": (lambda x: at.clip(at.log(x), 0.0, 9.0), lambda x: np.where(x > 1, 1 / x, 0)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SINGULAR)
def test_gradients_of_branches_that_are_not_taken(name, mode):
    function, slope = SINGULAR[name]
    x = at.dvector("x")
    first = aesara.grad(function(x).sum(), x)
    second = aesara.grad(first.sum(), x)
    values = np.array([0.0, 0.25, 2.0])
    slopes, curvatures = aesara.function([x], [first, second], mode=MODES[mode])(values)
    np.testing.assert_allclose(slopes, [0, *slope(values[1:])], rtol=1e-12)
    step = 1e-5
    np.testing.assert_allclose(
        curvatures, [0, *(slope(values[1:] + step) - slope(values[1:] - step)) / (2 * step)], rtol=1e-7, atol=1e-9
    )


def test_choices_move_where_nothing_is_lost():
    c, x, y = at.vector("c", dtype="bool"), at.dvector("x"), at.dvector("y")
    choice = at.switch(c, 0, x)
    for rewriter, moves, stays in (
        (local_mul_switch_sink, [choice * 2.0, (y > 0) * choice], [choice * y, choice * np.inf, choice * 2.0 * y]),
        (local_div_switch_sink, [choice / 2.0, choice / np.inf], [choice / y, choice / 0.0, choice / np.nan]),
    ):
        assert all(rewriter.transform(None, z.owner) for z in moves)
        assert not any(rewriter.transform(None, z.owner) for z in stays)


def test_choices_on_one_condition_are_divided_as_one():
    """Here 0 is divided by an expression, which is 0 by `local_zero_div`."""
    c, x = at.dmatrix("c"), at.dmatrix("x")
    quotient = at.switch(c > 0, 1.0 * x, 0.0 * x) / at.switch(c > 0, 1.0 * x, at.log(x) * x)
    given = np.array([[0.1, 0, 1, -1], [0.0, 0.0, 0.0, 0.0], [1, 1, 1, 1]])
    np.testing.assert_array_equal(aesara.function([c, x], quotient)(given, np.ones((3, 4))), given > 0)
