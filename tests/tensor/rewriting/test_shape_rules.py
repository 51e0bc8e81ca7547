"""Shapes without the values: inference, the shape feature, and the switch that turns it off."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.basic import Apply
from aesara.graph.fg import FunctionGraph
from aesara.graph.op import Op
from aesara.tensor.rewriting.shape import ShapeFeature
from aesara.tensor.shape import Shape_i
from tests.tensor.evaluate import evaluate
from tests.tensor.rewriting.passes import ops_of, rewrite

X, Y = np.ones((5, 4)), np.ones((3, 4))
CASES = {
    "power": (lambda x, y: x**2, "MakeVector Shape_i Shape_i"),
    "join": (lambda x, y: at.join(0, x, y), "Add MakeVector Shape_i Shape_i Shape_i"),
    "dot": (lambda x, y: at.dot(x, y.T), "MakeVector Shape_i Shape_i"),
    "sum": (lambda x, y: x.sum(axis=0), "MakeVector Shape_i"),
    "transpose": (lambda x, y: x.T, "MakeVector Shape_i Shape_i"),
    "keepdims": (lambda x, y: x.max(axis=1, keepdims=True), "MakeVector Shape_i"),
    "row": (lambda x, y: x[0], "MakeVector Shape_i"),
    "outer": (lambda x, y: x[:, :1].sum(axis=1).dimshuffle(0, "x") * y[0], "MakeVector Shape_i Shape_i"),
}


@pytest.mark.parametrize("build, expected", CASES.values(), ids=CASES)
def test_shape_of_a_result_needs_no_values(build, expected):
    x, y = at.matrices("x", "y")
    result = build(x, y)
    after, _ = rewrite(at.shape(result))
    assert ops_of(after) == expected.split()
    values = {x: X, y: Y}
    assert tuple(evaluate(after, values)) == evaluate(build(x, y), values).shape


def test_the_rule_can_be_switched_off():
    x, y = at.matrices("x", "y")
    after, _ = rewrite(at.join(0, x, y).shape, exclude=("local_shape_to_shape_i",))
    assert ops_of(after) == ["Join", "Shape"]


def test_stated_shapes_are_constants():
    x = at.matrix("x")
    after, _ = rewrite((at.specify_shape(x, (2, 2)) ** 2).shape)
    assert after.data.tolist() == [2, 2]


def test_nothing_is_worked_out_before_it_is_asked_for():
    x = at.matrix("x")
    y = at.exp(at.exp(x))
    feature = ShapeFeature()
    FunctionGraph([x], [y], features=[feature], clone=False)
    assert list(feature.shape_of.known_variables()) == []
    first, second = feature.shape_of[y]
    assert first.owner.op == Shape_i(0) and second.owner.op == Shape_i(1)
    assert first.owner.inputs == [x]
    assert feature.same_shape(x, y) and feature.same_shape(x, y, 0, 0)
    assert not feature.same_shape(x, y, 0, 1)


def test_shapes_of_deep_graphs():
    x = y = at.matrix("x")
    for _ in range(20_000):
        y = at.tanh(y)
    feature = ShapeFeature()
    FunctionGraph([x], [y], features=[feature], clone=False)
    assert feature.shape_of[y][0].owner.inputs == [x]


def test_shapes_that_are_wrong():
    feature = ShapeFeature()
    x = at.matrix("x")
    with pytest.raises(TypeError, match="tuple or a list"):
        feature.set_shape(x, 3)
    with pytest.raises(ValueError, match="negative"):
        feature.unpack(-1, x)
    with pytest.raises(TypeError, match="integer scalar"):
        feature.unpack(at.dscalar(), x)


def test_infer_shape_that_fails():
    class Wrong(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0].copy()

        def infer_shape(self, fgraph, node, input_shapes):
            return [input_shapes[7]]

    x = at.dvector("x")
    y = Wrong()(x).shape[0]
    with (
        config.change_flags(on_shape_error="warn"),
        pytest.warns(UserWarning, match=r"infer_shape of Wrong fails \(IndexError"),
    ):
        f = aesara.function([x], y)
    assert f([1.0, 2.0]) == 2
    with config.change_flags(on_shape_error="raise", on_opt_error="raise"), pytest.raises(IndexError):
        aesara.function([x], y)
