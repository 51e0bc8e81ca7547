"""Reshapes with -1 of arrays without elements: where the other lengths multiply to 0, it is an error, as in NumPy."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

REFERENCE = Mode(linker="py", optimizer=None)
SHAPES = [(0, 3), (3, 0), (0, 0), (0,), (2, 3), (0, 2, 3), (2, 0, 3), (1, 0)]
FORMS = {
    "(-1, n)": lambda x, d: x.reshape((-1, x.shape[d])),
    "(n, -1)": lambda x, d: x.reshape((x.shape[d], -1)),
    "(-1, n, 1)": lambda x, d: x.reshape((-1, x.shape[d], 1)),
    "(n, -1), then (-1,)": lambda x, d: x.reshape((x.shape[d], -1)).reshape((-1,)),
    "(-1, n) and back": lambda x, d: x.reshape((-1, x.shape[d])).reshape(x.shape),
    "of all in a row": lambda x, d: x.reshape((-1,)).reshape((x.shape[d], -1)),
    "of a part": lambda x, d: x[:0].reshape((x.shape[d], -1)),
    "of a sum": lambda x, d: x.sum(axis=d, keepdims=True).reshape((-1, x.shape[d])),
    "(-1, 0)": lambda x, d: x.reshape((-1, 0)),
    "(2, -1)": lambda x, d: x.reshape((2, -1)),
}


def result(function, *arguments):
    """The result, or that there is an error."""
    try:
        return np.asarray(function(*arguments))
    except ValueError:
        return "an error"


def assert_same(got, expected):
    if isinstance(expected, str) or isinstance(got, str):
        assert isinstance(expected, str) and isinstance(got, str)
    else:
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_reshape_to_open_lengths_agrees_with_numpy(name, rank):
    x = at.tensor("float64", shape=(None,) * rank)
    for d in range(rank):
        outputs = [FORMS[name](x, d), at.exp(FORMS[name](x, d)), FORMS[name](at.exp(x), d), FORMS[name](x, d).sum()]
        functions = [aesara.function([x], y, mode=m) for y in outputs for m in ("FAST_RUN", "FAST_COMPILE", REFERENCE)]
        for shape in (s for s in SHAPES if len(s) == rank):
            value = np.arange(float(np.prod(shape))).reshape(shape)
            expected = result(FORMS[name], value, d)
            wanted = [expected] * 4
            if not isinstance(expected, str):
                wanted = [expected, np.exp(expected), FORMS[name](np.exp(value), d), expected.sum()]
            for k, function in enumerate(functions):
                got, want = result(function, value), wanted[k // 3]
                if isinstance(want, str) or isinstance(got, str):
                    assert_same(got, want)
                else:
                    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 3)])
def test_gradients_are_of_what_has_a_value(shape):
    x, value = at.dmatrix(), np.ones(shape)
    y = aesara.function([x], at.grad((x.reshape((-1, x.shape[1])) ** 2).sum(), x))
    assert_same(result(y, value), "an error" if shape[1] == 0 else 2 * value)
