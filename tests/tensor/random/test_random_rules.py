"""Rules about draws: what they change, and what they leave alone."""

import numpy as np
import pytest
import scipy.stats

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.compile.mode import Mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.graph.rewriting.walking import in2out
from aesara.tensor.random.random_variable import RandomVariable
from aesara.tensor.random.rewriting import (
    is_rv_used_in_graph,
    local_dimshuffle_rv_lift,
    local_rv_size_lift,
    local_subtensor_rv_lift,
    random_make_inplace,
)
from aesara.tensor.random.rewriting.jax import size_parameter_as_tuple
from aesara.tensor.shape import Shape, SpecifyShape
from aesara.tensor.shapes.dimshuffle import DimShuffle

PLAIN = Mode(linker="py", optimizer=None)
MEANS = 100.0 * np.arange(6.0).reshape(2, 3)
SCALES = np.array([1e-7, 2e-7, 3e-7])


def lifted(rule, x):
    return rewrite_graph(x, custom_rewrite=in2out(rule), clone=False)


def rng(seed=3):
    return aesara.shared(np.random.default_rng(seed))


def assert_parameters(z, size, change, inputs):
    """The means and scales of a lifted draw are those of the draw as written, changed in the same way."""
    for own, given in zip(z.owner.inputs[3:], (MEANS, SCALES), strict=True):
        expected = change(at.constant(np.broadcast_to(given, size or MEANS.shape))).eval()
        np.testing.assert_array_equal(np.broadcast_to(value_of(own, inputs), expected.shape), expected)


def value_of(x, inputs):
    return aesara.function(list(inputs), x, mode=PLAIN, on_unused_input="ignore")(*inputs.values())


@pytest.fixture(params=["known shapes", "unknown shapes"])
def parameters(request):
    """Means that are far apart compared to the scales, so that rounded draws tell which mean they are of."""
    if request.param == "known shapes":
        return at.constant(MEANS), at.constant(SCALES), {}
    mu, sigma = at.dmatrix("mu"), at.dvector("sigma")
    return mu, sigma, {mu: MEANS, sigma: SCALES}


@pytest.mark.parametrize("size", [(2, 3), (4, 2, 3)])
def test_sizes_are_lifted(parameters, size):
    mu, sigma, inputs = parameters
    x = at_random.normal(mu, sigma, size=size, rng=rng())
    y = lifted(local_rv_size_lift, x)
    assert isinstance(y.owner.op, RandomVariable) and y.owner.inputs[1].data.tolist() == []
    assert y.type.shape == size and y.owner.inputs[0] is x.owner.inputs[0]
    np.testing.assert_array_equal(value_of(y, inputs), value_of(x, inputs))
    assert lifted(local_rv_size_lift, y) is y


def test_sizes_of_vectors_are_lifted():
    mean, n = at.dvector("mean"), at.lscalar("n")
    x = at_random.multivariate_normal(mean, np.eye(3) * 1e-9, size=(2, n), rng=rng())
    y = lifted(local_rv_size_lift, x)
    assert y.owner.inputs[1].data.tolist() == []
    inputs = {mean: np.array([1.0, 2.0, 3.0]), n: 4}
    np.testing.assert_allclose(value_of(y, inputs), value_of(x, inputs), rtol=1e-3)
    assert value_of(y, inputs).shape == (2, 4, 3)


@pytest.mark.parametrize("size", [None, (4, 2, 3)])
@pytest.mark.parametrize("order", [(1, 0), ("x", 0, 1), (0, "x", 1), (1, "x", 0, "x")])
def test_dimensions_are_lifted(parameters, order, size):
    mu, sigma, inputs = parameters
    order = order if size is None else (*[entry if entry == "x" else entry + 1 for entry in order], 0)
    x = at_random.normal(mu, sigma, size=size, rng=rng())
    y = x.dimshuffle(order)
    z = lifted(local_dimshuffle_rv_lift, y)
    assert isinstance(z.owner.op, RandomVariable) and z.type.shape == y.type.shape
    np.testing.assert_allclose(value_of(z, inputs), value_of(y, inputs), rtol=0, atol=1e-4)
    assert_parameters(z, size, lambda whole: whole.dimshuffle(order), inputs)


def test_dimensions_that_are_dropped():
    x = at_random.normal(np.array([[1.0], [2.0]]), 1e-9, rng=rng())
    z = lifted(local_dimshuffle_rv_lift, x.dimshuffle(0))
    assert isinstance(z.owner.op, RandomVariable) and z.type.shape == (2,)
    np.testing.assert_allclose(z.eval(), [1, 2], rtol=0, atol=1e-6)
    scalars = at_random.normal(5.0, 1e-9, size=(2, 1), rng=rng())
    z = lifted(local_dimshuffle_rv_lift, scalars.dimshuffle(0))
    assert isinstance(z.owner.op, RandomVariable) and z.type.shape == (2,)
    one = at_random.normal(5.0, 1e-9, size=(1,), rng=rng()).dimshuffle()
    assert lifted(local_dimshuffle_rv_lift, one).eval().shape == ()


def test_core_dimensions_stay_last():
    p = np.eye(3)[[2, 0]]
    z = lifted(local_dimshuffle_rv_lift, at_random.categorical(p, rng=rng()).dimshuffle("x", 0))
    assert isinstance(z.owner.op, RandomVariable) and z.eval().tolist() == [[2, 0]]


INDICES = {
    "row": lambda x: x[1],
    "slice": lambda x: x[::-1, 1:],
    "element": lambda x: x[1, 2],
    "rows": lambda x: x[[1, 0, 1]],
    "rows and columns": lambda x: x[np.array([1, 0]), np.array([2, 2])],
    "vector": lambda x: x[at.as_tensor([1, 0])],
    "mask": lambda x: x[np.array([[True, False, True], [False, True, False]])],
    "mask of columns": lambda x: x[:, np.array([True, False, True])],
}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("size", [None, (2, 3)])
def test_indices_are_lifted(parameters, index, size):
    mu, sigma, inputs = parameters
    y = INDICES[index](at_random.normal(mu, sigma, size=size, rng=rng()))
    z = lifted(local_subtensor_rv_lift, y)
    assert isinstance(z.owner.op, RandomVariable), z.owner.op
    np.testing.assert_allclose(value_of(z, inputs), value_of(y, inputs), rtol=0, atol=1e-4)
    assert_parameters(z, size, INDICES[index], inputs)


def test_what_a_lift_replaces():
    """The draws alone, as libraries take them from the rule, or the generator's state too where that is read."""
    source = at_random.normal(at.dvector("mu"), 1.0, rng=rng())
    y = source[[0, 2]]
    for outputs, kind in (([y], list), ([y, source.owner.outputs[0]], dict)):
        fgraph = FunctionGraph(outputs=outputs, clone=False)
        found = local_subtensor_rv_lift.transform(fgraph, y.owner)
        assert type(found) is kind and len(found) == (1 if kind is list else 2)


@pytest.mark.parametrize("index", INDICES)
def test_indices_of_draws_from_one_distribution(index):
    y = INDICES[index](at_random.normal(5.0, 1e-9, size=(2, 3), rng=rng()))
    z = lifted(local_subtensor_rv_lift, y)
    source = z.owner.inputs[0].owner if isinstance(z.owner.op, SpecifyShape) else z.owner
    assert isinstance(source.op, RandomVariable)
    np.testing.assert_allclose(z.eval(), y.eval(), rtol=0, atol=1e-6)


def test_a_lifted_index_draws_from_the_same_distribution():
    x = at_random.normal(0.0, 1.0, size=(4, 5000), rng=rng())
    y = lifted(local_subtensor_rv_lift, x[2])
    drawn = y.eval()
    assert drawn.shape == (5000,) and not np.array_equal(drawn, x[2].eval())
    assert scipy.stats.kstest(drawn, "norm").pvalue > 0.01


def test_what_others_read_is_not_lifted():
    x = at_random.normal(MEANS, SCALES, rng=rng())
    for y, rule in ((x[0], local_subtensor_rv_lift), (x.T, local_dimshuffle_rv_lift)):
        fgraph = FunctionGraph(outputs=[y, x + 1], clone=False)
        assert is_rv_used_in_graph(x, y.owner, fgraph)
        assert not rule.transform(fgraph, y.owner)
        of_shape = FunctionGraph(outputs=[y, Shape()(x)], clone=False)
        assert not is_rv_used_in_graph(x, y.owner, of_shape)
        result = FunctionGraph(outputs=[y, x], clone=False)
        assert not rule.transform(result, y.owner)


@pytest.mark.parametrize(
    "rule, change", [(local_subtensor_rv_lift, lambda x: x[0]), (local_dimshuffle_rv_lift, lambda x: x.T)]
)
def test_vectors_are_left_alone(rule, change):
    y = change(at_random.multivariate_normal(np.zeros((2, 2)), np.eye(2), rng=rng()))
    assert lifted(rule, y) is y
    z = change(at.dmatrix("z"))
    assert lifted(rule, z) is z


def test_the_next_state_is_that_of_what_is_drawn():
    state, twin = rng(), np.random.default_rng(3)
    x = at_random.normal(MEANS, SCALES, rng=state)
    following, z = rewrite_graph(
        [x.owner.outputs[0], x[0]], custom_rewrite=in2out(local_subtensor_rv_lift), clone=False
    )
    assert following.owner is z.owner
    f = aesara.function([], z, updates=[(state, following)])
    for _ in range(2):
        np.testing.assert_array_equal(f(), twin.normal(MEANS[0], SCALES))


def test_names_of_lifted_draws():
    x = at_random.normal(MEANS, SCALES, rng=rng(), name="x")
    assert lifted(local_dimshuffle_rv_lift, x.T).name == "x_lifted"


def test_no_mode_lifts():
    """No default mode changes the draws of a seed: the rules above have to be requested."""
    twin = np.random.default_rng(3)
    f = aesara.function([], at_random.normal(MEANS, 1.0, size=(2, 3), rng=rng()).T[1])
    np.testing.assert_array_equal(f(), twin.normal(MEANS, 1.0).T[1])
    assert (
        any(isinstance(node.op, DimShuffle) for node in f.maker.fgraph.apply_nodes)
        or len(f.maker.fgraph.apply_nodes) > 1
    )


def test_draws_in_place():
    x = at_random.normal(rng=rng())
    _, drawn = random_make_inplace.transform(None, x.owner)
    assert drawn.owner.op.inplace and drawn.owner.op.destroy_map == {0: [0]} and drawn.type == x.type
    assert drawn.owner.op == type(at_random.normal)(inplace=True)
    assert not random_make_inplace.transform(None, drawn.owner)
    permuted = at_random.permuted(np.eye(2), axis=1, rng=rng())
    _, drawn = random_make_inplace.transform(None, permuted.owner)
    assert drawn.owner.op.axis == 1 and drawn.owner.op.inplace


def test_a_generator_that_is_read_twice_is_changed_by_the_last_reader():
    state, twin = rng(), np.random.default_rng(3)
    x, y = at_random.normal(rng=state), at_random.uniform(rng=state)
    f = aesara.function([], [x, y], updates=[(state, y.owner.outputs[0])])
    assert sum(node.op.inplace for node in f.maker.fgraph.apply_nodes) == 1
    for _ in range(2):
        expected = np.random.default_rng(0)
        expected.bit_generator.state = twin.bit_generator.state
        assert f() == [expected.normal(), twin.uniform()]


def test_equal_draws_from_one_state_are_one():
    state = rng()
    f = aesara.function([], [at_random.normal(rng=state), at_random.normal(rng=state)])
    assert f()[0] == f()[1]
    assert sum(isinstance(node.op, RandomVariable) for node in f.maker.fgraph.apply_nodes) == 1


def test_sizes_for_back_ends_with_fixed_shapes():
    v = at.tensor("float64", shape=(3,))
    x = at_random.normal(size=at.stack([v.shape[0], at.constant(2, dtype="int64")]), rng=rng())
    y = lifted(size_parameter_as_tuple, x)
    assert y.owner.inputs[1].data.tolist() == [3, 2]
    z = at_random.normal(size=(at.lscalar(), 2), rng=rng())
    assert lifted(size_parameter_as_tuple, z) is z
