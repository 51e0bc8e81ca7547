"""Descriptions of inputs and outputs."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.function.types import convert_function_input, get_info_on_inputs, orig_function
from aesara.compile.io import In, Out, SymbolicInput, SymbolicOutput
from aesara.typed_list import TypedListType


@pytest.fixture
def x():
    return at.dvector("x")


def test_defaults(x):
    spec = In(x)
    assert spec.variable is x and spec.name == "x" and spec.value is None and spec.update is None
    assert not (spec.mutable or spec.strict or spec.implicit or spec.borrow or spec.shared)
    assert str(spec) == "In(x)" and str(Out(x)) == "Out(x,False)"


def test_names(x):
    assert In(x, name="other").name == "other"
    assert In(x, autoname=False).name is None
    with pytest.raises(TypeError, match="must be a string"):
        In(x, name=3)


def test_mutable_implies_borrow(x):
    assert In(x, mutable=True).borrow
    with pytest.raises(ValueError, match="mutable=True, borrow=False"):
        In(x, mutable=True, borrow=False)


def test_update(x):
    spec = In(x, value=[1.0], update=x + 1)
    assert spec.mutable and "->" in str(spec)
    with pytest.raises(TypeError, match="type of the update should be compatible"):
        In(x, update=at.dmatrix())


def test_implicit(x):
    s = aesara.shared(np.ones(2))
    assert In(x, value=s).implicit and In(x, value=s.container).implicit
    assert not In(x, value=[1.0]).implicit
    assert aesara.function([In(x, value=s)], x + 1, mode="FAST_COMPILE")().tolist() == [2.0, 2.0]
    assert aesara.function([In(x, value=[1.0], implicit=True)], x + 1)().tolist() == [2.0]
    with pytest.raises(TypeError, match="has no value"):
        aesara.function([In(x, implicit=True)], x + 1)
    with pytest.raises(ValueError, match="implicit"):
        SymbolicInput(x, implicit=None)


def test_symbolic_input_is_enough(x):
    f = orig_function([SymbolicInput(x)], [Out(x + 1)], mode="FAST_COMPILE")
    assert f([1.0])[0].tolist() == [2.0]


def test_only_variables():
    with pytest.raises(TypeError, match="must be a graph variable"):
        In("x")


class TestShortForms:
    def test_variable(self, x):
        assert convert_function_input(x).variable is x
        assert convert_function_input([x]).variable is x
        spec = In(x)
        assert convert_function_input(spec) is spec

    def test_pairs(self, x):
        assert convert_function_input((x, [1.0])).value == [1.0]
        update = x + 1
        assert convert_function_input((x, update)).update is update
        both = convert_function_input(("name", (x, update), [1.0]))
        assert (both.name, both.update, both.value) == ("name", update, [1.0])
        assert convert_function_input(("name", x)).name == "name"

    @pytest.mark.parametrize("bad", [3, [], ("x",), (3,), (3, 4), (1, 2, 3), ((1, 2), 3)])
    def test_errors(self, bad):
        with pytest.raises(TypeError):
            convert_function_input(bad)

    def test_constants(self):
        with pytest.raises(TypeError, match="not a legal function input"):
            convert_function_input(at.constant(1.0))


def test_info_on_inputs():
    assert get_info_on_inputs(["a", "b"], 0) == "The function has 2 named inputs (a, b)."
    assert "and 1 without a name" in get_info_on_inputs(["a"], 1)
    assert "none of them named" in get_info_on_inputs([], 2)
    assert get_info_on_inputs([], 0) == "The function has no inputs."


def test_out(x):
    assert Out(x, borrow=True).borrow and isinstance(Out(x), SymbolicOutput)


@pytest.mark.parametrize("wrong", [lambda x: ((x,), 1), lambda x: ((x, 1), 1), lambda x: ((x, x, x), 1)])
def test_an_update_is_a_pair_of_variables(x, wrong):
    with pytest.raises(TypeError, match=r"the first part must be a pair \(variable, update\)"):
        convert_function_input(wrong(x))


def test_what_is_updated_may_be_overwritten_in_each_form(x):
    for form in ((x, x + 1), ((x, x + 1), [1.0]), ("name", x, x + 1), ("name", (x, x + 1), [1.0])):
        spec = convert_function_input(form)
        assert spec.mutable and spec.variable is x
    assert not convert_function_input((x, [1.0])).mutable


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_an_input_is_required_while_it_has_no_value(x, mode):
    y, total = at.dvectors("y", "total")
    inputs = [In(x, value=[1.0]), In(y, value=[10.0]), In(total, value=[0.0], update=total + x)]
    f = aesara.function(inputs, x + y + total, mode=mode)
    assert f().tolist() == [11.0]
    f.value[x] = [3.0]
    assert f.value[x].tolist() == [3.0]
    assert [f().tolist() for _ in range(2)] == [[14.0], [17.0]]
    f.value[x] = None
    with pytest.raises(TypeError, match="x"):
        f()
    assert f([2.0]).tolist() == [19.0]
    f.value[x], f.value[total] = [4.0], [100.0]
    assert [f().tolist() for _ in range(2)] == [[114.0], [118.0]]
    assert f([1.0], [20.0]).tolist() == [129.0] and f().tolist() == [123.0]


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_brackets_around_a_number(mode):
    n = at.dscalar("n")
    f = aesara.function([n], n * 2, mode=mode)
    for value in (3.0, [3.0], (3.0,), [[3.0]], np.array([3.0]), np.array([[3.0]]), [np.array([3.0])]):
        assert f(value) == 6.0
    for value in ([1.0, 2.0], [], np.zeros(2), np.zeros(0), np.zeros((2, 1)), "text"):
        with pytest.raises((TypeError, ValueError)):
            f(value)


def test_what_is_no_value_of_a_type_without_a_shape():
    values = TypedListType(at.dvector().type)("values")
    f = aesara.function([values], values.append(at.ones(1)), mode="FAST_COMPILE")
    with pytest.raises(TypeError, match="values"):
        f(3.0)
