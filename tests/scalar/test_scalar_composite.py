"""Composites: graphs of scalar ops as one op."""

import pickle

import numpy as np
import pytest

import aesara.scalar as aes
from aesara.graph.basic import Apply
from aesara.graph.disconnected_type import DisconnectedType
from aesara.scalar import Composite, constant, float32, float64, int8, scalar_gradient_graph
from tests.closeness import assert_close

x, y = float64("x"), float64("y")


def make(*outputs, inputs=(x, y)):
    return Composite(list(inputs), list(outputs))


def test_values():
    op = make(aes.exp(x) + y, x * y - 1)
    assert (op.nin, op.nout) == (2, 2)
    assert_close(op.impl(0.5, 2.0), [np.exp(0.5) + 2, 0])
    a, b = np.arange(3.0).reshape(3, 1), np.arange(4.0)
    first, second = op.evaluate([a, b], op.inputs_type, op.outputs_type)
    assert_close(first, np.exp(a) + b)
    assert_close(second, a * b - 1)
    node = op.make_node(x, y)
    storage = [[None], [None]]
    op.perform(node, [np.float64(0.5), np.float64(2)], storage)
    assert [type(cell[0]) for cell in storage] == [np.float64, np.float64]


def test_text():
    assert str(make(x + aes.exp(y))) == "Composite{(i0 + exp(i1))}"
    assert str(make(x * y, -x)) == "Composite{(i0 * i1), (-i0)}"
    z = x
    for _ in range(200):
        z = z + z
    assert len(str(make(z))) < 2000


def test_equality_is_that_of_the_graphs():
    a, b = float64("a"), float64("b")
    op = make(aes.exp(x) + y)
    same = Composite([a, b], [aes.exp(a) + b])
    assert op == same
    assert hash(op) == hash(same)
    assert op != Composite([a, b], [aes.exp(b) + a])
    assert op != make(aes.log(x) + y)
    assert make(x + 1) != make(x + 2)
    assert make(x + constant(0.0)) != make(x + constant(-0.0))
    assert make(x + np.nan) == make(x + np.nan)
    assert op == op.clone() == pickle.loads(pickle.dumps(op))


def test_the_inner_graph_is_a_copy():
    op = make(x + y)
    assert op.inner_inputs[0] is not x
    assert op.inner_outputs[0].owner.inputs == op.inner_inputs
    assert len(op.fgraph.apply_nodes) == 1
    assert op.fgraph.inputs[0] is not op.inner_inputs[0]


def test_composites_inside_are_unfolded():
    inner = make(x + y, x - y)
    total, difference = inner(x, y)
    op = make(aes.exp(total) * difference)
    assert not any(isinstance(node.op, Composite) for node in op._order)
    assert_close(op.impl(1.0, 2.0), -np.exp(3))


def test_other_input_types_change_the_types_inside():
    op = make(aes.exp(x) + y)
    assert op(float32(), float32()).dtype == "float32"
    assert op(int8(), float32()).dtype == "float32"
    assert op(float64(), float32()).dtype == "float64"
    assert op(float64(), float64()).owner.op is op
    assert [t.dtype for t in op.output_types([float32, float32])] == ["float32"]


def test_outputs_that_are_inputs_or_constants():
    op = make(x, constant(2.5, dtype="float64"), y)
    assert op.impl(1.0, 3.0) == (1.0, 2.5, 3.0)
    graph = scalar_gradient_graph(op, [float64, float64])
    leaves = [*graph.inputs, *graph.outputs, *graph.output_grads]
    values = [np.float64(v) for v in (1, 3, 1, 2.5, 3, 10, 20, 30)]
    results = Composite(leaves, graph.grads).evaluate(values, None, None)
    np.testing.assert_array_equal(results, [10, 30])


def test_what_is_no_scalar_graph_is_refused():
    with pytest.raises(ValueError, match="none of its inputs"):
        Composite([x], [x + y])
    with pytest.raises(ValueError, match="none of its inputs"):
        Composite([x], [y])


def test_gradient():
    op = make(aes.exp(x) * y + aes.sqrt(y), aes.tanh(x))
    graph = scalar_gradient_graph(op, [float64, float64])
    leaves = [*graph.inputs, *graph.outputs, *graph.output_grads]
    values = [np.float64(0.3), np.float64(1.7)]
    g = [np.float64(1.5), np.float64(-0.5)]
    actual = Composite(leaves, graph.grads).evaluate([*values, *op.impl(*values), *g], None, None)
    expected = [
        1.5 * np.exp(0.3) * 1.7 - 0.5 * (1 - np.tanh(0.3) ** 2),
        1.5 * (np.exp(0.3) + 0.5 / np.sqrt(1.7)),
    ]
    np.testing.assert_allclose(actual, expected, rtol=1e-14)
    # tanh(x) is an output: the gradient takes it from there.
    assert not any(node.op == aes.tanh for node in Composite(leaves, graph.grads)._order)


def test_gradient_does_not_look_into_its_surroundings():
    op = make(x * y)
    u, v = aes.exp(x), aes.log(y)
    out = op(u, v)
    g = aes.sin(x)
    grads = op.L_op([u, v], [out], [g])
    assert grads[0].owner.inputs == [g, v]
    assert grads[1].owner.inputs == [g, u]


def test_disconnected_inputs_and_gradients():
    op = make(aes.second(x, y))
    assert op.connection_pattern(op(x, y).owner) == [[False], [True]]
    grads = op.L_op([x, y], [op(x, y)], [float64("g")])
    assert isinstance(grads[0].type, DisconnectedType)
    assert grads[1].name == "g"
    both = make(x + 1, y + 1)
    assert both.connection_pattern(None) == [[True, False], [False, True]]
    outputs = both(x, y)
    grads = both.L_op([x, y], outputs, [float64("g"), DisconnectedType()()])
    assert grads[0].name == "g"
    assert grads[1].data == 0


def test_decomposition_is_the_inner_graph():
    op = make(aes.exp(x) + y)
    a, b = float64("a"), float64("b")
    (out,) = op.decomposition(a, b)
    assert out.owner.inputs[1] is b
    assert out.owner.inputs[0].owner.inputs == [a]


@pytest.mark.slow
def test_a_deep_graph():
    z = x
    for _ in range(20_000):
        z = z + y
    op = make(z)
    assert op.impl(1.0, 2.0) == 40_001
    assert op == op.clone()
    assert str(op)
    terms = op.L_op([x, y], [op(x, y)], [float64("g")])
    assert len(terms) == 2


def test_float16_becomes_float32():
    h = aes.float16("h")
    op = Composite([h], [aes.cast(aes.exp(h) + constant(1.0, dtype="float16"), "float16")])
    wide = op.clone_float32()
    assert wide.inputs_type == wide.outputs_type == (float32,)
    np.testing.assert_allclose(wide.impl(np.float32(1)), np.e + 1, rtol=1e-6)
    fgraph = aes.composite_f32.apply(op.fgraph)
    assert [variable.dtype for variable in fgraph.outputs] == ["float32"]


def test_float32_in_the_place_of_float16_reaches_constants():
    x = aes.float16("x")
    made = Composite([x], [x * aes.constant(np.float16(2.0))]).clone_float32()
    assert all(variable.type == aes.float32 for variable in made.fgraph.variables)
    assert made.impl(np.float32(3.0)) == 6.0


class Halves(aes.ScalarOp):
    """An op that computes two outputs in `perform`, and has no `impl`."""

    nin, nout = 1, 2

    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.floor(inputs[0])
        output_storage[1][0] = inputs[0] - np.floor(inputs[0])


def test_ops_with_perform_alone():
    x = aes.float64("x")
    whole, rest = Composite([x], Halves()(x)).impl(2.75)
    assert (whole, rest) == (2.0, 0.75)
    array = np.array([1.5, -0.25])
    whole, rest = Composite([x], Halves()(x)).impl(array)
    np.testing.assert_array_equal(whole, [1.0, -1.0])
    np.testing.assert_array_equal(rest, [0.5, 0.75])


def test_the_shape_of_a_number_is_a_vector_without_entries():
    shape = aes.float32("x").shape
    assert (shape.type.dtype, shape.type.shape) == ("int64", (0,))
    assert shape.eval().tolist() == []
