"""Loops that read and write several rows of a buffer in each step (mit_mot), made by hand as libraries make them."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aesara
import aesara.tensor as at
from aesara.gradient import Rop
from aesara.graph.vectorization import vectorize_graph
from aesara.scan.op import Scan, ScanInfo
from tests.closeness import assert_close

n, w = at.lscalar("n"), at.dscalar("w")

#: for each buffer the rows that a step reads, and those that it writes, relative to the step
TAPS = [
    [((0,), (0,))],
    [((0, 1), (1,))],
    [((-1, 1), (0, 1))],
    [((-2, 0), (1,))],
    [((1, 2), (2, 1))],
    [((0,), (-1,))],
    [((0, 1), (1,)), ((-1,), (0, 1))],
]


def step_of(entry, read, state, factor, count):
    """New values for all rows that are written, for a state of the loop, and an output."""
    total = sum(read) * factor + entry
    return [total * 0.5 + k * read[k % len(read)] for k in range(count)], total - state, total * state


@cache
def loop(number, as_while=False):
    """The outputs of a loop with the taps of that number, from its inputs."""
    taps = TAPS[number]
    rows, row = at.dmatrix, at.dvector
    entry, state, factor = row("entry"), row("state"), at.dscalar("factor")
    read = [[row() for _ in reads] for reads, _ in taps]
    flat = [v for some in read for v in some]
    news, new, out = step_of(entry, flat, state, factor, sum(len(writes) for _, writes in taps))
    info = ScanInfo(
        n_seqs=1,
        mit_mot_in_slices=tuple(reads for reads, _ in taps),
        mit_mot_out_slices=tuple(writes for _, writes in taps),
        mit_sot_in_slices=(),
        sit_sot_in_slices=((-1,),),
        n_nit_sot=1,
        n_shared_outs=0,
        n_non_seqs=1,
        as_while=as_while,
    )
    outputs = [*news, new, out, *([out.sum() > 3] if as_while else [])]
    op = Scan([entry, *flat, state, factor], outputs, info)
    entries, states, *buffers = inputs = [rows("entries"), rows("states"), *[rows(f"b{k}") for k in range(len(taps))]]
    return [n, w, *inputs], op(n, entries, *buffers, states, n, w, return_list=True)


def one_by_one(number, steps, factor, entries, states, buffers, as_while=False):
    """The same, of arrays or of variables, without a loop."""
    taps = TAPS[number]
    rows, states, results = [list(b) for b in buffers], [states[0]], []
    starts = [max(0, -min((*reads, *writes))) for reads, writes in taps]
    for t in range(steps):
        read = [some[t + start + tap] for some, start, (reads, _) in zip(rows, starts, taps) for tap in reads]
        news, new, out = step_of(entries[t], read, states[-1], factor, sum(len(writes) for _, writes in taps))
        places = [(some, t + start + tap) for some, start, (_, writes) in zip(rows, starts, taps) for tap in writes]
        for (some, place), value in zip(places, news):
            some[place] = value
        states.append(new)
        results.append(out)
        if as_while and out.sum() > 3:
            break
    return rows, states, results


def length_of(number, k, steps):
    taps = [tap for some in TAPS[number][k] for tap in some]
    return steps + max(taps) - min(taps) + max(min(taps), 0)


@cache
def compiled(number, mode, as_while=False):
    inputs, outputs = loop(number, as_while)
    f = aesara.function(inputs, outputs, mode=mode)
    if mode == "FAST_RUN":
        assert aesara.explain(f).python == []
    return f


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    number=st.integers(0, len(TAPS) - 1),
    steps=st.integers(0, 4),
    extra=st.integers(0, 2),
    as_while=st.booleans(),
    seed=st.integers(0, 50),
)
def test_values_are_those_of_the_steps(number, steps, extra, as_while, seed):
    rng = np.random.default_rng(seed)
    entries, states = rng.normal(size=(steps, 2)), rng.normal(size=(steps + 1, 2))
    buffers = [rng.normal(size=(length_of(number, k, steps) + extra, 2)) for k in range(len(TAPS[number]))]
    rows, new_states, results = one_by_one(number, steps, 0.7, entries, states, buffers, as_while)
    if not as_while:
        new_states += list(states[len(new_states) :])
    wanted = [np.reshape(some, (-1, 2)) for some in (*rows, new_states, results)]
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        copies = [b.copy() for b in buffers]
        got = compiled(number, mode, as_while)(steps, 0.7, entries, states, *copies)
        for one, two in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-13, atol=1e-13)
        for one, two in zip(copies, buffers):
            np.testing.assert_array_equal(one, two)


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 4, 6])
def test_derivatives(number):
    steps = 2
    inputs, outputs = loop(number)
    entries, states, *buffers = inputs[2:]
    lengths = [length_of(number, k, steps) for k in range(len(buffers))]
    alone = one_by_one(
        number, steps, w, [entries[t] for t in range(steps)], [states[0]],
        [[b[j] for j in range(m)] for b, m in zip(buffers, lengths)],
    )  # fmt: skip
    parts = [*alone[0], alone[1], alone[2]]
    found = []
    for all_rows in (outputs, [at.stack(some) for some in parts]):
        cost = sum((at.sin(some) ** 2).sum() for some in all_rows)
        wrt = [w, entries, states, *buffers]
        slopes = aesara.grad(cost, wrt, disconnected_inputs="ignore")
        found.append([cost, *slopes, Rop(cost, wrt, [at.constant(0.3), *[at.cos(v) for v in wrt[1:]]])])
    f, g = (aesara.function(inputs, some, mode=mode, on_unused_input="ignore")
            for some, mode in zip(found, ("FAST_RUN", "FAST_COMPILE")))  # fmt: skip
    assert aesara.explain(f).python == []
    rng = np.random.default_rng(number)
    values = [rng.normal(size=(m, 2)) for m in (steps, steps + 1, *lengths)]
    for one, two in zip(f(steps, 0.7, *values), g(steps, 0.7, *values), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-12)


def test_batches():
    inputs, outputs = loop(1)
    wide = at.dtensor3("wide")
    f = aesara.function([n, w, *inputs[2:4], wide], vectorize_graph(outputs, {inputs[4]: wide}))
    assert aesara.explain(f).python == []
    rng = np.random.default_rng(9)
    entries, states, members = rng.normal(size=(3, 2)), rng.normal(size=(4, 2)), rng.normal(size=(5, 4, 2))
    got = f(3, 0.7, entries, states, members)
    for k, member in enumerate(members):
        for one, two in zip(got, compiled(1, "FAST_COMPILE")(3, 0.7, entries, states, member), strict=True):
            np.testing.assert_allclose(one[k] if one.ndim == 3 else one, two, rtol=1e-13)


def test_a_buffer_with_too_few_rows():
    f = compiled(1, "FAST_RUN")
    with pytest.raises(ValueError, match="buffer 0 has fewer rows than its steps read and write"):
        f(3, 0.5, np.ones((3, 2)), np.ones((4, 2)), np.ones((3, 2)))


#: taps of each buffer, the rank of rows, their dtype, and whether the loop may end early
FORMS = {
    "a number": ([((0,), (0,))], 0, "float64", False),
    "a number that comes later": ([((0, 2), (1,))], 0, "float32", False),
    "a row of single precision": ([((-1, 0), (0, 1))], 1, "float32", False),
    "a plane": ([((0, 1), (1,))], 2, "float64", False),
    "planes that end early": ([((-1, 0), (0,))], 2, "float64", True),
    "numbers behind": ([((-2, -1), (-2, -1))], 0, "float64", False),
    "far ahead": ([((0, 3), (3, 0))], 0, "float64", True),
    "written, not read at": ([((0,), (1, 2))], 1, "float64", False),
    "three buffers": ([((0,), (0,)), ((-1, 1), (1,)), ((1,), (0, 2))], 0, "float64", False),
    "three buffers that end early": ([((0,), (0,)), ((-1, 1), (1,)), ((1,), (0, 2))], 1, "float32", True),
    "whole numbers": ([((0, 1), (1,))], 0, "int64", False),
}


@cache
def form(name, mode):
    """A loop with nothing but buffers: its values, and the gradients of a cost by buffers and a factor."""
    taps, rank, dtype, as_while = FORMS[name]
    row = at.TensorType(dtype, (None,) * rank)
    read = [[row() for _ in reads] for reads, _ in taps]
    flat = [v for some in read for v in some]
    factor = at.TensorType(dtype, ())("factor")
    total = sum(flat[1:], flat[0]) * factor
    smooth = total if dtype == "int64" else at.tanh(total)
    news = [smooth + k * flat[k % len(flat)] for k in range(sum(len(writes) for _, writes in taps))]
    info = ScanInfo(
        0, tuple(reads for reads, _ in taps), tuple(writes for _, writes in taps), (), (), 0, 0, 1, as_while
    )
    op = Scan([*flat, factor], [*news, *([abs(total).sum() > 4] if as_while else [])], info)
    buffers = [at.TensorType(dtype, (None,) * (rank + 1))(f"b{k}") for k in range(len(taps))]
    outputs = op(n, *buffers, factor, return_list=True)
    if dtype != "int64":
        cost = sum((at.cos(out) * (k + 1)).sum() for k, out in enumerate(outputs))
        outputs = [*outputs, *aesara.grad(cost, [*buffers, factor])]
    f = aesara.function([n, *buffers, factor], outputs, mode=mode)
    if mode == "FAST_RUN":
        assert aesara.explain(f).python == []
    return f


@pytest.mark.parametrize("steps", [0, 1, 2, 6])
@pytest.mark.parametrize("name", FORMS)
def test_values_and_gradients_are_those_of_the_reference(name, steps):
    taps, rank, dtype, _ = FORMS[name]
    rng = np.random.default_rng(steps)
    given = []
    for reads, writes in taps:
        low, high = min((*reads, *writes)), max((*reads, *writes))
        given.append((rng.normal(size=(steps + high - min(low, 0) + 1, *(2, 3)[:rank])) * 3).astype(dtype))
    factor = np.asarray(2 if dtype == "int64" else 0.6, dtype)
    copies = [v.copy() for v in given]
    native, reference = (form(name, mode)(steps, *given, factor) for mode in ("FAST_RUN", "FAST_COMPILE"))
    close = {"float32": 2e-6, "float64": 1e-13, "int64": 0}[dtype]
    for one, two in zip(native, reference, strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_allclose(one, two, rtol=close, atol=close * np.max(abs(two), initial=1))
    for one, two in zip(given, copies):
        np.testing.assert_array_equal(one, two)


def test_buffers_that_may_be_overwritten_are():
    taps, w_ = [((0, 1), (1,))], at.dscalar("w")
    read = at.dscalars("p", "q")
    info = ScanInfo(0, (taps[0][0],), (taps[0][1],), (), (), 0, 0, 1, False)
    op = Scan([*read, w_], [read[0] * w_ + read[1]], info)
    shared = aesara.shared(np.arange(5.0))
    f = aesara.function([n, w_], [], updates={shared: op(n, shared, w_)})
    assert aesara.explain(f).python == []
    f(4, 0.5)
    assert_close(shared.get_value(), [0.0, 1.0, 2.5, 4.25, 6.125])
    with pytest.raises(ValueError, match="buffer 0 has fewer rows"):
        f(5, 0.5)
    assert_close(shared.get_value(), [0.0, 1.0, 2.5, 4.25, 6.125])
