"""Fourier transforms natively: rows, planes and vectors, of odd and even lengths, against `perform`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.routines import fourier
from aesara.tensor.discrete_fourier.transforms import (
    FourierTransform,
    InverseRealFourierTransform,
    RealFourierTransform,
)

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native

from tests.closeness import assert_close

native = pytest.mark.skipif(not fourier.is_available(), reason="NumPy 1 has no such functions")
REAL = {"complex64": "float32", "complex128": "float64"}


def numbers(*shape, dtype="complex128"):
    rng = np.random.default_rng(sum(shape))
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


@native
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_transforms_of_complex_numbers(dtype):
    for shape, ndim, inverse in (((7,), 1, False), ((2, 0, 3), 1, True), ((3, 4), 2, True), ((2, 3, 4, 5), 3, False)):
        assert_native(FourierTransform(ndim, inverse), numbers(*shape, dtype=dtype), ulps=4, static=[False])


@native
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_transforms_of_real_numbers(n, dtype):
    half = numbers(3, n // 2 + 1, dtype=dtype)

    def both(x, row, half):
        back = InverseRealFourierTransform()
        return RealFourierTransform()(x), RealFourierTransform()(row), back(half, n), back(half[0], x.shape[-1])

    x = half.real[:, :1] + numbers(3, n, dtype=dtype).real
    assert_native(both, x, x[0], half, ulps=4, static=[n == 5])


@native
def test_a_length_that_is_known_at_run_time():
    x = at.dmatrix("x")
    f = aesara.function([x], at.fft.rfft_complex(x))
    for n in (1, 2, 3, 6, 9):
        given = numbers(2, n).real
        np.testing.assert_array_equal(f(given), np.fft.rfft(given))


@native
def test_values_that_somebody_reads_are_kept():
    z = at.zmatrix("z")
    twice = z * 2
    f = aesara.function([z], [at.fft.fft(twice), twice, at.fft.fft(z)])
    given = numbers(3, 4)
    before = given.copy()
    transformed, kept, other = f(given)
    np.testing.assert_array_equal(given, before)
    np.testing.assert_array_equal(kept, 2 * before)
    np.testing.assert_array_equal(transformed, np.fft.fft(2 * before))
    np.testing.assert_array_equal(other, np.fft.fft(before))


@native
def test_what_has_no_points_is_an_error():
    assert_both_raise(FourierTransform(), numbers(2, 0), kind=ValueError)
    assert_both_raise(RealFourierTransform(), np.zeros((2, 0)), kind=ValueError)
    message = "2 numbers are not the first half of a transform of length 5"
    z, n = at.zmatrix("z"), at.lscalar("n")
    f = aesara.function([z, n], InverseRealFourierTransform()(z, n))
    with pytest.raises(ValueError, match=message):
        f(numbers(3, 2), 5)
    assert_close(f(numbers(3, 2), 3), np.fft.irfft(numbers(3, 2), 3) * 3)


@native
def test_steps_of_a_loop():
    z = at.zmatrix("z")
    states, _ = aesara.scan(
        lambda row, state: at.fft.fft(state * 0.5) + row, sequences=z, outputs_info=at.zeros(4, dtype="complex128")
    )
    f = aesara.function([z], states[-1])
    assert f._native.report.python_nodes == {}
    given = numbers(5, 4)
    wanted = np.zeros(4, "complex128")
    for row in given:
        wanted = np.fft.fft(wanted * 0.5) + row
    np.testing.assert_allclose(f(given), wanted, rtol=1e-13)


def test_a_release_of_numpy_without_them(monkeypatch):
    monkeypatch.setattr(fourier, "is_available", lambda: False)
    z = at.zmatrix("z")
    f = aesara.function([z], at.fft.ifft2(z))
    assert list(f._native.report.python_nodes.values()) == ["Fourier transforms natively need NumPy 2"]
    assert_close(f(numbers(2, 3)), np.fft.ifft2(numbers(2, 3)))


z, m, v = at.zmatrix("z"), at.dmatrix("m"), at.dvector("v")


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: at.fft.irfft(m), TypeError, "input must have dimension > 2"),
        (lambda: at.fft.rfft(z), TypeError, "input must be real"),
        (lambda: at.fft.rfft(m, norm="other"), ValueError, "Invalid value other for norm"),
        (lambda: at.fft.irfft(at.dtensor3(), is_odd=2), ValueError, "Invalid value 2 for id_odd"),
        (lambda: at.fft.hfft(z, norm="other"), ValueError, "Invalid norm value other"),
        (lambda: at.fft.ihfft(m, norm="other"), ValueError, "Invalid norm value other"),
        (lambda: at.fft.fft(z, norm="other"), ValueError, "Invalid norm value other"),
        (lambda: at.fft.fft(z, n=0), ValueError, r"Invalid number of data points \(0\)"),
        (lambda: at.fft.fftn(z, s=(2,), axes=(0, 1)), ValueError, "Shape and axes have different lengths"),
        (lambda: at.fft.rfftn(m, axes=()), ValueError, "rfftn needs one axis or more"),
        (lambda: at.fft.irfftn(z, axes=()), ValueError, "irfftn needs one axis or more"),
        (lambda: at.fft.rfftn(z), TypeError, "rfftn takes real numbers"),
        (lambda: FourierTransform()(m), TypeError, "needs complex numbers"),
        (lambda: FourierTransform(2)(z[0]), ValueError, "needs 2 or more dimensions"),
        (lambda: RealFourierTransform()(z), TypeError, "float32 or float64 numbers"),
        (lambda: InverseRealFourierTransform()(m, 3), TypeError, "a tensor of complex numbers"),
        (lambda: InverseRealFourierTransform()(z, v), TypeError, "the length of the result as an integer"),
    ],
)
def test_refusals(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("shape", [(2, 4, 2), (2, 5, 4, 2)])
def test_pairs_without_a_length_have_an_even_one(shape):
    x = at.tensor("float64", (None,) * len(shape))
    value = np.random.default_rng(3).normal(size=shape)
    axes = tuple(range(1, len(shape) - 1))
    expected = np.fft.irfftn(value[..., 0] + 1j * value[..., 1], axes=axes, norm="forward")
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        found = aesara.function([x], at.fft.irfft_op(x), mode=mode)(value)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
