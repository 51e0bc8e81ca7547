"""Calls that the reference computes, since their masks have length 0, have all effects of a native call, once."""

import pickle
import threading

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.builders import OpFromGraph
from aesara.compile.ops import as_op
from aesara.configdefaults import config
from aesara.ifelse import ifelse
from aesara.tensor.random.utils import RandomStream

x, mask = at.dvector("x"), at.tensor("bool", (None,), name="mask")
DATA = np.array([1.0, 2.0, 3.0, 4.0])
NOTHING, ALL = np.zeros(0, dtype=bool), np.ones(4, dtype=bool)


def native(*args, **kwargs):
    f = aesara.function(*args, **kwargs)
    assert f._native is not None
    return f


@pytest.mark.parametrize("n_outputs", [None, 0, 1, 2])
def test_answers_have_the_form_of_native_ones(n_outputs):
    outputs = None if n_outputs is None else [x[mask], x * 2][:n_outputs]
    s = aesara.shared(np.zeros(4))
    f = native([x, mask], outputs, updates=[(s, at.inc_subtensor((s + x)[mask], 1.0))])
    got, like = f(DATA, NOTHING), f(DATA, ALL)
    assert type(got) is type(like) and (got is None or len(got) == len(like))
    np.testing.assert_array_equal(s.get_value(), 2 * DATA + 1)
    single = native([x, mask], x[mask])(DATA, NOTHING)
    assert type(single) is np.ndarray and single.shape == (0,)
    named = aesara.function([x, mask], {"part": x[mask], "twice": x * 2})(DATA, NOTHING)
    assert list(named) == ["part", "twice"]


def test_results_are_arrays_of_their_own():
    total = x[mask].sum()
    s = aesara.shared(DATA.copy())
    f = native([x, mask], [x, x, total, s, s[::-1]], updates=[(s, at.set_subtensor(s[mask], 0.0))])
    results = [*f(DATA, NOTHING), s.get_value(borrow=True), DATA]
    for k, one in enumerate(results):
        assert type(one) is np.ndarray and one.flags.c_contiguous
        assert not any(np.shares_memory(one, other) for other in results[:k])


@pytest.mark.parametrize("write", [at.set_subtensor, at.inc_subtensor])
def test_shared_variables_are_updated_once(write):
    s, count, other = (aesara.shared(v) for v in (np.arange(4.0), 0, np.ones(4)))
    new = write(s[mask], 7.0)
    f = native([mask], new.sum(), updates=[(s, new * 2), (count, count + 1), (other, s)])
    kept = s.get_value(borrow=True)
    for k in range(1, 4):
        assert f(NOTHING) == 6.0 * 2 ** (k - 1)
        np.testing.assert_array_equal(s.get_value(), np.arange(4.0) * 2**k)
        np.testing.assert_array_equal(other.get_value(), np.arange(4.0) * 2 ** (k - 1))
        assert count.get_value() == k
    np.testing.assert_array_equal(kept, np.arange(4.0))


def test_arguments_that_are_updated_or_given_away():
    state = at.dvector("state")
    f = native([aesara.In(state, value=DATA.copy(), update=at.inc_subtensor((state + 1)[mask], 1.0)), mask], state * 1)
    np.testing.assert_array_equal(f(mask=NOTHING), DATA)
    np.testing.assert_array_equal(f(mask=NOTHING), DATA + 1)
    np.testing.assert_array_equal(f(DATA * 0, NOTHING), DATA * 0)
    np.testing.assert_array_equal(f(mask=NOTHING), DATA * 0 + 1)
    given = aesara.function([aesara.In(x, mutable=True), mask], at.set_subtensor(x[mask], 0.0), accept_inplace=True)
    np.testing.assert_array_equal(given(DATA.copy(), NOTHING), DATA)
    np.testing.assert_array_equal(given(DATA.copy(), ALL), 0)


def test_draws_advance_the_generator_once():
    drawn = []
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        stream = RandomStream(5)
        f = aesara.function([mask], at.set_subtensor(stream.normal(size=(4,))[mask], 0.0), mode=mode)
        drawn.append([f(NOTHING), f(ALL), f(NOTHING), f(np.array([True, False, False, False]))])
    np.testing.assert_array_equal(*drawn)


def test_masks_in_steps_choices_and_graphs_inside():
    s = aesara.shared(np.zeros(()))
    inner = OpFromGraph([x, mask], [at.inc_subtensor(x[mask], 1.0)])
    rows = at.dmatrix("rows")
    written = at.set_subtensor(rows[0][mask], 3.0)
    states, _ = aesara.scan(lambda row, before: before + at.set_subtensor(row[mask], 0.0), [rows], [at.zeros(4)])
    chosen = ifelse(rows.sum() > 0, rows[1][mask].sum() + written.sum(), rows[0, 0])
    f = native([rows, mask], [states, chosen, inner(rows[0], mask)], updates=[(s, s + chosen)])
    values = np.arange(12.0).reshape(3, 4)
    for n, nothing in enumerate((NOTHING, np.zeros(4, dtype=bool)), 1):
        got = f(values, nothing)
        np.testing.assert_array_equal(got[0], values.cumsum(axis=0))
        assert got[1] == 6 and s.get_value() == 6 * n
        np.testing.assert_array_equal(got[2], values[0])


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize("static", [False, True])
def test_gradients_through_masks_of_length_0(mode, static):
    v, w = at.dvector("v"), at.dvector("w")
    m = at.tensor("bool", (0,) if static else (None,))
    cost = (at.sqrt(x[m]) * w[m]).sum() + (at.set_subtensor(x[m], v) ** 2).sum()
    f = aesara.function([x, v, w, m], at.grad(cost, [x, v, w]), mode=mode)
    got = f(DATA, np.zeros(0), DATA, NOTHING)
    for one, wanted in zip(got, [2 * DATA, np.zeros(0), np.zeros(4)], strict=True):
        np.testing.assert_array_equal(one, wanted)


def test_functions_read_from_files_and_copies():
    s = aesara.shared(np.zeros(4))
    f = native([mask], s[mask].sum(), updates=[(s, at.inc_subtensor((s + 1)[mask], 1.0))])
    again = pickle.loads(pickle.dumps(f))
    again(NOTHING)
    assert again.get_shared()[0].get_value().sum() == 4 and s.get_value().sum() == 0
    f.copy()(NOTHING)
    assert s.get_value().sum() == 4


def test_operations_of_the_user_do_not_make_it_an_error():
    @as_op(itypes=[at.dvector], otypes=[at.dvector])
    def twice(v):
        return v * 2

    with config.change_flags(native_fallback="ignore"):
        f = native([x, mask], at.set_subtensor(twice(x)[mask], 0.0))
    np.testing.assert_array_equal(f(DATA, NOTHING), 2 * DATA)


def test_errors_of_the_same_call_are_those_of_the_reference():
    y = at.dvector("y")
    s = aesara.shared(np.zeros(4))
    f = native([x, y, mask], x[mask] + y, updates=[(s, at.inc_subtensor(s[mask], 1.0))])
    with pytest.raises(ValueError, match="(?i)shape|broadcast|size"):
        f(DATA, np.ones(3), NOTHING)
    np.testing.assert_array_equal(s.get_value(), 0)
    with pytest.raises(IndexError, match="size of axis is 4 but size of corresponding boolean axis is 3"):
        f(DATA, np.ones(0), np.ones(3, dtype=bool))
    np.testing.assert_array_equal(s.get_value(), 0)


def test_updates_of_several_threads_are_all_kept():
    s = aesara.shared(np.zeros(4))
    f = native([mask], [], updates=[(s, at.inc_subtensor((s + 1)[mask], 2.0))])

    def calls(argument):
        for _ in range(40):
            f(argument)

    threads = [threading.Thread(target=calls, args=(argument,)) for argument in (NOTHING, ALL, NOTHING)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    np.testing.assert_array_equal(s.get_value(), 40 + 40 * 3 + 40)
