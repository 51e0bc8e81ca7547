"""Every form in which a step returns outputs, updates and a condition."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.scan import until

#: What a step gives for its two outputs, its update and its condition, how many outputs it has, and how many updates.
FORMS = {
    "one": (lambda a, b, u, c: a, 1, 0),
    "a list of one": (lambda a, b, u, c: [a], 1, 0),
    "two": (lambda a, b, u, c: (a, b), 2, 0),
    "a list of two": (lambda a, b, u, c: [a, b], 2, 0),
    "outputs and no updates": (lambda a, b, u, c: ([a, b], {}), 2, 0),
    "outputs and an empty list": (lambda a, b, u, c: ([a, b], []), 2, 0),
    "an output and an empty list": (lambda a, b, u, c: (a, []), 1, 0),
    "an output and an empty tuple": (lambda a, b, u, c: (a, ()), 1, 0),
    "outputs and updates": (lambda a, b, u, c: ([a, b], u), 2, 1),
    "an output and updates": (lambda a, b, u, c: (a, u), 1, 1),
    "outputs and pairs": (lambda a, b, u, c: ([a, b], list(u.items())), 2, 1),
    "an output and pairs": (lambda a, b, u, c: (a, list(u.items())), 1, 1),
    "updates": (lambda a, b, u, c: u, 0, 1),
    "a condition": (lambda a, b, u, c: c, 0, 0),
    "an output and a condition": (lambda a, b, u, c: (a, c), 1, 0),
    "outputs and a condition": (lambda a, b, u, c: ([a, b], c), 2, 0),
    "two and a condition": (lambda a, b, u, c: (a, b, c), 2, 0),
    "all": (lambda a, b, u, c: ([a, b], u, c), 2, 1),
    "an output, updates and a condition": (lambda a, b, u, c: (a, u, c), 1, 1),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    returned, n_outputs, n_updates = FORMS[form]
    counter = aesara.shared(0.0, name="counter")

    def step(x):
        return returned(x * 2, x + 1, {counter: counter + 1}, until(x > 2))

    sequence = np.array([1.0, 2.0, 3.0, 4.0])
    outputs, updates = aesara.scan(step, sequences=at.as_tensor_variable(sequence))
    outputs = [] if outputs is None else outputs if isinstance(outputs, list) else [outputs]
    assert len(outputs) == n_outputs and list(updates) == [counter] * n_updates
    seen = sequence[:3] if "condition" in form or form == "all" else sequence
    for got, expected in zip(aesara.function([], outputs, updates=updates)(), (seen * 2, seen + 1)):
        np.testing.assert_array_equal(got, expected)
    assert counter.get_value() == len(seen) * n_updates


@pytest.mark.parametrize(
    "returned, says",
    [
        (lambda x: None, "returned None"),
        (lambda x: [[x], [x]], "the step must return outputs"),
        (lambda x: [until(x > 1), x], "the step must return outputs"),
        (lambda x: [{}, x], "the step must return outputs"),
    ],
)
def test_what_is_none_of_them(returned, says):
    with pytest.raises(ValueError, match=says):
        aesara.scan(returned, sequences=at.dvector("v"))
