"""Types and shared variables of generators, seeds and streams."""

import copy
import pickle

import numpy as np
import pytest
from distribution_table import BIT_GENERATORS, generator

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.graph.rewriting.merge import MergeOptimizer
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.random.generators import copy_generator, generator_from_state, same_state, set_state, state_of
from aesara.tensor.random.op import RandomVariable
from aesara.tensor.random.type import (
    RandomGeneratorType,
    RandomStateType,
    random_generator_type,
    random_state_type,
)
from aesara.tensor.random.var import RandomGeneratorSharedVariable, RandomStateSharedVariable

KINDS = [("Generator", random_generator_type), ("RandomState", random_state_type)]


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("kind, type", KINDS)
def test_states(kind, type, bits):
    rng = generator(kind, bits)
    if kind == "RandomState":
        rng.normal()  # keeps a second number for later
    for twin in (copy_generator(rng), generator_from_state(type.kind, state_of(rng)), type.copy_value(rng)):
        assert same_state(rng, twin) and type.values_eq(rng, twin) and type.values_eq_approx(rng, twin)
        assert not type.may_share_memory(rng, twin)
        before = state_of(rng)
        assert rng.normal() == twin.normal()
        twin.normal()
        assert not same_state(rng, twin) and not type.values_eq(rng, twin)
        set_state(rng, before)
    assert type.filter(rng) is rng and type.filter(rng, strict=True) is rng
    made = type.filter(state_of(rng))
    assert isinstance(made, type.kind) and same_state(made, rng)
    assert type.is_valid_value(rng) and not type.is_valid_value(3)
    with pytest.raises(TypeError, match="expected"):
        type.filter(state_of(rng), strict=True)


@pytest.mark.parametrize("kind, type", KINDS)
def test_values_that_are_refused(kind, type):
    other = generator("RandomState" if kind == "Generator" else "Generator")
    incomplete = {key: value for key, value in state_of(generator(kind)).items() if key != "state"}
    for value in (None, 3, other, {}, {"bit_generator": "Nothing"}, incomplete):
        with pytest.raises(TypeError, match=f"expected a .*{type.kind.__name__}|numpy.random.{type.kind.__name__}"):
            type.filter(value)
    assert not type.is_valid_value(incomplete, strict=False)


def test_children_of_copies_are_those_of_the_generator():
    rng = np.random.default_rng(3)
    rng.bit_generator.seed_seq.spawn(2) if hasattr(rng.bit_generator, "seed_seq") else None
    twin = copy_generator(rng)
    for a, b in zip(rng.bit_generator._seed_seq.spawn(2), twin.bit_generator._seed_seq.spawn(2)):
        assert a.generate_state(4).tolist() == b.generate_state(4).tolist()


def test_types():
    assert random_generator_type == RandomGeneratorType() != random_state_type == RandomStateType()
    assert hash(random_generator_type) == hash(RandomGeneratorType())
    assert str(random_generator_type) == "RandomGeneratorType" and repr(random_state_type) == "RandomStateType"
    assert random_generator_type("g").name == "g" and random_generator_type.clone() == random_generator_type
    assert random_generator_type.is_super(random_state_type) is None
    rng = np.random.default_rng(1)
    assert random_generator_type.may_share_memory(rng, np.random.Generator(rng.bit_generator))
    assert not random_generator_type.may_share_memory(rng, np.zeros(3))
    with pytest.raises(TypeError, match="Cannot convert Type RandomStateType"):
        random_generator_type.filter_variable(random_state_type())


def test_constants_are_equal_if_they_draw_the_same():
    a, b = (
        random_generator_type.filter_variable(np.random.default_rng(1)),
        random_generator_type.filter_variable(np.random.default_rng(1)),
    )
    assert a.equals(b) and not a.equals(random_generator_type.filter_variable(np.random.default_rng(2)))
    x, y = at_random.normal(rng=a), at_random.normal(rng=b)
    merged = rewrite_graph([x, y], custom_rewrite=MergeOptimizer())
    assert merged[0] is merged[1]


@pytest.mark.parametrize(
    "kind, made", [("Generator", RandomGeneratorSharedVariable), ("RandomState", RandomStateSharedVariable)]
)
def test_shared_variables(kind, made):
    rng = generator(kind)
    shared = aesara.shared(rng)
    assert isinstance(shared, made)
    assert shared.get_value(borrow=True) is not rng and same_state(shared.get_value(), rng)
    assert shared.get_value() is not shared.get_value(borrow=True)
    assert str(shared).startswith(f"{made.__name__}(<{kind}(") and str(aesara.shared(rng, name="r")) == "r"
    lent = aesara.shared(rng, borrow=True)
    assert lent.get_value(borrow=True) is rng
    new = generator(kind, seed=8)
    lent.set_value(new)
    assert lent.get_value(borrow=True) is not new and same_state(lent.get_value(), new)
    lent.set_value(new, borrow=True)
    assert lent.get_value(borrow=True) is new
    lent.set_value(state_of(rng))
    assert isinstance(lent.get_value(), type(rng)) and same_state(lent.get_value(), rng)
    with pytest.raises(TypeError, match="expected"):
        lent.set_value(3)
    with pytest.raises(TypeError, match="foo"):
        aesara.shared(rng, foo=3)
    for again in (copy.deepcopy(lent), pickle.loads(pickle.dumps(lent))):
        assert isinstance(again, made) and same_state(again.get_value(), rng)
        again.get_value(borrow=True).normal()
        assert same_state(lent.get_value(), rng)


@pytest.mark.parametrize("ctor", [np.random.default_rng, np.random.RandomState])
def test_streams(ctor):
    srng = at_random.RandomStream(234, rng_ctor=ctor)
    x, y = srng.normal(size=2), srng.gen(at_random.uniform, size=2)
    f = aesara.function([], [x, y])
    seeds = np.random.SeedSequence(234).spawn(2)
    make = ctor if ctor is np.random.default_rng else lambda seed: ctor(np.random.MT19937(seed))
    a, b = (make(seed) for seed in seeds)
    first = f()
    np.testing.assert_array_equal(first, [a.normal(size=2), b.uniform(size=2)])
    np.testing.assert_array_equal(f(), [a.normal(size=2), b.uniform(size=2)])
    srng.seed()
    np.testing.assert_array_equal(f(), first)
    srng.seed(5)
    assert not np.array_equal(f(), first)
    srng.seed(234)
    np.testing.assert_array_equal(f(), first)
    assert srng.updates() == srng.state_updates == [(v.owner.inputs[0], v.owner.outputs[0]) for v in (x, y)]
    assert all(state.default_update is following for state, following in srng.updates())


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_without_a_default_update_have_no_such_attribute(make):
    rng = aesara.shared(make(3))
    assert not hasattr(rng, "default_update")
    with pytest.raises(AttributeError, match="functions leave this generator as it is"):
        rng.default_update
    state, drawn = at_random.normal(rng=rng).owner.outputs
    assert aesara.function([], drawn)() == aesara.function([], drawn)()
    rng.default_update = state
    assert rng.default_update is state
    f = aesara.function([], drawn)
    assert f() != f()
    rng.default_update = None
    assert not hasattr(rng, "default_update")
    rng.default_update = state
    del rng.default_update
    assert not hasattr(rng, "default_update")


def test_distributions_with_any_number_of_parameters():
    class Sum(RandomVariable):
        name, ndim_supp, ndims_params, dtype = "sum", 0, (0,), "floatX"

        @classmethod
        def rng_fn(cls, rng, *args):
            *params, size = args
            return rng.normal(sum(params), 1e-9, size)

    x = at.dscalar("x")
    drawn = Sum()(x, 2.0, x, rng=aesara.shared(np.random.default_rng(3)), size=(2,))
    np.testing.assert_allclose(aesara.function([x], drawn)(1.0), [4.0, 4.0], rtol=0, atol=1e-6)
    with pytest.raises(TypeError, match="has 1 parameters, but 0 were given"):
        Sum()()


def test_attributes_of_streams():
    srng = at_random.RandomStream(1)
    assert srng.standard_normal(size=3).type.shape == (3,)
    assert srng.normal.__doc__
    with pytest.raises(AttributeError, match="No attribute nothing"):
        srng.nothing
    for name in ("NormalRV", "safe_multivariate_normal", "get_partial_wrapper"):
        with pytest.raises(AttributeError, match=name):
            getattr(srng, name)
    with pytest.raises(ValueError, match="`rng` option"):
        srng.normal(rng=aesara.shared(np.random.default_rng(1)))
    with pytest.raises(TypeError):
        at_random.RandomStream("a")

    class mine:
        twice = at_random.basic.NormalRV(name="normal")

    assert at_random.RandomStream(1, namespace=mine).twice(size=2).type.shape == (2,)
    assert not np.array_equal(
        at_random.RandomStream().normal(size=2).eval(), at_random.RandomStream().normal(size=2).eval()
    )


def test_seeds_that_are_refused():
    with pytest.raises(ValueError, match="non-negative"):
        at_random.default_rng(at.lscalar("n") - 1).owner.op.perform(None, [np.array(-1)], [[None]])
    with pytest.raises(ValueError, match="(?s)non-negative.*test_random_types.py"):
        n = at.lscalar("n")
        at_random.normal(rng=at_random.default_rng(n)).eval({n: -1})
    with pytest.raises(NotImplementedError):
        at_random.default_rng("a")
    with pytest.raises(TypeError, match="RandomGeneratorType"):
        at_random.normal(rng=np.random.default_rng(1))
    with pytest.raises(TypeError, match="only available for `RandomGeneratorType`s"):
        at_random.integers(3, rng=aesara.shared(np.random.RandomState(1)))
    with pytest.raises(TypeError, match="only available for `RandomStateType`s"):
        at_random.randint(3, rng=aesara.shared(np.random.default_rng(1)))
