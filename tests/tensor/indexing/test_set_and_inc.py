"""``x[idx].set(y)`` and ``x[idx].inc(y)``."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

X = np.arange(12.0).reshape(3, 4)
INDICES = {
    "row": 1,
    "slice": (slice(None), slice(1, 3)),
    "rows": ([0, 2],),
    "elements": ([0, 2], [1, 3]),
    "mask": (X > 5,),
    "mixed": (slice(None), [3, 0]),
    "negative": (-1, slice(None, None, -1)),
}


@pytest.mark.parametrize("name", INDICES)
def test_like_numpy(name):
    index, x = INDICES[name], at.dmatrix("x")
    index = tuple(np.asarray(i) if isinstance(i, list) else i for i in index) if isinstance(index, tuple) else index
    replaced, increased = aesara.function([x], [x[index].set(7.0), x[index].inc(x[index] + 1)])(X)
    expected, more = X.copy(), X.copy()
    expected[index] = 7.0
    more[index] += X[index] + 1
    np.testing.assert_array_equal(replaced, expected)
    np.testing.assert_array_equal(increased, more)


def test_elements_that_come_twice():
    x = at.dvector("x")
    places = x[[0, 0, 2]]
    every, once = aesara.function([x], [places.inc(1.0), places.inc(1.0, ignore_duplicates=True)])(np.zeros(3))
    np.testing.assert_array_equal(every, [2, 0, 1])
    np.testing.assert_array_equal(once, [1, 0, 1])


def test_what_is_no_part_is_refused():
    with pytest.raises(TypeError):
        (at.dvector("x") + 1).set(2.0)
