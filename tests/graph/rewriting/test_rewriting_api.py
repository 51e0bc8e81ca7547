"""What users of the rewriting machinery rely on: orders, positions, queries, walks, features."""

import io

import numpy as np
import pytest

import aesara.tensor as at
from aesara import pprint
from aesara.graph import features
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Constant
from aesara.graph.rewriting.basic import (
    ChangeTracker,
    EquilibriumGraphRewriter,
    GraphRewriter,
    MergeOptimizer,
    NodeRewriter,
    OpKeyGraphRewriter,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    check_chain,
    in2out,
    node_rewriter,
    out2in,
    pre_greedy_node_rewriter,
)
from aesara.graph.rewriting.db import (
    EquilibriumDB,
    LocalGroupDB,
    ProxyDB,
    RewriteDatabase,
    RewriteDatabaseQuery,
    SequenceDB,
)
from aesara.graph.rewriting.matching import as_pattern, reify
from aesara.graph.rewriting.utils import is_same_graph, rewrite_graph
from aesara.graph.traversal import applys_between
from aesara.graph.utils import InconsistencyError
from aesara.tensor.elemwise import Elemwise

x, y, z = at.dvectors("x", "y", "z")


class Named(GraphRewriter):
    """Writes its name down when it is applied."""

    def __init__(self, name, log):
        self.name, self.label, self.log = name, name, log

    def apply(self, fgraph):
        self.log.append(self.label)


class Nothing(NodeRewriter):
    """Replaces nothing."""

    def transform(self, fgraph, node):
        return None


def graph(*outputs):
    return FunctionGraph(outputs=list(outputs), clone=True)


def filled(database, *entries):
    """A database with rewriters (name, tags, options), and the list of those that have run."""
    log = []
    for name, tags, options in entries:
        database.register(name, Named(name, log), *tags, **options)
    return database, log


def test_tags_of_queries():
    database, _ = filled(RewriteDatabase(), ("a", ("t1", "t2"), {}), ("b", ("t1",), {}), ("c", ("t2",), {}))

    def names(*tags):
        return sorted(rewriter.name for rewriter in database.query(*tags))

    assert names("+t1") == ["a", "b"] and names("+t1", "+t2") == ["a", "b", "c"]
    assert names("+t1", "&t2") == ["a"] and names("+t1", "-t2") == ["b"]
    assert names("+b") == ["b"] and names("+Named") == ["a", "b", "c"] and names("+unknown") == []
    database.add_tags("a", "more")
    assert names("+more") == ["a"]
    database.remove_tags("a", "more")
    assert names("+more") == []


def test_databases_refuse_what_is_ambiguous():
    database, log = filled(RewriteDatabase(), ("a", ("t",), {}), ("b", ("t",), {}))
    for name in ("a", "t"):
        with pytest.raises(ValueError, match="in use"):
            database.register(name, Named(name, log))
    with pytest.raises(KeyError):
        database["c"]
    with pytest.raises(ValueError, match="More than one"):
        database["t"]
    with pytest.raises(TypeError):
        database.register("c", 3)
    with pytest.raises(TypeError):
        ProxyDB(3)
    with pytest.raises(ValueError):
        EquilibriumDB().register("f", Nothing(), final_rewriter=True, cleanup=True)


def test_positions():
    entries = [("b", ("f",), {"position": 2}), ("a", ("f",), {"position": 1}), ("c", ("f",), {"position": 1.5})]
    database, log = filled(SequenceDB(), *entries, ("last", ("f",), {}))
    database.query("+f").rewrite(graph(x + 1))
    assert log == ["a", "c", "b", "last"]
    log.clear()
    database.query(RewriteDatabaseQuery(["f"], position_cutoff=1.5)).rewrite(graph(x + 1))
    assert log == ["a"]
    log.clear()
    database.query(RewriteDatabaseQuery(["f"]).register((Named("extra", log), 1.7))).rewrite(graph(x + 1))
    assert log == ["a", "c", "extra", "b", "last"]
    with pytest.raises(TypeError, match="position"):
        database.register("d", Named("d", log), position="first")


def test_databases_inside_of_databases():
    inner, log = filled(SequenceDB(), ("i1", ("t1",), {}), ("i2", ("t2",), {}))
    outer = SequenceDB()
    outer.register("inner", inner, "f", position=1)
    outer.register("o", Named("o", log), "f", position=0)
    outer.query(RewriteDatabaseQuery(["f"], subquery={"inner": RewriteDatabaseQuery(["t2"])})).rewrite(graph(x + 1))
    assert log == ["o", "i2"]
    log.clear()
    outer.query("+f", "+t1").rewrite(graph(x + 1))
    assert log == ["o", "i1"]
    log.clear()
    twice = SequenceDB()
    for position in range(2):
        twice.register(f"again{position}", ProxyDB(inner), "t1", position=position)
    twice.query("+t1").rewrite(graph(x + 1))
    assert log == ["i1", "i1"]


def test_final_and_cleanup_rewriters_of_an_equilibrium():
    entries = [("f", ("t",), {"final_rewriter": True}), ("c", ("t",), {"cleanup": True}), ("g", ("t",), {})]
    database, log = filled(EquilibriumDB(), *entries)
    database.query("+t").rewrite(graph(x + 1))
    assert log == ["g", "c", "f"]


def test_groups():
    database = LocalGroupDB()
    database.register("a", Nothing(), "t")
    database.register("b", Nothing(), "t")
    assert [one.name for one in database.query("+t").rewrites] == ["a", "b"]


def test_groups_go_on_with_what_the_graph_knows():
    asked = []

    @node_rewriter([at.exp])
    def first(fgraph, node):
        return [at.log(at.tanh(node.inputs[0]))]

    @node_rewriter([at.log])
    def second(fgraph, node):
        asked.append(fgraph.clients[node.inputs[0]])

    group = SequentialNodeRewriter(first, second, apply_all_rewrites=True)
    once = graph(at.exp(x))
    WalkingGraphRewriter(group).rewrite(once)
    assert pprint(once.outputs[0]) == "log(tanh(x))"
    assert [len(clients) for clients in asked] == [1]  # in the graph, where it has been met as a node


def test_rewriters_by_op():
    once = graph(at.exp(at.exp(x)))
    OpKeyGraphRewriter(SubstitutionNodeRewriter(at.exp, at.log)).rewrite(once)
    assert pprint(once.outputs[0]) == "log(log(x))"
    OpKeyGraphRewriter(RemovalNodeRewriter(at.log)).rewrite(once)
    assert pprint(once.outputs[0]) == "x"
    with pytest.raises(TypeError, match="op_key"):
        OpKeyGraphRewriter(Nothing())


@pytest.mark.parametrize("walk", [in2out, out2in, OpKeyGraphRewriter])
def test_walks_end_where_a_replacement_is_refused(walk):
    class NoLogarithms(features.Feature):
        def validate(self, fgraph):
            if any(node.op == at.log for node in fgraph.apply_nodes):
                raise InconsistencyError("no logarithms")

    fgraph = FunctionGraph([x], [at.exp(x)], clone=False, features=[NoLogarithms()])
    options = {"failure_callback": OpKeyGraphRewriter.warn_ignore}
    walk(SubstitutionNodeRewriter(at.exp, at.log), **options).rewrite(fgraph)
    assert pprint(fgraph.outputs[0]) == "exp(x)"


def test_patterns():
    def rewritten(expression, *patterns, **options):
        fgraph = graph(*(expression if isinstance(expression, list) else [expression]))
        in2out(PatternNodeRewriter(*patterns, **options)).rewrite(fgraph)
        return pprint(fgraph.outputs[0])

    product = (at.mul, (at.exp, "a"), (at.exp, "b"))
    assert rewritten(at.exp(at.add(x, y)), (at.exp, (at.add, "a", "b")), product) == "(exp(x) * exp(y))"
    assert rewritten(at.exp(at.add(x, y)), (at.exp, (at.add, "a", "a")), "a") == "exp((x + y))"
    assert rewritten(at.add(x, 1.0), (at.add, "a", 1.0), "a") == "x"
    shared = at.log(x)
    assert rewritten([at.exp(shared), shared], (at.exp, (at.log, "a")), "a") == "exp(log(x))"
    assert rewritten([at.exp(shared), shared], (at.exp, (at.log, "a")), "a", allow_multiple_clients=True) == "x"
    only_x = {"pattern": "a", "constraint": lambda variable: variable.name == "x"}
    assert rewritten(at.exp(x) + at.exp(y), (at.exp, only_x), "a") == "(x + exp(y))"


def test_merging():
    fgraph = graph(at.exp(x) + at.exp(x), x * 2.0 + at.as_tensor(2.0))
    MergeOptimizer().rewrite(fgraph)
    assert sum(node.op == at.exp for node in fgraph.apply_nodes) == 1
    assert len({id(one) for one in fgraph.variables if isinstance(one, Constant)}) == 1


def test_same_graphs():
    assert is_same_graph(x + y, x + y) and not is_same_graph(x + y, y + x) and not is_same_graph(x, y)
    assert is_same_graph(x + 1, y + 1, givens={x: y}) and is_same_graph(x + 1, y + 1, givens=[(x, y)])
    assert is_same_graph(at.exp(x + y), at.exp(z), givens={z: x + y})


def test_givens_are_put_in_at_the_same_time():
    """As in `aesara.function`: what is put in is not replaced again."""
    swap = {x: y, y: x}
    assert is_same_graph(x + y, x + y, givens=swap) and not is_same_graph(x + y, y + x, givens=swap)


def test_rewrite_graph():
    assert rewrite_graph(x * y / x) is y and isinstance(rewrite_graph([x + 0, y]), list)
    expression = x * y / x
    assert pprint(rewrite_graph(expression, clone=True)) == "y" and pprint(expression) == "((x * y) / x)"
    fgraph = graph(x * y / x)
    assert rewrite_graph(fgraph) is fgraph and rewrite_graph(fgraph, clone=True) is not fgraph


def test_greedy_rewriting_of_what_is_in_no_graph():
    rewriter = SubstitutionNodeRewriter(at.exp, at.log)
    assert (
        pprint(pre_greedy_node_rewriter(FunctionGraph([x], [x + 1], clone=False), [rewriter], at.exp(at.exp(x))))
        == "log(log(x))"
    )


def test_sequences_and_their_failures():
    log = []

    class Fails(GraphRewriter):
        def apply(self, fgraph):
            raise ArithmeticError("no")

    sequence = SequentialGraphRewriter(
        Named("1", log), Fails(), Named("2", log), failure_callback=lambda exc, seq, rw: log.append(type(exc).__name__)
    )
    sequence.rewrite(graph(x + 1))
    assert log == ["1", "ArithmeticError", "2"] and len(sequence) == 3


@pytest.mark.parametrize("walk, order", [(in2out, [at.log, at.exp]), (out2in, [at.exp, at.log])])
def test_orders_of_walks(walk, order):
    seen = []
    walk(node_rewriter(None)(lambda fgraph, node: seen.append(node.op))).rewrite(graph(at.exp(at.log(x))))
    assert seen == order


def test_results_as_dictionaries():
    @node_rewriter([at.exp])
    def to_log(fgraph, node):
        return {node.outputs[0]: at.log(node.inputs[0])}

    fgraph = graph(at.exp(x))
    in2out(to_log).rewrite(fgraph)
    assert pprint(fgraph.outputs[0]) == "log(x)"


def test_features_find_remember_and_track():
    fgraph = graph(at.exp(at.exp(x)))
    for _ in range(2):
        fgraph.attach_feature(features.NodeFinder())
    assert sum(isinstance(one, features.NodeFinder) for one in fgraph._features) == 1
    assert len(fgraph.get_nodes(at.exp)) == 2 and len(fgraph.get_nodes(at.log)) == 0
    fgraph.attach_feature(features.History())
    tracker = ChangeTracker()
    fgraph.attach_feature(tracker)
    before = fgraph.checkpoint()
    assert not tracker.changed
    fgraph.replace(fgraph.outputs[0], at.log(fgraph.inputs[0]))
    assert tracker.changed and pprint(fgraph.outputs[0]) == "log(x)" and len(fgraph.get_nodes(at.log)) == 1
    fgraph.revert(before)
    assert pprint(fgraph.outputs[0]) == "exp(exp(x))" and len(fgraph.get_nodes(at.log)) == 0


def test_chains():
    assert check_chain(at.exp(at.log(x)), at.exp, at.log) and not check_chain(at.exp(x), at.exp, at.log)


def test_tags_of_what_is_substituted():
    fgraph = graph(at.exp(x))
    fgraph.outputs[0].tag.note = 3
    in2out(SubstitutionNodeRewriter(at.exp, at.log)).rewrite(fgraph)
    assert fgraph.outputs[0].tag.note == 3


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: as_pattern(()), ValueError, "An empty tuple is no pattern"),
        (lambda: as_pattern(object()), TypeError, "Expected a pattern .*; got <object"),
        (lambda: as_pattern({"pattern": (at.exp, "x"), "constraint": len}), TypeError, "a logic variable only"),
        (lambda: reify("z", {}), KeyError, "'z' is not bound"),
        (lambda: EquilibriumGraphRewriter([]), ValueError, "`max_use_ratio` is needed"),
        (lambda: EquilibriumGraphRewriter([3], max_use_ratio=1), TypeError, "a node or graph rewriter; got 3"),
        (lambda: RewriteDatabase().register("a", Named("a", []), nonsense=1), TypeError, "Unknown arguments"),
        (lambda: RewriteDatabase().query(RewriteDatabaseQuery(["a"]), b=1), TypeError, r"comes alone; got .*'b'"),
    ],
)
def test_refusals(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_texts():
    assert str(RewriteDatabaseQuery(["a"], exclude=["b"])).startswith("RewriteDatabaseQuery(inc=['a'],ex=['b'],")
    removal = RemovalNodeRewriter(at.exp)
    assert str(removal) == f"{at.exp}(x) -> x" and removal.tracks() == [at.exp]
    stream = io.StringIO()
    removal.print_summary(stream, level=2)
    assert stream.getvalue().startswith(f"  {removal} id=")


def test_forms_of_patterns():
    array = np.array([1.0, 2.0])
    matched, other = at.mul(x, at.constant(array)), at.mul(x, at.constant(array + 1))
    for pattern, fits in ((array, True), (array + 1, False), (np.array([1.0, 2.0, 3.0]), False)):
        rewriter = PatternNodeRewriter((at.mul, "x", pattern), "x")
        assert bool(rewriter.transform(None, matched.owner)) == fits
    # A variable stands for itself, a constant for an equal one; a class and a function for the ops that they accept.
    constant = at.constant(array)
    for op in (at.mul, type(at.mul), lambda op: op == at.mul):
        rewriter = PatternNodeRewriter((op, x, {"pattern": constant}), (at.exp, x))
        (found,) = rewriter.transform(None, matched.owner)
        assert at.exp in [node.op for node in applys_between([x], [found])]
        assert not rewriter.transform(None, other.owner)


def test_of_several_merges_those_that_no_destroyed_value_forbids_are_done():
    exp_in_place, log_in_place = (Elemwise(op.scalar_op, {0: 0}) for op in (at.exp, at.log))
    outputs = [exp_in_place(at.sin(x)), log_in_place(at.sin(x)), at.cos(x) + at.cos(x)]
    fgraph = FunctionGraph([x], outputs, clone=False)
    fgraph.attach_feature(DestroyHandler())
    MergeOptimizer().rewrite(fgraph)
    of_op = [node.op for node in fgraph.apply_nodes]
    assert of_op.count(at.sin) == 2 and of_op.count(at.cos) == 1


@pytest.mark.parametrize("raises", [True, False])
def test_a_graph_rewriter_that_fails_among_others(raises):
    class Failing(GraphRewriter):
        def apply(self, fgraph):
            raise RuntimeError("it fails")

    seen = []

    def note(error, *_):
        seen.append(str(error))

    rewriter = EquilibriumGraphRewriter([Failing()], failure_callback=None if raises else note, max_use_ratio=2)
    fgraph = FunctionGraph([x], [at.exp(x)], clone=False)
    if raises:
        with pytest.raises(RuntimeError, match="it fails"):
            rewriter.rewrite(fgraph)
    else:
        rewriter.rewrite(fgraph)
        assert seen and set(seen) == {"it fails"}
