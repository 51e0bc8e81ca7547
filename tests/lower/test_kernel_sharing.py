"""Kernels that differ only in offsets and constants are compiled once."""

import dataclasses

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.steps import Launch
from aesara.ir.text import parse_program, print_kernel
from aesara.ir.verify_program import verify_program
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


def densities(steps):
    return [(-0.5 * ((x[t:] - (0.1 + t)) / (1.7 + t)) ** 2 - np.log(1.7 + t)).sum() for t in range(steps)]


GRAPHS = {
    "windows": windows,
    "gradient of windows": lambda steps: aesara.grad((windows(steps) ** 2).sum(), [x, w]),
    "reductions of less and less": reduced,
    "joined": joined_on_rows,
    "forward": lambda steps: forward(steps),
    "gradient of forward": lambda steps: aesara.grad(forward(steps).sum(), [x, w]),
    "many of one distribution": lambda steps: densities(steps),
    "gradients of many": lambda steps: aesara.grad(sum(densities(steps)), [x]),
    "rows set": rows_set,
}


def compiled(outputs):
    return aesara.function([x, w], outputs, on_unused_input="ignore")


def kernels(function):
    """Return compiled kernels by their launches."""
    launches = [step for step in function._native.program.all_steps() if isinstance(step, Launch)]
    return launches, {(launch.kernel.params, launch.kernel.body) for launch in launches}


@pytest.mark.parametrize("name", ["windows", "joined", "gradient of forward", "many of one distribution"])
def test_longer_programs_have_no_more_kernels(name):
    (few, of_few), (many, of_many) = (kernels(compiled(GRAPHS[name](steps))) for steps in (14, 24))
    assert len(many) >= len(few) + 8
    assert len(of_many) <= len(of_few) + 2  # a nest has at most so many arrays: more arrays, more nests


@pytest.mark.parametrize("start", [-6, -3, -2, -1, 0, 1, 5])
def test_pieces_of_slices_whose_distances_are_known_at_run_time(start):
    """An argument of a launch may be computed from several of the terms in which kernels differ."""
    first = at.lscalar("first")
    for slices in (lambda a, k: a[:, k:0:2], lambda a, k: a[k::-2], lambda a, k: a[k : 3 : k + 7]):
        part = slices(x, first)
        piece = part.reshape((part.shape[0], part.shape[1], 1))
        f = aesara.function([x, first], at.concatenate([piece] * 4, axis=0))
        data = np.arange(30.0).reshape(5, 6)
        expected = np.concatenate([slices(data, start)[:, :, None]] * 4)
        np.testing.assert_array_equal(f(data, start), expected)


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
kernel k{number}(b0: float64[] aliased, b1: float64[] written aliased, b2: int64[], n0: int64, n1: int64):
    for v0 < {length}:
        let p = b2[v0]
        parallel for v1 < {width}:
            b1[{to}] = {value}
"""


def launches_of(**varied):
    """Launches of kernels that are alike, but for these parts, and what is launched in place of them."""
    count = max(len(values) for values in varied.values())
    same = {"length": "n0", "width": "n1", "to": "v0 * n1 + v1", "value": "b0[v0 * n1 + v1]"}
    kernels = [KERNEL.format(number=k, **same | {name: v[k] for name, v in varied.items()}) for k in range(count)]
    lines = "\n".join(f"    launch k{k}(a0, t0, a1, s0_0, s0_1){' for loop' * (k % 2)}" for k in range(count))
    program = parse_program(PROGRAM.format(launches=lines) + "".join(kernels))
    shared = dataclasses.replace(program, steps=share_kernels(program.steps))
    verify_program(shared)
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
    "less than an index": {"to": [f"v0 * n1 + (v1 - {k})" for k in ("n0", "n0 * 2", "minimum(n0, 5)")]},
    "remainders": {"to": [f"v0 * n1 + (v1 + mod({r}))" for r in ("n0, 3", "n1, 2", "n1, maximum(n0, 1)")]},
    "beside what is read": {"to": [f"v0 * n1 + (v1 + p + {k})" for k in (1, 2, 3)]},
    "lengths": {"width": [f"maximum(n1, {k}) - {k}" for k in (2, 3, 4)]},
    "lengths of arrays and less": {"length": ["n0", "maximum(n0, 1) - 1", "maximum(n0, 2) - 2"]},
    "lengths that are read": {"width": [f"b2[v0 + {k}]" for k in (1, 2, 3)]},
    "distances that are chosen": {"value": [f"b0[v1 * select(n0 < n1, n0 * {k}, n1)]" for k in (2, 3, 4)]},
    "factors": {"value": [f"b0[v0] * {k}.0" for k in (2, 3, 4)]},
    "terms": {"value": [f"exp(b0[v0] + {k}.0)" for k in (2, 3, 4)]},
    "what is subtracted from": {"value": [f"{k}.0 - b0[v0]" for k in (2, 3, 4)]},
    "divisors": {"value": [f"b0[v0] / {k}.0" for k in (3, 5, 7)]},
}
NOT_ALIKE = {
    "two of them": {"to": PLACES[:2]},
    "numbers of another dtype": {"value": [f"float64(b2[v0] * {k})" for k in (2, 3, 4)]},
    "powers": {"value": [f"pow(b0[v0], {k}.0)" for k in (2, 3, 4)]},
    "limits": {"value": [f"maximum(b0[v0], {k}.0)" for k in (2, 3, 4)]},
    "values": {"value": ["2.0", "3.0", "4.0"]},
    "values of indices": {"value": [f"float64(v1 + {k})" for k in (1, 2, 3)]},
    "distances": {"to": [f"v0 * n1 + v1 * {k}" for k in (2, 3, 4)]},
    "distances of rows": {"to": [f"v0 * {k} + v1" for k in (2, 3, 4)]},
    "terms of other sizes": {
        "to": ["v0 * n1 + (v1 + n0 * 2)", "v0 * n0 + (v1 + n0 * 2)", "v0 * n1 + (v1 + n0 * 2)"],
        "length": ["n0", "n1", "n0"], "width": ["n1", "n0", "n1"],
        "value": ["b0[0] * 2.0", "b0[0] * 3.0", "b0[0] * 4.0"],
    },
    "multiples of what is read": {"to": [f"v0 * n1 + (v1 + p * {k})" for k in (2, 3, 4)]},
    "known lengths": {"width": ["2", "3", "4"]},
    "quotients that may fail": {"to": [f"v0 * n1 + (v1 + {n} // n0)" for n in ("n1", "3", "(n0 + 1)")]},
    "what is read is a term": {"to": [f"v0 * n1 + (v1 + b2[{k}])" for k in ("n0", "0", "v0")]},
    "one place and two": {"to": ["v1 + 1", "v1 + 2", "v1 + 3"], "value": ["b0[v1 + 1]", "b0[v1 + 1]", "b0[v1 + 3]"]},
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
def test_terms_of_offsets_and_lengths_become_arguments(name):
    before, after = launches_of(**ALIKE[name])
    assert len({(launch.kernel.params, launch.kernel.body) for launch in after}) == 1
    assert len({launch.arguments for launch in after}) == len(after) == len(before)
    assert [launch.begins_loop for launch in after] == [launch.begins_loop for launch in before]


@pytest.mark.parametrize("three", [{"value": [f"b0[v0 + 7] * 0.5 + {k}.0" for k in (2, 3, 4)]}, {"to": PLACES}])
def test_what_is_the_same_stays_in_the_kernel(three):
    """A number that is known costs less."""
    before, after = launches_of(**three)
    assert [p.aliased for p in after[0].kernel.params[:3]] == [False, True, True]  # in the order in which they are used
    assert {len(a.arguments) - len(b.arguments) for a, b in zip(after, before)} == {1 - len(_unused(before[0]))}


def _unused(launch):
    """The parameters that a kernel of these tests does not need, which one that is shared has not."""
    text = print_kernel(launch.kernel).partition(":\n")[2]
    return [p.name for p in launch.kernel.params if p.name not in text]


@pytest.mark.parametrize("name", NOT_ALIKE)
def test_all_else_stays_in_the_kernel(name):
    before, after = launches_of(**NOT_ALIKE[name])
    assert after == before
