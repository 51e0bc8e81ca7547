"""Results that are views of what the program computes: made in the memory that is returned, without a copy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.steps import Allocate, walk_steps

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native, compiled

M = np.arange(12.0).reshape(3, 4)
V = np.arange(4.0)


def slots(function):
    """Return the number of buffers other than results."""
    steps = walk_steps(function._native.report.lowering.program.steps)
    return sum(isinstance(s, Allocate) and s.output is None for s in steps)


@pytest.mark.parametrize(
    "build",
    [
        lambda m, v: at.repeat(m, 2, axis=0), lambda m, v: at.repeat(m, 3, axis=1), lambda m, v: at.tile(m, (2, 3)),
        lambda m, v: (m * 2).flatten(), lambda m, v: (m * 2).reshape((4, 3)), lambda m, v: (m + v).reshape((2, -1)),
        lambda m, v: at.dot(m, v), lambda m, v: at.dot(m.T, m).reshape((-1,)), lambda m, v: m.sum(1, keepdims=True),
        lambda m, v: at.cumsum(m, axis=0).reshape((2, 6)), lambda m, v: at.concatenate([m, m]).flatten(),
        lambda m, v: at.set_subtensor(m[1], v).flatten(), lambda m, v: at.tensordot(v, m, axes=[[0], [1]]),
        lambda m, v: (m * 2).reshape((4, 3)).reshape((2, 6)),
    ],
)  # fmt: skip
def test_no_other_memory_is_needed(build):
    for static in (False, True):
        assert slots(compiled(build, [M, V], static)) == 0
    assert_native(build, M, V)


@pytest.mark.parametrize("whole", [True, False])
def test_results_do_not_share_memory(whole):
    def build(m, v):
        y = m * 2
        return [*[y] * whole, y.flatten(), y.reshape((4, 3)), y.reshape((4, 3)), y.sum()]

    assert_native(build, M, V)
    results = compiled(build, [M, V], False)(M, V)
    for k, a in enumerate(results):
        for b in results[:k]:
            assert not np.shares_memory(a, b)


def test_views_that_others_read_too():
    assert_native(lambda m: [(m * 2).flatten(), (m * 2).flatten()[1:] + 1, (m * 2).sum(axis=0)], M)


@pytest.mark.parametrize("given", [(4, 3), (-1, 6), (12, 1)])
def test_sizes_that_are_arguments(given):
    assert_native(lambda m, s: at.reshape(m * 2, s, ndim=2), M, np.array(given))


@pytest.mark.parametrize("given", [(5, 3), (400, 300), (-1, 5), (2**40, 2**40)])
def test_sizes_that_do_not_fit_are_found_before_memory_is_taken(given):
    """Also where they are computed: then the result is a copy."""
    sizes = np.array(given)
    assert_both_raise(lambda m, s: at.reshape(m * 2, s, ndim=2), M, sizes)
    assert_both_raise(lambda m, s: at.reshape(m * 2, s.cumsum() * [1, 0] + [0, 1] * s, ndim=2), M, sizes)


def test_sizes_that_are_computed():
    assert_native(lambda m, s: at.reshape(m * m, at.cumsum(s), ndim=2), M, np.array([3, 1]))

    def by_its_elements(m):
        y = at.cumsum(m, axis=0)
        return y.reshape((y[0, 3].astype("int64"), 4))

    assert_native(by_its_elements, M)


def test_complex_results():
    assert_native(
        lambda m: [(at.complex_from_polar(m, m)).reshape((4, 3)), at.repeat(m + 1j * m, 2, axis=0)], M, ulps=4
    )


def test_new_values_of_shared_variables():
    s = aesara.shared(M.copy())
    function = aesara.function([], [(s * 2).flatten()], updates={s: (s.reshape((4, 3)) + 1).reshape((3, 4))})
    np.testing.assert_array_equal(function()[0], M.flatten() * 2)
    np.testing.assert_array_equal(s.get_value(), M + 1)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100])
def test_the_number_of_elements_is_computed(count):
    """The sizes are known before the elements are counted that have to fit them."""
    v = np.arange(200.0) - 199.5 + count  # so many are positive
    check = assert_native if count == 2 else assert_both_raise
    check(lambda v: at.cumsum(v[v > 0]).reshape((2, 1)), v)


@pytest.mark.parametrize(
    "axes", [2, [[0, 1], [0, 1]], [[1, 0], [1, 0]], [[1, 2], [0, 1]], [[2, 1], [1, 0]], [[0], [2]]]
)
def test_tensordot_reads_its_operands_in_place(axes):
    a = np.random.default_rng(0).normal(size=(2, 3, 4))
    b = np.random.default_rng(1).normal(size=(2, 3, 5) if axes in ([[0, 1], [0, 1]], [[1, 0], [1, 0]]) else (3, 4, 2))
    for static in (False, True):
        function = compiled(lambda a, b: at.tensordot(a, b, axes), [a, b], static)
        assert slots(function) == 0
        np.testing.assert_allclose(function(a, b)[0], np.tensordot(a, b, axes), rtol=1e-13, atol=1e-13)


def test_of_rows_of_which_one_element_each_is_taken_the_others_are_not_computed():
    m = np.random.default_rng(0).uniform(1, 2, size=(3, 4))
    y = np.array([3, 0, 3])

    def logarithms(m, y):
        return at.log(m)[at.arange(y.shape[0]), y]

    function = compiled(logarithms, [m, y], False)
    sizes = [
        s.buffer.shape for s in walk_steps(function._native.report.lowering.program.steps) if isinstance(s, Allocate)
    ]
    assert max(map(len, sizes)) == 1
    assert_native(logarithms, m, y, ulps=2)
    # where elements are taken many times over, each is computed once
    function = compiled(lambda m, y: at.log(m)[y % 3, y], [m, y], False)
    sizes = [
        s.buffer.shape for s in walk_steps(function._native.report.lowering.program.steps) if isinstance(s, Allocate)
    ]
    assert max(map(len, sizes)) == 2
