"""Generators as values of compiled functions: updates, failures, copies, loops, threads."""

import copy
import pickle
import threading

import numpy as np
import pytest

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.compile.builders import OpFromGraph
from aesara.ifelse import ifelse
from aesara.scan.utils import until
from aesara.tensor.random.generators import same_state
from aesara.tensor.random.random_variable import RandomVariable
from aesara.tensor.random.type import random_generator_type
from tests.closeness import assert_close

MODES = [None, "FAST_COMPILE", "DebugMode", "NanGuardMode", aesara.compile.mode.Mode(linker="py", optimizer=None)]


def new(seed=1):
    return np.random.default_rng(seed)


def draws_of(f):
    return [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, RandomVariable)]


def two_draws(rng):
    """Two draws, one after the other, from a shared generator; and a function of the scale of the second."""
    sigma = at.dscalar("sigma")
    z = at_random.normal(rng=rng)
    u = at_random.normal(0, sigma, rng=z.owner.outputs[0])
    return [sigma], [z, u], [(rng, u.owner.outputs[0])]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_updates(mode):
    rng = aesara.shared(new())
    inputs, outputs, updates = two_draws(rng)
    f = aesara.function(inputs, outputs, updates=updates, mode=mode)
    twin = new()
    for sigma in (1.0, 2.0, 0.5):
        np.testing.assert_array_equal(f(sigma), [twin.normal(), twin.normal(0, sigma)])
        assert same_state(rng.get_value(), twin)


def test_draws_change_the_shared_generator_itself():
    rng = aesara.shared(new())
    inputs, outputs, updates = two_draws(rng)
    f = aesara.function(inputs, outputs, updates=updates)
    draws = [node.op for node in f.maker.fgraph.apply_nodes]
    assert [op.inplace for op in draws] == [True, True]
    before = rng.get_value(borrow=True)
    f(1.0)
    assert rng.get_value(borrow=True) is before
    without = aesara.function(inputs, outputs)
    assert sorted(node.op.inplace for node in without.maker.fgraph.apply_nodes) == [False, True]
    state = rng.get_value()
    np.testing.assert_array_equal(without(1.0), without(1.0))
    assert same_state(state, rng.get_value())


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_a_call_that_fails_leaves_generators_as_they_were(mode, kind):
    rng, other = aesara.shared(kind(1)), aesara.shared(kind(2))
    (sigma,), outputs, updates = two_draws(rng)
    x = at_random.uniform(rng=other)
    f = aesara.function([sigma], [*outputs, x], updates=[*updates, (other, x.owner.outputs[0])], mode=mode)
    with pytest.raises(ValueError, match="scale < 0") as caught:
        f(-1.0)
    assert "normal_rv" in str(caught.value) and "test_random_functions.py" in str(caught.value)
    assert same_state(rng.get_value(), kind(1)) and same_state(other.get_value(), kind(2))
    f(1.0)
    assert not same_state(rng.get_value(), kind(1)) and not same_state(other.get_value(), kind(2))


def test_generators_as_arguments():
    g = random_generator_type("g")
    z = at_random.normal(size=2, rng=g)
    f = aesara.function([g], [z, z.owner.outputs[0]])
    mine, twin = new(), new()
    value, following = f(mine)
    np.testing.assert_array_equal(value, twin.normal(size=2))
    assert same_state(following, twin) and same_state(mine, new())
    lent = aesara.function([aesara.In(g, mutable=True)], z)
    np.testing.assert_array_equal(lent(mine), new().normal(size=2))
    assert same_state(mine, twin)
    with pytest.raises(TypeError, match="expected a numpy.random.Generator"):
        f(np.random.RandomState(1))
    state = aesara.function([aesara.In(g, value=new(), update=z.owner.outputs[0])], z)
    again = new()
    for _ in range(2):
        np.testing.assert_array_equal(state(), again.normal(size=2))


def test_givens_and_copies_of_functions():
    rng = aesara.shared(new(), name="rng")
    z = at_random.normal(rng=rng)
    g = random_generator_type("g")
    assert aesara.function([g], z, givens={rng: g})(new(4)) == new(4).normal()
    assert aesara.function([], z, givens={rng: aesara.shared(new(7))})() == new(7).normal()
    rng.default_update = z.owner.outputs[0]
    f, twin = aesara.function([], z), new()
    g = f.copy()
    assert [f(), g(), f()] == [twin.normal() for _ in range(3)]
    other = aesara.shared(new(9))
    assert f.copy(swap={rng: other})() == new(9).normal()
    assert f.copy(delete_updates=True)() == f()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_copies_do_not_share_a_generator(kind, copied):
    rng = aesara.shared(kind(1))
    z = at_random.normal(rng=rng)
    f = aesara.function([], z, updates=[(rng, z.owner.outputs[0])])
    f()
    g = copied(f)
    first = [f(), f()]
    assert [g(), g()] == first
    again, draw = copied((rng, f))
    following = draw()
    assert following == f() and same_state(again.get_value(), rng.get_value())


def test_constant_generators_are_not_drawn_from():
    f = aesara.function([], at_random.normal(size=3, rng=at_random.default_rng(3)))
    for _ in range(2):
        np.testing.assert_array_equal(f(), new(3).normal(size=3))
    unseeded = aesara.function([], at_random.normal(size=3, rng=at_random.default_rng(None)))
    assert not np.array_equal(unseeded(), unseeded())
    n = at.lscalar("n")
    seeded = aesara.function([n], at_random.uniform(rng=at_random.default_rng(n)))
    assert seeded(5) == new(5).uniform() and seeded(6) == new(6).uniform()
    of_state = at_random.normal(rng=at_random.RandomState(3))
    assert of_state.eval() == np.random.RandomState(3).normal()
    several = at_random.normal(rng=at_random.default_rng([1, 2]))
    assert several.eval() == new([1, 2]).normal()


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize("make", [at_random.default_rng, at_random.RandomState])
def test_two_generators_without_a_seed_are_two(make, mode):
    x, y = (at_random.normal(size=3, rng=make()) for _ in range(2))
    first, second = aesara.function([], [x, y], mode=mode)()
    assert not np.array_equal(first, second)
    assert not np.array_equal(*pickle.loads(pickle.dumps(aesara.function([], [x, y], mode=mode)))())
    rng = make()
    first, second = aesara.function([], [at_random.normal(rng=rng), at_random.normal(rng=rng)], mode=mode)()
    assert first == second
    assert make(3).owner.op == make(4).owner.op == make


def test_arithmetic_around_draws():
    srng = at_random.RandomStream(5)
    mu, x = at.dscalar("mu"), at.dvector("x")
    y = mu + 2 * srng.normal(size=x.shape)
    cost = ((x - y) ** 2).sum()
    f = aesara.function([mu, x], [y, cost, aesara.grad(cost, mu)])
    twin = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    for _ in range(2):
        value, total, gradient = f(1.5, np.arange(4.0))
        expected = 1.5 + 2 * twin.normal(size=4)
        np.testing.assert_allclose(value, expected, rtol=1e-15)
        np.testing.assert_allclose(total, ((np.arange(4) - expected) ** 2).sum(), rtol=1e-14)
        np.testing.assert_allclose(gradient, (2 * (expected - np.arange(4))).sum(), rtol=1e-13)


def test_what_is_not_used_is_not_drawn():
    rng = aesara.shared(new())
    z = at_random.normal(size=3, rng=rng)
    f = aesara.function([], z.shape)
    assert f().tolist() == [3] and not draws_of(f)
    n = at.lscalar("n")
    shape = aesara.function([n], at_random.poisson(2, size=(n, 4), rng=rng).shape)
    assert shape(5).tolist() == [5, 4]
    assert not draws_of(shape)
    m, v = at.dmatrix("m"), at.dvector("v")
    shape = aesara.function([v, m], at_random.multivariate_normal(v, m, size=(2,), rng=rng).shape)
    assert shape(np.zeros(3), np.eye(3)).tolist() == [2, 3] and not draws_of(shape)


def test_a_draw_that_several_read_is_drawn_once():
    x = at.dvector("x")
    z = at_random.normal(size=3, rng=at_random.default_rng(None))
    product, total = aesara.function([x], [x * z, x + z])(np.ones(3))
    assert_close(total, product + 1)

    def step(row):
        z = at_random.normal(size=3, rng=at_random.default_rng(None))
        return row * z, row + z

    (products, totals), _ = aesara.scan(step, sequences=at.ones((4, 3)))
    product, total = aesara.function([], [products, totals])()
    assert_close(total, product + 1)
    y = at.dvector("y")
    z = at_random.normal(size=3, rng=at_random.default_rng(None))
    op = OpFromGraph([y], [y * z, y + z])
    product, total = aesara.function([x], op(x))(np.ones(3))
    assert_close(total, product + 1)


# Loops


def stream_and_twin(seed=3):
    return at_random.RandomStream(seed), np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])


@pytest.mark.parametrize("explicit", [True, False])
def test_a_random_walk(explicit):
    srng, twin = stream_and_twin()
    xs, updates = aesara.scan(lambda x: x + srng.normal(), outputs_info=at.zeros(()), n_steps=5)
    f = aesara.function([], xs, updates=updates if explicit else None)
    for _ in range(2):
        np.testing.assert_array_equal(f(), np.cumsum(twin.normal(size=5)))
    by_hand = aesara.function([], xs, updates=srng.updates(), no_default_updates=True)
    np.testing.assert_array_equal(by_hand(), np.cumsum(twin.normal(size=5)))


def test_a_step_that_updates_a_generator_itself():
    rng, twin = aesara.shared(new()), new()

    def step(x):
        z = at_random.normal(rng=rng)
        u = at_random.uniform(rng=z.owner.outputs[0])
        return x + z * u, {rng: u.owner.outputs[0]}

    xs, updates = aesara.scan(step, outputs_info=at.zeros(()), n_steps=4)
    f = aesara.function([], xs, updates=updates)
    for _ in range(2):
        np.testing.assert_array_equal(f(), np.cumsum([twin.normal() * twin.uniform() for _ in range(4)]))
        assert same_state(rng.get_value(), twin)


def test_loops_in_loops_and_loops_that_end():
    srng, twin = stream_and_twin()

    def outer(x):
        xs, _ = aesara.scan(lambda x: x + srng.normal(), outputs_info=x, n_steps=2)
        return xs[-1]

    xs, updates = aesara.scan(outer, outputs_info=at.zeros(()), n_steps=3)
    f = aesara.function([], xs, updates=updates)
    for _ in range(2):
        np.testing.assert_allclose(f(), np.cumsum(twin.normal(size=6))[1::2], rtol=1e-15)

    srng, twin = stream_and_twin()

    def step(x):
        following = x + srng.normal()
        return following, until(abs(following) > 1)

    xs, updates = aesara.scan(step, outputs_info=at.zeros(()), n_steps=50)
    f = aesara.function([], xs, updates=updates)
    for _ in range(3):
        expected = [twin.normal()]
        while abs(expected[-1]) <= 1:
            expected.append(expected[-1] + twin.normal())
        np.testing.assert_array_equal(f(), expected)


def test_a_loop_that_fails_leaves_the_generator_as_it_was():
    rng, s = aesara.shared(new()), at.dvector("s")

    def step(scale, x):
        z = at_random.normal(0, scale, rng=rng)
        return x + z, {rng: z.owner.outputs[0]}

    xs, updates = aesara.scan(step, sequences=s, outputs_info=at.zeros(()))
    f = aesara.function([s], xs, updates=updates)
    with pytest.raises(ValueError, match="scale < 0"):
        f([1.0, 1.0, -1.0])
    assert same_state(rng.get_value(), new())
    np.testing.assert_array_equal(f([1.0, 2.0]), np.cumsum(new().normal(0, [1.0, 2.0])))


def test_steps_of_draws_that_do_not_change():
    rng = aesara.shared(new())
    xs, updates = aesara.scan(
        lambda x, g: x + at_random.normal(rng=g), outputs_info=at.zeros(()), non_sequences=[rng], n_steps=3
    )
    assert not updates
    f = aesara.function([], xs)
    for _ in range(2):
        np.testing.assert_array_equal(f(), np.cumsum([new().normal()] * 3))
    srng = at_random.RandomStream(3)
    outside = srng.normal()
    xs, updates = aesara.scan(lambda x: x + outside, outputs_info=at.zeros(()), n_steps=3)
    assert not updates and srng.state_updates[0][0].default_update is outside.owner.outputs[0]


def test_graphs_inside_of_operations():
    g, mu = random_generator_type("g"), at.dscalar("mu")
    z = at_random.normal(mu, rng=g)
    op = OpFromGraph([g, mu], [z.owner.outputs[0], z])
    rng, twin = aesara.shared(new()), new()
    following, drawn = op(rng, at.constant(3.0, dtype="float64"))
    f = aesara.function([], drawn, updates=[(rng, following)])
    assert [f(), f()] == [twin.normal(3), twin.normal(3)]

    c, rng, twin = at.bscalar("c"), aesara.shared(new()), new()
    z, u = at_random.normal(rng=rng), at_random.uniform(rng=rng)
    y, following = ifelse(c, [z, z.owner.outputs[0]], [u, u.owner.outputs[0]])
    f = aesara.function([c], y, updates=[(rng, following)])
    assert [f(1), f(0), f(1)] == [twin.normal(), twin.uniform(), twin.normal()]


# Threads


def test_no_draw_is_given_twice_to_threads():
    rng = aesara.shared(new())
    functions = []
    for size in (3, 5):
        z = at_random.integers(0, 2**62, size=size, rng=rng)
        functions.append(aesara.function([], z, updates=[(rng, z.owner.outputs[0])]))
    drawn, calls = [], 40

    def work(number):
        for k in range(calls):
            drawn.append(functions[(number + k) % 2]())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = np.concatenate(drawn)
    twin = new()
    assert len(everything) == 6 * calls * 4
    assert sorted(everything) == sorted(twin.integers(0, 2**62, len(everything)))
    assert same_state(rng.get_value(), twin)
