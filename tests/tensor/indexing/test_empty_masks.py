"""Masks of length 0: as in NumPy, they index a dimension of any length, and choose nothing of it."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at

MODES = [None, "FAST_COMPILE"]
ALL = slice(None)


def mask_of(*lengths):
    return np.ones(lengths, dtype=bool)


def outcome(compute):
    """The value, or the kind of error: any error of an index is as good as another."""
    try:
        return compute()
    except (IndexError, ValueError):
        return None


def numpy_results(x, index, y):
    def written(change):
        out = x.copy()
        change(out)
        return out

    part = x[index]
    value = np.broadcast_to(y, part.shape)

    def put(out):
        out[index] = value

    return [part, written(put), written(lambda out: np.add.at(out, index, value))]


def own_results(x, index, y, mode, static):
    inputs, values = [], []

    def variable(value):
        value = np.asarray(value)
        inputs.append(at.tensor(str(value.dtype), shape=value.shape if static else (None,) * value.ndim))
        values.append(value)
        return inputs[-1]

    of_x, of_y = variable(x), variable(y)
    part = of_x[tuple(variable(e) if isinstance(e, np.ndarray) else e for e in index)]
    outputs = [part, at.set_subtensor(part, of_y), at.inc_subtensor(part, of_y)]
    return aesara.function(inputs, outputs, mode=mode)(*values)


def check(shape, index, mode, static):
    x = np.random.default_rng(0).normal(size=shape)
    expected = outcome(lambda: numpy_results(x, index, 3.0))
    found = outcome(lambda: own_results(x, index, 3.0, mode, static))
    assert (found is None) == (expected is None), (shape, index, found, expected)
    for a, b in zip(found or (), expected or ()):
        np.testing.assert_array_equal(a, b)


SHAPES = [(shape, lengths) for shape in [(0,), (1,), (3,)] for lengths in itertools.product((0, 1, 3))] + [
    (shape, lengths) for shape in [(2, 3), (0, 3), (3, 0)] for lengths in itertools.product((0, 2, 3), repeat=2)
]
MIXED = [
    ((2, 3), (mask_of(0), 1)),
    ((2, 3), (mask_of(0), 7)),
    ((2, 3), (ALL, mask_of(0))),
    ((2, 3), (ALL, mask_of(2))),
    ((2, 3), (mask_of(0), slice(None, 2))),
    ((2, 3), (mask_of(0), None)),
    ((2, 3), (mask_of(0), np.array([0]))),
    ((2, 3), (mask_of(0), np.array([7]))),
    ((2, 3), (mask_of(0), np.array([0, 1]))),
    ((2, 3), (np.array([[1]]), mask_of(0))),
    ((2, 3), (mask_of(0), mask_of(0))),
    ((2, 3), (mask_of(0), np.array([True, False, False]))),
    ((2, 3), (mask_of(0), mask_of(3))),
    ((2, 3, 4), (mask_of(0),)),
    ((2, 3, 4), (mask_of(2, 0), slice(1, None))),
    ((2, 3, 4), (ALL, mask_of(0, 4))),
    ((2, 3, 4), (ALL, mask_of(0, 3))),
    ((2, 3, 4), (1, mask_of(3, 0))),
]


@pytest.mark.parametrize("static", [True, False], ids=["static", "run-time"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape, lengths", SHAPES, ids=str)
def test_masks_fit_what_they_fit_in_numpy(shape, lengths, mode, static):
    check(shape, (mask_of(*lengths),), mode, static)


@pytest.mark.parametrize("static", [True, False], ids=["static", "run-time"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape, index", MIXED, ids=range(len(MIXED)))
def test_masks_among_other_indices_fit_what_they_fit_in_numpy(shape, index, mode, static):
    check(shape, index, mode, static)


@pytest.mark.parametrize("mode", MODES)
def test_constant_masks_without_elements(mode):
    x = at.tensor("float64", shape=(5, 3))
    parts = [x[np.zeros(0, bool)], x[np.zeros((0, 3), bool)], x[np.zeros(0, bool), [7]]]
    f = aesara.function([x], [*parts, at.set_subtensor(parts[0], 2.0)], mode=mode)
    values = f(np.ones((5, 3)))
    assert [v.shape for v in values] == [(0, 3), (0,), (0,), (5, 3)]
    np.testing.assert_array_equal(values[-1], 1)


x, w, mask, other = at.dmatrix("x"), at.dmatrix("w"), at.tensor("bool", (None, None)), at.tensor("bool", (None,))
inner = at.set_subtensor(x[mask], 2.0)
EXPRESSIONS = {
    "gradient": at.grad((at.exp(x[mask])).sum(), x),
    "gradient of writing": at.grad((at.set_subtensor(x[mask], 1.0) ** 2).sum(), x),
    "reduced": (inner**2).sum(),
    "reduced along rows": at.exp(inner).sum(axis=1),
    "reduced along columns": at.exp(inner).sum(axis=0),
    "an element": inner[1, 2] + 1,
    "in order": at.cumsum(inner, axis=0),
    "product": at.dot(inner, inner.T),
    "one after the other": at.inc_subtensor(inner[other], 3.0) * 2,
    "two masks": at.set_subtensor(x[mask], 1.0) * at.set_subtensor(w[other], 2.0) + at.set_subtensor(x[mask], 4.0),
    "largest": inner.max(),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lengths", [((0, 3), (0,)), ((2, 0), (2,)), ((2, 3), (0,)), ((2, 3), (2,))], ids=str)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_written_by_masks_is_read(name, lengths, mode):
    result = EXPRESSIONS[name]
    xs, ws = np.random.default_rng(0).normal(size=(2, 2, 3))
    masks = [np.arange(np.prod(n)).reshape(n) % 2 == 0 for n in lengths]
    whole = [m if m.size else np.zeros(n, bool) for m, n in zip(masks, [(2, 3), (2,)])]
    f = aesara.function([x, w, mask, other], result, mode=mode, on_unused_input="ignore")
    reference = aesara.function([x, w, mask, other], result, mode="FAST_COMPILE", on_unused_input="ignore")
    np.testing.assert_allclose(f(xs, ws, *masks), reference(xs, ws, *whole), rtol=1e-13)


@pytest.mark.parametrize("mode", MODES)
def test_masks_made_of_empty_tensors(mode):
    m = at.dmatrix("m")
    f = aesara.function(
        [x, m], [at.set_subtensor(x[m > -1], 5.0), at.set_subtensor(x[at.eq(m, m)], 5.0).sum()], mode=mode
    )
    xs = np.random.default_rng(0).normal(size=(2, 3))
    np.testing.assert_allclose(f(xs, np.zeros((0, 3)))[1], xs.sum(), rtol=1e-13)
    np.testing.assert_array_equal(f(xs, np.zeros((2, 0)))[0], xs)
    np.testing.assert_array_equal(f(xs, np.zeros((2, 3)))[0], 5)
    with pytest.raises(IndexError, match="boolean index did not match"):
        f(xs, np.zeros((2, 2)))


@pytest.mark.parametrize("mode", MODES)
def test_shared_variables_are_written_to_by_masks(mode):
    state = aesara.shared(np.ones((2, 3)))
    f = aesara.function([mask], [], updates={state: at.inc_subtensor(state[mask], 1.0)}, mode=mode)
    f(mask_of(0, 3))
    np.testing.assert_array_equal(state.get_value(), 1)
    f(mask_of(2, 3))
    np.testing.assert_array_equal(state.get_value(), 2)
    with pytest.raises(IndexError):
        f(mask_of(2, 2))
    np.testing.assert_array_equal(state.get_value(), 2)


@pytest.mark.parametrize("mode", MODES)
def test_steps_of_scan_write_by_masks(mode):
    rows = at.dtensor3("rows")
    result, _ = aesara.scan(lambda row: at.exp(at.set_subtensor(row[mask], 0.0)).sum(axis=0), [rows])
    f = aesara.function([rows, mask], result, mode=mode)
    values = np.random.default_rng(0).normal(size=(4, 2, 3))
    np.testing.assert_allclose(f(values, mask_of(0, 3)), np.exp(values).sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(f(values, mask_of(2, 3)), np.full((4, 3), 2.0), rtol=1e-13)
