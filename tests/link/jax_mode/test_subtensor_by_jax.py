"""Reading and writing by index, compiled by JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.fg import FunctionGraph
from aesara.link.jax.dispatch import jax_funcify
from aesara.link.jax.dispatch.basic import SizeUnknown
from aesara.link.jax.dispatch.subtensor import _last_of_each
from aesara.scalar import int64
from aesara.tensor.indexing.chained_index import ChainedIndex
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor1,
    advanced_inc_subtensor_nodup,
    advanced_subtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from tests.link.jax_mode.matching import fail_alike, flat, function_of, on_both

X = np.arange(30.0).reshape(5, 6) - 7.5
#: as the graph was written
AS_WRITTEN = Mode("jax", None)


def alike(inputs, outputs, *values):
    """Check that JAX gives the bits of the reference, whether the graph is rewritten or not."""
    wanted = on_both(inputs, outputs, *values, rtol=0)
    results = aesara.function(inputs, outputs, mode=AS_WRITTEN, on_unused_input="ignore")(*values)
    for want, got in zip(wanted, flat(results), strict=True):
        got = np.asarray(got)
        assert got.dtype == want.dtype and got.shape == want.shape
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["float64", "float16", "complex64", "bool", "int8", "uint64"])
def test_dtypes(dtype):
    x = at.tensor(dtype, (None, None))
    i = at.lscalar("i")
    reads = [x[1:4, ::-2], x[i], x[[0, 3, -1]], x[i, [2, 2]]]
    writes = [
        at.set_subtensor(x[1:3], x[3:5]),
        at.inc_subtensor(x[::2], x[:3]),
        at.inc_subtensor(x[i], x[0]),
        at.inc_subtensor(x[[1, 1, i]], x[:3]),
        at.set_subtensor(x[[1, 1, i]], x[:3]),
    ]
    values = np.random.default_rng(0).integers(0, 100, size=(5, 6)).astype(dtype)
    alike([x, i], reads + writes, values, -2)


def test_what_is_written_is_cast_as_by_numpy():
    x, y = at.lvector("x"), at.dvector("y")
    alike([x, y], at.set_subtensor(x[1:3], y), np.arange(4), np.array([1.9, -1.9]))
    x, y = at.tensor("int8", (None,)), at.lvector("y")
    alike(
        [x, y],
        [at.inc_subtensor(x[:2], y), at.inc_subtensor(x[[0, 0]], y)],
        np.array([100, 1], "int8"),
        np.array([90, 300]),
    )


def test_signs_of_zeros_and_nan():
    x, y, i = at.dvector("x"), at.dvector("y"), at.lscalar("i")
    values = np.array([-0.0, np.nan, 0.0, -0.0]), np.array([-0.0, np.inf])
    outputs = [x[::-1], at.set_subtensor(x[i:], -0.0), at.inc_subtensor(x[:i], -0.0), at.inc_subtensor(x[[3, 1]], y)]
    alike([x, y, i], outputs, *values, 2)


def test_numbers_that_are_not_known():
    x, i, j = at.dmatrix("x"), at.lscalar("i"), at.bscalar("j")
    outputs = [
        x[i],
        x[i, j],
        x[:, j],
        x[i:, j],
        x[None, i, ..., None],
        x[[0, 1], j],
        x[i, :, None],
        at.set_subtensor(x[i], 1.0),
        at.set_subtensor(x[i], x[0]),
        at.inc_subtensor(x[i, j], 2.0),
        at.set_subtensor(x[:, j], x[0, :5]),
        at.inc_subtensor(x[i, ::-2], x[0, :3]),
    ]
    for k, n in ((0, 0), (4, 5), (-1, -6), (-5, 3)):
        alike([x, i, j], outputs, X, k, n)


def test_numbers_do_not_make_inputs_static():
    x, i = at.dmatrix("x"), at.lscalar("i")
    f = aesara.function([x, i], [x[i], x[[0, 1], i], at.set_subtensor(x[i], 0.0)], mode="JAX")
    for k in range(-5, 5):
        np.testing.assert_array_equal(f(X, k)[0], X[k])
    assert f.vm.jit_fn.compilations == 1 and not f.vm.jit_fn.static


@pytest.mark.parametrize("k", [5, -6, 2**40, -(2**62)])
def test_numbers_out_of_bounds(k):
    x, i, y = at.dmatrix("x"), at.lscalar("i"), at.dvector("y")
    match = "is out of bounds for axis 0 with size 5"
    for result in (
        x[i],
        x[i, 1:2],
        x[i, [0, 1]],
        x[at.stack([i, 0])],
        at.set_subtensor(x[i], y),
        at.inc_subtensor(x[at.stack([0, i])], y),
    ):
        fail_alike(IndexError, [x, i, y], result, X, k, X[0], match=match)
    fail_alike(IndexError, [x, i], x[:, 2:][:, i + 1 if k > 0 else i], X, k)


def test_unsigned_numbers_and_narrow_ones():
    x = at.dvector("x")
    values = np.arange(200.0)
    i = at.scalar("i", dtype="uint64")
    with pytest.raises(IndexError, match="out of bounds"):
        aesara.function([x, i], x[i], mode="JAX")(values, np.uint64(2**64 - 1))
    alike([x, i], [x[:i], x[i:], at.set_subtensor(x[:i], 0.0)], values, np.uint64(2**64 - 1))
    alike([x, i], [x[i], at.set_subtensor(x[i:], 1.0)], values, np.uint64(199))
    j, k = at.bscalar("j"), at.tensor("int8", (None,))
    alike(
        [x, j, k], [x[j], x[k], at.inc_subtensor(x[k], 1.0)], values, np.int8(-128), np.array([-128, 127, -1], "int8")
    )


def test_nothing():
    x, i, k = at.dmatrix("x"), at.lscalar("i"), at.lvector("k")
    empty = np.zeros((0, 3))
    alike([x, k], [x[k], x[::-1], x[5:], at.set_subtensor(x[k], 1.0), x[:, k]], empty, np.zeros(0, "int64"))
    for result in (x[i], x[k], at.set_subtensor(x[i], 0.0), at.inc_subtensor(x[k], 1.0)):
        fail_alike(IndexError, [x, i, k], result, empty, 0, np.array([0]), match="out of bounds")


def test_without_dimensions():
    x = at.dscalar("x")
    alike([x], [x[()], x[None], x[...], at.set_subtensor(x[()], 2.0)], np.array(3.0))


# Slices


@pytest.mark.parametrize("step", [None, 1, 2, -1, -3])
def test_slices_whose_ends_are_inputs(step):
    x, i, j = at.dvector("x"), at.lscalar("i"), at.lscalar("j")
    f = aesara.function([x, i, j], [x[i:j:step], x[i::step], x[:j:step]], mode="JAX")
    values = np.arange(5.0)
    for a in (-7, -5, -1, 0, 2, 4, 5, 9):
        for b in (-9, -2, 0, 3, 5, 8):
            results = f(values, a, b)
            for got, want in zip(results, (values[a:b:step], values[a::step], values[:b:step])):
                np.testing.assert_array_equal(got, want)


def test_steps_that_are_inputs():
    x, s = at.dvector("x"), at.lscalar("s")
    f = aesara.function([x, s], [x[::s], at.set_subtensor(x[::s], 0.0)], mode="JAX")
    values = np.arange(5.0)
    for step in (1, 2, -1, -4, 9):
        written = values.copy()
        written[::step] = 0
        np.testing.assert_array_equal(f(values, step)[0], values[::step])
        np.testing.assert_array_equal(f(values, step)[1], written)
    fail_alike(ValueError, [x, s], x[::s], values, 0, match="zero")


def test_slices_of_known_length():
    x, i = at.dmatrix("x"), at.lscalar("i")
    parts = [
        x[i * 2 : (i + 1) * 2],
        x[i : i + 3, ::-1],
        x[i - 1 : i + 1],
        x[i + 2 : i : -1],
        x[i : i + 5 : 3, i],
        x[i : i - 1],
    ]
    f = aesara.function([x, i], parts, mode="JAX")
    reference = aesara.function([x, i], parts, mode="FAST_COMPILE")
    for k in (1, 1):
        for got, want in zip(f(X, k), reference(X, k)):
            np.testing.assert_array_equal(got, want)
    assert f.vm.jit_fn.compilations == 1
    for k in range(-5, 5):
        for got, want in zip(f(X, k), reference(X, k)):
            np.testing.assert_array_equal(got, want)


def test_batches_are_compiled_once():
    data = aesara.shared(np.arange(22.0).reshape(11, 2))
    i = at.lscalar("i")
    f = aesara.function([i], (data[i * 2 : (i + 1) * 2] ** 2).sum(), mode="JAX")
    values = data.get_value()
    for k in range(5):
        assert f(k) == (values[2 * k : 2 * k + 2] ** 2).sum()
    assert f.vm.jit_fn.compilations == 1
    # The last one is smaller: it is compiled on its own, and the others are not affected.
    assert f(5) == (values[10:] ** 2).sum() and f(6) == 0
    assert f.vm.jit_fn.compilations == 3
    assert f(3) == (values[6:8] ** 2).sum() and not f.vm.jit_fn.static


def test_sums_that_overflow():
    x, i = at.dvector("x"), at.bscalar("i")
    alike([x, i], x[i : i + np.int8(3)], np.arange(200.0), np.int8(126))


def test_a_smaller_part_than_expected_updates_once():
    total = aesara.shared(np.zeros(3))
    x, i = at.dvector("x"), at.lscalar("i")
    f = aesara.function([x, i], x[i : i + 2], updates={total: at.inc_subtensor(total[i : i + 2], 1.0)}, mode="JAX")
    assert f(np.arange(3.0), 0).shape == (2,) and f(np.arange(3.0), 2).shape == (1,)
    np.testing.assert_array_equal(total.get_value(), [1, 1, 1])


def test_slices_in_loops():
    x = at.dvector("x")
    windows, _ = aesara.scan(lambda t: x[t : t + 3].sum(), sequences=at.arange(x.shape[0] - 2))
    alike([x], windows, np.arange(6.0))
    beyond, _ = aesara.scan(lambda t: x[t : t + 3].sum(), sequences=at.arange(x.shape[0]))
    f = aesara.function([x], beyond, mode="JAX")
    with pytest.raises(TypeError, match="The length of a slice has to be known"):
        f(np.arange(6.0))


def test_writing_to_slices_needs_no_sizes():
    x, y, i, j = at.dmatrix("x"), at.dmatrix("y"), at.lscalar("i"), at.lscalar("j")
    numbers = [
        at.set_subtensor(x[:i], 0.0),
        at.inc_subtensor(x[i:j], x[0]),
        at.set_subtensor(x[i:j:2, 1], 1.0),
        at.inc_subtensor(x[i:j:-2, ::-1], 1.0),
        at.set_subtensor(x[1, i:j], -1.0),
        at.set_subtensor(x[i:, j:], 3.0),
        at.set_subtensor(x[i:, None, j:], 3.0),
    ]
    f = aesara.function([x, i, j], numbers, mode="JAX")
    reference = aesara.function([x, i, j], numbers, mode="FAST_COMPILE")
    for a in (-8, -2, 0, 3, 9):
        for b in (-9, -1, 0, 4, 7):
            for got, want in zip(f(X, a, b), reference(X, a, b)):
                np.testing.assert_array_equal(got, want)
    assert f.vm.jit_fn.compilations == 1
    rows = [at.set_subtensor(x[i:j], y), at.inc_subtensor(x[i:j:1, ::-1], y), at.set_subtensor(x[i:j, None][:, 0], y)]
    f = aesara.function([x, y, i, j], rows[:2], mode="JAX")
    for a, b in ((0, 2), (1, 3), (-2, 9), (3, 5), (-9, 2)):
        want = X.copy()
        want[a:b] = -X[:2]
        np.testing.assert_array_equal(f(X, -X[:2], a, b)[0], want)
        want = X.copy()
        want[a:b, ::-1] += -X[:2]
        np.testing.assert_array_equal(f(X, -X[:2], a, b)[1], want)
    assert f.vm.jit_fn.compilations == 1
    for result in rows:
        fail_alike(ValueError, [x, y, i, j], result, X, X[:2], 1, 4)
        fail_alike(ValueError, [x, y, i, j], result, X, X[:2], 4, 9)
    alike([x, y, i, j], rows[0], X, X[:0], 3, 3)
    alike([x, y, i, j], at.set_subtensor(x[i:j:-2], y), X, X[:2], 4, 0)


def test_values_that_do_not_fit():
    x, y, i = at.dmatrix("x"), at.dmatrix("y"), at.lscalar("i")
    for result in (at.set_subtensor(x[1:3], y), at.inc_subtensor(x[[0, 1]], y), at.set_subtensor(x[[0, i]], y)):
        fail_alike(ValueError, [x, y, i], result, X, np.ones((3, 6)), 1)
        fail_alike(ValueError, [x, y, i], result, X, np.ones((2, 5)), 1)
        alike([x, y, i], result, X, np.ones((1, 6)), 1)
    op = IncSubtensor([int64], set_instead_of_inc=True)
    alike([x, y], op(x, y, 1), X, np.ones((1, 6)))
    fail_alike(ValueError, [x, y], op(x, y, 1), X, np.ones((2, 6)))
    fail_alike(ValueError, [x, y], IncSubtensor([int64])(x, y, 1), X, np.ones((1, 6)))


# Arrays of integers


def test_positions_that_are_repeated():
    x, y, k = at.dmatrix("x"), at.dmatrix("y"), at.lvector("k")
    given = np.array([3, 1, 3, -2, 0, 1])
    values = np.random.default_rng(1).normal(size=(6, 6))
    outputs = []
    for index in (k, given):
        outputs += [
            at.set_subtensor(x[index], y),
            at.inc_subtensor(x[index], y),
            at.set_subtensor(x[index, index], y[0]),
            at.set_subtensor(x[:, index], y[:5]),
            at.set_subtensor(x[index, 1:3], y[:, :2]),
            at.set_subtensor(x[index[:, None], index], y),
            at.inc_subtensor(x[index[:, None], [[0, 1]]], y[:, :2]),
            at.set_subtensor(x[index], 2.0),
            AdvancedIncSubtensor1(set_instead_of_inc=True)(x, y, index),
            advanced_inc_subtensor_nodup(x, y, index),
            advanced_inc_subtensor_nodup(x, y[0], index),
            advanced_subtensor1(x, index),
        ]
    alike([x, y, k], outputs, X, values, given)


def test_no_order_of_writing_matters():
    """All that is written to the same place is the same: devices write in any order."""
    places, values = np.array([3, 1, 3, 0, 1, 3]), np.arange(6.0)
    for index in (places, jnp.asarray(places)):
        found, is_once = jax.jit(lambda y, index=index: _last_of_each((4,), y, [index]))(values)
        np.testing.assert_array_equal(found, [5, 4, 5, 3, 4, 5])
        assert not is_once
    assert _last_of_each((4,), values[:3], [np.array([3, 1, 0])])[1]
    assert _last_of_each((4,), values[:1], [jnp.asarray(places)])[0].shape == (1,)


def test_layouts():
    x, k, i = at.dtensor4("x"), at.lvector("k"), at.lscalar("i")
    values = np.random.default_rng(2).normal(size=(3, 4, 3, 2))
    parts = [
        x[k],
        x[:, k],
        x[k, :, k],
        x[:, k, k],
        x[:, k, :, 0],
        x[0, :, k],
        x[0, k],
        x[i, :, k],
        x[:, i, :, k[:2] % 2],
        x[None, k, None],
        x[k[:, None], 1:, k],
        x[..., k[:2], k[:2, None] % 2],
        x[::2, ::-1, k],
    ]
    written = [op(part, -part) for part in parts for op in (at.set_subtensor, at.inc_subtensor)]
    alike([x, k, i], parts + written, values, np.array([0, 2, 1]), 2)


def test_slices_beside_arrays():
    x, k, i = at.dmatrix("x"), at.lvector("k"), at.lscalar("i")
    outputs = [x[i : i + 2, k], x[k, i:], at.set_subtensor(x[k, i : i + 2], 0.0), at.inc_subtensor(x[i:, k], 1.0)]
    alike([x, k, i], outputs, X, np.array([0, 2, 2]), 3)
    constant = at.constant(X)
    alike([k, i], [constant[k, i:], constant[i:], constant[k, i]], np.array([0, 2]), 3)


def test_positions_out_of_bounds():
    x, k = at.dmatrix("x"), at.lvector("k")
    for wrong in ([5], [0, -6], [2**40, 0]):
        for result in (x[k], x[k, k % 2], at.set_subtensor(x[k], 0.0), at.inc_subtensor(x[k], 1.0)):
            fail_alike(IndexError, [x, k], result, X, np.array(wrong), match="out of bounds for axis 0 with size 5")
    fail_alike(IndexError, [x, k], x[:, k], X, np.array([6]), match="axis 1 with size 6")
    fail_alike(IndexError, [x, k], x[k, at.arange(3)], X, np.array([1, 2]))


def test_an_error_leaves_shared_variables_alone():
    total = aesara.shared(np.zeros(3))
    k = at.lvector("k")
    f = aesara.function([k], [], updates={total: at.inc_subtensor(total[k], 1.0)}, mode="JAX")
    f(np.array([0, 0, 2]))
    with pytest.raises(IndexError):
        f(np.array([0, 3]))
    np.testing.assert_array_equal(total.get_value(), [2, 0, 1])


# Masks


def test_masks_that_are_known():
    x = at.dmatrix("x")
    rows, both = np.array([True, False, True, False, True]), X > 3
    columns = np.arange(6) % 2 == 0
    parts = [x[rows], x[both], x[:, columns], x[rows, 1], x[rows, columns], x[rows, [0, 1, 1]], x[rows, None, columns]]
    writes = [
        op(part, value) for part in parts for op in (at.set_subtensor, at.inc_subtensor) for value in (0.5, part * 2)
    ]
    alike([x], parts + writes, X)
    for flag in (np.array(True), np.array(False)):
        flag = at.constant(flag)
        alike([x], [x[flag], x[:, flag], at.set_subtensor(x[flag], 1.0), at.inc_subtensor(x[:, flag], 2.0)], X)


def test_masks_of_shapes():
    x = at.dmatrix("x")
    mask = at.arange(x.shape[0]) > 2
    alike([x], [x[mask], x[mask.nonzero()], mask.nonzero()[0]], X)


def test_writing_by_masks_needs_no_sizes():
    x, y, rows, columns = at.dmatrix("x"), at.dvector("y"), at.tensor("bool", (None,)), at.tensor("bool", (None,))
    both = at.tensor("bool", (None, None))
    i = at.lscalar("i")
    parts = [x[rows], x[:, columns], x[both], x[i, columns], x[columns[:5], 1], x[1:4][:, columns], x[None, rows]]
    writes = [op(part, value) for part in parts for op in (at.set_subtensor, at.inc_subtensor) for value in (0.5, y[0])]
    exact = [
        at.set_subtensor(x[both], y[: (X > 3).sum()]),
        at.inc_subtensor(x[both], y[: (X > 3).sum()]),
        at.set_subtensor(x[1, columns], y[:3]),
        at.set_subtensor(x[columns[:5], 1], y[:3]),
        at.inc_subtensor(x[rows], y[:12].reshape((2, 6))),
        at.inc_subtensor(x[:, columns], y[:15].reshape((5, 3))),
        at.inc_subtensor(x[i, None, columns], y[:3].reshape((3, 1))),
        advanced_inc_subtensor_nodup(x, y[: (X > 3).sum()], both),
    ]
    values = np.random.default_rng(3).normal(size=30), np.arange(5) % 3 == 1, np.arange(6) % 2 == 0, X > 3
    inputs = [x, y, rows, columns, both, i]
    alike(inputs, writes + exact, X, *values, 2)
    fail_alike(ValueError, [x, y, both], at.set_subtensor(x[both], y), X, values[0][:4], X > 3)
    fail_alike(ValueError, [x, y, both], at.set_subtensor(x[both], y), X, values[0][:0], X > 3)
    alike([x, y, both], at.set_subtensor(x[both], y), X, values[0][:0], X > 99)
    fail_alike(
        IndexError, [x, y, rows], at.set_subtensor(x[rows], y[0]), X, values[0], np.ones(4, bool), match="boolean"
    )
    fail_alike(
        IndexError, [x, y, both], at.inc_subtensor(x[both], y[0]), X, values[0], np.ones((5, 7), bool), match="boolean"
    )
    flag = at.tensor("bool", ())
    for value in (True, False):
        alike([x, flag], [at.set_subtensor(x[flag], 1.0), at.inc_subtensor(x[:, flag], 2.0)], X, np.array(value))


@pytest.mark.parametrize("index", [lambda x: x > 0, lambda x: (x > 0).nonzero()])
def test_reading_by_masks_needs_sizes(index):
    x = at.dvector("x")
    f = aesara.function([x], x[index(x)], mode="JAX")
    with pytest.raises(TypeError, match="The number of the entries that .* depends on values .* computed from x "):
        f(np.arange(3.0))


# Indices of indices


def test_chained_indices():
    x, i, j = at.dvector("x"), at.lscalar("i"), at.lscalar("j")
    f = aesara.function([x, i, j], [x[i:][j], x[:i][::-1][j]], mode="JAX")
    assert any(isinstance(node.op, ChainedIndex) for node in f.maker.fgraph.toposort())
    values = np.arange(6.0)
    for a, b in ((1, 0), (2, -1), (-3, 2), (4, 1), (9, 0), (3, -5)):
        try:
            want = [values[a:][b], values[:a][::-1][b]]
        except IndexError:
            with pytest.raises(IndexError, match="out of bounds"):
                f(values, a, b)
        else:
            assert [float(r) for r in f(values, a, b)] == want
    assert f.vm.jit_fn.compilations == 1
    alike([x, i, j], [x[i:][:j], x[i:][:j][::-1], at.set_subtensor(x[i:][:j], 0.0)], values, 1, 3)


# As functions of JAX


def test_what_jax_does_with_them():
    x, y, k, i = at.dmatrix("x"), at.dvector("y"), at.lvector("k"), at.lscalar("i")
    written = at.inc_subtensor(at.set_subtensor(x[k, 1:3], y[:2])[i], y)
    results = [written, x[k] * y, x[i, 2]]
    loss = sum((result**2).sum() for result in results)
    values = X, np.arange(6.0), np.array([1, 3]), 2
    gradients = aesara.function([x, y, k, i], at.grad(loss, [x, y]), mode="FAST_COMPILE")(*values)
    parts = function_of([x, y, k, i], results)

    def f(*arguments):
        return [sum((result**2).sum() for result in parts(*arguments))]

    for transformed in (lambda g: g, jax.jit):
        found = transformed(jax.grad(lambda *args: f(*args)[0], argnums=(0, 1)))(*values)
        for got, want in zip(found, gradients):
            np.testing.assert_allclose(got, want, rtol=1e-12)
    many = jax.vmap(f, in_axes=(0, None, 0, 0))(
        np.stack([X, -X]), values[1], np.array([[1, 3], [0, 0]]), np.array([2, -1])
    )[0]
    alone = aesara.function([x, y, k, i], loss, mode="FAST_COMPILE")
    np.testing.assert_allclose(many, [alone(*values), alone(-X, values[1], np.array([0, 0]), -1)], rtol=1e-12)


def test_gradient_of_repeated_positions():
    x, y, k = at.dvector("x"), at.dvector("y"), at.lvector("k")
    f = function_of([x, y, k], at.set_subtensor(x[k], y) * [1.0, 2.0, 3.0])
    slopes = jax.grad(lambda *args: f(*args)[0].sum(), argnums=(0, 1))(np.zeros(3), np.zeros(3), np.array([2, 0, 2]))
    np.testing.assert_array_equal(slopes[0], [0, 2, 0])
    np.testing.assert_array_equal(slopes[1], [0, 1, 3])


def test_bounds_where_nothing_is_checked():
    x, k, i = at.dvector("x"), at.lvector("k"), at.lscalar("i")
    f = jax.jit(function_of([x, k, i], [x[k], x[i], at.set_subtensor(x[k], 9.0)]))
    read, one, written = f(np.arange(3.0), np.array([-1, 3]), -4)
    np.testing.assert_array_equal(read, [2, np.nan])
    assert np.isnan(one)
    np.testing.assert_array_equal(written, [0, 1, 9])
    # Without jit the values are there, and so are the errors.
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        function_of([x, k], x[k])(np.arange(3.0), np.array([-1, 3]))
    part = function_of([x, i], x[i : i + 2])
    np.testing.assert_array_equal(part(np.arange(3.0), 2)[0], [2.0])
    with pytest.raises(SizeUnknown):
        jax.jit(part)(np.arange(3.0), 2)


def test_masks_are_known_without_jit():
    x = at.dvector("x")
    f = function_of([x], [x[x > 1], (x > 1).nonzero()[0], x[(x > 1).nonzero()]])
    for got, want in zip(f(np.arange(4.0)), ([2.0, 3.0], [2, 3], [2.0, 3.0])):
        np.testing.assert_array_equal(got, want)


def test_slices_become_slices():
    x, i = at.dmatrix("x"), at.lscalar("i")
    graph = jax_funcify(FunctionGraph([x], [x[1:4, ::-2], x[0], x[-1, 2]], clone=True))
    operations = {str(e.primitive) for e in jax.make_jaxpr(graph)(X).eqns}
    assert operations <= {"slice", "rev", "squeeze"}
    f = aesara.function([x, i], x[i : i + 2], mode="JAX")
    f(X, 0)
    graph = f.vm.jit_fn.graph
    f.vm.jit_fn.checks.traced = True
    traced = str(
        jax.make_jaxpr(lambda *a: jax.experimental.checkify.checkify(graph.run)(a)[1])(jnp.asarray(X), jnp.asarray(0))
    )
    assert "dynamic_slice" in traced and "gather" not in traced


# -- values that do not fit into parts without entries ---------------------------------------------------------------

_K, _I, _M, _P = at.lscalar("k"), at.lvector("i"), at.dmatrix("x"), at.tensor("bool", (None,), name="mask")
#: an index of a matrix of shape (2, 3), further arguments and their values; no part has entries
WITHOUT_ENTRIES = {
    "columns": ((slice(None), slice(3, None)), [], []),
    "rows": ((slice(2, None),), [], []),
    "backwards": ((slice(None), slice(2, 2, -1)), [], []),
    "columns from k": ((slice(None), slice(_K, None)), [_K], [3]),
    "two rows from k": ((slice(_K, _K + 2),), [_K], [5]),
    "a row": ((0, slice(3, None)), [], []),
    "positions": ((_I,), [_I], [np.zeros(0, int)]),
    "positions of columns": ((slice(None), _I), [_I], [np.zeros(0, int)]),
    "known positions": ((np.zeros(0, int),), [], []),
    "rows and no columns": ((_I, slice(3, None)), [_I], [np.array([0, 1])]),
    "mask": ((_P,), [_P], [np.array([False, False])]),
    "mask and no columns": ((_P, slice(3, None)), [_P], [np.array([True, True])]),
    "known mask": ((np.array([False, False]),), [], []),
}
SHAPES_OF_VALUES = [(), (1,), (3,), (0,), (2,), (2, 3), (2, 0), (2, 1), (0, 3), (0, 0), (1, 3), (4, 2), (3, 0), (0, 5)]


@pytest.mark.parametrize("is_set", [False, True])
@pytest.mark.parametrize("name", WITHOUT_ENTRIES)
def test_values_for_parts_without_entries_fit_as_in_the_reference(name, is_set):
    index, inputs, arguments = WITHOUT_ENTRIES[name]
    n_refused = 0
    for shape in SHAPES_OF_VALUES:
        part = _M[index]
        if len(shape) > part.type.ndim:
            continue
        y = at.tensor("float64", shape=[1 if n == 1 else None for n in shape])
        try:
            changed = at.set_subtensor(part, y) if is_set else at.inc_subtensor(part, y)
        except ValueError:  # it is known not to fit
            continue
        values = [np.arange(6.0).reshape(2, 3), np.ones(shape), *arguments]
        try:
            aesara.function([_M, y, *inputs], changed, mode="FAST_COMPILE")(*values)
        except ValueError:
            n_refused += 1
            fail_alike(ValueError, [_M, y, *inputs], changed, *values)
        else:
            on_both([_M, y, *inputs], changed, *values)
    assert n_refused >= 2
