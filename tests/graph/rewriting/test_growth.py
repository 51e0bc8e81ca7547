"""How the work of rewriting grows with the graph, counted rather than timed, and that depth is no limit."""

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
def test_work_grows_linearly(name, gradient):
    rewritten(name, 30, gradient)  # what is done once
    nodes, calls = [], []
    for size in (150, 900):
        graphs = []
        calls.append(calls_of(lambda size=size, graphs=graphs: graphs.append(rewritten(name, size, gradient))))
        nodes.append(graphs[0][1])
    assert calls[1] / calls[0] < 1.3 * nodes[1] / nodes[0]


@pytest.mark.parametrize("name, gradient", CASES)
def test_depth_is_no_limit(name, gradient):
    before = sys.getrecursionlimit()
    graph, _ = rewritten(name, 2500, gradient)
    assert sys.getrecursionlimit() == before
    assert graph.toposort()
