"""Sorting and searching, compiled by JAX."""

import jax
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.ordering.searching import Unique
from aesara.tensor.ordering.sorting import ArgSortOp, SortOp, TopKOp
from tests.link.jax_mode.matching import fail_alike, function_of, on_both

DTYPES = ["float64", "float16", "int8", "uint64", "bool", "complex64"]


def numbers(shape, dtype="float64", seed=0):
    """Few different ones."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0 if np.dtype(dtype).kind in "ub" else -3, 4, size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-2, 2, size=shape)
    return values.astype(dtype)


def tensor(dtype, ndim):
    return at.tensor(dtype=dtype, shape=(None,) * ndim)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts(dtype, axis):
    x = tensor(dtype, 2)
    results = [at.sort(x, axis), at.argsort(x, axis, kind="stable")]
    on_both([x], results, numbers((5, 30), dtype))
    on_both([x], results, numbers((0, 3), dtype))


@pytest.mark.parametrize("axis", [0, -1])
def test_axes_that_are_inputs(axis):
    x, n = at.dmatrix("x"), at.lscalar("n")
    on_both([x, n], [SortOp("stable")(x, n), ArgSortOp("stable")(x, n)], numbers((4, 5)), axis)


@pytest.mark.parametrize("op", [SortOp("quicksort"), ArgSortOp("stable")], ids=str)
def test_axes_that_there_are_not(op):
    x, n = at.dmatrix("x"), at.lscalar("n")
    for axis in (2, -3):
        fail_alike(np.exceptions.AxisError, [x, n], op(x, n), numbers((4, 5)), axis)


def test_nan_and_zeros_with_signs():
    x = np.array([3.0, np.nan, 0.0, -0.0, -np.inf, np.copysign(np.nan, -1), 0.0, np.inf])
    v = at.dvector("v")
    on_both([v], [at.sort(v), at.argsort(v, kind="stable"), *at.topk_and_argtopk(v, 3), *at.topk_and_argtopk(v, -4)], x)
    z = at.zvector("z")
    both = (x[:, None] + 1j * x).ravel()
    on_both([z], [at.sort(z), at.argsort(z, kind="stable")], both[np.isfinite(both) | np.isnan(both.real)])


@pytest.mark.parametrize("k", [1, 3, -1, -2, 4, -4])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_largest_elements(dtype, axis, k):
    x, n = tensor(dtype, 2), at.bscalar("n")
    results = [TopKOp(axis, idx_dtype="int32", **returned)(x, n) for returned in ({}, {"return_values": False})]
    results = [*results[0], results[1], TopKOp(axis, return_indices=False)(x, n)]
    on_both([x, n], results, numbers((4, 4), dtype), k)


@pytest.mark.parametrize("k", [0, 4, -4])
def test_numbers_of_largest_elements_that_are_refused(k):
    x, n = at.dvector("x"), at.lscalar("n")
    fail_alike(ValueError, [x, n], at.topk(x, n), np.ones(3), k, match="kth cannot be zero or larger")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    "dtypes",
    [("float64", "float32"), ("int64", "float32"), ("int64", "uint64"), ("float16", "int64"), ("complex64",) * 2],
)
def test_searches(dtypes, side):
    x, v = tensor(dtypes[0], 1), tensor(dtypes[1], 2)
    sorted_numbers = np.sort(numbers(9, dtypes[0]))
    for given in (sorted_numbers, sorted_numbers[:0]):
        on_both([x, v], at.searchsorted(x, v, side), given, numbers((3, 4), dtypes[1], 1))
    on_both(
        [x, v], at.searchsorted(x, v[0, 0], side), sorted_numbers, numbers((3, 4), dtypes[1], 1), host={"Subtensor"}
    )


def test_searches_of_large_integers():
    x, v = at.lvector("x"), at.fvector("v")
    given = 2**53 + np.arange(8)
    on_both([x, v], at.searchsorted(x, v), given, np.array([2.0**53, 2.0**54], "float32"))
    on_both([x], at.searchsorted(x, x), given)


def test_searches_for_nan():
    x, v = at.dvectors("x", "v")
    given = np.array([-np.inf, 0.0, np.inf, np.nan, np.nan])
    on_both([x, v], [at.searchsorted(x, v), at.searchsorted(x, v, "right")], given, np.array([np.nan, np.inf, -0.0]))


def test_searches_in_what_another_vector_sorts():
    x, v, sorter = at.dvector("x"), at.dvector("v"), at.lvector("sorter")
    positions = at.searchsorted(x, v, sorter=sorter)
    given = numbers(9)
    on_both([x, v, sorter], positions, given, numbers(5, seed=1), np.argsort(given))
    for wrong in (np.arange(9) + 1, np.arange(9) - 1):
        fail_alike(ValueError, [x, v, sorter], positions, given, given, wrong, match="Sorter index out of range")
    fail_alike(ValueError, [x, v, sorter], positions, given, given, np.arange(8), match="sorter.size must equal a.size")


def test_different_entries():
    n, x = at.lvector("n"), at.dvector("x")
    on_both([n], [*Unique(True, True, True)(n), Unique()(n * 0)], np.array([3, 1, 3, 2]))
    on_both([x], Unique()(at.join(0, x.shape, x.shape * 2)), np.ones(3))
    f = aesara.function([x], Unique()(x), mode="JAX")
    with pytest.raises(TypeError, match="The number of different entries has to be known when XLA compiles"):
        f(np.ones(3))


def test_different_entries_decide_sizes():
    n = at.lvector("n")
    on_both([n], at.zeros((Unique()(n).shape[0], 2)), np.array([3, 1, 3, 2]))


def test_functions_of_jax():
    x, v = at.dmatrix("x"), at.dvector("v")
    results = [at.sort(x, 0), at.argsort(x, 1), *at.topk_and_argtopk(x, 2, axis=0), at.searchsorted(at.sort(v), x)]
    f = function_of([x, v], results)
    batch, vector = np.random.default_rng(0).normal(size=(4, 3, 5)), numbers(6)
    for got, *wanted in zip(jax.jit(jax.vmap(f, (0, None)))(batch, vector), *(f(one, vector) for one in batch)):
        np.testing.assert_array_equal(got, np.stack(wanted))


@pytest.mark.parametrize("f", [at.sort, lambda x: at.topk(x, -3, axis=0), lambda x: at.topk(x, 2)])
def test_gradients_agree_with_those_of_jax(f):
    x = at.dmatrix("x")
    cost = (f(x) ** 2 * np.arange(1, 4)[:, None]).sum()
    given = np.random.default_rng(0).normal(size=(3, 5))
    reference = aesara.function([x], at.grad(cost, x), mode="FAST_COMPILE")
    function = function_of([x], cost)
    np.testing.assert_allclose(jax.grad(lambda v: function(v)[0])(given), reference(given), rtol=1e-13)
