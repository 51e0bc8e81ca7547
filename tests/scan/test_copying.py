"""Copies for the steps of loops, and what is said of expressions that may, or may not, be used of a loop."""

import pytest

import aesara.tensor as at
from aesara.graph.basic import Constant, ancestors
from aesara.scan.op import copy_var_format
from aesara.scan.utils import Validator, forced_replace, reconstruct_graph, safe_new, traverse
from aesara.typed_list import TypedListType

x, y, z = at.dvectors("x", "y", "z")
middle = at.exp(x)


@pytest.mark.parametrize(
    "out, known, usable",
    [
        (x + 1, {"valid": [x]}, True),
        (x + y, {"valid": [x]}, False),
        (x + y, {"valid": [x, y]}, True),
        (at.constant([1.0, 2.0]) + 1, {}, True),
        (middle + x, {"valid": [x], "invalid": [middle]}, False),
        (x + 1, {"valid": [x], "invalid": [middle]}, True),
        (middle * 2, {"valid": [middle]}, True),
        (middle * 2, {"valid": [middle], "invalid": [x]}, True),
        (middle * 2, {"valid": [], "invalid": [middle]}, False),
        (x, {"valid": [], "invalid": [x]}, False),
    ],
)
def test_what_is_computed_of_valid_variables_and_constants_alone_may_be_used(out, known, usable):
    assert Validator(**known).check(out) == ((out, True) if usable else None)


@pytest.mark.parametrize("out", [y + 1, at.exp(y) * x, y])
@pytest.mark.parametrize("invalid", [[], [y]])
def test_variables_are_replaced_by_their_equivalents(out, invalid):
    found, is_same = Validator(valid=[x], invalid=invalid, valid_equivalent={y: z}).check(out)
    leaves = {v for v in ancestors([found]) if v.owner is None and v.name}
    assert not is_same and z in leaves and y not in leaves and found.type == out.type


def test_what_has_an_equivalent_may_be_computed_of_anything():
    found, is_same = Validator(valid_equivalent={middle: z}).check(middle * 2)
    assert not is_same and [v for v in ancestors([found]) if v.name] == [z]


@pytest.mark.parametrize(
    "of, given, name, type_",
    [
        (x, {}, "x", x.type),
        (x, {"tag": "_copy"}, "x_copy", x.type),
        (at.dvector(), {"tag": "_copy"}, None, x.type),
        (x, {"dtype": "float64"}, "x", x.type),
        (at.tensor("float64", shape=(3, None)), {"dtype": "float32"}, None, at.TensorType("float32", (3, None))),
        (TypedListType(x.type)("values"), {"dtype": "float32"}, "values", TypedListType(x.type)),
    ],
)
def test_a_new_variable_has_the_type_and_the_name_with_what_is_added(of, given, name, type_):
    new = safe_new(of, **given)
    assert new is not of and new.name == name and new.type == type_


@pytest.mark.parametrize("of", [2.5, at.constant(2.5)])
def test_constants_stay_but_for_another_dtype(of):
    assert safe_new(of).data == 2.5
    for dtype in ("float32", "float64"):
        new = safe_new(of, dtype=dtype)
        assert isinstance(new, Constant) and new.data == 2.5 and new.data.dtype == dtype == new.type.dtype
    constant = at.constant(2.5)
    assert safe_new(constant) is constant is safe_new(constant, dtype=constant.type.dtype)


def test_a_copied_graph_has_inputs_of_the_same_names():
    without_name = at.dvector()
    for tag, names in ((None, ["x", None]), ("_step", ["x_step", None])):
        inputs, (out,) = reconstruct_graph([x, without_name], [at.exp(x) - without_name], tag)
        assert [v.name for v in inputs] == names and [v for v in ancestors([out]) if v.owner is None] == inputs


def test_what_is_replaced_is_what_computes_the_same():
    sums = at.exp(x) + at.exp(y)
    replaced = forced_replace(sums, [at.exp(x), at.exp(y)], [y, z])
    assert replaced.owner.inputs == [y, z]
    kept = forced_replace(sums, (at.exp(x),), (z,)).owner.inputs
    assert kept[0] is z and kept[1].owner.inputs == [y]
    # what is behind a replaced expression is left alone
    assert forced_replace(at.exp(x), [at.exp(x), x], [y, z]) is y
    with pytest.raises(ValueError):
        forced_replace(sums, [at.exp(x), at.exp(y)], y)


def test_a_replacement_is_noted_where_the_variable_is_computed_from():
    for out in (middle * 2, [y, middle * 2], (middle,), x):
        assert traverse(out, x, z, {y: z}) == {y: z, x: z}
    for out in (None, [], (), y, [y * 2], at.exp(y)):
        assert traverse(out, x, z, {y: z}) == {y: z}
    visited = set()
    assert traverse(at.sin(middle), middle, z, {}, visited) == {middle: z}
    out = at.sin(middle)
    visited = {middle.owner}
    assert traverse(out, x, z, {}, visited) == {} and visited == {middle.owner, out.owner}
    assert traverse(out, y, z, {}, visited := set()) == {} and visited == {middle.owner, out.owner}


def test_a_format_is_copied_with_a_dimension_more():
    for given, wanted in (
        (at.tensor("float32", shape=(None,)), (3,)),
        (at.tensor("float32", shape=(5, None)), (5, 3)),
        (at.tensor("float64", shape=(None, 3)), (None, 3)),
    ):
        assert copy_var_format(given, at.tensor("float64", shape=(3,))).type == at.TensorType("float64", wanted)
    assert copy_var_format(x, y) is x
