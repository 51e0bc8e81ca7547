"""Native indexing, in all of NumPy's forms."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.steps import Launch
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
    """Bitwise: sums of floats depend on the order."""
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


SHAPE = (3, 4, 5)
#: how many dimensions a mask has and how many are before it, and of a value, in which dimensions it has one entry
UNDER_MASKS = [
    (rank, before, ones)
    for rank in (1, 2, 3)
    for before in range(4 - rank)
    for ndim in range(5 - rank)
    for ones in itertools.product((False, True), repeat=ndim)
]


@pytest.mark.parametrize("write", [set_subtensor, inc_subtensor])
@pytest.mark.parametrize(("rank", "before", "ones"), UNDER_MASKS)
def test_one_loop_writes_under_a_mask(rank, before, ones, write, rng):
    """One loop selects for each element, unless the value has an entry for each selected one, which are counted
    first."""
    x, mask = rng.normal(size=SHAPE), rng.random(SHAPE[before : before + rank]) < 0.6
    place = (slice(None),) * before + (mask,)
    lead = x[place].ndim - len(ones)
    value = rng.normal(size=[1 if one else n for one, n in zip(ones, x[place].shape[lead:], strict=True)])
    tensor, m = at.dtensor3("x"), at.tensor("bool", (None,) * rank)
    v = at.tensor("float64", tuple(1 if one else None for one in ones))
    function = aesara.function([tensor, m, v], write(tensor[(slice(None),) * before + (m,)], v))
    expected = x.copy()
    expected[place] = value if write is set_subtensor else x[place] + value
    np.testing.assert_array_equal(function(x, mask, value), expected)
    loops = sum(isinstance(step, Launch) for step in function._native.program.steps)
    assert (loops == 1) == (lead > before or ones[before - lead])


@pytest.mark.parametrize("write", [set_subtensor, inc_subtensor])
@pytest.mark.parametrize(("shape", "before"), [((), 0), ((3,), 0), ((3,), 1), ((2, 3), 0), ((2, 3), 1)])
def test_a_mask_without_dimensions_writes_all_or_nothing(shape, before, write, rng):
    x = rng.normal(size=shape)
    tensor, m, one, several = at.tensor("float64", (None,) * len(shape)), at.bscalar(), at.dscalar(), at.dvector()
    place = (slice(None),) * before
    mask = m.astype("bool")
    outputs = [write(tensor[(*place, mask)], v) for v in (one, at.specify_shape(several, (1,)))]
    function = aesara.function([tensor, m, one, several], outputs)
    for flag in (0, 1):
        expected = x.copy()
        expected[(*place, bool(flag))] = 7.0 if write is set_subtensor else x[(*place, bool(flag))] + 7.0
        for got in function(x, flag, 7.0, [7.0]):
            np.testing.assert_array_equal(got, expected)
