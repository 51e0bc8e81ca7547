"""Linkers with the names of Aesara's C linkers."""

import numpy as np
import pytest

import aesara.tensor as at
from aesara import scalar as aes
from aesara.graph.basic import Apply
from aesara.graph.fg import FunctionGraph
from aesara.graph.op import Op
from aesara.graph.utils import MethodNotDefined
from aesara.link.c.basic import CLinker, DualLinker, OpWiseCLinker
from aesara.link.c.op import COp


class CountedCalls(Op):
    """Identity on the first call; larger values on later ones."""

    __props__ = ()
    calls = 0

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + type(self).calls
        type(self).calls += 1


def run(linker, inputs, outputs, values):
    thunk, given, results = linker.accept(FunctionGraph(inputs, outputs, clone=False)).make_thunk()
    for container, value in zip(given, values, strict=True):
        container.value = value
    thunk()
    return [container.value for container in results]


@pytest.mark.parametrize("linker", [CLinker, OpWiseCLinker, DualLinker])
def test_tensors_and_numbers(linker):
    x, y = at.dmatrix("x"), at.dvector("y")
    values = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    product, total = run(linker(), [x, y], [at.dot(x, y), x.sum()], values)
    np.testing.assert_array_equal(product, [5.0, 14.0])
    assert total == 15.0
    a, b = aes.float64("a"), aes.float64("b")
    assert run(linker(), [a, b], [a * b + 1.0, a > b], (2.0, 3.0)) == [7.0, False]


def test_one_linker_takes_several_graphs():
    x = at.dvector("x")
    linker = DualLinker().accept(FunctionGraph([x], [x + 1], clone=False))
    y = at.dvector("y")
    assert linker.accept(FunctionGraph([y], [y * 2], clone=False)) is not linker
    assert linker.fgraph.outputs[0].owner.inputs[0] is x
    assert linker.accept(linker.fgraph) is linker


def test_different_results_are_an_error():
    x = at.dvector("x")
    CountedCalls.calls = 0
    with pytest.raises(ValueError, match="natively"):
        run(DualLinker(), [x], [CountedCalls()(x)], [np.ones(2)])
    seen = []
    CountedCalls.calls = 0
    run(DualLinker(lambda one, other: seen.append((one[0][0], other[0][0]))), [x], [CountedCalls()(x)], [np.ones(2)])
    assert seen == [(1.0, 2.0)]


def test_no_c_code():
    with pytest.raises(MethodNotDefined, match="c_code"):
        COp().c_code(None, "node", [], [], {})
