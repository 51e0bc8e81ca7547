"""Programs of the kind that tutorials show, beside what Aesara 2.9.4 has shown for them (``recorded.json``)."""

import json
import math

import numpy as np
import pytest
import recording

RECORDED = json.loads(recording.RECORD.read_text())
PROGRAMS = recording.programs()

#: Text that differs on purpose: how 2.9.4 says it, and how it is said here.
SAID_OTHERWISE = {
    "(?, ?)": "(None, None)",
    "(?,)": "(None,)",
    "scalar_maximum(": "maximum(",
}


def is_the_same(shown, recorded):
    """Whether what is shown is what was recorded; numbers may differ by rounding."""
    if isinstance(recorded, dict):
        if not isinstance(shown, dict) or (shown["dtype"], shown["shape"]) != (recorded["dtype"], recorded["shape"]):
            return False
        values, expected = np.array(shown["values"]), np.array(recorded["values"])
        if values.dtype.kind != "f":
            return np.array_equal(values, expected)
        precision = np.finfo(recorded["dtype"]).eps * 64
        return np.allclose(values, expected, rtol=precision, atol=precision, equal_nan=True)
    if isinstance(recorded, list):
        return isinstance(shown, list) and len(shown) == len(recorded) and all(map(is_the_same, shown, recorded))
    if isinstance(recorded, float):
        return isinstance(shown, float) and math.isclose(shown, recorded, rel_tol=1e-14)
    if isinstance(recorded, str):
        for theirs, ours in SAID_OTHERWISE.items():
            recorded = recorded.replace(theirs, ours)
    return type(shown) is type(recorded) and shown == recorded


def test_every_program_is_recorded():
    assert sorted(PROGRAMS) == sorted(RECORDED)
    assert len(PROGRAMS) > 100
    assert all(RECORDED.values())


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_program_shows_what_it_showed(name):
    shown, recorded = recording.shown_by(PROGRAMS[name]), RECORDED[name]
    different = [(a, b) for a, b in zip(shown, recorded) if not is_the_same(a, b)]
    assert not different and len(shown) == len(recorded)
