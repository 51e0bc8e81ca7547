"""All rules together: rewriting ends, stops no rule, and leaves its result as it is; see `tests.rules.campaign`."""

import numpy as np
import pytest

import aesara.tensor as at
from tests.rules.campaign import check, rewritten
from tests.rules.random_graphs import FAMILIES, graph_of

BLOCK = 40

x, y = at.dvectors("x", "y")
matrix = at.dmatrix("matrix")
two_rows = at.tensor("float64", shape=(2, 5), name="two_rows")
index, length = at.lvector("index"), at.lscalar("length")

#: Expressions that an early pass has something to do for once a later one has changed them, or once more is known.
LATE = {
    "a form of BLAS, once a product has become one of a vector": (
        at.dot(x.dimshuffle("x", 0), matrix).dimshuffle(1) + y
    ),
    "a square, once a power has become a product": abs(x) ** 3,
    "an index without a full slice at its end, once it has none at its beginning": (
        two_rows[at.constant(np.uint8(1)) :].dimshuffle(1)
    ),
    "an allocation of fewer dimensions, once its value has none": (
        at.alloc(x.min(keepdims=True).dimshuffle("x", "x", 0), 1, 1, length).reshape((-1,))
    ),
    "a reshape to the same shape, once a length is in its shortest form": (
        at.inc_subtensor(at.zeros_like(x[::-1])[index], y).reshape(x.shape)
    ),
}


@pytest.mark.parametrize("what", LATE)
def test_nothing_is_found_late(what):
    assert check(([x, y, matrix, two_rows, index, length], [LATE[what]]))


@pytest.mark.parametrize("block", range(4))
def test_random_programs_settle(block):
    assert all(check(graph_of("programs", seed)) for seed in range(block * BLOCK, (block + 1) * BLOCK))


#: Gradients in which a second round saves operations: a factor of a product had another client when the product was
#: looked at, or a mask is known to hold everywhere only when its allocation is in its last form.
FOUND_LATE = {"gradients": [33]}


@pytest.mark.parametrize("family", ["gradients", *FAMILIES])
def test_random_graphs_settle(family):
    graphs = [graph_of(family, seed) for seed in range(BLOCK)]
    assert sum(graph is not None for graph in graphs) > BLOCK / 2
    late = [seed for seed, graph in enumerate(graphs) if graph is not None and not check(graph)]
    assert late == FOUND_LATE.get(family, [])


def test_what_never_settles_is_noticed(monkeypatch):
    def with_one_more_sine(inputs, outputs, *query):
        graph, fired = rewritten(inputs, outputs, *query)
        graph.replace(graph.outputs[0], at.sin(graph.outputs[0]), import_missing=True)
        return graph, fired

    monkeypatch.setattr("tests.rules.campaign.rewritten", with_one_more_sine)
    with pytest.raises(AssertionError, match="a third time"):
        check(([x], [at.exp(x)]))
