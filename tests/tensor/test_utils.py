"""`shape_of_variables`, and classes documented under paths of the tensor package."""

import pytest

import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.printing import pprint
from aesara.tensor.basic import MakeVectorPrinter
from aesara.tensor.elemwise import DimShufflePrinter
from aesara.tensor.subtensor import IncSubtensorPrinter, SubtensorPrinter
from aesara.tensor.utils import shape_of_variables


class TestShapeOfVariables:
    def test_shapes(self):
        x, v = at.matrix("x"), at.tensor("float64", (3,))
        y = x[2:].T
        z = at.alloc(v.sum(), x.shape[0] + 1, y.shape[0])
        graph = FunctionGraph([x, v], [y, z], clone=False)
        shapes = shape_of_variables(graph, {x: (7, 4)})
        assert (shapes[x], shapes[v], shapes[y], shapes[z]) == ((7, 4), (3,), (4, 5), (8, 4))
        assert not hasattr(graph, "shape_feature")

    def test_errors(self):
        x, n = at.matrix("x"), at.lscalar("n")
        graph = FunctionGraph([x, n], [at.alloc(0.0, n, x.shape[0])], clone=False)
        with pytest.raises(ValueError, match="depend on n"):
            shape_of_variables(graph, {x: (2, 3)})
        with pytest.raises(ValueError, match="cannot have the shape"):
            shape_of_variables(graph, {x: (2,)})
        with pytest.raises(ValueError, match="not an input"):
            shape_of_variables(graph, {at.vector("other"): (2,)})


def test_printers():
    x = at.matrix("x")
    a, b = at.scalars("a", "b")
    cases = [
        (x.dimshuffle(1, 0), DimShufflePrinter, "x.T"),
        (x[1:], SubtensorPrinter, "x[1:]"),
        (at.inc_subtensor(x[0], 1.0), IncSubtensorPrinter, None),
        (at.stack([a, b]), MakeVectorPrinter, "[a, b]"),
    ]
    for variable, printer, text in cases:
        printed = pprint.clone_assign(type(variable.owner.op), printer())(variable)
        assert printed == pprint(variable)
        assert text is None or printed == text
    with pytest.raises(ImportError):
        from aesara.tensor.basic import NoPrinter  # noqa: F401
