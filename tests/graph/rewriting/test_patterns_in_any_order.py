"""Inputs of commutative operations match patterns in any order, and further inputs have a name together."""

import aesara.tensor as at
from aesara.graph.rewriting.matching import LogicVariable, as_pattern, matches
from aesara.graph.rewriting.pattern import rule

x, y, z = at.dvectors("x", "y", "z")


def ways(pattern, var):
    return list(matches(as_pattern(pattern), var, commutative=True))


def test_all_orders_are_found_one_after_the_other():
    found = ways((at.add, "a", "b", "**others"), at.add(x, y, z))
    assert [(way["a"], way["b"]) for way in found] == [(x, y), (x, z), (y, x), (y, z), (z, x), (z, y)]
    assert [way["others"] for way in found] == [[z], [y], [z], [x], [y], [x]]


def test_inputs_of_other_operations_match_in_their_order():
    assert ways((at.sub, "a", "b"), x - y) == [{"a": x, "b": y}]


def test_a_rest_is_not_empty_but_a_list_may_be():
    assert ways((at.add, "a", "b", "*rest"), x + y) == []
    assert ways((at.add, "a", "b", "**others"), x + y)[0] == {"a": x, "b": y, "others": []}


def test_an_input_is_tried_if_others_match_before_it():
    """A sum of 300 terms has 90,000 pairs of them."""
    asked = []
    never = LogicVariable("a", lambda var: asked.append(var))
    terms = at.dvectors(*(f"v{k}" for k in range(300)))
    assert ways((at.add, never, "b", "**others"), at.add(*terms)) == []
    assert asked == list(terms)


def test_rules_about_equal_operands():
    twice = rule("twice", (at.add, "x", "x"), lambda x: 2 * x)
    assert twice.transform(None, (x + x).owner)
    assert not twice.transform(None, (x + y).owner)
    assert twice.transform(None, at.add(at.constant(0.5), at.constant(0.5)).owner)
