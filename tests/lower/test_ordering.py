"""The k largest or smallest elements along an axis, and sorts of short and long rows, natively."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.steps import Call
from aesara.tensor.sort import ArgSortOp, SortOp, TopKOp

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native, compiled

DTYPES = ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64"]


def numbers(*shape, dtype="float64"):
    return (np.random.default_rng(len(shape)).normal(size=shape) * 5).astype(dtype)


@pytest.mark.parametrize("k", [1, 2, 5, 17, 18, -1, -3, -17, -18])
def test_of_a_vector(k):
    for x in (numbers(18), numbers(18).round(), np.zeros(18), np.arange(18.0), -np.arange(18.0)):
        assert_native(TopKOp(), x, np.int64(k), static=[False])
        assert_native(lambda x: TopKOp()(x, k), x)


@pytest.mark.parametrize("k", [3, -3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype(dtype, k):
    x = numbers(4, 30, dtype=dtype)
    assert_native(lambda x: TopKOp()(x, k), x)
    assert_native(TopKOp(axis=0, idx_dtype="int16"), x, np.int8(k), static=[False])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("k", [2, -2])
def test_along_each_axis(axis, k):
    for shape in ((3, 2, 4), (2, 2, 2), (3, 5, 2)):
        assert_native(lambda x: TopKOp(axis=axis)(x + 1, k), numbers(*shape).round())
    shape = [0, 0, 0]
    shape[axis] = 3
    assert_native(lambda x: TopKOp(axis=axis)(x, k), numbers(*shape))


def test_only_one_of_the_outputs():
    assert_native(lambda x: TopKOp(return_indices=False)(x, 3), numbers(9))
    assert_native(lambda x: TopKOp(return_values=False)(x, -3), numbers(9))


@pytest.mark.parametrize("k", [1, 4, 7, 9, -1, -4, -7, -9])
def test_special_values(k):
    x = np.array([np.nan, 1.0, np.inf, -0.0, 0.0, np.nan, -np.inf, 0.0, np.nan])
    assert_native(lambda x: TopKOp()(x, k), x)


@pytest.mark.parametrize("k", [0, 4, -4, 2**63 - 1, -(2**63)])
def test_the_number_is_checked(k):
    assert_both_raise(TopKOp(), numbers(3), np.int64(k))


def test_nothing_to_take_from():
    assert_both_raise(TopKOp(), numbers(0), np.int64(1))
    assert_both_raise(TopKOp(), numbers(2, 0), np.int64(-1))


def test_a_gradient():
    assert_native(lambda x: aesara.grad((TopKOp(axis=0)(x, 2)[0] ** 2).sum(), x), numbers(5, 3))


@pytest.mark.parametrize("k", [50, 120, -120, -200])
def test_long_vectors(k):
    assert_native(lambda x: TopKOp()(x, k), np.random.default_rng(0).integers(0, 50, 200), static=[False])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sorts_of_short_rows(axis, dtype):
    for shape in ((7, 4), (1, 9), (0, 3), (3, 0), (1, 1), (40, 2), (2, 40)):
        x = numbers(*shape, dtype=dtype)
        assert_native(lambda x: SortOp("stable")(x, axis), x, static=[True])
        assert_native(lambda x: ArgSortOp("stable")(x, axis), x, static=[True])


def test_sorts_of_special_values():
    x = np.array([np.nan, 1.0, np.inf, -np.inf, np.nan, 2.0])
    assert_native(lambda x: [SortOp("quicksort")(x, 0), ArgSortOp("stable")(x, -1)], x, static=[True])


def test_gradient_of_a_sort():
    assert_native(lambda x: aesara.grad((SortOp("stable")(x, 0) * np.arange(5.0)).sum(), x), numbers(5), static=[True])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["quicksort", "mergesort", "heapsort", "stable"])
def test_long_rows_are_sorted_by_the_functions_of_numpy(kind, dtype):
    for shape, axis in (((3, 40), 1), ((40, 3), 0), ((2, 20, 3), -2), ((0, 30), 1), ((30, 0), 0), ((1, 1), 0)):
        x = numbers(*shape, dtype=dtype)
        assert_native(lambda x: SortOp(kind)(x, axis), x, static=[False])
        if kind != "heapsort":
            assert_native(lambda x: ArgSortOp(kind)(x, axis), x, static=[False])


def test_long_rows_of_special_values():
    x = np.tile([np.nan, 1.0, np.inf, -0.0, 0.0, -np.inf, np.nan, 2.0], 9)
    assert_native(lambda x: [SortOp("quicksort")(x, 0), SortOp("stable")(-x, 0), ArgSortOp("stable")(x, -1)], x)
    assert_native(lambda x: SortOp("stable")(x[::-2], 0), x, static=[False])


def test_what_is_sorted_stays_as_it_was():
    x = numbers(100)
    kept = x.copy()
    v = at.dvector("v")
    f = aesara.function([v], [at.sort(v), v + 1, at.sort(v + 1), at.argsort(v)])
    assert f._native.report.python_nodes == {}
    for got, wanted in zip(f(x), [np.sort(x), x + 1, np.sort(x + 1), np.argsort(x)]):
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(x, kept)


def test_what_nobody_else_reads_is_sorted_where_it_is_computed():
    v, m = at.dmatrix("v"), at.dmatrix("m")
    f = aesara.function([m, v], at.sort(m @ v, axis=1))
    product, sort = [step for step in f._native.program.steps if isinstance(step, Call)]
    assert list(product.writes()) == list(sort.writes())
    a, b = numbers(30, 4), numbers(4, 20)
    np.testing.assert_array_equal(f(a, b), np.sort(a @ b))


def test_what_somebody_else_reads_is_sorted_in_a_copy():
    a, b = numbers(30, 4), numbers(4, 20)
    x, y = at.dmatrices("x", "y")
    product = x @ y
    for results in ([at.sort(product), product], [at.sort(product), product.sum(axis=0)], [product, at.sort(product)]):
        f = aesara.function([x, y], results)
        assert f._native.report.python_nodes == {}
        wanted = [np.sort(a @ b) if r is not product and r.ndim == 2 else (a @ b).sum(axis=0) for r in results]
        wanted = [a @ b if r is product else w for r, w in zip(results, wanted)]
        for got, expected in zip(f(a, b), wanted):
            np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_a_shared_variable_becomes_its_sorted_value():
    s = aesara.shared(numbers(50))
    f = aesara.function([], s.sum(), updates=[(s, at.sort(s, kind="stable") * 2)])
    wanted = np.sort(s.get_value()) * 2
    f()
    np.testing.assert_array_equal(s.get_value(), wanted)


def test_which_of_equal_elements_comes_first_in_a_heapsort_is_left_to_numpy():
    x = numbers(1000).round()
    f = compiled(lambda x: ArgSortOp("heapsort")(x, 0), [x], False)
    (reason,) = f._native.report.python_nodes.values()
    assert "heapsort" in reason
    np.testing.assert_array_equal(f(x)[0], np.argsort(x, kind="heapsort"))


def test_any_number_of_short_rows():
    x = at.TensorType("float64", (None, 16))("x")
    f = aesara.function([x], [SortOp("stable")(x, 1), ArgSortOp("stable")(x, -1)])
    assert f._native.report.python_nodes == {}
    for rows in (0, 1, 500):
        value = numbers(rows, 16).round()
        sorted_rows, positions = f(value)
        np.testing.assert_array_equal(sorted_rows, np.sort(value, axis=1))
        np.testing.assert_array_equal(positions, np.argsort(value, axis=1, kind="stable"))


def test_sorts_in_the_step_of_a_loop_keep_the_loop_native():
    def step(row, total):
        return at.sort(row) * at.argsort(total) + total * at.argsort(row, kind="heapsort")

    x = at.dmatrix("x")
    out, _ = aesara.scan(step, sequences=[x], outputs_info=[at.zeros_like(x[0])])
    f, reference = aesara.function([x], out), aesara.function([x], out, mode="FAST_COMPILE")
    assert f._native.report.python_nodes == {}
    for shape in ((5, 200), (3, 0), (4, 1)):
        np.testing.assert_array_equal(f(numbers(*shape)), reference(numbers(*shape)))
