"""Rules are applied to the loops that they make, until nothing is left for them to do."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.fg import FunctionGraph
from aesara.scan import scan
from aesara.scan.added_entries import push_out_inc_scan
from aesara.scan.editing import OverLoops
from aesara.scan.op import Scan
from aesara.scan.push_out import push_out_add_scan, push_out_dot1_scan
from aesara.tensor.indexing.inc_subtensor import inc_subtensor

x, m, k = at.dvector("x"), at.dmatrix("m"), at.lvector("k")
VALUES = {x: [0.5, -1.0, 0.25, 2.0], m: np.linspace(-1, 1, 16).reshape(4, 4), k: [0, 3, 3, 1]}


def last_of(rows):
    return [v[-1] for v in rows]


def sums_of_products():
    def step(e, s, p, q):
        return at.tanh(s + e), p + at.outer(s, e), q + at.outer(s, s)

    return last_of(scan(step, m, [x, at.zeros((4, 4)), at.ones((4, 4))])[0])


def sums_of_products_of_sequences():
    def step(e, f, p, q):
        return p + at.outer(e, f), q + at.outer(f, e) + at.outer(e, e)

    return last_of(scan(step, [m, at.exp(m)], [at.zeros((4, 4)), at.ones((4, 4))])[0])


def added_entries():
    def step(k, s, p, q):
        return s * 0.5, p + inc_subtensor(at.zeros(4)[k], s[0]), q + inc_subtensor(at.zeros(4)[k], 1.0)

    return last_of(scan(step, k, [x, at.zeros(4), at.ones(4)])[0])


#: a rule, outputs of a loop, and how often the rule is applied to it
REPEATED = {
    "sums of products": (push_out_add_scan, sums_of_products, 2),
    "of sequences": (push_out_dot1_scan, sums_of_products_of_sequences, 2),
    "entries": (push_out_inc_scan, added_entries, 2),
}


@pytest.mark.parametrize("case", REPEATED)
def test_a_rule_is_applied_until_nothing_is_left(case):
    rule, build, count = REPEATED[case]
    outputs = build()
    inputs = [v for v in VALUES if v in set(aesara.graph.traversal.graph_inputs(outputs))]
    fgraph = FunctionGraph(inputs, outputs, clone=True)
    done = OverLoops(rule).rewrite(fgraph)
    assert (done, OverLoops(rule).rewrite(fgraph)) == (count, 0)
    values = [VALUES[v] for v in inputs]
    got = aesara.function(fgraph.inputs, fgraph.outputs, mode=Mode("py", None))(*values)
    want = aesara.function(inputs, outputs, mode=Mode("py", None))(*values)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("rows, moved", [((2, 2), True), ((2, 1), False), ((1, 2), False), ((1, 1), False)])
def test_products_that_are_broadcast_are_added_in_the_loop(rows, moved):
    first, second = (at.tensor("float64", (None, n, 3)) for n in rows)
    right = at.tensor("float64", (None, 3, 4))
    sums, _ = scan(lambda a, b, c, s: s + a @ c + b @ c, [first, second, right], [at.zeros((2, 4))])
    f = aesara.function([first, second, right], sums[-1])
    assert any(isinstance(node.op, Scan) for node in f.maker.fgraph.apply_nodes) is not moved
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=(5, *shape)) for shape in ((rows[0], 3), (rows[1], 3), (3, 4)))
    np.testing.assert_allclose(f(a, b, c), np.broadcast_to(a @ c + b @ c, (5, 2, 4)).sum(0), rtol=1e-12)
