"""Inputs that an op cannot take: the reference and native code both say so."""

import numpy as np
import pytest

import aesara.tensor as at
from aesara.tensor.type import TensorType
from tests.optable.running import MODES, called, compiled

X = np.arange(12.0).reshape(3, 4)
MINUS = np.array([-1, -2])

#: what is computed, and inputs for which it cannot be
BAD = {
    "index too large": (lambda x, i: x[i], X, np.int64(3)),
    "index too small": (lambda x, i: x[i], X, np.int64(-4)),
    "indices too large": (lambda x, i: x[i], X, np.array([0, 3])),
    "indices too small": (lambda x, i: x[:, i], X, np.array([0, -5])),
    "mask too long": (lambda x, m: x[m], X, np.ones(4, bool)),
    "indices that do not broadcast": (lambda x, i, j: x[i, j], X, np.array([0, 1]), np.array([0, 1, 2])),
    "value that does not fit": (lambda x, y: at.set_subtensor(x[1:], y), X, np.ones((3, 4))),
    "indices of a write": (lambda x, y, i: at.inc_subtensor(x[i], y), X, np.ones((2, 4)), np.array([0, 7])),
    "shapes that differ": (lambda x, y: x + y, X, np.ones((3, 5))),
    "run-time broadcasting": (lambda x, y: x * y, X, np.ones((1, 4))),
    "matrix product": (lambda x, y: at.dot(x, y), X, np.ones((3, 2))),
    "reshape": (lambda x: at.reshape(x, (5, 5)), X),
    "reshape with two unknowns": (lambda x, n: at.reshape(x, (n, 5)), X, np.int64(-1)),
    "specified shape": (lambda x: at.specify_shape(x, (3, 5)), X),
    "join": (lambda x, y: at.join(0, x, y), X, np.ones((3, 5))),
    "split": (lambda x, n: at.split(x, n, 2), X, np.array([1, 1])),
    "split by negative sizes": (lambda x, n: at.split(x, n, 2), X, np.array([4, -1])),
    "largest of nothing": (lambda x: at.max(x, axis=0), np.ones((0, 4))),
    "position of the largest of nothing": (lambda x: at.argmax(x), np.ones((0, 4))),
    "alloc of a negative size": (lambda n: at.zeros((n, 2)), np.int64(-1)),
    "step of zero": (lambda n: at.arange(0, 5, n), np.int64(0)),
    "slice of step zero": (lambda x, n: x[::n], X, np.int64(0)),
    "assertion": (lambda x: at.basic.assert_op(x, x.sum() < 0), X),
    "choice": (lambda i, x: at.choose(i, x), np.array([0, 5, 1, 0]), X),
    "take": (lambda x, i: at.take(x, i), X, np.array([12])),
    "repeats": (lambda x, n: at.repeat(x, n, axis=0), X, np.array([1, 2])),
    "negative repeats": (lambda x, n: at.repeat(x, n, axis=0), X, np.array([1, -2, 1])),
    "bincount of a negative": (lambda x: at.bincount(x), MINUS),
    "unravel_index": (lambda i: at.unravel_index(i, (3, 4)), np.array([12])),
    "ravel_multi_index": (lambda i: at.ravel_multi_index((i, i), (3, 4)), np.array([3])),
    "negative power of an integer": (lambda x, n: x**n, np.array([2, 3]), MINUS),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.filterwarnings("ignore")
def test_errors(name):
    function, *values = BAD[name]
    inputs = [TensorType(str(np.asarray(v).dtype), (None,) * np.ndim(v))() for v in values]
    outputs = function(*inputs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    for mode in MODES.values():
        compiled_function = compiled(inputs, outputs, mode)
        with pytest.raises((ValueError, IndexError, AssertionError, ArithmeticError)) as caught:
            called(compiled_function, values)
        assert str(caught.value).strip()
