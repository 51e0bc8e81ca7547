"""How the work of rewriting grows with the graph, counted rather than timed, and that depth is no limit."""

import logging
import runpy
import sys
from pathlib import Path

import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.graph.fg import FunctionGraph

GRAPHS = runpy.run_path(str(Path(__file__).resolve().parents[3] / "benchmarks" / "rewriting.py"))["GRAPHS"]
CASES = [(name, gradient) for name in GRAPHS for gradient in (False, True)]


def rewritten(name, size, gradient):
    """A graph after rewriting, and the number of nodes that it had."""
    inputs, output = GRAPHS[name](at, size)
    if gradient:
        output = aesara.grad(output, inputs[0])
    graph = FunctionGraph(inputs, [output], clone=True)
    before = len(graph.apply_nodes)
    get_mode("FAST_RUN").optimizer.rewrite(graph)
    return graph, before


def calls_of(function, *args):
    """How many functions are called."""
    count = 0

    def counting(frame, event, argument):
        nonlocal count
        count += event == "call" or event == "c_call"

    sys.setprofile(counting)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name, gradient", CASES)
def test_work_grows_linearly(name, gradient, caplog):
    rewritten(name, 30, gradient)  # what is done once
    nodes, calls = [], []
    for size in (150, 900):
        graphs = []
        calls.append(calls_of(lambda size=size, graphs=graphs: graphs.append(rewritten(name, size, gradient))))
        nodes.append(graphs[0][1])
    assert calls[1] / calls[0] < 1.3 * nodes[1] / nodes[0]
    assert not [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING], "a rule was stopped"


#: How many nodes are left of graphs of size 150, without and with gradient: more where a rule fires less often.
#: (Where signs of terms change all the time, as in the gradient of the fraction, each change takes a node.)
LEFT = {
    "recurrence": [152, 301],
    "wide sum": [102, 16],
    "deep chain": [151, 389],
    "layers": [152, 351],
    "indexing": [148, 100],
    "fraction": [102, 344],
    "product": [112, 151],
    "parts": [112, 387],
    "shrinking": [103, 739],
    "shrinking pairs": [102, 892],
}


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_left(name):
    assert [len(rewritten(name, 150, gradient)[0].apply_nodes) for gradient in (False, True)] == LEFT[name]


@pytest.mark.parametrize("name, gradient", CASES)
def test_depth_is_no_limit(name, gradient):
    before = sys.getrecursionlimit()
    graph, _ = rewritten(name, before + 500, gradient)
    assert sys.getrecursionlimit() == before
    assert graph.toposort()
