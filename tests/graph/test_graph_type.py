import pickle

import pytest
from graph_toys import Double, Interval, double

from aesara.graph import Constant, Variable
from aesara.graph.container import Container
from aesara.graph.conversion import _as_symbolic, as_symbolic
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.generic import Generic, generic
from aesara.graph.null_type import NullType, null_type
from aesara.graph.type import HasDataType, HasShape, Type


def test_the_documented_double_type():
    assert double.filter(3) == 3.0
    assert double.filter(3.5, strict=True) == 3.5
    with pytest.raises(TypeError):
        double.filter(3, strict=True)
    assert double.values_eq_approx(1e6, 1e6 + 1)
    assert not double.values_eq_approx(1.0, 2.0)


def test_calls_make_variables():
    x = double("x")
    assert type(x) is Variable
    assert (x.type, x.name) == (double, "x")
    assert double().name is None
    assert double.make_variable("y").name == "y"
    constant = double.make_constant(1, name="one")
    assert type(constant) is Constant
    assert (constant.data, constant.name) == (1.0, "one")


def test_equality_by_properties():
    assert Double() == double
    assert hash(Double()) == hash(double)
    assert Interval(0, 1) == Interval(0, 1) != Interval(0, 2)
    assert str(Interval(0, 1)) == repr(Interval(0, 1)) == "Interval{low=0, high=1}"


def test_types_without_properties_are_equal_to_themselves_only():
    class Any(Type):
        def filter(self, data, strict=False, allow_downcast=None):
            return data

    a = Any()
    assert a == a
    assert a != Any()


def test_default_relations():
    assert double.in_same_class(Double()) is True
    assert double.is_super(Double()) is True
    assert double.in_same_class(Interval(0, 1)) is False
    assert double.is_super(Interval(0, 1)) is None


def test_is_valid_value():
    assert double.is_valid_value(1.0)
    assert not double.is_valid_value(1)
    assert double.is_valid_value(1, strict=False)
    assert not double.is_valid_value("x", strict=False)


class Same(Double):
    """A type whose variables are never converted."""

    def convert_variable(self, var):
        raise AssertionError("an equal type needs no conversion")


def test_variables_of_an_equal_type_stay_as_they_are():
    one, other = Same(), Same()
    x = other("x")
    assert one is not other and one.filter_variable(x) is x is one.filter_variable(x, allow_convert=False)


def test_filter_variable():
    wide, narrow = Interval(0, 10), Interval(0, 1)
    x = narrow("x")
    assert narrow.filter_variable(x) is x
    assert wide.filter_variable(x) is x
    with pytest.raises(TypeError, match="Cannot convert Type Interval"):
        narrow.filter_variable(wide())
    with pytest.raises(TypeError):
        wide.filter_variable(x, allow_convert=False)
    constant = wide.filter_variable(5)
    assert isinstance(constant, Constant)
    assert constant.data == 5.0
    with pytest.raises(TypeError):
        narrow.filter_variable(5)


def test_convert_variable():
    narrow, wide = Interval(0, 1), Interval(0, 10)()
    with pytest.raises(NotImplementedError, match="how to convert a variable of the wider type"):
        narrow.convert_variable(wide)
    with pytest.raises(TypeError, match="Cannot convert"):
        narrow.filter_variable(wide)
    assert Interval(0, 3).convert_variable(Interval(2, 4)()) is None
    x = Interval(0, 1)()
    assert Interval(0, 10).convert_variable(x) is x


def test_clone():
    assert Interval(0, 1).clone(2, high=3) == Interval(2, 3)


def test_values():
    assert double.values_eq(1.0, 1.0)
    assert Type.values_eq_approx(1.0, 1.0)
    assert not Type.values_eq_approx(1.0, 2.0)


def test_what_types_must_define():
    with pytest.raises(NotImplementedError, match="does not define filter"):
        Type().filter(1)
    with pytest.raises(NotImplementedError, match="filter_inplace"):
        double.filter_inplace(1, 2)


def test_interfaces():
    class Shaped(HasDataType, HasShape):
        dtype, ndim, shape = "float64", 0, ()

    assert isinstance(Shaped(), HasShape)
    assert not isinstance(double, HasShape)


@pytest.mark.parametrize(
    "value", [3, "text", [1, [2.5]], {"a": None}, float("nan"), object()], ids=lambda v: type(v).__name__
)
def test_objects_of_any_kind(value):
    """They are what they are, and equal where Python says so, or where they are the same."""
    assert generic.filter(value) is generic.filter(value, strict=True) is value and generic.is_valid_value(value)
    for same in (generic.values_eq, generic.values_eq_approx):
        assert same(value, value) is True
        assert same(value, (value,)) is False
        assert same([value], [value]) is True
    assert generic.values_eq([1, 2], [1, 2]) and not generic.values_eq([1, 2], [1, 3])
    assert generic == Generic() != double and hash(generic) == hash(Generic())


def test_null_type():
    assert NullType("a") == NullType("b")
    assert hash(NullType("a")) == hash(NullType("b"))
    assert isinstance(null_type("x"), Variable)
    assert null_type("x").name == "x"
    with pytest.raises(ValueError, match="because"):
        NullType("because").filter(1)
    with pytest.raises(ValueError, match="no values"):
        null_type.values_eq(1, 1)
    assert not null_type.may_share_memory(1, 1)
    assert not NullType().is_valid_value(1)


def test_disconnected_type():
    assert DisconnectedType() == disconnected_type
    assert isinstance(DisconnectedType()().type, DisconnectedType)
    assert str(disconnected_type) == "DisconnectedType"
    with pytest.raises(AssertionError, match="disconnected gradient"):
        disconnected_type.filter(1)


def test_texts():
    class Plain(Type):
        def filter(self, data, strict=False, allow_downcast=None):
            return data

    class ByText(Plain):
        def __str__(self):
            return "text"

    class ByForm(Plain):
        def __repr__(self):
            return "ByForm(1)"

    for cls, text in ((Plain, "Plain"), (ByText, "text"), (ByForm, "ByForm(1)")):
        assert (str(cls()), repr(cls())) == (text, text)
    assert "ByForm(1)" in str(ByForm()())


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("allow_downcast", [None, False, True])
@pytest.mark.parametrize("value, exact", [(1.5, True), (1, True), ("1.5", False), (None, True)])
def test_containers_take_what_the_type_allows(strict, allow_downcast, value, exact):
    given = {name: flag for name, flag in (("strict", strict), ("allow_downcast", allow_downcast)) if flag}
    for r, name in ((double, None), (double("x"), "x"), (double(), None)):
        container = Container(r, [3.0], **given)
        assert container.value == container.data == 3.0 and container.name == name and container.type is double
        if strict:
            accepted = value is None or type(value) is float
        else:
            accepted = exact or allow_downcast is True
        if accepted:
            container.value = value
            assert container.storage == [value if value is None else float(value)]
        else:
            with pytest.raises(TypeError, match=f'Container name "{name}"'):
                container.value = value
            assert container.storage == [3.0]


def test_containers_know_options_and_refuse_other_cells():
    container = Container(double("x"), [1.0], name="given", readonly=True)
    assert container.name == "given" and repr(container) == "<1.0>"
    with pytest.raises(Exception, match="read-only storage: given"):
        container.value = 2.0
    copied = pickle.loads(pickle.dumps(container))
    assert [getattr(copied, name) for name in ("storage", "type", "name", "readonly", "strict", "allow_downcast")] == [
        [1.0], double, "given", True, False, None,
    ]  # fmt: skip
    for storage in ([], (), (1.0,), None, 1.0):
        with pytest.raises(TypeError, match="must be a list with one element"):
            Container(double, storage)


def test_what_is_made_a_variable_may_have_a_name():
    class Value:
        pass

    @_as_symbolic.register(Value)
    def convert(value, **options):
        found = double()
        found.tag.options = options
        return found

    x = double("x")
    assert as_symbolic(x) is as_symbolic(x, "other", more=1) is x and x.name == "x"
    assert as_symbolic(Value()).tag.options == {}
    assert as_symbolic(Value(), more=1).tag.options == {"more": 1}
    assert as_symbolic(Value(), "name", more=1).tag.options == {"name": "name", "more": 1}
