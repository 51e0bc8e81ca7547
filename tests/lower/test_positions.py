"""Positions of extrema: blocks, ties, NaN, and every order of axes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara.tensor as at
from aesara.lower.reductions.positions import _BLOCK

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_native, compiled

DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64"]


def positions(axis):
    return lambda x: [at.argmax(x, axis), at.argmin(x, axis), at.max_and_argmax(x, axis)[1]]


def numpys(x, axis):
    return [np.argmax(x, axis), np.argmin(x, axis), np.argmax(x, axis)]


def few_values(shape, dtype):
    """Values of which many are equal, with both ends of the dtype's range."""
    rng = np.random.default_rng(sum(shape))
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("float"):
        return rng.choice(np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf], dtype), shape)
    info = np.iinfo(dtype)
    return rng.choice(np.array([info.min, info.max, 0, 1], dtype), shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)])
def test_ties_are_the_first_along_any_axes(dtype, axis):
    for shape in ((3, 4, 5), (1, 1, 1), (2, 40, 1)):
        assert_native(positions(axis), few_values(shape, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_lengths_around_those_of_blocks(dtype):
    """Each position in turn holds the only extremum, a second one follows in the last place."""
    x = np.zeros((1, 1), dtype)
    function = compiled(positions(1), [x], False)
    for length in (1, 2, 7, 8, 63, 65, _BLOCK - 1, _BLOCK, _BLOCK + 1, 2 * _BLOCK, 3 * _BLOCK + 17):
        rows = sorted({0, 1, length // 2, length - 1, min(length - 1, _BLOCK - 1), min(length - 1, _BLOCK)})
        for special in (0, 1):
            x = np.full((len(rows), length), 1 - special, dtype)
            x[np.arange(len(rows)), np.array(rows) % length] = special
            x[:, -1] = special
            for got, expected in zip(function(x), numpys(x, 1), strict=True):
                np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_first_nan_is_the_extremum(dtype, axis):
    length = 2 * _BLOCK + 9
    places = [0, 1, 5, _BLOCK - 1, _BLOCK, _BLOCK + 1, 2 * _BLOCK, length - 1]
    x = np.random.default_rng(0).normal(size=(len(places), length)).astype(dtype)
    for row, place in enumerate(places):
        x[row, place] = np.copysign(np.nan, -1) if row % 2 else np.nan
        x[row, place + 1 :: 7] = np.nan
        x[row, max(place - 1, 0)] = np.inf if place else np.nan
    x = x if axis == 1 else np.ascontiguousarray(x.T)
    function = compiled(positions(axis), [x], False)
    for got, expected in zip(function(x), numpys(x, axis), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_everything_is_the_lowest_value_the_first_counts(dtype):
    lowest = {"b": False, "f": -np.inf}.get(np.dtype(dtype).kind)
    lowest = np.iinfo(dtype).min if lowest is None else lowest
    for axis in (0, 1, None):
        x = np.full((_BLOCK + 3, 3) if axis == 0 else (3, _BLOCK + 3), lowest, dtype)
        function = compiled(positions(axis), [x], False)
        for got, expected in zip(function(x), numpys(x, axis), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_of_expressions():
    """Cheap ones are computed where they are compared and looked for, others once."""
    x = few_values((5, 2 * _BLOCK + 1), "float64")
    for axis in (0, 1, None):
        assert_native(lambda x, axis=axis: [at.argmax(x * 2 + 1, axis), at.argmin(at.exp(x), axis)], x[:, :9])
