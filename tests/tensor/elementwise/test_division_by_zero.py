"""Floor division and its rest, with signed zeros, infinities and NaN: as NumPy has them, in both linkers."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

FLOATS = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, -7.0, np.inf, -np.inf, np.nan]
NAMES = ["float64", "float32", "float16", "int64", "int8", "uint8", "uint64"]
LINKERS = {"native": Mode("llvm", "fast_run"), "reference": Mode("vm", "fast_run"), "as written": Mode("py", None)}


def bits(values):
    """Values that tell signs of zeros apart; all NaNs are one."""
    return [("nan" if v != v else (v, np.signbit(v))) for v in np.asarray(values).ravel().tolist()]


def numbers(dtype):
    if dtype.startswith("float"):
        return np.array(FLOATS, dtype)
    info = np.iinfo(dtype)
    return np.array([0, 1, 2, 7, info.max, info.min] + ([-1, -7] if info.min else []), dtype)


def both(x, y):
    return [x // y, x % y, *divmod(x, y)]


def expected(a, b):
    with np.errstate(all="ignore"):
        return [np.floor_divide(a, b), np.remainder(a, b), *np.divmod(a, b)]


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", NAMES)
def test_all_pairs(dtype, linker):
    pairs = np.array(list(itertools.product(numbers(dtype), repeat=2)), dtype)
    a, b = pairs[:, 0].copy(), pairs[:, 1].copy()
    x, y = at.vector("x", dtype=dtype), at.vector("y", dtype=dtype)
    f = aesara.function([x, y], both(x, y), mode=LINKERS[linker])
    for got, value in zip(f(a, b), expected(a, b), strict=True):
        assert got.dtype == value.dtype and bits(got) == bits(value)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize("zero", [0, -0.0, 0.0])
@pytest.mark.parametrize("ndim", [0, 1])
def test_a_constant_zero(dtype, linker, zero, ndim):
    if isinstance(zero, float) and not dtype.startswith("float"):
        zero = 0
    x = at.TensorType(dtype, (None,) * ndim)("x")
    f = aesara.function([x], both(x, np.asarray(zero, dtype)), mode=LINKERS[linker])
    for a in numbers(dtype):
        a = np.full((2,) * ndim, a, dtype)
        for got, value in zip(f(a), expected(a, np.asarray(zero, dtype)), strict=True):
            assert bits(got) == bits(value)
