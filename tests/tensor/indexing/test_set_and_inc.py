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
def test_set_and_inc_agree_with_numpy(name):
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


# -- gradients of values that are repeated ---------------------------------------------------------------------------

PARTS = {
    "rows": (lambda x, write, v: write(x[1:3], v), (1, 4)),
    "columns": (lambda x, write, v: write(x[:, 1:3], v), (5, 1)),
    "a row": (lambda x, write, v: write(x[1], v), (1,)),
    "rows by number": (lambda x, write, v: write(x[[2, 0]], v), (1, 4)),
    "elements": (lambda x, write, v: write(x[[2, 0, 1], [1, 1, 0]], v), (1,)),
    "by mask": (lambda x, write, v: write(x[x > 0.5], v), (1,)),
    "allocated": (lambda x, write, v: at.alloc(v, *x.shape), (1, 4)),
    "full": (lambda x, write, v: at.full((2, *x.shape), v), (5, 1)),
}


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("write", [at.set_subtensor, at.inc_subtensor])
@pytest.mark.parametrize("name", PARTS)
def test_gradients_of_what_is_repeated_are_its_shape_or_refused(name, write, mode):
    """A gradient of another shape than the value was given where a length turns out to be 1."""
    build, shape = PARTS[name]
    data, value = np.random.default_rng(3).uniform(0, 1, (5, 4)), np.random.default_rng(4).uniform(0, 1, shape)
    x = at.dmatrix("x")

    def compiled(v):
        cost = (build(x, write, v) ** 2).sum()
        return aesara.function([x, v], [cost, aesara.grad(cost, v)], mode=mode)

    whole = compiled(at.tensor("float64", [None] * len(shape)))
    known = compiled(at.tensor("float64", [1 if n == 1 else None for n in shape]))
    with pytest.raises(ValueError, match="was repeated: .* length 1 .*specify_broadcastable"):
        whole(data, value)
    cost, gradient = known(data, value)
    assert gradient.shape == value.shape
    step = 1e-6
    for k in range(value.size):
        moved = value.copy()
        moved.flat[k] += step
        np.testing.assert_allclose(gradient.flat[k], (known(data, moved)[0] - cost) / step, rtol=1e-4)
