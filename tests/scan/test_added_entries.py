"""What steps add at indices is added behind the loop; what a step reads of it, or adds otherwise, stays."""

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.compile.mode import Mode, get_mode
from aesara.scan import scan, until
from aesara.scan.op import Scan
from aesara.tensor.indexing.inc_subtensor import inc_subtensor

i, j, w, n = at.lvector("i"), at.lvector("j"), at.lmatrix("w"), at.lscalar("n")
x, v, m = at.dvector("x"), at.dvector("v"), at.dmatrix("m")
VALUES = {
    i: [3, 0, 3, -1], j: [1, 1, 2, 0], w: [[0, 1], [3, 3], [2, -4], [1, 0]], n: 3,
    x: [0.5, -1.0, 2.0, 0.25], v: [0.1, 0.2, 0.3, 0.4], m: np.linspace(-1, 1, 16).reshape(4, 4),
}  # fmt: skip


def number():
    states, _ = scan(lambda k, s, v: 0.9 * s + v[k] * at.exp(-s * s), [i], [0.5], [v])
    return aesara.grad(states[-1], v)


def row():
    states, _ = scan(lambda k, s, m: at.tanh(0.9 * s + m[k]), [i], [v], [m])
    return aesara.grad(states[-1].sum(), m)


def entries():
    states, _ = scan(lambda k, l, s, m: at.tanh(0.9 * s + m[k, l] + m[l, k] * m[k, k]), [i, j], [0.5], [m])
    return aesara.grad(states[-1], m)


def rows():
    states, _ = scan(lambda k, s, m: at.tanh(0.9 * s + m[k].sum(axis=0) * m[k[0]]), [w], [v], [m])
    return aesara.grad(states[-1].sum(), m)


def always_at_the_same_places():
    def step(e, s, q, j):
        return s + inc_subtensor(at.zeros(4)[q], e) + inc_subtensor(at.zeros(4)[j], e * e)

    total, _ = scan(step, [x], [v], [j[2], j])
    return total[-1]


def counts():
    total, _ = scan(lambda k, s: s + inc_subtensor(at.zeros(4)[k], 1.0), [i], [v])
    return total[-1]


def a_value_for_all():
    total, _ = scan(lambda k, s, v: s + inc_subtensor(at.zeros((4, 4))[k], v), [i], [m], [v])
    return total[-1]


def at_the_next_place():
    def step(k, s):
        place = aes.add(at.scalar_from_tensor(k), aes.constant(1, dtype="int64"))
        return s + inc_subtensor(at.zeros(5)[place], 1.0)

    total, _ = scan(step, [i], [at.zeros(5)])
    return total[-1]


MOVED = [number, row, entries, rows, always_at_the_same_places, counts, a_value_for_all, at_the_next_place]


def functions(outcome):
    """The values of the inputs, and functions: with the rule, without it, in Python, and without any rule."""
    inputs = [u for u in VALUES if u in set(aesara.graph.traversal.graph_inputs([outcome]))]
    fast = get_mode("FAST_RUN")
    modes = [fast, fast.excluding("scan_pushout_inc"), Mode("py", "fast_run"), get_mode("FAST_COMPILE")]
    return [VALUES[u] for u in inputs], [aesara.function(inputs, outcome, mode=mode) for mode in modes]


def states_like(f, outcome):
    """How many states of loops have the dimensions of the outcome, and are not just one of its rows."""
    loops = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    return sum(s.type.ndim == outcome.type.ndim for node in loops for s in node.op.inner_sitsot(node.op.inner_inputs))


@pytest.mark.parametrize("build", MOVED, ids=lambda build: build.__name__)
def test_entries_are_added_behind_the_loop(build):
    outcome = build()
    values, (with_rule, without, python, plain) = functions(outcome)
    assert states_like(with_rule, outcome) == states_like(without, outcome) - 1
    want = plain(*values)
    for f in (with_rule, without, python):
        got = f(*values)
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-12)


def read_in_steps():
    total, _ = scan(lambda k, s: s + inc_subtensor(at.zeros(4)[k], s[0]), [i], [v])
    return total[-1]


def all_rows():
    total, _ = scan(lambda k, s: s + inc_subtensor(at.zeros(4)[k], 1.0), [i], [v])
    return total


def other_than_zeros():
    total, _ = scan(lambda k, s, x: s + inc_subtensor(x[k], 1.0), [i], [v], [x])
    return total[-1]


def set_entries():
    total, _ = scan(lambda k, s: s + at.set_subtensor(at.zeros(4)[k], 1.0), [i], [v])
    return total[-1]


def slices():
    total, _ = scan(lambda k, s: s + inc_subtensor(at.zeros(4)[: k + 1], 1.0), [j], [v])
    return total[-1]


def until_a_place():
    total, _ = scan(lambda k, s: (s + inc_subtensor(at.zeros(4)[k], 1.0), until(at.eq(k, 2))), [i], [v])
    return total[-1]


@pytest.mark.parametrize("build", [read_in_steps, all_rows, other_than_zeros, set_entries, slices, until_a_place])
def test_others_stay(build):
    outcome = build()
    values, (with_rule, without, _, plain) = functions(outcome)
    size = at.vector() if build is all_rows else outcome
    assert states_like(with_rule, size) == states_like(without, size) == 1
    np.testing.assert_allclose(with_rule(*values), plain(*values), rtol=1e-12)


def test_a_loop_without_steps_adds_nothing():
    f = aesara.function([i, v], number())
    np.testing.assert_array_equal(aesara.function([i, v], counts())([0], np.ones(4)), [2.0, 1.0, 1.0, 1.0])
    with pytest.raises(IndexError):
        f([], np.ones(4))


def test_an_index_out_of_bounds_is_an_error():
    f = aesara.function([i, v], number())
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
        f([1, 9], np.ones(4))
