"""Repeats and searches in sorted vectors, natively."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.ordering.searching import SearchsortedOp
from aesara.tensor.shapes.repeating import Repeat

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native

from tests.pairing import pair_in_turn

DTYPES = ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64"]


def numbers(*shape, dtype="float64"):
    return (np.random.default_rng(len(shape)).normal(size=shape) * 5).astype(dtype)


# -- repeats -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("often", [0, 1, 3])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_all_repeated_equally_often(axis, often):
    for shape in ((2, 3), (0, 3), (2, 0), (1, 1)):
        assert_native(Repeat(axis), numbers(*shape), np.int64(often))
        assert_native(Repeat(axis), numbers(*shape), np.array([often]), static=[False])
        assert_native(lambda x: Repeat(axis)(x + 1, np.int8(often)) * 2, numbers(*shape))


@pytest.mark.parametrize("dtype, axis", pair_in_turn(DTYPES, [0, 1, 2, -1, -3]))
def test_each_repeated_as_often_as_asked(dtype, axis):
    x = numbers(3, 2, 4, dtype=dtype)
    for often in ([3, 0, 2, 1], [0, 0, 0, 0], [1, 1, 1, 1]):
        repeats = np.array(often[: x.shape[axis]])
        assert_native(Repeat(axis), x, repeats)
        assert_native(Repeat(axis), x, repeats.astype("uint8"))
        assert_native(lambda x: Repeat(axis)(x, repeats), x)


def test_repeats_of_the_flat_tensor():
    for shape in ((), (3,), (2, 3), (0,), (1, 0, 2)):
        x = numbers(*shape)
        assert_native(Repeat(), x, np.arange(x.size) % 3, static=[False])
        assert_native(Repeat(), x, np.int64(2))


def test_repeats_in_front_of_other_work():
    build = lambda x, n: [Repeat(0)(at.exp(x), n).sum(axis=0), Repeat(0)(x, n) * 2, Repeat(0)(x, n).shape]
    assert_native(build, numbers(4, 3), np.array([2, 0, 1, 5]), ulps=8, static=[False])


@pytest.mark.parametrize(
    "repeats", [[-1, 2, 3], [1, 2], [1, 2, 3, 4], [], [2**62] * 3, [2**63 - 1, 1, 0], [-(2**63), 0, 0]]
)
def test_numbers_of_repetitions_are_checked(repeats):
    assert_both_raise(Repeat(0), numbers(3), np.array(repeats, "int64"))


@pytest.mark.parametrize("repeats", [-1, 2**62, 2**63 - 1])
def test_number_of_repetitions_is_checked(repeats):
    assert_both_raise(Repeat(0), numbers(3), np.int64(repeats))


def test_one_number_of_repetitions_is_for_all():
    assert_native(lambda x, n: [Repeat(0)(x, n), Repeat(0)(x, n).shape], numbers(3), np.array([2]), static=[False])
    assert_native(lambda x, n: Repeat(0)(x, n), numbers(0), np.array([2]), static=[False])


def test_gradient_of_repeats():
    build = lambda x, n: aesara.grad((Repeat(1)(x, n) ** 2).sum(), x)
    assert_native(build, numbers(2, 3), np.array([2, 0, 3]), static=[False])
    assert_native(lambda x: aesara.grad((Repeat(0)(x, 2) ** 2).sum(), x), numbers(2, 3))


# -- searches ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_positions_in_a_sorted_vector(dtype, side):
    for size in (0, 1, 2, 7, 8, 100):
        x = np.sort(numbers(size, dtype="float64") if dtype[0] != "u" else np.abs(numbers(size))).astype(dtype)
        x = np.sort(x)
        for values in (x[:3], numbers(4, 3).astype("float32"), np.float64(0.5), np.int8(2), numbers(0)):
            assert_native(SearchsortedOp(side), x, values)


@pytest.mark.parametrize("side", ["left", "right"])
def test_nan_comes_last(side):
    x = np.array([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf, np.nan, np.nan])
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1e300])
    assert_native(SearchsortedOp(side), x, values)
    assert_native(SearchsortedOp(side), x.astype("float16"), values)


@pytest.mark.parametrize("side", ["left", "right"])
def test_positions_by_a_sorter(side):
    x = numbers(20).round()
    for dtype in ("int8", "int64", "uint16"):
        assert_native(SearchsortedOp(side), x, numbers(3, 2).round(), np.argsort(x, kind="stable").astype(dtype))


@pytest.mark.parametrize("sorter", [[0, 1], [0, 1, 2, 3]])
def test_length_of_the_sorter_is_checked(sorter):
    assert_both_raise(SearchsortedOp(), numbers(3), numbers(2), np.array(sorter))


@pytest.mark.parametrize("sorter", [[0, 5, 1], [0, -1, 1], [2**63 - 1, 2**63 - 1, 2**63 - 1]])
def test_entries_of_the_sorter_are_checked(sorter):
    assert_both_raise(SearchsortedOp(), np.zeros(3), np.zeros(2), np.array(sorter), kind=ValueError)


def test_large_integers_are_compared_as_floats_when_signs_differ():
    x = np.array([0, 2**62, 2**63 - 1])
    assert_native(SearchsortedOp(), x, np.array([0, 1, 2**62 + 1, 2**63], "uint64"))


@pytest.mark.slow
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64"])
def test_many_values_in_many_entries(dtype, side):
    """Blocks of values that are everywhere, near each other, all the same, all beyond; ties; NaN and infinities."""
    rng = np.random.default_rng(5)
    for size in (63, 64, 65, 127, 128, 1000):
        x = np.sort((rng.random(size) * 90).astype(dtype))
        values = (rng.random(700) * 100 - (5 if dtype[0] in "if" else 0)).astype(dtype)
        values[130:260] = values[130]
        values[260:390] = np.sort(values[260:390])
        if dtype.startswith("float"):
            x[-3:] = np.inf, np.nan, np.nan
            values[::50], values[1::50], values[2::50], values[520:650] = np.nan, np.inf, -np.inf, np.nan
        assert_native(SearchsortedOp(side), x, values, interpret=size == 65)
        order = rng.permutation(size)
        assert_native(SearchsortedOp(side), x, values.reshape(7, 1, 100), interpret=False)
        assert_native(SearchsortedOp(side), x[np.argsort(order)], values, order, interpret=size == 127)
