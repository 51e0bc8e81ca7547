"""Axes, lengths and ranges that are known only at run time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.joining.join_split import Join, Split
from aesara.tensor.shape import Reshape

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native, compiled


def numbers(*shape, dtype="float64"):
    return (np.random.default_rng(len(shape)).normal(size=shape) * 5).astype(dtype)


# -- joining and splitting along an axis that is known at run time -----------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_join_along_an_axis_of_run_time(axis):
    x = numbers(2, 3, 4)
    assert_native(lambda a, x, y: Join()(a, x, y * 2, x), np.int64(axis), x, x.astype("float32"))
    shape = [2, 3, 4]
    shape[axis] = 0
    for other in (np.zeros(shape), np.ones([5 if d == axis % 3 else n for d, n in enumerate((2, 3, 4))])):
        assert_native(Join(), np.int8(axis), x, other, static=[False])


@pytest.mark.parametrize("axis", [2, -3, 100, -(2**63)])
def test_axis_of_run_time_is_checked(axis):
    assert_both_raise(Join(), np.int64(axis), numbers(2, 2), numbers(2, 2))
    assert_both_raise(lambda a, x: Split(2)(x, a, [1, 1]), np.int64(axis), numbers(2, 2))


@pytest.mark.parametrize("axis", [0, 1])
def test_join_checks_the_other_sizes(axis):
    x, y = numbers(2, 3), numbers(2, 4)
    if axis == 1:
        assert_native(Join(), np.int64(1), x, y, static=[False])
    else:
        assert_both_raise(Join(), np.int64(0), x, y)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_split_along_an_axis_of_run_time(axis):
    build = lambda a, x, n: Split(3)(x, a, n)
    x = numbers(6, 6)
    assert_native(build, np.int64(axis), x, np.array([1, 0, 5]), static=[False])
    assert_native(lambda a, x, n: [p.sum(axis=0) for p in build(a, x, n)], np.int64(axis), x, np.array([2, 2, 2]),
                  static=[False], ulps=4)  # fmt: skip
    assert_both_raise(build, np.int64(axis), x, np.array([1, 2, 4]))
    assert_both_raise(build, np.int64(axis), x, np.array([-1, 2, 5]))
    assert_both_raise(build, np.int64(axis), x, np.array([1, 5]))


def test_lengths_of_pieces_do_not_overflow():
    far = 2**63 - 1
    assert_both_raise(lambda x, n: Split(3)(x, 0, n), numbers(4), np.array([far, far, 6]))


def test_gradient_of_a_join_along_an_axis_of_run_time():
    def build(a, x, y):
        joined = Join()(a, x, y)
        return aesara.grad((joined * at.arange(joined.shape[1])).sum(), [x, y])

    for axis in (0, 1, -1):
        assert_native(build, np.int64(axis), numbers(3, 3), numbers(3, 3), static=[False])


# -- reshaping ---------------------------------------------------------------------------------------------------


def reshaped(x, *lengths):
    return Reshape(len(lengths))(x, at.stack(lengths))


@pytest.mark.parametrize("shape", [(-1, 4), (3, -1), (12, 1), (1, -1), (3, 4)])
def test_reshape_to_lengths_of_run_time(shape):
    assert_native(lambda x, n, m: reshaped(x, n, m) + 1, numbers(3, 4), *map(np.int64, shape), static=[False])
    assert_native(lambda x, n: reshaped(x, n, shape[1]) + 1, numbers(3, 4), np.int64(shape[0]), static=[False])


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (-1, 3), (0, 0)])
def test_reshape_of_nothing(shape):
    assert_native(lambda x, n, m: reshaped(x, n, m), numbers(0, 4), *map(np.int64, shape), static=[False])


@pytest.mark.parametrize(
    "shape", [(-1, -1), (0, -1), (-2, -6), (5, -1), (5, 5), (-(2**63), -1), (2**32, 2**32), (2**62, 4)]
)
@pytest.mark.parametrize("count", [0, 1, 12])
def test_reshape_checks_lengths_of_run_time(shape, count):
    if shape == (5, -1) and not count:
        count = 7
    assert_both_raise(lambda x, n, m: reshaped(x, n, m), numbers(count), *map(np.int64, shape))
    if shape[1] >= -1:
        assert_both_raise(lambda x, n: reshaped(x, n, shape[1]), numbers(count), np.int64(shape[0]))


def test_no_product_of_sizes_overflows():
    assert_both_raise(lambda x, y: reshaped(x, x.shape[0], y.shape[0]), np.zeros((2**32, 0)), np.zeros((2**32, 0)))


# -- ranges ------------------------------------------------------------------------------------------------------

BOUNDS = [
    (0.0, 1.0, 0.1), (0.5, -3.0, -0.7), (0.0, 1.0, -0.1), (1.0, 1.0, 0.5), (-0.0, 0.5, 1.0), (1e16, 1e16 + 20, 3.0),
    (0.0, 1.0, np.inf), (0.0, -1.0, np.inf), (0.0, 1.0, -np.inf), (0.0, 1e-320, 1e300), (0.1, 0.1 + 1e-17, 1.0),
    (0.0, 3.0, 0.1), (-2.5, 2.5, 1.5),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64"])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_ranges_of_floats(bounds, dtype):
    wide = np.finfo("float16").max
    for given in ("float64", "float32", "float16"):
        if given == "float16" and max(abs(b) for b in bounds if np.isfinite(b)) > wide:
            continue
        values = [np.array(b, given) for b in bounds]
        if dtype in ("int8", "int64", "float16") and any(abs(v) > 100 for v in values):
            continue
        assert_native(ARange(dtype), *values, static=[False])
        assert_native(lambda n: ARange(dtype)(*values)[n:], np.int64(0))


@pytest.mark.parametrize(
    "given", [("float32", "int64", "int8"), ("int8", "float32", "float64"), ("int16", "int16", "float16")]
)
def test_ranges_of_mixed_bounds(given):
    for bounds in ((0, 3, 1), (-2, 7, 2), (3, 0, 1), (3, -5, -1)):
        values = [np.array(b, d) for b, d in zip(bounds, given, strict=True)]
        assert_native(lambda *v: at.arange(*v), *values, static=[False])
        assert_native(lambda *v: at.arange(*v).shape, *values, static=[False])


@pytest.mark.parametrize(
    "bounds",
    [
        (np.nan, 1.0, 1.0), (0.0, np.nan, 1.0), (0.0, 1.0, np.nan), (0.0, np.inf, 1.0), (0.0, -np.inf, 1.0),
        (-np.inf, np.inf, 1.0), (np.inf, np.inf, 1.0), (0.0, 1e30, 1.0), (0.0, -1e30, 1.0), (0.0, 1.0, 0.0),
        (1.0, 1.0, 0.0), (-1e308, 1e308, 1e300),
    ],
)  # fmt: skip
def test_ranges_without_a_length(bounds):
    assert_both_raise(ARange("float64"), *bounds)


@pytest.mark.parametrize("bounds", [(0, 5, 0), (-(2**63), 2**63 - 1, 1), (2**63 - 1, -(2**63), 1)])
def test_ranges_of_integers_without_a_length(bounds):
    assert_both_raise(ARange("int64"), *map(np.int64, bounds))


def test_ranges_of_booleans_have_two_entries():
    assert_native(ARange("bool"), np.int64(0), np.int64(2), np.int64(1), static=[False])
    assert_native(ARange("bool"), 0.0, 2.0, 1.0, static=[False])
    assert_both_raise(ARange("bool"), np.int64(0), np.int64(3), np.int64(1))
    assert_both_raise(ARange("bool"), 0.0, 3.0, 1.0)


def test_gradient_through_a_range():
    build = lambda a, b: aesara.grad((at.arange(a, 5.0, b) ** 2).sum(), [a, b])
    assert_native(build, 0.5, 0.75, static=[False], ulps=8)


def test_a_long_range_is_not_made_to_know_its_length():
    f = compiled(lambda n: at.arange(0.0, n, 0.5).shape, [np.float64(1)], False)
    assert f(np.float64(1e15))[0] == 2 * 10**15


# -- memory ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2**31, 2**32, 2**61, 2**62])
def test_no_number_of_bytes_overflows(n):
    f = compiled(lambda n: at.alloc(1.0, n, n).cumsum(axis=0).sum(axis=1)[:3], [np.int64(1)], False)
    with pytest.raises(MemoryError):
        f(np.int64(n))
    late = compiled(
        lambda n: at.cumsum(at.alloc(1.0, n[0] + n[1], n[0]), axis=0).sum(axis=1)[:3], [np.ones(2, "int64")], False
    )
    with pytest.raises(MemoryError):
        late(np.array([n, 0]))
