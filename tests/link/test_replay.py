"""Repetition of graphs on the reference machine computes all values without visible effects."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.builders import OpFromGraph
from aesara.compile.mode import Mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.link.replay import can_be_repeated, failure_of, replay
from aesara.printing import Print

x, y = at.dvectors("x", "y")


class Own(Op):
    """A user-defined operation."""

    __props__ = ()

    def make_node(self, v):
        return Apply(self, [v], [v.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] + 1


REPEATED = {
    "operations": (lambda: [at.exp(x) * 2, x.sum()], True),
    "a graph as an operation": (lambda: [OpFromGraph([x], [at.exp(x)])(y)], True),
    "nothing": (lambda: [x], True),
    "an operation of one's own": (lambda: [at.exp(Own()(x))], False),
    "one among others": (lambda: [at.exp(x), Own()(x)], False),
    "what is printed": (lambda: [Print("x")(x) * 2], False),
}


@pytest.mark.parametrize("kind", REPEATED)
def test_graphs_that_can_be_repeated(kind):
    build, want = REPEATED[kind]
    assert can_be_repeated(FunctionGraph(outputs=build(), clone=True)) == want


def test_all_values_are_there_and_none_has_changed():
    outputs = [at.sqrt(at.exp(x) + y) * 3, at.sin(at.exp(x) + y)]
    fgraph = aesara.function([x, y], outputs, mode=Mode("py", "fast_run")).maker.fgraph
    given = {fgraph.inputs[0]: np.array([0.5, -1.0]), fgraph.inputs[1]: np.array([2.0, 3.0])}
    seen = []

    def callback(node, thunk, storage_map, compute_map):
        seen.append(node)
        assert all(storage_map[v][0] is not None for v in (*node.inputs, *node.outputs))

    assert any(node.op.destroy_map for node in fgraph.apply_nodes)
    cells = replay(fgraph, given, callback)
    assert set(seen) == fgraph.apply_nodes
    plain = [x, y, at.exp(x), at.exp(x) + y, at.sqrt(at.exp(x) + y), *outputs]
    found = [cells[v][0] for v in fgraph.variables]
    for want in aesara.function([x, y], plain, mode="FAST_COMPILE")(*given.values()):
        assert any(np.shape(value) == want.shape and np.allclose(value, want, rtol=1e-14) for value in found)
    assert [value.tolist() for value in given.values()] == [[0.5, -1.0], [2.0, 3.0]]
    assert all(cells[v][0] is not value for v, value in given.items())
    without_callback = failure_of(fgraph, given).cells
    for variable in fgraph.variables:
        np.testing.assert_array_equal(without_callback[variable][0], cells[variable][0])


def test_failures():
    fgraph = FunctionGraph([x, y], [at.exp(x) * 2 + y], clone=True)
    well = dict(zip(fgraph.inputs, (np.ones(2), np.ones(2))))
    outcome = failure_of(fgraph, well)
    assert outcome.error is None and outcome.details is None
    np.testing.assert_allclose(outcome.cells[fgraph.outputs[0]][0], np.exp([1.0, 1.0]) * 2 + 1, rtol=1e-15)
    outcome = failure_of(fgraph, dict(zip(fgraph.inputs, (np.ones(2), np.ones(3)))))
    assert isinstance(outcome.error, ValueError) and "Inputs shapes: [(2,), (3,)]" in outcome.details
    assert outcome.cells[fgraph.outputs[0]][0] is None
    doubled = fgraph.outputs[0].owner.inputs[0]
    np.testing.assert_allclose(outcome.cells[doubled][0], np.exp([1.0, 1.0]) * 2, rtol=1e-15)
