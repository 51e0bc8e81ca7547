"""Conditions that are checked when a graph is computed."""

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.autodiff import grad
from aesara.raise_op import Assert, CheckAndRaise, assert_op


def run(output):
    """Compute a node whose inputs are constants."""
    storage = [[None]]
    output.owner.op.perform(output.owner, [x.data for x in output.owner.inputs], storage)
    return storage[0][0]


def test_a_value_is_passed_on_or_an_exception_raised():
    value = at.constant(np.arange(3.0))
    op = CheckAndRaise(IndexError, "this is why")
    np.testing.assert_array_equal(run(op(value, np.array(True), np.array([1, 2]))), value.data)
    with pytest.raises(IndexError, match="this is why"):
        run(op(value, np.array(True), np.array([1, 0])))
    with pytest.raises(AssertionError, match="no good"):
        run(Assert("no good")(value, False))
    with pytest.raises(AssertionError, match="Aesara Assert failed!"):
        run(assert_op(value, False))


def test_ops_are_equal_by_exception_and_message():
    assert Assert("a") == Assert("a") != Assert("b")
    assert CheckAndRaise(ValueError, "a") != CheckAndRaise(TypeError, "a")
    assert Assert("a") != CheckAndRaise(AssertionError, "a")
    with pytest.raises(ValueError, match="class of exceptions"):
        CheckAndRaise(str)
    assert str(Assert("a")) == "Assert{msg=a}"


def test_gradient_goes_to_the_value_only():
    x, condition = at.dvector(), at.dscalar()
    y = Assert("message")(x, condition)
    assert y.type == x.type
    assert y.owner.op.connection_pattern(y.owner) == [[True], [False]]
    assert grad((y * 2.0).sum(), x).type.dtype == "float64"
    with pytest.raises(Exception, match="disconnected|not part"):
        grad(y.sum(), condition)


def test_constants_are_seen_through_conditions_that_hold():
    known = assert_op(at.constant(3), np.array(True))
    assert int(at.get_scalar_constant_value(known)) == 3
    unknown = assert_op(at.constant(3), at.lscalar() > 0)
    with pytest.raises(at.exceptions.NotScalarConstantError):
        at.get_scalar_constant_value(unknown)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_conditions_on_a_number_are_numbers(mode):
    x = aes.float64("x")
    y = CheckAndRaise(ArithmeticError, "too small")(x, x > 0, x > 3)
    assert all(isinstance(given.type, aes.ScalarType) for given in y.owner.inputs)
    f = aesara.function([x], y, mode=mode)
    assert f(4.0) == 4.0
    with pytest.raises(ArithmeticError, match="too small"):
        f(1.0)


class AtMost(CheckAndRaise):
    """A number that is not larger than another one, of which the message tells."""

    n_facts = 1

    def __init__(self):
        super().__init__(ValueError, "too large")

    def message(self, inputs):
        return f"{inputs[0]} is more than {inputs[2]}"


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_a_fact_is_told_and_is_no_condition(mode):
    x, most = at.lscalar("x"), at.lscalar("most")
    f = aesara.function([x, most], AtMost()(x, x <= most, most), mode=mode)
    assert f(0, 0) == 0
    with pytest.raises(ValueError, match="^3 is more than 2"):
        f(3, 2)


def test_a_fact_stays_when_a_condition_is_known():
    x, most = at.lscalar("x"), at.lscalar("most")
    op = AtMost()
    f = aesara.function([x, most], op(x, x <= most, np.array(True), at.constant(5)), on_unused_input="ignore")
    (node,) = [node for node in f.maker.fgraph.apply_nodes if node.op == op]
    assert len(node.inputs) == 3 and node.inputs[2].data == 5
