"""`shape_of_variables`, and classes documented under paths of the tensor package."""

import pytest

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.printing import pprint
from aesara.tensor.basic import MakeVectorPrinter
from aesara.tensor.elemwise import DimShufflePrinter
from aesara.tensor.shapes.shape import Shape_i
from aesara.tensor.subtensor import IncSubtensorPrinter, SubtensorPrinter
from aesara.tensor.utils import shape_of_variables


class Rest(Op):
    """All elements but the first, of which nothing is known before it is computed."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [at.dvector()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0][1:].copy()


C = at.constant([1.0, 0.0, 2.0])
GRAPHS = {
    "lengths": lambda x, v: at.alloc(0.0, x.shape[0] * 2, v.shape[0] + 1),
    "lengths within": lambda x, v: at.zeros(at.zeros((at.concatenate([x, x]).shape[0] + 1, 2)).T.shape),
    "Shape_i": lambda x, v: at.alloc(0.0, Shape_i(0)(at.concatenate([x, x])) + 1, Shape_i(1)(x)),
    "Shape_i of a result": lambda x, v: at.alloc(0.0, Shape_i(0)(Rest()(C)) + x.shape[0]),
    "Shape_i of exp of a result": lambda x, v: at.alloc(0.0, Shape_i(0)(at.exp(Rest()(C))) + x.shape[0]),
    "Shape_i that needs no values": lambda x, v: at.alloc(0.0, Shape_i(0)(Rest()(C) * x.sum())),
    "Shape_i of others": lambda x, v: at.alloc(0.0, Shape_i(0)(at.unique(C)) * Shape_i(1)(x[1:].T)),
    "shape of a result": lambda x, v: at.alloc(0.0, at.exp(Rest()(C)).shape[0], Rest()(C).shape[0] + v.shape[0]),
    "reshape": lambda x, v: at.reshape(x.T, (x.shape[0] * x.shape[1],)).reshape((-1, 2)),
    "slices": lambda x, v: at.sort(v)[: x.shape[1] : 2],
    "repetition": lambda x, v: at.repeat(v, x.shape[0]),
    "loop": lambda x, v: aesara.scan(lambda row: row * at.sum(v), x)[0].T,
}


class TestShapeOfVariables:
    def test_shapes(self):
        x, v = at.matrix("x"), at.tensor("float64", (3,))
        y = x[2:].T
        z = at.alloc(v.sum(), x.shape[0] + 1, y.shape[0])
        graph = FunctionGraph([x, v], [y, z], clone=False)
        shapes = shape_of_variables(graph, {x: (7, 4)})
        assert (shapes[x], shapes[v], shapes[y], shapes[z]) == ((7, 4), (3,), (4, 5), (8, 4))
        assert not hasattr(graph, "shape_feature")

    @pytest.mark.parametrize("name", list(GRAPHS))
    @pytest.mark.parametrize("rewritten", [False, True])
    def test_values_have_these_shapes(self, rng, name, rewritten):
        x, v = at.dmatrix("x"), at.dvector("v")
        graph = FunctionGraph([x, v], [GRAPHS[name](x, v)], clone=False)
        if rewritten:
            mode = aesara.Mode("py", "fast_run").excluding("inplace")
            graph = aesara.function([x, v], graph.outputs, mode=mode, on_unused_input="ignore").maker.fgraph
        values = dict(zip(graph.inputs, (rng.normal(size=(2, 4)), rng.normal(size=5))))
        shapes = shape_of_variables(graph, {one: value.shape for one, value in values.items()})
        asked = [one for one in shapes if one not in values]
        known = aesara.function(graph.inputs, asked, mode=aesara.Mode("py", None), on_unused_input="ignore")
        for one, value in zip(asked, known(*values.values()), strict=True):
            assert shapes[one] == value.shape, one

    def test_errors(self):
        x, n = at.matrix("x"), at.lscalar("n")
        graph = FunctionGraph([x, n], [at.alloc(0.0, n, x.shape[0])], clone=False)
        with pytest.raises(ValueError, match="depend on n"):
            shape_of_variables(graph, {x: (2, 3)})
        for kind, shape in (((None, None), (2,)), ((2, None), (3, 3)), ((2, None), (2, 3, 1)), ((2, 3), (3, 2))):
            given = at.tensor("float64", shape=kind)
            with pytest.raises(ValueError, match="cannot have the shape"):
                shape_of_variables(FunctionGraph([given], [given + 1], clone=False), {given: shape})
        with pytest.raises(ValueError, match="not an input"):
            shape_of_variables(graph, {at.vector("other"): (2,)})
        with pytest.raises(ValueError, match="not an input"):
            shape_of_variables(graph, {graph.outputs[0]: (2, 2)})


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
