"""Complex numbers in compiled functions: values, arguments of all layouts, updates, nodes in Python."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.basic import Apply
from aesara.graph.op import Op
from tests.closeness import assert_close

RNG = np.random.default_rng(3)


def numbers(rng, *shape, dtype="complex128"):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def native(inputs, outputs, **kwargs):
    function = aesara.function(inputs, outputs, **kwargs)
    assert function._native.report.python_nodes == {}
    return function


# -- values --------------------------------------------------------------------------------------------------------

UNARY = (
    "exp expm1 exp2 log log1p log2 log10 sqrt square sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh "
    "arctanh reciprocal abs neg conj real imag angle isnan isinf".split()
)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name, dtype, rng):
    z = at.TensorType(dtype, (None, None))()
    function = native([z], getattr(at, name)(z))
    reference = np.negative if name == "neg" else getattr(np, name)
    eps = np.finfo(dtype).eps
    shapes = (7, 5), (0, 3), (1, 1)
    for values in (2 * numbers(rng, *shape, dtype=dtype) for shape in shapes):
        got, expected = function(values), reference(values)
        assert got.shape == expected.shape
        if name != "angle":
            assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=20 * eps, atol=eps)


@pytest.mark.parametrize("name", UNARY)
def test_vector_bodies_and_remainders_agree(name):
    z = at.zvector()
    function = native([z], getattr(at, name)(z))
    parts = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-300, 1e300, 700.5]
    values = np.array([complex(a, b) for a in parts for b in parts])
    together = function(values)
    one_by_one = np.array([function(values[k : k + 1])[0] for k in range(len(values))])
    np.testing.assert_array_equal(together, one_by_one)
    if np.iscomplexobj(together):
        for part in ("real", "imag"):
            signs = [np.signbit(getattr(found, part)) for found in (together, one_by_one)]
            known = ~np.isnan(getattr(together, part))
            np.testing.assert_array_equal(signs[0][known], signs[1][known])


BINARY = {
    "add": (at.add, np.add),
    "sub": (at.sub, np.subtract),
    "mul": (at.mul, np.multiply),
    "true_divide": (at.true_divide, np.true_divide),
    "pow": (at.pow, np.power),
}


@pytest.mark.parametrize("other", ["complex64", "complex128", "float32", "float64", "int16", "int64"])
@pytest.mark.parametrize("first", ["complex64", "complex128"])
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name, first, other, rng):
    ours, reference = BINARY[name]
    z, w = at.TensorType(first, (None, None))(), at.TensorType(other, (None,))()
    function = native([z, w], [ours(z, w), ours(w, z)])
    a = numbers(rng, 4, 9, dtype=first)
    b = numbers(rng, 9, dtype=other) if other.startswith("complex") else rng.integers(1, 5, 9).astype(other)
    for got, expected, variable in zip(function(a, b), (reference(a, b), reference(b, a)), function.maker.outputs):
        assert got.dtype == variable.variable.type.dtype
        np.testing.assert_allclose(got, expected, rtol=100 * np.finfo(expected.dtype).eps)


def test_constants(rng):
    z = at.zvector()
    values = numbers(rng, 5)
    function = native([z], [z * (1 + 2j), z + np.arange(5) * 1j, at.constant(numbers(rng, 3)), at.zeros_like(z)])
    got = function(values)
    np.testing.assert_allclose(got[0], values * (1 + 2j), rtol=1e-15)
    np.testing.assert_array_equal(got[1], values + np.arange(5) * 1j)
    assert got[2].shape == (3,) and (got[3] == 0).all()


# -- arguments -----------------------------------------------------------------------------------------------------


def test_layouts(rng):
    z = at.zmatrix()
    function = native([z], [z.T * 2, z.sum()])
    values = numbers(rng, 4, 6)
    unaligned = np.zeros(values.nbytes + 1, np.uint8)[1:].view(complex).reshape(4, 6)
    unaligned[...] = values
    for given in (values, values.T, values[::2, ::-1], np.asfortranarray(values), values.astype(">c16"), values[:0],
                  unaligned, values.astype("c8"), values.real, values.tolist()):  # fmt: skip
        got, total = function(given)
        np.testing.assert_array_equal(got, np.asarray(given, complex).T * 2)
        np.testing.assert_allclose(total, np.sum(np.asarray(given, complex)), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "value", [2, 2.5, 1 + 2j, np.complex64(1j), np.float64(3), np.complex128(2 - 1j), np.array(4j)]
)
def test_single_numbers(value):
    z = at.zscalar()
    got = native([z], [z * z, abs(z)])(value)
    np.testing.assert_allclose(got[0], complex(value) ** 2, rtol=1e-15)
    assert got[0].shape == () and got[0].dtype == "complex128"
    assert got[1] == abs(complex(value))


@pytest.mark.parametrize("value", [np.ones((2, 2), complex), np.ones(2, object), "a", None])
def test_wrong_arguments(value):
    z = at.zvector()
    function = native([z], z * 2)
    with pytest.raises((TypeError, ValueError), match="Bad input argument"):
        function(value)


def test_precision_is_not_lost_silently(rng):
    z = at.vector(dtype="complex64")
    with pytest.raises(TypeError, match="complex128"):
        native([z], z * 2)(numbers(rng, 3))


def test_static_shapes_are_checked(rng):
    z = at.TensorType("complex128", (3, None))()
    function = native([z], z * 2)
    assert function(numbers(rng, 3, 2)).shape == (3, 2)
    with pytest.raises(TypeError):
        function(numbers(rng, 2, 2))


# -- shared variables ----------------------------------------------------------------------------------------------


def address(shared):
    return shared.get_value(borrow=True).ctypes.data


def test_updates_in_place(rng):
    shared, z = aesara.shared(numbers(rng, 3, 4)), at.zmatrix()
    step = native([z], shared.sum(), updates={shared: shared * 1j + z})
    before, where, added = shared.get_value(), address(shared), numbers(rng, 3, 4)
    assert_close(step(added), before.sum())
    assert_close(shared.get_value(), before * 1j + added)
    assert address(shared) == where


def test_parts_may_change_places(rng):
    shared = aesara.shared(numbers(rng, 5))
    before, where = shared.get_value(), address(shared)
    native([], [], updates={shared: at.complex(shared.imag, shared.real)})()
    np.testing.assert_array_equal(shared.get_value(), before.imag + 1j * before.real)
    assert address(shared) == where


def test_updates_that_read_elsewhere(rng):
    a, b = aesara.shared(numbers(rng, 5)), aesara.shared(numbers(rng, 5))
    a0, b0 = a.get_value(), b.get_value()
    native([], [], updates={a: b[::-1] * 1j, b: a.conj()})()
    np.testing.assert_array_equal(a.get_value(), b0[::-1] * 1j)
    np.testing.assert_array_equal(b.get_value(), a0.conj())


def test_values_that_others_hold_stay(rng):
    shared = aesara.shared(numbers(rng, 4))
    held = shared.get_value(borrow=True)
    before = held.copy()
    native([], [], updates={shared: shared + 1j})()
    np.testing.assert_array_equal(held, before)
    np.testing.assert_array_equal(shared.get_value(), before + 1j)


def test_products_are_added_in_place(rng):
    shared, z, w = aesara.shared(numbers(rng, 30, 40)), at.zmatrix(), at.zmatrix()
    step = native([z, w], [], updates={shared: shared + 0.5 * at.dot(z, w)})
    before, a, b = shared.get_value(), numbers(rng, 30, 20), numbers(rng, 20, 40)
    step(a, b)
    np.testing.assert_allclose(shared.get_value(), before + 0.5 * a @ b, rtol=1e-12)


def test_failing_calls_leave_old_values(rng):
    shared, z = aesara.shared(numbers(rng, 3, 4)), at.zmatrix()
    step = native([z], shared.sum(), updates={shared: shared * 1j + z})
    before = shared.get_value()
    with pytest.raises(ValueError, match="size 4.*size 5"):
        step(numbers(rng, 3, 5))
    np.testing.assert_array_equal(shared.get_value(), before)


# -- nodes in Python -----------------------------------------------------------------------------------------------


class Spectrum(Op):
    """The discrete Fourier transform, and the largest modulus in it."""

    __props__ = ()

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [at.TensorType("complex128", (None,))(), at.dscalar()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.fft.fft(inputs[0])
        output_storage[1][0] = np.asarray(abs(output_storage[0][0]).max())


class Fails(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        raise RuntimeError("never")


@pytest.mark.parametrize("values", [numbers(RNG, 6), numbers(RNG, 6).real])
def test_complex_numbers_go_to_python_and_come_back(values):
    x = at.TensorType(str(values.dtype), (None,))()
    spectrum, largest = Spectrum()(x * 2)
    function = aesara.function([x], [spectrum * 1j + largest, spectrum, spectrum.real.sum()])
    assert len(function._native.report.python_nodes) == 1
    expected = np.fft.fft(values * 2)
    got = function(values)
    np.testing.assert_allclose(got[0], expected * 1j + abs(expected).max(), rtol=1e-12)
    np.testing.assert_allclose(got[1], expected, rtol=1e-12)
    np.testing.assert_allclose(got[2], expected.real.sum(), rtol=1e-11, atol=1e-12)


def test_inputs_and_constants_go_to_python(rng):
    z, values = at.zvector(), numbers(rng, 4)
    assert_close(aesara.function([z], Spectrum()(z)[0])(values), np.fft.fft(values))
    assert_close(aesara.function([], Spectrum()(at.constant(values))[0])(), np.fft.fft(values))


def test_failing_nodes_leave_old_values(rng):
    shared = aesara.shared(numbers(rng, 4))
    before = shared.get_value()
    function = aesara.function([], [], updates={shared: Fails()(shared * 2)})
    with pytest.raises(RuntimeError, match="never"):
        function()
    np.testing.assert_array_equal(shared.get_value(), before)


def test_sizes_that_are_known_late(rng):
    z = at.zvector()
    function = native([z], z[: at.cast(abs(z[0]) * 0 + 2, "int64")] * 2)
    values = numbers(rng, 5)
    np.testing.assert_array_equal(function(values), values[:2] * 2)


def test_no_warnings():
    z = at.zvector()
    function = native([z], at.log(z) / z)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(np.zeros(3, complex))
