"""Draws of PyTensor's random variables: the numbers, and what becomes of the generators."""

import copy
import pickle

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")

import pytensor.tensor as pt
import pytensor.tensor.random.basic as ptr
from pytensor.compile.mode import Mode
from pytensor.tensor.type_other import NoneTypeT

import aesara.pytensor
from aesara.graph.traversal import io_toposort
from aesara.pytensor.perform import PerformOp

PYTHON = Mode(linker="py", optimizer=None)

#: parameters by distribution
DISTRIBUTIONS = {
    "bernoulli": [0.3], "betabinom": [10, 2.0, 3.0], "beta": [2.0, 3.0], "binomial": [10, 0.3],
    "categorical": [[0.2, 0.3, 0.5]], "cauchy": [1.0, 2.0], "dirichlet": [[1.0, 2.0, 3.0]], "exponential": [2.0],
    "gamma": [2.0, 3.0], "gengamma": [2.0, 1.5, 2.0], "geometric": [0.3], "gumbel": [1.0, 2.0],
    "halfcauchy": [1.0, 2.0], "halfnormal": [1.0, 2.0], "hypergeometric": [10, 5, 6], "integers": [2, 9],
    "invgamma": [2.0, 3.0], "laplace": [1.0, 2.0], "lognormal": [0.1, 0.5], "logistic": [1.0, 2.0],
    "multinomial": [10, [0.2, 0.3, 0.5]], "multivariate_normal": [[1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]]],
    "negative_binomial": [5, 0.3], "normal": [1.0, 2.0], "pareto": [3.0, 2.0], "poisson": [3.0], "t": [4.0, 1.0, 2.0],
    "triangular": [0.0, 1.0, 3.0], "truncexpon": [2.0, 1.0, 2.0], "uniform": [-1.0, 2.0], "vonmises": [0.5, 2.0],
    "wald": [1.0, 2.0], "weibull": [2.0],
}  # fmt: skip
#: how a distribution is called whose second argument is no parameter of the Op
CALLS = {"gamma": lambda shape, scale, **options: ptr.gamma(shape, scale=scale, **options)}
#: distributions whose numbers are computed here by another formula
ROUNDED = {"cauchy", "multivariate_normal"}
#: the size, and the shape of a batch that the first parameter has in front
SIZES = [(None, ()), (None, (3,)), (None, (4, 1)), ((4,), ()), ((4,), (4,)), ((2, 3), ()), ((2, 3), (3,))]


def built(name, size, batch):
    values = [np.asarray(value) for value in DISTRIBUTIONS[name]]
    values[0] = np.broadcast_to(values[0], batch + values[0].shape).copy()
    inputs = [pt.tensor(f"p{i}", dtype=v.dtype, shape=(None,) * v.ndim) for i, v in enumerate(values)]
    rng = pytensor.shared(np.random.default_rng(3), "rng")
    following, draw = CALLS.get(name, getattr(ptr, name))(*inputs, size=size, rng=rng).owner.outputs
    return rng, inputs, values, following, draw


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_numbers_and_states(name):
    for size, batch in SIZES:
        rng, inputs, values, following, draw = built(name, size, batch)
        drawn = []
        for mode in (PYTHON, "AESARA"):
            rng.set_value(np.random.default_rng(3))
            f = pytensor.function(inputs, draw, updates={rng: following}, mode=mode)
            drawn.append([f(*values), f(*values), np.asarray(rng.get_value().random())])
        for expected, found in zip(*drawn):
            assert np.shape(found) == np.shape(expected) and found.dtype == expected.dtype
            if name in ROUNDED:
                np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
            else:
                np.testing.assert_array_equal(found, expected, err_msg=f"{size} {batch}")


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_nothing_of_pytensor_is_run(name):
    _, inputs, _, following, draw = built(name, (2, 3), ())
    rng = following.owner.inputs[0]
    _, outputs = aesara.pytensor.convert_graph([*inputs, rng], [draw])
    assert not any(isinstance(node.op, PerformOp) for node in io_toposort([], outputs))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["normal", "uniform", "gamma", "cauchy", "halfcauchy", "invgamma", "t"])
def test_dtypes(name, dtype):
    rng = pytensor.shared(np.random.default_rng(3))
    draw = CALLS.get(name, getattr(ptr, name))(*DISTRIBUTIONS[name], size=5, rng=rng, dtype=dtype)
    found, expected = (pytensor.function([], draw, mode=mode)() for mode in ("AESARA", PYTHON))
    assert found.dtype == expected.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)


def chained(updates=True):
    """Three draws, two of them from one generator, one after the other."""
    first, second = (pytensor.shared(np.random.default_rng(k), f"rng{k}") for k in (1, 2))
    next_first, a = pt.random.normal(size=3, rng=first).owner.outputs
    next_first, b = pt.random.gamma(2.0, scale=1.0, rng=next_first).owner.outputs
    next_second, c = pt.random.poisson(b, size=2, rng=second).owner.outputs
    return [first, second], [a, b, c], {first: next_first, second: next_second} if updates else None


def test_several_generators():
    rngs, draws, updates = chained()
    f = pytensor.function([], draws, updates=updates, mode="AESARA")
    one, two = np.random.default_rng(1), np.random.default_rng(2)
    for _ in range(3):
        a, b, c = f()
        np.testing.assert_array_equal(a, one.normal(size=3))
        gamma = one.gamma(2.0, 1.0)
        assert b == gamma
        np.testing.assert_array_equal(c, two.poisson(gamma, size=2))
    assert rngs[0].get_value().random() == one.random() and rngs[1].get_value().random() == two.random()


def test_generators_may_be_replaced():
    (rng, _), draws, updates = chained()
    f = pytensor.function([], draws, updates=updates, mode="AESARA")
    first = f()
    rng.set_value(np.random.default_rng(9))
    np.testing.assert_array_equal(f()[0], np.random.default_rng(9).normal(size=3))
    rng.set_value(np.random.Generator(np.random.MT19937(5)))
    np.testing.assert_array_equal(f()[0], np.random.Generator(np.random.MT19937(5)).normal(size=3))
    assert np.isfinite(first[0]).all()


def test_without_updates_the_state_stays():
    rngs, draws, _ = chained(updates=False)
    f = pytensor.function([], draws, mode="AESARA")
    for one, other in zip(f(), f()):
        np.testing.assert_array_equal(one, other)
    assert rngs[0].get_value().random() == np.random.default_rng(1).random()


def test_a_failed_call_leaves_generators_as_they_were():
    rng, scale = pytensor.shared(np.random.default_rng(3)), pt.scalar("scale")
    following, draw = pt.random.normal(0.0, scale, rng=rng).owner.outputs
    f = pytensor.function([scale], draw, updates={rng: following}, mode="AESARA")
    with pytest.raises(ValueError, match="scale"):
        f(-1.0)
    assert f(1.0) == np.random.default_rng(3).normal()


def test_generators_as_arguments_and_results():
    rng = pt.random.type.random_generator_type("rng")
    following, draw = pt.random.normal(rng=rng).owner.outputs
    given = np.random.default_rng(3)
    assert pytensor.function([rng], draw, mode="AESARA")(given) == np.random.default_rng(3).normal()
    state, number = pytensor.function([rng], [following, draw], mode="AESARA")(given)
    expected = np.random.default_rng(3)
    assert (number, state.random()) == (expected.normal(), expected.random())
    assert given.random() == np.random.default_rng(3).random()


@pytest.mark.parametrize("duplicate", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy])
def test_copies_have_their_own_generators(duplicate):
    _, draws, updates = chained()
    f = pytensor.function([], draws, updates=updates, mode="AESARA")
    g = duplicate(f)
    for one, other in zip([f(), f()], [g(), g()]):
        for a, b in zip(one, other):
            np.testing.assert_array_equal(a, b)


def test_one_generator_in_two_variables():
    shared = np.random.default_rng(3)
    one, two = (pytensor.shared(shared, borrow=True) for _ in range(2))
    nodes = [pt.random.normal(rng=rng).owner for rng in (one, two)]
    updates = {rng: node.outputs[0] for rng, node in zip((one, two), nodes)}
    a, b = pytensor.function([], [node.outputs[1] for node in nodes], updates=updates, mode="AESARA")()
    assert np.isfinite([a, b]).all()


def test_draws_in_a_loop():
    rng = pytensor.shared(np.random.default_rng(3))

    def step(x, rng):
        following, move = pt.random.normal(rng=rng).owner.outputs
        return x + move, following

    (walk, following) = pytensor.scan(step, outputs_info=[pt.zeros(()), rng], n_steps=5, return_updates=False)
    f = pytensor.function([], walk, updates={rng: following}, mode="AESARA")
    expected = np.random.default_rng(3)
    for _ in range(2):
        np.testing.assert_allclose(f(), np.cumsum(expected.normal(size=5)), rtol=1e-14)


COVARIANCE = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])


@pytest.mark.parametrize("method", ["cholesky", "svd", "eigh"])
@pytest.mark.parametrize(
    "size, mean, covariance",
    [(None, (), ()), (None, (2,), ()), (None, (), (2,)), ((4, 2), (), ()), ((4, 2), (2,), (2,)), ((0,), (), ())],
)
def test_normal_vectors(method, size, mean, covariance):
    means = np.arange(3.0) * np.ones((*mean, 1))
    covariances = COVARIANCE * np.ones((*covariance, 1, 1))
    drawn = []
    for mode in (PYTHON, "AESARA"):
        rng = pytensor.shared(np.random.default_rng(3))
        inputs = [pt.tensor(shape=(None,) * x.ndim) for x in (means, covariances)]
        following, draw = ptr.multivariate_normal(*inputs, size=size, method=method, rng=rng).owner.outputs
        f = pytensor.function(inputs, draw, updates={rng: following}, mode=mode)
        drawn.append([f(means, covariances), rng.get_value().random()])
    (expected, expected_next), (found, found_next) = drawn
    assert found.shape == expected.shape and found_next == expected_next
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_normal_vectors_of_no_covariance():
    covariance = pt.matrix("covariance")
    draw = ptr.multivariate_normal(np.zeros(2), covariance, rng=pytensor.shared(np.random.default_rng(3)))
    f = pytensor.function([covariance], draw, mode="AESARA")
    with pytest.raises(np.linalg.LinAlgError):
        f(np.array([[1.0, 2.0], [2.0, 1.0]]))


ROWS = np.arange(12.0).reshape(6, 2)
WEIGHTS = ROWS[:, 0] / ROWS[:, 0].sum()


@pytest.mark.parametrize(
    "build",
    [
        lambda **rng: ptr.permutation(ROWS[:, 0], **rng),
        lambda **rng: ptr.permutation(ROWS, **rng),
        lambda **rng: ptr.permutation(7, **rng),
        lambda **rng: ptr.choice(7, size=3, replace=False, **rng),
        lambda **rng: ptr.choice(ROWS, size=3, replace=False, **rng),
        lambda **rng: ptr.choice(ROWS[:, 0], size=(2, 2), replace=False, p=WEIGHTS, **rng),
        lambda **rng: ptr.choice(ROWS[:, 0], size=(5, 2), replace=True, **rng),
        lambda **rng: ptr.choice(ROWS[:, 0], size=(5, 2), replace=True, p=WEIGHTS, **rng),
    ],
)
def test_orders_and_choices(build):
    drawn = []
    for mode in (PYTHON, "AESARA"):
        rng = pytensor.shared(np.random.default_rng(3))
        draw = build(rng=rng)
        drawn.append(pytensor.function([], draw, mode=mode)())
    assert drawn[0].dtype == drawn[1].dtype
    np.testing.assert_array_equal(*drawn)
    _, outputs = aesara.pytensor.convert_graph([], [draw])
    assert not any(isinstance(node.op, PerformOp) for node in io_toposort([], outputs))


@pytest.mark.parametrize("total", [1 - 1e-3, 1 - 1e-7, 1 + 1e-7, 1.5])
def test_probabilities_are_taken_as_they_come(total):
    """Those of float32, for one, do not sum to 1 exactly."""
    p = np.array([[0.3, total - 0.3], [total / 2, total / 2]])
    rngs = [pytensor.shared(np.random.default_rng(3)) for _ in range(2)]
    expected, found = (
        pytensor.function([], ptr.categorical(p, size=(20, 2), rng=rng), mode=mode)()
        for rng, mode in zip(rngs, (PYTHON, "AESARA"))
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [None, (3,), (2, 3)])
@pytest.mark.parametrize("name", ["cauchy", "normal", "multivariate_normal"])
def test_parameters_are_repeated_at_run_time(name, size):
    values = [np.arange(1.0), np.ones(3)]
    if name == "multivariate_normal":
        values = [np.zeros((1, 2)), np.stack([np.eye(2), 2 * np.eye(2), 3 * np.eye(2)])]
    inputs = [pt.tensor(shape=(None,) * v.ndim) for v in values]
    drawn = []
    for mode in (PYTHON, "AESARA"):
        rng = pytensor.shared(np.random.default_rng(3))
        draw = getattr(ptr, name)(*inputs, size=size, rng=rng)
        drawn.append(pytensor.function(inputs, draw, mode=mode)(*values))
    np.testing.assert_allclose(*drawn, rtol=1e-14)


def test_numbers_drawn_as_truth_values():
    drawn = []
    for mode in (PYTHON, "AESARA"):
        rng = pytensor.shared(np.random.default_rng(3))
        drawn.append(pytensor.function([], ptr.poisson(0.7, size=20, rng=rng, dtype="bool"), mode=mode)())
    assert drawn[1].dtype == bool and 0 < drawn[1].sum() < 20
    np.testing.assert_array_equal(*drawn)


def test_sizes_that_are_none_as_arguments():
    size = NoneTypeT()("size")
    rng = pytensor.shared(np.random.default_rng(3))
    for op in (ptr.normal, ptr.cauchy):
        draw = op.make_node(rng, size, 0.0, 1.0).outputs[1]
        expected, found = (pytensor.function([size], draw, mode=mode)(None) for mode in ("FAST_COMPILE", "AESARA"))
        np.testing.assert_allclose(found, expected, rtol=1e-14)
