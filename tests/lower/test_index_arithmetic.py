"""Ops that are index arithmetic: diagonals, conversions of indices, choices, permutations, and arrays from sizes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.expr import walk
from aesara.ir.kernel import For
from aesara.ir.steps import Launch
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag, FillDiagonal, FillDiagonalOffset
from aesara.tensor.creation.eye_tri import Tri
from aesara.tensor.extra_ops import Bartlett, CpuContiguous
from aesara.tensor.indexing.choosing import Choose
from aesara.tensor.indexing.index_conversion import RavelMultiIndex, UnravelIndex
from aesara.tensor.indexing.permuting import PermuteRowElements
from aesara.tensor.indexing.selection import Default

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native

from tests.pairing import pair_in_turn

DTYPES = ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "uint32", "int64"]


def numbers(*shape, dtype="float64"):
    return (np.random.default_rng(len(shape)).normal(size=shape) * 5).astype(dtype)


def indices(low, high, *shape, dtype="int64"):
    return np.random.default_rng(len(shape)).integers(low, high, size=shape).astype(dtype)


# -- diagonals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_diagonals_of_each_dtype(dtype):
    assert_native(ExtractDiag(1), numbers(3, 4, dtype=dtype))
    assert_native(AllocDiag(-1), numbers(3, dtype=dtype))
    assert_native(FillDiagonal(), numbers(3, 4, dtype=dtype), np.ones((), dtype))
    assert_native(FillDiagonalOffset(), numbers(3, 4, dtype=dtype), np.ones((), dtype), np.int64(1))


@pytest.mark.parametrize("offset", [0, 1, -1, 2, -2, 7, -7, 2**31 - 1, 1 - 2**31])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 1), (0, 3), (3, 0), (0, 0)])
def test_extracted_diagonal(shape, offset):
    assert_native(ExtractDiag(offset), numbers(*shape))


@pytest.mark.parametrize("offset", [2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**70, -(2**70)])
def test_diagonals_that_are_further_away_than_numbers_of_64_bits_reach(offset):
    x = at.dmatrix("x")
    assert aesara.function([x], ExtractDiag(offset)(x))(numbers(3, 4)).shape == (0,)


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (-1, 0)])
def test_extracted_diagonals_along_any_axes(axes):
    assert_native(lambda x: ExtractDiag(1, *axes)(x) * 2, numbers(3, 4, 5))
    assert_native(lambda x: ExtractDiag(-1, *axes)(x).sum(axis=0), numbers(3, 4, 5))


def test_products_read_diagonals_in_place():
    assert_native(lambda x: at.dot(ExtractDiag(0, 0, 2)(x), x[0]), numbers(3, 3, 3), ulps=4)


@pytest.mark.parametrize("offset", [0, 2, -3])
@pytest.mark.parametrize("shape", [(0,), (1,), (4,)])
def test_made_diagonal(shape, offset):
    assert_native(AllocDiag(offset), numbers(*shape))
    assert_native(lambda x: at.exp(AllocDiag(offset)(x + 1)), numbers(*shape), ulps=4)


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (2, 1), (2, 3), (3, 1)])
def test_made_diagonals_along_any_axes(axes):
    for shape in ((2, 3, 4), (0, 2, 3), (2, 2, 0)):
        assert_native(AllocDiag(1, *axes), numbers(*shape))


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (1, 1), (0, 3), (3, 0), (3, 3, 3), (2, 2, 2, 2), (0, 0, 0)])
def test_filled_diagonal(shape):
    assert_native(FillDiagonal(), numbers(*shape), np.float64(7))


def test_diagonals_are_filled_in_cubes_only():
    assert_both_raise(FillDiagonal(), numbers(2, 3, 2), np.float64(1))


@pytest.mark.parametrize("offset", [0, 1, -2, 9, -9, 2**63 - 1, 1 - 2**63])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (0, 2), (2, 0)])
def test_filled_diagonal_with_offset(shape, offset):
    assert_native(FillDiagonalOffset(), numbers(*shape), np.float64(-1), np.int64(offset))


def test_gradients_of_diagonals_run_natively():
    for build in (
        lambda x: aesara.grad((ExtractDiag(1)(x) ** 2).sum(), x),
        lambda x: aesara.grad((AllocDiag(-1)(x[0]) ** 2).sum(), x),
        lambda x: aesara.grad((FillDiagonal()(x, 2.0) ** 3).sum(), x),
        lambda x: aesara.grad((FillDiagonalOffset()(x, x[0, 0], 1) ** 2).sum(), x),
    ):
        for shape in ((3, 4), (4, 3), (1, 1)):
            assert_native(build, numbers(*shape), ulps=4)


# -- conversions of indices --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_unravelled_positions(dtype, order):
    for dims in ((24,), (4, 6), (2, 3, 4)):
        for shape in ((), (5,), (2, 3), (0,)):
            positions = indices(0, 24, *shape, dtype=dtype)
            assert_native(lambda i: UnravelIndex(order)(i, np.array(dims)), positions)
            assert_native(lambda i, d: UnravelIndex(order)(i, at.stack([d[k] for k in range(len(dims))])), positions,
                          np.array(dims))  # fmt: skip


@pytest.mark.parametrize("positions", [[24], [-1], [3, 24], [0, -(2**63)], [2**63 - 1]])
def test_positions_to_unravel_are_checked(positions):
    assert_both_raise(lambda i: UnravelIndex()(i, np.array([4, 6])), positions)


def test_positions_in_nothing():
    assert_native(lambda i: UnravelIndex()(i, np.array([0, 3])), np.zeros(0, "int64"))
    assert_both_raise(lambda i: UnravelIndex()(i, np.array([0, 3])), [0])


def sizes(d, count):
    """A vector whose length is known, with the entries of `d`."""
    return at.stack([d[k] for k in range(count)])


@pytest.mark.parametrize("dims", [(-1, 3), (3, -1), (2**40, 2**40), (2**62, 2)])
def test_sizes_that_no_array_has(dims):
    assert_both_raise(lambda i, d: UnravelIndex()(i, sizes(d, 2)), [0], np.array(dims))
    assert_both_raise(lambda i, d: RavelMultiIndex()(i, i, sizes(d, 2)), [0], np.array(dims))


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip", ("wrap", "clip")])
def test_ravelled_positions(mode, order):
    far = mode != "raise"
    for dtype in INTEGERS:
        low = -20 if far and dtype[0] == "i" else 0
        i, j = indices(low, 20 if far else 4, 6, dtype=dtype), indices(low, 20 if far else 5, 6, dtype=dtype)
        assert_native(lambda i, j, d: RavelMultiIndex(mode, order)(i, j, sizes(d, 2)), i, j, np.array([4, 5]))
        assert_native(lambda i, j: RavelMultiIndex(mode, order)(i, j, np.array([4, 5])), i, j)
        assert_native(lambda i, j: RavelMultiIndex(mode, order)(i, j, np.array([4, 5])), i[:0], j[:0])
        assert_native(lambda i, j: RavelMultiIndex(mode, order)(i, j, np.array([4, 5])), i[0], j.reshape(2, 3))


def test_ravelled_positions_broadcast():
    build = lambda i, j, k: RavelMultiIndex()(i, j, k, np.array([4, 5, 6]))
    assert_native(build, indices(0, 4, 3, 1), indices(0, 5, 2), np.int64(3))
    assert_native(build, indices(0, 4, 1), indices(0, 5, 1), indices(0, 6, 1))
    assert_native(build, indices(0, 4, 1), indices(0, 5, 0), indices(0, 6, 1))
    assert_both_raise(build, indices(0, 4, 3), indices(0, 5, 2), indices(0, 6, 1))


@pytest.mark.parametrize("position", [(4, 0), (0, 5), (-1, 0), (0, -1), (-(2**63), 0)])
def test_positions_to_ravel_are_checked(position):
    assert_both_raise(lambda i, j: RavelMultiIndex()(i, j, np.array([4, 5])), *np.array(position)[:, None])


def test_positions_that_nothing_takes_are_not_checked():
    build = lambda i, j: RavelMultiIndex()(i, j, np.array([4, 5]))
    assert_native(build, np.zeros((3, 0), "int64"), np.array([9]))
    assert_native(build, np.int64(-1), np.zeros(0, "int64"))
    for inverse in (0, 1):
        assert_native(lambda x, y: PermuteRowElements()(x, y, inverse), numbers(0, 3), np.array([3, 0, 3]))


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_no_position_lies_in_nothing(mode):
    build = lambda i, j, d: RavelMultiIndex(mode)(i, j, sizes(d, 2))
    none = np.zeros(0, "int64")
    assert_native(build, none, none, np.array([0, 3]))
    assert_both_raise(build, [0], [0], np.array([0, 3]))


def test_ravelling_needs_a_size_and_a_mode_for_each_position():
    assert_both_raise(lambda i, d: RavelMultiIndex()(i, i, d), [0], np.array([3]))
    assert_both_raise(lambda i: RavelMultiIndex(("wrap",))(i, i, np.array([3, 3])), [0])


# -- choices -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_choices(dtype, mode):
    far = mode != "raise" and dtype != "bool"
    for shape, rest in (((4,), (4,)), ((3, 4), (4,)), ((), (2, 3)), ((1, 4), (3, 1)), ((3,), ()), ((0,), (1,))):
        low = -20 if far and dtype[0] == "i" else 0
        chosen = indices(low, 20 if far else 2, *shape, dtype=dtype)
        assert_native(Choose(mode), chosen, numbers(3, *rest))


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices_of_each_dtype(dtype):
    assert_native(Choose("raise"), [0, 2, 1], numbers(3, 3, dtype=dtype))


@pytest.mark.parametrize("chosen", [[3], [-1], [0, 3], [-(2**63)]])
def test_choices_are_checked(chosen):
    assert_both_raise(Choose("raise"), chosen, numbers(3, 1))


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_no_choices(mode):
    assert_native(Choose(mode), np.zeros(0, "int64"), numbers(0, 0))
    assert_both_raise(Choose(mode), [0], numbers(0, 1))


def test_choices_must_fit():
    assert_both_raise(Choose("wrap"), [0, 1], numbers(3, 3))


def test_a_tensor_is_never_replaced_by_the_default():
    assert_native(lambda x, y: Default()(x, y) + 1, numbers(3), numbers(3))


# -- permutations ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("dtype, inverse", pair_in_turn(DTYPES, [0, 1]))
def test_permuted_rows(dtype, inverse):
    rng = np.random.default_rng(0)
    one = rng.permutation(5)
    many = np.array([rng.permutation(5) for _ in range(3)])
    for x, order in (
        (numbers(5, dtype=dtype), one), (numbers(3, 5, dtype=dtype), one), (numbers(5, dtype=dtype), many),
        (numbers(3, 5, dtype=dtype), many.astype("int8")), (numbers(0, dtype=dtype), one[:0]),
        (numbers(2, 1, 5, dtype=dtype), many), (numbers(1, dtype=dtype), one),
    ):  # fmt: skip
        assert_native(lambda x, y: PermuteRowElements()(x, y, inverse), x, order)
        assert_native(PermuteRowElements(), x, order, np.int8(inverse))


def test_of_entries_put_to_one_place_the_last_stays():
    """A loop that puts entries to places is in order, since several may be put to one place."""
    x, order = at.dvector("x"), at.lvector("order")
    f = aesara.function([x, order], PermuteRowElements()(x, order, 1))
    np.testing.assert_array_equal(f(np.arange(1.0, 5.0), [0, 2, 0, 2]), [3.0, 0.0, 4.0, 0.0])
    last = f._native.program.steps[-1]
    assert isinstance(last, Launch)
    loops = [s for s in last.kernel.body if isinstance(s, For)]
    puts = [loop for loop in loops if any(e.op == "load" for e in walk([loop.body[-1].offset]))]
    assert [loop.parallel for loop in puts] == [False]


def test_permutations_may_count_from_the_end():
    for inverse in (0, 1, False, True):
        assert_native(lambda x, y: PermuteRowElements()(x, y, inverse), numbers(3), [-1, 0, -2])


@pytest.mark.parametrize("order", [[0, 3, 1], [0, -4, 1]])
@pytest.mark.parametrize("inverse", [0, 1])
def test_permutations_are_checked(order, inverse):
    assert_both_raise(lambda x, y: PermuteRowElements()(x, y, inverse), numbers(3), order)
    assert_both_raise(PermuteRowElements(), numbers(3), order, np.int8(inverse))


def test_permutations_must_fit():
    assert_both_raise(lambda x, y: PermuteRowElements()(x, y, 0), numbers(2, 3), indices(0, 3, 3, 3))


# -- arrays from sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shift", [0, 1, -2, 100, -100])
def test_triangular_matrices(shift, dtype):
    for rows, columns in ((3, 4), (4, 3), (0, 2), (2, 0), (-1, 2)):
        values = [np.int64(n) for n in (rows, columns, shift)]
        assert_native(Tri(dtype), *values, static=[False])


def test_lower_and_upper_parts():
    x = numbers(3, 4)
    x[0, 2] = np.nan
    assert_native(lambda x: [at.tril(x), at.triu(x, 1), at.tril(x, -1)], x)
    assert_native(lambda x, k: [at.tril(x, k), at.triu(x, k)], x, np.int64(1))


@pytest.mark.parametrize("count", [-3, 0, 1, 2, 3, 8, 51])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8"])
def test_bartlett_windows(count, dtype):
    if count >= 0 or dtype != "uint8":
        assert_native(Bartlett(), np.array(count, dtype))
        assert_native(lambda n: Bartlett()(count) * n, np.int64(2))


@pytest.mark.parametrize("shape", [(3,), (1,)])
def test_broadcast_to(shape):
    assert_native(lambda x, n, m: at.broadcast_to(x, (n, m)), numbers(*shape), np.int64(2), np.int64(3), static=[False])
    assert_native(lambda x: at.broadcast_to(x, (2, 3)), numbers(*shape))


def test_broadcast_to_nothing():
    for shape in ((1,), (1, 1), ()):
        assert_native(lambda x, n: at.broadcast_to(x, (2, n)), numbers(*shape), np.int64(0), static=[False])


def test_broadcast_to_is_checked():
    build = lambda x, n: at.broadcast_to(x, (2, n))
    assert_both_raise(build, numbers(3), np.int64(4))
    assert_both_raise(build, numbers(3), np.int64(1))
    assert_both_raise(build, numbers(1), np.int64(-1))


def test_contiguous_memory_is_what_native_code_works_on():
    assert_native(lambda x: CpuContiguous()(x.T), numbers(3, 4))
