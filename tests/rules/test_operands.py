"""Operands that rules declare as required are those that they require."""

import warnings

import numpy as np
import pytest

import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.node_rewriters import SequentialNodeRewriter
from aesara.graph.rewriting.pattern import rule
from aesara.graph.rewriting.tracker import OpToRewriterTracker
from aesara.graph.source import SourceLine, Sources, inherit_source
from aesara.tensor.elemwise import DimShuffle, Elemwise
from aesara.tensor.rewriting.algebraic_canonizer import AlgebraicCanonizer
from aesara.tensor.rewriting.constant_arithmetic import mul_calculate
from tests.fuzz.campaign import program_of


def test_rules_find_nothing_where_they_are_not_asked(monkeypatch):
    """Every rule that is left out for a node has nothing to say about it."""
    chosen = OpToRewriterTracker.get_node_trackers
    left_out = set()
    fgraphs = []

    def checked(self, node):
        asked = chosen(self, node)
        for rewriter in self.get_trackers(node.op):
            if not any(rewriter is one for one in asked):
                left_out.add(rewriter.name)
                assert not rewriter.transform_tracked(fgraphs[-1], node), f"{rewriter.name} on {node}"
        return asked

    attach = FunctionGraph.attach_feature
    monkeypatch.setattr(
        FunctionGraph, "attach_feature", lambda self, feature: (fgraphs.append(self), attach(self, feature))[1]
    )
    monkeypatch.setattr(OpToRewriterTracker, "get_node_trackers", checked)
    passes = get_mode("FAST_RUN").optimizer
    for seed in range(40):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            program = program_of(seed)
            names = [*program.outputs, *program.updates.values()]
            inputs = [program.variables[spec.name] for spec in program.inputs]
            passes.rewrite(FunctionGraph(inputs, [program.variables[name] for name in names]))
    assert len(left_out) > 50


@node_rewriter([Elemwise], operands=[at.exp, DimShuffle])
def after_exp(fgraph, node):
    """Only asked about what has an exponential, or dimensions rearranged, among its inputs."""
    return [node.inputs[0]]


@node_rewriter(None, operands=[Constant])
def after_number(fgraph, node):
    """Only asked about what has a constant among its inputs."""
    return [node.inputs[0]]


class TestOperands:
    def test_dispatch(self):
        x, m = at.dvector("x"), at.dmatrix("m")
        tracker = OpToRewriterTracker()
        tracker.add_tracker(after_exp)
        tracker.add_tracker(after_number)
        needs_value = rule("needs_value", (at.pow, "x", 2), (at.square, "x"))
        needs_log = rule("needs_log", (at.neg, (at.log, "x")), "x")
        tracker.add_tracker(needs_value)
        tracker.add_tracker(needs_log)

        def asked(var):
            return [rewriter.name for rewriter in tracker.get_node_trackers(var.owner)]

        assert asked(at.sin(x)) == []
        assert asked(at.sin(at.exp(x))) == ["after_exp"]
        assert asked(x + m) == ["after_exp", "after_number"]  # x has a dimension put in front
        assert asked(x + np.ones(3)) == ["after_number"]
        assert asked(at.exp(x) + np.ones(3)) == ["after_exp", "after_number"]
        assert asked(x**2) == ["after_exp", "after_number", "needs_value"]  # so has the number 2
        assert asked(x**x) == []
        assert asked(-at.log(x)) == ["needs_log"]
        assert asked(-at.sin(x)) == []
        assert list(tracker.get_trackers(at.neg)) == [after_exp, after_number, needs_log]

    def test_groups_need_what_one_of_theirs_needs(self):
        assert SequentialNodeRewriter(after_exp, after_number).operands() == [at.exp, DimShuffle, Constant]
        anywhere = node_rewriter([at.exp])(lambda fgraph, node: None)
        assert SequentialNodeRewriter(after_exp, anywhere).operands() is None

    @pytest.mark.parametrize("operands, kind", [([], ValueError), (["exp"], TypeError), ([np.ndarray], TypeError)])
    def test_no_operands(self, operands, kind):
        with pytest.raises(kind, match="operands"):
            node_rewriter([at.exp], operands=operands)


class TestSimplifiers:
    def test_asked_where_a_factor_comes_from_an_operand(self):
        canonizer = AlgebraicCanonizer(at.mul, at.true_divide, at.reciprocal, mul_calculate)
        asked = []

        def note(numerators, denominators):
            asked.append((list(numerators), list(denominators)))
            return numerators, denominators

        x, y = at.dvectors("x", "y")
        canonizer.add_simplifier(note, "note", operands=[at.exp, DimShuffle])
        for num, denum, times in (([x], [y], 0), ([at.exp(x)], [], 1), ([x], [y, at.exp(y)], 1), ([at.sin(x)], [], 0)):
            asked.clear()
            assert canonizer.simplify(num, denum, x.type) == (num, denum)
            assert len(asked) == times
        asked.clear()
        canonizer.simplify([at.dmatrix().T], [], at.dmatrix().type)
        assert len(asked) == 1
        canonizer.add_simplifier(lambda num, denum: (num, [*denum, y]), "always")
        assert canonizer.simplify([x], [], x.type) == ([x], [y])


def test_nodes_of_rules_have_the_source_of_what_they_replace():
    with inherit_source(SourceLine("model.py", 3, "build")):
        y = at.log(at.exp(at.dvector("x")))
    z = -y
    marked, own = y.owner.source, z.owner.source
    with Sources() as sources:
        sources.follow(y.owner)
        assert at.sin(y).owner.source == marked
        with inherit_source(z.owner):
            assert at.sin(y).owner.source == own
        sources.follow(z.owner)
        assert at.sin(y).owner.source == own
    assert at.sin(y).owner.source.lineno > own.lineno
    with inherit_source(y.owner), Sources() as sources:
        sources.follow(Apply(at.sin, [], []))
        assert at.sin(y).owner.source == marked
