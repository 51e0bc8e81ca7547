"""Kernels that differ in places only are compiled once."""

import dataclasses

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.steps import Launch
from aesara.ir.text import parse_program, print_program
from aesara.lower.assemble.alike import share_kernels

x, w = at.matrix("x", dtype="float64"), at.matrix("w", dtype="float64")


def windows(steps):
    """Sums over moving windows, as a layer has them whose weights are not shared; of each the log."""
    return at.stack([at.log((x[:, t : t + 3] * w[t]).sum(axis=1)) for t in range(steps)], axis=1)


def reduced(steps):
    return [at.log(at.max(x[t:], axis=0)) for t in range(steps)]


def joined_on_rows(steps):
    """Each part has as many rows as the quotient of two sizes says."""
    parts = [at.reshape(x[t : t + 2], (1, -1, 4)) for t in range(steps)]
    return at.concatenate(parts, axis=0)


def forward(steps):
    """The probability of a sequence in a chain with hidden states."""
    state = x[0]
    for t in range(1, steps):
        state = at.logsumexp(state[:, None] + w[:5, :5], axis=0) + x[t, :5]
    return state


def rows_set(steps):
    value = x
    for t in range(steps):
        value = at.set_subtensor(value[t, t + 1 :], at.exp(value[t, 1:2]))
    return value


GRAPHS = {
    "windows": windows,
    "gradient of windows": lambda steps: aesara.grad((windows(steps) ** 2).sum(), [x, w]),
    "reductions of less and less": reduced,
    "joined": joined_on_rows,
    "forward": lambda steps: forward(steps),
    "gradient of forward": lambda steps: aesara.grad(forward(steps).sum(), [x, w]),
    "rows set": rows_set,
}


def compiled(outputs):
    return aesara.function([x, w], outputs, on_unused_input="ignore")


def kernels(function):
    """What is compiled, by what it is launched with."""
    launches = [step for step in function._native.program.all_steps() if isinstance(step, Launch)]
    return launches, {(launch.kernel.params, launch.kernel.body) for launch in launches}


@pytest.mark.parametrize("name", ["windows", "joined", "gradient of forward"])
def test_longer_programs_have_no_more_kernels(name):
    (few, of_few), (many, of_many) = (kernels(compiled(GRAPHS[name](steps))) for steps in (14, 24))
    assert len(many) >= len(few) + 8
    assert len(of_many) <= len(of_few) + 2  # a nest has at most so many arrays: more arrays, more nests


@pytest.mark.parametrize("name", GRAPHS)
def test_values(name):
    outputs = GRAPHS[name](9)
    data = np.random.default_rng(8).uniform(0.5, 1, (12, 12))
    weights = np.random.default_rng(9).uniform(0.5, 1, (12, 3 if "windows" in name else 12))
    if "forward" in name:
        data = data[:, :5].copy()
    expected = aesara.function([x, w], outputs, mode="FAST_COMPILE", on_unused_input="ignore")(data, weights)
    got = compiled(outputs)(data, weights)
    for a, b in zip(np.atleast_1d(got) if isinstance(got, np.ndarray) else got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


# -- which kernels are alike --------------------------------------------------------------------------------------

PROGRAM = """program
    input a0: float64[s0_0, s0_1]
    input a1: int64[s1_0]
    allocate t0: float64[s0_0, s0_1] as output 0
{launches}
    output t0
    return 1
"""
KERNEL = """
kernel k{number}(b0: float64[], b1: float64[] written, b2: int64[], n0: int64, n1: int64):
    for v0 < {length}:
        parallel for v1 < {width}:
            b1[{to}] = {value}
"""


def launches_of(**varied):
    """Launches of kernels that are alike, but for these parts, and what is launched in place of them."""
    count = max(len(values) for values in varied.values())
    same = {"length": "n0", "width": "n1", "to": "v0 * n1 + v1", "value": "b0[v0 * n1 + v1]"}
    kernels = [KERNEL.format(number=k, **same | {name: v[k] for name, v in varied.items()}) for k in range(count)]
    lines = "\n".join(f"    launch k{k}(a0, t0, a1, s0_0, s0_1)" for k in range(count))
    program = parse_program(PROGRAM.format(launches=lines) + "".join(kernels))
    shared = dataclasses.replace(program, steps=share_kernels(program.steps))
    assert parse_program(print_program(shared)) == shared
    return [[step for step in p.steps if isinstance(step, Launch)] for p in (program, shared)]


PLACES = ["v0 * n1 + (v1 + 1)", "v0 * n1 + (v1 + 2)", "v0 * n1 + (v1 + 3)"]
VALUES = [f"b0[{place}]" for place in PLACES]
ALIKE = {
    "where it writes": {"to": PLACES},
    "where it reads": {"value": VALUES},
    "both": {"to": PLACES, "value": VALUES},
    "where it reads positions": {"value": [f"b0[b2[v0 + {k}] + v1]" for k in (1, 2, 3)]},
    "first rows": {"to": [f"(v0 + {k}) * n1 + v1" for k in ("n0", "n0 * 2", "minimum(n0, 5)")]},
    "quotients": {"to": [f"v0 * n1 + (v1 + {n} // {d})" for n, d in (("n0", 3), ("n1", 2), ("n1", "maximum(n0, 1)"))]},
    "lengths": {"width": [f"maximum(n1, {k}) - {k}" for k in (2, 3, 4)]},
}
NOT_ALIKE = {
    "two of them": {"to": PLACES[:2]},
    "values": {"value": ["b0[v0] * 2.0", "b0[v0] * 3.0", "b0[v0] * 4.0"]},
    "values of indices": {"value": [f"float64(v1 + {k})" for k in (1, 2, 3)]},
    "distances": {"to": [f"v0 * n1 + v1 * {k}" for k in (2, 3, 4)]},
    "distances of rows": {"to": [f"v0 * {k} + v1" for k in (2, 3, 4)]},
    "known lengths": {"width": ["2", "3", "4"]},
    "quotients that may fail": {"to": [f"v0 * n1 + (v1 + {n} // n0)" for n in ("n1", "3", "(n0 + 1)")]},
    "what is read is a term": {"to": [f"v0 * n1 + (v1 + b2[{k}])" for k in ("n0", "0", "v0")]},
    "one place and two": {"to": ["v0 + 1", "v0 + 2", "v0 + 3"], "value": ["b0[v0 + 1]", "b0[v0 + 1]", "b0[v0 + 3]"]},
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
def test_terms_of_offsets_and_lengths_become_arguments(name):
    before, after = launches_of(**ALIKE[name])
    assert len({(launch.kernel.params, launch.kernel.body) for launch in after}) == 1
    assert len({launch.arguments for launch in after}) == len(after) == len(before)


@pytest.mark.parametrize("name", NOT_ALIKE)
def test_all_else_stays_in_the_kernel(name):
    before, after = launches_of(**NOT_ALIKE[name])
    assert after == before
