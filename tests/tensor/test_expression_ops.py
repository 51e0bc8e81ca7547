"""Operations that are the same as an expression, which derivatives are made from."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.basic import Apply
from aesara.tensor.core.expression_op import ExpressionOp
from tests.closeness import assert_close

x, y, u, v = at.dvectors("x", "y", "u", "v")
VALUES = {x: np.array([0.5, 2.0]), y: np.array([3.0, -1.0]), u: np.array([1.0, 0.25]), v: np.array([-2.0, 4.0])}


class SquareTimes(ExpressionOp):
    """``a**2 * b``; the third input only says how often."""

    __props__ = ()

    def make_node(self, a, b, count=1):
        a, b, count = map(at.as_tensor_variable, (a, b, count))
        return Apply(self, [a, b, count], [a.type()])

    def expression(self, a, b, count):
        return a**2 * b

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] ** 2 * inputs[1]


def value_of(expression):
    return aesara.function(list(VALUES), expression, on_unused_input="ignore")(*VALUES.values())


@pytest.mark.parametrize("by_first, by_second", list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize("second", [y, at.exp(x)], ids=["apart", "depends on the first"])
def test_the_change_along_a_direction_is_that_of_the_inputs_that_move(by_first, by_second, second):
    op, count = SquareTimes(), at.constant(2)
    (change,) = op.R_op([x, second, count], [u if by_first else None, v if by_second else None, None])
    if not by_first and not by_second:
        assert change is None
    else:
        a, b, of_a, of_b = VALUES[x], value_of(second), VALUES[u] * by_first, VALUES[v] * by_second
        assert_close(value_of(change), 2 * a * b * of_a + a**2 * of_b)


def test_what_moves_without_effect_changes_nothing():
    (change,) = SquareTimes().R_op([x, y, at.dscalar("count")], [None, None, at.dscalar("point")])
    assert value_of(change).tolist() == [0, 0]


@pytest.mark.parametrize("second", [y, at.exp(x)], ids=["apart", "depends on the first"])
def test_gradients_are_those_of_each_input_alone(second):
    of_x, of_second, of_count = SquareTimes().L_op([x, second, at.constant(2)], [None], [u])
    a, b, given = VALUES[x], value_of(second), VALUES[u]
    assert_close(value_of(of_x), 2 * a * b * given)
    assert_close(value_of(of_second), a**2 * given)
    assert value_of(of_count) == 0


class Plus(SquareTimes):
    def expression(self, a, b, count):
        return a + b


def test_derivatives_may_do_without_the_inputs():
    of_x, of_y, _ = Plus().L_op([x, y, at.constant(2)], [None], [u])
    (change,) = Plus().R_op([x, y, at.constant(2)], [u, v, None])
    assert_close(value_of([of_x, of_y, change]), [VALUES[u], VALUES[u], VALUES[u] + VALUES[v]])
    assert_close(value_of(Plus().definition(x, y, 2)), VALUES[x] + VALUES[y])
