"""Test values: variables with values of their own, operations in place, loops, and compiled functions."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import config
from aesara.graph.basic import Apply
from aesara.graph.op import Op
from aesara.graph.utils import TestValueError
from aesara.tensor import inplace
from aesara.tensor.nnet import batchnorm
from aesara.tensor.reductions.fused_reduction import FusedReduction


class IncrementInPlace(Op):
    __props__ = ()
    destroy_map = {0: [0]}

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0] += 1
        output_storage[0][0] = inputs[0]


@pytest.fixture(autouse=True)
def _values_in_use():
    with config.change_flags(compute_test_value="raise"):
        yield


def with_value(variable, value):
    variable.tag.test_value = value
    return variable


def test_an_operation_in_place_keeps_the_value_of_its_input():
    x = with_value(at.dvector("x"), np.zeros(2))
    y = IncrementInPlace()(x)
    np.testing.assert_array_equal(y.tag.test_value, [1.0, 1.0])
    np.testing.assert_array_equal(x.tag.test_value, [0.0, 0.0])


def test_functions_are_compiled_whatever_they_are_lowered_to():
    x = with_value(at.dmatrix("x"), np.ones((2, 3)))
    w = aesara.shared(np.full((3, 4), 2.0))
    z = at.dot(x, w)
    np.testing.assert_array_equal(z.tag.test_value, np.full((2, 4), 6.0))
    np.testing.assert_array_equal(aesara.function([x], z)(np.ones((1, 3))), np.full((1, 4), 6.0))


def test_steps_of_loops_have_the_values_of_the_first_step():
    rows = with_value(at.dvector("rows"), np.array([1.0, 2.0, 3.0]))
    seen = []

    def step(row, before_last, last, factor):
        seen.append([v.tag.test_value.item() for v in (row, before_last, last)])
        return row * last * factor + before_last

    factor = aesara.shared(2.0)
    first = with_value(at.dvector("first"), np.array([5.0, 7.0]))
    states, _ = aesara.scan(step, rows, [{"initial": first, "taps": [-2, -1]}], factor)
    assert seen[0] == [1.0, 5.0, 7.0]
    np.testing.assert_array_equal(states.tag.test_value, [19.0, 83.0, 517.0])
    gradient = aesara.grad(states[-1], factor)
    at_two, at_more = (float(states[-1].eval({rows: [1.0, 2.0, 3.0], first: [5.0, 7.0]})), None)
    assert at_two == 517.0
    factor.set_value(2.0 + 1e-6)
    at_more = float(states[-1].eval({rows: [1.0, 2.0, 3.0], first: [5.0, 7.0]}))
    assert gradient.tag.test_value == pytest.approx((at_more - at_two) / 1e-6, rel=1e-5)


@pytest.mark.parametrize("taps", [[-1], [-2, -1]])
def test_gradients_of_loops_that_read_what_steps_have_computed(taps):
    rows = with_value(at.dvector("rows"), np.array([0.1, -0.2, 0.3]))
    factor = with_value(at.dscalar("factor"), np.array(0.5))
    first = with_value(at.dvector("first"), np.array([0.3, -0.4]))
    initial = first if len(taps) == 2 else first[0]

    def step(row, *states_and_factor):
        *states, factor = states_and_factor
        new = at.tanh(row + factor * sum(states))
        return new, at.exp(new * factor)

    (states, results), _ = aesara.scan(step, rows, [{"initial": initial, "taps": taps}, None], factor)
    slopes = aesara.grad(states.sum() + results[-1], [rows, factor, first])
    found = [*slopes, aesara.grad(slopes[0].sum(), factor)]
    given = [v.tag.test_value for v in (rows, factor, first)]
    for value, wanted in zip(found, aesara.function([rows, factor, first], found)(*given), strict=True):
        np.testing.assert_allclose(value.tag.test_value, wanted, rtol=1e-13)


def test_a_sequence_without_a_value():
    with pytest.raises(TestValueError, match="rows"):
        aesara.scan(lambda row: row + 1, at.dvector("rows"))


X = np.array([0.5, 1.0, 2.0])


def definite(x):
    return at.outer(x, x) + at.eye(3)


#: what is built from a vector with variables that stand for others meanwhile
BUILT = {
    "jacobian": lambda x: aesara.gradient.jacobian(x**2, x),
    "jacobian of integers": lambda x: aesara.gradient.jacobian(
        at.floor(x).astype("int64"), x, disconnected_inputs="ignore"
    ),
    "hessian": lambda x: aesara.gradient.hessian((x**3).sum(), x),
    "hessian_vector_product": lambda x: aesara.gradient.hessian_vector_product((x**3).sum(), x, x),
    "Rop by L_op": lambda x: aesara.gradient.Rop(at.slinalg.cholesky(definite(x)), x, at.ones_like(x)),
    "gradient of eigenvalues": lambda x: aesara.grad(
        aesara.grad(at.linalg.eigvalsh(definite(x) + at.diag(x)).sum(), x).sum(), x, disconnected_inputs="ignore"
    ),
    "vectorize": lambda x: at.vectorize(lambda row: row.sum() * row, signature="(n)->(n)")(at.outer(x, x)),
    "gradient of a graph": lambda x: aesara.grad(cube(x).sum(), x),
    "Rop of a graph": lambda x: aesara.gradient.Rop(cube(x), x, at.ones_like(x)),
    "gradient of a batch": lambda x: aesara.grad(at.linalg.det(matrices(x)).sum(), x),
    "second derivative of a batch": lambda x: aesara.gradient.hessian(at.linalg.det(matrices(x)).sum(), x),
    "Rop of a batch": lambda x: aesara.gradient.Rop(at.linalg.det(matrices(x)), x, at.ones_like(x)),
    "Rop of a loop": lambda x: aesara.gradient.Rop(decay(x, 0.5), x, at.ones_like(x)),
    "jacobian of a loop": lambda x: aesara.gradient.jacobian(decay(x, 0.5), x),
    "hessian of a loop": lambda x: aesara.gradient.hessian((decay(x, 0.5) ** 2).sum(), x),
    "loop for a batch": lambda x: at.vectorize(lambda row, factor: decay(row, factor), signature="(n),()->(n)")(x, x),
    "batch normalisation": lambda x: batchnorm.batch_normalization(x, x + 1, x, 2.0, 0.5),
    "gradient of a normalised batch": lambda x: aesara.grad(
        (batchnorm.batch_normalization_train(at.outer(x, x), x, x, "per-activation")[0] ** 3).sum(), x
    ),
    "reduction fused by hand": lambda x: FusedReduction(at.sum(x).owner.op, at.exp)(x),
}


def matrices(x):
    return at.outer(x, at.eye(2).flatten()).reshape((-1, 2, 2)) + 0.25


def decay(x, factor):
    return aesara.scan(lambda row, state: factor * state + row**2, x, at.zeros(()))[0]


def cube(x):
    free = with_value(at.dvector("free"), np.zeros(1))
    return aesara.compile.builders.OpFromGraph([free], [free**3])(x)


@pytest.mark.parametrize("name", BUILT)
def test_what_is_built_with_stand_ins_has_the_values_of_what_they_stand_for(name):
    x = with_value(at.dvector("x"), X)
    built = BUILT[name](x)
    with config.change_flags(compute_test_value="off"):
        wanted = aesara.function([x], built)(X)
    np.testing.assert_allclose(built.tag.test_value, wanted, rtol=1e-13)


def test_a_batch_without_members_has_no_first_one():
    rows = with_value(at.dmatrix("rows"), np.ones((0, 3)))
    double = at.vectorize(lambda row: row, signature="(n)->(n)")
    assert double(rows).tag.test_value.shape == (0, 3)


def test_scalar_operations_that_are_made_of_others_need_no_values():
    x = with_value(at.dvector("x"), X)
    fused = FusedReduction(at.sum(x).owner.op, at.exp, ["float64"])
    assert fused.scalar_op.impl(1.0, 0.0) == 2.0
    single = with_value(at.fvector("single"), X.astype("float32"))
    np.testing.assert_array_equal(inplace.add_inplace(single, x).tag.test_value, (2 * X).astype("float32"))


def test_constants_have_their_values():
    two = at.constant(np.array([2.0, 3.0]))
    assert two.tag.test_value is two.data
    x = with_value(at.tensor("float64", shape=(2, 3)), np.ones((2, 3)))
    np.testing.assert_array_equal(x.shape.tag.test_value, [2, 3])


def test_a_node_on_inputs_of_another_type_keeps_values_that_fit():
    x = with_value(at.dvector("x"), X)
    longer, shorter = at.tensor("float64", shape=(3,)), at.tensor("float64", shape=(2,))
    node = at.exp(x).owner
    (fitting,), (other,) = (node.clone_with_new_inputs([v], strict=False).outputs for v in (longer, shorter))
    np.testing.assert_array_equal(fitting.tag.test_value, np.exp(X))
    assert not hasattr(other.tag, "test_value")
