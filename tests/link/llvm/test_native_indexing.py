"""Indexing natively, in all of NumPy's forms, without a step in Python."""

import pytest

from tests.tensor.index_cases import Drawer, IndexGraph


@pytest.mark.parametrize("first", range(1000, 1200, 10))
def test_as_numpy(first):
    for seed in range(first, first + 10):
        drawer = Drawer(seed)
        graph = IndexGraph(drawer.case(), drawer)
        function = graph.function("FAST_RUN")
        assert not function._native.report.python_nodes, graph.case
        graph.check(function(*graph.values))
