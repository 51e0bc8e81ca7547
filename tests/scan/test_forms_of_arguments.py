"""The forms in which `scan` takes what it needs, and in which a step returns what it computes."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.scan import scan, until
from aesara.scan.basic import get_updates_and_outputs

x, s = at.dvector("x"), at.dscalar("s")
total = aesara.shared(np.float64(1.0), "total")
ENTRIES, FIRST = np.array([1.0, 2.0, 4.0]), 0.5


def compute(outputs):
    return aesara.function([x, s], outputs, on_unused_input="ignore")(ENTRIES, FIRST)


SEQUENCES = {
    "alone": x,
    "list": [x],
    "tuple": (x,),
    "data": ENTRIES,
    "numbers": [[1.0, 2.0, 4.0]],
    "dictionary": {"input": x},
    "dictionaries": [{"input": x}],
    "data in a dictionary": {"input": ENTRIES},
    "no taps": {"input": x, "taps": None},
    "one tap": {"input": x, "taps": 0},
    "a list of taps": {"input": x, "taps": [0]},
    "a range of taps": {"input": x, "taps": range(1)},
}


@pytest.mark.parametrize("form", SEQUENCES)
def test_sequences(form):
    rows, updates = scan(lambda entry: entry * 2, SEQUENCES[form])
    assert compute(rows).tolist() == (ENTRIES * 2).tolist() and not updates


STATES = {
    "alone": s,
    "list": [s],
    "tuple": (s,),
    "dictionary": {"initial": s},
    "one tap": {"initial": s, "taps": -1},
    "NumPy's number": {"initial": s, "taps": np.int64(-1)},
    "a list of taps": {"initial": s, "taps": [-1]},
    "a tuple says that there is a leading dimension": {"initial": s[None], "taps": (-1,)},
    "as does a range": [{"initial": at.stack([s, 9.0]), "taps": range(-1, 0)}],
    "data": {"initial": FIRST},
    "data in rows": {"initial": [FIRST, 9.0], "taps": (-1,)},
}


@pytest.mark.parametrize("form", STATES)
@pytest.mark.parametrize("steps", [None, 1])
def test_states(form, steps):
    rows, _ = scan(lambda entry, state: state * 2 + entry, x, STATES[form], n_steps=steps)
    assert compute(rows).tolist() == [2.0, 6.0, 16.0][:steps]


RESULTS = {
    "nothing": None,
    "no entries": [],
    "an empty tuple": (),
    "none": [None],
    "an empty dictionary": {},
    "no first value": [{"initial": None}],
    "no first value and no taps": {"initial": None, "taps": None},
    "no taps": {"initial": s, "taps": []},
    "taps that are none": {"initial": s, "taps": None},
}


@pytest.mark.parametrize("form", RESULTS)
@pytest.mark.parametrize("steps", [None, 1])
def test_results_that_no_step_reads(form, steps):
    rows, _ = scan(lambda entry: entry * 2, x, RESULTS[form], n_steps=steps)
    assert compute(rows).tolist() == [2.0, 4.0, 8.0][:steps]
    other = RESULTS[form]
    if other is not None and len(other):
        both = [*(other if isinstance(other, list) else [other]), s]
        (results, states), _ = scan(lambda entry, state: [entry * 2, state * 2], x, both, n_steps=steps)
        got = [values.tolist() for values in compute([results, states])]
        assert got == [[2.0, 4.0, 8.0][:steps], [1.0, 2.0, 4.0][:steps]]


NO_FORMS = {
    "no input": ({"sequences": {"taps": [0]}}, ValueError, "needs the key 'input'"),
    "a number": ({"sequences": s}, ValueError, "at least one dimension"),
    "a number in a dictionary": ({"sequences": {"input": s}}, ValueError, "at least one dimension"),
    "taps of nothing": ({"outputs_info": {"initial": None, "taps": [-1]}}, ValueError, "needs 'initial'"),
    "later values": ({"outputs_info": {"initial": x, "taps": [-1, 0]}}, ValueError, "must be negative"),
    "a tap twice": ({"outputs_info": {"initial": x, "taps": [-1, -1]}}, ValueError, "must differ"),
    "no rows": ({"outputs_info": {"initial": s, "taps": [-2]}}, ValueError, "needs 2 first values"),
    "no number of steps": ({"sequences": None}, ValueError, "give n_steps"),
    "half a step": ({"n_steps": 2.5}, ValueError, "must be an integer"),
    "a variable for half a step": ({"n_steps": s}, ValueError, "must be an integer"),
    "several numbers of steps": ({"n_steps": at.lvector()}, ValueError, "must be an integer"),
}


@pytest.mark.parametrize("case", NO_FORMS)
def test_what_has_another_form_is_refused(case):
    given, error, message = NO_FORMS[case]
    with pytest.raises(error, match=message):
        scan(lambda *given: given[0] * 2, **{"sequences": x, **given})


#: what a step returns: the number of outputs, whether it has updates, and whether it has a condition
RETURNED = {
    "a variable": (s, 1, False, False),
    "a number": (2.0, 1, False, False),
    "a list": ([s, s + 1], 2, False, False),
    "a tuple": ((s, s + 1), 2, False, False),
    "an empty list": ([], 0, False, False),
    "a list in a tuple": (([s, s + 1],), 2, False, False),
    "updates": ({total: s}, 0, True, False),
    "pairs of updates": ([(total, s)], 0, True, False),
    "a condition": (until(s > 1), 0, False, True),
    "outputs and updates": (([s, s + 1], {total: s}), 2, True, False),
    "an output and updates": ((s, {total: s}), 1, True, False),
    "outputs and pairs": (([s, s + 1], [(total, s)]), 2, True, False),
    "outputs and no updates": (([s], {}), 1, False, False),
    "an output and no pairs": ((s, []), 1, False, False),
    "an output and an empty tuple": ((s, ()), 1, False, False),
    "an output and a condition": ((s, until(s > 1)), 1, False, True),
    "outputs and a condition": (([s, s + 1], until(s > 1)), 2, False, True),
    "outputs in a row and a condition": ((s, s + 1, until(s > 1)), 2, False, True),
    "updates and a condition": (({total: s}, until(s > 1)), 0, True, True),
    "all": (([s, s + 1], {total: s}, until(s > 1)), 2, True, True),
    "all in a list": ([[s], [(total, s)], until(s > 1)], 1, True, True),
}


@pytest.mark.parametrize("form", RETURNED)
def test_what_a_step_returns(form):
    returned, count, has_updates, has_condition = RETURNED[form]
    condition, outputs, updates = get_updates_and_outputs(returned)
    assert (len(outputs), dict(updates)) == (count, {total: s} if has_updates else {})
    assert (condition is not None) == has_condition
    assert all(isinstance(v.type, at.TensorType) for v in outputs)
    made, found = scan(lambda: returned, n_steps=2, return_list=True)
    assert len(made or []) == count and bool(found) == has_updates


@pytest.mark.parametrize(
    "returned",
    [
        None,
        [s, [s]],
        ([s], s, {total: s}),
        ({total: s}, [s]),
        (until(s > 1), [s]),
        [s, until(s > 1), s],
        ([s, {total: s}], until(s > 1)),
    ],
    ids=[
        "nothing",
        "a list in a list",
        "an output beside a list",
        "updates in front",
        "a condition in front",
        "a condition inside",
        "updates in a list",
    ],
)
def test_what_a_step_may_not_return(returned):
    with pytest.raises(ValueError, match="the step returned None|must return outputs, then updates"):
        get_updates_and_outputs(returned)


@pytest.mark.parametrize(
    "new, want",
    [(lambda e: 2, 2), (lambda e: np.float32(0.5), 0.5), (lambda e: e, 4), (lambda e: total + e, 8),
     (lambda e: at.cast(e, "float32"), 4), (lambda e: at.cast(e, "int8"), 4), (lambda e: np.array(3.0), 3)],
)  # fmt: skip
def test_updates_take_the_dtype_of_the_shared_variable(new, want):
    rows, updates = scan(lambda e: (total * e, {total: new(e)}), x)
    f = aesara.function([x], rows, updates=updates)
    total.set_value(1.0)
    f(ENTRIES)
    assert total.get_value() == want and total.get_value().dtype == "float64"


def test_a_step_with_other_arguments():
    """The message counts them; errors from inside of a step stay what they are."""
    for step, given in [
        (lambda: s, "2 arguments \\(1 from sequences, then 1 from non_sequences\\)"),
        (lambda a, b, c: a, "2 arguments \\(1 from sequences, then 1 from non_sequences\\)"),
    ]:
        with pytest.raises(TypeError, match=f"scan calls the step with {given}"):
            scan(step, x, None, s)
    with pytest.raises(TypeError) as info:
        scan(lambda a: len(3), x)
    assert "scan" not in str(info.value)
