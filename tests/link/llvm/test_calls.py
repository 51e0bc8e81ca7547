"""Calling native functions: arguments, results, shared variables, failures, nested calls."""

import gc
import pickle
import sys

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.link.llvm.callable import _as_plain_array
from tests.closeness import assert_close


def test_scalars_come_as_python_or_numpy_numbers():
    x, n = at.dscalar("x"), at.lscalar("n")
    f = aesara.function([x, n], x * n)
    for value in (2.5, np.float64(2.5), np.array(2.5), np.float32(2.5), 2):
        for count in (3, np.int64(3), np.array(3), np.int8(3)):
            got = f(value, count)
            assert got == float(value) * 3 and got.dtype == np.float64 and isinstance(got, np.ndarray)
    assert f(1.0, -1) == -1.0
    with pytest.raises((TypeError, OverflowError)):
        f(1.0, 2**70)
    with pytest.raises(TypeError):
        f(1.0, 1.5)


def test_integers_for_a_float_are_those_that_are_floats():
    x = at.dscalar("x")
    f = aesara.function([x], x)
    for value in (0, -1, 2**53, 2**53 + 2, -(2**63), 2**63, 2**70, np.int64(2**53 + 2), True):
        assert f(value) == value
    for value in (2**53 + 1, 2**53 + 3, 2**63 - 1, np.int64(2**53 + 1)):
        with pytest.raises(TypeError, match="cannot store accurately"):
            f(value)
    with pytest.raises((TypeError, OverflowError)):
        f(10**400)


def test_strict_inputs_take_no_numbers():
    x, n = at.dscalar("x"), at.lscalar("n")
    f = aesara.function([aesara.In(x, strict=True), n], x * n)
    again = pickle.loads(pickle.dumps(f))
    for function in (f, again):
        assert function(np.array(2.5), 3) == function(np.array(2.5), np.array(3)) == 7.5
        for value in (2.5, np.float64(2.5), 2, np.int64(2)):
            with pytest.raises(TypeError, match="expected an ndarray"):
                function(value, 3)


def test_results_are_fresh_arrays():
    x = at.vector("x")
    s = aesara.shared(np.arange(3.0))
    f = aesara.function([x], [x, s, x, x[::-1], at.as_tensor_variable(np.ones(2))])
    value = np.arange(3.0)
    first, second = f(value), f(value)
    for a in first:
        assert a.flags.owndata and a.flags.writeable
        assert not any(np.may_share_memory(a, b) for b in [*second, value, s.get_value(borrow=True)])
    first[0][:] = 9
    first[4][:] = 9
    np.testing.assert_array_equal(f(value)[0], value)
    np.testing.assert_array_equal(f(value)[4], np.ones(2))


def test_updates_in_place_keep_borrowed_values():
    s = aesara.shared(np.arange(4.0))
    f = aesara.function([], updates=[(s, s + 1)])
    f()
    held = s.get_value(borrow=True)
    address = held.ctypes.data
    f()
    np.testing.assert_array_equal(held, np.arange(4.0) + 1)
    np.testing.assert_array_equal(s.get_value(), np.arange(4.0) + 2)
    del held
    address = s.get_value(borrow=True).ctypes.data
    f()
    assert s.get_value(borrow=True).ctypes.data == address
    np.testing.assert_array_equal(s.get_value(), np.arange(4.0) + 3)


def test_views_of_a_shared_value_are_never_overwritten():
    owner = np.arange(6.0)
    s = aesara.shared(owner, borrow=True)
    f = aesara.function([], updates=[(s, 2 * s)])
    view = owner[1:]
    del owner
    f()
    np.testing.assert_array_equal(view, np.arange(1.0, 6.0))


def test_an_argument_that_is_the_shared_value():
    s = aesara.shared(np.arange(4.0))
    x = at.vector("x")
    f = aesara.function([x], x[::-1].sum() + x[0], updates=[(s, s + x[::-1])])
    assert f(s.get_value(borrow=True)) == 6.0
    np.testing.assert_array_equal(s.get_value(), np.arange(4.0) + np.arange(4.0)[::-1])


def test_swapped_and_crossed_updates():
    a, b = aesara.shared(np.arange(3.0)), aesara.shared(np.arange(3.0) + 10)
    aesara.function([], updates=[(a, b), (b, a)])()
    np.testing.assert_array_equal(a.get_value(), np.arange(3.0) + 10)
    np.testing.assert_array_equal(b.get_value(), np.arange(3.0))
    f = aesara.function([], updates=[(a, a + b), (b, a - b)])
    x, y = a.get_value(), b.get_value()
    for _ in range(3):
        f()
        x, y = x + y, x - y
    np.testing.assert_array_equal(a.get_value(), x)
    np.testing.assert_array_equal(b.get_value(), y)


def test_updates_that_read_other_elements():
    s, t = aesara.shared(np.arange(5.0)), aesara.shared(np.ones((3, 3)))
    f = aesara.function([], s.sum(), updates=[(s, s[::-1] + s), (t, t.T.dot(t) + t[0])])
    want_s, want_t = s.get_value(), t.get_value()
    for _ in range(3):
        assert f() == want_s.sum()
        want_s, want_t = want_s[::-1] + want_s, want_t.T @ want_t + want_t[0]
    np.testing.assert_array_equal(s.get_value(), want_s)
    np.testing.assert_array_equal(t.get_value(), want_t)


def test_an_update_may_change_the_shape():
    s = aesara.shared(np.arange(2.0))
    f = aesara.function([], updates=[(s, at.concatenate([s, s]))])
    f()
    f()
    np.testing.assert_array_equal(s.get_value(), np.tile(np.arange(2.0), 4))


@pytest.mark.parametrize("bad", ["shape", "index", "python"])
def test_a_failed_call_changes_no_shared_variable(bad):
    s, t = aesara.shared(np.arange(3.0)), aesara.shared(np.float64(1.0))
    x, i = at.vector("x"), at.lvector("i")

    @as_op(itypes=[at.dvector], otypes=[at.dvector])
    def refuse(value):
        raise RuntimeError("refused")

    result = {"shape": s + x, "index": x[i], "python": refuse(x)}[bad]
    f = aesara.function([x, i], result, updates=[(s, s * 2), (t, t + s.sum())], on_unused_input="ignore")
    values = {"shape": (np.ones(4), [0]), "index": (np.ones(3), [0, 7]), "python": (np.ones(3), [0])}[bad]
    with pytest.raises({"shape": ValueError, "index": IndexError, "python": RuntimeError}[bad]):
        f(*values)
    np.testing.assert_array_equal(s.get_value(), np.arange(3.0))
    assert t.get_value() == 1.0


def test_errors_name_the_values_and_the_line():
    x, y, i = at.vector("x"), at.vector("y"), at.lvector("i")
    f = aesara.function([x, y], x * y)
    with pytest.raises(ValueError, match=r"(?s)input 0 has size 3.*size 4.*test_calls\.py"):
        f(np.ones(3), np.ones(4))
    g = aesara.function([x, i], x[i])
    with pytest.raises(IndexError, match=r"(?s)index 5.*size 3.*test_calls\.py"):
        g(np.ones(3), np.array([0, 5, -1]))


def test_python_nodes_and_nested_calls():
    x = at.dvector("x")
    inner_result = []

    @as_op(itypes=[at.dvector], otypes=[at.dvector])
    def again(value):
        if len(inner_result) < 3:
            inner_result.append(None)
            return f(value) - 1
        return value.copy()

    f = aesara.function([x], (again(at.exp(x) * 0 + x) + at.exp(x)[::-1]).cumsum())
    value = np.arange(4.0)

    def want(v, depth):
        inner = want(v, depth + 1) - 1 if depth < 3 else v
        return (inner + np.exp(v)[::-1]).cumsum()

    np.testing.assert_allclose(f(value), want(value, 0), rtol=1e-14)
    assert f._native.report.python_nodes


def test_python_nodes_cannot_keep_borrowed_memory():
    kept = []

    @as_op(itypes=[at.dvector], otypes=[at.dvector])
    def keep(value):
        kept.append(value)
        return value

    x = at.dvector("x")
    f = aesara.function([x], keep(x * 2) + 1)
    first = f(np.ones(3))
    f(np.full(3, 5.0))
    np.testing.assert_array_equal(kept[0], np.full(3, 2.0))
    np.testing.assert_array_equal(first, np.full(3, 3.0))


@pytest.mark.slow
def test_calls_leak_no_references():
    x = at.matrix("x")
    s = aesara.shared(np.ones((3, 3)))
    f = aesara.function([x], [x + s, x.sum(), x.dot(s)], updates=[(s, s * 1.5)])
    value, wrong = np.ones((3, 3)), np.ones((2, 2))
    f(value)
    gc.collect()  # what earlier tests have left holds descriptors, too
    before = sys.getrefcount(value), sys.getrefcount(np.dtype("float64"))
    for _ in range(200):
        f(value)
        with pytest.raises(ValueError):
            f(wrong)
    gc.collect()
    after = sys.getrefcount(value), sys.getrefcount(np.dtype("float64"))
    assert after[0] == before[0]
    assert after[1] - before[1] < 100


@pytest.mark.slow
def test_functions_are_collected():
    x = at.vector("x")
    f = aesara.function([x], at.exp(x) + 1)
    entry = f._native.entry
    f(np.ones(3))
    del f
    gc.collect()
    assert_close(entry(np.ones(3)), np.exp(np.ones(3)) + 1)


@pytest.mark.parametrize(
    "arguments",
    [(), (np.ones(2),) * 3, (np.ones((2, 2)), np.ones(2)), (np.ones(2, complex), np.ones(2)), ("a", np.ones(2))],
)
def test_wrong_arguments(arguments):
    x, y = at.vector("x"), at.vector("y")
    f = aesara.function([x, y], x + y)
    with pytest.raises((TypeError, ValueError)):
        f(*arguments)
    np.testing.assert_array_equal(f(np.ones(2), np.ones(2)), 2 * np.ones(2))


def test_losing_precision_is_refused():
    x = at.fvector("x")
    f = aesara.function([x], x * 2)
    with pytest.raises(TypeError, match="float32"):
        f(np.array([0.1, 1e300]))
    assert f(np.array([1, 2], dtype="int8")).dtype == np.float32


def test_large_intermediate_results_are_released():
    x = at.vector("x")
    f = aesara.function([x], at.exp(x).dot(at.exp(2 * x)[::-1]))
    for n in (10, 100_000, 10, 0):
        value = np.linspace(0, 1, n)
        np.testing.assert_allclose(f(value), np.exp(value) @ np.exp(2 * value)[::-1], rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 4, 5), (60, 50, 70), (1, 8, 1), (4, 0, 3), (2, 3, 0)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_are_added_to_the_old_value_in_place(shape, dtype):
    n, k, m = shape
    rng = np.random.default_rng(3)
    start, a, b = (rng.normal(size=s).astype(dtype) for s in ((n, m), (n, k), (k, m)))
    x, y = (at.TensorType(dtype, (None, None))(name) for name in "xy")
    w = aesara.shared(start)
    step = np.asarray(0.5, dtype)
    updates = {
        "sub": w - step * x.dot(y),
        "add": x.dot(y) + w,
        "transposed": w - x.T.T.dot(2 * y) * step,
        "neg": w - x.dot(y),
    }
    factors = {"sub": -0.5, "add": 1.0, "transposed": -1.0, "neg": -1.0}
    for name, update in updates.items():
        w.set_value(start)
        f = aesara.function([x, y], updates=[(w, update)])
        want = start.astype("float64")
        for keep in (False, True, False):
            held = w.get_value(borrow=True) if keep else None
            before = None if held is None else held.copy()
            f(a, b)
            want = want + factors[name] * (a.astype("float64") @ b)
            eps = np.finfo(dtype).eps
            np.testing.assert_allclose(w.get_value(), want, rtol=50 * eps, atol=50 * eps * max(k, 1))
            if held is not None:
                np.testing.assert_array_equal(held, before)
    held = None
    address = w.get_value(borrow=True).ctypes.data
    f(a, b)
    assert w.get_value(borrow=True).ctypes.data == address or w.get_value().size == 0


def test_products_that_read_what_they_replace():
    w = aesara.shared(np.arange(9.0).reshape(3, 3) / 9)
    x = at.matrix("x")
    for update in (w - 0.1 * w.dot(x), w - 0.1 * x.dot(w), w + w.T.dot(w), w + x.dot(x) * w):
        start = w.get_value()
        value = np.eye(3) + 0.5
        want = aesara.function([x], update, mode="FAST_COMPILE", on_unused_input="ignore")(value)
        aesara.function([x], updates=[(w, update)], on_unused_input="ignore")(value)
        np.testing.assert_allclose(w.get_value(), want, rtol=1e-13)
        w.set_value(start)


def test_an_update_waits_until_all_results_have_memory():
    a = aesara.shared(np.zeros(3))
    v, n = at.vector("v"), at.lscalar("n")
    f = aesara.function([v, n], [v * 2 + a.sum() * 0, at.alloc(v[0], n, n)], updates=[(a, a + v)])
    with pytest.raises(MemoryError):
        f(np.ones(3), 10**7)
    np.testing.assert_array_equal(a.get_value(), np.zeros(3))
    f(np.ones(3), 2)
    np.testing.assert_array_equal(a.get_value(), np.ones(3))


def test_an_update_may_know_more_of_its_shape():
    w = aesara.shared(np.zeros((4, 4)))
    aesara.function([], updates=[(w, at.ones((4, 4)))])()
    np.testing.assert_array_equal(w.get_value(), np.ones((4, 4)))


def test_the_same_code_with_another_fallback():
    x = at.dvector("x")
    w = aesara.shared(2.0)
    f = aesara.function([x], w * x, updates=[(w, w + 1)])
    other = f._native.with_fallback(lambda *args, **kwargs: (args, kwargs))
    np.testing.assert_array_equal(other(np.ones(2)), [2.0, 2.0])
    np.testing.assert_array_equal(f(np.ones(2)), [3.0, 3.0])
    assert other([1, 1], y=3) == (([1, 1],), {"y": 3})
    np.testing.assert_array_equal(f([1, 1]), [4.0, 4.0])
    del f
    gc.collect()
    np.testing.assert_array_equal(other(np.ones(2)), [5.0, 5.0])


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, np.uint8)
    found = memory[1:].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


LAYOUTS = {
    "plain": lambda a: a.copy(), "read-only": lambda a: np.broadcast_to(a, a.shape), "Fortran": np.asfortranarray,
    "transposed": lambda a: a.T, "reversed": lambda a: a[::-1], "strided": lambda a: np.repeat(a, 2, -1)[..., ::2],
    "unaligned": unaligned, "subclass": lambda a: a.copy().view(Subclass), "empty": lambda a: a[:0],
    "repeated": lambda a: np.broadcast_to(a[:1], a.shape),
    "other descriptor": lambda a: a.view(np.dtype("f8", copy=True)),
}  # fmt: skip


class Subclass(np.ndarray):
    pass


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_of_any_layout_are_converted(layout):
    """Arrays are copied if native code cannot read them; others share memory."""
    value, wanted = LAYOUTS[layout](np.arange(9.0).reshape(3, 3) + 0.5), np.dtype("float64")
    found = _as_plain_array(value, wanted)
    np.testing.assert_array_equal(found, value)
    assert type(found) is np.ndarray and found.dtype is wanted and found.flags.c_contiguous and found.flags.aligned
    copied = layout in ("Fortran", "transposed", "reversed", "strided", "unaligned", "repeated")
    assert np.shares_memory(found, value) is (not copied and value.size > 0)
    assert (found is value) is (layout in ("plain", "read-only", "empty"))
    x, s = at.dmatrix("x"), aesara.shared(np.ones((1, 1)))
    s.container.storage[0] = value
    f = aesara.function([x], [x * 2, s * 2])
    np.testing.assert_array_equal(f(value), [value * 2, value * 2])
    other = value.astype("int64")
    assert _as_plain_array(other, wanted) is other  # native code refuses it


def test_size_of_the_workspace():
    """The size covers all blocks, which calls reuse."""
    x, n = at.dvector("x"), at.lscalar("n")

    @as_op([at.dvector, at.lscalar], [at.dvector])
    def again(value, times):
        return f(value, times - 1) if times else value.copy()

    f = aesara.function([x, n], at.cumsum(again(at.cumsum(x) * 2, n) + 1)[::-1] * 3)
    value = np.ones(5000)
    f(value, 2)
    size = f.vm.workspace_bytes
    assert size >= 3 * 8 * 5000
    f(value, 2)
    assert [f.vm.workspace_bytes for _ in range(3)] == [size] * 3
    f.free()
    assert f.vm.workspace_bytes == 0
    f(value, 0)
    assert 0 < f.vm.workspace_bytes < size
