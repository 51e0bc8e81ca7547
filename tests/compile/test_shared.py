"""Shared variables: types, values, borrowing, updates, and how they are stored."""

import copy
import pickle
import sys

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.sharedvalue import (
    SharedVariable,
    collect_new_shareds,
    generic,
    shared,
    shared_constructor,
)
from aesara.graph.container import Container
from aesara.graph.shared import CONSTRUCTORS_ON_DEMAND
from aesara.graph.type import Type
from aesara.tensor.sharedvar import ScalarSharedVariable, TensorSharedVariable
from aesara.tensor.var import TensorVariable


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int64"),
        (2**40, "int64"),
        (1.0, "float64"),
        (1j, "complex128"),
        (True, "bool"),
        (np.bool_(True), "bool"),
        (np.float32(2), "float32"),
        (np.int8(3), "int8"),
    ],
)
def test_numbers(value, dtype):
    s = shared(value, name="s")
    assert isinstance(s, ScalarSharedVariable) and isinstance(s, SharedVariable)
    assert s.type.dtype == dtype and s.type.ndim == 0 and s.name == "s" and str(s) == "s"
    assert isinstance(s.get_value(), np.ndarray) and s.get_value() == value


@pytest.mark.parametrize("value", [np.arange(3), np.ones((2, 1)), np.array(3.0), np.empty((0, 2), "float32")])
def test_arrays(value):
    s = shared(value)
    assert isinstance(s, TensorSharedVariable)
    assert s.type.dtype == value.dtype and s.type.shape == (None,) * value.ndim
    np.testing.assert_array_equal(s.get_value(), value)


def test_static_shape():
    assert shared(np.ones((2, 1)), shape=(2, 1)).type.shape == (2, 1)
    assert shared(np.ones((2, 1)), broadcastable=(False, True)).type.broadcastable == (False, True)
    with pytest.raises(TypeError, match="not both"):
        shared(np.ones(1), shape=(1,), broadcastable=(True,))
    with pytest.raises(TypeError):
        shared(np.ones(3), shape=(2,))
    with pytest.raises(TypeError, match="'gpu'"):
        shared(np.ones(3), target="gpu")


@pytest.mark.parametrize("value", [[1, "a"], (None, 2), None, "text", {"a": 1}])
def test_other_objects(value):
    s = shared(value)
    assert type(s) is SharedVariable and s.type == generic
    assert s.get_value() == value
    s.set_value(3)
    assert s.get_value() == 3
    with pytest.raises(TypeError, match="generic Python object"):
        s[0]
    with pytest.raises(TypeError, match="does not understand 'shape'"):
        shared(value, shape=())


def test_symbolic_values_are_refused():
    with pytest.raises(TypeError, match="can not be symbolic"):
        shared(at.dvector())


@pytest.mark.parametrize("value", [2**70, np.array(["a"]), np.array([None])], ids=["huge", "text", "object"])
def test_unsupported_values(value):
    with pytest.raises(TypeError):
        shared(value)


def test_operators_of_arrays():
    s = shared(np.arange(6.0).reshape(2, 3))
    assert isinstance(s[0], TensorVariable) and isinstance(s + 1, TensorVariable) and isinstance(s.T, TensorVariable)
    np.testing.assert_array_equal((s[1] * 2).eval(), [6.0, 8.0, 10.0])


def test_registering_a_class():
    class Point:
        pass

    class PointVariable(SharedVariable):
        pass

    @shared_constructor.register(Point)
    def make(value, name=None, strict=False, allow_downcast=None, scale=1):
        return PointVariable(generic, (value, scale), strict, allow_downcast, name=name)

    s = shared(Point(), name="p", scale=3)
    assert isinstance(s, PointVariable) and s.get_value(borrow=True)[1] == 3


class TestBorrowing:
    def test_construction(self):
        value = np.ones(2, dtype="float32")
        default, copied, lent = shared(value), shared(value, borrow=False), shared(value, borrow=True)
        value += 1
        assert default.get_value().tolist() == [1, 1]
        assert copied.get_value().tolist() == [1, 1]
        assert lent.get_value().tolist() == [2, 2]

    def test_construction_from_other_objects(self):
        value = ["a"]
        copied, lent = shared(value), shared(value, borrow=True)
        value.append("b")
        assert copied.get_value() == ["a"] and lent.get_value() == ["a", "b"]

    def test_get_value(self):
        s = shared(np.zeros(2))
        s.get_value()[:] = 1
        s.get_value(return_internal_type=True)[:] = 1
        assert s.get_value().tolist() == [0, 0]
        assert s.get_value(borrow=True) is s.get_value(borrow=True, return_internal_type=True) is s.container.value
        assert s.get_test_value() is s.container.value

    def test_values_that_are_stored_in_another_form(self):
        """As arrays of JAX are, which stay on their device."""

        class Stored(Type):
            def filter(self, data, strict=False, allow_downcast=None):
                return list(data)

            def external_value(self, value):
                return tuple(value)

        s = SharedVariable(Stored(), (1, [2]), strict=False)
        for borrow in (False, True):
            assert s.get_value(borrow=borrow) == (1, [2])
            assert s.get_value(borrow=borrow, return_internal_type=True) == [1, [2]]
        assert s.get_value(borrow=True)[1] is s.container.value[1] is not s.get_value()[1]
        assert s.get_value(borrow=True, return_internal_type=True) is s.container.value

    def test_set_value(self):
        s, value = shared(np.zeros(2)), np.ones(2)
        s.set_value(value)
        value[:] = 2
        assert s.get_value().tolist() == [1, 1]
        s.set_value(value, borrow=True)
        assert s.get_value(borrow=True) is value

    def test_values_got_earlier_do_not_change(self):
        s = shared(np.zeros(2))
        before = s.get_value()
        aesara.function([], updates={s: s + 1})()
        assert before.tolist() == [0, 0]


class TestSetValue:
    @pytest.fixture
    def s(self):
        return shared(np.zeros(2, dtype="float32"), name="weights")

    def test_conversion(self, s):
        s.set_value([1, 2])
        assert s.get_value().dtype == "float32" and s.get_value().tolist() == [1, 2]
        s.set_value(np.ones(5, dtype="int8"))
        assert s.get_value().shape == (5,)

    def test_wrong_rank(self, s):
        with pytest.raises(TypeError) as info:
            s.set_value(np.zeros((2, 2), "float32"))
        assert "expected 1, got 2" in str(info.value) and 'Container name "weights"' in str(info.value)
        assert s.get_value().tolist() == [0, 0]

    def test_loss_of_precision(self, s):
        with pytest.raises(TypeError, match="loss of precision"):
            s.set_value(np.ones(2))
        lenient = shared(np.zeros(2, dtype="float32"), allow_downcast=True)
        lenient.set_value(np.full(2, 0.1))
        np.testing.assert_array_equal(lenient.get_value(), np.float32([0.1, 0.1]))

    def test_strict(self):
        s = shared(np.zeros(2, dtype="float32"), strict=True)
        s.set_value(np.ones(3, dtype="float32"))
        with pytest.raises(TypeError):
            s.set_value([1, 2])

    def test_zero(self, s):
        s.set_value([1, 2])
        inner = s.get_value(borrow=True)
        s.zero()
        assert s.get_value().tolist() == [0, 0] and inner.tolist() == [1, 2]
        s.set_value([1, 2])
        inner = s.get_value(borrow=True)
        s.zero(borrow=True)
        assert inner.tolist() == [0, 0]

    def test_functions_see_new_values_of_any_size(self, s):
        for mode in ("FAST_COMPILE", "FAST_RUN"):
            f = aesara.function([], s.sum(), mode=mode)
            s.set_value(np.ones(7, "float32"))
            assert f() == 7
            s.set_value(np.ones(14, "float32")[::2], borrow=True)
            assert f() == 7
            s.set_value(np.ones(0, "float32"))
            assert f() == 0


class TestDefaultUpdate:
    def test_type(self):
        s = shared(0.0)
        assert s.default_update is None
        s.default_update = s + 1
        s.default_update = 3.0
        assert s.default_update.type == s.type
        with pytest.raises(TypeError):
            s.default_update = at.dvector()
        s.default_update = None
        assert aesara.function([], s)() == 0.0


def test_clone_shares_the_value():
    s = shared(np.zeros(1), name="s")
    t = s.clone()
    assert type(t) is type(s) and t is not s and t.name == "s"
    s.set_value([5.0])
    assert t.get_value() == [5.0]
    assert s.clone(name="t").name == "t"


def test_container_or_value():
    container = Container(generic, [3])
    assert SharedVariable(generic, None, None, container=container).get_value() == 3
    with pytest.raises(TypeError, match="not both"):
        SharedVariable(generic, 4, None, container=container)


def test_pickle_and_deepcopy():
    s = shared(np.arange(2.0), name="s")
    y = s + 1
    for s2, y2 in (pickle.loads(pickle.dumps((s, y))), copy.deepcopy((s, y))):
        assert y2.owner.inputs[0] is s2 and s2.name == "s"
        s2.set_value([7.0])
        assert s.get_value().tolist() == [0.0, 1.0]
        assert y2.eval().tolist() == [8.0]


def test_collect_new_shareds():
    with collect_new_shareds() as outer:
        a = shared(1)
        with collect_new_shareds() as inner:
            b = shared(2)
    shared(3)
    assert outer == [a, b] and inner == [b]


class TestContainer:
    def test_filters(self):
        cell = [None]
        container = Container(at.dvector("x"), cell)
        container.value = [1, 2]
        assert cell[0].tolist() == [1.0, 2.0] and container.data is cell[0] and container.name == "x"
        container.value = None
        assert cell == [None]
        assert repr(container) == "<None>"

    def test_readonly(self):
        with pytest.raises(Exception, match="read-only storage: x"):
            Container(at.dvector("x"), [None], readonly=True).value = [1]

    def test_needs_a_cell(self):
        with pytest.raises(TypeError, match="one element"):
            Container(at.dvector("x"), [])


@pytest.mark.parametrize(
    "value",
    [
        [1.0, 2.0],
        [1, 2],
        (1, 2.5),
        [[1, 2], [3, 4]],
        [True, False],
        [1j],
        [np.float32(1)],
        [np.int8(1), np.int8(2)],
        (3,),
    ],
)
def test_lists_of_numbers_become_arrays(value):
    s = aesara.shared(value, name="s")
    want = np.asarray(value)
    assert s.name == "s" and s.type == at.TensorType(want.dtype, (None,) * want.ndim)
    np.testing.assert_array_equal(s.get_value(), want)
    np.testing.assert_array_equal(aesara.function([], s + s)(), want + want)
    assert aesara.shared(value, shape=want.shape).type.shape == want.shape


@pytest.mark.parametrize(
    "value", [[], (), [[]], [1, "a"], ["a"], [None], [[1], [2, 3]], [1, [2]], [np.ones(2)], {"a": 1}, "ab"]
)
def test_other_lists_stay_as_they_are(value):
    s = aesara.shared(value)
    assert s.type == generic and type(s.get_value()) is type(value)


class Table:
    """What the tables of other libraries have in common."""

    def __init__(self, array):
        self.array = array

    def to_numpy(self):
        return self.array


def test_tables_become_arrays():
    array = np.ones((2, 3), "float32")
    s = aesara.shared(Table(array), name="s", shape=(None, 3))
    assert s.name == "s" and s.type == at.TensorType("float32", (None, 3))
    assert not np.shares_memory(s.get_value(borrow=True), array)
    assert np.shares_memory(aesara.shared(Table(array), borrow=True).get_value(borrow=True), array)
    array.flags.writeable = False
    assert aesara.shared(Table(array), borrow=True).get_value(borrow=True).flags.writeable
    with pytest.raises(TypeError, match="the Table has the dtype object.*to_numpy"):
        aesara.shared(Table(np.array(["a", None])))


def test_a_list_of_numbers_can_stay_a_list():
    s = aesara.compile.SharedVariable(generic, [1.0, 2.0], strict=False)
    assert s.get_value() == [1.0, 2.0]
    with pytest.raises(TypeError, match="int64 at most"):
        aesara.shared([2**70])


def exchanging(*shapes):
    """Shared variables, their arrays, and a function after which each has the value of the next one."""
    variables = [shared(np.full(shape, k + 1.0), name=f"v{k}") for k, shape in enumerate(shapes)]
    arrays = [v.get_value(borrow=True) for v in variables]
    following = [*variables[1:], variables[0]]
    return variables, arrays, list(zip(variables, following))


@pytest.mark.parametrize("shapes", [[(2, 3), (4, 1)], [(), ()], [(0,), (3,), (2,)]], ids=str)
def test_values_are_exchanged_without_copies(shapes):
    variables, arrays, updates = exchanging(*shapes)
    step = aesara.function([], [], updates=updates)
    counts = [sys.getrefcount(array) for array in arrays]
    for _ in range(100 * len(shapes) + 1):
        step()
    assert all(v.get_value(borrow=True) is array for v, array in zip(variables, [*arrays[1:], arrays[0]]))
    assert [sys.getrefcount(array) for array in arrays] == counts
    found = {value.name: value.notes for value in aesara.explain(step).inputs}
    assert found["v0"] == ("shared", "updated by the array of v1")


def test_values_that_are_exchanged_and_used():
    (a, b), arrays, updates = exchanging((2, 2), (2, 2))
    c, total = shared(np.zeros((2, 2)), name="c"), shared(np.zeros((2, 2)), name="total")
    x = at.dscalar("x")
    step = aesara.function([x], [a, b, a + x * b], updates=[*updates, (c, a), (total, total + a)])
    for results, expected in ((step(10.0), (1, 2, 21)), (step(10.0), (2, 1, 12))):
        assert [one.tolist() for one in results] == [np.full((2, 2), n).tolist() for n in expected]
        assert not any(np.shares_memory(one, array) for one in results for array in arrays)
    held = [v.get_value(borrow=True) for v in (a, b, c, total)]
    assert [v[0, 0] for v in held] == [1.0, 2.0, 2.0, 3.0]
    assert not any(np.shares_memory(held[i], held[j]) for i in range(4) for j in range(i))


def test_values_are_not_exchanged_by_a_call_that_fails():
    (a, b), arrays, updates = exchanging((2,), (2,))
    x = at.dvector("x")
    step = aesara.function([x], a + x, updates=updates)
    counts = [sys.getrefcount(array) for array in arrays]
    with pytest.raises(ValueError, match="mismatch"):
        step([1.0, 2.0, 3.0])
    assert a.get_value(borrow=True) is arrays[0] and b.get_value(borrow=True) is arrays[1]
    assert [sys.getrefcount(array) for array in arrays] == counts


def test_values_that_only_one_takes_over_are_copied():
    (a, b), (_, of_b), _ = exchanging((2,), (2,))
    step = aesara.function([], [], updates=[(a, b), (b, b + 1)])
    step()
    assert not np.shares_memory(a.get_value(borrow=True), b.get_value(borrow=True))
    assert a.get_value(borrow=True) is not of_b and a.get_value().tolist() == [2, 2]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "DebugMode"])
def test_values_of_any_layout_are_exchanged(mode):
    a, b = shared(np.zeros((2, 3)), name="a"), shared(np.zeros((2, 3)), name="b")
    a.set_value(np.arange(6.0).reshape(3, 2).T, borrow=True)
    step = aesara.function([], [], updates={a: b, b: a}, mode=mode)
    if mode == "FAST_RUN":
        step = pickle.loads(pickle.dumps((step, a, b)))
        step, a, b = step
    step()
    assert b.get_value().tolist() == [[0, 2, 4], [1, 3, 5]] and not a.get_value().any()
    step()
    assert a.get_value().tolist() == [[0, 2, 4], [1, 3, 5]] and not b.get_value().any()


def test_generators_and_complex_numbers_are_exchanged():
    a, b = shared(np.ones(3) * 1j, name="a"), shared(np.ones(2) * 2j, name="b")
    first, second = (shared(np.random.default_rng(seed)) for seed in (1, 2))
    step = aesara.function([], [], updates={a: b, b: a})
    step()
    assert a.get_value().tolist() == [2j, 2j] and b.get_value().tolist() == [1j, 1j, 1j]
    states = [v.get_value(borrow=True).bit_generator.state for v in (first, second)]
    aesara.function([], [], updates={first: second, second: first})()
    assert [v.get_value(borrow=True).bit_generator.state for v in (second, first)] == states


@pytest.mark.parametrize("package", ["known", "known.inner", "known.inner.deep", "known.inn"])
def test_the_module_that_knows_a_class_is_imported_on_demand(package, monkeypatch, tmp_path):
    """Also for classes that somebody else derives from one."""
    (tmp_path / "knows_things.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(CONSTRUCTORS_ON_DEMAND, package, "knows_things")
    monkeypatch.delitem(sys.modules, "knows_things", raising=False)
    base = type("Base", (), {"__module__": "known.inner"})
    derived = type("Derived", (base,), {"__module__": "of_somebody_else"})
    assert isinstance(shared(derived()), SharedVariable)
    assert ("knows_things" in sys.modules) == (package in ("known", "known.inner"))
    sys.modules.pop("knows_things", None)
