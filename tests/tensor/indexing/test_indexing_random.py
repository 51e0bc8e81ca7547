"""Indexing is NumPy's: random arrays and indices, read, written and added to, with gradients."""

import pytest

from tests.tensor.indexing.index_cases import Drawer, IndexGraph


@pytest.mark.parametrize("first", range(0, 200, 10))
def test_random_indices_agree_with_numpy(first):
    for seed in range(first, first + 10):
        drawer = Drawer(seed)
        graph = IndexGraph(drawer.case(), drawer)
        graph.check_static_shapes()
        graph.check(graph.function("FAST_COMPILE")(*graph.values))
