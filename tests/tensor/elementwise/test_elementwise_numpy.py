"""Elementwise functions of NumPy beyond the documented ones, and their names."""

import mpmath
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from tests.closeness import assert_close
from tests.tensor.against_numpy import compare, drawn

FLOATS = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e30, -1e-30, 7, 1e-3, 12345.679])
INTEGERS = np.array([0, 1, -1, 5, -100, 127, -128, 3])
UNARY = [
    "isfinite",
    "signbit",
    "cbrt",
    "sinc",
    "isposinf",
    "isneginf",
    "isreal",
    "iscomplex",
    "logical_not",
    "rint",
    "fix",
    "fabs",
    "positive",
    "nan_to_num",
    "modf",
]
BINARY = [
    "copysign",
    "heaviside",
    "fmod",
    "fmax",
    "fmin",
    "hypot",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logaddexp2",
]


def values(dtype):
    return (FLOATS if dtype[0] == "f" else INTEGERS).astype(dtype)


def pairs(dtype):
    return [grid.ravel() for grid in np.meshgrid(values(dtype), values(dtype))]


def exact_sinc(x):
    """NumPy's rounds the angle: it is not zero at whole numbers."""
    with mpmath.workdps(60):
        found = [float(mpmath.sincpi(float(v))) if np.isfinite(v) else np.nan for v in x.ravel()]
    return np.reshape(found, x.shape).astype(np.sinc(x).dtype)


def oracle(name, dtype):
    """The function of NumPy; narrow integers as float32, where that takes float16."""

    def function(*args):
        with np.errstate(all="ignore"):
            if name == "fix" and args[0].dtype.kind == "i":
                return args[0]  # NumPy 1 makes floating-point numbers of them
            result = exact_sinc(*args) if name == "sinc" else getattr(np, name)(*args)
            narrow = np.asarray(result[0] if isinstance(result, tuple) else result).dtype == "float16"
            return getattr(np, name)(*[x.astype("float32") for x in args]) if narrow else result

    return function


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "int64"])
def test_unary_functions_agree_with_numpy(name, dtype):
    compare(
        getattr(at, name),
        oracle(name, dtype),
        values(dtype),
        gradient=False,
        rtol=1e-15 if dtype == "float64" else 3e-7,
    )


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "int64", "uint8"])
def test_binary_functions_agree_with_numpy(name, dtype):
    compare(
        getattr(at, name),
        oracle(name, dtype),
        *pairs(dtype),
        gradient=False,
        rtol=1e-15 if dtype in ("float64", "int64") else 3e-7,
    )


@pytest.mark.parametrize("name", ["left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16"])
def test_shifts(name, dtype):
    x, places = np.meshgrid(values(dtype), np.array([0, 1, 3, 7, 8, 70], dtype=dtype))
    compare(getattr(at, name), lambda x, y: getattr(np, name.removeprefix("bitwise_"))(x, y), x, places)
    with pytest.raises(TypeError, match="only integers"):
        at.left_shift(at.vector(), 1)


def test_signs_of_zero():
    x = at.dvector("x")
    for mode in (None, "FAST_COMPILE"):
        f = aesara.function(
            [x], [at.copysign(3.0, x), at.signbit(x), at.fmod(x, 2.0), at.cbrt(x), *at.modf(x)], mode=mode
        )
        given = np.array([0.0, -0.0, -4.0, 4.0])
        for got, want in zip(
            f(given), [np.copysign(3.0, given), np.signbit(given), np.fmod(given, 2), np.cbrt(given), *np.modf(given)]
        ):
            np.testing.assert_allclose(got, want, rtol=1e-15)
            if want.dtype == "float64":
                np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("name", ["copysign", "fmod", "fmax", "fmin", "hypot", "logaddexp2"])
def test_gradients_of_two(name):
    rng = np.random.default_rng(0)
    verify_grad(getattr(at, name), [rng.uniform(0.3, 3, (3, 2)) * [1, -1], rng.uniform(0.5, 2, (3, 2))], rng=rng)


@pytest.mark.parametrize("name", ["cbrt", "sinc", "fabs", "nan_to_num", "positive"])
def test_gradients_of_one(name):
    rng = np.random.default_rng(0)
    verify_grad(getattr(at, name), [rng.uniform(0.3, 3, (3, 2)) * [1, -1]], rng=rng)


def test_gradients_at_zero():
    rng = np.random.default_rng(0)
    verify_grad(at.sinc, [np.array([0.0, 1e-3, 0.0099, 0.0101, -0.005])], rng=rng)
    x, y = at.dscalars("x", "y")
    for gradient in aesara.grad(at.hypot(x, y), [x, y]):
        assert gradient.eval({x: 0.0, y: 0.0}) == 0


def test_large_numbers():
    assert_close(at.hypot([1e300, 1e-300], [1e300, 1e-300]).eval(), np.hypot([1e300, 1e-300], [1e300, 1e-300]))
    assert_close(at.logaddexp2(2000.0, 2000.0).eval(), 2001.0)


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_around_agrees_with_numpy(decimals, dtype):
    (x,) = drawn(dtype, (20,))
    compare(lambda x: at.around(x, decimals), lambda x: np.around(x, decimals), x * 100, gradient=False)
    with pytest.raises(TypeError, match="integer"):
        at.around(at.vector(), 1.5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32"])
def test_nan_to_num(dtype):
    x = np.array([1, 5, -2] if dtype == "int32" else [1, np.nan, np.inf, -np.inf, -0.0]).astype(dtype)
    compare(
        lambda x: at.nan_to_num(x, 1, 2, 3),
        lambda x: np.nan_to_num(x, nan=1, posinf=2, neginf=3),
        x,
        unknown=False,
        gradient=False,
    )


def test_complex_numbers():
    x = np.array([1 + 0j, 1j, np.nan, complex(np.inf, 1)])
    for name in ("isreal", "iscomplex", "isfinite", "rint", "logical_not"):
        np.testing.assert_array_equal(getattr(at, name)(x).eval(), getattr(np, name)(x))
    for name in ("isposinf", "fabs", "modf", "fix", "logaddexp2"):
        with pytest.raises(TypeError):
            getattr(at, name)(*[at.zvector()] * (2 if name == "logaddexp2" else 1))


def test_float_power():
    compare(at.float_power, np.float_power, np.array([2, 4, -1]), np.array([-1, 2, 3]))
    compare(
        at.float_power,
        np.float_power,
        np.array([2, 4], dtype="float32"),
        np.array([0.5, 0.25], dtype="float32"),
        rtol=1e-12,
    )
    assert at.float_power(at.cvector(), 2).type.dtype == "complex128"


@pytest.mark.parametrize(
    "name, same",
    [
        ("equal", "eq"), ("not_equal", "neq"), ("greater", "gt"), ("greater_equal", "ge"), ("less", "lt"),
        ("less_equal", "le"),
        ("absolute", "abs"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "true_divide"), ("negative", "neg"),
        ("remainder", "mod"), ("sign", "sgn"), ("degrees", "rad2deg"), ("radians", "deg2rad"),
        ("bitwise_invert", "invert"),
        ("acos", "arccos"), ("acosh", "arccosh"), ("asin", "arcsin"), ("asinh", "arcsinh"), ("atan", "arctan"),
        ("atan2", "arctan2"), ("atanh", "arctanh"),
    ],
)  # fmt: skip
def test_aliases_are_the_same_function(name, same):
    assert getattr(at, name) is getattr(at, same)


def test_constants_of_numpy():
    assert (at.pi, at.e, at.inf, at.euler_gamma, at.newaxis) == (np.pi, np.e, np.inf, np.euler_gamma, None)
    assert np.isnan(at.nan)
    assert at.vector()[:, at.newaxis].type.shape == (None, 1)


def test_positive_refuses_booleans():
    with pytest.raises(TypeError, match="no sign"):
        at.positive(at.vector(dtype="bool"))
