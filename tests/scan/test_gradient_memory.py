"""Gradients of loops that keep few states: the same numbers, in memory that grows as the root of the steps."""

import tracemalloc

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.replace import vectorize_graph
from aesara.graph.traversal import io_toposort
from aesara.scan import fori_loop, scan, until, while_loop
from aesara.scan.op import Scan
from tests.scan.test_random_loops import Program

x, w, n, rows = at.dvector("x"), at.dscalar("w"), at.lscalar("n"), at.dmatrix("rows")


def gradients(cost, wrt, budget):
    with config.change_flags(scan__checkpoint_memory=budget):
        return aesara.grad(cost, wrt, disconnected_inputs="ignore")


def last_state():
    states, _ = scan(lambda s, w: at.tanh(s * w) + 0.1, None, x, w, n_steps=n)
    return [x, w, n], (states[-1] ** 2).sum() + states[-1][0]


def losses():
    (states, loss), _ = scan(lambda e, s, w: [at.tanh(s * w + e), (s * e).sum()], rows, [x, None], w)
    return [x, w, rows], (states[-1] ** 2).sum() + loss.sum()


def last_loss():
    (_, loss), _ = scan(lambda e, s, w: [at.tanh(s * w + e), (s * e).sum() * w], rows, [x, None], w)
    return [x, w, rows], loss[-1]


def taps():
    first = {"initial": at.stack([x, x * 2, x + 1]), "taps": [-3, -1]}
    states, _ = scan(lambda a, b, w: at.tanh(a * w) - b * 0.5, None, first, w, n_steps=n)
    return [x, w, n], (states[-1] ** 2).sum() + states[2:4].sum()


@pytest.mark.parametrize(
    "loop, mode",
    [
        (last_state, "FAST_COMPILE"),
        (last_state, "FAST_RUN"),
        (losses, "FAST_RUN"),
        (taps, "FAST_RUN"),
        (last_loss, "FAST_COMPILE"),
    ],
)
def test_gradients_are_the_same(loop, mode):
    inputs, cost = loop()
    wrt = [v for v in inputs if v is not n]
    f, g = (aesara.function(inputs, gradients(cost, wrt, budget), mode=mode) for budget in (0, 1))
    if mode == "FAST_RUN":
        assert g._native.report.python_nodes == {}
    draw = np.random.default_rng(1)
    value = draw.normal(size=3)
    for steps in (4, 5, 9, 10):
        last = draw.normal(size=(steps, 3)) if rows in inputs else steps
        for a, b in zip(f(value, 0.7, last), g(value, 0.7, last), strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-11)


@pytest.mark.parametrize("seed", (100, 104))
def test_random_loops(seed):
    program = Program(seed, smooth=True)
    cost = program.cost()
    found = [gradients(cost, program.inputs, budget) for budget in (0, 1)]
    f = aesara.function(program.inputs, [*found[0], *found[1]], on_unused_input="ignore")
    got = f(*program.values)
    for a, b in zip(got[: len(found[0])], got[len(found[0]) :], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("taps", [[(-1,)], [(-2, -1)], [(-1,), (-2, -1)], [(-2,), (-3, -1), (-1,)], []])
def test_which_gradients_run_their_loop_again(taps):
    """Those of loops with states, however many there are of each kind."""
    firsts = [x[: -min(of)] if of != (-1,) else x[0] for of in taps]
    states = [{"initial": first, "taps": list(of)} for first, of in zip(firsts, taps, strict=True)]

    def step(e, *given):
        return [at.tanh(given[0] * e + k) for k in range(len(taps) + 1)]

    found, _ = scan(step, rows[:, 0], [*states, None], w, return_list=True)
    kept, again = (len(loops_before(gradients(sum(y[-1] for y in found), [w, x], budget))) for budget in (0, 1))
    assert again > kept if taps else again == kept


def loops_before(outputs):
    return [node for node in io_toposort([], outputs) if isinstance(node.op, Scan)]


def step(s, w):
    return at.tanh(s * w) + 0.1


def last_of_scan(**options):
    return scan(step, None, x, w, n_steps=n, **options)[0][-1]


def last_of_while(**options):
    return while_loop(lambda s: s[1] < n, lambda s: [step(s[0], w), s[1] + 1], [x, 0], **options)[0]


#: kinds of loops, each made with an option and without
KINDS = {
    "scan": last_of_scan,
    "fori_loop": lambda **options: fori_loop(0, n, lambda i, s: step(s, w), x, **options),
    "while_loop": last_of_while,
    "batch": lambda **options: vectorize_graph(last_of_scan(**options), {x: at.stack([x, -x])}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_an_option_of_one_loop(kind, mode):
    """It holds for that loop alone, whatever the option of all loops says, and changes no value."""
    build = KINDS[kind]
    wanted = gradients(build().sum(), [x, w], 0)
    few, by_option, all_states = (
        gradients(build(checkpoint_memory=own).sum(), [x, w], budget) for own, budget in ((1, 0), (None, 1), (0, 1))
    )
    counts = [len(loops_before(found)) for found in (few, by_option, all_states, wanted)]
    assert counts[0] == counts[1] > counts[2] == counts[3]
    f = aesara.function([x, w, n], [*wanted, *few, *all_states], mode=mode)
    for steps in (1, 7):
        got = f([0.5, -1.0], 0.9, steps)
        for found in (got[2:4], got[4:]):
            for a, b in zip(got[:2], found, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-11)


def test_an_option_of_one_loop_leaves_others_alone():
    one, other = KINDS["scan"](checkpoint_memory=1), KINDS["scan"](name="other")
    found = gradients(one.sum() * other.sum(), w, 0)
    names = [node.op.name for node in loops_before([found])]
    assert names.count("blocks_of_scan_fn") == 1 and "blocks_of_other" not in names
    with pytest.raises(ValueError, match="checkpoint_memory must be a number of bytes or None, got -1"):
        KINDS["scan"](checkpoint_memory=-1)


@pytest.mark.slow
def test_second_derivatives():
    inputs, cost = last_state()
    second = [gradients(gradients(cost, [w], budget)[0], [w], 0)[0] for budget in (0, 1)]
    got = aesara.function(inputs, second)([0.5, -1.0], 0.9, 7)
    np.testing.assert_allclose(got[1], got[0], rtol=1e-11)


given, zero = at.dmatrix("given"), at.zeros_like
#: gradients of the states, and whether all but that of the last state is zero
GIVEN = {
    "all": (lambda y: given[: y.shape[0]], False),
    "the last": (lambda y: at.inc_subtensor(zero(y)[-1], given[0]), True),
    "the last, which is set": (lambda y: at.set_subtensor(zero(y)[-1], given[0]), True),
    "the last in two terms": (
        lambda y: at.inc_subtensor(zero(y)[-1], given[0]) + at.inc_subtensor(zero(y)[-1], given[1] * 2), True
    ),
    "the last of those behind": (
        lambda y: at.inc_subtensor(zero(y)[2:], at.inc_subtensor(zero(y[2:])[-1], given[0])), True
    ),
    "the last, and another": (
        lambda y: at.inc_subtensor(zero(y)[-1], given[0]) + at.inc_subtensor(zero(y)[1], given[1]), False
    ),
    "the last but one": (lambda y: at.inc_subtensor(zero(y)[-2], given[0]), False),
    "the last two": (lambda y: at.inc_subtensor(zero(y)[-2:], given[:2]), False),
    "every second": (lambda y: at.inc_subtensor(zero(y)[::2], 1.0), False),
    "those before": (lambda y: at.inc_subtensor(zero(y)[:3], given[:3]), False),
    "parts of the last": (lambda y: at.inc_subtensor(zero(y)[-1, 0], given[0, 0]), True),
    "the same for all numbers": (lambda y: at.inc_subtensor(zero(y)[-1], given[0, 0]), True),
    "the last, to others": (lambda y: at.inc_subtensor(given[: y.shape[0]][-1], given[0]), False),
    "the last, to ones": (lambda y: at.inc_subtensor(at.ones_like(y)[-1], given[0]), False),
}  # fmt: skip


@pytest.mark.parametrize("kind", GIVEN)
def test_gradients_of_states_of_any_form(kind):
    """Where only the last one has a gradient, the others have no rows in the loop over blocks."""
    gradient, is_last = GIVEN[kind]
    states, _ = scan(lambda s, w: at.tanh(s * w) + 0.1, None, x, w, n_steps=n)
    slopes = []
    for budget in (0, 1):
        with config.change_flags(scan__checkpoint_memory=budget):
            slopes.append(aesara.Lop(states, [x, w], gradient(states)))
    f, g = (aesara.function([x, w, n, given], of, mode="FAST_COMPILE", on_unused_input="ignore") for of in slopes)
    rows_of_all = np.random.default_rng(8).normal(size=(9, 2))
    for steps in (4, 9):
        arguments = [0.5, -1.0], 0.9, steps, rows_of_all
        for got, want in zip(g(*arguments), f(*arguments), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)
    blocks = [node.op for node in io_toposort([x, w, n, given], slopes[1]) if isinstance(node.op, Scan)
              and str(node.op.name).startswith("blocks_of")]  # fmt: skip
    assert [loop.info.n_nit_sot for loop in blocks[:1]] == [0 if is_last else 1]


def test_memory_counts_all_entries_of_a_state():
    """Of 10 x 10 numbers, 800 bytes for each step."""
    m = at.dmatrix("m")
    states, _ = scan(lambda s, w: at.tanh(s * w) + 0.1, None, m, w, n_steps=n)
    slope = gradients(states[-1].sum(), w, budget=40_000)
    (blocks,) = [node for node in io_toposort([m, w, n], [slope]) if isinstance(node.op, Scan)
                 and str(node.op.name).startswith("blocks_of")]  # fmt: skip
    count = aesara.function([m, n], blocks.inputs[0], on_unused_input="ignore")
    assert [count(np.ones((10, 10)), steps) for steps in (49, 50, 51, 100)] == [0, 0, 6, 9]
    assert [count(np.ones((2, 3)), steps) for steps in (100, 833, 834)] == [0, 0, 28]


def peak(f, *values):
    """How many rows of a thousand numbers a call takes at most."""
    f(*values)
    f.free()
    tracemalloc.start()
    try:
        f(*values)
        return tracemalloc.get_traced_memory()[1] / 8000
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_grows_as_the_root_of_the_steps():
    inputs, cost = last_state()
    f, g = (aesara.function(inputs, gradients(cost, [x, w], budget)) for budget in (0, 80_000))
    few, many = (peak(g, np.ones(1000), 0.7, steps) for steps in (400, 6400))
    assert many < 4.2 * few and many < 20 * 80 < peak(f, np.ones(1000), 0.7, 6400)


@pytest.mark.slow
def test_what_fits_is_not_cut():
    """Ten rows fit: the states of nine steps are computed once more, all in a row."""
    inputs, cost = last_state()
    f, g = (aesara.function(inputs, gradients(cost, [x, w], budget)) for budget in (1, 10 * 8000))
    assert peak(g, np.ones(1000), 0.7, 100) < 1.2 * peak(f, np.ones(1000), 0.7, 100)
    got, want = (h(np.ones(1000), 0.7, 9) for h in (g, f))
    np.testing.assert_allclose(got[1], want[1], rtol=1e-12)


def test_a_budget_below_the_least_takes_the_least():
    inputs, cost = last_state()
    values = np.ones(1000), 0.7, 900
    functions = [aesara.function(inputs, gradients(cost, [x, w], budget)) for budget in (1, 8000, 60 * 8000, 0)]
    *rows, whole = (peak(f, *values) for f in functions)
    assert max(rows) < 1.1 * min(rows) < 20 * 30 < 900 < whole
    *found, want = (f(*values) for f in functions)
    for got in found:
        np.testing.assert_allclose(got[0], want[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], want[1], rtol=1e-12)


def test_loops_that_cannot_be_cut_keep_all():
    states, _ = scan(lambda s, w: (s * w, until(s < 0.1)), None, 1.0, w, n_steps=50)
    slope, same = gradients(states[-1], [w], 1)[0], gradients(states[-1], [w], 0)[0]
    got = aesara.function([w], [slope, same])(0.5)
    assert got[0] == got[1] != 0
    cut, _ = scan(lambda s, w: s * w, None, 1.0, w, n_steps=5, truncate_gradient=2)
    assert aesara.function([w], gradients(cut[-1], [w], 1))(2.0)[0] == 32.0
