"""Routines as scalar functions of the loop IR: they compute what the Python source computes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.interpret import run_function
from aesara.ir.text import parse_function, print_function
from aesara.ir.verify import verify_function
from aesara.lower.errors import Unsupported
from aesara.lower.routines import RoutineError, scalar_function
from aesara.scalar import BinaryScalarOp, upgrade_to_float
from aesara.scalar.routine import FloatRoutine, exp, floor, horner, isnan, lgamma, routine, sqrt, where
from aesara.scalar.routines import (
    betainc_derivative,
    erfc_ratio,
    gammainc_derivative,
    hyp2f1_derivative,
    polygamma_function,
)
from aesara.tensor.elemwise import Elemwise

LIMIT = 50.0
TABLE = (1.0, -0.5, 0.25)
POINTS = [0.0, -0.0, 0.5, 1.0, -1.0, 3.0, 7.25, -12.5, 1e10, math.inf, -math.inf, math.nan]


@routine
def square(x):
    return x * x


def plain(x, y):
    """An ordinary function is traced, with all of Python that does not depend on values."""
    total = 0.0
    for k in range(3):
        total = total + square(x) * k if k != 1 else total - y
    return total, [exp(-abs(y))][0]


@routine
def loops(x, y):
    n = total = 0.0
    while n < LIMIT and not isnan(x):
        n += 1.0
        inner = 0.0
        while inner < 3:
            total += x / n - inner
            inner += 1
        if total > 100.0:
            n = LIMIT
    return total + y


@routine
def branches(x, y):
    """With a docstring."""
    if x < 0.0:
        if y < 0.0:
            return -1.0
        part = x
    elif x == 0.0:
        part = y
    else:
        part = 5.0
        if y > 2.0:
            part *= 2.0
    if 0.0 < y <= 3.0 or isnan(y):
        return part
    y = y - part
    if y > 0.0:
        return y
    else:
        return -y


@routine
def exchanges(x, y):
    x, y = y, x
    a, b, c = x, y, x + y
    a, b = b + c, a
    return a - 2.0 * b


@routine
def expressions(x, y):
    first, second = plain(x, y)
    low, high = min(x, y, 1.0), max(x, y)
    chosen = low if x > y else high
    rest = x % 3.0 + x // 2.0 + (-y) ** 2 + +x
    return (
        first
        + second
        + where(x != y, chosen, math.pi)
        + horner(x, TABLE) * 0.1
        + floor(rest)
        + sqrt(abs(y))
        - lgamma(2.5)
    )


@pytest.mark.parametrize("function", [square, loops, branches, exchanges, expressions])
def test_translation_computes_what_the_source_does(function):
    translated = scalar_function(function)
    assert scalar_function(function) is translated
    verify_function(translated)
    assert parse_function(print_function(translated)) == translated
    count = len(function.parameters)
    x, y = (a.ravel() for a in np.meshgrid(POINTS, POINTS))
    expected = function(*(x, y)[:count])
    found = [run_function(translated, point[:count]) for point in zip(x, y)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)

    op = type(
        "Op", (BinaryScalarOp,), {"numpy": function, "native": function, "dtype": upgrade_to_float, "nin": count}
    )()
    inputs = [at.dvector(), at.dvector()][:count]
    compiled = aesara.function(inputs, Elemwise(op)(*inputs))
    assert not compiled._native.report.python_nodes
    np.testing.assert_allclose(compiled(*(x, y)[:count]), expected, rtol=1e-14)
    assert compiled(*[np.zeros(0)] * count).shape == (0,)


def test_narrower_floats_are_computed_in_double_precision():
    op = type("Op", (BinaryScalarOp,), {"numpy": loops, "native": loops, "dtype": upgrade_to_float})()
    x = np.array([0.1, 2.5, -3.0], "float32")
    inputs = [at.fvector(), at.TensorType("float16", (None,))()]
    compiled = aesara.function(inputs, Elemwise(op)(*inputs))
    result = compiled(x, x.astype("float16"))
    assert result.dtype == "float32"
    np.testing.assert_array_equal(result, loops(x, x.astype("float16")).astype("float32"))


@pytest.mark.parametrize(
    "function",
    [betainc_derivative, erfc_ratio, gammainc_derivative, hyp2f1_derivative, polygamma_function],
    ids=lambda f: f.name,
)
def test_the_routines_of_the_package_are_well_formed(function):
    translated = scalar_function(function)
    verify_function(translated)
    text = print_function(translated)
    assert parse_function(text) == translated
    assert max(map(len, text.split("\n"))) < 200


def holds_for(x):
    for _ in range(3):
        x = x + 1.0
    return x


def returns_in_loop(x):
    while x < 3.0:
        return x
    return 1.0


def may_end(x):
    if x > 1.0:
        return x


def may_end_in_the_first_branch(x):
    if x > 1.0:
        x = 1.0
    else:
        return x
    x = x + 1.0


def may_end_in_the_second_branch(x):
    if x > 1.0:
        return x
    else:
        if x < 0.0:
            return -x


def may_end_between(x):
    if x > 1.0:
        return x
    elif x > 0.0:
        x = 1.0
    else:
        return -x


def unset(x):
    if x > 1.0:
        y = 2.0
    return y


def two_kinds(x):
    y = x
    y = x > 1.0
    return y


def no_comparison(x):
    return 1.0 if x else 2.0


def returns_nothing(x):
    return


def returns_bool(x):
    return x > 1.0


def calls_anything(x):
    return print(x)


def decides(x):
    return deciding(x)


def deciding(x):
    return 1.0 if x > 1.0 else 2.0


def wrong_count(x):
    a, b = x, x, x
    return a + b


def sets_an_item(x):
    TABLE[0] = x
    return x


def compares_identity(x):
    return 1.0 if x is None else 2.0


def takes_text(x):
    return x + "1"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (holds_for, "a statement that routines cannot have, For"),
        (returns_in_loop, "a loop cannot be left by return"),
        (may_end, "it may end without a return"),
        (may_end_in_the_first_branch, "it may end without a return"),
        (may_end_in_the_second_branch, "it may end without a return"),
        (may_end_between, "it may end without a return"),
        (unset, "y has no value here; what is first set in a block"),
        (two_kinds, "y is float64, and is set to bool"),
        (no_comparison, "a condition must be a comparison"),
        (returns_nothing, "it must return a number"),
        (returns_bool, "it must return a number"),
        (calls_anything, "it calls print, which is no routine"),
        (decides, "cannot decide by a value; use `where`"),
        (wrong_count, "2 names cannot be set to"),
        (sets_an_item, "only names can be assigned to"),
        (compares_identity, "numbers are compared by"),
        (takes_text, "'1' is no number"),
    ],
)
def test_errors_say_what_and_where(function, message):
    with pytest.raises(RoutineError, match=message) as caught:
        scalar_function(FloatRoutine(function))
    if function not in (decides, takes_text):  # what fails there is Python's own evaluation
        assert f"Routine {function.__name__}: " in str(caught.value)
        assert "test_routines.py, line " in str(caught.value)


@pytest.mark.parametrize(("function", "line"), [(unset, 3), (two_kinds, 2), (holds_for, 1)])
def test_errors_say_which_line(function, line):
    with pytest.raises(RoutineError, match=rf", line {function.__code__.co_firstlineno + line}\)"):
        scalar_function(FloatRoutine(function))


def test_without_source_a_routine_runs_in_python():
    space = {}
    exec("def tripled(x):\n    return 3.0 * x", space)
    function = FloatRoutine(space["tripled"])
    with pytest.raises(Unsupported, match="the source of routine tripled is not available"):
        scalar_function(function)
    op = type("Op", (BinaryScalarOp,), {"numpy": function, "native": function, "dtype": upgrade_to_float, "nin": 1})()
    x = at.dvector()
    compiled = aesara.function([x], Elemwise(op)(x))
    assert list(compiled._native.report.python_nodes.values()) == ["the source of routine tripled is not available"]
    np.testing.assert_array_equal(compiled([1.0, 2.0]), [3.0, 6.0])
