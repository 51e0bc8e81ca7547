"""Drivers and rewriters on small graphs of toy operations and of tensors."""

import pytest

import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import (
    ChangeTracker,
    EquilibriumGraphRewriter,
    MergeOptimizer,
    OpKeyGraphRewriter,
    OpToRewriterTracker,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    check_chain,
    check_stack_trace,
    copy_stack_trace,
    graph_rewriter,
    in2out,
    merge_dict,
    node_rewriter,
    out2in,
    pre_constant_merge,
    pre_greedy_node_rewriter,
    rule,
)
from aesara.graph.rewriting.unify import reify, unify
from aesara.graph.rewriting.utils import (
    get_clients_at_depth,
    is_same_graph,
    is_same_graph_with_merge,
    rewrite_graph,
)
from aesara.graph.source import SourceLine
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.shape import Shape_i


def graph(*outputs, clone=False):
    return FunctionGraph(outputs=list(outputs), clone=clone)


def names(fgraph):
    return [node.op.scalar_op.__class__.__name__ for node in fgraph.toposort()]


@pytest.fixture
def xy():
    return at.dvectors("x", "y")


class TestTracker:
    def test_index(self):
        made = {}
        for label, tracks in {
            "op": [at.exp], "class": [Elemwise], "pair": [(Elemwise, type(at.log.scalar_op))], "all": None,
            "other": [Shape_i],
        }.items():  # fmt: skip
            made[label] = node_rewriter(tracks)(lambda fgraph, node: False)
        tracker = OpToRewriterTracker()
        for rewriter in made.values():
            tracker.add_tracker(rewriter)

        def labels(op):
            return [label for label, rw in made.items() if rw in tracker.get_trackers(op)]

        assert labels(at.exp) == ["op", "class", "all"]
        assert labels(at.log) == ["class", "pair", "all"]
        assert labels(Shape_i(0)) == ["all", "other"]
        assert len(list(tracker.get_rewriters())) == 5

    def test_what_can_be_tracked(self):
        with pytest.raises(ValueError, match="None instead of an empty list"):
            node_rewriter([])
        with pytest.raises(TypeError, match="Op instances"):
            node_rewriter(["exp"])


class TestDrivers:
    def test_walks_go_in_their_direction(self, xy):
        x, _ = xy
        seen = []

        @node_rewriter(None)
        def look(fgraph, node):
            seen.append(node.op)

        fgraph = graph(at.exp(at.log(at.tanh(x))))
        in2out(look).rewrite(fgraph)
        out2in(look).rewrite(fgraph)
        assert seen == [at.tanh, at.log, at.exp, at.exp, at.log, at.tanh]
        with pytest.raises(ValueError, match="in_to_out"):
            WalkingGraphRewriter(look, order="sideways")

    @pytest.mark.parametrize(
        "result, error, text",
        [
            ([], ValueError, "returned 0 replacements for the 1 outputs"),
            ("x", TypeError, "returned 'x'; expected False, None, a list"),
            (True, TypeError, "returned True; expected False, None, a list"),
        ],
    )
    @pytest.mark.parametrize(
        "driver", [WalkingGraphRewriter, lambda rule: EquilibriumGraphRewriter([rule], max_use_ratio=5)]
    )
    def test_results_of_the_wrong_form(self, xy, driver, result, error, text):
        @node_rewriter([at.exp])
        def wrong(fgraph, node):
            return result

        with pytest.raises(error, match=text):
            driver(wrong).rewrite(graph(at.exp(xy[0])))

    def test_new_nodes_are_visited_unless_ignored(self, xy):
        x, _ = xy
        steps = {at.exp: at.log, at.log: at.tanh}

        @node_rewriter([at.exp, at.log])
        def step(fgraph, node):
            return [steps[node.op](*node.inputs)]

        fgraph = graph(at.exp(x))
        in2out(step).rewrite(fgraph)
        assert fgraph.outputs[0].owner.op == at.tanh
        fgraph = graph(at.exp(x))
        in2out(step, ignore_newtrees=True).rewrite(fgraph)
        assert fgraph.outputs[0].owner.op == at.log

    def test_equilibrium_reaches_a_fixed_point(self, xy):
        x, _ = xy
        rewrites = [
            PatternNodeRewriter((at.exp, (at.log, "a")), "a", allow_multiple_clients=True),
            PatternNodeRewriter((at.tanh, "a"), (at.exp, "a")),
        ]
        fgraph = graph(at.tanh(at.log(at.tanh(at.log(at.sin(x))))))
        profile = EquilibriumGraphRewriter(rewrites, max_use_ratio=10).rewrite(fgraph)
        assert names(fgraph) == ["Sin"]
        assert sorted(profile.applied.values()) == [2, 2]

    def test_patterns_of_four_operations_are_seen_when_the_lowest_comes_last(self, xy):
        x, _ = xy
        top = at.exp(at.cos(at.sin(at.tan(x))))

        @node_rewriter([at.exp])
        def whole_pattern(fgraph, node):
            (var,) = node.inputs
            for op in (at.cos, at.sin, at.sinh):
                if var.owner.op != op:
                    return False
                (var,) = var.owner.inputs
            return [at.tanh(var)]

        @node_rewriter([at.log])
        def change_of_the_lowest(fgraph, node):
            found = [n for n in fgraph.apply_nodes if n.op == at.tan]
            return {n.outputs[0]: at.sinh(n.inputs[0]) for n in found}

        fgraph = graph(at.log(top))
        EquilibriumGraphRewriter([whole_pattern, change_of_the_lowest], max_use_ratio=10).rewrite(fgraph)
        assert names(fgraph) == ["Tanh", "Log"]

    def test_rewriters_going_in_circles_are_stopped(self, xy, capsys):
        x, _ = xy
        rewrites = [SubstitutionNodeRewriter(at.exp, at.log), SubstitutionNodeRewriter(at.log, at.exp)]
        fgraph = graph(at.exp(x))
        EquilibriumGraphRewriter(rewrites, max_use_ratio=5).rewrite(fgraph)
        assert "was stopped after 5 applications" in capsys.readouterr().err

    def test_final_and_cleanup_rewriters(self, xy):
        x, _ = xy
        log = []

        @graph_rewriter
        def final(fgraph):
            log.append("final")
            if fgraph.outputs[0].owner.op == at.log:
                fgraph.replace(fgraph.outputs[0], at.exp(x))

        @graph_rewriter
        def cleanup(fgraph):
            log.append("cleanup")

        EquilibriumGraphRewriter(
            [SubstitutionNodeRewriter(at.exp, at.tanh)],
            max_use_ratio=5,
            final_rewriters=[final],
            cleanup_rewriters=[cleanup],
        ).rewrite(fgraph := graph(at.log(x)))
        assert fgraph.outputs[0].owner.op == at.tanh
        assert log == ["cleanup", "final", "cleanup", "final"]

    def test_results_of_every_kind(self, xy):
        x, y = xy

        @node_rewriter([at.exp])
        def by_dict(fgraph, node):
            return {node.outputs[0]: at.log(y), "remove": [node]}

        fgraph = FunctionGraph([x, y], [at.exp(x)], clone=False)
        in2out(by_dict, failure_callback=None).rewrite(fgraph)
        assert names(fgraph) == ["Log"]
        for wrong, error in (([x, y], ValueError), (3, TypeError)):
            bad = node_rewriter([at.exp])(lambda fgraph, node, wrong=wrong: wrong)
            with pytest.raises(error, match="returned"):
                in2out(bad, failure_callback=None).rewrite(graph(at.exp(x)))

    def test_failures_go_where_the_option_says(self, xy, capsys):
        x, _ = xy

        @node_rewriter([at.exp])
        def broken(fgraph, node):
            raise RuntimeError("on purpose")

        walk = in2out(broken)
        with config.change_flags(on_opt_error="warn"):
            walk.rewrite(graph(at.exp(x)))
        assert "on purpose" in capsys.readouterr().err
        with config.change_flags(on_opt_error="ignore"):
            walk.rewrite(graph(at.exp(x)))
        assert capsys.readouterr().err == ""
        with config.change_flags(on_opt_error="raise"), pytest.raises(RuntimeError):
            walk.rewrite(graph(at.exp(x)))

    def test_requirements_are_attached(self, xy):
        class Needed(Feature):
            pass

        rewriter = node_rewriter([at.exp], requirements=[Needed])(lambda fgraph, node: False)
        fgraph = graph(at.exp(xy[0]))
        in2out(rewriter).rewrite(fgraph)
        assert any(isinstance(feature, Needed) for feature in fgraph._features)

    def test_sequences(self, xy):
        x, _ = xy
        both = SequentialNodeRewriter(
            SubstitutionNodeRewriter(at.exp, at.log),
            SubstitutionNodeRewriter(at.log, at.tanh),
            apply_all_rewrites=True,
        )
        assert both.transform(graph(at.exp(x)), at.exp(x).owner)[0].owner.op == at.tanh
        fgraph = graph(at.exp(at.exp(x)))
        sequence = SequentialGraphRewriter(in2out(both), in2out(RemovalNodeRewriter(at.tanh)))
        sequence.rewrite(fgraph)
        assert fgraph.outputs[0] is x

    def test_op_key_rewriter(self, xy):
        fgraph = graph(at.exp(at.exp(xy[0])))
        OpKeyGraphRewriter(SubstitutionNodeRewriter(at.exp, at.log)).rewrite(fgraph)
        assert names(fgraph) == ["Log", "Log"]

    def test_change_tracker(self, xy):
        fgraph = graph(at.exp(xy[0]))
        tracker = ChangeTracker()
        fgraph.attach_feature(tracker)
        assert not tracker.changed
        fgraph.replace(fgraph.outputs[0], at.log(xy[0]))
        assert tracker.changed and fgraph.change_tracker is tracker


class TestMerge:
    def test_equal_nodes_and_constants(self, xy):
        x, y = xy
        fgraph = graph(at.exp(x) + at.exp(x), at.log(x + 2.0) * at.log(x + at.constant(2.0)), at.exp(y))
        MergeOptimizer().rewrite(fgraph)
        fgraph.check_integrity()
        add = fgraph.outputs[0].owner
        assert add.inputs[0] is add.inputs[1]
        mul = fgraph.outputs[1].owner
        assert mul.inputs[0] is mul.inputs[1]
        assert fgraph.outputs[2].owner is not add.inputs[0].owner

    def test_different_nodes_stay(self, xy):
        x, _ = xy
        fgraph = graph(x - 1.0, 1.0 - x, x + 1, x + 1.0, at.exp(x), at.exp2(x))
        before = len(fgraph.apply_nodes)
        MergeOptimizer().rewrite(fgraph)
        assert len({id(out) for out in fgraph.outputs}) == 6
        assert len(fgraph.apply_nodes) <= before

    def test_nan_constants_and_signed_zeros(self, xy):
        x, _ = xy
        fgraph = graph(x * at.constant(0.0), x * at.constant(-0.0))
        MergeOptimizer().rewrite(fgraph)
        assert fgraph.outputs[0] is not fgraph.outputs[1]

    def test_long_chains(self, xy):
        a = b = xy[0]
        for _ in range(2000):
            a, b = at.exp(a), at.exp(b)
        fgraph = graph(a, b)
        MergeOptimizer().rewrite(fgraph)
        assert fgraph.outputs[0] is fgraph.outputs[1]
        assert len(fgraph.apply_nodes) == 2000

    def test_constants_that_are_inputs(self, xy):
        x, _ = xy
        two, other = at.constant(2.0), at.constant(2.0).clone()
        fgraph = FunctionGraph([x, two, other], [x * two, x + other], clone=False)
        MergeOptimizer().rewrite(fgraph)
        assert fgraph.outputs[1].owner.inputs[1] is fgraph.outputs[0].owner.inputs[1]
        assert fgraph.inputs == [x, two, other]

    def test_the_first_of_equal_constants_stays(self, xy):
        x, _ = xy
        two, other = at.constant([2.0]), at.constant([2.0]).clone()
        out = at.exp(x * two) + other
        assert pre_constant_merge(graph(at.exp(x)), out) == [out]
        assert out.owner.inputs[1] is two
        inside = at.exp(x * two) + other
        pre_constant_merge(FunctionGraph([x], [inside], clone=False), [inside])
        assert inside.owner.inputs[1] is other

    def test_before_a_graph_exists(self, xy):
        x, _ = xy
        a, b = pre_constant_merge(graph(at.exp(x)), [x + at.constant(2.0), x * at.constant(2.0)])
        assert a.owner.inputs[1].owner.inputs[0] is b.owner.inputs[1].owner.inputs[0]


class TestPatterns:
    def test_repeated_variables_and_constants(self, xy):
        x, y = xy
        rewriter = PatternNodeRewriter((at.add, "a", "a"), (at.mul, 2.0, "a"))
        assert rewriter.transform(graph(x + x), (x + x).owner)
        assert not rewriter.transform(graph(x + y), (x + y).owner)
        assert unify((at.exp, "a"), at.exp(x)) == {"a": x}
        assert unify((at.exp, "a"), at.log(x)) is None
        assert reify((at.log1p, "a"), {"a": x}).owner.op == at.log1p

    def test_clients_and_constraints(self, xy):
        x, y = xy
        shared = at.log(x)
        fgraph = graph(at.exp(shared), shared)
        narrow = PatternNodeRewriter((at.exp, (at.log, "a")), "a")
        assert not narrow.transform(fgraph, fgraph.outputs[0].owner)
        wide = PatternNodeRewriter((at.exp, (at.log, "a")), "a", allow_multiple_clients=True)
        assert wide.transform(fgraph, fgraph.outputs[0].owner) == [x]
        only_y = PatternNodeRewriter((at.exp, {"pattern": "a", "constraint": lambda v: v is y}), "a")
        assert not only_y.transform(graph(at.exp(x)), at.exp(x).owner)
        assert only_y.transform(graph(at.exp(y)), at.exp(y).owner) == [y]

    def test_types_must_fit(self):
        x = at.fvector("x")
        cast = PatternNodeRewriter((Elemwise, "a"), "a")
        out = x.astype("float64")
        assert not cast.transform(graph(out), out.owner)

    def test_numbers_stand_for_variables_of_numbers_only(self, xy):
        x, _ = xy
        one = PatternNodeRewriter((at.exp, "a"), 1.0)
        (new,) = one.transform(graph(at.exp(x.sum())), at.exp(x.sum()).owner)
        assert new.data == 1
        length = at.make_slice(x.sum().astype("int64"), 2, 1)
        assert not PatternNodeRewriter((length.owner.op, "a", "b", "c"), 1.0).transform(graph(length), length.owner)

    def test_rules(self, xy):
        x, y = xy
        log1p = rule("r", (at.log, (at.add, 1, "*rest")), lambda rest: at.log1p(rest))
        for argument in (1 + x, x + 1.0, at.add(x, 1, y)):
            (new,) = log1p.transform(graph(at.log(argument)), at.log(argument).owner)
            assert new.owner.op == at.log1p
        assert not log1p.transform(graph(at.log(2 + x)), at.log(2 + x).owner)
        with pytest.raises(ValueError, match="takes"):
            rule("bad", (at.log, "x"), lambda y: y)
        never = rule("n", (at.exp, "x"), (at.log, "x"), condition=lambda x: False)
        assert not never.transform(graph(at.exp(x)), at.exp(x).owner)


class TestUtilities:
    def test_is_same_graph(self, xy):
        x, y = xy
        for same in (is_same_graph, is_same_graph_with_merge):
            assert same(x * 2 + y, x * 2 + y)
            assert not same(x * 2 + y, y * 2 + x)
            assert same(x + 1, y + 1, givens={x: y})

    def test_clients_at_depth(self, xy):
        x, _ = xy
        a = at.exp(x)
        b = at.log(a)
        fgraph = graph(at.tanh(b), at.sin(b))
        assert list(get_clients_at_depth(fgraph, a.owner, 1)) == [b.owner]
        assert {n.op for n in get_clients_at_depth(fgraph, a.owner, 2)} == {at.tanh, at.sin}

    def test_rewrite_graph(self, xy):
        x, y = xy
        out = x * y / x
        assert rewrite_graph(out, clone=False) is y
        assert rewrite_graph([x * 1, y + 0], clone=False) == [x, y]
        fgraph = graph(x + 0, clone=True)
        assert rewrite_graph(fgraph) is fgraph and fgraph.outputs[0] is fgraph.inputs[0]

    def test_check_chain(self, xy):
        out = at.exp(at.log(xy[0]))
        assert check_chain(out, at.exp, at.log)
        assert check_chain(out, Elemwise, Elemwise)
        assert not check_chain(out, at.exp, at.exp)
        assert not check_chain(out, at.exp, at.log, at.exp)
        assert check_chain(out.owner, at.exp, at.log)
        assert check_chain(out, lambda op: op == at.exp, at.log)
        assert not check_chain(out, lambda op: op == at.log)
        second = at.add(xy[0], out)
        assert check_chain(second, at.add, 1, at.exp, at.log)
        assert not check_chain(second, at.add, at.exp) and not check_chain(second, at.add, 1, at.log)
        assert check_chain(at.add(at.exp(second), xy[1]), at.add, at.exp, at.add, 1, at.exp)

    def test_merge_dict(self):
        one, two = {"a": 1, "b": 2}, {"b": 10, "c": 20}
        assert merge_dict(one, two) == {"a": 1, "b": 12, "c": 20}
        assert (one, two) == ({"a": 1, "b": 2}, {"b": 10, "c": 20})

    def test_before_a_graph_exists(self, xy):
        x, _ = xy
        out = at.tanh(at.exp(at.log(x)))
        cancel = PatternNodeRewriter((at.exp, (at.log, "a")), "a", allow_multiple_clients=True)
        new = pre_greedy_node_rewriter(graph(x + 1), [cancel], out)
        assert new.owner.op == at.tanh and new.owner.inputs[0] is x
        assert out.owner.inputs[0] is not x

    def test_lines(self, xy):
        x, _ = xy
        fgraph = graph(at.exp(x))
        line = SourceLine("model.py", 7, "build")
        fgraph.outputs[0].owner.source = line
        in2out(SubstitutionNodeRewriter(at.exp, at.log)).rewrite(fgraph)
        assert fgraph.outputs[0].owner.source == line
        assert check_stack_trace(fgraph, ops_to_check="last")
        fgraph.outputs[0].owner.source = None
        with pytest.raises(Exception, match="do not know which line"):
            check_stack_trace(fgraph)
        assert not check_stack_trace(fgraph, bug_print="ignore")
        source = at.exp(x)
        assert copy_stack_trace(source, fgraph.outputs[0]) is fgraph.outputs[0]
        assert fgraph.outputs[0].owner.source == source.owner.source
