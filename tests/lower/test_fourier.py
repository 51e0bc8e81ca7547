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
