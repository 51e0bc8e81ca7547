import io
import re

import pytest

import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    WalkingGraphRewriter,
    in2out,
    node_rewriter,
)
from aesara.graph.rewriting.db import (
    EquilibriumDB,
    LocalGroupDB,
    ProxyDB,
    RewriteDatabase,
    RewriteDatabaseQuery,
    SequenceDB,
    TopoDB,
)


class Noted(GraphRewriter):
    def __init__(self, label=None, log=None):
        self.label, self.log = label, log

    def apply(self, fgraph):
        self.log.append(self.label)


def local(name):
    @node_rewriter(None)
    def rewriter(fgraph, node):
        return False

    rewriter.name = name
    return rewriter


def names(rewriters):
    return [rewriter.name for rewriter in rewriters]


class TestRewriteDatabase:
    def test_names_tags_and_lookup(self):
        db = RewriteDatabase()
        db.name = "mine"
        a, b = Noted(), Noted()
        db.register("a", a, "x", "y")
        db.register("b", b, "y")
        assert db["a"] is a and "x" in db and "z" not in db
        assert a.name == "a"
        assert set(names(db.query("+y"))) == {"a", "b"}
        assert names(db.query("+y", "&x")) == ["a"]
        assert names(db.query("+mine", "-x")) == ["b"]
        assert set(names(db.query("+Noted"))) == {"a", "b"}
        with pytest.raises(ValueError, match="More than one"):
            db["y"]
        with pytest.raises(KeyError, match="Nothing"):
            db["nothing"]
        db.remove_tags("a", "x")
        assert names(db.query("+x")) == []
        with pytest.raises(KeyError, match="'a' does not have the tag 'x'"):
            db.remove_tags("a", "x")

    def test_wrong_registrations(self):
        db = RewriteDatabase()
        db.register("a", Noted(), "x")
        with pytest.raises(ValueError, match="in use"):
            db.register("a", Noted())
        with pytest.raises(ValueError, match="in use"):
            db.register("x", Noted())
        with pytest.raises(ValueError, match="name of a rewriter"):
            db.register("b", Noted(), "a")
        with pytest.raises(TypeError, match="not a valid entry under the name 'c': a database holds rewriters"):
            db.register("c", object())
        for no_name in ("unknown", "x"):
            with pytest.raises(ValueError, match=f"no rewriter named {no_name!r}"):
                db.add_tags(no_name, "t")

    def test_tags_can_change(self):
        db = RewriteDatabase()
        db.register("a", Noted(), "x")
        db.add_tags("a", "z")
        assert names(db.query("+z")) == ["a"]
        db.remove_tags("a", "x")
        assert not db.query("+x")

    def test_a_sign_is_needed(self):
        with pytest.raises(ValueError, match=r"starts with '\+'"):
            RewriteDatabase().query("fast_run")


class TestQuery:
    def test_changes_give_new_queries(self):
        query = RewriteDatabaseQuery(include=["a"])
        wider = query.including("b").excluding("c").requiring("d")
        assert list(query.include) == ["a"]
        assert (list(wider.include), list(wider.exclude), list(wider.require)) == (["a", "b"], ["c"], ["d"])
        assert query == RewriteDatabaseQuery(include=["a"]) and hash(query) == hash(query.including())
        assert query != wider

    def test_extra_rewrites(self):
        log = []
        db = SequenceDB(failure_callback=None)
        db.register("one", Noted(1, log), "t", position=1)
        extra = Noted(0, log)
        query = RewriteDatabaseQuery(include=["t"]).register((extra, 0.5))
        sequence = db.query(query)
        assert list(sequence) == [extra, db["one"]]


class TestSequenceDB:
    def test_positions(self):
        log = []
        db = SequenceDB()
        for label, position in (("c", 3), ("a", 1), ("b", 2.5)):
            db.register(label, Noted(label, log), "t", position=position)
        db.register("last", Noted("last", log), "t")
        sequence = db.query("+t")
        assert isinstance(sequence, SequentialGraphRewriter)
        assert names(sequence) == ["a", "b", "c", "last"]
        assert names(db.query("+t", position_cutoff=2.5)) == ["a"]
        assert names(db.query(RewriteDatabaseQuery(["t"], position_cutoff=3))) == ["a", "b"]
        with pytest.raises(TypeError, match="position"):
            db.register("d", Noted(), position="middle")

    def test_databases_inside(self):
        outer = SequenceDB()
        inner = EquilibriumDB()
        outer.register("inner", inner, "t", position=1)
        inner.register("one", local("one"), "t")
        inner.register("two", local("two"), "u")
        (equilibrium,) = outer.query("+t")
        assert isinstance(equilibrium, EquilibriumGraphRewriter) and equilibrium.name == "inner"
        assert names(equilibrium.get_node_rewriters()) == ["one"]
        (equilibrium,) = outer.query("+t", inner=RewriteDatabaseQuery(["u"]))
        assert names(equilibrium.get_node_rewriters()) == ["two"]
        assert len(outer.query("+t", inner=RewriteDatabaseQuery([]))) == 0


def test_equilibrium_db_sorts_final_and_cleanup():
    db = EquilibriumDB()
    db.register("node", local("node"), "t")
    db.register("graph", Noted(), "t")
    db.register("final", Noted(), "t", final_rewriter=True)
    db.register("clean", Noted(), "t", cleanup=True)
    rewriter = db.query("+t")
    assert names(rewriter.get_node_rewriters()) == ["node"]
    assert names(rewriter.global_rewriters) == ["graph"]
    assert names(rewriter.final_rewriters) == ["final"]
    assert names(rewriter.cleanup_rewriters) == ["clean"]
    with pytest.raises(ValueError, match="exclude each other"):
        db.register("both", Noted(), final_rewriter=True, cleanup=True)


def test_local_group_topo_and_proxy():
    group = LocalGroupDB()
    group.register("second", local("second"), "t", position=2)
    group.register("first", local("first"), "t", position=1)
    combined = group.query("+t")
    assert isinstance(combined, SequentialNodeRewriter)
    assert names(combined.rewrites) == ["first", "second"]
    walk = TopoDB(group, order="out_to_in").query("+t")
    assert isinstance(walk, WalkingGraphRewriter) and walk.order == "out_to_in"
    assert names(ProxyDB(group).query("+t").rewrites) == ["first", "second"]
    # Nothing is a rewriter as well, which changes nothing.
    assert not group.query("+nothing").rewrites and not TopoDB(group).query("+nothing").node_rewriter.rewrites
    group.register("graph", Noted(), "whole")
    assert names(group.query("+t").rewrites) == ["first", "second"]
    with pytest.raises(TypeError, match="it has the graph rewriter 'graph'"):
        group.query("+t", "+whole")


def test_what_asks_for_nothing_is_a_rewriter_that_changes_nothing():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.exp(x)], clone=False)
    equilibrium = EquilibriumDB()
    equilibrium.register("node", local("node"), "other")
    equilibrium.query("+t").rewrite(fgraph)
    group = LocalGroupDB()
    group.register("node", local("node"), "other")
    assert not group.query("+t").transform(fgraph, fgraph.outputs[0].owner)
    TopoDB(group).query("+t").rewrite(fgraph)
    assert fgraph.outputs[0].owner.op == at.exp
    # In a sequence it would only take time.
    sequence = SequenceDB()
    sequence.register("equilibrium", equilibrium, "t")
    sequence.register("walk", TopoDB(group), "t")
    assert names(sequence.query("+t")) == []
    assert names(sequence.query("+t", "+other")) == ["equilibrium", "walk"]


def test_rules_for_nodes_are_no_passes():
    @node_rewriter(None)
    def nothing(fgraph, node):
        return None

    query = RewriteDatabaseQuery(include=["fast_run"])
    with pytest.raises(TypeError, match="nothing is a rule for nodes: register in2out"):
        query.register((nothing, 1.5))
    assert len(query.register((in2out(nothing), 1.5)).extra_rewrites) == 1


def named(name, rewriter):
    rewriter.name = name
    return rewriter


def nested():
    """Rewriters in rewriters, and all that they have, with the depth at which it stands."""
    some = named("some", SequentialNodeRewriter(local("leaf")))
    group = named("group", SequentialNodeRewriter(some, local("other leaf")))
    walk = named("walk", WalkingGraphRewriter(group))
    equilibrium = named("equilibrium", EquilibriumGraphRewriter([walk, local("node")], max_use_ratio=2))
    inner = named("inner", SequentialGraphRewriter(equilibrium))
    groups = named("groups", EquilibriumGraphRewriter([group], max_use_ratio=2))
    parts = "0 outer, 1 inner, 2 equilibrium, 3 walk, 4 group, 5 some, 6 leaf, 5 other leaf, 3 node, "
    parts += "1 groups, 2 group, 3 some, 4 leaf, 3 other leaf, 1 noted"
    rewriter = named("outer", SequentialGraphRewriter(inner, groups, named("noted", Noted())))
    return rewriter, [(int(part[0]), part[2:]) for part in parts.split(", ")]


@pytest.mark.parametrize("depth", range(-1, 8))
def test_summaries_go_as_deep_as_is_asked(depth):
    rewriter, parts = nested()
    stream = io.StringIO()
    rewriter.print_summary(stream, depth=depth)
    lines = [re.fullmatch(r"( *)(?:[A-Z]\w+ )?\(?(.*?)\)? id=\d+", line) for line in stream.getvalue().splitlines()]
    shown = [(len(line[1]) / 2, line[2]) for line in lines]
    assert shown == [(level, name) for level, name in parts if depth < 0 or level <= depth]


def test_summaries_of_sequences_have_names_and_positions():
    db = SequenceDB()
    db.register("later", Noted(), position=2)
    db.register("first", Noted(), position=0.5)
    stream = io.StringIO()
    db.print_summary(stream)
    assert "names {'first', 'later'}" in stream.getvalue()
    assert stream.getvalue().index("0.5  first") < stream.getvalue().index("2  later")
    with pytest.raises(TypeError, match="`position` must be a number or 'last'"):
        db.register("nowhere", Noted(), position="front")
