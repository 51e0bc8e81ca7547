"""Running sums, recurrences, convolutions and repetitions, compiled by JAX."""

import jax
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.sequences.recurrence import LinearRecurrence
from aesara.tensor.shapes.repeating import Repeat
from tests.link.jax_mode.matching import fail_alike, function_of, on_both

DTYPES = ["float64", "float32", "float16", "int8", "uint64", "bool", "complex128"]
TOLERANCES = {"float16": 5e-3, "float32": 1e-5}


def numbers(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    if np.dtype(dtype).kind in "iub":
        values = rng.integers(0, 2 if dtype == "bool" else 100, size=shape)
    return values.astype(dtype)


def tensor(dtype, ndim):
    return at.tensor(dtype=dtype, shape=(None,) * ndim)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_running_sums_and_products(dtype, axis):
    x = tensor(dtype, 2)
    results = [at.cumsum(x, axis), at.cumprod(x, axis), at.extra_ops.CumOp(axis, "mul")(x)]
    for shape in [(3, 7), (0, 3), (1, 4)]:
        on_both([x], results, numbers(shape, dtype), rtol=TOLERANCES.get(dtype, 1e-12))


def test_running_sums_of_special_values():
    x = at.dvector("x")
    on_both([x], [at.cumsum(x), at.cumprod(x)], np.array([1.0, np.inf, 2.0, -np.inf, 0.0, 3.0]))
    on_both([x], [at.cumsum(x), at.cumprod(x)], np.array([1.0, 0.0, np.nan, 0.0, 1.0]))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_recurrences(dtype, axis, backwards):
    a, b = tensor(dtype, 2), tensor(dtype, 2)
    for shape in [(7, 6), (1, 3), (0, 3), (3, 1)]:
        values = numbers(shape, dtype), numbers(shape, dtype, 1)
        on_both([a, b], LinearRecurrence(axis, backwards)(a, b), *values, rtol=TOLERANCES.get(dtype, 1e-12))


@pytest.mark.parametrize("backwards", [False, True])
def test_the_first_factor_is_not_used(backwards):
    a, b = at.dvectors("a", "b")
    on_both([a, b], LinearRecurrence(0, backwards)(a, b), np.array([np.nan, 0.0, 2.0, 0.0]), np.arange(4.0))


def test_factors_and_terms_of_different_lengths():
    a, b = at.dvectors("a", "b")
    fail_alike(ValueError, [a, b], LinearRecurrence(0)(a, b), np.ones(3), np.ones(4), match="the factors have shape")


@pytest.mark.parametrize("f", [at.cumsum, at.cumprod, lambda x, axis: LinearRecurrence(axis % 2)(x, x * x)])
@pytest.mark.parametrize("axis", [0, -1])
def test_gradients_agree_with_those_of_jax(f, axis):
    x = at.dmatrix("x")
    cost = (f(x, axis=axis) ** 2).sum()
    given = numbers((3, 5))
    reference = aesara.function([x], at.grad(cost, x), mode="FAST_COMPILE")
    function = function_of([x], cost)
    np.testing.assert_allclose(jax.grad(lambda v: function(v)[0])(given), reference(given), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtypes", [("float64",) * 2, ("int64", "int8"), ("bool",) * 2, ("float32", "complex64")])
def test_convolutions(dtypes, mode):
    a, v = tensor(dtypes[0], 1), tensor(dtypes[1], 1)
    for n, m in [(7, 3), (3, 8), (4, 4), (1, 1), (5, 2), (6, 1)]:
        on_both([a, v], at.convolve(a, v, mode), numbers(n, dtypes[0]), numbers(m, dtypes[1], 1), rtol=1e-6)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_infinity_spreads_as_far_as_it_overlaps(mode):
    a, v = at.dvectors("a", "v")
    given = np.array([1.0, 0.0, np.inf, 2.0, 3.0, 0.0]), np.array([np.inf, 1.0, np.nan])
    for first, second in (given, given[::-1]):
        on_both([a, v], at.convolve(a, v, mode), first, second)


@pytest.mark.parametrize("mode, gradient", [("valid", [0, 1, np.inf]), ("same", [1, np.inf, np.inf])])
def test_gradients_are_made_of_what_overlaps(mode, gradient):
    a, v = at.dvectors("a", "v")
    f = function_of([a, v], at.convolve(a, v, mode).sum())
    np.testing.assert_array_equal(jax.grad(lambda *x: f(*x)[0])(np.ones(3), np.array([np.inf, 1.0, 0.0])), gradient)


def test_convolutions_of_nothing():
    a, v = at.dvectors("a", "v")
    fail_alike(ValueError, [a, v], at.convolve(a, v), np.ones(0), np.ones(2), match="a cannot be empty")
    fail_alike(ValueError, [a, v], at.convolve(a, v), np.ones(3), np.ones(0), match="v cannot be empty")


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("counts", [[2], [0], [1, 0, 3], [0, 0, 0]])
def test_repetitions(axis, counts):
    x, n = at.dmatrix("x"), at.lvector("n")
    on_both([x, n], Repeat(axis)(x, n), numbers((3, 3) if axis is not None else (3, 1)), counts)


def test_repetitions_by_a_number():
    x, n = at.dmatrix("x"), at.lscalar("n")
    results = [Repeat(0)(x, n), Repeat()(x, n), at.repeat(x, n, 1)]
    for shape in [(2, 3), (0, 3), (2, 0)]:
        for count in (3, 0):
            on_both([x, n], results, numbers(shape), count)


def test_repetitions_by_one_number_for_none():
    x, n = at.dmatrix("x"), at.lvector("n")
    on_both([x, n], Repeat(0)(x, n), np.ones((0, 2)), [5])
    on_both([x, n], Repeat(0)(x, n), np.ones((1, 2)), [5])


@pytest.mark.parametrize(
    "counts, message", [([1, -2, 1], "negative"), ([1, 2], "broadcast together with shape"), ([], "broadcast together")]
)
def test_repetitions_that_are_refused(counts, message):
    x, n = at.dvector("x"), at.lvector("n")
    fail_alike(ValueError, [x, n], Repeat(0)(x, n), np.ones(3), counts, match=message)


def test_negative_numbers_of_repetitions():
    x, n = at.dvector("x"), at.lscalar("n")
    fail_alike(ValueError, [x, n], Repeat(0)(x, n), np.ones(3), -1, match="negative")


def test_numbers_of_repetitions_that_are_computed():
    x = at.dvector("x")
    f = aesara.function([x], Repeat(0)(x, x.astype("int64")), mode="JAX")
    with pytest.raises(TypeError, match="The number of repetitions has to be known when XLA compiles"):
        f(np.ones(3))


def test_functions_of_jax():
    x, y = at.dvectors("x", "y")
    f = function_of([x, y], [at.cumsum(x), LinearRecurrence(0)(x, y), at.convolve(x, y), Repeat(0)(x, [1, 2, 0, 3])])
    batches = numbers((5, 4)), numbers((5, 4), seed=1)
    for got, *wanted in zip(jax.jit(jax.vmap(f))(*batches), *(f(*pair) for pair in zip(*batches))):
        np.testing.assert_allclose(got, np.stack(wanted), rtol=1e-13)
