"""Gradients of the last states of a loop: the loops keep the states only that slopes are made of."""

import tracemalloc

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.traversal import io_toposort
from aesara.scan import fori_loop, scan, until, while_loop
from aesara.scan.last_cotangents import split_last_rows
from aesara.scan.op import Scan

x, w, n, entries = at.dmatrix("x"), at.dscalar("w"), at.lscalar("n"), at.dtensor3("entries")


def linear(s):
    return s + 0.1 * at.roll(s, 1, 0)


def nonlinear(s, w):
    return at.tanh(s * w) + 0.1 * at.roll(s, 1, 0)


def with_entries(e, s, w):
    return s * w + e * at.roll(s, 1, 1)


def of_linear(steps):
    return [scan(linear, None, x, n_steps=steps)[0]]


def of_nonlinear(steps):
    return [scan(nonlinear, None, x, w, n_steps=steps)[0]]


def of_entries(steps):
    return [scan(with_entries, entries[:steps], x, w)[0]]


def of_two_taps(steps):
    first = {"initial": at.stack([x, 2 * x]), "taps": [-2, -1]}
    return [scan(lambda a, b, w: a * 0.5 - w * b, None, first, w, n_steps=steps)[0]]


def of_far_tap(steps):
    first = {"initial": at.stack([x, 2 * x, x + 1]), "taps": [-3]}
    return [scan(lambda a, w: at.sin(a) * w, None, first, w, n_steps=steps)[0]]


def of_output(steps):
    """An output that is no state comes last."""
    return scan(lambda e, s, w: [s * w + e, (s * e).sum(axis=0)], entries[:steps], [x, None], w)[0][::-1]


def of_until(steps):
    return [scan(lambda i, s, w: (s * w, until(i + 1 >= steps)), at.arange(20), x, w)[0]]


LOOPS = [of_linear, of_nonlinear, of_entries, of_two_taps, of_far_tap, of_output, of_until]
#: losses of all states, with how many steps they need
LOSSES = {
    "last": (lambda s: (s[-1] ** 2).sum(), 1),
    "last, linear": (lambda s: s[-1].sum(), 1),
    "last but one": (lambda s: (s[-2] ** 2).sum(), 2),
    "last three": (lambda s: (s[-3:] ** 2).sum(), 0),
    "an entry of the last": (lambda s: s[-1][..., 1].sum() ** 2 + s[-1, 0].sum(), 1),
    "last and all": (lambda s: (s[-1] ** 3).sum() + (s**2).sum(), 1),
    "last and first": (lambda s: (s[-1] * s[0]).sum(), 1),
    "last twice": (lambda s: (s[-1] * at.sqrt(abs(s[-1:]))).sum(), 1),
}


def values(steps):
    draw = np.random.default_rng(steps)
    return draw.normal(size=(3, 2)), 0.7, steps, draw.normal(size=(max(steps, 1), 3, 2))


def slopes(loss):
    return aesara.grad(loss, [x, w, entries], disconnected_inputs="ignore")


def differences(f, steps, size=1e-6):
    """Central differences of a function's result in its arguments that are no integers."""
    given = values(steps)
    found = []
    for k in (0, 1, 3):
        slope = np.zeros(np.shape(given[k]))
        for place in np.ndindex(slope.shape):
            sides = []
            for sign in (1, -1):
                moved = [np.array(v) for v in given]
                moved[k][place] += sign * size
                sides.append(f(*moved))
            slope[place] = (sides[0] - sides[1]) / (2 * size)
        found.append(slope)
    return found


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("loop", LOOPS)
def test_gradients(loop, name):
    """The same in compiled code and in the reference, and finite differences say the same."""
    loss, least = LOSSES[name]
    cost = sum(map(loss, loop(n)))
    inputs = [x, w, n, entries]
    native, reference = (
        aesara.function(inputs, [cost, *slopes(cost)], mode=mode, on_unused_input="ignore")
        for mode in ("FAST_RUN", "FAST_COMPILE")
    )
    assert native._native.report.python_nodes == {}
    for steps in (1, 2, 5):
        if steps < least:
            continue
        got, want = native(*values(steps)), reference(*values(steps))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    for a, b in zip(got[1:], differences(lambda *v: native(*v)[0], 5), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("truncated", [1, 2, 4])
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_truncated_gradients_of_last_states(truncated, mode):
    """Those of the last steps, where the first states are counted if they are among them."""
    for steps in (1, 2, 5):
        states, _ = scan(lambda s, w: s * w, None, x, w, n_steps=n, truncate_gradient=truncated)
        found = aesara.function([x, w, n], aesara.grad((states[-2:] * np.pi).sum(), [x, w]), mode=mode)
        first, factor, *_ = values(steps)
        got = found(first, factor, steps)
        rows = [first * factor**k for k in range(steps + 1)]
        wanted = np.zeros_like(first), 0.0
        waiting = [np.zeros_like(first)] * (steps + 1)
        for k in range(steps, max(steps - 2, 0), -1):
            waiting[k] = np.full_like(first, np.pi)
        slope = 0.0
        for k in range(steps, max(steps - truncated, 0), -1):
            slope += (waiting[k] * rows[k - 1]).sum()
            waiting[k - 1] = waiting[k - 1] + waiting[k] * factor
        wanted = (waiting[0] if steps <= truncated else np.zeros_like(first)), slope
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_a_last_state_that_is_not_there(mode):
    """Without steps there is no last state, also where only its gradient is asked for."""
    f = aesara.function([x, n], aesara.grad(scan(linear, None, x, n_steps=n)[0][-1].sum(), x), mode=mode)
    first = values(1)[0]
    assert f(first, 1).shape == first.shape
    with pytest.raises(IndexError):
        f(first, 0)


def test_a_state_is_given_a_number():
    """What is written broadcasts to the row, and is converted to its dtype."""
    states, _ = scan(lambda s: s * 2, None, x, n_steps=n)
    given = at.inc_subtensor(at.zeros_like(states)[-1], w.astype("float32"))
    got = aesara.function([x, w, n], aesara.Lop(states, x, given))(np.ones((2, 3)), 0.5, 4)
    np.testing.assert_array_equal(got, np.full((2, 3), 8.0))


def last(s):
    return (s[-1] ** 2).sum()


def entries_of(f):
    return [node for node in io_toposort([], f.maker.fgraph.outputs) if isinstance(node.op, Scan)]


def peak(f, *arguments):
    """The bytes that a call allocates at most."""
    f(*arguments)
    f.free()
    tracemalloc.start()
    try:
        f(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def of_fori_loop(steps):
    return fori_loop(0, steps, lambda i, s: linear(s), x)[None]


def of_while_loop(steps):
    return while_loop(lambda s: s[1] < steps, lambda s: [linear(s[0]), s[1] + 1], [x, 0])[0][None]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    "loop, loss",
    [
        (of_linear, last),
        (of_linear, LOSSES["last three"][0]),
        (of_linear, LOSSES["last but one"][0]),
        (of_two_taps, last),
        (of_fori_loop, last),
        (of_while_loop, last),
    ],
)
def test_memory_of_steps_that_are_linear_in_states(loop, loss, known):
    """It does not grow with the number of steps: neither states nor cotangents are kept for each of them."""
    rows = []
    for steps in (20, 400):
        states = loop(at.constant(steps) if known else n)
        cost = loss(states[0] if isinstance(states, list) else states)
        f = aesara.function([x, n, w], [cost, aesara.grad(cost, x)], on_unused_input="ignore")
        rows.append(peak(f, np.ones((50, 20)), steps, 0.5) / 8000)
    assert rows[1] < 1.1 * rows[0] < 40


def test_memory_of_steps_that_are_not_linear():
    """The states are kept once, and nothing else has a row for each step."""
    states, _ = scan(lambda s, w: w * s * (1 - s), None, x, w, n_steps=n)
    f = aesara.function([x, w, n], aesara.grad(last(states), [x, w]))
    few, many = (peak(f, np.ones((50, 20)), 0.5, steps) / 8000 for steps in (100, 400))
    assert 300 <= many - few < 310


def test_memory_of_a_loss_of_all_states():
    """Neither is their cotangent copied to where first values have rows as well."""
    states = of_linear(n)[0]
    f = aesara.function([x, n], aesara.grad((states**2).sum(), x))
    few, many = (peak(f, np.ones((50, 20)), steps) / 8000 for steps in (100, 400))
    assert many - few < 610


def test_rows_that_only_shapes_are_asked_of():
    """Of the first loop nothing is left where the gradient reads nothing of its states."""
    states = of_linear(n)[0]
    f = aesara.function([x, n], aesara.grad(states[-1].sum(), x))
    (loop,) = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    assert loop.op.name == "grad_of_scan_fn"
    assert loop.op.info.n_seqs == 0


def test_shapes_that_no_other_variable_of_the_step_has():
    """The step reads them of empty memory."""
    outer, _ = scan(lambda s: at.sin(s), None, x[:, :1], n_steps=n)
    inner, _ = scan(lambda r, t: t + r.shape[0] * r.shape[1], outer, w)
    f, g = (aesara.function([x, w, n], inner[-1], mode=mode) for mode in ("FAST_RUN", "FAST_COMPILE"))
    given = np.ones((3, 2)), 0.5, 4
    assert f(*given) == g(*given) == 12.5
    (loop,) = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    assert loop.op.info.n_seqs == 0


def test_how_cotangents_are_split():
    whole, row = at.dmatrix("whole"), at.dvector("row")
    zeros = at.zeros_like(whole)
    written = at.set_subtensor(zeros[-1], row)
    found = split_last_rows(written + whole)
    assert list(found.rows) == [1]
    assert found.rest is whole
    assert split_last_rows(whole).rows == {}
    assert list(split_last_rows(at.set_subtensor(zeros[-3:], whole[:3])).rows) == [1, 2, 3]
    for other in (zeros[-9], zeros[-9:], zeros[::2], zeros[:4], zeros[n]):
        made = at.inc_subtensor(other, 1.0)
        assert split_last_rows(made).rest is made
    known = at.zeros((4, 2))
    assert list(split_last_rows(at.set_subtensor(known[3], row)).rows) == [1]
