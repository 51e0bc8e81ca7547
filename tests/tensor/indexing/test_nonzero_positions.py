"""Positions of nonzero entries as indices: what counts is which there are, not which there may be."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

MODES = pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
x, m = at.dvector("x"), at.dmatrix("m")
c, k = at.bvector("c"), at.bmatrix("k")
ROW = np.array([3.0, 4.0, 5.0])
MATRIX = np.arange(6.0).reshape(2, 3)


@MODES
@pytest.mark.parametrize("mask", [[1, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1], [1], []], ids=str)
def test_a_mask_may_be_longer_if_what_is_chosen_is_there(mask, mode):
    mask = np.array(mask, "int8")
    f = aesara.function([c, x], [x[c.nonzero()[0]], at.compress(c, x), at.set_subtensor(x[c.nonzero()], 0)], mode=mode)
    chosen, compressed, zeroed = f(mask, ROW)
    expected = ROW[mask.nonzero()[0]]
    np.testing.assert_array_equal(chosen, expected)
    np.testing.assert_array_equal(compressed, expected)
    np.testing.assert_array_equal(zeroed, np.where(np.isin(np.arange(3), mask.nonzero()[0]), 0, ROW))


@MODES
def test_what_is_chosen_is_checked(mode):
    f = aesara.function([c, x], x[c.nonzero()[0]], mode=mode)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 3"):
        f(np.array([1, 0, 0, 0, 1], "int8"), ROW)


@MODES
@pytest.mark.parametrize("place", [(0, 0), (1, 2), (2, 0), (0, 3), (1, 4), (3, 4)], ids=str)
def test_matrices(place, mode):
    """Rows come in order, and columns do not: the largest of them may stand anywhere."""
    mask = np.zeros((4, 5), "int8")
    mask[0, 1] = mask[1, 0] = mask[place] = 1
    f = aesara.function([k, m], m[k.nonzero()], mode=mode)
    if place[0] < 2 and place[1] < 3:
        np.testing.assert_array_equal(f(mask, MATRIX), MATRIX[mask.nonzero()])
        return
    axis = int(place[0] < 2)
    message = f"index {place[axis]} is out of bounds for axis {axis} with size {MATRIX.shape[axis]}"
    with pytest.raises(IndexError, match=message):
        f(mask, MATRIX)


@MODES
def test_nothing_is_chosen(mode):
    f = aesara.function([k, m], m[k.nonzero()], mode=mode)
    assert f(np.zeros((4, 5), "int8"), MATRIX).shape == (0,)
    assert f(np.zeros((0, 5), "int8"), MATRIX).shape == (0,)
