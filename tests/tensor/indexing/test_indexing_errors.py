"""Indices that do not fit: errors name the axis and the size, in the reference and natively."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.subtensor import inc_subtensor, set_subtensor

MODES = ["FAST_COMPILE", "FAST_RUN"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
VALUE = np.arange(12.0).reshape(3, 4)


def write(part):
    return set_subtensor(part, 1.0)


def increment(part):
    return inc_subtensor(part, 1.0)


def read(part):
    return part


USES = [read, write, increment]


def function_of(use, index, inputs, mode, tensor=None):
    x = at.dmatrix("x") if tensor is None else tensor
    return aesara.function([x, *inputs], use(x[index]), mode=mode, on_unused_input="ignore")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_scalars_out_of_bounds(dtype, use, mode):
    i, j = at.scalar("i", dtype=dtype), at.vector("j", dtype=dtype)
    by_scalar = function_of(use, (slice(None), i), [i], mode)
    by_vector = function_of(use, (slice(None), j), [j], mode)
    for wrong in (4, 100, -5, -100):
        if wrong < 0 and dtype[0] == "u":
            continue
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 1 with size 4"):
            by_scalar(VALUE, np.asarray(wrong, dtype))
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 1 with size 4"):
            by_vector(VALUE, np.asarray([0, wrong, 1], dtype))
    for right in (0, 3) if dtype[0] == "u" else (0, 3, -1, -4):
        by_scalar(VALUE, np.asarray(right, dtype))
        by_vector(VALUE, np.asarray([right, right], dtype))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("index", "axis", "size", "wrong"),
    [
        ((7,), 0, 3, 7),
        ((slice(None), -5), 1, 4, -5),
        (([0, 3],), 0, 3, 3),
        (([0, 1], [0, -5]), 1, 4, -5),
        ((None, slice(None), None, [4]), 1, 4, 4),
        ((np.array([[0], [3]]), slice(None, None, -1)), 0, 3, 3),
    ],
    ids=str,
)
def test_constants_out_of_bounds(index, axis, size, wrong, use, mode):
    f = function_of(use, index, [], mode)
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis {axis} with size {size}"):
        f(VALUE)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("use", USES)
def test_nothing_is_in_bounds_of_nothing(use, mode):
    i, j = at.lscalar("i"), at.lvector("j")
    by_scalar = function_of(use, i, [i], mode)
    by_vector = function_of(use, j, [j], mode)
    empty = np.zeros((0, 4))
    for wrong in (0, -1):
        with pytest.raises(IndexError, match="axis 0 with size 0"):
            by_scalar(empty, wrong)
        with pytest.raises(IndexError, match="axis 0 with size 0"):
            by_vector(empty, [wrong])
    by_vector(empty, np.zeros(0, "int64"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("use", USES)
def test_unsigned_positions_beyond_the_signed_ones(use, mode):
    j = at.vector("j", dtype="uint64")
    f = function_of(use, j, [j], mode)
    for wrong in (2**63, 2**63 + 5, 2**64 - 100):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
            f(VALUE, np.array([0, wrong], dtype="uint64"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("shape", "index", "axis", "size"),
    [
        ((2,), lambda m: m, 0, 3),
        ((4,), lambda m: m, 0, 3),
        ((3,), lambda m: (slice(None), m), 1, 4),
        ((3, 5), lambda m: m, 1, 4),
        ((0, 5), lambda m: m, 1, 4),
        ((3,), lambda m: (None, [1, 1], m), 1, 4),
    ],
)
def test_masks_of_other_sizes(shape, index, axis, size, use, mode):
    m = at.tensor("bool", shape=(None,) * len(shape), name="m")
    f = function_of(use, index(m), [m], mode)
    for fill in (True, False):
        with pytest.raises(IndexError, match=rf"boolean index did not match.*axis {axis}; size of axis is {size}"):
            f(VALUE, np.full(shape, fill))
    with pytest.raises(IndexError, match=f"boolean index did not match.*axis {axis}"):
        at.tensor("float64", shape=(3, 4))[index(np.ones(shape, bool))]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("use", USES)
def test_index_arrays_that_do_not_broadcast(use, mode):
    i, j, m = at.lvector("i"), at.lvector("j"), at.tensor("bool", shape=(None,), name="m")
    f = function_of(use, (i, j), [i, j], mode)
    with pytest.raises(IndexError, match="shape mismatch"):
        f(VALUE, [0, 1, 2], [0, 1])
    f(VALUE, [0, 1, 2], [1])
    f = function_of(use, (m, j), [m, j], mode)
    with pytest.raises(IndexError, match="shape mismatch"):
        f(VALUE, [True, True, True], [0, 1])
    f(VALUE, [True, False, True], [0, 1])
    with pytest.raises(IndexError, match="shape mismatch"):
        at.dmatrix()[[0, 1, 2], [0, 1]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("use", USES)
def test_steps_of_zero(use, mode):
    step = at.lscalar("step")
    f = function_of(use, (slice(None), slice(None, None, step)), [step], mode)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        f(VALUE, 0)
    f(VALUE, -2)
    with pytest.raises(ValueError, match="cannot be zero"):
        at.dmatrix()[::0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    "index", [slice(1, None), 1, [0, 0], (slice(None), np.array([True, False, True, True])), (None, 0)], ids=str
)
def test_values_that_do_not_fit(index, add, mode):
    x, y = at.dmatrix("x"), at.dvector("y")
    result = inc_subtensor(x[index], y) if add else set_subtensor(x[index], y)
    f = aesara.function([x, y], result, mode=mode)
    part = VALUE[index]
    for n in (1, part.shape[-1]):
        expected = VALUE.copy()
        values = np.arange(1.0, n + 1)
        if add:
            np.add.at(expected, index, np.broadcast_to(values, part.shape))
        else:
            expected[index] = values
        np.testing.assert_array_equal(f(VALUE, values), expected)
    for n in (0, 2, 5):
        if n != part.shape[-1]:
            with pytest.raises(ValueError, match=r"broadcast|shape"):
                f(VALUE, np.ones(n))


@pytest.mark.parametrize("mode", MODES)
def test_values_under_masks_that_do_not_fit(mode):
    x, m, y = at.dmatrix("x"), at.tensor("bool", shape=(None, None), name="m"), at.dvector("y")
    f = aesara.function([x, m, y], set_subtensor(x[m], y), mode=mode)
    mask = VALUE > 5
    expected = VALUE.copy()
    expected[mask] = np.arange(6.0)
    np.testing.assert_array_equal(f(VALUE, mask, np.arange(6.0)), expected)
    for n in (0, 5, 7):
        with pytest.raises(ValueError, match=r"broadcast|shape"):
            f(VALUE, mask, np.ones(n))


def test_sizes_that_are_known_not_to_fit():
    x = at.tensor("float64", shape=(3, 4), name="x")
    for index in (slice(1, None), [0, 1], (slice(None), np.array([True, False, True, True])), 0):
        with pytest.raises(ValueError, match=r"(?s)shape.*\(5,\)"):
            set_subtensor(x[index], np.ones(5))
        with pytest.raises(ValueError, match=r"(?s)shape.*\(5,\)"):
            inc_subtensor(x[index], np.ones(5))


@pytest.mark.parametrize("far", [2**63, 2**64, 10**30])
def test_bounds_beyond_int64(far):
    x = at.dvector("x")
    value = np.arange(5.0)
    indices = [slice(None, far), slice(far, None), slice(-far, None), slice(None, None, far), slice(None, None, -far)]
    for mode in MODES:
        for got, index in zip(aesara.function([x], [x[index] for index in indices], mode=mode)(value), indices):
            np.testing.assert_array_equal(got, value[index], err_msg=str(index))
    for index in (far, -far - 1, np.uint64(2**64 - 1)):
        with pytest.raises(IndexError, match="out of bounds for every tensor"):
            x[index]


def test_more_dimensions_than_arrays_can_have():
    x = at.dvector("x")
    for build in (lambda: x[(None,) * 64], lambda: x.reshape((1,) * 65), lambda: at.alloc(1.0, *[1] * 65)):
        with pytest.raises(ValueError, match=r"at most \d+ dimensions.*got 65"):
            build()
