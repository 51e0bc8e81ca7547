"""Loops whose step sets or adds to a block of a state: stencils over rows, planes and volumes."""

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ifelse import ifelse
from aesara.ir.text import print_program

sys.path.insert(0, str(Path(__file__).parent.parent / "lower"))
from agreement import interpreted

k = at.lscalar("k")


def slopes(u, *block):
    return u[block] ** 2 * 0.5


#: rank of the state, and the step
STEPS = {
    "inside of a row": (1, lambda u, k: at.set_subtensor(u[1:-1], u[1:-1] + 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2]))),
    "beginning of a row": (1, lambda u, k: at.set_subtensor(u[:3], u[1:4] * 0.5)),
    "end of a row": (1, lambda u, k: at.inc_subtensor(u[-2:], 0.5)),
    "a row as a whole": (1, lambda u, k: at.set_subtensor(u[:], u[::-1] * 0.9)),
    "nothing": (1, lambda u, k: at.set_subtensor(u[4:2], 7.0)),
    "behind the end": (1, lambda u, k: at.set_subtensor(u[2:100], 0.5)),
    "from where a call says": (1, lambda u, k: at.inc_subtensor(u[k : k + 2], 1.0)),
    "every other": (1, lambda u, k: at.inc_subtensor(u[::2], 1.0)),
    "backwards": (1, lambda u, k: at.set_subtensor(u[3:0:-1], u[1:4])),
    "one element": (1, lambda u, k: at.inc_subtensor(u[k], 1.0)),
    "inside of a plane": (
        2,
        lambda u, k: at.set_subtensor(u[1:-1, 1:-1], u[1:-1, 1:-1] + 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] - u[1:-1, :-2])),
    ),
    "a corner of a plane": (2, lambda u, k: at.inc_subtensor(u[2:, :2], slopes(u, slice(2, None), slice(None, 2)))),
    "rows of a plane": (2, lambda u, k: at.set_subtensor(u[1:3], u[0])),
    "columns of a plane": (2, lambda u, k: at.inc_subtensor(u[:, 1:3], u[:, :1])),
    "a row of a plane": (2, lambda u, k: at.set_subtensor(u[0], u[1] + u[2])),
    "two blocks": (2, lambda u, k: at.inc_subtensor(at.set_subtensor(u[1:, 1:], u[:-1, :-1])[:2, :2], 0.1)),
    "a block of a call": (2, lambda u, k: at.set_subtensor(u[k:, -k - 1 :], 0.5 * u[:1, :1])),
    "inside of a volume": (3, lambda u, k: at.set_subtensor(u[1:-1, 1:-1, 1:-1], u[:-2, 1:-1, 2:] * 0.9)),
    "a side of a volume": (3, lambda u, k: at.inc_subtensor(u[:, -1:, 1:], 1.0)),
    "on one side of a choice": (1, lambda u, k: ifelse(k > 1, at.set_subtensor(u[1:-1], u[2:]), u * 0.5)),
    "half of single precision": (1, lambda u, k: at.set_subtensor(u[1:], u[:-1].astype("float32").astype("float64"))),
}


@pytest.mark.parametrize("name", STEPS)
def test_blocks(name):
    rank, step = STEPS[name]
    n, u = at.lscalar("n"), at.TensorType("float64", (None,) * rank)("u")
    states, _ = aesara.scan(step, outputs_info=[u], non_sequences=[k], n_steps=n)
    for outputs in ([states], [states[-1:]]):
        native, reference = (aesara.function([n, u, k], outputs, mode=m) for m in ("FAST_RUN", "FAST_COMPILE"))
        assert aesara.explain(native).python == []
        for steps, number in ((0, 1), (1, 2), (4, 0), (5, 2)):
            start = np.random.default_rng(steps).normal(size=(5, 6, 4)[:rank])
            given = [np.asarray(steps), start.copy(), np.asarray(number)]
            (got,), (want,) = native(*given), reference(*given)
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)
            np.testing.assert_array_equal(interpreted(native, given)[0], got)
            np.testing.assert_array_equal(given[1], start)


def test_only_what_is_around_the_block_is_copied():
    u = at.dmatrix("u")
    states, _ = aesara.scan(lambda u: at.inc_subtensor(u[1:-1, 1:-1], at.exp(u[2:, 2:])), outputs_info=[u], n_steps=9)
    text = print_program(aesara.function([u], states[-1])._native.report.lowering.program)
    loop = text[text.index("    loop") : text.index("    output")]
    kernels = [line.split("launch ")[1].split("(")[0] for line in loop.splitlines() if "launch" in line]
    bodies = [text[text.index(f"kernel {name}(") :].split("\n\n")[0] for name in kernels]
    assert len(bodies) == 6  # four sides, the block, and the last row behind the loop
    assert not any("n1 * n0" in body for body in bodies[:-1])
