"""Derivatives at zero of quotients that are differentiated in other forms, against series, and values far from zero."""

import mpmath
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor.rewriting.algebra import multiple

AS_WRITTEN = Mode("py", None)

#: a function of tensors, and the same of mpmath's numbers
FUNCTIONS = {
    "2 / cosh(x/2)": (lambda x: 1 / (at.cosh(x / 2) / 2), lambda x: 2 / mpmath.cosh(x / 2)),
    "sinh(x) / cosh(x/2)**2": (
        lambda x: at.sinh(x) / at.cosh(x / 2) ** 2,
        lambda x: mpmath.sinh(x) / mpmath.cosh(x / 2) ** 2,
    ),
    "softplus(x) / cosh(x/2)": (
        lambda x: at.softplus(x) / (at.cosh(x / 2) / 2),
        lambda x: 2 * mpmath.log1p(mpmath.exp(x)) / mpmath.cosh(x / 2),
    ),
    "expm1(x) / cosh(x/2)": (lambda x: at.expm1(x) / at.cosh(x / 2), lambda x: mpmath.expm1(x) / mpmath.cosh(x / 2)),
    "tanh(x) / cosh(x/2)": (
        lambda x: at.tanh(x) / (at.cosh(x / 2) / 2),
        lambda x: 2 * mpmath.tanh(x) / mpmath.cosh(x / 2),
    ),
    "exp(x) * (1 + exp(x))**-2": (
        lambda x: at.exp(x) * (1 + at.exp(x)) ** -2,
        lambda x: mpmath.exp(x) / (1 + mpmath.exp(x)) ** 2,
    ),
    "expm1(x) / (1 + exp(x))": (lambda x: at.expm1(x) / (1 + at.exp(x)), lambda x: mpmath.tanh(x / 2)),
}


@pytest.mark.parametrize("point", [0.0, 0.5, -3.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_each_order(name, point):
    of_tensors, of_numbers = FUNCTIONS[name]
    x = at.dscalar("x")
    derivative, found = of_tensors(x), []
    for _ in range(4):
        found.append(float(aesara.function([x], derivative)(point)))
        derivative = aesara.grad(derivative, x)
    with mpmath.workdps(50):
        wanted = [float(mpmath.diff(of_numbers, mpmath.mpf(point), n)) for n in range(4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


#: Quotients and products that leave the range where their values do not.
QUOTIENTS = {
    "exp(x) / expm1(x)": (lambda x: at.exp(x) / at.expm1(x), lambda x: 1 / -mpmath.expm1(-x)),
    "sinh(x) / cosh(x)": (lambda x: at.sinh(x) / at.cosh(x), mpmath.tanh),
    "cosh(x) / sinh(x)": (lambda x: at.cosh(x) / at.sinh(x), mpmath.coth),
    "exp(x) / cosh(x)": (lambda x: at.exp(x) / at.cosh(x), lambda x: 2 / (1 + mpmath.exp(-2 * x))),
    "exp(-x) / cosh(x)": (lambda x: at.exp(-x) / at.cosh(x), lambda x: 2 / (1 + mpmath.exp(2 * x))),
    "exp(x) / cosh(-x)": (lambda x: at.exp(x) / at.cosh(-x), lambda x: 2 / (1 + mpmath.exp(-2 * x))),
    "expm1(x) * sigmoid(-x)": (lambda x: at.expm1(x) * at.sigmoid(-x), lambda x: mpmath.tanh(x / 2)),
    "exp(x) * sigmoid(-x)": (lambda x: at.exp(x) * at.sigmoid(-x), lambda x: 1 / (1 + mpmath.exp(-x))),
    "exp(x) * (1 + exp(x))**-2": (
        lambda x: at.exp(x) * (1 + at.exp(x)) ** -2,
        lambda x: 1 / (2 + mpmath.exp(x) + mpmath.exp(-x)),
    ),
    "sigmoid(x) * exp(-x)": (lambda x: at.sigmoid(x) * at.exp(-x), lambda x: 1 / (1 + mpmath.exp(x))),
}


@pytest.mark.parametrize(
    "dtype, far", [("float64", (300.0, 400.0, 800.0, 1500.0)), ("float32", (40.0, 50.0, 90.0, 200.0))]
)
@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_far_from_zero(name, dtype, far):
    of_tensors, of_numbers = QUOTIENTS[name]
    x = at.vector("x", dtype=dtype)
    points = np.array([*far, *(-v for v in far), 0.75, -3.0], dtype=dtype)
    found = aesara.function([x], of_tensors(x))(points)
    with mpmath.workdps(50):
        wanted = np.array([float(of_numbers(mpmath.mpf(float(v)))) for v in points])
    info = np.finfo(dtype)
    np.testing.assert_allclose(found, wanted, rtol=32 * info.eps, atol=info.tiny)


def test_quotients_of_integers_at_their_limits():
    """The negative of -128 wraps around in eight bits."""
    x = at.vector("x", dtype="int8")
    values = np.arange(-128, 128).astype("int8")
    for build in (lambda x: at.exp(-x) * at.sigmoid(x), lambda x: at.exp(x) * at.sigmoid(-x)):
        found, written = (aesara.function([x], build(x), mode=mode)(values) for mode in ("FAST_RUN", AS_WRITTEN))
        np.testing.assert_allclose(found, written, rtol=4 * np.finfo(found.dtype).eps)


def test_what_is_a_multiple_of_another_variable_of_its_type():
    x, single, number = at.dvector("x"), at.fvector("single"), at.dscalar("number")
    for value, expected in (
        (x * 3.0, (3.0, x)), (-x / 4.0, (-0.25, x)), (2.0 * -(x * 3.0), (-6.0, x)), (x, (1.0, x)),
        (single * np.float32(3), (3.0, single)),
    ):  # fmt: skip
        assert multiple(value) == expected
    for value in (at.constant(3.0, dtype="float64") * single, at.constant([3.0, 3.0]) * number, x * x, x / x):
        assert multiple(value) == (1.0, value)
