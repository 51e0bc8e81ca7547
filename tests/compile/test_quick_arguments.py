"""Quick conversions of arguments give what the general ones give, and are taken for frequent values."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.function.arguments import Argument, quick_conversion
from aesara.compile.io import In
from aesara.compile.profiling import ProfileStats
from aesara.configdefaults import config
from aesara.graph.container import Container
from aesara.link.llvm.callable import _as_plain_array
from aesara.tensor.core import quick_conversions
from aesara.tensor.core.dtypes import all_dtypes
from aesara.tensor.type import TensorType

SETTINGS = [(True, None), (False, None), (False, True), (False, False)]
SHAPES = [(), (3,), (None, None)]
LARGE = [2**24, 2**24 + 1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, -(2**53) - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, 0.5, 0.1, -3.0, 1e5, 7e4, 1e-5, 1e-40, 1e39, 1e300, 2.0**53, 2.0**63, np.inf, -np.inf, np.nan]


def layouts(dtype: np.dtype[Any]) -> list[np.ndarray]:
    """Arrays of a dtype in each layout."""
    base = np.arange(24).reshape(4, 6) % 5
    grid = base.astype(dtype)
    packed = np.zeros(24, dtype=[("byte", "i1"), ("value", dtype)])
    packed["value"] = base.ravel()
    frozen = grid[1, :3].copy()
    frozen.setflags(write=False)
    swapped = grid[0, :3].astype(grid.dtype.newbyteorder())
    vectors = [grid[0, :3], grid[:3, 1], grid[0, 2::-1], grid[0, :0], np.broadcast_to(grid[0, 1], 3), frozen, swapped]
    same = np.frombuffer(grid[0, :3].tobytes(), np.dtype(dtype.str, metadata={"key": "value"}))
    matrices = [grid[:2, :3].copy(), grid.T, grid[::2, ::3], np.asfortranarray(grid[:2]), grid[:0], grid[:2, :1]]
    numbers = [np.array(grid[0, 1]), grid[0, 1:2], grid[:1, 1:2], grid[1, 3:4][::-1].reshape(1, 1, 1)]
    return [*vectors, same, packed["value"][:3], packed["value"][:1].reshape(()), *matrices, *numbers]


def arrays() -> list[Any]:
    """Arrays of each dtype, and of values that some dtypes do not have."""
    found: list[Any] = []
    for dtype in all_dtypes:
        found += layouts(np.dtype(dtype))
    found += [np.array([1, 2, 3], "q"), np.array([1, 2, 3], "g"), np.array([1, 2, 3], "O"), np.array(["1", "2", "3"])]
    for number in LARGE:
        found += [np.array([1, number, 3]), np.array(number), np.array([[0, number]] * 2)]
    found += [np.array([1, 2**64 - 1, 2**53 + 1], "uint64"), np.array(2**64 - 1, "uint64")]
    found += [
        np.array([2**52] * 600),
        np.arange(5000),
        np.full((2, 2), -(2**62)),
        np.array([-1, -128, 127]),
        np.array([255, 256, 70000]),
    ]
    for number in FLOATS:
        found += [np.array([1, number, 3]), np.array(number)]
    found += [np.array([1 + 2j, np.nan, 3]), np.array([0x7FA00000] * 3, "uint32").view("float32")]
    return found


def numbers() -> list[Any]:
    """Numbers of Python and NumPy."""
    found: list[Any] = [
        True,
        False,
        0,
        1,
        -1,
        127,
        128,
        255,
        256,
        2**11 + 1,
        1 + 2j,
        2 + 0j,
        complex(np.nan, 1),
        10**400,
    ]
    found += LARGE + [2**64 - 1, 2**64]
    found += FLOATS + [np.float64(x) for x in FLOATS] + [np.longdouble(0.1)]
    with np.errstate(over="ignore"):
        found += [np.float32(x) for x in FLOATS] + [np.float16(x) for x in FLOATS]
    found += [np.dtype(dtype).type(x) for dtype in all_dtypes for x in (0, 1, 100)]
    found += [np.int64(x) for x in LARGE] + [np.uint64(2**64 - 1), np.int8(-128), np.uint8(255), np.int32(-(2**31))]
    found += [np.complex64(1 + 1j), np.complex128(np.nan), np.array([0x7FA00000], "uint32").view("float32")[0]]
    return found


class ArrayLike:
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array([1.0, 2.0, 3.0], dtype)


class FloatOfOurs(float):
    pass


class ListOfOurs(list):  # type: ignore[type-arg]
    pass


class ArrayOfOurs(np.ndarray):
    pass


def others() -> list[Any]:
    """Sequences, and values of other classes."""
    found: list[Any] = [[], [[]], [[], []], (), [1], [1.0], [[1.0]], [True], (1.5,)]
    rows: list[list[Any]] = [
        [1.0, 2.0, 3.0],
        [1, 2, 3],
        [True, False, True],
        [1, 2.5, True],
        [0.1, 0.2, 0.3],
        [1j, 2, 3],
    ]
    rows += [[1.0, number, 3] for number in LARGE] + [[1, number, 3] for number in LARGE] + [[np.nan, 2**53 + 1, 2.0]]
    rows += [[1.0, number, 3.0] for number in FLOATS] + [[number, 2**53 + 1, 0] for number in FLOATS]
    rows += [[2**63, 1, 2], [2**64, 1, 2], [2**63, 1.0, 2], [-1, 128, 255], [70000, 1, 2], [1.0, True, 2**53 + 1]]
    rows += [[np.float64(1), 2.0, 3.0], [np.float32(0.1), 1.0, 2.0], [np.float32(0.1)] * 3, [np.float16(0.1)] * 3]
    rows += [[np.int64(2**53 + 1), 1, 2], [np.int64(2**53 + 1), 1.0, 2.0], [np.uint64(2**64 - 1), 1, 2]]
    rows += [
        [np.int8(-128), 1.0, 2],
        [np.bool_(True), 1.0, 2],
        [np.float32(1), 2**53 + 1, 1],
        [None, 1.0, 2.0],
        ["1"] * 3,
    ]
    rows += [[np.array(1.0), 2.0, 3.0], [np.array([1.0]), [2.0], [3.0]], [FloatOfOurs(1), 2.0, 3.0]]
    for row in rows:
        found += [row, tuple(row), [row, row], [tuple(row), row], (tuple(row), tuple(row)), [[row, row]]]
    found += [[[1.0, 2.0], [3.0]], [[1.0], 2.0], [[1, 2, 3], [0.5, 2**53 + 1, 0.0]], ListOfOurs([1.0, 2.0, 3.0])]
    found += [range(3), "text", b"text", None, {1.0}, {}, float, ArrayLike(), FloatOfOurs(1.5), object(), 1.5j]
    x, grid = at.dvector("x"), np.arange(6.0).reshape(2, 3)
    found += [x, [x], [1.0, x], [[1.0, x]], grid.view(ArrayOfOurs), grid[0, :].view(ArrayOfOurs)]
    found += [np.ma.array(grid), np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), np.ma.array([1, 2, 3]), np.ma.masked]
    found += [np.rec.array([1.0, 2.0, 3.0]), np.datetime64("2020-01-01"), np.array(["2020"], "M8[D]"), memoryview(grid)]
    return found


VALUES = [*arrays(), *numbers(), *others()]


def outcome(function: Any, *values: Any) -> tuple[Any, list[str]]:
    """What a call returns or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*values)
        except Exception as error:
            result = type(error), str(error)
    return result, [f"{one.category.__name__}: {one.message}" for one in caught]


def described(result: Any) -> Any:
    """All that there is to know of an array, but for how it is laid out."""
    if isinstance(result, np.ndarray):
        return type(result), result.dtype, result.shape, result.tobytes(), result.flags.writeable
    return result


@pytest.mark.parametrize("float_x, casts_compare", [("float64", True), ("float32", True), ("float64", False)])
@pytest.mark.parametrize("dtype", all_dtypes)
def test_quick_conversions_are_those_of_the_filter(dtype, float_x, casts_compare, monkeypatch):
    if not casts_compare:
        monkeypatch.setattr(quick_conversions, "_CASTS_COMPARE", False)
    wanted = np.dtype(dtype)
    for shape, (strict, allow_downcast) in itertools.product(SHAPES, SETTINGS):
        kind = TensorType(dtype, shape)
        container = Container(kind, [None], strict=strict, allow_downcast=allow_downcast)
        argument = Argument(container, In(kind("x")), True)
        with config.change_flags(floatX=float_x):
            for value in VALUES:
                quick = quick_conversion([argument])
                (converted, quick_warnings) = outcome(quick, [value])
                if converted is None:
                    continue
                (array,) = converted
                assert type(array) is np.ndarray and array.dtype is wanted, (kind, value)
                assert array.flags.c_contiguous and array.flags.aligned
                assert outcome(quick, [array])[0] is None
                # Lengths are left to native code.
                general, general_warnings = outcome(argument.convert, value, 0, None)
                if isinstance(general, tuple):
                    assert "dimensions" in general[1] or "shape" in general[1], (kind, value)
                    assert general == outcome(argument.convert, array, 0, None)[0], (kind, value)
                    continue
                if array.size == 1 and not shape:
                    array = array.reshape(())
                # Native code is given contiguous arrays.
                assert described(array) == described(_as_plain_array(general, wanted)), (
                    kind,
                    strict,
                    allow_downcast,
                    value,
                )
                assert quick_warnings == general_warnings, (kind, strict, allow_downcast, value)
                assert not isinstance(value, np.ndarray) or not np.shares_memory(array, value)


FREQUENT = [
    ("float64", 0, [True, np.bool_(True), np.float32(0.1), np.int32(3), np.uint8(3), np.array(3), np.array(0.1, "f")]),
    ("float32", 0, [2, 0.5, True, np.float64(0.5), np.int64(7), np.array(3, "int8")]),
    ("int64", 0, [True, np.int32(3), np.uint64(3), 3.0, np.float64(3.0), np.array(3, "int32")]),
    ("int32", 0, [3, np.int64(3), True, -(2**31)]),
    ("float64", 1, [np.eye(3)[:, 1], np.arange(4.0)[::-1], np.zeros(3, "f"), np.arange(3), np.ones(3, bool)]),
    ("float64", 1, [[1.0, 2.0], (1, 2), [True], [1, 0.5], [], np.array([1, 2], "uint64"), np.arange(3, dtype="int16")]),
    ("float64", 2, [np.ones((3, 2)).T, np.ones((3, 4), int)[:, ::2], [[1.0, 2.0], [3.0, 4.0]], ((1, 2),)]),
    ("float32", 1, [np.eye(3, dtype="f")[:, 1], np.arange(3, dtype="int16"), [0.5, 1.0], [1, 2]]),
    ("int64", 1, [[1, 2], np.arange(6)[::2], np.arange(3, dtype="int32"), np.ones(2, bool)]),
    ("int32", 1, [[1, 2], np.arange(3, dtype="uint8")]),
]


@pytest.mark.parametrize("dtype, ndim, values", FREQUENT)
def test_frequent_values_do_not_go_through_the_filter(dtype, ndim, values, monkeypatch):
    x = at.tensor(dtype, (None,) * ndim, name="x")
    f, g = aesara.function([x], x + x), aesara.function([x, s := at.dscalar("s")], x * s)
    expected = [(f(np.asarray(value, dtype)), g(np.asarray(value, dtype), 1.0)) for value in values]

    def filtered(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the filter was asked")

    monkeypatch.setattr(Argument, "convert", filtered)
    for value, results in zip(values, expected):
        for got, result in zip((f(value), g(value, True)), results):
            assert described(got) == described(result)


@pytest.mark.parametrize("strict, allow_downcast", SETTINGS)
@pytest.mark.parametrize("shape", [(), (None,), (3,), (None, None)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool"])
def test_calls_return_and_raise_what_they_do_without_quick_conversions(dtype, shape, strict, allow_downcast):
    x = at.tensor(dtype, shape, name="x")
    spec = In(x, strict=strict, allow_downcast=allow_downcast)
    f, general = aesara.function([spec], x, name="f"), aesara.function([spec], x, name="f")
    assert f._quick is not None
    general._quick = None
    for value in VALUES:
        mine, others = outcome(f, value), outcome(general, value)
        assert (described(mine[0]), mine[1]) == (described(others[0]), others[1]), value


def test_the_first_argument_that_does_not_fit_is_named():
    a, b, c = at.dvector("a"), at.lscalar("b"), at.dmatrix("c")
    f, general = aesara.function([a, b, c], a.sum() + b + c.sum()), aesara.function([a, b, c], a.sum() + b + c.sum())
    general._quick = None
    single, grid, column = np.ones(3, "f"), np.ones((2, 3), "f"), np.ones((3, 3))[:, 1]
    choices = [single, grid, column, 1, 2.5, "text", [1.0], np.ones(3), np.ones((2, 3)), None]
    for values in itertools.product(choices, repeat=3):
        assert outcome(f, *values) == outcome(general, *values)
    assert f(single, np.int32(2), grid) == 11
    assert outcome(f, single, 1) == outcome(general, single, 1)
    assert outcome(f, single, 1, grid, 1) == outcome(general, single, 1, grid, 1)


def test_settings_of_containers_and_types_may_change(monkeypatch):
    x = at.dvector("x")
    f = aesara.function([x], x * 2)
    single = np.ones(3, "f")
    assert f(single).dtype == "float64"
    f.container[x].strict = True
    with pytest.raises(TypeError, match="expected an ndarray with dtype=float64"):
        f(single)
    f.container[x].strict = False
    monkeypatch.setattr(f.container[x].type, "filter_checks_isfinite", True)  # variables share their types
    with pytest.raises(ValueError, match="Non-finite elements not allowed"):
        f(np.array([np.inf], "f"))
    i = at.ivector("i")
    g = aesara.function([i], i + 1)
    with pytest.raises(TypeError, match="without risking loss"):
        g(np.array([1, 2]))
    g.container[i].allow_downcast = True
    assert g(np.array([1, 2])).dtype == "int32"


def test_arguments_that_are_overwritten_are_left_as_they_are():
    x, y = at.dvectors("x", "y")
    f = aesara.function([In(x, mutable=True), y], x * 2 + y)
    base = np.ones((3, 3))
    np.testing.assert_array_equal(f(base[:, 0], base[:, 0]), np.full(3, 3.0))
    np.testing.assert_array_equal(base, np.ones((3, 3)))
    f = aesara.function([In(x, borrow=True)], aesara.Out(x, borrow=True))
    result = f(base[:, 0])
    assert not np.shares_memory(result, base)
    single = np.ones(3, "f")
    assert not np.shares_memory(f(single), single)


def test_explicit_inputs_with_updates_and_functions_with_names():
    x, y = at.dvector("x"), at.dvector("y")
    f = aesara.function([In(x, value=np.zeros(2), update=x + y, mutable=True), y], x.sum())
    assert f(np.ones(2, "f"), [1, 2]) == 2
    assert f(y=np.ones(2, "f")) in (0.0, 5.0)
    named = aesara.function([x], {"double": x * 2, "sum": x.sum()})
    results = named(np.arange(3))
    assert list(results) == ["double", "sum"] and results["sum"] == 3
    assert named(np.arange(3), output_subset=["sum"]) == {"sum": 3.0}
    assert aesara.function([x], [], on_unused_input="ignore")([1, 2]) == []
    measured = aesara.function([x], x * 2, profile=ProfileStats(False))
    np.testing.assert_array_equal(measured(np.arange(3)), [0, 2, 4])
    assert measured.profile.fct_callcount == 1


def test_shared_values_of_other_layouts_beside_converted_arguments():
    w = aesara.shared(np.ones((2, 3)), "w", borrow=True)
    x = at.dvector("x")
    f = aesara.function([x], w @ x, updates={w: w * 2})
    w.container.storage[0] = np.arange(6.0).reshape(3, 2).T
    np.testing.assert_array_equal(f([1, 1, 1]), [6, 9])
    np.testing.assert_array_equal(w.get_value(), 2 * np.arange(6.0).reshape(3, 2).T)
    w.set_value(np.ones((2, 4)))
    with pytest.raises(ValueError):
        f([1, 1, 1])


def test_errors_of_the_computation_are_the_same():
    x, y = at.dvectors("x", "y")
    f, general = aesara.function([x, y], x + y), aesara.function([x, y], x + y)
    general._quick = None
    short, long = np.ones(2, "f"), np.arange(3)
    assert outcome(f, short, long) == outcome(general, short, long)
    assert outcome(f, short, long)[0][0] is ValueError
