"""Native draws of vectors are NumPy's to the last bit, with its errors."""

import numpy as np
import pytest
from distribution_table import BIT_GENERATORS, generator

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.ir.generators import generator_of, words_of
from aesara.ir.interpret import run_program
from aesara.ir.routines.numpy_loops import has_matrix_loops
from aesara.ir.text import parse_program, print_program
from aesara.ir.verify_program import verify_program
from aesara.tensor.random.generators import same_state


def covariance(order, seed=0, scale=1.0):
    a = np.random.default_rng(seed).normal(size=(order, order))
    return scale * (a @ a.T + 0.1 * np.eye(order))


def compiled(name, given, size=None, bits="PCG64", **options):
    """A function that draws, and its generator; of parameters whose shapes it does not know."""
    rng = aesara.shared(generator("Generator", bits))
    inputs = [at.tensor(p.dtype.name, shape=(None,) * p.ndim) for p in given]
    x = getattr(at_random, name)(*inputs, rng=rng, size=size, **options)
    f = aesara.function(inputs, x, updates=[(rng, x.owner.outputs[0])])
    explained = aesara.explain(f)
    assert explained.fallback is None
    assert (explained.python == []) == (name != "multivariate_normal" or has_matrix_loops())
    return f, rng


#: concentrations for which NumPy breaks a stick, or not; with zeros, which end it early
CONCENTRATIONS = [
    [0.5, 2.0, 3.0], [0.05, 0.02, 0.09, 0.01], [0.05, 0.2], [0.05, 0.0, 0.0], [0.0, 0.05, 0.0, 0.01], [0.0, 0.0],
    [0.0, 1.0], [-0.0, 1.0], [3.0], [0.05], [0.1, 0.05], [0.09999999, 0.05], [np.nan, 1.0], [],
]  # fmt: skip


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("alpha", CONCENTRATIONS, ids=str)
def test_dirichlet(alpha, bits):
    given, twin = np.array(alpha, "float64"), generator("Generator", bits)
    for size in (None, (3, 2), (0,)):
        f, rng = compiled("dirichlet", [given], size, bits)
        rng.set_value(twin)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(f(given), twin.dirichlet(given, size))
        assert same_state(rng.get_value(), twin)


def test_batches_of_dirichlet_mix_both_ways():
    rows = np.array([[0.5, 2.0, 3.0], [0.05, 0.02, 0.01], [0.0, 0.05, 0.0], [0.2, 0.01, 0.3]])
    for size in (None, (4,), (2, 4)):
        f, rng = compiled("dirichlet", [rows], size)
        twin = generator("Generator")
        expected = np.array([[twin.dirichlet(row) for row in rows] for _ in range(2 if size == (2, 4) else 1)])
        np.testing.assert_array_equal(f(rows), expected if size == (2, 4) else expected[0])
        assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("order", [1, 2, 5, 17, 40])
def test_multivariate_normal(order, bits):
    mean, cov = np.linspace(-1, 1, order), covariance(order)
    for size in (None, (3,), (2, 70), (0,)):
        f, rng = compiled("multivariate_normal", [mean, cov], size, bits)
        twin = generator("Generator", bits)
        for _ in range(2):
            expected = twin.multivariate_normal(mean, cov, size, check_valid="raise")
            np.testing.assert_array_equal(f(mean, cov), expected)
        assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_multivariate_normal_of_other_dtypes(dtype):
    mean, cov = np.array([1, 2, 3], dtype), (np.eye(3) * 4 + 1).astype(dtype)
    f, rng = compiled("multivariate_normal", [mean, cov], (4,), dtype="float32")
    twin = generator("Generator")
    drawn = f(mean, cov)
    assert drawn.dtype == "float32"
    expected = twin.multivariate_normal(mean, cov, 4, check_valid="raise").astype("float32")
    np.testing.assert_array_equal(drawn, expected)
    assert same_state(rng.get_value(), twin)


def test_covariances_that_are_not_definite():
    """Zeros and ranks below the order are allowed."""
    thin = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    for cov in (thin, np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0])):
        f, _ = compiled("multivariate_normal", [np.zeros(3), cov], (5,))
        twin = generator("Generator")
        np.testing.assert_array_equal(f(np.zeros(3), cov), twin.multivariate_normal(np.zeros(3), cov, 5))


@pytest.mark.parametrize(
    "mean, cov, size",
    [
        ((3, 4), (4, 4), None), ((4,), (3, 4, 4), None), ((3, 4), (3, 4, 4), (2, 3)), ((1, 4), (3, 1, 4, 4), None),
        ((3, 4), (4, 4), (2, 3)), ((2, 1, 4), (1, 3, 4, 4), (2, 3)), ((1, 4), (4, 4), (5,)),
    ],
    ids=str,
)  # fmt: skip
def test_batches_of_multivariate_normal(mean, cov, size):
    means = np.random.default_rng(1).normal(size=mean)
    covs = np.array([covariance(4, k) for k in range(int(np.prod(cov[:-2], dtype=int)))]).reshape(cov)
    f, rng = compiled("multivariate_normal", [means, covs], size)
    twin = generator("Generator")
    np.testing.assert_array_equal(f(means, covs), at_random.multivariate_normal.rng_fn(twin, means, covs, size))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
def test_multivariate_hypergeometric(bits):
    for colors, sample in (
        ([3, 4, 5], 6),
        ([3, 4, 5], 12),
        ([3, 4], 0),
        ([0, 0], 0),
        ([7], 3),
        ([], 0),
        ([9, 1, 0], 9),
    ):
        given = [np.array(colors, "int64"), np.array(sample)]
        for size in (None, (4, 3)):
            f, rng = compiled("multivariate_hypergeometric", given, size, bits)
            twin = generator("Generator", bits)
            np.testing.assert_array_equal(f(*given), twin.multivariate_hypergeometric(given[0], sample, size))
            assert same_state(rng.get_value(), twin)


nan, inf, large = np.nan, np.inf, 10**9
WRONG = [
    ("dirichlet", ([-1.0, 1.0],)),
    ("multivariate_normal", ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])),
    ("multivariate_normal", ([0.0, 0.0], [[1.0, 0.5], [0.2, 1.0]])),
    ("multivariate_normal", ([0.0, 0.0], [[-1.0, 0.0], [0.0, 1.0]])),
    ("multivariate_normal", ([0.0, 0.0], [[1.0, nan], [0.2, 1.0]])),
    ("multivariate_normal", ([0.0, 0.0], [[1.0, inf], [inf, 1.0]])),
    ("multivariate_normal", ([0.0, 0.0], [[nan, inf], [inf, 1.0]])),
    ("multivariate_normal", ([0.0, 0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])),
    ("multivariate_normal", ([0.0, 0.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])),
    ("multivariate_normal", (np.zeros(0), np.zeros((0, 0)))),
    ("multivariate_hypergeometric", ([1, 2], 4)),
    ("multivariate_hypergeometric", ([-1, 2], 1)),
    ("multivariate_hypergeometric", ([1, 2], -1)),
    ("multivariate_hypergeometric", ([-1, 2], -1)),
    ("multivariate_hypergeometric", ([large, 2], 1)),
    ("multivariate_hypergeometric", ([large, 2], 10 * large)),
    ("multivariate_hypergeometric", ([2**62, 2**62], 1)),
]


@pytest.mark.parametrize("name, parameters", WRONG, ids=str)
def test_wrong_parameters(name, parameters):
    given = [np.asarray(p) for p in parameters]
    f, rng = compiled(name, given)
    with np.errstate(all="ignore"), pytest.raises((ValueError, np.linalg.LinAlgError)) as wanted:
        getattr(at_random, name).rng_fn(generator("Generator"), *given, None)
    with np.errstate(all="ignore"), pytest.raises(wanted.type) as caught:
        f(*given)
    assert str(caught.value).splitlines()[0] == str(wanted.value)
    assert "test_native_vectors.py" in str(caught.value)
    assert same_state(rng.get_value(), generator("Generator"))


DRAWN = [
    ("dirichlet", ([0.5, 2.0, 3.0],)),
    ("dirichlet", ([0.05, 0.02, 0.01],)),
    ("multivariate_normal", (np.arange(3.0), covariance(3))),
    ("multivariate_hypergeometric", ([3, 4, 5], 6)),
]


@pytest.mark.parametrize("name, parameters", DRAWN, ids=str)
def test_loops_and_the_interpreter(name, parameters):
    given, rng, twin = (
        [np.asarray(p) for p in parameters],
        aesara.shared(generator("Generator")),
        generator("Generator"),
    )

    def step(total):
        x = getattr(at_random, name)(*given, rng=rng)
        return total + x, {rng: x.owner.outputs[0]}

    totals, updates = aesara.scan(step, outputs_info=at.zeros(3), n_steps=5)
    f = aesara.function([], totals, updates=updates)
    rows = [getattr(twin, name)(given[0], *(p if p.ndim else int(p) for p in given[1:])) for _ in range(5)]
    np.testing.assert_array_equal(f(), np.cumsum(rows, axis=0, dtype="float64"))
    assert same_state(rng.get_value(), twin)

    g, own = compiled(name, given, (2,))
    if aesara.explain(g).python:
        return
    program = g._native.program
    verify_program(program)
    assert print_program(parse_program(print_program(program))) == print_program(program)
    results = run_program(program, [*given, words_of(generator("Generator"))], g._native.form.constants)
    np.testing.assert_array_equal(results.returned[0], g(*given))
    (words,) = results.cells.values()
    assert same_state(generator_of(words), own.get_value())
