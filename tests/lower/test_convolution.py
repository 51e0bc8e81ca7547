"""Convolutions of vectors, natively."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.sequences.convolve import Convolve

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native

LENGTHS = [
    (1, 1),
    (5, 1),
    (1, 5),
    (5, 3),
    (3, 5),
    (4, 4),
    (6, 4),
    (4, 6),
    (300, 17),
    (17, 300),
    (50, 47),
    (47, 50),
]


def numbers(length, dtype="float64"):
    return (np.random.default_rng(length).normal(size=length) * 5).astype(dtype)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_each_mode(lengths, mode):
    a, v = map(numbers, lengths)
    assert_native(Convolve(mode), a, v, ulps=16)
    assert_native(lambda a, v: Convolve(mode)(a + 1, v * 2) - 1, a, v, ulps=16)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(
    "dtypes",
    [
        ("float32", "float32"), ("float16", "float16"), ("int8", "int8"), ("uint8", "int8"), ("bool", "bool"),
        ("int64", "float32"), ("uint64", "uint64"), ("bool", "float16"),
    ],
)  # fmt: skip
def test_each_dtype(dtypes, mode):
    a, v = (np.abs(numbers(n)).astype(d) if d[0] == "u" else numbers(n, d) for n, d in zip((9, 4), dtypes, strict=True))
    assert_native(Convolve(mode), a, v, ulps=8)
    assert_native(Convolve(mode), v, a, ulps=8)
    assert_native(Convolve(mode), a[:5], v, ulps=8)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("lengths", [(1024, 1), (1, 1025), (2500, 1030), (1030, 2500), (2048, 2048)])
def test_long_vectors(lengths, mode):
    a, v = (numbers(n, "int64") for n in lengths)
    x, y = at.lvectors("a", "v")
    assert np.array_equal(aesara.function([x, y], Convolve(mode)(x, y))(a, v), np.convolve(a, v, mode))
    if min(lengths) == 1:
        assert_native(Convolve(mode), a, v)  # with the interpreter, which takes its time


def test_special_values_stay_where_they_are():
    a = np.array([1.0, np.inf, 2.0, np.nan, -0.0, 3.0])
    for mode in ("full", "same", "valid"):
        assert_native(Convolve(mode), a, np.array([1.0, 2.0]))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_empty_vectors_are_refused(mode):
    assert_both_raise(Convolve(mode), numbers(0), numbers(3))
    assert_both_raise(Convolve(mode), numbers(3), numbers(0))
    assert_both_raise(Convolve(mode), numbers(0), numbers(0))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_gradients(mode):
    build = lambda a, v: aesara.grad((Convolve(mode)(a, v) ** 2).sum(), [a, v])
    for lengths in ((5, 3), (3, 5), (4, 4)):
        assert_native(build, *map(numbers, lengths), ulps=64)
