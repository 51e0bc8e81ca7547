"""How the work of rewriting grows with the graph, counted rather than timed, and that depth is no limit."""

import runpy
import sys
from collections import Counter
from pathlib import Path

import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting import equilibrium

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


@pytest.mark.parametrize("name, gradient", CASES)
def test_looks_at_nodes_grow_linearly(name, gradient, monkeypatch):
    looks = Counter()
    process = equilibrium.EquilibriumGraphRewriter._process

    def counting(self, fgraph, node, *args):
        looks["operands"] += 1 + len(node.inputs)
        return process(self, fgraph, node, *args)

    monkeypatch.setattr(equilibrium.EquilibriumGraphRewriter, "_process", counting)
    per_node = []
    for size in (300, 1200):
        looks.clear()
        _, before = rewritten(name, size, gradient)
        per_node.append(looks["operands"] / before)
    assert per_node[1] < 1.5 * per_node[0] + 1
    assert per_node[1] < 40


@pytest.mark.parametrize("name, gradient", CASES)
def test_depth_is_no_limit(name, gradient):
    before = sys.getrecursionlimit()
    graph, _ = rewritten(name, 6000, gradient)
    assert sys.getrecursionlimit() == before
    assert graph.toposort()
