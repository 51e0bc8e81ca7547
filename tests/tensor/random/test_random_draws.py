"""Draws are those of NumPy's generators in the same state."""

import numpy as np
import pytest
from distribution_table import BIT_GENERATORS, CASES, generator

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.compile.mode import Mode
from aesara.tensor.random import distributions
from aesara.tensor.random.generators import same_state
from aesara.tensor.random.random_variable import RandomVariable
from tests.closeness import assert_close

REFERENCE = Mode(linker="py", optimizer=None)


def drawn(case, rng, parameters, mode=REFERENCE, **options):
    """Return the draws of a compiled function, and the generator afterwards; parameters are inputs."""
    state = aesara.shared(rng)
    variables = [at.as_tensor_variable(p).type() for p in parameters]
    x = case.distribution(*variables, rng=state, **options)
    f = aesara.function(variables, x, updates=[(state, x.owner.outputs[0])], mode=mode)
    value = f(*parameters)
    assert value.shape == x.type.shape or None in x.type.shape
    assert value.dtype == x.type.dtype
    return value, state.get_value(borrow=True)


def check(case, kind, bits, parameters, size, mode=REFERENCE, **options):
    rng, twin = generator(kind, bits), generator(kind, bits)
    value, after = drawn(case, rng, parameters, mode, size=size, **options)
    expected = case.numbers(twin, parameters, size)
    np.testing.assert_array_equal(value, expected.astype(value.dtype))
    assert same_state(after, twin), "the state afterwards"
    assert same_state(rng, generator(kind, bits)), "the generator that the shared variable was made of"


def test_every_distribution_is_tried():
    known = {name for name, value in vars(at_random).items() if isinstance(value, RandomVariable)}
    assert known - {case.name for case in CASES} == {"choice", "permutation", "permuted"}
    classes = {value for value in vars(distributions).values() if isinstance(value, type)}
    instances = {type(getattr(at_random, name)) for name in known}
    assert classes - instances == {distributions.ScipyRandomVariable}


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_draws(case, kind):
    if kind not in case.kinds:
        pytest.skip(f"not for {kind}")
    for size in (None, (), (4,), (2, 3)):
        check(case, kind, "PCG64", case.parameters, size)
    check(case, kind, "PCG64", case.batch, None if case.batch else (3,))
    check(case, kind, "PCG64", case.batch, (2, 3))


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_draws_with_every_source_of_bits(case, bits):
    for kind in case.kinds:
        check(case, kind, bits, case.parameters, (3,), mode=None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_dtypes(case):
    kind = case.kinds[0]
    own = case.distribution(*case.parameters, rng=aesara.shared(generator(kind))).dtype
    others = ("float32", "float16") if own == "float64" else ("int32", "int16", "float32")
    for dtype in others:
        check(case, kind, "PCG64", case.parameters, (2, 3), dtype=dtype)
    if own == "float64":
        with aesara.config.change_flags(floatX="float32"):
            assert case.distribution(*case.parameters, rng=aesara.shared(generator(kind))).dtype == "float32"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_variables_in_place_of_the_inputs_of_a_node(case):
    """As libraries make a graph of a node: the number of the dtype is then a variable, which is no dtype."""
    rng = aesara.shared(generator(case.kinds[0]))
    node = case.distribution(*case.parameters, rng=rng, size=(2, 3)).owner
    inputs = [one.type() for one in node.inputs]
    again = node.op.make_node(*inputs).outputs[1]
    assert again.type.dtype == node.outputs[1].type.dtype
    values = [rng.get_value(borrow=True), *(one.data for one in node.inputs[1:])]
    f = aesara.function(inputs, again, mode=REFERENCE, on_unused_input="ignore")
    np.testing.assert_array_equal(f(*values), node.outputs[1].eval())


def test_a_variable_as_dtype_of_a_distribution_that_has_none():
    with pytest.raises(TypeError, match="dtype is unspecified"):
        RandomVariable("normal", 0, [0, 0]).make_node(None, None, at.lscalar("number"), 0.0, 1.0)


@pytest.mark.parametrize("case", [c for c in CASES if len(c.batch) == 2], ids=lambda case: case.name)
def test_parameters_broadcast(case):
    kind = case.kinds[0]
    first, second = case.batch
    ndims = case.distribution.ndims_params
    first = np.expand_dims(first, 1)
    assert np.ndim(second) - ndims[1] == 1
    rng, twin = generator(kind), generator(kind)
    value, after = drawn(case, rng, (first, second))
    full = [np.broadcast_to(p, (3, 3, *p.shape[p.ndim - n :])) for p, n in zip((first, second), ndims)]
    np.testing.assert_array_equal(value, case.numbers(twin, tuple(full), None))
    assert same_state(after, twin)


def test_small_parameters_do_not_change_the_draws():
    narrow = at_random.gengamma(np.float32(2), np.int8(3), 2, rng=at_random.default_rng(3)).eval()
    wide = at_random.gengamma(2.0, 3.0, 2.0, rng=at_random.default_rng(3)).eval()
    assert narrow == wide == np.power(np.random.default_rng(3).standard_gamma(np.array(2 / 3)), 1 / 3) * 2


def test_draws_that_do_not_fit_are_refused():
    many = at_random.integers(0, 1000, size=50, dtype="int8", rng=at_random.default_rng(1))
    with pytest.raises(ValueError, match="do not fit into int8"):
        many.eval()
    with pytest.raises(ValueError, match="do not fit into bool"):
        at_random.poisson(20, size=50, dtype="bool").eval()
    assert at_random.bernoulli(0.5, size=9, dtype="bool").eval().dtype == bool


@pytest.mark.parametrize("shape", [(), (2,)])
def test_the_last_category_is_the_last_one(shape):
    """Probabilities that are rounded may have a sum a little below one, and a uniform number lie above it."""

    class Largest:
        def uniform(self, size):
            return np.full(size, 1 - 2.0**-53)

    p = np.broadcast_to(np.array([0.25, 0.25, 0.499999], dtype="float32"), (*shape, 3))
    assert (at_random.categorical.rng_fn(Largest(), p, None) == 2).all()


@pytest.mark.parametrize("uniform", [0.0, 0.25, 0.5, np.nextafter(0.5, 1)])
def test_rows_of_probabilities_draw_what_a_vector_of_them_draws(uniform):
    """A number that equals a sum of probabilities belongs to the category before it, as in a vector."""

    class Exactly:
        def uniform(self, size):
            return np.full(size, uniform)

    p = np.array([0.25, 0.25, 0.5])
    of_vector = at_random.categorical.rng_fn(Exactly(), p, None)
    assert of_vector == (0 if uniform <= 0.25 else 1 if uniform <= 0.5 else 2)
    assert at_random.categorical.rng_fn(Exactly(), np.array([p, p]), None).tolist() == [of_vector, of_vector]


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
@pytest.mark.parametrize("p", [None, np.array([0.1, 0.2, 0.7])])
@pytest.mark.parametrize("size, replace", [(None, True), ((2, 2), True), ((2,), False)])
def test_choice(kind, p, size, replace):
    a = np.array([1.5, 2.5, 3.5])
    state, twin = aesara.shared(generator(kind)), generator(kind)
    x = at_random.choice(a, size=size, replace=replace, p=p, rng=state)
    value = aesara.function([], x)()
    np.testing.assert_array_equal(value, twin.choice(a, size, replace, p))
    assert x.type.shape == value.shape


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_choice_of_rows_and_of_integers(kind):
    a = np.arange(12.0).reshape(4, 3)
    x = at_random.choice(at.constant(a), size=(2, 2), rng=aesara.shared(generator(kind)))
    assert x.type.shape == (2, 2, 3)
    np.testing.assert_array_equal(x.eval(), a[generator(kind).choice(4, (2, 2))])
    n = at.lscalar("n")
    y = at_random.choice(n, size=3, rng=aesara.shared(generator(kind)))
    np.testing.assert_array_equal(y.eval({n: 100}), generator(kind).choice(100, 3))


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
@pytest.mark.parametrize("x", [np.arange(5.0), np.arange(6).reshape(3, 2), np.array(7)])
def test_permutation(kind, x):
    y = at_random.permutation(x, rng=aesara.shared(generator(kind)))
    value = y.eval()
    np.testing.assert_array_equal(value, generator(kind).permutation(x if x.ndim else int(x)))
    assert y.type.shape == value.shape and y.type.dtype == x.dtype


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_permuted(axis):
    x = np.arange(12).reshape(3, 4)
    y = at_random.permuted(x, axis=axis, rng=aesara.shared(generator("Generator")))
    np.testing.assert_array_equal(y.eval(), generator("Generator").permuted(x, axis=axis))
    assert y.type.shape == (3, 4)
    assert y.owner.op == at_random.permuted(x, axis=axis).owner.op
    assert (y.owner.op == at_random.permuted(x, axis=2).owner.op) is False


def test_a_draw_without_a_generator_has_one_of_its_own():
    x = at_random.normal(size=3)
    assert not np.array_equal(x.eval(), at_random.normal(size=3).eval())
    assert at_random.integers(3).owner.inputs[0].type == at_random.type.random_generator_type
    assert at_random.randint(3).owner.inputs[0].type == at_random.type.random_state_type


def test_users_distributions():
    class SumOfDice(RandomVariable):
        name = "sum_of_dice"
        ndim_supp = 0
        ndims_params = (0, 0)
        dtype = "int64"

        @classmethod
        def rng_fn(cls, rng, n, sides, size):
            assert size is None
            return rng.integers(1, sides + 1, (n, 3)).sum(axis=0)

    x = SumOfDice()(4, np.array([6, 6, 6]), rng=at_random.default_rng(2))
    np.testing.assert_array_equal(x.eval(), np.random.default_rng(2).integers(1, 7, (4, 3)).sum(axis=0))
    assert repr(SumOfDice()) == "sum_of_dice_rv{0, (0, 0), int64, False}"
    assert SumOfDice(inplace=True).destroy_map == {0: [0]} and SumOfDice() == SumOfDice() != SumOfDice(inplace=True)

    by_name = RandomVariable("normal", 0, (0, 0), "floatX")
    np.testing.assert_array_equal(
        by_name(1.0, 2.0, size=3, rng=at_random.default_rng(2)).eval(), np.random.default_rng(2).normal(1, 2, 3)
    )


def test_users_distributions_of_vectors():
    class Direction(RandomVariable):
        name = "direction"
        ndim_supp = 1
        ndims_params = (0,)
        dtype = "floatX"

        def _supp_shape_from_params(self, dist_params, **kwargs):
            return (dist_params[0],)

        @classmethod
        def rng_fn(cls, rng, n, size):
            x = rng.normal(size=(*(size or ()), int(n)))
            return x / np.sqrt((x**2).sum(axis=-1, keepdims=True))

    x = Direction()(3, size=(2,))
    assert x.type.shape == (2, None)
    assert x.eval().shape == (2, 3)
    assert_close((x.eval() ** 2).sum(axis=1), 1)
    n = at.lscalar("n")
    assert x.owner.op(n).type.shape == (None,)
    assert aesara.function([n], x.owner.op(n, size=2).shape)(5).tolist() == [2, 5]


def test_users_distributions_by_scipy():
    stats = pytest.importorskip("scipy.stats")

    class Anglit(at_random.basic.ScipyRandomVariable):
        name = "anglit"
        ndim_supp = 0
        ndims_params = (0, 0)
        dtype = "floatX"

        @classmethod
        def rng_fn_scipy(cls, rng, loc, scale, size):
            return stats.anglit.rvs(loc, scale, size=size, random_state=rng)

    for size in (None, (1,), (2, 1), (3, 2)):
        x = Anglit()(0.5, 2.0, size=size, rng=at_random.default_rng(4))
        expected = stats.anglit.rvs(0.5, 2.0, size=size or (), random_state=np.random.default_rng(4))
        assert x.type.shape == (size or ())
        np.testing.assert_array_equal(x.eval(), np.reshape(expected, size or ()))

    class Other(RandomVariable):
        name = "other"
        ndim_supp = 0
        ndims_params = (0, 0)
        dtype = "floatX"
        rng_fn = Anglit.rng_fn_scipy

    for shape in ((1,), (1, 1), (1, 3), (2, 1), (1, 3, 1)):
        loc, scale = np.full(shape, 0.5), np.full(shape[-1:], 2.0)
        expected = stats.anglit.rvs(loc, scale, size=shape, random_state=np.random.default_rng(4))
        for distribution in (Anglit(), Other()):
            drawn = distribution(loc, scale, rng=at_random.default_rng(4)).eval()
            np.testing.assert_array_equal(drawn, expected, strict=True)
