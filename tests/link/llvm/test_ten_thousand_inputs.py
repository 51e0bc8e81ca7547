"""Functions of ten thousand inputs are correct, and the compile time grows linearly."""

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at

sys.path.insert(0, str(Path(__file__).parents[2]))
from counting import calls_in

pytestmark = pytest.mark.slow
COUNT = 10_000


def test_arguments():
    kinds = [at.dscalar, at.dvector, at.lscalar]
    variables = [kinds[k % 3](f"x{k}") for k in range(COUNT)]
    vectors, numbers = variables[1::3], variables[::3] + variables[2::3]
    f = aesara.function(variables, [at.add(*vectors), at.add(*numbers)])
    values = [np.array([k, -k], "float64") if k % 3 == 1 else k for k in range(COUNT)]
    for given in (values, list(map(np.asarray, values)), [np.asarray(v)[..., None][..., 0] for v in values]):
        total, number = f(*given)
        np.testing.assert_array_equal(total, sum(range(1, COUNT, 3)) * np.array([1.0, -1.0]))
        assert number == sum(k for k in range(COUNT) if k % 3 != 1)
    with pytest.raises((TypeError, ValueError), match=f"x{COUNT - 1}"):
        f(*values[:-1], "many")
    with pytest.raises(ValueError):
        f(*values[:-3], np.ones(3), *values[-2:])


def test_shared_variables():
    shared = [aesara.shared(np.full(2, k) if k % 2 else float(k)) for k in range(COUNT // 8)]
    f = aesara.function([], [], updates=[(s, s + 1) for s in shared])
    for call in range(1, 3):
        f()
        for k, s in enumerate(shared):
            np.testing.assert_array_equal(s.get_value(), np.full((2,) * (k % 2), k + call))


def function_of(kind, count):
    """Return the graph of a function with this many inputs, shared variables or results."""
    vectors = [at.dvector(f"x{k}") for k in range(count)]
    if kind == "arguments":
        return vectors, [sum(v.sum() for v in vectors)], []
    if kind == "results":
        return [vectors[0]], [vectors[0] * k for k in range(count)], []
    shared = [aesara.shared(np.ones(2)) for _ in range(count)]
    return [], [sum(s.sum() for s in shared)], [(s, s * 2) for s in shared]


@pytest.mark.parametrize("kind", ["arguments", "results", "shared variables"])
def test_work_grows_with_the_number(kind):
    work, sizes, made = [], [], []
    for count in (240, 240, 960):  # what is done once in a process is done first
        inputs, outputs, updates = function_of(kind, count)
        with aesara.config.change_flags(native_cache=False):  # it removes files by chance
            work.append(calls_in(lambda: made.append(aesara.function(inputs, outputs, updates=updates))))
        sizes.append(len(made[-1]._native.report.text))
    assert work[1] > 10_000 and 3 < work[2] / work[1] < 4.1
    assert 3 < sizes[2] / sizes[1] < 4.2
