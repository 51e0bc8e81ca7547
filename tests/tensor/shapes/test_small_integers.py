"""Numbers, positions and shapes of small integer dtypes beside lengths that do not fit these dtypes."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

#: by name, a function of a vector, a matrix, a number, positions and the length: in Aesara, and in NumPy
CASES = {
    "repeat": (lambda x, m, n, i, k: at.repeat(x, n), lambda x, m, n, i, k: np.repeat(x, n)),
    "repeat along an axis": (
        lambda x, m, n, i, k: at.repeat(m, n, axis=0), lambda x, m, n, i, k: np.repeat(m, n, axis=0)
    ),
    "tile": (lambda x, m, n, i, k: at.tile(m, (n, n)), lambda x, m, n, i, k: np.tile(m, (n, n))),
    "roll": (lambda x, m, n, i, k: at.roll(x, n), lambda x, m, n, i, k: np.roll(x, n)),
    "take, clip": (lambda x, m, n, i, k: at.take(x, i, mode="clip"), lambda x, m, n, i, k: np.take(x, i, mode="clip")),
    "take, wrap": (lambda x, m, n, i, k: at.take(x, i, mode="wrap"), lambda x, m, n, i, k: np.take(x, i, mode="wrap")),
    "take of all": (lambda x, m, n, i, k: at.take(m, i), lambda x, m, n, i, k: np.take(m, i)),
    "rows": (lambda x, m, n, i, k: m[i], lambda x, m, n, i, k: m[i]),
    "elements": (lambda x, m, n, i, k: m[i, 1], lambda x, m, n, i, k: m[i, 1]),
    "parts": (lambda x, m, n, i, k: x[n:] - x[:-3], lambda x, m, n, i, k: x[3:] - x[:-3]),
    "ravel": (
        lambda x, m, n, i, k: at.ravel_multi_index((i, i % 2), (k, 2)),
        lambda x, m, n, i, k: np.ravel_multi_index((i, i % 2), (k, 2)),
    ),
    "unravel": (
        lambda x, m, n, i, k: at.unravel_index(i, (k, 2))[0], lambda x, m, n, i, k: np.unravel_index(i, (k, 2))[0]
    ),
    "eye": (lambda x, m, n, i, k: at.eye(n, 300, 190), lambda x, m, n, i, k: np.eye(3, 300, 190)),
    "alloc": (lambda x, m, n, i, k: at.alloc(x, n, k), lambda x, m, n, i, k: np.broadcast_to(x, (3, k))),
    "split": (lambda x, m, n, i, k: at.split(x, [n, k - n], 2)[1], lambda x, m, n, i, k: np.split(x, [3])[1]),
    "pad": (lambda x, m, n, i, k: at.pad(x, n), lambda x, m, n, i, k: np.pad(x, 3)),
    "delete": (lambda x, m, n, i, k: at.delete(x, n), lambda x, m, n, i, k: np.delete(x, 3)),
    "insert": (lambda x, m, n, i, k: at.insert(x, n, 7), lambda x, m, n, i, k: np.insert(x, 3, 7)),
    "reshape": (lambda x, m, n, i, k: m.reshape((n - 1, k)), lambda x, m, n, i, k: m.reshape((2, k))),
    "grid": (lambda x, m, n, i, k: at.mgrid[0:n, 0:k][1], lambda x, m, n, i, k: np.mgrid[0:3, 0:k][1]),
    "lengths": (lambda x, m, n, i, k: x.shape[0] * n + m.size, lambda x, m, n, i, k: np.int64(5 * k)),
}  # fmt: skip


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("length", [100, 200])
def test_lengths_do_not_wrap(length, dtype, known):
    shapes = [(length,), (length, 2), (), (4,)]
    dtypes = ["int64", "int64", dtype, dtype]
    inputs = [at.tensor(d, s if known else (None,) * len(s)) for d, s in zip(dtypes, shapes)]
    values = [
        np.arange(length),
        np.arange(2 * length).reshape(length, 2),
        np.array(3, dtype),
        np.array([0, 1, 99, 5], dtype),
    ]
    names = [name for name in CASES if known or name != "split"]
    function = aesara.function(inputs, [CASES[name][0](*inputs, length) for name in names])
    wide = [*values[:2], 3, values[3].astype("int64")]  # NumPy's own lengths wrap
    for name, got in zip(names, function(*values), strict=True):
        np.testing.assert_array_equal(got, CASES[name][1](*wide, length), err_msg=name)
