"""Figures of the single rewriters, printed, and added up for several graphs."""

import io
import itertools
import re

import pytest

import aesara.tensor as at
from aesara import clock
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    MergeOptimizer,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    in2out,
    node_rewriter,
)

x = at.dvector("x")


@node_rewriter([at.exp])
def cosine_of(fgraph, node):
    return [at.cos(node.inputs[0])]


def graph():
    return FunctionGraph([x], [at.exp(x) + at.exp(x)], clone=False)


def profile_of(rewriter):
    fgraph = graph()
    rewriter.add_requirements(fgraph)
    return rewriter.apply(fgraph)


def profile_of_node_rewriter(rewriter):
    in2out(rewriter).rewrite(graph())
    return rewriter.time_rewrites, rewriter.process_count, rewriter.applied_true, rewriter.name


@pytest.mark.parametrize(
    "rewriter, profiled, text, both",
    [
        (MergeOptimizer(), profile_of, r"merged 1, nodes 3 -> 2", r"merged 2, nodes 6 -> 4"),
        (
            EquilibriumGraphRewriter([cosine_of], max_use_ratio=10),
            profile_of,
            r"rounds 1, nodes 3 -> 3\n +2 times  cosine_of",
            r"rounds 1, nodes 6 -> 6\n +4 times  cosine_of",
        ),
        (
            SequentialNodeRewriter(cosine_of, profile=True),
            profile_of_node_rewriter,
            r"SequentialNodeRewriter None\n.* tried 2 applied 2  cosine_of",
            r"SequentialNodeRewriter None\n.* tried 8 applied 8  cosine_of",
        ),
    ],
    ids=["merge", "equilibrium", "sequence of nodes"],
)
def test_print_and_merge(rewriter, profiled, text, both):
    def printed(profile):
        stream = io.StringIO()
        rewriter.print_profile(stream, profile, 1)
        assert stream.getvalue().startswith("    ")
        return stream.getvalue()

    first = profiled(rewriter)
    assert re.search(text, printed(first))
    assert re.search(both, printed(rewriter.merge_profile(first, profiled(rewriter))))


@pytest.fixture
def ticks(monkeypatch):
    """Each look at the clock is a second later than the one before."""
    monkeypatch.setattr(clock, "now", itertools.count(1000).__next__)


def test_seconds_of_merging(ticks):
    assert profile_of(MergeOptimizer())[0] == 1


def test_seconds_of_what_is_tried_on_nodes(ticks):
    rule = SequentialNodeRewriter(cosine_of, profile=True)
    profile_of_node_rewriter(rule)
    assert rule.time_rewrites == {cosine_of: 2} and rule.process_count == {cosine_of: 2}


def test_seconds_of_passes(ticks):
    """A pass takes what is between two looks, and more if it looks at the clock itself."""
    merge, cosines = MergeOptimizer(), in2out(cosine_of, name="cosines")
    both, last = SequentialGraphRewriter([merge, cosines]), SequentialGraphRewriter([cosines])
    first, second = profile_of(both), profile_of(last)
    assert first[1] == [(merge, 3), (cosines, 1)] and second[1] == [(cosines, 1)]
    assert first[2] == [3, 2, 2] and second[2] == [3, 3]
    assert both.merge_profile(first, second) == (both, [(merge, 3), (cosines, 2)], [6, 6, 5], None)
