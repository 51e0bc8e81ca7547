"""Figures of rules: tries, replacements, time and nodes; and that nothing of it stays behind."""

import io

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import EquilibriumGraphRewriter, in2out, node_rewriter, rule
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.rewriter import SequentialGraphRewriter
from aesara.graph.rewriting.rule_profile import RuleProfile, single_rules
from aesara.graph.rewriting.watching import active_watch, watching
from tests.closeness import assert_close

x = at.dvector("x")


@node_rewriter([at.exp])
def log_of_exp(fgraph, node):
    """An exponential of a sine becomes two nodes."""
    if node.inputs[0].owner and node.inputs[0].owner.op == at.sin:
        return [at.log(at.cos(node.inputs[0].owner.inputs[0]))]


def profiled(rewriter, *outputs):
    fgraph = FunctionGraph(outputs=list(outputs), clone=True)
    profile = RuleProfile()
    with watching(profile):
        SequentialGraphRewriter([rewriter]).rewrite(fgraph)
    return profile


@pytest.mark.parametrize(
    "rewriter",
    [in2out(log_of_exp), EquilibriumGraphRewriter([log_of_exp], max_use_ratio=10)],
    ids=["walk", "equilibrium"],
)
def test_tries_hits_and_nodes(rewriter):
    rewriter.name = "mine"
    profile = profiled(rewriter, at.exp(at.sin(x)), at.exp(x), at.exp(at.exp(at.sin(x))))
    counts = profile.rules["log_of_exp"]
    # The first exponential, once more as a part of the last.
    assert (counts.hits, counts.added, counts.removed) == (2, 4, 4)
    assert counts.tries in (4, 10) and 0 < counts.seconds < profile.seconds
    assert list(profile.passes) == ["mine"] and profile.graphs == 1
    assert profile.as_dict()["rules"]["log_of_exp"]["hits"] == 2
    assert "log_of_exp" in str(profile) and "mine" in str(profile)


@pytest.mark.parametrize("limit", [None, 1, 2, 3, 30])
def test_tables_end_with_what_is_left_out(limit):
    cos = rule("cos_of_cos", (at.cos, (at.cos, "x")), (at.tan, "x"))
    sin = rule("sin_of_sin", (at.sin, (at.sin, "x")), (at.tan, "x"))
    profile = profiled(in2out(log_of_exp, cos, sin, name="group"), at.exp(at.sin(x)), at.cos(at.cos(x)), at.sin(x))
    for name, seconds, tries in (("log_of_exp", 0.5, 4), ("cos_of_cos", 0.25, 5), ("sin_of_sin", 2.0, 6)):
        profile.rules[name].seconds, profile.rules[name].tries = seconds, tries
    lines = profile.table(limit).splitlines()
    after = lines[next(k for k, line in enumerate(lines) if line.endswith("  rule")) + 1 :]
    ordered = [("0.50000", "4", "log_of_exp"), ("0.25000", "5", "cos_of_cos"), ("2.00000", "6", "sin_of_sin")]
    shown = ordered[:limit]
    if limit in (1, 2):
        shown += [{1: ("2.25000", "11", "2 others"), 2: ("2.00000", "6", "1 others")}[limit]]
    assert [(*line.split()[:2], line.split("  ")[-1]) for line in after] == shown


def test_rules_of_groups_count_one_by_one():
    cos = rule("cos_of_cos", (at.cos, (at.cos, "x")), (at.tan, "x"))
    profile = profiled(in2out(log_of_exp, cos, name="group"), at.exp(at.sin(x)), at.cos(at.cos(x)))
    assert profile.rules["log_of_exp"].hits == profile.rules["cos_of_cos"].hits == 1
    assert "group" not in profile.rules


def test_replacements_that_are_taken_back_do_not_count():
    @node_rewriter([at.exp])
    def refused(fgraph, node):
        return [at.sin(node.inputs[0])]

    class Refuses(aesara.graph.features.Feature):
        def validate(self, fgraph):
            if any(node.op == at.sin for node in fgraph.apply_nodes):
                raise aesara.graph.utils.InconsistencyError("no sines")

    fgraph = FunctionGraph([x], [at.exp(x)], clone=False, features=[Refuses()])
    profile = RuleProfile()
    with watching(profile):
        SequentialGraphRewriter([in2out(refused)]).rewrite(fgraph)
    assert [node.op for node in fgraph.apply_nodes] == [at.exp]
    assert profile.rules["refused"].tries == 1 and profile.rules["refused"].hits == 0


def test_nothing_stays_behind():
    query = RewriteDatabaseQuery(["fast_run"])
    rules = [one for step in optdb.query(query) for one in single_rules(step)]
    assert len(rules) > 100
    before = [dict(one.__dict__) for one in rules]
    profiled(optdb.query(query), at.log(1 + at.exp(x)))
    assert [dict(one.__dict__) for one in rules] == before
    assert active_watch() is None


def test_nothing_stays_behind_after_an_error():
    @node_rewriter([at.exp])
    def fails(fgraph, node):
        raise ArithmeticError("no")

    before = dict(fails.__dict__)
    fgraph = FunctionGraph(outputs=[at.exp(x)], clone=True)
    with pytest.raises(ArithmeticError), watching(RuleProfile()):
        SequentialGraphRewriter([in2out(fails, failure_callback=None)]).rewrite(fgraph)
    assert fails.__dict__ == before and not fgraph._features


def test_whole_pipeline_and_loops():
    steps, _ = aesara.scan(lambda e, s: at.log(1 + at.exp(e - s)), x, 0.0)
    profile = RuleProfile()
    with watching(profile):
        f = aesara.function([x], steps, mode="FAST_RUN")
    assert_close(f([0.0, 1.0]), [np.log(2), np.logaddexp(0, 1 - np.log(2))])
    assert profile.graphs == 2 and profile.rules["log1pexp_to_softplus"].hits == 1
    assert {"canonicalize", "rewrite_steps"} <= set(profile.passes)


def test_the_option():
    with aesara.config.change_flags(profile_optimizer=True):
        f = aesara.function([x], at.log(1 + at.exp(x)), profile=aesara.ProfileStats(False))
    rules = f.profile.rewriter_profile[1][3]
    assert rules.rules["log1pexp_to_softplus"].hits == 1
    stream = io.StringIO()
    f.profile.summary(file=stream)
    assert "log1pexp_to_softplus" in stream.getvalue() and "tries" in stream.getvalue()
    f = aesara.function([x], at.log(1 + at.exp(x)), profile=aesara.ProfileStats(False))
    assert f.profile.rewriter_profile is None


def test_verbose_names_the_rules(capsys):
    with aesara.config.change_flags(optimizer_verbose=True):
        aesara.function([x], at.log(1 + at.exp(x)))
    assert "rewrite log1pexp_to_softplus replaces" in capsys.readouterr().out
