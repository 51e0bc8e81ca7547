"""Tensors read from files."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.generic import generic


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "stored.npy"
    np.save(path, np.arange(6.0).reshape(2, 3))
    return str(path)


@pytest.mark.parametrize("mmap_mode", [None, "c"])
@pytest.mark.parametrize("shape", [(None, None), (2, None), (2, 3)])
def test_values(stored, mmap_mode, shape):
    path = generic("path")
    x = at.load(path, "float64", shape, mmap_mode=mmap_mode)
    assert x.type.shape == shape
    f = aesara.function([path], [x, x * 2])
    read, doubled = f(stored)
    np.testing.assert_array_equal(read, np.load(stored))
    np.testing.assert_array_equal(doubled, np.load(stored) * 2)


def test_the_file_is_never_written(stored):
    x = at.load(stored, "float64", (None, None), mmap_mode="c")
    f = aesara.function([], at.set_subtensor(x[0], 7.0))
    assert f()[0, 0] == 7.0
    np.testing.assert_array_equal(np.load(stored), np.arange(6.0).reshape(2, 3))


def test_read_again_at_each_call(stored):
    f = aesara.function([], at.load(stored, "float64", (None, None)).sum())
    assert f() == 15.0
    np.save(stored, np.ones((2, 2)))
    assert f() == 4.0


def test_errors(stored, tmp_path):
    with pytest.raises(ValueError, match="mmap_mode must be"):
        at.load(stored, "float64", (None, None), mmap_mode="r+")
    with pytest.raises(TypeError, match="dtype float64; expected int64"):
        aesara.function([], at.load(stored, "int64", (None, None)))()
    with pytest.raises(ValueError, match="shape .2, 3."):
        aesara.function([], at.load(stored, "float64", (3, 3)))()
    with pytest.raises(ValueError, match="shape .2, 3."):
        aesara.function([], at.load(stored, "float64", (None,)))()
    np.save(tmp_path / "objects.npy", np.array([None], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        aesara.function([], at.load(str(tmp_path / "objects.npy"), "float64", (1,)))()
