"""Lengths and indices that rules could take for others: programs give what they give as written, errors too."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

AS_WRITTEN = Mode("py", None)
MODES = {
    "rewritten": Mode("py", "fast_run"),
    "checked": Mode("py", "fast_run").excluding("shape_unsafe"),
    "native": Mode("llvm", "fast_run"),
}
V = np.arange(5.0)

v, w, m, n = at.dvector("v"), at.dvector("w"), at.dmatrix("m"), at.lscalar("n")
INPUTS = [v, w, m, n]


def outcome(output, mode, values):
    """What a program computes, or that it fails."""
    function = aesara.function(INPUTS, output, mode=mode, on_unused_input="ignore")
    try:
        return function(*values)
    except (ValueError, IndexError, AssertionError):
        return "an error"


def check(output, v=V, w=V, m=np.ones((2, 3)), n=0, modes=MODES):
    expected = outcome(output, AS_WRITTEN, (v, w, m, n))
    for name in modes:
        got = outcome(output, MODES[name], (v, w, m, n))
        np.testing.assert_array_equal(got, expected, err_msg=name, strict=not isinstance(expected, str))


# Functions of a length are not the length

LENGTHS = {
    "opposite": (-v.shape[0], V),
    "narrow": (v.shape[0].astype("int8"), np.arange(200.0)),
    "root": (at.sqrt(v.shape[0]).astype("int64"), V),
    "number of positions": (v.argmax(), V),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_slices_up_to_a_function_of_the_length(name):
    length, value = LENGTHS[name]
    check(v[:length], v=value)
