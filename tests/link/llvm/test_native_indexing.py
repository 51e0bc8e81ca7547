"""Indexing natively, in all of NumPy's forms, without a step in Python."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.subtensor import inc_subtensor, set_subtensor
from tests.tensor.indexing.index_cases import Drawer, IndexGraph


@pytest.mark.parametrize("first", range(1000, 1200, 10))
def test_as_numpy(first):
    for seed in range(first, first + 10):
        drawer = Drawer(seed)
        graph = IndexGraph(drawer.case(), drawer)
        function = graph.function("FAST_RUN")
        assert not function._native.report.python_nodes, graph.case
        graph.check(function(*graph.values))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_repeated_positions_add_up_in_order(dtype):
    """To the last bit: sums of floats depend on the order."""
    rng = np.random.default_rng(0)
    x, j, k = rng.normal(size=(7, 5)).astype(dtype), rng.integers(-7, 7, 300), rng.integers(0, 5, 300)
    rows, entries = rng.normal(size=(300, 5)).astype(dtype), rng.normal(size=300).astype(dtype)
    tensor, i, n = at.matrix(dtype=dtype), at.lvector(), at.lvector()
    m, v = at.matrix(dtype=dtype), at.vector(dtype=dtype)
    outputs = [inc_subtensor(tensor[i], m), inc_subtensor(tensor[i, n], v), inc_subtensor(tensor[:, n], v)]
    function = aesara.function([tensor, i, n, m, v], outputs)
    assert not function._native.report.python_nodes
    got = function(x, j, k, rows, entries)
    for result, index, value in zip(got, [j, (j, k), (slice(None), k)], [rows, entries, entries]):
        expected = x.copy()
        np.add.at(expected, index, value)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "complex64", "complex128"]
)
def test_all_dtypes(dtype):
    rng = np.random.default_rng(1)
    x = (4 * rng.normal(size=(4, 5)) + (1j if "complex" in dtype else 0)).astype(dtype)
    mask, rows = rng.random((4, 5)) < 0.5, np.array([0, 2, 2])
    tensor, m, j = at.matrix(dtype=dtype), at.matrix(dtype="bool"), at.lvector()
    v, number = at.vector(dtype=dtype), at.scalar(dtype=dtype)
    graphs = {
        "reversed": tensor[::-1, 1:],
        "rows": tensor[j],
        "masked": tensor[m],
        "row set": set_subtensor(tensor[1], v),
        "rows set": set_subtensor(tensor[j], v),
        "mask set": set_subtensor(tensor[m], number),
        "rows added to": inc_subtensor(tensor[j], v),
        "mask added to": inc_subtensor(tensor[m], number),
        "mask added to by a vector": inc_subtensor(tensor[m], tensor[m]),
        "once": inc_subtensor(tensor[j], v, ignore_duplicates=True),
    }
    inputs, values = [tensor, m, j, v, number], [x, mask, rows, x[3], x[1, 1]]
    native = aesara.function(inputs, list(graphs.values()))
    assert not native._native.report.python_nodes
    reference = aesara.function(inputs, list(graphs.values()), mode="FAST_COMPILE")
    for name, got, expected in zip(graphs, native(*values), reference(*values)):
        assert got.dtype == expected.dtype, name
        np.testing.assert_array_equal(got, expected, err_msg=name)
