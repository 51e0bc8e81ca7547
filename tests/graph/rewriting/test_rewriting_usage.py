"""Programs that use rewriting as libraries do: rules, patterns and walks of their own, graphs without functions."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import pprint
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.features import (
    Feature,
    ReplacementDidNotRemoveError,
)
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    MergeOptimizer,
    NodeProcessingGraphRewriter,
    NodeRewriter,
    PatternNodeRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    copy_stack_trace,
    graph_rewriter,
    in2out,
    inplace_graph_rewriter,
    node_rewriter,
    out2in,
)
from aesara.graph.rewriting.utils import get_clients_at_depth, is_same_graph, is_same_graph_with_merge, rewrite_graph
from aesara.raise_op import assert_op
from aesara.tensor.elemwise import DimShuffle, Elemwise
from tests.graph.rewriting.graphs import graph, text

x, y = at.dvectors("x", "y")


class Visits(NodeRewriter):
    """Writes down which nodes it is asked about, and replaces as a function says."""

    def __init__(self, replace=None):
        self.replace, self.seen = replace, []

    def tracks(self):
        return None

    def transform(self, fgraph, node):
        self.seen.append(pprint(node.outputs[0]))
        return self.replace(node) if self.replace else None


# Rules of one's own


def test_a_rule_is_an_object_with_the_name_of_its_function():
    @node_rewriter([at.exp])
    def local_mine(fgraph, node):
        """Takes an exponential away."""
        return [node.inputs[0]]

    assert (str(local_mine), local_mine.__name__, local_mine.__doc__) == (
        "local_mine",
        "local_mine",
        "Takes an exponential away.",
    )
    assert local_mine.tracks() == [at.exp]
    assert local_mine.transform(None, at.exp(x).owner) == [x]
    # What it does not track it is not asked about.
    assert local_mine.transform(None, at.log(x).owner) is False
    assert pprint(rewrite_graph(at.exp(x) + 1, include=(), custom_rewrite=in2out(local_mine))) == "(x + 1)"


@pytest.mark.parametrize("tracks", [[3], "exp", [int], [None]])
def test_tracks_are_ops_or_classes_of_ops(tracks):
    with pytest.raises(TypeError, match="Op"):
        node_rewriter(tracks)
    with pytest.raises(ValueError, match="None"):
        node_rewriter([])


def test_classes_of_ops_are_tracked():
    seen = []

    @node_rewriter([Elemwise, DimShuffle])
    def look(fgraph, node):
        seen.append(type(node.op))

    in2out(look).rewrite(graph(at.exp(x).dimshuffle("x", 0).sum()))
    assert seen == [Elemwise, DimShuffle]


def test_requirements_are_features_or_functions_of_the_graph():
    class Marks(Feature):
        pass

    def attach(fgraph):
        called.append(fgraph)

    called = []

    @node_rewriter([at.exp], inplace=True, requirements=(Marks, attach))
    def look(fgraph, node):
        assert {Marks, DestroyHandler} <= {type(feature) for feature in fgraph._features}

    for rewriter in (in2out(look), EquilibriumGraphRewriter([look], max_use_ratio=2)):
        fgraph = graph(at.exp(x))
        rewriter.rewrite(fgraph)
        assert called.pop() is fgraph


def test_outputs_may_be_kept():
    largest, where = at.max_and_argmax(x, axis=0)

    @node_rewriter([type(largest.owner.op)])
    def other_maximum(fgraph, node):
        return [node.inputs[0].sum(), None]

    fgraph = graph(largest, where)
    in2out(other_maximum, ignore_newtrees=True).rewrite(fgraph)
    assert text(fgraph).startswith("sum(x, axis=None), ") and fgraph.outputs[1] is where


def test_a_rule_may_replace_other_variables_and_say_what_must_go():
    @node_rewriter([at.exp])
    def above(fgraph, node):
        return {client.outputs[0]: at.log(node.inputs[0]) for client, _ in fgraph.clients[node.outputs[0]]}

    assert pprint(rewrite_graph(at.sin(at.exp(x)), include=(), custom_rewrite=in2out(above))) == "log(x)"

    @node_rewriter([at.exp])
    def keeps_it(fgraph, node):
        return {node.outputs[0]: at.log(node.outputs[0]), "remove": [node]}

    fgraph = graph(at.exp(x))
    walk = WalkingGraphRewriter(keeps_it)
    with pytest.warns(UserWarning, match="undone"), pytest.raises(ReplacementDidNotRemoveError):
        walk.rewrite(fgraph)
    assert text(fgraph) == "exp(x)"


@pytest.mark.parametrize("result, error", [(5, TypeError), (True, TypeError), ("xy", TypeError)])
def test_what_a_rule_may_not_return(result, error):
    @node_rewriter([at.exp])
    def wrong(fgraph, node):
        return result

    fgraph = graph(at.exp(x))
    with pytest.raises(error, match="wrong"):
        WalkingGraphRewriter(wrong).rewrite(fgraph)

    @node_rewriter([at.exp])
    def too_many(fgraph, node):
        return [node.inputs[0], node.inputs[0]]

    with pytest.raises(ValueError, match="2 replacements for the 1 outputs"):
        WalkingGraphRewriter(too_many).rewrite(fgraph)
    assert text(fgraph) == "exp(x)"


def test_functions_of_graphs():
    @graph_rewriter
    def first_input(fgraph):
        """Takes everything away."""
        fgraph.replace(fgraph.outputs[0], fgraph.inputs[0], reason="first_input")
        return "done"

    fgraph = graph(at.exp(x))
    assert first_input.rewrite(fgraph) == "done" and first_input(fgraph) == "done"
    assert text(fgraph) == "x" and first_input.__name__ == "first_input"


def test_functions_that_overwrite_get_a_destroy_handler():
    @inplace_graph_rewriter
    def look(fgraph):
        seen.extend(type(feature) for feature in fgraph._features)

    seen = []
    fgraph = graph(at.exp(x))
    look.rewrite(fgraph)
    look.rewrite(fgraph)
    assert seen.count(DestroyHandler) == 2 and look.__name__ == "look"


# Patterns


@pytest.mark.parametrize(
    "pattern, replacement, expression, result",
    [
        ((at.add, "a", (at.neg, "b")), (at.sub, "a", "b"), x + (-y), "(x - y)"),
        ((at.sub, "a", "a"), (at.exp, "a"), x - x, "exp(x)"),
        ((at.sub, "a", "a"), (at.exp, "a"), x - y, "(x - y)"),
        ((at.exp, (at.log, "a")), "a", at.exp(at.log(x + y)), "(x + y)"),
        ((at.mul, "a", 2), (at.add, "a", "a"), x * 2, "(x + x)"),
        ((at.mul, "a", 2), (at.add, "a", "a"), x * 3, "(x * 3)"),
        ((at.exp, "a"), (at.mul, "a", 2.5), at.exp(x), "(x * 2.5)"),
        ((at.log, {"pattern": "a", "constraint": lambda a: a.owner is None}), (at.sin, "a"), at.log(x), "sin(x)"),
        ((at.log, {"pattern": "a", "constraint": lambda a: a.owner is None}), "a", at.log(at.exp(x)), "log(exp(x))"),
        ((Elemwise, (at.log, "a")), "a", at.exp(at.log(x)), "x"),
    ],
)
def test_patterns(pattern, replacement, expression, result):
    fgraph = FunctionGraph(outputs=[expression])
    out2in(PatternNodeRewriter(pattern, replacement), name="mine").rewrite(fgraph)
    assert text(fgraph) == result


def test_patterns_and_other_users():
    def rewritten(**options):
        inner = at.exp(x)
        fgraph = graph(at.sub(inner, at.sin(inner)))
        out2in(PatternNodeRewriter((at.sub, (at.exp, "a"), "b"), (at.add, "a", "b"), **options)).rewrite(fgraph)
        return text(fgraph)

    assert rewritten() == "(exp(x) - sin(exp(x)))"
    assert rewritten(allow_multiple_clients=True) == "(x + sin(exp(x)))"


def test_patterns_that_start_elsewhere():
    pattern = PatternNodeRewriter(
        (at.exp, (at.log, "a")),
        "a",
        tracks=[at.log],
        get_nodes=lambda fgraph, node: [client for client, _ in fgraph.clients[node.outputs[0]]],
    )
    assert pattern.tracks() == [at.log]
    assert pprint(rewrite_graph(at.exp(at.log(x)), include=(), custom_rewrite=in2out(pattern))) == "x"


def test_patterns_carry_a_comparison():
    def close_enough(a, b):
        return True

    pattern = PatternNodeRewriter((at.exp, "a"), (at.log, "a"), values_eq_approx=close_enough, name="mine")
    fgraph = graph(at.exp(x))
    (new,) = pattern.transform(fgraph, fgraph.outputs[0].owner)
    assert new.tag.values_eq_approx is close_enough and str(pattern) == "mine"


def test_replacements_of_other_types_are_not_made():
    integers = at.lvector("integers")
    for pattern, replacement, expression in (
        ((at.exp, "a"), "a", at.exp(integers)),
        ((at.exp, "a"), (at.sum, "a"), at.exp(x)),
    ):
        fgraph = graph(expression)
        out2in(PatternNodeRewriter(pattern, replacement)).rewrite(fgraph)
        assert fgraph.outputs[0] is expression


def test_patterns_start_with_an_op():
    with pytest.raises(TypeError, match="must start"):
        PatternNodeRewriter("a", "b")
    with pytest.raises(TypeError, match="logic variable"):
        PatternNodeRewriter((at.exp, {"pattern": (at.log, "a"), "constraint": bool}), "a")


def test_substitutions_keep_tags():
    old = at.exp(x)
    old.tag.note = "kept"
    assert SubstitutionNodeRewriter(at.exp, at.log).transform(None, old.owner)[0].tag.note == "kept"
    (new,) = SubstitutionNodeRewriter(at.exp, at.log, transfer_tags=False).transform(None, old.owner)
    assert not hasattr(new.tag, "note")
    assert SubstitutionNodeRewriter(at.exp, at.log).transform(None, at.sin(x).owner) is False


# Walks


def down(node):
    if node.op == at.exp:
        return [at.log(node.inputs[0])]
    if node.op == at.log:
        return [at.sin(node.inputs[0])]
    return None


@pytest.mark.parametrize("walk", [in2out, out2in])
def test_walks_over_new_nodes(walk):
    for ignore_newtrees, result in ((True, "cos(log(x))"), (False, "cos(sin(x))")):
        fgraph = graph(at.cos(at.exp(x)))
        walk(Visits(down), name="mine", ignore_newtrees=ignore_newtrees).rewrite(fgraph)
        assert text(fgraph) == result
    with pytest.raises(TypeError):
        walk(Visits(), unknown=3)


def test_orders():
    for order, seen in (("in_to_out", ["exp(x)", "sin(exp(x))"]), ("out_to_in", ["sin(exp(x))", "exp(x)"])):
        visits = Visits()
        WalkingGraphRewriter(visits, order).rewrite(graph(at.sin(at.exp(x))))
        assert visits.seen == seen
    with pytest.raises(ValueError, match="order"):
        WalkingGraphRewriter(Visits(), "sideways")


def test_failures_are_handed_on():
    def boom(node):
        raise ValueError("boo")

    def note(error, rewriter, pairs, rule, node):
        told.append((str(error), type(rewriter), pairs, rule, node))

    for make in (
        lambda rule: WalkingGraphRewriter(rule, failure_callback=note),
        lambda rule: EquilibriumGraphRewriter([rule], max_use_ratio=2, failure_callback=note),
    ):
        told, rule, fgraph = [], Visits(boom), graph(at.exp(x))
        rewriter = make(rule)
        rewriter.rewrite(fgraph)
        output = fgraph.outputs[0]
        assert told == [("boo", type(rewriter), [(output, None)], rule, output.owner)]
    with aesara.config.change_flags(on_opt_error="raise"), pytest.raises(ValueError, match="boo"):
        in2out(Visits(boom), name="mine").rewrite(graph(at.exp(x)))


def test_rewriters_that_choose_their_nodes():
    class LastFirst(NodeProcessingGraphRewriter):
        def apply(self, fgraph):
            events = []
            updater = self.attach_updater(
                fgraph,
                lambda node: events.append(("in", str(node.op))),
                lambda node: events.append(("out", str(node.op))),
                lambda node, i, old, new, reason: events.append((i, pprint(old), pprint(new))),
                name="mine",
            )
            for node in reversed(fgraph.toposort()):
                self.process_node(fgraph, node)
            self.detach_updater(fgraph, updater)
            fgraph.replace(fgraph.outputs[0], x)
            return events

    rewriter = LastFirst(SubstitutionNodeRewriter(at.exp, at.log), False)
    assert rewriter.rewrite(graph(at.sin(at.exp(x)))) == [
        ("in", "Elemwise{log,no_inplace}"),
        ("out", "Elemwise{exp,no_inplace}"),
        (0, "exp(x)", "log(x)"),
    ]
    # Without functions there is nothing to attach.
    assert rewriter.attach_updater(graph(at.exp(x)), None, None) is None


def test_groups_go_on_with_what_comes_out():
    one, two = SubstitutionNodeRewriter(at.exp, at.log), SubstitutionNodeRewriter(at.log, at.sin)
    fgraph = graph(at.exp(x))
    node = fgraph.outputs[0].owner
    assert pprint(SequentialNodeRewriter(one, two).transform(fgraph, node)[0]) == "log(x)"
    assert pprint(SequentialNodeRewriter(one, two, apply_all_rewrites=True).transform(fgraph, node)[0]) == "sin(x)"
    assert SequentialNodeRewriter(one, two).tracks() == [at.exp, at.log]
    assert SequentialNodeRewriter(one, Visits()).tracks() is None


def test_equilibria_come_to_an_end(capsys):
    turns = [SubstitutionNodeRewriter(at.exp, at.log), SubstitutionNodeRewriter(at.log, at.exp)]
    EquilibriumGraphRewriter(turns, max_use_ratio=4).rewrite(graph(at.exp(x)))
    assert "does not come to an end" in capsys.readouterr().err


def test_merging_keeps_what_must_be_checked():
    checked = assert_op(x, x.sum() > 0)
    fgraph = graph(at.exp(checked) + at.exp(x))
    MergeOptimizer().rewrite(fgraph)
    assert fgraph.outputs[0].owner.inputs[0] is not fgraph.outputs[0].owner.inputs[1]
    # Zeros of other signs, and other dtypes, are other constants; NaN is NaN.
    for value, other, same in ((0.0, -0.0, False), (np.nan, np.nan, True), (2.0, 2, False)):
        fgraph = graph(at.exp(at.constant(value)), at.exp(at.constant(other)))
        MergeOptimizer().rewrite(fgraph)
        assert (fgraph.outputs[0] is fgraph.outputs[1]) == same


# Graphs without functions


def test_rewriting_in_place_and_in_a_copy():
    expression = at.exp(x * y / x)
    copy = rewrite_graph(expression, clone=True)
    assert (pprint(copy), pprint(expression)) == ("exp(y)", "exp(((x * y) / x))")
    fgraph = FunctionGraph([x, y], [expression])
    assert rewrite_graph(fgraph) is fgraph and text(fgraph) == "exp(y)"
    assert [pprint(v) for v in rewrite_graph([x * y / x, x + 0])] == ["y", "x"]
    assert pprint(rewrite_graph(x * y / x, exclude=("local_mul_canonizer",))) == "((x * y) / x)"
    assert pprint(rewrite_graph(x + 0, include=())) == "(x + 0)"


def test_the_same_graph():
    z = at.dvector("z")
    for same in (is_same_graph, is_same_graph_with_merge):
        assert same(x + y, x + y) and same(x, x)
        assert not same(x + y, y + x) and not same(x + y, x + z)
        assert same(x + y, x + z, givens={z: y}) and same(x + y, x + z, givens=[(z, y)])


def test_users_further_up():
    inner = x + 1
    outer = at.exp(inner)
    fgraph = graph(at.log(outer), at.sin(outer))
    found = [[str(n.op) for n in get_clients_at_depth(fgraph, inner.owner, depth)] for depth in (1, 2)]
    assert found == [["Elemwise{exp,no_inplace}"], ["Elemwise{log,no_inplace}", "Elemwise{sin,no_inplace}"]]


def test_lines_are_handed_on():
    old, new = at.exp(x), at.log(x)
    assert copy_stack_trace(old, new) is new
    assert copy_stack_trace([old], [new, at.sin(x)]) is not None
