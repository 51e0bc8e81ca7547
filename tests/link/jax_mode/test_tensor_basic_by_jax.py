"""Arrays of given sizes, joins, cuts and diagonals, compiled by JAX."""

import jax
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.link.jax.dispatch.basic import MOST_KNOWN
from aesara.tensor.creation.diagonals import AllocDiag, FillDiagonal, FillDiagonalOffset
from tests.link.jax_mode.matching import fail_alike, function_of, on_both

LONG = MOST_KNOWN + 3


@pytest.mark.parametrize("sizes", [(2, 3), (0, 3), (60, 80)])
def test_sizes_that_are_inputs(sizes):
    n, m, value = at.lscalar("n"), at.iscalar("m"), at.dvector("value")
    results = [at.zeros((n, m)), at.alloc(value, n, m), at.eye(n, m), at.tri(n, m, 1), at.ones((m,), dtype="bool")]
    on_both([n, m, value], results, *sizes, np.arange(sizes[1], dtype="float64"))


@pytest.mark.parametrize("k", [-4, -1, 0, 2, 7])
def test_diagonals_that_are_not_known(k):
    x, offset = at.dmatrix("x"), at.bscalar("offset")
    n, m = x.shape
    wanted = at.eye(n, m, offset, dtype="int32"), at.tri(n, m, offset), at.fill_diagonal_offset(x, 9, offset)
    on_both([x, offset], wanted, np.ones((3, 5)), k)
    f = function_of([x, offset], wanted)
    jax.jit(f)(np.ones((3, 5)), k)


@pytest.mark.parametrize("make", [at.zeros, at.ones, lambda s: at.empty(s), lambda s: at.alloc(1.0, *s)])
def test_negative_sizes_are_refused(make):
    n = at.lscalar("n")
    fail_alike(ValueError, [n], make((n, 2)), -1, match="negative dimensions are not allowed")


def test_negative_sizes_of_matrices():
    n = at.lscalar("n")
    fail_alike(ValueError, [n], at.eye(n, 2), -1, match="negative dimensions are not allowed")
    on_both([n], [at.tri(n, 2), at.tri(3, n)], -1)


def test_empty_arrays_have_their_shape_and_dtype():
    n = at.lscalar("n")
    on_both([n], [at.empty((n, 2), dtype="int8"), at.empty(())], 3, same_values=False)


def test_a_value_that_does_not_broadcast():
    x, n = at.dvector("x"), at.lscalar("n")
    fail_alike(ValueError, [x, n], at.alloc(x, 2, n), np.ones(3), 4)


@pytest.mark.parametrize(
    "bounds", [(0, 5, 1), (5, 0, -2), (3, 3, 1), (5, 0, 1), (-2, 9, 4), (0, LONG, 1), (2 * LONG, -5, -2)]
)
@pytest.mark.parametrize("dtype", ["int64", "int16", "float64", "float16"])
def test_ranges_of_integers(bounds, dtype):
    start, stop, step = at.lscalars("start", "stop", "step")
    on_both([start, stop, step], at.arange(start, stop, step, dtype=dtype), *bounds)


@pytest.mark.parametrize("bounds", [(0.0, 1.0, 0.1), (1.0, -1.0, -0.3), (0.5, 0.5, 1.0), (0.1, LONG * 0.7, 0.7)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_ranges_of_floats(bounds, dtype):
    start, stop, step = at.dscalars("start", "stop", "step")
    on_both([start, stop, step], at.arange(start, stop, step, dtype=dtype), *bounds, rtol=3e-7)


def test_ranges_that_are_refused():
    n, x = at.lscalar("n"), at.dscalar("x")
    fail_alike(ZeroDivisionError, [n], at.arange(0, 5, n), 0)
    fail_alike(ValueError, [x], at.arange(0, 5, x), 0.0)
    fail_alike(OverflowError, [n], at.arange(n, 0, -1, dtype="int8"), LONG)


def test_ranges_beyond_a_dtype():
    n = at.lscalar("n")
    on_both([n], at.arange(n, dtype="int8"), LONG)
    start, stop = at.lscalar("start"), at.scalar("stop", dtype="uint64")
    on_both([start, stop], at.arange(start, stop, 2**51, dtype="uint64"), 2**62, 2**63 + 2**62)


def test_ranges_are_known():
    n = at.lscalar("n")
    on_both([n], at.zeros((at.arange(n).sum(), n)), 4)


def test_long_ranges_and_matrices_are_made_by_xla():
    x = at.dvector("x")
    n = x.shape[0]
    f = function_of([x], [at.arange(n), at.eye(n), at.tri(n), at.zeros((n, n)), AllocDiag()(at.ones((n,)))])
    traced = jax.make_jaxpr(f)(np.ones(LONG))
    assert all(np.size(constant) <= 1 for constant in traced.consts)
    assert str(traced).count("iota") == 7  # the range, and rows and columns of three matrices


def test_positions_in_triangles_of_shapes():
    x = at.dmatrix("x")
    wanted = [*at.tril_indices_from(x, 1), *at.triu_indices_from(x, 1), *at.tril_indices(x.shape[0])]
    on_both([x], wanted, np.ones((30, 40)))


def test_vectors_of_numbers():
    n, x, b = at.lscalar("n"), at.fscalar("x"), at.bscalar("b")
    on_both([n, x, b], [at.stack([n, b]), at.stack([x, n]), at.stack([b, b])], 2**60, 0.5, -3)
    f = function_of([x], at.stack([x, x * 2]).sum())
    assert jax.grad(lambda v: f(v)[0])(np.float32(1)) == 3


@pytest.mark.parametrize("n", [-3, 0, 1, 2, 7, LONG])
def test_bartlett(n):
    length = at.lscalar("length")
    on_both([length], at.bartlett(length), n)


@pytest.mark.parametrize("dtypes", [("int8", "uint64"), ("bool", "float32"), ("float16", "complex64"), ("int64",) * 2])
def test_joins_of_dtypes(dtypes):
    x, y = (at.tensor(dtype=dtype, shape=(None, None)) for dtype in dtypes)
    a, b = (np.arange(6).reshape(2, 3).astype(dtype) for dtype in dtypes)
    on_both([x, y], [at.join(0, x, y), at.join(1, x, y, x), at.join(-1, x, y)], a, b)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_axes_that_are_inputs(axis):
    x, n, sizes = at.dmatrix("x"), at.lscalar("n"), at.lvector("sizes")
    pieces = at.split(x, sizes, 2, axis=n)
    on_both([x, n, sizes], [at.join(n, x, x), *pieces], np.arange(16.0).reshape(4, 4), axis, [1, 3])


def test_joins_that_do_not_fit():
    x, y, n = at.dmatrix("x"), at.dmatrix("y"), at.lscalar("n")
    fail_alike(ValueError, [x, y], at.join(0, x, y), np.ones((2, 3)), np.ones((2, 4)), match="must match exactly")
    fail_alike(IndexError, [x, n], at.join(n, x, x), np.ones((2, 3)), 2, match="Join axis 2 out of bounds")


@pytest.mark.parametrize("sizes", [[2, 3], [0, 5], [5, 0]])
def test_cuts(sizes):
    x, lengths = at.dmatrix("x"), at.lvector("lengths")
    on_both([x, lengths], at.split(x, lengths, 2, axis=1), np.arange(10.0).reshape(2, 5), sizes)
    on_both([x, lengths], at.split(x, lengths, 2, axis=1), np.ones((0, 5)), sizes)


@pytest.mark.parametrize(
    "sizes, message", [([1, 2], "sum up to 3"), ([-1, 6], "cannot be negative"), ([5], "expected 2 sizes")]
)
def test_cuts_that_do_not_fit(sizes, message):
    x, lengths = at.dvector("x"), at.lvector("lengths")
    fail_alike(ValueError, [x, lengths], at.split(x, lengths, 2), np.ones(5), sizes, match=message)


def test_sizes_of_cuts_that_are_computed_from_floats():
    x = at.dvector("x")
    f = aesara.function([x], at.split(x, at.stack([x.sum().astype("int64"), 1]), 2), mode="JAX")
    with pytest.raises(TypeError, match="The sizes of the results of Split"):
        f(np.ones(3))


@pytest.mark.parametrize("offset", [-5, -1, 0, 1, 3, 8])
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex128", "bool"])
def test_diagonals(offset, dtype):
    x, v = at.tensor(dtype=dtype, shape=(None,) * 3), at.tensor(dtype=dtype, shape=(None,) * 2)
    results = [
        at.diagonal(x, offset),
        at.diagonal(x, offset, 2, 0),
        AllocDiag(offset)(v),
        AllocDiag(offset, 0, 2)(v),
        AllocDiag(offset, 2, 1)(v),
    ]
    rng = np.random.default_rng(0)
    on_both([x, v], results, rng.normal(size=(3, 4, 5)).astype(dtype), rng.normal(size=(2, 3)).astype(dtype))
    on_both([x, v], results, np.ones((0, 4, 3), dtype), np.ones((2, 0), dtype))


def test_what_surrounds_a_diagonal_is_zero():
    v = at.dvector("v")
    on_both([v], AllocDiag(1)(v), np.array([np.nan, np.inf, 1.0]))
    f = function_of([v], AllocDiag(1)(v).sum())
    np.testing.assert_array_equal(jax.grad(lambda x: f(x)[0])(np.array([1.0, np.inf, 2.0])), np.ones(3))


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (5, 2), (0, 3), (3, 3, 3)])
def test_filled_diagonals(shape):
    x, value = at.tensor(dtype="float32", shape=(None,) * len(shape)), at.dscalar("value")
    given = np.random.default_rng(0).normal(size=shape).astype("float32")
    on_both([x, value], FillDiagonal()(x, value), given, 0.1)
    f = function_of([x, value], FillDiagonal()(x, value).sum())
    assert jax.grad(lambda v: f(given, v)[0])(0.5) == (min(shape) if 0 not in shape else 0)


def test_a_diagonal_of_unequal_sizes():
    x = at.dtensor3("x")
    fail_alike(ValueError, [x], FillDiagonal()(x, 1), np.ones((2, 3, 2)), match="must be of equal length")


def test_functions_of_jax():
    x = at.dmatrix("x")
    results = [
        at.join(0, x, x),
        at.diagonal(x),
        FillDiagonalOffset()(x, 1, -1),
        at.zeros_like(x),
        *at.split(x, [1, 2], 2),
    ]
    f = function_of([x], results)
    batch = np.random.default_rng(0).normal(size=(4, 3, 3))
    for got, *wanted in zip(jax.jit(jax.vmap(f))(batch), *map(f, batch)):
        np.testing.assert_array_equal(got, np.stack(wanted))
