"""Complex forms of scalar ops, computed by NumPy's real functions on the parts and compared with exact values."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import aesara.scalar as aes
from aesara.graph.nodes import Constant
from aesara.graph.traversal import io_toposort
from aesara.scalar import complex_functions  # noqa: F401  # declares forms
from aesara.scalar.complex_forms import Parts, complex_decomposition, complex_form
from aesara.scalar.types import get_scalar_type

INF, NAN = np.inf, np.nan


def by_parts(op, *values):
    """The value of an op from the real ops of its decomposition."""
    values = [np.asarray(v) for v in values]
    types = [get_scalar_type(dtype=str(v.dtype)) for v in values]
    operands, known = [], {}
    for t, v in zip(types, values, strict=True):
        if t.is_complex:
            part = get_scalar_type(dtype=str(v.real.dtype))
            operands.append(Parts(part(), part()))
            known |= {operands[-1].re: v.real, operands[-1].im: v.imag}
        else:
            operands.append(t())
            known[operands[-1]] = v
    (result,) = complex_decomposition(op, operands, types)
    outputs = list(result) if isinstance(result, Parts) else [result]
    for node in io_toposort(list(known), outputs):
        arguments = [v.data if isinstance(v, Constant) else known[v] for v in node.inputs]
        found = node.op.evaluate(arguments, [v.type for v in node.inputs], [v.type for v in node.outputs])
        known.update(zip(node.outputs, found, strict=True))
    parts = [v.data if isinstance(v, Constant) else known[v] for v in outputs]
    if len(parts) == 1:
        return np.asarray(parts[0])
    shape = np.broadcast_shapes(*map(np.shape, parts))
    combined = np.empty(shape, np.result_type(*(np.asarray(p).dtype for p in parts), np.complex64))
    combined.real, combined.imag = parts
    return combined


def points(count=150):
    """Numbers of all sizes and directions: near the unit circle, near the axes, near 1 and -1."""
    rng = np.random.default_rng(5)
    turn = np.exp(1j * rng.uniform(-np.pi, np.pi, count))
    ring = (1 + rng.normal(size=count) * 10.0 ** rng.uniform(-16, 0, count)) * turn
    flat = rng.normal(size=count) + 1j * rng.normal(size=count) * 10.0 ** rng.uniform(-20, 0, count)
    poles = rng.choice([-1, 1], count) + 10.0 ** rng.uniform(-17, 0, count) * turn
    return np.concatenate([np.exp(rng.uniform(-30, 6, count)) * turn, ring, flat, flat.imag + 1j * flat.real, poles])


EXACT = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "log1p": lambda z: mpmath.log(1 + z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "arcsin": mpmath.asin,
    "arccos": mpmath.acos,
    "arctan": mpmath.atan,
    "arcsinh": mpmath.asinh,
    "arccosh": mpmath.acosh,
    "arctanh": mpmath.atanh,
    "reciprocal": lambda z: 1 / z,
    "abs": abs,
}


def ulps(got, exact):
    """Distances of floats from exact values, in units of the last place."""
    worst = 0.0
    for g, e in zip(got, exact, strict=True):
        size = abs(float(e))
        if size > 1e-300:
            worst = max(worst, abs(float((mpmath.mpf(float(g)) - e) / mpmath.mpf(float(np.spacing(size))))))
    return worst


@pytest.mark.parametrize("name", EXACT)
def test_each_part_is_accurate_to_few_units(name):
    z = points()
    got = by_parts(getattr(aes, name), z)
    with mpmath.workprec(250):
        exact = [mpmath.mpc(EXACT[name](mpmath.mpc(v.real, v.imag))) for v in z]
        assert ulps(got.real, [v.real for v in exact]) < 8
        if np.iscomplexobj(got):
            assert ulps(got.imag, [v.imag for v in exact]) < 8


@pytest.mark.parametrize("name", EXACT)
def test_single_precision_is_rounded_from_double(name):
    z = points(60).astype("complex64")
    got = by_parts(getattr(aes, name), z)
    wide = by_parts(getattr(aes, name), z.astype("complex128"))
    assert got.dtype == ("float32" if name == "abs" else "complex64")
    with np.errstate(over="ignore"):
        if name == "reciprocal":
            np.testing.assert_allclose(got, wide, rtol=1e-6)
        else:
            np.testing.assert_array_equal(got, wide.astype(got.dtype))


@pytest.mark.parametrize(("name", "exact"), [
    ("expm1", lambda z: mpmath.expm1(z)),
    ("sigmoid", lambda z: 1 / (1 + mpmath.exp(-z))),
    ("softplus", lambda z: mpmath.log(1 + mpmath.exp(z))),
    ("exp2", lambda z: mpmath.power(2, z)),
    ("square", lambda z: z * z),
    ("log1mexp", lambda z: mpmath.log(1 - mpmath.exp(z))),
])  # fmt: skip
def test_others_are_accurate_as_complex_numbers(name, exact):
    z = points()
    z = z[(abs(z) < 20) & (abs(z) > 1e-8)]
    got = by_parts(getattr(aes, name), z)
    with mpmath.workprec(250):
        for v, g in zip(z, got, strict=True):
            e = exact(mpmath.mpc(v.real, v.imag))
            assert abs(mpmath.mpc(g.real, g.imag) - e) < 3e-14 * abs(e)


GRID = np.array([0.0, -0.0, 1, -1, 2.5, -0.5, INF, -INF, NAN, 1e308, -1e308, 1e-308, 1e160, -1e160, 710, -710, 30])


@pytest.mark.parametrize("name", sorted(EXACT.keys() - {"log1p"}))
def test_special_values_are_those_of_numpy(name):
    re, im = map(np.ravel, np.meshgrid(GRID, GRID))
    if name == "arccosh":  # at 0 + i NaN, a correction of the standard has changed the value
        kept = ~((re == 0) & np.isnan(im))
        re, im = re[kept], im[kept]
    z = np.empty(re.size, complex)
    z.real, z.imag = re, im
    with np.errstate(all="ignore"):
        got, expected = by_parts(getattr(aes, name), z), getattr(np, name)(z)
    for part in ("real", "imag"):
        a, b = getattr(got, part), getattr(expected, part)
        np.testing.assert_allclose(abs(a), abs(b), rtol=2e-15, atol=1e-323)
        # where a part of the operand has no direction, C99 leaves signs open
        tame = np.isfinite(im) & np.isfinite(re)
        np.testing.assert_array_equal(np.signbit(a[tame]), np.signbit(b[tame]))


@pytest.mark.parametrize(("name", "value", "expected"), [
    ("expm1", complex(INF, 0.0), complex(INF, 0)),
    ("expm1", complex(0.0, -0.0), complex(0, -0.0)),
    ("log1p", complex(1e-308, 0.0), complex(1e-308, 0)),
    ("log1p", complex(-1, 0.0), complex(-INF, 0)),
    ("log1p", complex(-3, -0.0), complex(np.log(2), -np.pi)),
    ("sigmoid", complex(-800, 1), complex(0, 0)),
    ("sigmoid", complex(800, 1), complex(1, 0)),
    ("softplus", complex(800, 0.5), complex(800, 0.5)),
])  # fmt: skip
def test_special_values_where_numpy_has_none(name, value, expected):
    got = by_parts(getattr(aes, name), np.complex128(value))
    np.testing.assert_allclose([got.real, got.imag], [expected.real, expected.imag], rtol=1e-15)


# -- two operands --------------------------------------------------------------------------------------------------


def test_quotients():
    rng = np.random.default_rng(0)
    z, w = (rng.normal(size=(2, 500)) + 1j * rng.normal(size=(2, 500))) * 10.0 ** rng.uniform(-150, 150, (2, 500))
    np.testing.assert_allclose(by_parts(aes.true_divide, z, w), z / w, rtol=1e-15)
    parts = np.array([0.0, -0.0, 1, -2.5, INF, -INF, NAN])
    grid = [complex(a, b) for a in parts for b in parts]
    z, w = map(np.ravel, np.meshgrid(grid, grid))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(by_parts(aes.true_divide, z, w), z / w)


def test_powers():
    rng = np.random.default_rng(1)
    z, w = rng.normal(size=(2, 400)) + 1j * rng.normal(size=(2, 400))
    np.testing.assert_allclose(by_parts(aes.pow, z, w), np.power(z, w), rtol=2e-14)
    for whole in (rng.integers(-99, 100, 400), rng.integers(-3, 4, 400), np.full(400, 150)):
        np.testing.assert_allclose(by_parts(aes.pow, z, whole + 0j), np.power(z, whole + 0j), rtol=1e-12)
        np.testing.assert_allclose(by_parts(aes.pow, z, whole), np.power(z, whole + 0j), rtol=1e-12)
    assert by_parts(aes.pow, np.complex128(1 + 2j), np.complex128(2)) == -3 + 4j
    assert by_parts(aes.pow, np.complex128(1 + 2j), np.complex128(1)) == 1 + 2j
    zero = np.zeros(4, complex)
    with np.errstate(all="ignore"):
        exponents = np.array([0, 2, -1, 1j])
        np.testing.assert_array_equal(by_parts(aes.pow, zero, exponents), np.power(zero, exponents))


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "neq", "maximum", "minimum"])
def test_order_is_that_of_numpy(name):
    parts = [0.0, -0.0, 1, 2, INF, -INF, NAN]
    grid = [complex(a, b) for a in parts for b in parts]
    z, w = map(np.ravel, np.meshgrid(grid, grid))
    op = {"maximum": aes.scalar_maximum, "minimum": aes.scalar_minimum}.get(name) or getattr(aes, name)
    numpy_names = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal"}
    with np.errstate(invalid="ignore"):
        expected = getattr(np, numpy_names.get(name, name if name != "neq" else "not_equal"))(z, w)
    np.testing.assert_array_equal(by_parts(op, z, w), expected)


@pytest.mark.parametrize("op", [aes.add, aes.sub, aes.mul, aes.second, aes.true_divide])
@pytest.mark.parametrize("other", ["int8", "float32", "float64", "complex64"])
def test_operands_are_converted_as_numpy_does(op, other):
    z = points(20)[:40].astype("complex64")
    w = np.arange(1, len(z) + 1).astype(other)
    for values in ((z, w), (w, z)):
        types = [get_scalar_type(dtype=str(v.dtype)) for v in values]
        if not any(t.is_complex for t in op.output_types(types)):
            continue
        (expected,) = op.evaluate(values, types, op.output_types(types))
        got = by_parts(op, *values)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=3e-7, atol=0)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "bool", "float32"])
def test_conversions(dtype):
    z = np.array([0, 1, 1j, 1 + 2j, -0.5, NAN, complex(0, NAN)])
    cast = getattr(aes, f"convert_to_{dtype}")
    if dtype == "float32":
        np.testing.assert_array_equal(by_parts(cast, z), z.real.astype(dtype))
    else:
        np.testing.assert_array_equal(by_parts(cast, z), z.astype(dtype))


def test_parts():
    z = points(20)
    np.testing.assert_array_equal(by_parts(aes.conj, z), z.conj())
    np.testing.assert_array_equal(by_parts(aes.real, z), z.real)
    np.testing.assert_array_equal(by_parts(aes.imag, z), z.imag)
    np.testing.assert_array_equal(by_parts(aes.angle, z), np.angle(z))
    np.testing.assert_array_equal(by_parts(aes.complex, z.real, z.imag), z)
    np.testing.assert_allclose(by_parts(aes.complex_from_polar, abs(z), np.angle(z)), z, rtol=1e-14)
    np.testing.assert_array_equal(by_parts(aes.switch, z.real > 0, z, z.imag), np.where(z.real > 0, z, z.imag))


# -- declarations --------------------------------------------------------------------------------------------------


def test_composites_are_unfolded():
    z, x = aes.complex128(), aes.float64()
    op = aes.Composite(
        [z, x],
        [
            aes.exp(z * x) + aes.constant(2j),
        ],
    )
    values = points(20)[:30]
    scale = np.linspace(0.1, 1, 30)
    np.testing.assert_allclose(by_parts(op, values, scale), np.exp(values * scale) + 2j, rtol=1e-13)


def test_ops_without_a_form_say_so():
    z = aes.complex128()
    with pytest.raises(NotImplementedError, match="scalar op gamma has no form for complex numbers"):
        complex_decomposition(aes.gamma, [Parts(aes.float64(), aes.float64())], [z.type])


def test_subclasses_have_forms_of_their_own():
    class Louder(aes.Exp):
        numpy = lambda x: np.exp(x) * 2

    parts = [Parts(aes.float64(), aes.float64())]
    with pytest.raises(NotImplementedError):
        complex_decomposition(Louder(), parts, [aes.complex128])

    @complex_form(Louder)
    def louder(op, z):
        return Parts(z.re + z.re, z.im + z.im)

    np.testing.assert_array_equal(by_parts(Louder(), np.array([1 + 2j])), [2 + 4j])


def test_the_hyperbolic_tangent_is_one_far_from_the_imaginary_axis():
    x, y = (v.ravel() for v in np.meshgrid(np.linspace(22, 60, 77), np.linspace(-7, 7, 57)))
    for sign in (1, -1):
        assert (by_parts(aes.tanh, sign * x + 1j * y).real == sign).all()
