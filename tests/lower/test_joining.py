"""Lowering of joins and splits of many arrays."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.expr import walk
from aesara.ir.steps.base import walk_steps

VECTORS = [at.dvector(f"x{k}") for k in range(160)]


def joined(n):
    return VECTORS[:n], at.concatenate([2 * x for x in VECTORS[:n]])


def joined_rows(n):
    """One of the lengths is known, and all rows must be as long."""
    rows = [at.dmatrix() for _ in range(n - 1)] + [at.tensor("float64", shape=(3, None))]
    return rows, at.join(0, *rows)


def gradients(n):
    xs = VECTORS[:n]
    whole = at.concatenate(xs)
    return xs, aesara.grad((whole**2 * at.arange(whole.shape[0])).sum(), xs)


def split(n):
    x, sizes = at.dvector(), at.lvector()
    return [x, sizes], [2 * part for part in at.split(x, sizes, n)]


def work_of(inputs, outputs):
    """Return the number of expressions in the steps of a program, with repetitions."""
    program = aesara.function(inputs, outputs)._native.report.lowering.program
    return sum(len(list(walk([e]))) for step in walk_steps(program.steps) for e in step.expressions())


@pytest.mark.parametrize("build", [joined, joined_rows, gradients, split])
def test_expressions_grow_with_the_number_of_parts(build):
    """The offset of the last part is no longer expression than those of the first ones."""
    few, many = (work_of(*build(n)) for n in (40, 160))
    assert few < many < 6 * few


@pytest.mark.parametrize("n", [2, 15, 16, 17, 33, 160])
def test_values_of_many_parts(n, rng):
    values = [rng.normal(size=k % 4) for k in range(n)]
    xs, whole = joined(n)
    np.testing.assert_array_equal(aesara.function(xs, whole)(*values), 2 * np.concatenate(values))
    xs, slopes = gradients(n)
    start = 0
    for slope, value in zip(aesara.function(xs, slopes)(*values), values, strict=True):
        np.testing.assert_allclose(slope, 2 * value * np.arange(start, start + len(value)), rtol=1e-15)
        start += len(value)
    rows = [rng.normal(size=(k % 3, 2)) for k in range(n - 1)] + [rng.normal(size=(3, 2))]
    np.testing.assert_array_equal(aesara.function(*joined_rows(n))(*rows), np.concatenate(rows))
    inputs, parts = split(n)
    pieces = aesara.function(inputs, parts)(np.concatenate(values), [len(value) for value in values])
    for piece, value in zip(pieces, values, strict=True):
        np.testing.assert_array_equal(piece, 2 * value)


def test_errors_of_many_parts():
    rows = [at.dmatrix() for _ in range(40)]
    f = aesara.function(rows, at.join(0, *rows))
    values = [np.ones((2, 3))] * 39
    assert f(*values, np.ones((0, 3))).shape == (78, 3)
    with pytest.raises(ValueError, match="input 39 has size 4"):
        f(*values, np.ones((2, 4)))
    (x, sizes), parts = split(40)
    f = aesara.function([x, sizes], parts)
    with pytest.raises(ValueError, match="sum to 79, but the axis has size 80"):
        f(np.ones(80), [2] * 39 + [1])
    with pytest.raises(ValueError, match="between 0 and the size of the axis"):
        f(np.ones(80), [2] * 38 + [-1, 5])


def test_memory_of_many_parts_is_known_for_examples():
    xs = VECTORS[:40]
    whole = at.concatenate(xs)
    f = aesara.function(xs, at.cumsum(whole[::-1]))
    assert aesara.memory_plan(f, *[np.ones(5)] * 40).peak() == 2 * 8 * 5 * 40
