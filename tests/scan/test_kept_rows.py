"""Loops that keep fewer rows than there are steps: rings of rows, and the rewrite that makes them."""

import itertools
import tracemalloc

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode, get_mode
from aesara.graph.features import ReplaceValidate
from aesara.graph.fg import FunctionGraph
from aesara.ir.steps import Iterate
from aesara.ir.text import print_program
from aesara.scan import scan, until
from aesara.scan.op import Scan, ScanInfo
from aesara.scan.parts import expand_empty
from aesara.scan.saving_memory import SaveMemory
from tests.closeness import assert_close

# What needs no loop is to stay in it.
NATIVE = get_mode("FAST_RUN").excluding("scan_pushout")
ALL_ROWS = NATIVE.excluding("scan_save_mem")
REFERENCE = Mode("py", "fast_run").excluding("scan_pushout")


# -- rings ---------------------------------------------------------------------------------------------------------


def ring(taps, as_while, row=(), dtype="float64"):
    """A loop with a state, and an output of which the last rows are kept, in the reference and natively."""
    kind = at.TensorType(dtype, (None,) * len(row))
    entry, former = kind(), [kind() for _ in taps]
    new = sum((k + 1) * 0.5 * v for k, v in enumerate(former)) + entry
    outputs = [new, new * 2, *([abs(new).sum() > 6] if as_while else [])]
    last = taps == (-1,)
    info = ScanInfo(1, (), (), () if last else (taps,), ((-1,),) if last else (), 1, 0, 0, as_while)
    rows = at.TensorType(dtype, (None,) * (len(row) + 1))
    n, entries, buffer, kept = inputs = at.lscalar("n"), rows("entries"), rows("buffer"), at.lscalar("kept")
    loop = Scan([entry, *former], outputs, info)(n, entries, buffer, kept)
    return [aesara.function(inputs, loop, mode=mode) for mode in ("FAST_COMPILE", "FAST_RUN")]


def ring_in_python(taps, as_while, n, entries, buffer, kept):
    depth = -min(taps)
    states, results = list(buffer[:depth]), []
    for t in range(n):
        new = sum((k + 1) * 0.5 * states[depth + t + tap] for k, tap in enumerate(taps)) + entries[t]
        states.append(new)
        results.append(new * 2)
        if as_while and abs(new).sum() > 6:
            break
    if not as_while:  # rows that no step writes are those of the buffer, or zeros
        states += list(buffer[len(states) :])
        results += [np.zeros_like(buffer[0])] * (kept - len(results))
    last = np.array(results[max(len(results) - kept, 0) :])
    return np.array(states[-len(buffer) :]), last.reshape(len(last), *buffer.shape[1:])


@pytest.mark.parametrize("as_while", [False, True])
@pytest.mark.parametrize("taps", [(-1,), (-2, -1), (-3,), (-3, -2)])
@pytest.mark.parametrize("row, dtype", [((), "float64"), ((2,), "float32"), ((2,), "complex128")])
def test_rows_go_round_and_come_out_in_order(taps, as_while, row, dtype):
    draw = np.random.default_rng(1)
    both = ring(taps, as_while, row, dtype)
    assert both[1]._native.report.python_nodes == {}
    for n in range(7):
        for length, kept in itertools.product(range(-min(taps), n - min(taps) + 3), range(min(n, 1), n + 3)):
            entries, buffer = (draw.normal(size=(m, *row)).astype(dtype) for m in (n, length))
            want = ring_in_python(taps, as_while, n, entries, buffer, kept)
            for f in both:
                for a, b in zip(f(n, entries, buffer, kept), want, strict=True):
                    assert a.shape == b.shape
                    # sums may be taken in another order: the error is that of the largest term
                    close = 1e-6 if dtype == "float32" else 1e-13
                    np.testing.assert_allclose(a, b, rtol=close, atol=close)


def test_an_output_of_which_the_last_rows_are_kept():
    i, numbers = at.lscalar("i"), at.arange(5)
    rows = Scan([i], [i * 2], ScanInfo(1, (), (), (), (), 1, 0, 0, False))(5, numbers, at.constant(2))
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        assert aesara.function([], rows, mode=mode)().tolist() == [6, 8]


@pytest.mark.parametrize("steps, kept", [(5, 2), (3, 3), (2, 4)])
def test_reading_from_the_end_of_rows_that_are_not_those_of_the_steps(steps, kept):
    """Rows that no step writes are zeros, and the last ones."""
    i, n, k = at.lscalar("i"), at.lscalar("n"), at.lscalar("k")
    rows = Scan([i], [i * 2 + 1], ScanInfo(1, (), (), (), (), 1, 0, 0, False))(n, at.arange(n), k)
    written = np.zeros(kept, np.int64)
    written[: min(steps, kept)] = (np.arange(steps) * 2 + 1)[-kept:]
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        for read in (lambda r: r[-1:], lambda r: r[-2:], lambda r: r[-2:][::-1]):
            f = aesara.function([n, k], read(rows), mode=mode)
            assert f(steps, kept).tolist() == read(written).tolist()


def test_states_that_change_places_in_the_smallest_rings():
    a, b, first, second = at.dscalar(), at.dscalar(), at.dvector(), at.dvector()
    rows = Scan([a, b], [b, a], ScanInfo(0, (), (), (), ((-1,), (-1,)), 0, 0, 0, False))(3, first, second)
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        got = aesara.function([first, second], rows, mode=mode)([1.0], [2.0])
        assert [v.tolist() for v in got] == [[2], [1]]


def test_a_state_that_is_read_in_another_order_in_the_smallest_ring():
    v, w, first, weights = at.dvector(), at.dvector(), at.dmatrix("first"), at.dmatrix("weights")
    info = ScanInfo(0, (), (), (), ((-1,), (-1,)), 0, 0, 1, False)
    inner = at.dmatrix()
    rows = Scan([v, w, inner], [v[::-1] * 2 + v[0], inner @ w], info)(4, first, first, weights)
    value, matrix = np.arange(5.0), np.arange(25.0).reshape(5, 5) / 25
    one = other = value
    for _ in range(4):
        one, other = one[::-1] * 2 + one[0], matrix @ other
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        got = aesara.function([first, weights], rows, mode=mode)([value], matrix)
        assert_close(got[0], [one])
        assert_close(got[1], [other])


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_a_buffer_of_several_first_values_that_is_read_directly(mode):
    a, b, first, steps = at.dscalar(), at.dscalar(), at.dvector("first"), at.lscalar("steps")
    loop = Scan([a, b], [a + 2 * b], ScanInfo(0, (), (), ((-3, -1),), (), 0, 0, 0, False))
    f = aesara.function([first, steps], loop(steps, expand_empty(first[:3], steps))[-1], mode=mode)
    states = [1.0, 2.0, 3.0]
    for n in range(5):
        assert f(states[:3], n) == states[-1]
        states.append(states[-3] + 2 * states[-1])


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_buffers_that_are_too_short(mode):
    x, buffer, kept = at.dscalar(), at.dvector("buffer"), at.lscalar("kept")
    state = Scan([x], [x + 1], ScanInfo(0, (), (), ((-2,),), (), 0, 0, 0, False))(3, buffer)
    with pytest.raises(ValueError, match="state 0 needs 2 first values, got 1"):
        aesara.function([buffer], state, mode=mode)([1.0])
    output = Scan([x], [x + 1], ScanInfo(1, (), (), (), (), 1, 0, 0, False))(3, at.zeros(3), kept)
    with pytest.raises(ValueError, match="output 0 has room for 0 values"):
        aesara.function([kept], output, mode=mode)(0)
    states, _ = scan(lambda a, b: a + b, outputs_info={"initial": buffer, "taps": [-2, -1]}, n_steps=3)
    with pytest.raises(AssertionError, match="SpecifyShape"):
        aesara.function([buffer], states, mode=mode)([1.0])


STEPS = {
    "number": lambda n, v: n,
    "sum": lambda n, v: n + 2,
    "sum of others": lambda n, v: n + v.shape[0],
    "at most": lambda n, v: at.minimum(n, 1),
    "length": lambda n, v: v.shape[0],
    "another length": lambda n, v: v[1:].shape[0],
    "constant": lambda n, v: at.constant(50),
}


@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("steps", STEPS)
def test_a_buffer_for_all_steps_is_no_ring(steps, first):
    """It has the first values in any case, and rows are where their numbers say."""
    n, v, s = at.lscalar("n"), at.dvector("v"), at.dscalar("s")
    count = STEPS[steps](n, v)
    start = {"initial": s, "taps": [-1]} if first == 1 else {"initial": at.stack([s] * first), "taps": [-first, -1]}
    states = scan(lambda *taps: at.sin(taps[0]) + taps[-1], outputs_info=start, n_steps=count)[0]
    for mode in (Mode("llvm", None), ALL_ROWS):
        f = aesara.function([n, v, s], states, mode=mode, on_unused_input="ignore")
        program, errors = f._native.program, f._native.report.lowering.errors
        assert any(isinstance(step, Iterate) for step in program.steps)
        assert "mod(" not in print_program(program)
        assert not any("first values" in str(error) for error in errors)


# -- the rewrite ---------------------------------------------------------------------------------------------------


n, x = at.lscalar("n"), at.dvector("x")


def states_of(kind, steps=n):
    if kind == "state":
        return scan(lambda s, x: s * 0.5 + x, None, at.zeros_like(x), x, n_steps=steps)[0]
    if kind == "taps":
        first = {"initial": at.stack([x, x + 1, x * 2]), "taps": [-3, -1]}
        return scan(lambda a, b, x: a * 0.5 - b * 0.25 + x, None, first, x, n_steps=steps)[0]
    if kind == "result":
        return scan(lambda i, x: at.sin(i * x), at.arange(steps), None, x)[0]
    if kind == "size in the loop":
        return scan(lambda i, x: at.sin(i * x)[: at.switch(i >= 0, x.shape[0], 1)], at.arange(steps), None, x)[0]
    assert kind == "until"
    (values, _), _ = scan(
        lambda s, i, x: ([s * 0.5 + x, i + 1], until(i >= n)), None, [at.zeros_like(x), 1], x, n_steps=50
    )
    return values


def peak(f, *values):
    """How many bytes a call takes at most."""
    f(*values)
    f.free()
    tracemalloc.start()
    try:
        f(*values)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


KINDS = ["state", "taps", "result", "size in the loop", "until"]
READS = {
    "the last": lambda y: [y[-1]],
    "one of the last": lambda y: [y[-3]],
    "the last three": lambda y: [y[-3:]],
    "several": lambda y: [y[-1], y[-2:] * 2, y[-2, 0]],
    "every second": lambda y: [y[-4::2]],
    "backwards": lambda y: [y[::-1][0]],
    "behind the first": lambda y: [y[1:][-1]],
    "with the shape": lambda y: [y[-1], y.shape[1]],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reads", READS)
def test_what_is_read_from_the_end_is_the_same(kind, reads):
    outputs = READS[reads](states_of(kind))
    every, native, reference = (aesara.function([n, x], outputs, mode=m) for m in (ALL_ROWS, NATIVE, REFERENCE))
    assert (native._native.report.python_nodes == {}) == (kind != "size in the loop")
    for steps in (4, 5, 6, 7, 20):
        want = every(steps, [1.0, 2.0])
        for f in (native, reference):
            for a, b in zip(f(steps, [1.0, 2.0]), want, strict=True):
                assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reads", READS)
def test_memory_does_not_grow_with_the_number_of_steps(kind, reads, mode):
    f = aesara.function([n, x], READS[reads](states_of(kind)), mode=mode)
    value = np.ones(1000)
    few, many = peak(f, 10, value), peak(f, 40, value)
    assert abs(many - few) < 4000  # bytes; a row has 8,000


k = at.lscalar("k")
SYMBOLIC_READS = {
    "the last rows": lambda y: [y[-k:]],
    "one row": lambda y: [y[-k]],
    "behind others": lambda y: [y[2:][-1 - k :], y[-1]],
    "every second": lambda y: [y[at.cast(-k, "int8") :: 2]],
    "backwards": lambda y: [y[-k::-1]],
    "parts of rows": lambda y: [y[-2 * k :, 0], y[-3:], y.shape[1]],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reads", SYMBOLIC_READS)
def test_how_many_rows_are_read_may_be_known_in_the_call_only(kind, reads):
    outputs = SYMBOLIC_READS[reads](states_of(kind))
    every, native, reference = (aesara.function([n, x, k], outputs, mode=m) for m in (ALL_ROWS, NATIVE, REFERENCE))
    assert (native._native.report.python_nodes == {}) == (kind != "size in the loop")
    for steps, count in itertools.product((4, 6, 20), (1, 2, 3, 5, 19, 50, 0, -1, -2)):
        try:
            want = every(steps, [1.0, 2.0], count)
        except IndexError:
            for f in (native, reference):
                with pytest.raises(IndexError):
                    f(steps, [1.0, 2.0], count)
            continue
        for f in (native, reference):
            for a, b in zip(f(steps, [1.0, 2.0], count), want, strict=True):
                assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)
    value = np.ones(1000)
    if reads != "backwards":
        assert abs(peak(native, 40, value, 2) - peak(native, 10, value, 2)) < 4000
        assert peak(native, 40, value, 8) > 3 * 8000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("read", [lambda y: y[-1], lambda y: y[-3:], lambda y: y[-k:], lambda y: y[2:][-1 - k :]])
def test_what_is_short_is_not_made_shorter_again(kind, read):
    fgraph = FunctionGraph(outputs=[read(states_of(kind))], clone=True)
    fgraph.attach_feature(ReplaceValidate())
    assert SaveMemory().apply(fgraph) == 1
    assert SaveMemory().apply(fgraph) == 0


def test_an_output_over_two_sequences_keeps_the_rows_that_are_asked_for():
    y, z = at.dmatrices("y", "z")
    rows, _ = scan(lambda one, two: at.sin(one) * two, [y, z])
    f = aesara.function([y, z, k], rows[-k:], mode=NATIVE)
    few, many = (peak(f, np.ones((steps, 1000)), np.ones((steps, 1000)), 2) for steps in (10, 40))
    assert abs(many - few) < 4000
    assert_close(f(np.ones((5, 3)), np.ones((4, 3)), 2), np.sin(1) * np.ones((2, 3)))


def test_the_least_integer_is_no_count_of_rows():
    f = aesara.function([n, x, k], states_of("state")[-k:])
    assert f(5, [1.0], -(2**63)).shape == f(5, [1.0], 2**63 - 1).shape == (5, 1)


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
def test_a_known_number_of_steps(mode):
    f = aesara.function([n, x], states_of("state", 50)[-1], mode=mode, on_unused_input="ignore")
    assert peak(f, 0, np.ones(1000)) < 10 * 8000
    got = f(0, [1.0])
    assert_close(got, 2 - 2.0**-49)


@pytest.mark.parametrize(
    "read",
    [
        lambda y: y[0],
        lambda y: y[:-1],
        lambda y: y[-1] + y.sum(axis=0),
        lambda y: y,
        lambda y: y[-1::-1],
        lambda y: y[-2::-2],
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_other_readers_get_all_rows(kind, read):
    f, every = (aesara.function([n, x], read(states_of(kind)), mode=mode) for mode in (NATIVE, ALL_ROWS))
    for steps in (1, 2, 5):
        assert np.array_equal(f(steps, [1.0, 2.0]), every(steps, [1.0, 2.0]))


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
@pytest.mark.parametrize("kind", ["state", "taps", "result"])
def test_too_few_steps_for_an_index(kind, mode):
    for read, enough in [(lambda y: y[-1], 1), (lambda y: y[-3], 3), (lambda y: y[1:][-1], 2)]:
        f = aesara.function([n, x], read(states_of(kind)), mode=mode)
        for steps in range(enough):
            with pytest.raises(IndexError):
                f(steps, [1.0, 2.0])
        assert f(enough, [1.0, 2.0]).shape == (2,)
    f = aesara.function([n, x], states_of(kind)[-3:], mode=mode)
    assert [len(f(steps, [1.0, 2.0])) for steps in range(5)] == [0, 1, 2, 3, 3]


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
def test_the_length_of_a_loop_that_ends_early(mode):
    values = states_of("until")
    f = aesara.function([n, x], [values[-1], values.shape[0]], mode=mode)
    assert [int(f(steps, [1.0])[1]) for steps in (1, 7)] == [1, 7]


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
def test_sums_of_gradients_are_not_kept(mode):
    W, rows = at.dmatrix("W"), at.dmatrix("rows")
    total, _ = scan(lambda row, s, W: at.tanh(s + W @ row), rows, at.zeros_like(rows[0]), W)
    slope = aesara.grad(total[-1].sum(), W)
    f, every = (aesara.function([W, rows], slope, mode=m) for m in (mode, ALL_ROWS))
    draw = np.random.default_rng(2)
    weights, values = draw.normal(size=(60, 60)) / 8, draw.normal(size=(40, 60))
    np.testing.assert_allclose(f(weights, values), every(weights, values), rtol=1e-12)
    grown = peak(f, weights, values) - peak(f, weights, values[:10])
    assert grown < 30 * 60 * 8 * 12  # some vectors for each step, but no matrix of 60 vectors


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
def test_loops_in_loops_and_updates(mode):
    total = aesara.shared(np.zeros(1000), "total")

    def outer(s, x):
        inner, _ = scan(lambda t, x: t * 0.5 + x, None, s, x, n_steps=n)
        return inner[-1], {total: total + inner[-1]}

    states, updates = scan(outer, None, at.zeros_like(x), x, n_steps=n)
    f = aesara.function([n, x], states[-1], updates=updates, mode=mode)
    few, many = peak(f, 10, np.ones(1000)), peak(f, 40, np.ones(1000))
    assert abs(many - few) < 4000
    total.set_value(np.zeros(1))
    assert f(2, [1.0]) == 1.875 and total.get_value() == 1.5 + 1.875


def test_second_derivatives_and_forward_mode_of_what_is_kept():
    w = at.dscalar("w")
    last = scan(lambda s, w: at.sin(s * w), None, 0.5, w, n_steps=5)[0][-1]
    outputs = [last, aesara.grad(last, w), aesara.grad(aesara.grad(last, w), w), aesara.Rop(last, w, at.ones(()))]
    f, every = (aesara.function([w], outputs, mode=mode) for mode in (NATIVE, ALL_ROWS))
    np.testing.assert_allclose(f(1.3), every(1.3), rtol=1e-13)
    h = 1e-4
    values = [float(f(1.3 + k * h)[0]) for k in (-1, 0, 1)]
    np.testing.assert_allclose(f(1.3)[1], (values[2] - values[0]) / (2 * h), rtol=1e-6)
    np.testing.assert_allclose(f(1.3)[2], (values[2] - 2 * values[1] + values[0]) / h**2, rtol=1e-4)
    assert f(1.3)[3] == pytest.approx(float(f(1.3)[1]), rel=1e-12)


def test_the_rewrite_has_a_name_and_a_tag():
    def rows(mode):
        f = aesara.function([n, x], states_of("state")[-1], mode=mode)
        return peak(f, 40, np.ones(1000))

    assert rows(NATIVE) < 10 * 8000
    for tag in ("scan_save_mem", "scan"):
        assert rows(NATIVE.excluding(tag)) > 40 * 8000


def test_memory_of_loops_in_loops_is_given_back():
    data, width = at.dvector("data"), at.lscalar("width")

    def outer(entry):
        inner, _ = scan(lambda i, e: at.sin(i * e), at.arange(width), None, entry)
        return inner.sum() / inner.max()

    f = aesara.function([data, width], scan(outer, data)[0])
    assert f._native.report.python_nodes == {}
    few, many = (peak(f, np.ones(steps), 1000) for steps in (10, 40))
    assert abs(many - few) < 4000
    tracemalloc.start()
    f(np.ones(40), 1000)
    before = tracemalloc.get_traced_memory()[0]
    f(np.ones(40), 1000)
    assert abs(tracemalloc.get_traced_memory()[0] - before) < 4000
    tracemalloc.stop()


@pytest.mark.parametrize("kept", range(1, 7))
@pytest.mark.parametrize("taps", [(-1,), (-2, -1), (-3,)], ids=str)
@pytest.mark.parametrize("ends", [False, True])
def test_the_last_rows_of_loops_of_every_length(kept, taps, ends):
    """Numbers that stay in registers are moved on in the last rounds only, or in all if any may be the last."""
    first, n = at.dvector("first"), at.lscalar("n")

    def step(*states):
        new = 0.5 * states[0] + 0.25 * states[-1] + 1
        return (new, until(new > 100)) if ends else new

    initial = first[0] if taps == (-1,) else first
    rows, _ = scan(step, outputs_info=[{"initial": initial, "taps": list(taps)}], n_steps=n)
    last = aesara.function([first, n], rows[-kept:])
    every = aesara.function([first, n], rows, mode="FAST_COMPILE")
    given = np.array([3.0, -1.0, 0.5])[: -min(taps)]
    for length in (*range(1, 11), 100):
        np.testing.assert_array_equal(last(given, length), every(given, length)[-kept:])


@pytest.mark.parametrize("count", [4, 9, 20])
@pytest.mark.parametrize("kept", [1, 2])
def test_the_last_rows_of_many_numbers(count, kept):
    """Few numbers are moved on in every round, many in the last rounds only."""
    x, firsts = at.dvector("x"), at.dvector("firsts")
    rows, _ = scan(
        lambda x, *states: [0.5 * state + x for state in states],
        sequences=[x],
        outputs_info=[firsts[k] for k in range(count)],
    )
    last = aesara.function([x, firsts], [row[-kept:] for row in rows])
    every = aesara.function([x, firsts], rows, mode="FAST_COMPILE")
    numbers, given = np.linspace(0, 1, 7), np.arange(float(count))
    for length in range(1, 8):
        expected = [row[-kept:] for row in every(numbers[:length], given)]
        np.testing.assert_array_equal(last(numbers[:length], given), expected)
