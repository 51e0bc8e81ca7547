"""Draws of native code: which they are, from where, and what happens to generators."""

import copy
import pickle
import threading

import numpy as np
import pytest
from distribution_table import BIT_GENERATORS, CASES, generator

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.compile.ops import as_op
from aesara.ir.generators import generator_of, words_of
from aesara.ir.interpret import run_program
from aesara.ir.routines.numpy_loops import loop_address
from aesara.ir.text import parse_program, print_program
from aesara.ir.verify_program import verify_program
from aesara.tensor.random.generators import same_state
from tests.own_distributions import SumOfDiceRV

IN_PYTHON: set[str] = set()
if loop_address("log", "d", "d") is None:  # NumPy 1
    IN_PYTHON |= {"gengamma", "gumbel", "cauchy", "standard_cauchy", "halfcauchy", "pareto", "multivariate_normal"}


def new(seed=1):
    return np.random.default_rng(seed)


def reasons(f):
    """The distributions that a native function draws in Python."""
    explained = aesara.explain(f)
    assert explained.fallback is None
    return [one.node.op.name for one in explained.python]


def drawing(distribution, *parameters, rng, **options):
    """A function that draws and advances the generator."""
    x = distribution(*parameters, rng=rng, **options)
    return aesara.function([], x, updates=[(rng, x.owner.outputs[0])])


@pytest.mark.parametrize("case", [c for c in CASES if "Generator" in c.kinds], ids=lambda case: case.name)
def test_batches(case):
    """Natively, unless it is said otherwise, and from every source of bits."""
    rng = aesara.shared(generator("Generator"))
    inputs = [at.as_tensor_variable(p).type() for p in case.batch]
    x = case.distribution(*inputs, rng=rng, size=(2, 3))
    f = aesara.function(inputs, x, updates=[(rng, x.owner.outputs[0])])
    assert bool(reasons(f)) == (case.name in IN_PYTHON)
    for bits in BIT_GENERATORS:
        rng.set_value(generator("Generator", bits))
        twin = generator("Generator", bits)
        np.testing.assert_array_equal(f(*case.batch), case.numbers(twin, case.batch, (2, 3)))
        assert same_state(rng.get_value(), twin), bits


_EACH = at.lvector("each")


@pytest.mark.parametrize(
    ("distribution", "parameters", "routine"),
    [
        (at_random.normal, (0.0, 1.0), "fill.standard_normal"),
        (at_random.normal, (_EACH, 2.0), "fill.normal"),
        (at_random.exponential, (2.0,), "fill.exponential"),
        (at_random.poisson, (_EACH,), "fill.poisson"),
        (at_random.integers, (0, 6), "fill.integers"),
        (at_random.integers, (0, _EACH), "draw.integers"),  # NumPy's function for many takes one range
        (at_random.beta, (1.0, 2.0), "draw.beta"),
        (at_random.beta, (_EACH, 2.0), "draw.beta"),
    ],
)
def test_many_numbers_at_once(distribution, parameters, routine):
    """The routine for many numbers is called if there is one for these parameters."""
    x = distribution(*parameters, rng=aesara.shared(new()), size=None if _EACH in parameters else 7)
    f = aesara.function([_EACH], x, on_unused_input="ignore")
    called = [step.routine.name for step in f._native.program.all_steps() if hasattr(step, "routine")]
    assert called == [routine]


@pytest.mark.parametrize("name", ["normal", "poisson", "bernoulli", "categorical", "integers"])
def test_other_dtypes(name):
    (case,) = (c for c in CASES if c.name == name)
    rng, twin = aesara.shared(generator("Generator")), generator("Generator")
    f = drawing(case.distribution, *case.parameters, rng=rng, size=5, dtype="float32")
    assert reasons(f) == [] and f().dtype == "float32"
    case.numbers(twin, case.parameters, (5,))
    np.testing.assert_array_equal(f(), case.numbers(twin, case.parameters, (5,)).astype("float32"))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
def test_words(bits):
    rng = generator("Generator", bits)
    rng.normal(size=700)
    twin = generator_of(words_of(rng))
    assert same_state(rng, twin)
    assert (twin.random(5, dtype="float32") == rng.random(5, dtype="float32")).all()
    assert (twin.normal(size=2000) == rng.normal(size=2000)).all()
    with pytest.raises(TypeError, match="spawn"):
        twin.spawn(1)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
def test_broadcasting_parameters_and_long_draws(bits):
    rng, twin = aesara.shared(generator("Generator", bits)), generator("Generator", bits)
    mu, sigma, n = at.dmatrix("mu"), at.fvector("sigma"), at.lscalar("n")
    z = at_random.normal(mu, sigma, size=(2, n, 3), rng=rng)
    u = at_random.poisson(3.5, size=(n, n), rng=z.owner.outputs[0])
    f = aesara.function([mu, sigma, n], [z, u], updates=[(rng, u.owner.outputs[0])])
    assert reasons(f) == []
    m, s = np.arange(4.0)[:, None], np.array([0.5, 1, 2], dtype="float32")
    for count in (4, 70):
        m = np.linspace(0, 1, count)[:, None]
        normal, poisson = f(m, s, count)
        assert np.array_equal(normal, twin.normal(m, s, size=(2, count, 3)))
        assert np.array_equal(poisson, twin.poisson(3.5, size=(count, count)))
        assert same_state(rng.get_value(), twin)
    normal, poisson = f(m[:1], s[:1], 2)
    assert np.array_equal(normal, twin.normal(m[:1], s[:1], size=(2, 2, 3)))
    assert f(m[:1], s, 0)[0].shape == (2, 0, 3)


def test_draws_that_are_all_alike():
    """They are made by functions for many numbers at once, in pieces."""
    rng, twin, count = aesara.shared(generator("Generator")), generator("Generator"), 5001
    n = at.lscalar("n")
    a = at_random.normal(size=(n,), rng=rng)
    b = at_random.exponential(size=(n,), rng=a.owner.outputs[0])
    c = at_random.uniform(size=(n,), rng=b.owner.outputs[0])
    d = at_random.integers(-3, 2**40, size=(n,), rng=c.owner.outputs[0])
    e = at_random.integers(n, size=(n,), rng=d.owner.outputs[0])
    f = aesara.function([n], [a, b, c, d, e], updates=[(rng, e.owner.outputs[0])])
    assert reasons(f) == []
    wanted = [
        twin.normal(size=count),
        twin.exponential(size=count),
        twin.uniform(size=count),
        twin.integers(-3, 2**40, count),
        twin.integers(count, size=count),
    ]
    before = rng.get_value()
    for mine, expected in zip(f(count), wanted, strict=True):
        np.testing.assert_array_equal(mine, expected)
    assert same_state(rng.get_value(), twin)
    results = run_program(f._native.program, [np.array(3), words_of(before)], f._native.form.constants)
    rng.set_value(before)
    for mine, native in zip(results.returned, f(3), strict=True):
        np.testing.assert_array_equal(mine, native)
    (words,) = results.cells.values()
    assert same_state(generator_of(words), rng.get_value())


def test_sizes_that_do_not_fit():
    rng, n = aesara.shared(new()), at.lscalar("n")
    x = at_random.normal(at.dvector("mu"), size=(n,), rng=rng)
    f = aesara.function([x.owner.inputs[3], n], x, updates=[(rng, x.owner.outputs[0])])
    with pytest.raises(ValueError):
        f([1.0, 2.0], 3)
    with pytest.raises(ValueError, match="negative dimensions"):
        f([1.0], -1)
    assert same_state(rng.get_value(), new())


def test_the_interpreter_draws_the_same():
    rng = aesara.shared(new())
    x, p = at_random.normal(at.arange(6.0), 2.0, rng=rng), at.dscalar("p")
    y = at_random.binomial(9, p, size=(2, 2), rng=x.owner.outputs[0])
    f = aesara.function([p], [x, y], updates=[(rng, y.owner.outputs[0])])
    program = f._native.program
    verify_program(program)
    assert print_program(parse_program(print_program(program))) == print_program(program)
    results = run_program(program, [np.array(0.3), words_of(new())], f._native.form.constants)
    expected = f(0.3)
    for mine, native in zip(results.returned, expected):
        np.testing.assert_array_equal(mine, native)
    (words,) = results.cells.values()
    assert same_state(generator_of(words), rng.get_value())


def in_rounds(f, reference, rng, twin):
    """Two calls of a native function, compared with NumPy, and the states afterwards."""
    assert reasons(f) == []
    for _ in range(2):
        np.testing.assert_array_equal(f(), reference(twin))
        assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
def test_orders_and_elements(bits):
    rng, twin = aesara.shared(generator("Generator", bits)), generator("Generator", bits)
    n, rows = at.lscalar("n"), np.arange(12.0).reshape(4, 3)
    x = at_random.permutation(n, rng=rng)
    f = aesara.function([n], x, updates=[(rng, x.owner.outputs[0])])
    assert reasons(f) == []
    for count in (0, 1, 2, 300):
        np.testing.assert_array_equal(f(count), twin.permutation(count))
    with pytest.raises(ValueError, match="Maximum allowed dimension"):
        f(-1)
    in_rounds(drawing(at_random.permutation, rows, rng=rng), lambda r: r.permutation(rows), rng, twin)
    in_rounds(drawing(at_random.choice, rows, rng=rng, size=(2, 2)), lambda r: r.choice(rows, (2, 2)), rng, twin)
    in_rounds(drawing(at_random.choice, 7, rng=rng), lambda r: r.choice(7), rng, twin)
    v = at.dvector("v")
    chosen = aesara.function([v, n], at_random.choice(v, size=(n,), rng=rng))
    assert reasons(chosen) == []
    with pytest.raises(ValueError, match="a cannot be empty"):
        chosen([], 2)
    assert chosen([], 0).shape == (0,) and (chosen([3.0], 2) == 3.0).all()
    with pytest.raises(ValueError, match="negative dimensions"):
        chosen([3.0], -1)


def test_categories():
    rng, p = aesara.shared(new()), at.dmatrix("p")
    x = at_random.categorical(p, size=(3, 2), rng=rng)
    f = aesara.function([p], x, updates=[(rng, x.owner.outputs[0])])
    assert reasons(f) == []
    rows = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
    twin = new()
    np.testing.assert_array_equal(f(rows), at_random.categorical.rng_fn(twin, rows, (3, 2)))
    for wrong, message in (
        ([[0.5, 0.6]], "Probabilities do not sum to 1"),
        ([[-0.5, 1.5]], "Probabilities are not non-negative"),
        ([[float("nan"), 1.0]], "Probabilities are not non-negative"),
        (np.full((3, 2), 0.5), "not compatible"),
    ):
        with pytest.raises(ValueError, match=message):
            f(np.array(wrong))
    assert same_state(rng.get_value(), twin)
    # Probabilities that are rounded may have a sum below one, and a uniform number lie above it.
    short = drawing(at_random.categorical, np.array([0.5, 0.5 - 1e-8]), size=2000, rng=rng)
    assert set(short()) == {0, 1}


def test_outcomes():
    n, p = at.lvector("n"), at.dvector("p")
    rng, twin = aesara.shared(new()), new()
    x = at_random.multinomial(n, p, size=(2, 3), rng=rng)
    f = aesara.function([n, p], x, updates=[(rng, x.owner.outputs[0])])
    assert reasons(f) == []
    counts, probabilities = np.array([3, 0, 400]), np.array([0.2, 0.3, 0.5])
    np.testing.assert_array_equal(f(counts, probabilities), twin.multinomial([counts] * 2, probabilities))
    for given, wanted in (
        ((counts, [0.8, 0.8, 0.1]), "sum(pvals[:-1]) > 1.0"),
        ((counts, [-0.1, 0.8, 0.1]), "pvals < 0, pvals > 1 or pvals contains NaNs"),
        (([1, 2, -1], probabilities), "n < 0"),
        ((counts, []), "pvals must have at least 1 dimension"),
    ):
        with pytest.raises(ValueError) as caught:
            f(*given)
        assert str(caught.value).startswith(wanted)
    assert same_state(rng.get_value(), twin)


def test_the_interpreter_chooses_the_same():
    rng = aesara.shared(new())
    x = at_random.multinomial([5, 6], [0.2, 0.8], rng=rng)
    y = at_random.permutation(40, rng=x.owner.outputs[0])
    z = at_random.categorical([0.2, 0.8], size=9, rng=y.owner.outputs[0])
    u = at_random.choice(70000, size=3, rng=z.owner.outputs[0])
    f = aesara.function([], [x, y, z, u], updates=[(rng, u.owner.outputs[0])])
    program = f._native.program
    verify_program(program)
    assert print_program(parse_program(print_program(program))) == print_program(program)
    results = run_program(program, [words_of(new())], f._native.form.constants)
    for mine, native in zip(results.returned, f(), strict=True):
        np.testing.assert_array_equal(mine, native)
    (words,) = results.cells.values()
    assert same_state(generator_of(words), rng.get_value())


# Loops


@pytest.mark.parametrize("bits", ["PCG64", "MT19937"])
def test_loops_draw_natively(bits):
    rng, twin = aesara.shared(generator("Generator", bits)), generator("Generator", bits)
    scales = at.dvector("scales")

    def step(scale, x, total):
        z = at_random.normal(0, scale, size=2, rng=rng)
        k = at_random.categorical([0.5, 0.5], rng=z.owner.outputs[0])
        again = at_random.uniform(rng=z.owner.outputs[0])
        return [x + z, total + z[k] * again], {rng: k.owner.outputs[0]}

    (xs, totals), updates = aesara.scan(step, sequences=scales, outputs_info=[at.zeros(2), at.zeros(())])
    f = aesara.function([scales], [xs, totals[-1]], updates=updates)
    assert reasons(f) == []
    given = np.linspace(0.1, 2, 7)
    for _ in range(2):
        x, total, rows = np.zeros(2), 0.0, []
        for scale in given:
            z = twin.normal(0, scale, size=2)
            u = twin.uniform()  # of the category, and from the same state
            x, total = x + z, total + z[int(u > 0.5)] * u
            rows.append(x)
        native, last = f(given)
        np.testing.assert_array_equal(native, rows)
        assert last == total
        assert same_state(rng.get_value(), twin)
    with pytest.raises(ValueError, match="scale < 0"):
        f([1.0, -1.0])
    assert same_state(rng.get_value(), twin)


def test_loops_that_draw_twice_from_one_state():
    rng, twin = aesara.shared(new()), new()

    def step(total):
        z, u = at_random.normal(rng=rng), at_random.uniform(rng=rng)
        v = at_random.exponential(rng=rng)
        return total + z * u * v, {rng: z.owner.outputs[0]}

    totals, updates = aesara.scan(step, outputs_info=at.zeros(()), n_steps=5)
    f, total, expected = aesara.function([], totals, updates=updates), 0.0, []
    assert reasons(f) == []
    for _ in range(5):
        same = [copy.deepcopy(twin), copy.deepcopy(twin)]
        total = total + twin.normal() * same[0].uniform() * same[1].exponential()
        expected.append(total)
    np.testing.assert_array_equal(f(), expected)
    assert same_state(rng.get_value(), twin)


# Generators


def test_generators_are_looked_at_anew_in_each_call():
    rng = aesara.shared(new())
    f = drawing(at_random.normal, rng=rng)
    assert f() == new().normal()
    for bits in ("MT19937", "SFC64", "MT19937"):
        rng.set_value(generator("Generator", bits))
        twin = generator("Generator", bits)
        assert [f(), f()] == [twin.normal(), twin.normal()]
        assert same_state(rng.get_value(), twin)
    mine = new(7)
    rng.set_value(mine, borrow=True)
    twin = new(7)
    assert [f(), mine.normal(), f()] == list(twin.normal(size=3))
    mine.bit_generator.state = new(8).bit_generator.state
    assert f() == new(8).normal()
    mine.__init__(np.random.PCG64(9))
    assert f() == np.random.Generator(np.random.PCG64(9)).normal()
    with pytest.raises(TypeError, match="Generator"):
        rng.set_value(3)


class OwnBits(np.random.PCG64):
    """A source of bits that native code does not know."""


def test_sources_of_bits_that_are_not_numpys():
    rng = aesara.shared(np.random.Generator(OwnBits(3)), borrow=True)
    f = drawing(at_random.normal, rng=rng)
    assert "OwnBits" in aesara.explain(f).fallback
    assert f() == np.random.Generator(np.random.PCG64(3)).normal()
    other = aesara.shared(new())
    g = drawing(at_random.normal, rng=other)
    other.set_value(np.random.Generator(OwnBits(3)), borrow=True)
    with pytest.raises(TypeError, match="OwnBits"):
        g()


def test_two_generators_with_one_source_of_bits():
    mine = new()
    first = aesara.shared(mine, borrow=True)
    second = aesara.shared(np.random.Generator(mine.bit_generator), borrow=True)
    x, y = at_random.normal(rng=first), at_random.normal(rng=second)
    f = aesara.function([], [x, y], updates=[(first, x.owner.outputs[0]), (second, y.owner.outputs[0])])
    assert sorted(f()) == sorted(new().normal(size=2))


def test_two_draws_from_one_state_are_the_same_and_change_nothing():
    rng = aesara.shared(new())
    x, y = at_random.normal(size=3, rng=rng), at_random.uniform(size=3, rng=rng)
    f = aesara.function([], [x, y], updates=[(rng, x.owner.outputs[0])])
    twin = new()
    before = copy.deepcopy(twin)
    numbers, others = f()
    np.testing.assert_array_equal(numbers, twin.normal(size=3))
    np.testing.assert_array_equal(others, before.uniform(size=3))
    assert same_state(rng.get_value(), twin)


def test_generators_that_swap_places():
    a, b = aesara.shared(new(1)), aesara.shared(new(2))
    f = aesara.function([], [], updates=[(a, b), (b, a)])
    f()
    assert same_state(a.get_value(), new(2)) and same_state(b.get_value(), new(1))


def test_copies_of_a_function_have_links_of_their_own():
    rng = aesara.shared(new())
    f = drawing(at_random.chisquare, 2.0, size=3, rng=rng)
    f()
    for g in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        assert aesara.explain(g).fallback is None
        twin = rng.get_value()
        np.testing.assert_array_equal(g(), twin.chisquare(2.0, size=3))
    np.testing.assert_array_equal(f(), new().chisquare(2.0, size=6)[3:])


def test_distributions_of_ones_own_draw_in_python_among_native_ones():
    rng, twin = aesara.shared(new()), new()
    x = at_random.normal(rng=rng)
    y = SumOfDiceRV()(6, size=4, rng=x.owner.outputs[0])
    z = at_random.uniform(size=2, rng=y.owner.outputs[0])
    f = aesara.function([], [x, y, z], updates=[(rng, z.owner.outputs[0])])
    assert reasons(f) == ["two_dice"]
    for _ in range(3):
        number, dice, uniform = f()
        assert number == twin.normal()
        np.testing.assert_array_equal(dice, twin.integers(1, 7, 4) + twin.integers(1, 7, 4))
        np.testing.assert_array_equal(uniform, twin.uniform(size=2))
    assert same_state(rng.get_value(), twin)


def test_a_node_in_python_that_draws_from_the_same_generator():
    mine = new()

    @as_op(itypes=[at.dscalar], otypes=[at.dscalar])
    def noisy(x):
        return np.asarray(x + mine.normal())

    rng = aesara.shared(mine, borrow=True)
    x = at_random.normal(rng=rng)
    f = aesara.function([], noisy(x), updates=[(rng, x.owner.outputs[0])])
    with pytest.raises(RuntimeError, match="drawn from a generator"):
        f()
    after = new()
    after.normal()
    assert same_state(mine, after)
    assert np.isfinite(aesara.function([], noisy(x))())


def test_many_generators():
    """So many that values are spilled."""
    srng, count = at_random.RandomStream(5), 70
    mu = at.dscalar("mu")
    f = aesara.function([mu], at.stack([srng.normal(mu) for _ in range(count)]))
    assert f._native.form.interface.spills and reasons(f) == []
    twins = [np.random.default_rng(seed) for seed in np.random.SeedSequence(5).spawn(count)]
    for value in (0.5, 2.0):
        np.testing.assert_array_equal(f(value), [twin.normal(value) for twin in twins])
    states = [rng.get_value() for rng, _ in srng.state_updates]
    assert all(map(same_state, states, twins))


# Threads


def test_the_lock_of_a_generator():
    mine, order = new(), []
    rng = aesara.shared(mine, borrow=True)
    f, without = drawing(at_random.normal, size=3, rng=rng), aesara.function([], at_random.normal(rng=rng))
    with mine.bit_generator.lock:
        threads = [threading.Thread(target=lambda g=g: (g(), order.append("drawn"))) for g in (f, without)]
        for thread in threads:
            thread.start()
            thread.join(0.05)
        order.append("released")
    for thread in threads:
        thread.join()
    assert order == ["released", "drawn", "drawn"]
    assert mine.bit_generator.lock.acquire(timeout=1)
    mine.bit_generator.lock.release()


def test_a_call_that_fails_releases_the_lock():
    rng, scale = aesara.shared(new()), at.dscalar("scale")
    x = at_random.normal(0, scale, rng=rng)
    f = aesara.function([scale], x, updates=[(rng, x.owner.outputs[0])])
    with pytest.raises(ValueError, match="scale < 0"):
        f(-1.0)
    thread = threading.Thread(target=f, args=(1.0,))
    thread.start()
    thread.join(10)
    assert not thread.is_alive()


def test_a_long_draw_and_somebody_else():
    mine, count, last = new(), 1_000_000, 2**62
    f = drawing(at_random.integers, 0, last, size=count, rng=aesara.shared(mine, borrow=True))
    f()
    twin = copy.deepcopy(mine)
    drawn, others = [], []
    thread = threading.Thread(target=lambda: drawn.append(f()))
    thread.start()
    while thread.is_alive():
        others.append(mine.integers(0, last))
    thread.join()
    everything = np.sort(np.concatenate([drawn[0], others]))
    np.testing.assert_array_equal(everything, np.sort(twin.integers(0, last, len(everything))))
    assert same_state(mine, twin)


@pytest.mark.parametrize("name, parameters", [("integers", (0, 2**62)), ("normal", (2.0, 3.0)), ("poisson", (77.7,))])
def test_eight_threads_four_functions_and_somebody_else(name, parameters):
    """Also where each number takes as many bits as it needs."""
    mine, count, calls = new(), 4000, 12
    rng = aesara.shared(mine, borrow=True)
    functions = [drawing(getattr(at_random, name), *parameters, size=size, rng=rng) for size in (1, 3, count, 5)]
    drawn = []

    def work(number):
        for k in range(calls):
            drawn.append(functions[(number + k) % 4]())
            drawn.append(getattr(mine, name)(*parameters, 2))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = np.concatenate(drawn)
    twin = new()
    expected = getattr(twin, name)(*parameters, len(everything))
    assert len(everything) == 8 * calls // 4 * (1 + 3 + count + 5) + 8 * calls * 2
    np.testing.assert_array_equal(np.sort(everything), np.sort(expected))
    assert same_state(mine, twin)


def test_the_same_generators_in_another_order_and_in_other_variables():
    generators = [np.random.default_rng(seed) for seed in (1, 2, 3)]

    def function_of(order):
        rngs = [aesara.shared(generators[k], borrow=True) for k in order]
        draws = [at_random.integers(0, 2**62, size=10000, rng=rng) for rng in rngs]
        updates = [(rng, draw.owner.outputs[0]) for rng, draw in zip(rngs, draws)]
        return aesara.function([], [draws[order.index(k)] for k in range(3)], updates=updates)

    functions = [function_of([0, 1, 2]), function_of([2, 1, 0])]
    drawn = []
    threads = [
        threading.Thread(target=lambda f=f: drawn.extend([f() for _ in range(25)]), daemon=True) for f in functions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads), "calls wait for one another's locks"
    for k, source in enumerate(generators):
        twin = np.random.default_rng(k + 1)
        numbers = np.sort(np.concatenate([call[k] for call in drawn]))
        np.testing.assert_array_equal(numbers, np.sort(twin.integers(0, 2**62, len(numbers))))
        assert same_state(source, twin)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_locks_are_taken_in_one_order(order):
    first, second = sorted([new(), new()], key=lambda generator: id(generator.bit_generator))
    rngs = [aesara.shared((first, second)[k], borrow=True) for k in order]
    draws = [at_random.normal(rng=rng) for rng in rngs]
    f = aesara.function([], draws, updates=[(rng, draw.owner.outputs[0]) for rng, draw in zip(rngs, draws)])
    thread = threading.Thread(target=f)
    with first.bit_generator.lock:
        thread.start()
        thread.join(0.1)
        assert thread.is_alive()
        # The call waits for the first, and has not taken the second.
        assert second.bit_generator.lock.acquire(blocking=False)
        second.bit_generator.lock.release()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint64", "int8", "uint32"])
@pytest.mark.parametrize("distribution", [at_random.binomial, at_random.negative_binomial, at_random.hypergeometric])
def test_numbers_that_count(distribution, dtype):
    """As floats, or beyond int64, NumPy has to say what it makes of them."""
    others = (7, 5) if distribution is at_random.hypergeometric else (0.3,)
    rng, n = aesara.shared(new()), at.scalar("n", dtype=dtype)
    x = distribution(n, *others, rng=rng)
    f = aesara.function([n], x, updates=[(rng, x.owner.outputs[0])])
    counts = distribution is not at_random.negative_binomial  # which takes any number
    in_python = counts and (dtype.startswith("float") or dtype == "uint64")
    assert bool(reasons(f)) == in_python
    twin, value = new(), np.array(6, dtype=dtype)
    try:
        expected = getattr(twin, x.owner.op.name if counts else "negative_binomial")(value, *others)
    except (TypeError, ValueError):
        with pytest.raises((TypeError, ValueError)):
            f(value)
    else:
        assert f(value) == expected and same_state(rng.get_value(), twin)
