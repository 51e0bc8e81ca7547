"""Elements and orders that native code chooses are NumPy's, with its errors."""

import numpy as np
import pytest
from distribution_table import BIT_GENERATORS, generator

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.ir.generators import generator_of, words_of
from aesara.ir.interpret import run_program
from aesara.ir.text import parse_program, print_program
from aesara.ir.verify_program import verify_program
from aesara.tensor.random.generators import same_state


def compiled(distribution, inputs, *given, bits="PCG64", **options):
    rng = aesara.shared(generator("Generator", bits))
    x = distribution(*given, rng=rng, **options)
    f = aesara.function(inputs, x, updates=[(rng, x.owner.outputs[0])])
    explained = aesara.explain(f)
    assert explained.fallback is None and explained.python == []
    return f, rng


def probabilities(count, zeros=0):
    p = np.random.default_rng(count).random(count)
    p[:zeros] = 0
    return p / p.sum()


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_choices(bits, replace, weighted):
    n, size, p = at.lscalar("n"), at.lscalar("size"), at.dvector("p")
    options = {"p": p} if weighted else {}
    f, rng = compiled(
        at_random.choice, [n, size, *options.values()], n, bits=bits, size=(size,), replace=replace, **options
    )
    twin = generator("Generator", bits)
    for count, many in ((1, 1), (5, 5), (5, 1), (5, 0), (300, 20), (300, 299), (9, 9)):
        weights = probabilities(count, zeros=count > 200 and not replace and many < 100)
        given = (weights,) if weighted else ()
        np.testing.assert_array_equal(f(count, many, *given), twin.choice(count, many, replace, *given))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("count, many", [(10000, 5000), (10001, 200), (10001, 201), (20000, 20000), (20000, 19999)])
def test_many_of_many(count, many):
    """Up from a certain share NumPy shuffles them."""
    f, rng = compiled(at_random.choice, [], np.arange(count), size=many, replace=False)
    twin = generator("Generator")
    np.testing.assert_array_equal(f(), twin.choice(count, many, False))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_a_number_that_equals_a_sum_of_probabilities_belongs_to_the_category_before_it(shape):
    p = at.TensorType("float64", (None,) * (len(shape) + 1))()
    f, _ = compiled(at_random.categorical, [p], p)
    uniform = generator("Generator").uniform(size=shape)
    rows = np.stack([np.zeros(shape), uniform, 1 - uniform], axis=-1)
    np.testing.assert_array_equal(f(rows), np.ones(shape, "int64"))


@pytest.mark.parametrize("weights", [None, [0.1, 0.6, 0.2, 0.1]])
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("size", [None, (), (2, 2), (3,)], ids=str)
def test_choices_of_rows_and_of_one(weights, replace, size):
    for a in (np.arange(12.0).reshape(4, 3), np.array([4, 5, 6, 8], "int8")):
        f, rng = compiled(at_random.choice, [], a, size=size, replace=replace, p=weights)
        twin = generator("Generator")
        for _ in range(20):
            drawn = f()
            np.testing.assert_array_equal(drawn, twin.choice(a, size or None, replace, weights))
            assert drawn.dtype == a.dtype
        assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_probabilities_of_other_dtypes(dtype):
    p = np.array([0, 1, 0], dtype) if dtype == "int64" else np.array([0.25, 0.65, 0.1], dtype)
    f, _ = compiled(at_random.choice, [], np.arange(3), size=50, p=p)
    np.testing.assert_array_equal(f(), generator("Generator").choice(3, 50, p=p))


nan = np.nan
WRONG = [
    (5, 6, False, None),
    (3, -1, False, None),
    (0, 2, False, None),
    (5, 2, True, [0.2, 0.8]),
    (2, 2, True, [0.2, 0.9]),
    (2, 2, True, [nan, 0.9]),
    (2, 2, True, [-0.2, 1.2]),
    (2, 2, False, [1.0, 0.0]),
    (2, 3, False, [0.5, 0.5]),
    (2, 2, False, [0.5, 0.4]),
]


@pytest.mark.parametrize("count, size, replace, p", WRONG, ids=str)
def test_wrong_parameters(count, size, replace, p):
    a, n, weights = at.lvector("a"), at.lscalar("size"), at.dvector("p")
    given = [weights] if p is not None else []
    f, rng = compiled(
        at_random.choice, [a, n, *given], a, size=(n,), replace=replace, p=weights if p is not None else None
    )
    numbers = np.arange(count)
    with pytest.raises(ValueError) as wanted:
        generator("Generator").choice(numbers, size, replace, p)
    with pytest.raises(ValueError) as caught:
        f(numbers, size, *([np.array(p)] if p is not None else []))
    if size >= 0:
        assert str(caught.value).splitlines()[0] == str(wanted.value)
    assert "test_native_choices.py" in str(caught.value)
    assert same_state(rng.get_value(), generator("Generator"))


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1])
def test_permuted(axis, bits):
    x = at.tensor("float64", shape=(None, None, None))
    f, rng = compiled(at_random.permuted, [x], x, axis, bits=bits)
    twin = generator("Generator", bits)
    for shape in ((2, 3, 4), (1, 70, 2), (3, 1, 1), (0, 2, 3), (2, 0, 3)):
        given = np.arange(float(np.prod(shape))).reshape(shape)
        np.testing.assert_array_equal(f(given), twin.permuted(given, axis=axis))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("dtype", ["int8", "float32", "bool"])
def test_permuted_vectors(axis, dtype):
    given = (np.arange(9) % 4).astype(dtype)
    f, rng = compiled(at_random.permuted, [], given, axis)
    twin = generator("Generator")
    drawn = f()
    assert drawn.dtype == dtype
    np.testing.assert_array_equal(drawn, twin.permuted(given, axis=axis))
    assert same_state(rng.get_value(), twin)


DRAWN = [
    lambda rng: at_random.choice(np.arange(9.0), size=3, replace=False, rng=rng),
    lambda rng: at_random.choice(np.arange(9.0), size=3, replace=False, p=probabilities(9), rng=rng),
    lambda rng: at_random.choice(np.arange(9.0), size=3, p=probabilities(9), rng=rng),
    lambda rng: at_random.permuted(np.arange(3.0), rng=rng),
]


@pytest.mark.parametrize("draw", DRAWN)
def test_loops_and_the_interpreter(draw):
    rng = aesara.shared(generator("Generator"))

    def step(total):
        x = draw(rng)
        return total + x, {rng: x.owner.outputs[0]}

    totals, updates = aesara.scan(step, outputs_info=at.zeros(3), n_steps=5)
    f = aesara.function([], totals, updates=updates)
    assert aesara.explain(f).python == []
    x = draw(rng)
    one = aesara.function([], x, updates=[(rng, x.owner.outputs[0])])
    in_loop = f()
    rng.set_value(generator("Generator"))
    np.testing.assert_array_equal(in_loop, np.cumsum([one() for _ in range(5)], axis=0))

    program = one._native.program
    verify_program(program)
    assert print_program(parse_program(print_program(program))) == print_program(program)
    before = rng.get_value()
    results = run_program(program, [words_of(before)], one._native.form.constants)
    rng.set_value(before)
    np.testing.assert_array_equal(results.returned[0], one())
    (words,) = results.cells.values()
    assert same_state(generator_of(words), rng.get_value())
