"""Products of small matrices: the routine for vectors of any width, and in compiled functions."""

import ctypes
import functools
import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.link import guards
from aesara.link.llvm.jit import load_routines
from aesara.link.llvm.runtime.one_thread import ROUTINES
from aesara.link.llvm.runtime.products import SMALL, products_library
from aesara.link.llvm.target import current_target

NUMBERS = {"float64": ctypes.c_double, "float32": ctypes.c_float}
TOLERANCE = {"float64": 1e-13, "float32": 2e-5}
EDGES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33)


@functools.cache
def routine(dtype, width):
    """Return the routine, without its shortcuts, as ``f(a, b, c, alpha, beta)``."""
    text = products_library(dtype, width, (2**40, 2**40))
    (address,) = load_routines(text, [f"matmul.{dtype}"], None, 1, current_target(), ROUTINES).values()
    size, pointer, number = ctypes.c_int64, ctypes.c_void_p, NUMBERS[dtype]
    matrix = (pointer, size, size)
    kinds = (pointer, pointer, size, size, size, *matrix, *matrix, pointer, size, number, number)
    function = ctypes.CFUNCTYPE(ctypes.c_bool, *kinds)(address)

    def product(a, b, c, alpha=1.0, beta=0.0):
        operands = [(x.ctypes.data, *(s // x.itemsize for s in x.strides)) for x in (a, b)]
        sizes = (*a.shape, b.shape[1])
        assert not function(None, None, *sizes, *operands[0], *operands[1], c.ctypes.data, c.shape[1], alpha, beta)

    return product


def matrix(rng, rows, columns, dtype, layout):
    """Return random numbers by rows, by columns, or as a part of a larger matrix."""
    if layout == "columns":
        return np.ascontiguousarray(rng.normal(size=(columns, rows)).astype(dtype)).T
    more = 3 if layout == "part" else 0
    return rng.normal(size=(rows, columns + more)).astype(dtype)[:, : columns or None][:, :columns]


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_sizes_and_layouts(dtype, width):
    rng = np.random.default_rng(0)
    product = routine(dtype, width)
    layouts = ("rows", "columns", "part")
    for left, right in itertools.product(layouts, layouts):
        for _ in range(60):
            m, k, n = (int(size) for size in rng.choice(EDGES, 3))
            a, b = matrix(rng, m, k, dtype, left), matrix(rng, k, n, dtype, right)
            alpha, beta = float(rng.choice([1.0, -2.5])), float(rng.integers(2))
            around = rng.normal(size=(m + 2, n)).astype(dtype)  # a row before and after that nobody writes to
            before = around.copy()
            if not beta:
                around[1:-1] = np.nan
            product(a, b, around[1:-1], alpha, beta)
            wide = [x.astype("float64") for x in (a, b, before)]
            expected = alpha * (wide[0] @ wide[1]) + beta * wide[2][1:-1]
            np.testing.assert_allclose(around[1:-1], expected, TOLERANCE[dtype], 20 * TOLERANCE[dtype])
            np.testing.assert_array_equal(around[[0, -1]], before[[0, -1]])


@pytest.mark.parametrize("width", [16, 64])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_equal_rows_and_columns_have_equal_results(dtype, width):
    rng = np.random.default_rng(1)
    row, column = rng.normal(size=(2, 37)).astype(dtype)
    for m, n in [(1, 23), (23, 1), (7, 41)]:
        a, b = np.tile(row, (m, 1)), np.tile(column[:, None], (1, n))
        for left, right in itertools.product((a, np.asfortranarray(a)), (b, np.asfortranarray(b))):
            c = np.empty((m, n), dtype)
            routine(dtype, width)(left, right, c)
            assert (c == c[0, 0]).all()


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_numbers_stay_in_their_rows_and_columns(dtype, bad):
    rng = np.random.default_rng(2)
    for (m, k, n), turned in itertools.product([(5, 11, 9), (1, 11, 9), (5, 11, 1), (20, 3, 20)], [False, True]):
        a, b = rng.uniform(1, 2, (m, k)).astype(dtype), rng.uniform(1, 2, (k, n)).astype(dtype)
        a[m - 1, 2] = bad
        b = np.asfortranarray(b) if turned else b
        c = np.empty((m, n), dtype)
        routine(dtype, 64)(a, b, c)
        np.testing.assert_array_equal(np.isfinite(c), np.isfinite(a).all(1)[:, None] & np.ones(n, bool))
        np.testing.assert_allclose(c, a @ b, TOLERANCE[dtype])


def test_negative_zero_is_kept():
    a, b, c = -np.ones((3, 2)), np.zeros((2, 3)), np.full((3, 3), -0.0)
    routine("float64", 64)(a, b, c, 1.0, 1.0)
    assert not np.signbit(c).any()  # -0 + 0
    c[:] = -0.0
    routine("float64", 64)(a, b, c, -1.0, 1.0)
    assert np.signbit(c).all()  # -0 + -1 * 0


x, y, z = at.dmatrix("x"), at.dmatrix("y"), at.dmatrix("z")
u, v = at.dvector("u"), at.dvector("v")


@functools.cache
def compiled():
    results = [x @ y, x.T @ y.T, x @ u, u @ y, x[:, ::2] @ y[::2], x[1:].T @ y.T[1:], x @ y[:, 0], at.dot(u, u)]
    return aesara.function([x, y, u], results)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 17, 64, 65, 70])
def test_functions_on_either_side_of_the_limit(n):
    assert SMALL[0] == 64**3
    rng = np.random.default_rng(n)
    a, b, c = rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.normal(size=n)
    expected = [a @ b, a.T @ b.T, a @ c, c @ b, a[:, ::2] @ b[::2], a[1:].T @ b.T[1:], a @ b[:, 0], c @ c]
    for value, right in zip(compiled()(a, b, c), expected, strict=True):
        np.testing.assert_allclose(value, right, 1e-11, 1e-11)


@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0), (1, 0, 1)])
def test_nothing_to_multiply(shape):
    m, k, n = shape
    f = aesara.function([x, y, z], [x @ y, z + x @ y, z - 2 * (y.T @ x.T).T])
    a, b, c = np.ones((m, k)), np.ones((k, n)), np.arange(m * n, dtype="float64").reshape(m, n)
    for value, right in zip(f(a, b, c), [a @ b, c + a @ b, c - 2 * (a @ b)], strict=True):
        np.testing.assert_array_equal(value, right)


@pytest.mark.parametrize("n", [3, 20])
def test_added_to_shared_variables(n):
    rng = np.random.default_rng(n)
    start, a, b, c = rng.normal(size=(4, n, n))
    weights, bias = aesara.shared(start.copy()), aesara.shared(start[0].copy())
    f = aesara.function([x, y, u], None, updates=[(weights, weights - 0.1 * x.T @ y), (bias, bias + x @ u)])
    f(a, b, c[0])
    f(a, b, c[0])
    np.testing.assert_allclose(weights.get_value(), start - 0.2 * a.T @ b, 1e-12, 1e-12)
    np.testing.assert_allclose(bias.get_value(), start[0] + 2 * a @ c[0], 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(70, 70), (200, 33), (33, 200), (64, 100), (129, 97), (1, 2500), (2500, 1)])
def test_products_of_a_matrix_and_its_transpose(shape, dtype):
    """In both orders, of a whole matrix and of a part; the result is bitwise symmetric."""
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    m, size = at.matrix("m", dtype=dtype), max(shape)
    parts = [slice(None), slice(1, None), (slice(None), slice(-1)), (slice(-1), slice(2, None))]
    parts = parts if min(shape) > 1 else parts[:1]
    pairs = [pair for p in parts for pair in ((m[p].T, m[p]), (m[p], m[p].T))]
    function = aesara.function([m], [at.dot(a, b) for a, b in pairs])
    given = [x[p].astype("float64") for p in parts]
    expected = [product for p in given for product in (p.T @ p, p @ p.T)]
    for got, wanted in zip(function(x), expected, strict=True):
        np.testing.assert_allclose(got, wanted, TOLERANCE[dtype] * size, TOLERANCE[dtype] * size)
        np.testing.assert_array_equal(got, got.T)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_other_products_of_one_memory(dtype):
    """The same memory with other strides, other parts of it, and accumulated products."""
    x = np.random.default_rng(0).normal(size=(150, 150)).astype(dtype)
    m, s = at.matrix("m", dtype=dtype), aesara.shared(x.copy())
    outputs = [
        at.dot(m, m),
        at.dot(m.T, m.T),
        at.dot(m[1:], m[:-1].T),
        at.dot(m[1:].T, m[:-1]),
        at.dot(m[:100].T, m[:100, :90]),
        at.dot(m[:75].T, m[::2]),
    ]
    wide = x.astype("float64")
    expected = [
        wide @ wide, wide.T @ wide.T, wide[1:] @ wide[:-1].T, wide[1:].T @ wide[:-1], wide[:100].T @ wide[:100, :90],
        wide[:75].T @ wide[::2],
    ]  # fmt: skip
    function = aesara.function([m], outputs, updates={s: s + 2 * at.dot(m.T, m)})
    for got, wanted in zip(function(x), expected, strict=True):
        np.testing.assert_allclose(got, wanted, TOLERANCE[dtype] * 150, TOLERANCE[dtype] * 150)
    np.testing.assert_allclose(
        s.get_value(), wide + 2 * (wide.T @ wide), TOLERANCE[dtype] * 150, TOLERANCE[dtype] * 150
    )


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("m", "k", "at_once"), [(900, 50, 2_000_000), (1100, 33, 3_000_000), (700, 500, 600_000_000)])
@pytest.mark.main_thread
def test_products_of_a_matrix_and_its_transpose_in_blocks(m, k, at_once, dtype):
    """With checks for signals, only the blocks of one triangle are computed."""
    before = guards.state[3]
    guards.state[3] = at_once
    x, y = np.random.default_rng(0).normal(size=(2, k, m)).astype(dtype)
    a, b = at.matrix("a", dtype=dtype), at.matrix("b", dtype=dtype)
    function = aesara.function([a, b], [at.dot(a.T, a), at.dot(b.T, a), at.dot(a.T, b)])
    wide = [x.astype("float64"), y.astype("float64")]
    try:
        symmetric, *others = function(x, y)
    finally:
        guards.state[3] = before
    np.testing.assert_allclose(symmetric, wide[0].T @ wide[0], TOLERANCE[dtype] * k, TOLERANCE[dtype] * k)
    np.testing.assert_array_equal(symmetric, symmetric.T)
    for got, (p, q) in zip(others, [(wide[1], wide[0]), (wide[0], wide[1])], strict=True):
        np.testing.assert_allclose(got, p.T @ q, TOLERANCE[dtype] * k, TOLERANCE[dtype] * k)
