"""`associative_scan` against Python's loops, and its derivatives against graphs in which the steps stand one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aesara
import aesara.tensor as at
from aesara.gradient import Rop
from aesara.scan import associative_scan, until
from aesara.tensor.random.utils import RandomStream

x, y = at.dvectors("x", "y")
M = at.dtensor3("M")


def combine(one, two):
    """No associative function: the order matters."""
    return {"p": one["p"] * two["p"] + 0.5, "q": two["p"] * one["q"] - two["q"]}


def combined(rows, reverse):
    """All results for the first rows of arrays p and q."""
    order = range(len(rows["p"]))[:: -1 if reverse else 1]
    made, state = {}, None
    for k in order:
        entry = {key: value[k] for key, value in rows.items()}
        made[k] = state = entry if state is None else combine(state, entry)
    return {key: [made[k][key] for k in range(len(made))] for key in rows}


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("axis, reverse", [(0, False), (1, True), (-1, False), (-3, True)])
def test_entries_are_combined_in_order(axis, reverse, mode):
    p, q = at.dtensor3s("p", "q")
    got = associative_scan(combine, {"q": q, "p": p}, reverse=reverse, axis=axis)
    assert list(got) == ["q", "p"] and got["p"].type == p.type
    f = aesara.function([p, q], [got["p"], got["q"]], mode=mode)
    if mode == "FAST_RUN":
        assert aesara.explain(f).python == []
    rng = np.random.default_rng(5)
    for length in (0, 1, 2, 5):
        shape = [2, 3, 2]
        shape[axis] = length
        values = {key: rng.normal(size=shape) for key in "pq"}
        rows = {key: np.moveaxis(value, axis, 0) for key, value in values.items()}
        wanted = combined(rows, reverse)
        for one, key in zip(f(values["p"], values["q"]), "pq"):
            assert one.shape == tuple(shape)
            if length:
                np.testing.assert_array_equal(np.moveaxis(one, axis, 0), wanted[key])


@pytest.mark.parametrize("length", [0, 1, 2, 4])
def test_known_lengths_stay_known(length):
    given = at.tensor("float64", (length, 2))
    out = associative_scan(at.minimum, given)
    assert out.type.shape == (length, 2)
    value = np.random.default_rng(2).normal(size=(length, 2))
    np.testing.assert_array_equal(aesara.function([given], out)(value), np.minimum.accumulate(value))


@pytest.mark.parametrize("dtype", ["int8", "bool", "float32", "complex128"])
def test_dtypes_stay(dtype):
    value = np.array([1, 0, 1, 1, 0]).astype(dtype)
    np.testing.assert_array_equal(aesara.function([], associative_scan(lambda a, b: b, value))(), value)


def test_the_axis_is_a_dimension_of_what_is_combined():
    seen = []

    def product(one, two):
        seen.append((one.type.shape, two.type.shape))
        return at.einsum("nij,njk->nik", one, two)

    f = aesara.function([M], associative_scan(product, M))
    value = np.random.default_rng(4).normal(size=(4, 3, 3))
    wanted = [value[0]]
    for matrix in value[1:]:
        wanted.append(wanted[-1] @ matrix)
    np.testing.assert_allclose(f(value), wanted, rtol=1e-13)
    assert seen == [((1, None, None), (1, None, None))]


def linear(one, two):
    return one[0] * two[0], two[0] * one[1] + at.sin(two[1])


@pytest.mark.slow
def test_derivatives_are_those_of_the_steps():
    out = associative_scan(linear, (x, y), reverse=True)
    weights = at.cos(at.arange(x.shape[0]))
    alone = [(x[k], y[k]) for k in range(4)]
    for k in (2, 1, 0):
        alone[k] = linear(alone[k + 1], alone[k])
    stacked = [at.stack([pair[j] for pair in alone]) for j in range(2)]
    found = []
    for one, two in (out, stacked):
        cost = (weights * one * two).sum()
        slopes = aesara.grad(cost, [x, y])
        found.append([cost, *slopes, aesara.grad(slopes[0].sum(), y), Rop(two, [x, y], [at.cos(x), y])])
    f = aesara.function([x, y], found[0])
    g = aesara.function([x, y], found[1], mode="FAST_COMPILE")
    assert aesara.explain(f).python == []

    @settings(max_examples=20, deadline=None, derandomize=True)
    @given(st.lists(st.floats(-2, 2), min_size=8, max_size=8))
    def same(numbers):
        for one, two in zip(f(numbers[:4], numbers[4:]), g(numbers[:4], numbers[4:]), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13)

    same()
    assert [np.shape(value) for value in f([], [])] == [(), (0,), (0,), (0,), (0,)]
    assert [float(np.sum(value)) for value in f([2.0], [0.5])[:2]] == [2.0 * 0.5, 0.5]


def test_what_is_around_is_used_as_it_is():
    scale, count = aesara.shared(2.0, name="scale"), aesara.shared(np.int64(3), name="count")
    count.default_update = count + 1

    def then(one, two):
        counted = aesara.shared(np.int64(0))
        counted.default_update = counted + 1
        return one * scale + two * y[0] + count + counted

    f = aesara.function([x, y], associative_scan(then, x))
    for call in range(2):
        want = [1.0]
        for k, e in enumerate([2.0, 4.0, -1.0]):
            want.append(want[-1] * 2 + e * 0.5 + 3 + call + 3 * call + k)
        np.testing.assert_allclose(f([1.0, 2.0, 4.0, -1.0], [0.5]), want, rtol=1e-14)


def test_draws_go_on_from_entry_to_entry():
    stream, same = RandomStream(seed=3), RandomStream(seed=3)
    f = aesara.function([x], associative_scan(lambda one, two: one + two * stream.normal(), x))
    g = aesara.function([], same.normal())
    for _ in range(2):
        first, second = float(g()), float(g())
        np.testing.assert_allclose(f([1.0, 1.0, 1.0]), [1.0, 1 + first, 1 + first + second], rtol=1e-14)


@pytest.mark.parametrize(
    "fn, elems, message",
    [
        (lambda one, two: one.astype("float32"), x, r"entries of elems are float64\[1\], but fn returns float32\[1\]"),
        (lambda one, two: (one[0], one[1].sum()), (x, y), r"entries of elems\[1\] are float64\[1\], .* float64 for it"),
        (lambda one, two: at.concatenate([one, two]), x, r"float64\[1\], but fn returns float64\[2\]"),
        (lambda one, two: (one, two), x, r"the form of elems, \*, got \(\*, \*\)"),
        (lambda one, two: (one, until(x[0] > 0)), x, r"the form of elems, \*, got \(\*, \*\)"),
    ],
)
def test_what_is_returned_must_be_of_the_same_type(fn, elems, message):
    with pytest.raises(TypeError, match=message):
        associative_scan(fn, elems)


def test_other_mistakes():
    with pytest.raises(ValueError, match=r"elems\['b'\] has another length than elems\['a'\]: 3, and not 2"):
        associative_scan(combine, {"a": at.zeros(2), "b": at.zeros(3)})
    f = aesara.function([x, y], list(associative_scan(linear, (x, y))))
    for one, two in (([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError, match=r"elems\[1\] has another length than elems\[0\]"):
            f(one, two)
    for length in (0, 1):  # of which nothing is combined
        known = at.tensor("float64", (length,))
        for elems in ((known, y), (y, known)):
            f = aesara.function([known, y], list(associative_scan(linear, elems)))
            assert [v.tolist() for v in f(np.ones(length), np.ones(length))] == [[1.0] * length] * 2
            with pytest.raises(ValueError, match=r"elems\[1\] has another length than elems\[0\]"):
                f(np.ones(length), np.ones(3))
    with pytest.raises(ValueError, match="axis"):
        associative_scan(at.add, x, axis=1)
    with pytest.raises(ValueError, match=r"elems\[1\] has 1 dimensions, but axis is 2"):
        associative_scan(linear, (M, y), axis=-1)
    with pytest.raises(ValueError, match="no values"):
        associative_scan(at.add, {})
    g = aesara.function([x], associative_scan(lambda one, two: at.concatenate([one, two])[: 1 + (x > 9).sum()], x))
    np.testing.assert_array_equal(g([1.0, 2.0]), [1.0, 1.0])
    with pytest.raises(ValueError, match="what fn returns for elems must be of length one along axis 0"):
        g([10.0, 11.0])
