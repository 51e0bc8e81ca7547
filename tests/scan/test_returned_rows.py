"""All states that a function returns are written where they are returned; buffers keep the last rows only."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.scan import scan, until
from aesara.scan.op import Scan
from aesara.scan.parts import is_exact
from aesara.scan.utils import ScanArgs

x, v, m, n = at.dvector("x"), at.dvector("v"), at.dmatrix("m"), at.lscalar("n")
VALUES = {x: np.linspace(-1, 1, 5), v: [0.5, -0.25], m: np.linspace(0, 1, 10).reshape(5, 2), n: 4}


def functions(outputs, **options):
    """The values of the inputs, functions with and without the rule, and the results of each of the first's loops."""
    inputs = [u for u in VALUES if u in set(aesara.graph.traversal.graph_inputs(outputs))]
    fast = get_mode("FAST_RUN")
    with_rule, without = (
        aesara.function(inputs, outputs, mode=mode, **options) for mode in (fast, fast.excluding("scan_return_rows"))
    )
    infos = [[n.op.info for n in f.maker.fgraph.toposort() if isinstance(n.op, Scan)] for f in (with_rule, without)]
    return [VALUES[u] for u in inputs], with_rule, without, *([i.n_nit_sot for i in info] for info in infos)


def numbers():
    return [scan(lambda e, s: 0.5 * s + e, x, v[0])[0]]


def vectors_and_their_last():
    states, _ = scan(lambda e, s: at.tanh(s) + e, m, v)
    return [states, states.sum()]


def taps():
    states, _ = scan(lambda e, old, new: new - 0.5 * old + e, x, {"initial": v, "taps": [-2, -1]})
    return [states]


def several():
    (p, q, r), _ = scan(lambda p, q: [p + q, at.sin(p), q * 2], None, [v, v * 2, None], n_steps=n)
    return [p, q, r]


@pytest.mark.parametrize("build, more", [(numbers, 1), (vectors_and_their_last, 1), (taps, 1), (several, 2)])
def test_states_become_results(build, more):
    values, with_rule, without, results, before = functions(build())
    assert results == [before[0] + more]
    for got, want in zip(with_rule(*values), without(*values), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype and got.flags.c_contiguous
        np.testing.assert_array_equal(got, want)


def test_there_is_no_second_place_for_all_rows():
    _, with_rule, without, _, _ = functions(numbers())
    given = np.ones(10_000), [0.5, 0.5]
    one, two = (aesara.memory_plan(f, *given).peak() for f in (with_rule, without))
    assert one < 81_000 < 160_000 < two


def the_first_value_too():
    states, _ = scan(lambda e, s: 0.5 * s + e, x, v[0])
    return [states.owner.inputs[0]]


def others_read_the_buffer():
    states, _ = scan(lambda e, s: at.tanh(0.5 * s + e), x, v[0])
    return [states, aesara.grad(states.sum(), x)]


def only_the_sum():
    states, _ = scan(lambda e, s: at.tanh(0.5 * s + e), x, v[0])
    return [(states**2).sum()]


def may_end_early():
    states, _ = scan(lambda e, s: (s + e + 1, until(s > 1)), x, v[0])
    return [states]


@pytest.mark.parametrize("build", [the_first_value_too, others_read_the_buffer, only_the_sum, may_end_early])
def test_others_stay(build):
    values, with_rule, without, results, before = functions(build())
    assert results == before
    for got, want in zip(with_rule(*values), without(*values), strict=True):
        np.testing.assert_array_equal(got, want)


def test_new_values_of_shared_variables():
    states, _ = scan(lambda e, s: 0.5 * s + e, x, v[0])
    kept = aesara.shared(np.zeros(1), name="kept")
    f = aesara.function([x, v], [], updates=[(kept, states)])
    f(VALUES[x], VALUES[v])
    np.testing.assert_array_equal(kept.get_value(), aesara.function([x, v], states)(VALUES[x], VALUES[v]))


@pytest.mark.parametrize("first", [lambda: v[0], lambda: m[0]], ids=["number", "vector"])
def test_buffers_have_a_row_for_each_step_before_any_rule_has_worked_on_them(first):
    states, _ = scan(lambda e, s: s + e, x, first())
    args = ScanArgs.from_node(states.owner.inputs[0].owner)
    (buffer,) = args.outer_in_sit_sot
    assert is_exact(buffer, 1, args.n_steps)
    assert not is_exact(buffer, 2, args.n_steps) and not is_exact(buffer, 1, n)
