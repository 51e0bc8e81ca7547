"""Generators that are arguments and results of native code."""

import copy
import pickle

import numpy as np
import pytest
from distribution_table import BIT_GENERATORS, generator

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.graph import Apply, Op
from aesara.tensor.random.generators import bit_generator_of, same_state
from aesara.tensor.random.type import random_generator_type, random_state_type


def natively(inputs, outputs, **options):
    f = aesara.function(inputs, outputs, **options)
    explained = aesara.explain(f)
    assert explained.fallback is None and explained.python == []
    return f


def following(draw):
    return draw.owner.outputs[0]


def apart(*generators):
    return len({id(bit_generator_of(g)) for g in generators}) == len(generators)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
def test_a_draw_is_a_function_of_a_generator(bits):
    g, n = random_generator_type("g"), at.lscalar("n")
    z = at_random.normal(size=(n,), rng=g)
    k = at_random.poisson(3.0, size=2, rng=following(z))
    f = natively([g, n], [z, k, following(k)])
    mine, twin = generator("Generator", bits), generator("Generator", bits)
    for _ in range(3):
        before = copy.deepcopy(mine)
        numbers, counts, after = f(mine, 700)
        assert same_state(mine, before) and apart(mine, after)
        np.testing.assert_array_equal(numbers, twin.normal(size=700))
        np.testing.assert_array_equal(counts, twin.poisson(3.0, size=2))
        assert same_state(after, twin)
        mine = after
    with pytest.raises(ValueError, match="negative dimensions"):
        f(mine, -1)
    assert same_state(mine, twin)


def test_what_comes_out_shares_nothing():
    g, shared = random_generator_type("g"), aesara.shared(generator("Generator", seed=9))
    z = at_random.normal(rng=g)
    outputs = [g, g, following(z), following(z), shared, shared]
    f = natively([g], outputs)
    mine = generator("Generator")
    returned = f(mine)
    assert apart(mine, shared.get_value(borrow=True), *returned)
    advanced = generator("Generator")
    advanced.normal()
    expected = [mine, mine, advanced, advanced, shared.get_value(), shared.get_value()]
    assert all(map(same_state, returned, expected))
    returned[0].normal(), returned[4].normal()
    assert same_state(mine, generator("Generator")) and same_state(shared.get_value(), generator("Generator", seed=9))


def test_seeds_go_along():
    """The generator after a draw spawns the same children as the one before."""
    g, shared = random_generator_type("g"), aesara.shared(np.random.default_rng(4))
    mine = np.random.default_rng(3)
    mine.spawn(2)
    f = natively([g], [following(at_random.normal(rng=one)) for one in (g, shared)])
    for after, before in zip(f(mine), (np.random.default_rng(3), np.random.default_rng(4)), strict=True):
        children = before.spawn(3)
        assert same_state(
            after.spawn(1)[0], children[2] if same_state(before, np.random.default_rng(3)) else children[0]
        )
    assert same_state(mine.spawn(1)[0], np.random.default_rng(3).spawn(3)[2])
    # One that is made of a seed on the way has none to spawn from.
    n = at.lscalar("n")
    made = aesara.function([n], following(at_random.normal(rng=at_random.default_rng(n))))(5)
    twin = np.random.default_rng(5)
    twin.normal()
    assert same_state(made, twin)
    with pytest.raises(TypeError, match="spawn"):
        made.spawn(1)


def test_loops_over_a_generator_that_is_given():
    g, rng, x = random_generator_type("g"), aesara.shared(generator("Generator", seed=9)), at.dvector("x")

    def step(x, total):
        z = at_random.normal(x, rng=rng)
        return total + z, {rng: following(z)}

    totals, updates = aesara.scan(step, sequences=x, outputs_info=at.zeros(()))
    f = natively([g, x], [totals, updates[rng]], givens={rng: g})
    mine, twin, given = generator("Generator"), generator("Generator"), np.linspace(0, 1, 50)
    numbers, after = f(mine, given)
    np.testing.assert_array_equal(numbers, np.cumsum([twin.normal(value) for value in given]))
    assert same_state(after, twin) and same_state(mine, generator("Generator"))
    assert same_state(rng.get_value(), generator("Generator", seed=9))


def test_choices_between_generators():
    first, second, which = random_generator_type("first"), random_generator_type("second"), at.bscalar("which")
    chosen = aesara.ifelse.ifelse(which, first, second)
    z = at_random.normal(size=3, rng=chosen)
    f = natively([first, second, which], [z, following(z)])
    pair = generator("Generator", seed=1), generator("Generator", seed=2)
    for k in (0, 1):
        numbers, after = f(*pair, 1 - k)
        twin = generator("Generator", seed=k + 1)
        np.testing.assert_array_equal(numbers, twin.normal(size=3))
        assert same_state(after, twin)


def test_shared_generators_beside_arguments():
    g, shared = random_generator_type("g"), aesara.shared(generator("Generator", seed=9))
    a, b = at_random.normal(rng=g), at_random.normal(rng=shared)
    f = natively([g], [a, b, following(a), following(b)], updates=[(shared, following(b))])
    mine, twin = generator("Generator"), generator("Generator", seed=9)
    for _ in range(2):
        x, y, after, other = f(mine)
        assert x == generator("Generator").normal() and y == twin.normal()
        assert same_state(other, twin) and same_state(shared.get_value(), twin)
        assert apart(mine, after, other, shared.get_value(borrow=True))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_copies_of_functions(copied):
    g = random_generator_type("g")
    z = at_random.gamma(2.0, 1.0, size=3, rng=g)
    f = copied(natively([g], [z, following(z)]))
    assert aesara.explain(f).fallback is None
    numbers, after = f(generator("Generator"))
    twin = generator("Generator")
    np.testing.assert_array_equal(numbers, twin.gamma(2.0, 1.0, size=3))
    assert same_state(after, twin)


class OwnBits(np.random.PCG64):
    """A source of bits that native code does not know."""


def test_generators_that_are_refused():
    g = random_generator_type("g")
    f = natively([g], at_random.normal(rng=g))
    with pytest.raises(TypeError, match=r"draw from PCG64, .*; got a OwnBits\. .*mode"):
        f(np.random.Generator(OwnBits(3)))
    with pytest.raises(TypeError, match=r"expected a numpy\.random\.Generator"):
        f(np.random.RandomState(1))
    slow = aesara.function([g], at_random.normal(rng=g), mode="FAST_COMPILE")
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":  # it cannot copy such generators
        return
    assert slow(np.random.Generator(OwnBits(3))) == np.random.default_rng(3).normal()


class Seeded(Op):
    """A generator of random numbers from a seed."""

    __props__ = ()

    def make_node(self, seed):
        return Apply(self, [seed], [random_state_type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.random.RandomState(int(inputs[0]))


def test_a_state_that_is_computed_draws_once():
    seed = at.lscalar("seed")
    first = at_random.normal(size=3, rng=Seeded()(seed))
    second = at_random.uniform(size=2, rng=following(first))
    f = aesara.function([seed], [second, first, at_random.normal(size=1, rng=following(second))])
    assert aesara.explain(f).fallback == "a state of type RandomStateType"
    twin = np.random.RandomState(3)
    for k, expected in ((1, twin.normal(size=3)), (0, twin.uniform(size=2)), (2, twin.normal(size=1))):
        np.testing.assert_array_equal(f(3)[k], expected)


def test_functions_that_fall_back_to_node_by_node():
    """Functions that overwrite the caller's generator, or use `RandomState`, are not native."""
    g, s = random_generator_type("g"), random_state_type("s")
    z = at_random.normal(rng=g)
    for inputs, draw in (
        ([aesara.In(g, mutable=True)], z),
        ([aesara.In(g, value=generator("Generator"), update=following(z))], z),
        ([s], at_random.normal(rng=s)),
    ):
        f = aesara.function(inputs, draw)
        assert "Type" in aesara.explain(f).fallback
