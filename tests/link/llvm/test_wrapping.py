"""Integers wrap as NumPy's do, also in combination with sizes, loop indices and constants of index arithmetic."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ifelse import ifelse

LARGEST = 2**63 - 1
EXTREMES = [LARGEST, -LARGEST - 1, LARGEST - 1, 0, 1, -1, 2**62, -(2**62), 2**32]

#: name, the expression for a vector `x` of int64 and a number `n`; `a` has what NumPy and we spell differently
CASES = {
    "size added": lambda x, n, a: x + x.shape[0] > x,
    "size subtracted": lambda x, n, a: x - x.shape[0] < x,
    "size times data": lambda x, n, a: x * x.shape[0] // x.shape[0],
    "size and number": lambda x, n, a: (n + x.shape[0]) > n,
    "index added": lambda x, n, a: x + a.arange(x.shape[0]) > x,
    "index subtracted": lambda x, n, a: x - a.arange(x.shape[0]) <= x,
    "index times number": lambda x, n, a: (a.arange(5) * n) // n,
    "index plus number": lambda x, n, a: a.arange(5) + n > n,
    "sum of indices and number": lambda x, n, a: (a.arange(5) + n).sum(),
    "column of indices": lambda x, n, a: x[None, :] + a.arange(3)[:, None] > x[None, :],
    "number added": lambda x, n, a: x + n < n,
    "number twice": lambda x, n, a: (n + n) - n,
    "constant added": lambda x, n, a: x + 1 > x,
    "constant subtracted": lambda x, n, a: x - 1 < x,
    "constant on both sides": lambda x, n, a: x + 1 > x + 2,
    "constant to zero": lambda x, n, a: x - 1 >= 0,
    "doubled": lambda x, n, a: x * 2 // 2,
    "doubled and compared": lambda x, n, a: x * 2 > x,
    "large constants": lambda x, n, a: (n + 2**62) + 2**62,
    "large constants of a vector": lambda x, n, a: (x + 2**62) + 2**62,
    "lowest constant": lambda x, n, a: n - np.int64(-(2**63)),
    "negated": lambda x, n, a: -x > 0,
    "absolute value": lambda x, n, a: abs(x) >= 0,
    "square": lambda x, n, a: x * x >= 0,
    "larger of itself and more": lambda x, n, a: a.maximum(n, n + 1),
    "at least zero": lambda x, n, a: a.maximum(n * 2, 0),
    "divided": lambda x, n, a: x // (a.arange(x.shape[0]) - 1),
    "narrow": lambda x, n, a: (x + x.shape[0]).astype("int32") + a.arange(x.shape[0]).astype("int32") * 2**30,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
def test_integers_wrap(name, mode):
    x, n = at.lvector("x"), at.lscalar("n")
    f = aesara.function([x, n], CASES[name](x, n, at), mode=mode, on_unused_input="ignore")
    for data, number in itertools.product((np.array(EXTREMES), np.array([3037000500, -5, LARGEST])), EXTREMES):
        with np.errstate(all="ignore"):
            expected = CASES[name](data, np.int64(number), np)
        np.testing.assert_array_equal(f(data, number), expected)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"])
def test_other_integers_wrap(dtype):
    x = at.vector("x", dtype=dtype)
    one = np.ones((), dtype)[()]
    f = aesara.function(
        [x], [x + one > x, x - one < x, x * (one + one) // (one + one), -x, x + x.shape[0].astype(dtype)]
    )
    info = np.iinfo(dtype)
    data = np.array([info.max, info.min, 0, 1], dtype)
    two, four = one + one, np.asarray(4, dtype)
    expected = [data + one > data, data - one < data, data * two // two, -data, data + four]
    for got, value in zip(f(data), expected, strict=True):
        np.testing.assert_array_equal(got, value)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_every_division(dtype):
    """All pairs of bytes, and of the extremes of wider integers with them; by zero it is zero."""
    info = np.iinfo(dtype)
    numbers = np.arange(-128, 256)
    numbers = numbers[(numbers >= info.min) & (numbers <= info.max)].astype(dtype)
    if info.bits > 8:
        numbers = np.concatenate([numbers[::9], np.array([info.min, info.min + 1, info.max - 1, info.max], dtype)])
    x, y = (at.vector(name, dtype=dtype) for name in "xy")
    f = aesara.function([x, y], [x // y, x % y, *at.divmod(x, y)])
    a, b = (part.ravel() for part in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        quotients, rests = np.divmod(a, b)
    for got, expected in zip(f(a, b), [quotients, rests, quotients, rests], strict=True):
        np.testing.assert_array_equal(got, expected, strict=True)


def test_steps_of_a_loop_are_data():
    n = at.lscalar("n")
    steps, _ = aesara.scan(lambda i, n: (i + n > n, i * n // n), sequences=at.arange(4), non_sequences=[n])
    f = aesara.function([n], steps)
    for number in (LARGEST, -LARGEST - 1, 2**62):
        with np.errstate(all="ignore"):
            i = np.arange(4)
            expected = i + np.int64(number) > number, i * np.int64(number) // number
        np.testing.assert_array_equal(f(number), expected)


def test_sizes_whose_product_wraps_are_data():
    x = at.matrix("x", dtype="int8")
    f = aesara.function([x], [at.maximum(x.shape[0] * 2, 0), at.maximum(x.shape[0] + x.shape[0], -1)])
    assert f(np.empty((2**62, 0), "int8")) == [0, -1]
    assert f(np.empty((3, 0), "int8")) == [6, 6]


@pytest.mark.parametrize("number", [2**63 + 5, 2**64 - 1, 7])
def test_large_unsigned_numbers_reach_a_branch_as_they_are(number):
    c, u, v = at.bscalar("c"), at.scalar("u", dtype="uint64"), at.dvector("v")
    tripled = u * np.uint64(3)
    f = aesara.function([c, u, v], [ifelse(c, tripled + at.exp(v).sum().astype("uint64"), tripled), tripled])
    for condition in (0, 1):
        chosen, outside = f(condition, np.uint64(number), np.zeros(2))
        assert outside == number * 3 % 2**64 and chosen == (number * 3 + 2 * condition) % 2**64
