"""Sums and products in the steps of loops take last what they wait for."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.traversal import io_toposort
from aesara.scan.late_terms import take_late_terms_last
from aesara.scan.op import Scan
from aesara.tensor.basic import AllocEmpty
from aesara.tensor.elementwise.ops import add, mul

x = at.dvector("x")
c, p, q = at.dscalars("c", "p", "q")


def step_of(f):
    (loop,) = [node.op for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    return loop, io_toposort(loop.inner_inputs, loop.inner_outputs)


def compiled(exclude=()):
    first = {"initial": at.stack([p, q]), "taps": [-2, -1]}
    states, _ = aesara.scan(lambda e, h2, h1, p, q, c: p * h1 + c + q * h2 + e * c, x, [first], [p, q, c])
    mode = aesara.compile.mode.get_mode("FAST_RUN").excluding(*exclude)
    return aesara.function([x, c, p, q], states, mode=mode)


def test_the_newest_state_comes_last():
    loop, nodes = step_of(compiled())
    (older, newest) = loop.inner_mitsot(loop.inner_inputs)[0]
    (total,) = [node for node in nodes if node.op == add and len(node.inputs) > 2]
    reads = [v.owner is not None and set(v.owner.inputs) & {older, newest} for v in total.inputs]
    assert reads[-2:] == [{older}, {newest}]
    assert not any(reads[:-2])


def test_factors_too():
    states, _ = aesara.scan(lambda e, s, c: (s * e) * c, x, [p], [c])
    f = aesara.function([x, p, c], states)
    loop, nodes = step_of(f)
    (product,) = [node for node in nodes if node.op == mul]
    assert product.inputs[-1] in loop.inner_sitsot(loop.inner_inputs)
    np.testing.assert_allclose(f([2.0, 3.0], 0.5, 0.1), [0.1, 0.03], rtol=1e-15)


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_values_are_the_same(steps):
    entries = np.random.default_rng(0).normal(size=steps)
    got = compiled()(entries, 0.3, 0.5, -0.2)
    without = compiled(["scan_late_terms"])(entries, 0.3, 0.5, -0.2)
    np.testing.assert_allclose(got, without, rtol=1e-14)


def test_integers_stay_as_they_are():
    k = at.lvector("k")
    states, _ = aesara.scan(lambda e, s, n: s + e + n, k, [at.constant(1, dtype="int64")], [at.lscalar("n")])
    graph = aesara.graph.fg.FunctionGraph(outputs=[states], clone=True)
    (node,) = [node for node in graph.apply_nodes if isinstance(node.op, Scan)]
    assert take_late_terms_last.transform(graph, node) is False


def slopes_of_two_taps(*exclude):
    """The gradient of a recurrence with two taps, whose states of slopes are sums."""
    first = {"initial": at.stack([p, q]), "taps": [-2, -1]}
    states, _ = aesara.scan(lambda e, h2, h1, p, q, c: c + p * h1 + q * h2 + e, x, [first], [p, q, c])
    mode = aesara.compile.mode.get_mode("FAST_RUN").excluding(*exclude)
    return aesara.function([x, c, p, q], aesara.grad((states**2).sum(), [c, p, q]), mode=mode)


def test_a_state_that_is_a_sum_becomes_two():
    """What has come to a step's slope is added up before the last of it is known."""
    plain, split = slopes_of_two_taps("scan_split_late_sums"), slopes_of_two_taps()
    backward = [
        [n.op.info.n_sit_sot for n in f.maker.fgraph.toposort() if isinstance(n.op, Scan)][-1] for f in (plain, split)
    ]
    assert backward[1] == backward[0] + 1


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_sums_of_two_states_are_the_same(steps):
    entries = np.random.default_rng(0).normal(size=steps)
    plain, split = slopes_of_two_taps("scan_split_late_sums"), slopes_of_two_taps()
    for got, want in zip(split(entries, 0.3, 0.5, -0.2), plain(entries, 0.3, 0.5, -0.2), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_all_early_terms_are_kept(terms):
    early = [lambda e, c: e, lambda e, c: e * c, lambda e, c: e * e][:terms]

    def step(e, s, c):
        return sum(term(e, c) for term in early) + (s + e) * c

    states, _ = aesara.scan(step, x, [at.constant(0.7)], [c])
    plain, split = (
        aesara.function([x, c], states[-1], mode=aesara.compile.mode.get_mode("FAST_RUN").excluding(*names))
        for names in (["scan_split_late_sums"], [])
    )
    assert [step_of(f)[0].info.n_sit_sot for f in (plain, split)] == [1, 2]
    given = [0.5, -1.5, 2.5], 0.3
    np.testing.assert_allclose(split(*given), plain(*given), rtol=1e-14)


def split(step, *first, whole=False):
    """What becomes of a loop over `x`, of which the last values are read, or all of them."""
    states, _ = aesara.scan(step, x, list(first), [c], return_list=True)
    f = aesara.function([x, c, p], states if whole else [s[-1] for s in states], on_unused_input="ignore")
    (loop,) = [node.op for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    return loop.info.n_sit_sot, f


#: first values: of a variable the type of the loop's buffer does not say how many there are
FIRSTS = pytest.mark.parametrize("first", [p, at.constant(0.25, dtype="float64")], ids=["variable", "constant"])


@FIRSTS
def test_several_states_become_two_each(first):
    count, f = split(lambda e, s, t, c: (e + (s + e) * c, e * c + (t + c) * e), first, first)
    assert count == 4
    s = t = 0.25
    for e in (0.5, -1.5, 2.5):
        s, t = e + (s + e) * 0.3, e * 0.3 + (t + 0.3) * e
    np.testing.assert_allclose(f([0.5, -1.5, 2.5], 0.3, 0.25), [s, t], rtol=1e-14)


@FIRSTS
def test_states_that_stay_one(first):
    # What is read by other operations than sums, sums whose terms are late alike, and sums without early terms.
    assert split(lambda e, s, c: e + (s + e) * c, first)[0] == 2
    assert split(lambda e, s, c: e + at.tanh(s) * c, first)[0] == 1
    assert split(lambda e, s, c: e + (s + e) * c + e * s, first)[0] == 1
    assert split(lambda e, s, c: (s + e) * c + (s + c) * e, first)[0] == 1
    assert split(lambda e, s, c: s + e, first)[0] == 1


@FIRSTS
def test_states_of_which_all_rows_are_kept_stay_one(first):
    states, _ = aesara.scan(lambda e, s, c: e + (s + e) * c, x, [first], [c])
    mode = aesara.compile.mode.get_mode("FAST_RUN").excluding("scan_return_rows")
    f = aesara.function([x, c, p], states, mode=mode, on_unused_input="ignore")
    assert step_of(f)[0].info.n_sit_sot == 1


def test_how_much_is_computed_for_a_term_is_no_matter_if_it_needs_no_state():
    first = {"initial": at.stack([p, q]), "taps": [-2, -1]}
    states, _ = aesara.scan(
        lambda e, h2, h1, n: add(h2, at.exp(at.exp(e)), h1, AllocEmpty("float64")(), n), x, [first], [c]
    )
    graph = aesara.graph.fg.FunctionGraph(outputs=[states], clone=True)
    (node,) = [node for node in graph.apply_nodes if isinstance(node.op, Scan)]
    new = take_late_terms_last.transform(graph, node)[node.outputs[0]].owner.op
    ((older, newest),) = new.inner_mitsot(new.inner_inputs)
    (total,) = new.inner_mitsot_outs(new.inner_outputs)
    assert total.owner.op == add and total.owner.inputs[-2:] == [older, newest]
