"""Replacements with lists of further inputs, and what is made of rows about ops of several kinds."""

import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import in2out, rule
from aesara.graph.rewriting.describe import op_text
from aesara.graph.rewriting.matching import one_of, reify, unify
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.rows import row
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.specify_shape import SpecifyShape

x, n = at.dvector("x"), at.lscalar("n")


def test_a_replacement_has_the_further_inputs_in_their_order():
    found = unify((at.exp, (Alloc, "x", "**n")), at.exp(at.alloc(x, 2, n, 3)))
    new = reify((alloc, (at.exp, "x"), "**n"), found).owner
    assert new.inputs[0].owner.inputs == [x]
    assert [getattr(length, "data", length) for length in new.inputs[1:]] == [2, n, 3]


def test_a_replacement_without_further_inputs():
    found = unify((Alloc, "x", "**n"), alloc(at.dscalar("s")))
    assert found["n"] == [] and len(reify((alloc, "x", "**n"), found).owner.inputs) == 1


def test_ops_of_several_kinds_are_shown_one_by_one():
    assert op_text(one_of(at.sin, at.exp, Sum)) == "sin | exp | Sum"


def test_only_nodes_that_a_row_tracks_are_tried():
    asked = []
    even = rule("even", (at.cos, (at.neg, "x")), (at.cos, "x"), lambda x: asked.append(x) or True)
    even.transform, transform = lambda fgraph, node: (asked.append(node.op), transform(fgraph, node))[1], even.transform
    fgraph = FunctionGraph(outputs=[at.sin(-x) + at.exp(at.cos(-x))], clone=False)
    in2out(even).rewrite(fgraph)
    assert asked == [at.cos, x]


def test_what_replaces_no_elementwise_operation_is_not_broadcast():
    """The reshape says less of its result than what replaces it: inputs of the same rank have other lengths."""
    m = at.dmatrix("m")
    flat = row("flat", (Reshape, "m", "shape"), lambda m: at.specify_shape(m, (1, None)), each=None)
    new = rewrite_graph(m.reshape(at.lvector("lengths"), ndim=2), include=(), custom_rewrite=in2out(flat), clone=False)
    assert isinstance(new.owner.op, SpecifyShape) and new.owner.inputs[0] is m


def test_equal_constants_stand_for_one_variable_behind_another_operand():
    same = rule("same", (at.switch, "condition", "x", "x"), "x")
    mask, one, again = at.bvector("mask"), at.constant([1.0]), at.constant([1.0])
    node = at.switch(mask, one, again).owner
    assert one is not again and same.transform(FunctionGraph(outputs=node.outputs, clone=False), node) is not False
