"""What every kind of rewriter, database and remark promises, on toy operations."""

import io
import itertools

import pytest

from aesara import clock
from aesara.configdefaults import config
from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.formatting import as_string
from aesara.graph.nodes import Constant
from aesara.graph.rewriting.basic import (
    ChangeTracker,
    EquilibriumGraphRewriter,
    OpKeyGraphRewriter,
    PatternNodeRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    copy_stack_trace,
    in2out,
    node_rewriter,
    out2in,
    pre_greedy_node_rewriter,
    rule,
)
from aesara.graph.rewriting.db import EquilibriumDB, ProxyDB, RewriteDatabase, RewriteDatabaseQuery, SequenceDB
from aesara.graph.rewriting.matching import as_pattern, matches
from aesara.graph.rewriting.node_rewriters import MetaNodeRewriter, MetaNodeRewriterSkip
from aesara.graph.rewriting.processing import DispatchingFeature
from aesara.graph.rewriting.relational import Var, conso
from aesara.graph.rewriting.rewriter import GraphRewriter, NodeRewriter, report_rewrite_failure
from aesara.graph.rewriting.stack_trace import _nodes_to_check, inherit_stack_trace
from aesara.graph.rewriting.watching import name_of
from aesara.graph.source import SourceLine
from tests.graph.graph_toys import Double, Toy, chain, double, f, g, h, pair, variables


class Counts(GraphRewriter):
    def apply(self, fgraph):
        return len(fgraph.apply_nodes)


def test_graph_rewriters(capsys):
    x = double("x")
    fgraph, rewriter = FunctionGraph([x], [f(x)]), Counts()
    assert rewriter.rewrite(fgraph) == rewriter.optimize(fgraph) == rewriter(fgraph) == 1
    node = fgraph.outputs[0].owner
    assert rewriter.is_worth_repeating(fgraph, [node]) is True and rewriter.is_worth_repeating(fgraph, []) is False
    stream = io.StringIO()
    for profile in ("figures", None):
        rewriter.print_profile(stream, profile, level=1)
    assert stream.getvalue() == "    figures\n"


def test_profiles_of_sequences_name_what_has_no_name():
    named, other = Counts(), Counts()
    named.name = "named"
    sequence = SequentialGraphRewriter(named, other)
    stream = io.StringIO()
    sequence.print_profile(stream, None)
    assert stream.getvalue() == ""
    sequence.print_profile(stream, (sequence, [(named, 0.5), (other, 0.25)], [3, 2, 1], None), level=1)
    lines = stream.getvalue().splitlines()
    assert lines[0] == f"    SequentialGraphRewriter {sequence.name} time 0.750s, nodes 3 -> 1"
    assert lines[1:] == ["        0.500000s  named  nodes 3 -> 2", "        0.250000s  Counts  nodes 2 -> 1"]


def test_trackers_of_changes():
    x = double("x")
    fgraph = FunctionGraph([x], [f(x)], clone=False, features=[tracker := ChangeTracker()])
    tracker.reset()
    assert not tracker.changed
    fgraph.replace(fgraph.outputs[0], g(x))
    assert tracker.changed and tracker.nb_imported == 2
    tracker.reset()
    assert not tracker.changed and not tracker.clone().changed
    fgraph.attach_feature(ChangeTracker())
    assert fgraph._features == [tracker]
    fgraph.replace(fgraph.outputs[0], h(x))
    fgraph.remove_feature(tracker)
    assert tracker.changed and not hasattr(fgraph, "change_tracker")
    fgraph.attach_feature(tracker)  # which starts anew
    assert (tracker.changed, tracker.nb_imported) == (False, 0)


@pytest.mark.parametrize("verbosity", ["low", "high"])
def test_a_failure_says_how_to_see_more(verbosity, capsys):
    try:
        raise ValueError("wrong")
    except ValueError as error:
        with config.change_flags(on_opt_error="warn", exception_verbosity=verbosity):
            report_rewrite_failure(error, "some rule")
    printed = capsys.readouterr().err
    assert "Rewrite failure due to: some rule" in printed and "ValueError: wrong" in printed
    assert ("exception_verbosity = 'high' shows the whole traceback" in printed) == (verbosity == "low")


# Walks


@pytest.mark.parametrize("walk, expected", [(in2out, "b a f1 f2 f3 a c"), (out2in, "c a a f3 f2 f1 b")])
def test_new_nodes_are_visited_in_the_direction_of_the_walk(walk, expected):
    """Right after the node that they stand for; in the one direction inputs come first, in the other they come last."""
    x = double("x")
    a, b, c = (Toy(name) for name in "abc")
    seen = []

    @node_rewriter(None)
    def look(fgraph, node):
        seen.append(str(node.op))
        if node.op == a and seen.count("a") == 1:
            return [a(Toy("f3")(Toy("f2")(Toy("f1")(*node.inputs))))]
        return None

    fgraph = FunctionGraph([x], [c(a(b(x)))], clone=False)
    assert walk(look).apply(fgraph) == 1
    assert seen == expected.split()


def test_walks_say_at_how_many_nodes_they_have_replaced_something():
    x = double("x")
    fgraph = FunctionGraph([x], [chain(x, 3, f)], clone=False)
    assert WalkingGraphRewriter(SubstitutionNodeRewriter(g, h)).apply(fgraph) == 0
    grouped = SequentialNodeRewriter(SubstitutionNodeRewriter(g, h))
    assert in2out(grouped).apply(fgraph) == 0
    assert WalkingGraphRewriter(SubstitutionNodeRewriter(f, g)).apply(fgraph) == 3
    assert in2out(grouped).apply(fgraph) == 3 and str(fgraph) == "FunctionGraph(h(h(h(x))))"


def test_walks_by_operation():
    x = double("x")
    seen = []

    class Look(NodeRewriter):
        op_key = staticmethod(lambda: [f, g])

        def transform(self, fgraph, node):
            seen.append(node.op)
            return [g(*node.inputs)] if node.op == f else None

    fgraph = FunctionGraph([x], [f(h(g(x)))], clone=False)
    OpKeyGraphRewriter(Look()).rewrite(fgraph)
    assert seen == [f, g, g] and str(fgraph) == "FunctionGraph(g(h(g(x))))"


def test_greedy_rewriting_tries_what_tracks_the_operation():
    x = double("x")
    seen = []

    @node_rewriter([f, (Toy, float)])
    def look(fgraph, node):
        seen.append(node.op)
        return [h(*node.inputs)]

    out = pre_greedy_node_rewriter(FunctionGraph([x], [x], clone=False), [look], g(f(g(x))))
    assert seen == [f] and str(out.owner) == "g(h.0)"


def test_what_is_not_in_a_graph_yet_is_rewritten_until_nothing_applies():
    """What a rewriter says of it: another value, the same, values of other variables, or nothing."""
    x, y = variables("xy")
    inside = f(x)
    fgraph = FunctionGraph([x], [inside], clone=False)
    same, endless, several = Toy("same"), Toy("endless"), Toy("several", nout=2)
    asked = []

    @node_rewriter([f, h, same, several])
    def first(fgraph, node):
        asked.append(node.op)
        if node.op == several:
            return [h(*node.inputs), h(*node.inputs)]
        return {f: [g(*node.inputs)], h: {node.outputs[0]: y}, same: node.outputs}[node.op]

    @node_rewriter([h, same, endless])
    def second(fgraph, node):
        if node.op == endless:
            return [endless(node.inputs[0], *node.inputs)] if len(node.inputs) % 2 else [node.op(*node.inputs)]
        return [y] if node.op == same else None

    for given, expected, calls in [
        (x, "x", []),
        (inside, "f(x)", []),
        (f(inside), "g(f(x))", [f]),
        (g(f(y)), "g(g(y))", [f]),
        (f(f(y)), "g(g(y))", [f, f]),
        (h(f(y)), "h(g(y))", [f, h]),
        (same(x), "y", [same]),
        (f(same(x), g(x)), "g(y, g(x))", [same, f]),
        (g(*several(f(x))), "g(*1 -> several(g(x)), *1::1)", [f]),
    ]:
        asked.clear()
        found = pre_greedy_node_rewriter(fgraph, [first, second], given)
        assert as_string([x, y], [found]) == [expected] and asked == calls, expected
        if expected in ("x", "f(x)"):
            assert found is given
    assert as_string([x], [pre_greedy_node_rewriter(None, [first], f(inside))]) == ["g(g(x))"]
    assert as_string([x, y], [inside]) == ["f(x)"]
    assert pre_greedy_node_rewriter(fgraph, [second], endless(x)).owner.op == endless  # comes to an end


@pytest.mark.parametrize("all_of_them", [False, True])
def test_groups_go_on_with_one_new_node_whose_inputs_the_graph_knows(all_of_them):
    x, y = variables("xy")
    known, stranger = h(x), h(y)
    fgraph = FunctionGraph([x], [f(known), f(g(x)), pair(x)[0]], clone=False)
    single, double_ = fgraph.outputs[0].owner, fgraph.outputs[2].owner
    in_graph = fgraph.outputs[1].owner.inputs[0]
    seen = []
    for node, result, goes_on in [
        (single, [g(x)], True),
        (single, [g(known)], True),
        (single, (g(known),), True),
        (single, [g(known, y)], True),
        (single, [g(Constant(Double(), 1.0))], True),
        (single, [x], False),
        (single, [None], False),
        (single, [in_graph], False),
        (single, [pair(x)[1]], False),
        (single, [g(stranger)], False),
        (single, [g(known, stranger)], False),
        (single, {fgraph.outputs[0]: g(x)}, False),
        (double_, [g(x), g(x)], False),
    ]:
        seen.clear()

        @node_rewriter([f, pair])
        def first(fgraph, node, result=result):
            return result

        @node_rewriter(None)
        def second(fgraph, node):
            seen.append(node)

        group = SequentialNodeRewriter(first, second, apply_all_rewrites=all_of_them)
        assert group.transform(fgraph, node) == (list(result) if all_of_them and type(result) is tuple else result)
        assert seen == ([result[0].owner] if goes_on and all_of_them else []), result
        assert group.applied_last == [first]
    group = SequentialNodeRewriter(first, second, apply_all_rewrites=all_of_them)
    assert not group.transform(fgraph, known.owner) and seen == [known.owner] and group.applied_last == []


def test_a_chosen_rewriter_is_named_where_that_is_wanted(capsys):
    class Meta(MetaNodeRewriter):
        times = {"g": 2.0, "h": 1.0}

        def compile_candidate(self, outputs):
            return lambda: outputs[0].owner.op.name

        def time_call(self, fn):
            return self.times[fn()]

    x = double("x")
    fgraph = FunctionGraph([x], [f(x)], clone=False)
    for verbose, lines in ((0, 0), (1, 1), (2, 3)):
        with config.change_flags(metaopt__verbose=verbose):
            meta = Meta()
        meta.register(SubstitutionNodeRewriter(f, g), ["a"])
        meta.register(SubstitutionNodeRewriter(f, h), ["a", "b"])
        assert meta.transform(fgraph, fgraph.outputs[0].owner)[0].owner.op == h
        printed = capsys.readouterr().out.splitlines()
        assert len(printed) == lines and ("is chosen for f(x)" in printed[-1] if printed else verbose == 0)


def test_candidates_are_found_by_operation_and_by_class_and_timed(monkeypatch):
    x = double("x")
    fgraph, meta = FunctionGraph([x], [f(x)], clone=False), MetaNodeRewriter()
    node = fgraph.outputs[0].owner
    rewriters = [node_rewriter(tracks)(lambda fgraph, node: None) for tracks in ([Toy], [f], [Toy, f], [g])]
    for rewriter in rewriters:
        meta.register(rewriter, [])
    assert meta.get_rewrites(node) == [rewriters[0], rewriters[2], rewriters[1]]
    assert meta.tracks() == [Toy, f, Toy, f, g] and meta.rewriters == rewriters
    ticks = iter([100.0, 103.0])
    monkeypatch.setattr(clock, "now", lambda: next(ticks))
    assert meta.time_call(lambda: None) == 3.0


# Groups


class Marked(NodeRewriter):
    def __init__(self, reentrant, retains_inputs):
        self.reentrant, self.retains_inputs = reentrant, retains_inputs

    def transform(self, fgraph, node):
        return None


def test_a_group_is_what_its_rewriters_are():
    kinds = list(itertools.product([False, True], repeat=2))
    for first, second in itertools.product(kinds, repeat=2):
        group = SequentialNodeRewriter(Marked(*first), Marked(*second))
        assert group.reentrant == (first[0] or second[0]) and group.retains_inputs == (first[1] and second[1])


def test_groups_go_on_with_a_single_result_that_is_new():
    """Of a node with one output whose inputs the graph knows; otherwise the first result stands."""
    x, y = variables("xy")
    two_f, two_g = Toy("f2", nout=2), Toy("g2", nout=2)
    fgraph = FunctionGraph([x, y], [f(x, y), *two_f(x, y), y], clone=False)

    @node_rewriter([f])
    def one(fgraph, node):
        return [g(*node.inputs)]

    @node_rewriter([two_f])
    def two(fgraph, node):
        return two_g(*node.inputs)

    @node_rewriter([g, two_g])
    def again(fgraph, node):
        return [h(v) for v in node.inputs[: len(node.outputs)]]

    group = SequentialNodeRewriter(one, two, again, apply_all_rewrites=True)
    (found,) = group.transform(fgraph, fgraph.outputs[0].owner)
    assert found.owner.op == h and group.applied_last == [one, again]
    found = group.transform(fgraph, fgraph.outputs[1].owner)
    assert [v.owner.op for v in found] == [two_g, two_g] and group.applied_last == [two]


def test_groups_take_rewriters_one_by_one_or_in_a_list():
    first, second = SubstitutionNodeRewriter(f, g), SubstitutionNodeRewriter(g, h)
    for group in (SequentialNodeRewriter(first, second), SequentialNodeRewriter([first, second])):
        assert group.rewrites == (first, second)
    assert SequentialNodeRewriter((first,)).rewrites == SequentialNodeRewriter(first).rewrites == (first,)
    assert in2out(first).name == first.name and in2out(first, name="other").name == "other"
    assert in2out(first, second, name="both").name == "both"


def test_groups_ask_each_rewriter_once():
    x = double("x")
    fgraph = FunctionGraph([x], [f(x)], clone=False)

    @node_rewriter([f])
    def same(fgraph, node):
        return [f(*node.inputs)]

    (found,) = SequentialNodeRewriter(same, apply_all_rewrites=True).transform(fgraph, fgraph.outputs[0].owner)
    assert found.owner.op == f and found is not fgraph.outputs[0]


@pytest.mark.parametrize("handed_on", [False, True, None])
def test_substitutions_hand_tags_on(handed_on):
    x = double("x")
    fgraph = FunctionGraph([x], pair(x), clone=False)
    node = fgraph.outputs[0].owner
    for number, one in enumerate((node, *node.outputs)):
        one.tag.number = number
    options = {} if handed_on is None else {"transfer_tags": handed_on}
    new = SubstitutionNodeRewriter(pair, Toy("other", nout=2), **options).transform(fgraph, node)
    found = [getattr(one.tag, "number", None) for one in (new[0].owner, *new)]
    assert found == ([0, 1, 2] if handed_on is not False else [None] * 3)


def test_the_fastest_of_those_that_apply_is_chosen():
    timed = []

    class Meta(MetaNodeRewriter):
        def compile_candidate(self, outputs):
            timed.append(outputs[0].owner.op)
            return lambda: {g: 2.0, h: 1.0}[timed[-1]]

        def time_call(self, fn):
            return fn()

    def of(result):
        @node_rewriter([f])
        def rewriter(fgraph, node):
            if result == "skipped":
                raise MetaNodeRewriterSkip("not here")
            return [result(*node.inputs)] if isinstance(result, Toy) else result

        return rewriter

    x = double("x")
    fgraph = FunctionGraph([x], [f(x)], clone=False)
    for results in itertools.product([g, h, None, False, [], "skipped"], repeat=3):
        meta = Meta()
        for result in results:
            meta.register(of(result), ["all"])
        timed.clear()
        found = meta.transform(fgraph, fgraph.outputs[0].owner)
        assert timed == [result for result in results if result in (g, h)]
        assert (found and found[0].owner.op) == (h if h in timed else g if g in timed else None), results


def test_a_pass_that_fails_is_named(capsys):
    class Fails(GraphRewriter):
        name = "the pass"

        def apply(self, fgraph):
            raise RuntimeError("on purpose")

    x = double("x")
    fgraph = FunctionGraph([x], [f(x)], clone=False)
    rule_of_nodes = SubstitutionNodeRewriter(f, g)
    for group in ("rewriters", "final_rewriters", "cleanup_rewriters"):
        groups = {"rewriters": [rule_of_nodes]}
        groups[group] = [*groups.get(group, ()), Fails()]
        for callback in (EquilibriumGraphRewriter.warn, EquilibriumGraphRewriter.warn_inplace):
            equilibrium = EquilibriumGraphRewriter(**groups, max_use_ratio=2, failure_callback=callback)
            with config.change_flags(on_opt_error="warn"):
                equilibrium.rewrite(fgraph)
            said = capsys.readouterr().err
            assert "the pass" in said and "on purpose" in said and "on the node" not in said
            assert fgraph.outputs[0].owner.op == g
        with pytest.raises(RuntimeError, match="on purpose"):
            EquilibriumGraphRewriter(**groups, max_use_ratio=2).rewrite(fgraph)


@pytest.mark.parametrize(
    "result, changes", [(None, False), (False, False), ("same", False), ([None], False), ({}, False), ("new", True)]
)
def test_whether_a_node_was_changed(result, changes):
    x = double("x")
    fgraph = FunctionGraph([x], [f(x)], clone=False)
    node = fgraph.outputs[0].owner
    validated = []

    @node_rewriter([f])
    def says(fgraph, node):
        return {"same": list(node.outputs), "new": [g(x)]}.get(result, result) if isinstance(result, str) else result

    fgraph.attach_feature(feature := Feature())
    feature.validate = lambda fgraph: validated.append(fgraph)
    assert WalkingGraphRewriter(says).process_node(fgraph, node) is changes
    assert (str(fgraph) == "FunctionGraph(g(x))") is changes is bool(validated)


def test_what_is_made_is_said_to_come_from_where_others_do():
    x, y = variables("xy")
    first, second = f(x), g(x)
    first.owner.source, second.owner.source = SourceLine("first.py", 1, "first"), SourceLine("second.py", 2, "second")
    for given, expected in ((first, first), ([x, second, first], second), (x, None), ([y, x], None)):
        with inherit_stack_trace(given):
            new = h(x)
        if expected is not None:
            assert str(new.owner.source) == str(expected.owner.source)
        else:
            assert "first.py" not in str(new.owner.source) and "second.py" not in str(new.owner.source)


@pytest.mark.parametrize("pattern", [(pair, "x"), (Toy, "x"), (f, (pair, "x"))])
def test_patterns_are_of_operations_with_one_result(pattern):
    x = double("x")
    fgraph = FunctionGraph([x], [*pair(x), f(pair(x)[0])], clone=False)
    rewriter = PatternNodeRewriter(pattern, (g, "x"))
    assert rewriter.transform(fgraph, fgraph.outputs[0].owner) is False
    assert bool(rewriter.transform(fgraph, fgraph.outputs[2].owner)) is (pattern[0] is Toy)


# Patterns


def test_what_rewriters_by_pattern_know_of_themselves():
    rewriter = PatternNodeRewriter((f, "x"), (g, "x"), name="")
    assert rewriter.name is None and (rewriter.in_pattern, rewriter.out_pattern) == ((f, "x"), (g, "x"))
    assert PatternNodeRewriter((f, "x"), "x", name="named").name == "named"
    row = rule("row", (f, "x"), (g, "x"))
    assert row.__name__ == row.name == str(row) == "row" and row.source_pattern == (f, "x")
    for pattern, operands in (
        ((f, "x"), None), ((f, (g, "x")), [g]), ((f, 1.0, (Toy, "x"), (h, "x")), [Toy]), ((f, 1.0, "x"), [Constant]),
        ((f, (lambda op: True, "x")), None), ((f, (lambda op: True, "x"), (h, "x")), [h]),
    ):  # fmt: skip
        assert rule("row", pattern, "x").operands() == operands


def test_operations_without_inputs():
    class Source(Toy):
        def make_node(self):
            return pair.make_node(double()).clone_with_new_inputs([double()])

    pattern = as_pattern((f,))
    assert pattern.inputs == () and pattern.rest is None
    x = double("x")
    assert not list(matches(pattern, f(x))) and as_pattern((f, "*x")).rest.name == "x"


def test_constants_of_equal_values_stand_for_one_variable():
    one, same, other = (Constant(Double(), value) for value in (1, 1, 2))
    assert len(list(matches(as_pattern((f, "x", "x")), f(one, same)))) == 1
    assert not list(matches(as_pattern((f, "x", "x")), f(one, other)))


# Databases


def test_databases_in_databases():
    outer, inner, proxied = SequenceDB(), EquilibriumDB(), RewriteDatabase()
    proxied.name = "proxied"
    assert outer.inner_databases == [] and list(outer.query("+t")) == []
    inner.register("whole", Counts(), "t")
    outer.register("inner", inner, "t", position=1)
    outer.register("proxy", proxy := ProxyDB(inner), "u", position=2)
    outer.register("plain", Counts(), "v", position=3)
    assert outer.inner_databases == [inner, proxy]
    outer.register("more", more := EquilibriumDB(), position=4)
    assert outer.inner_databases == [inner, proxy, more]
    # what has only rewriters of whole graphs does something, and what has none is left out
    (found,) = outer.query("+t")
    assert isinstance(found, EquilibriumGraphRewriter) and [r.name for r in found.global_rewriters] == ["whole"]
    assert len(outer.query("+u")) == 0 and len(outer.query("+t", "+u")) == 2
    assert "whole" not in proxy and proxy.query("+t").global_rewriters == found.global_rewriters


def test_an_additional_database_is_asked_for_the_tags_of_the_query():
    outer, extra = SequenceDB(), SequenceDB()
    outer.register("one", Counts(), "t", position=1)
    extra.register("two", Counts(), "t", position=1)
    query = RewriteDatabaseQuery(["t"], position_cutoff=0.75).register((extra, 0.5), (Counts(), 0.6), (Counts(), 2))
    (sequence, _), found = outer.query(query), list(outer.query(query, position_cutoff=1.5))
    assert [r.name for r in sequence] == ["two"]
    assert len(found) == 3 and isinstance(found[0], SequentialGraphRewriter) and found[2] is outer["one"]
    assert list(outer.query(RewriteDatabaseQuery(["nothing"]).register((extra, 0.5)))) == []


# Remarks


def test_lines_of_the_program_are_handed_on():
    x = double("x")
    first, second, target = f(x), f(x), g(x)
    first.owner.source, second.owner.source = SourceLine("a.py", 1, "a"), SourceLine("b.py", 2, "b")
    target.owner.source = None
    assert copy_stack_trace([x, first, second], [target, x])[0] is target
    assert target.owner.source == first.owner.source
    copy_stack_trace(second, target)
    assert target.owner.source == first.owner.source
    first.tag.trace, second.tag.trace = [1, 2], [2, 3]
    copy_stack_trace([first, second], target)
    copy_stack_trace(second, target)
    assert target.tag.trace in ([1, 2, 2, 3], [1, 2, 3])


def test_which_nodes_are_checked():
    x = double("x")
    out = f(g(h(x)))
    fgraph = FunctionGraph([x], [out], clone=False)

    def names(asked):
        return sorted(str(node.op) for node in _nodes_to_check(fgraph, asked))

    assert names("last") == ["f"] and names("all") == names(Toy) == ["f", "g", "h"]
    assert names(g) == ["g"] and names([g, h]) == ["g", "h"] and names([float, h]) == ["h"]
    assert names(lambda node: node.inputs[0] is x) == ["h"]
    for wrong in ("first", 3):
        with pytest.raises(ValueError, match="`ops_to_check`"):
            names(wrong)


def test_names():
    rewriter = Counts()
    rewriter.name = "named"
    assert (name_of(rewriter), name_of("text"), str(DispatchingFeature(None, None, None, "n"))) == (
        "named", "text", "DispatchingFeature(n)",
    )  # fmt: skip
    assert Var("a") == Var("a") != Var("b") and Var("a") != "a" and Var() != Var()
    assert list(conso(Var("head"), Var("tail"), 3)({})) == []
