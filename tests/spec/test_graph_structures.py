"""The examples of the documentation of graph structures."""

import pytest

import aesara
import aesara.tensor as at
from aesara.graph import Apply, Variable
from aesara.graph.basic import Constant
from aesara.tensor import TensorType, add, dscalar, mul


def test_the_short_example():
    x, y = at.dmatrix("x"), at.dmatrix("y")
    z = x + y
    assert x.owner is None
    assert y.owner is None
    assert z.owner.outputs == [z]
    assert z.owner.inputs == [x, y]
    assert z.owner.op == add


def test_the_long_example():
    float64_matrix = TensorType(dtype="float64", shape=(None, None))
    x = Variable(type=float64_matrix, name="x")
    y = Variable(type=float64_matrix, name="y")
    z = Variable(type=float64_matrix, name="z")

    mul_variable = Variable(type=float64_matrix)
    assert mul_variable.owner is None
    node_mul = Apply(op=mul, inputs=[y, z], outputs=[mul_variable])
    assert mul_variable.owner is node_mul
    assert mul_variable.index == 0

    add_variable = Variable(type=float64_matrix)
    assert add_variable.owner is None
    node_add = Apply(op=add, inputs=[x, mul_variable], outputs=[add_variable])
    assert add_variable.owner is node_add
    assert add_variable.index == 0

    e = add_variable
    assert e.owner.inputs[0] is x
    assert e.owner.inputs[1] is mul_variable
    assert e.owner.inputs[1].owner.inputs[0] is y
    assert e.owner.inputs[1].owner.inputs[1] is z


def test_both_examples_make_the_same_graph():
    matrix = TensorType("float64", (None, None))
    x, y, z = matrix("x"), matrix("y"), matrix("z")
    short = x + y * z
    product = matrix()
    Apply(mul, [y, z], [product])
    total = matrix()
    Apply(add, [x, product], [total])
    assert aesara.graph.basic.equal_computations([short], [total])


def test_broadcastable_is_understood():
    with pytest.warns(DeprecationWarning, match="broadcastable"):
        assert TensorType(dtype="float64", broadcastable=(False, True)).shape == (None, 1)


def test_constants_are_wrapped():
    e = dscalar("x") + 1
    node = e.owner
    first, second = node.inputs
    assert node.op == add
    assert (first.name, first.type) == ("x", dscalar)
    assert isinstance(second, Constant)
    assert second.data == 1
    assert second.type.dtype.startswith("int")
    assert e.type == dscalar


def test_constants_cannot_be_given_values():
    constant = at.constant(2.0)
    with pytest.raises((TypeError, ValueError), match="Constant"):
        aesara.function([constant], constant * 2)


def test_variables_and_types():
    x = at.ivector()
    y = -x
    assert x.type == at.ivector
    assert y.type == at.ivector
    assert y.owner.inputs == [x]
    assert y.owner.outputs[y.index] is y
    assert at.irow.shape == (1, None)
    assert at.dmatrix.dtype == "float64"
    assert at.dmatrix.ndim == 2
