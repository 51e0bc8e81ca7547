"""Patterns whose ops are one of several, or have attributes that matter."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import scalar as aes
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import in2out, rule
from aesara.graph.rewriting.matching import Ops, extract, one_of, unify
from aesara.graph.rewriting.pattern import Rule
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.scalar.composite import Composite
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.joining.join_split import Join
from aesara.tensor.reductions.sum_prod_max import Max, Sum
from aesara.tensor.rewriting.rows import replacing, row
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape

x, m = at.dvector("x"), at.dmatrix("m")


def rewritten(expression, *rules):
    return rewrite_graph(expression, include=(), custom_rewrite=in2out(*rules), clone=False)


def test_one_of_several_ops_is_matched():
    pattern = (one_of(at.sin, at.cos), "x")
    assert unify(pattern, at.sin(x)) == unify(pattern, at.cos(x)) == {"x": x}
    assert unify(pattern, at.tan(x)) is None


def test_the_op_has_a_name_that_replacements_use():
    even = rule("even", (one_of(at.cos, at.cosh, name="f"), (at.neg, "x")), ("f", "x"))
    formula = at.cosh(-x) + at.cos(-x) + at.sin(-x)
    assert aesara.pprint(rewritten(formula, even)) == "((cosh(x) + cos(x)) + sin((-x)))"


def test_a_name_stands_for_one_op():
    zero = at.constant(0, dtype="float64")
    twice = rule("twice", (one_of(Sum, Max, name="f"), (one_of(Sum, Max, name="f"), "x")), lambda f, x: zero)
    inner = at.sum(m, axis=0)
    assert rewritten(at.sum(inner, axis=0), twice).owner is None
    assert rewritten(at.max(inner, axis=0), twice).owner is not None


def test_a_string_in_place_of_an_op_stands_for_any_op():
    same = rule("same", ("f", ("f", "x")), ("f", "x"))
    assert rewritten(at.abs(at.abs(x)), same).owner.inputs[0] is x
    assert rewritten(at.abs(at.neg(x)), same).owner.inputs[0] is not x


@pytest.mark.parametrize(
    "wanted, matched",
    [((1, 0), True), ((0, 1), False), (lambda order: "x" not in order, True), ({(1, 0)}, True), ({(0, 1)}, False)],
)
def test_attributes_have_to_be_as_wanted(wanted, matched):
    assert (unify((one_of(DimShuffle, new_order=wanted), "x"), m.T) is not None) == matched


def test_attributes_are_bound_to_names():
    merge = rule(
        "merge",
        (one_of(DimShuffle, new_order="outer"), (one_of(DimShuffle, new_order="inner"), "x")),
        lambda outer, inner, x: x.dimshuffle(*(inner[i] for i in outer)),
        lambda outer: "x" not in outer,
    )
    new = rewritten(m.T.dimshuffle(1, 0), merge).owner
    assert new.op.new_order == (0, 1) and new.inputs == [m]
    assert rewritten(m.T.dimshuffle(1, 0, "x"), merge).owner.inputs[0] is not m


def test_a_value_that_is_bound_twice_has_to_be_the_same():
    pattern = (one_of(Sum, axis="axis"), (one_of(Max, axis="axis"), "x"))
    assert unify(pattern, at.sum(at.max(m, axis=0), axis=0)) == {"axis": (0,), "x": m}
    assert unify(pattern, at.sum(at.max(m, axis=1), axis=0)) is None


def test_a_rule_is_tried_on_nodes_of_any_of_its_ops():
    both = rule("both", (one_of(at.sin, Sum), (one_of(at.cos, Max), "x")), "x")
    assert both.tracks() == [at.sin, Sum]
    assert both.operands() == [at.cos, Max]


def test_functions_of_a_rule_may_take_the_graph():
    asked = []
    rule_ = rule("asks", (at.sin, "x"), lambda x, fgraph: asked.append(len(fgraph.clients[x])))
    rewritten(at.sin(x) + at.cos(x), rule_)
    assert asked == [2]


def test_what_must_hold_of_each_variable():
    pattern = ((at.add, "x", "y"), (at.sub, "x", "y"))
    wide = rule("wide", *pattern, each=lambda var, out: var.type.dtype == out.type.dtype)
    assert rewritten(x + x, wide).owner.op == at.sub
    assert rewritten(x + at.fvector(), wide).owner.op == at.add


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="axes"):
        rule("unknown", (one_of(Sum, axis="axis"), "x"), lambda axes: None)


def test_ops_say_what_they_are():
    assert str(one_of(at.sin, Sum)).endswith("| Sum")
    assert isinstance(one_of(Sum), Ops)


def test_further_inputs_are_a_list_or_left_out():
    y, z = at.dvectors("y", "z")
    joined = at.join(0, x, y, z)
    axis = joined.owner.inputs[0]
    assert unify((Join, "axis", "x", "**others"), joined) == {"axis": axis, "x": x, "others": [y, z]}
    assert unify((Join, "axis", "x", "y", "z", "**others"), joined)["others"] == []
    assert unify((Join, "axis", "x", ...), joined) == {"axis": axis, "x": x}
    assert unify((Join, "axis", "x", "y", "z", ...), joined) is not None
    assert unify((Join, "axis", "x", "y", "z", "w", ...), joined) is None
    assert unify((Join, "axis", "x"), joined) is None


def test_further_inputs_of_commutative_ops_are_those_that_no_pattern_took():
    total = at.add(x, at.exp(x), at.sin(x))
    taken = []
    note = rule("note", (at.add, (at.exp, "x"), "**others"), lambda x, others: taken.append((x, others)))
    rewritten(total, note)
    assert taken == [(x, [x, total.owner.inputs[2]])]


def test_the_node_has_a_name():
    pattern = (one_of(Sum, node="outer"), (one_of(Max, node="inner", axis=(0,)), "x"))
    total = at.sum(at.max(m, axis=0))
    inner = total.owner.inputs[0].owner
    assert unify(pattern, total) == {"outer": total.owner, "inner": inner, "x": m}
    assert (
        unify((at.add, (one_of(at.sin, node="n"), "x"), (one_of(at.sin, node="n"), "y")), at.sin(x) + at.sin(x)) is None
    )
    one = at.sin(x)
    assert (
        unify((at.add, (one_of(at.sin, node="n"), "x"), (one_of(at.sin, node="n"), "y")), one + one)["n"] is one.owner
    )


def test_descriptions_show_further_inputs():
    tells = rule("tells", (Join, "axis", "x", "**others"), lambda x: x)
    assert tells.description == "Join(axis, x, *others) becomes x"
    assert rule("tells", (Join, "axis", "x", ...), lambda x: x).description == "Join(axis, x, ...) becomes x"


def test_features_that_a_row_needs():
    needs = row(
        "needs", (at.sin, "x"), lambda x, fgraph: fgraph.shape_feature.shape_of[x][0], requirements=[ShapeFeature]
    )
    assert needs.has_requirements and not row("not", (at.sin, "x"), "x").has_requirements
    fgraph = FunctionGraph([x], [at.sin(x)], clone=False)
    needs.add_requirements(fgraph)
    needs.add_requirements(fgraph)
    assert isinstance(fgraph.shape_feature, ShapeFeature)


def test_only_inputs_of_elementwise_nodes_lengthen_replacements():
    part = row("part", (Subtensor, "x", ...), lambda x: at.constant([1.0]), each=None)
    assert rewritten(at.as_tensor(np.ones(3))[at.lscalar() :], part).type.shape == (1,)
    whole = row("whole", (at.sin, "x"), lambda x: at.cos(x)[:1], each=None)
    assert rewritten(at.sin(at.as_tensor(np.ones(3))), whole).type.shape == (3,)


def test_a_function_with_a_pattern_is_a_rule():
    @replacing((at.sin, (at.neg, "x")), lambda x: x.type.ndim == 1)
    def odd(x):
        """``sin(-x) -> -sin(x)``. That is faster."""
        return -at.sin(x)

    assert odd.name == "odd" and odd.description == "``sin(-x) -> -sin(x)``" and odd.tracks() == [at.sin]
    assert rewritten(at.sin(-x), odd).owner.op == at.neg
    assert rewritten(at.sin(-m), odd).owner.op == at.sin


def opposite_of(var):
    return var.owner.inputs[0] if var.owner is not None and var.owner.op == at.neg else None


def test_a_function_takes_a_variable_apart():
    even = rule("even", (at.cos, extract(opposite_of, "x")), (at.cos, "x"))
    assert aesara.pprint(rewritten(at.cos(-x) + at.cos(x), even)) == "(cos(x) + cos(x))"
    assert even.description == "cos(opposite_of(x)) becomes cos(x)"


def test_what_is_found_matches_patterns():
    def sides(var):
        return tuple(var.owner.inputs) if var.owner is not None and len(var.owner.inputs) == 2 else None

    pattern = (at.exp, extract(sides, (at.log, "a"), "b"))
    assert unify(pattern, at.exp(at.log(x) / 2))["a"] is x
    assert unify(pattern, at.exp(at.sin(x) / 2)) is None
    assert unify(pattern, at.exp(x)) is None


def test_what_is_found_need_not_be_a_variable():
    def length(var):
        return var.type.ndim or None

    found = rule("found", (at.exp, extract(length, "n")), lambda n, out: out * n)
    assert rewritten(at.exp(m), found).owner.op == at.mul
    assert rewritten(at.exp(at.dscalar()), found).owner.op == at.exp


def test_what_a_variable_is_taken_apart_for_has_one_client():
    even = rule("even", (at.cos, extract(opposite_of, "x")), (at.cos, "x"), single_client=True)
    assert rewritten(at.cos(-x), even).owner.inputs[0] is x
    y = -x
    assert rewritten(at.cos(y) + y, even).owner.inputs[0].owner.inputs[0] is not x


def test_hints_say_what_a_variable_comes_from():
    assert rule("hint", (at.cos, extract(opposite_of, "x", operands=[at.neg])), "x").operands() == [at.neg]


def _as_it_is(old, new, inputs):
    return new


def test_each_output_of_a_node_is_replaced():
    class Both(Ops):
        several_outputs = True

    both = Elemwise(Composite([a := aes.float64(), b := aes.float64()], [a + b, a * b]))
    swapped = Rule("swapped", (Both((Elemwise,), None, None, {}), "a", "b"), lambda a, b: [b, a], fit=_as_it_is)
    y = at.dvector()
    fgraph = FunctionGraph(outputs=both(x, y), clone=False)
    in2out(swapped).rewrite(fgraph)
    assert fgraph.outputs == [y, x]
    fgraph = FunctionGraph(outputs=both(x, x), clone=False)
    in2out(rule("never", (Elemwise, "a", "b"), "a")).rewrite(fgraph)
    assert isinstance(fgraph.outputs[0].owner.op.scalar_op, Composite)


def test_inputs_say_how_long_elementwise_results_are_and_no_others():
    wide = row("wide", (at.add, (at.mul, "x", 0), "y"), "y")
    assert rewritten(m * 0 + m[0], wide).eval({m: np.ones((2, 3))}).shape == (2, 3)
    shape = at.lvector()
    flat = row("flat", (one_of(Reshape), "x", shape), lambda x: at.reshape(x, (1, 6)), each=None)
    reshaped = rewritten(at.reshape(m, shape, ndim=2), flat)
    assert reshaped.eval({m: np.ones((2, 3)), shape: [1, 6]}, on_unused_input="ignore").shape == (1, 6)
