"""The examples of the documentation of types."""

import importlib

import numpy as np
import pytest

import aesara
from aesara.graph.type import Type
from aesara.tensor.basic import register_transfer
from aesara.tensor.type import TensorType, dvector, lvector


@pytest.fixture
def v1():
    return TensorType("float64", (2, None))()


@pytest.fixture
def v2():
    return TensorType("float64", (2, 1))()


def test_printed_types(v1, v2):
    assert repr(v1.type) == "TensorType(float64, (2, None))"
    assert repr(v2.type) == "TensorType(float64, (2, 1))"


def test_in_same_class(v1, v2):
    assert v1.type.in_same_class(v2.type) is False
    assert TensorType("float64", (2, 1)).in_same_class(TensorType("float64", (None, 1)))


def test_is_super(v1, v2):
    assert v1.type.is_super(v2.type) is True
    assert not v2.type.is_super(v1.type)


def test_filter_variable_narrows(v1, v2):
    assert v1.type.filter_variable(v2) is v2
    v3 = v2.type.filter_variable(v1)
    assert v3.type == v2.type
    printed = aesara.dprint(v3, print_type=True, file="str")
    assert printed.splitlines()[0].startswith("SpecifyShape [id A] <TensorType(float64, (2, 1))>")
    assert "<TensorType(float64, (2, ?))> [id B]" in printed


def test_filter_variable_checks_at_run_time(v1, v2):
    f = aesara.function([v1], v2.type.filter_variable(v1))
    np.testing.assert_array_equal(f(np.ones((2, 1))), np.ones((2, 1)))
    with pytest.raises((AssertionError, ValueError, TypeError)):
        f(np.ones((2, 3)))


def test_a_type_makes_variables():
    vector = TensorType("float64", (None,))
    x = vector("x")
    assert x.type is vector
    assert x.name == "x"
    assert vector().name is None
    assert vector.make_variable("y").name == "y"
    assert vector == TensorType("float64", (None,))
    assert hash(vector) == hash(TensorType("float64", (None,)))
    assert vector.clone(dtype="int8") == TensorType("int8", (None,))
    assert lvector.is_super(TensorType("int64", (3,)))


class DoubleType(Type):
    def filter(self, x, strict=False, allow_downcast=None):
        if strict:
            if isinstance(x, float):
                return x
            raise TypeError("Expected a float!")
        if allow_downcast:
            return float(x)
        x_float = float(x)
        if x_float == x:
            return x_float
        raise TypeError(f"The double type cannot accurately represent {x}")

    def values_eq_approx(self, x, y, tolerance=1e-4):
        return abs(x - y) / (abs(x) + abs(y)) < tolerance


double = DoubleType()


def test_a_type_of_ones_own():
    assert double.is_valid_value(1.5)
    assert not double.is_valid_value("word")
    assert double.filter(3) == 3.0
    assert double.values_eq_approx(1.0, 1.00001)
    assert double.make_variable("x").type is double
    assert double() != double()
    assert DoubleType() != DoubleType()
    assert double.in_same_class(double)
    assert not double.is_super(DoubleType())


def test_a_type_of_ones_own_in_a_function():
    x = double("x")
    f = aesara.function([x], x)
    assert f(2.5) == 2.5
    with pytest.raises((TypeError, ValueError), match="word"):
        f("word")


def test_transfer_asks_the_registered_functions_in_turn(monkeypatch):
    monkeypatch.setattr(importlib.import_module("aesara.tensor.core.transfer"), "_transfers", [])
    x = dvector("x")
    asked = []

    def to_the_moon(variable, target):
        asked.append((variable, target))
        return variable + 1 if target == "moon" else None

    def nowhere_to_go(variable, target):
        return variable if target == "here already" else None

    register_transfer(to_the_moon)
    register_transfer(nowhere_to_go)
    f = aesara.function([x], x.transfer("moon"))
    np.testing.assert_array_equal(f([1.0]), [2.0])
    assert x.transfer("here already") is x
    assert asked == [(x, "moon"), (x, "here already")]
    with pytest.raises(ValueError, match="'mars'.*register_transfer"):
        x.transfer("mars")
    assert x.transfer("cpu") is x
    assert len(asked) == 3
