"""Forms of graphs that are done: those of Aesara, which compute the same, bit by bit."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import FAST_RUN, Mode
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.tensor.basic import Alloc
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.rewriting.basic import encompasses_broadcastable, merge_broadcastables
from aesara.tensor.rewriting.elemwise import local_dimshuffle_lift
from aesara.tensor.subtensor import IncSubtensor

NATIVE, REFERENCE = FAST_RUN, Mode("py", "fast_run")
MODES = pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])

x, y = at.dvectors("x", "y")
single = at.fvector("single")
VALUES = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 1e-308, 1e200])


def scalar_ops(function):
    return [str(n.op.scalar_op) for n in function.maker.fgraph.toposort() if isinstance(n.op, Elemwise)]


@MODES
@pytest.mark.parametrize(
    "inputs, expression, ops",
    [
        ([x, y], -(x * y), ["mul"]),
        ([x], -(x * x), ["mul"]),
        ([x, y], -at.exp(x) * y, ["exp", "mul"]),
        ([x], x + (-5.0), ["sub"]),
        ([single], single - 5, ["sub"]),
        ([x], x + 5.0, ["add"]),
        ([x, y], (x + y) - 5.0, ["add"]),
    ],
)
def test_spellings_take_one_operation(mode, inputs, expression, ops):
    f = aesara.function(inputs, expression, mode=mode.excluding("inplace"))
    assert scalar_ops(f) == ops
    grid = np.meshgrid(VALUES, VALUES) if len(inputs) == 2 else [VALUES]
    values = [v.ravel().astype(one.type.dtype) for v, one in zip(grid, inputs)]
    expected = aesara.function(inputs, expression, mode=Mode("py", None))(*values)
    result = f(*values)
    assert result.dtype == expected.dtype
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(np.signbit(result[~np.isnan(result)]), np.signbit(expected[~np.isnan(expected)]))


def test_other_products_keep_their_spelling():
    z, i = [at.zvector("z"), at.zvector("w")], at.lvectors("i", "j")
    assert scalar_ops(aesara.function(z, -(z[0] * z[1]), mode=NATIVE.excluding("inplace"))) == ["mul", "neg"]
    assert scalar_ops(aesara.function(list(i), -(i[0] * i[1]), mode=NATIVE.excluding("inplace"))) == ["mul", "neg"]
    product = x * y
    f = aesara.function([x, y], [product, -product], mode=NATIVE.excluding("inplace"))
    assert scalar_ops(f) == ["mul", "neg"]
    f = aesara.function([x, y], -(x * y), mode=NATIVE.excluding("negative_product_as_product", "inplace"))
    assert scalar_ops(f) == ["mul", "neg"]
    f = aesara.function([x], x - 5.0, mode=NATIVE.excluding("negative_term_as_difference"))
    assert scalar_ops(f) == ["add"]


@MODES
def test_allocations_of_allocations(mode):
    m, n, o = at.lscalars("mno")
    f = aesara.function([x, m, n, o], at.alloc(at.alloc(at.sum(x), m, 1), n, o, 3), mode=mode)
    assert len([node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Alloc)]) == 1
    for lengths in ((2, 4, 2), (1, 4, 2), (0, 3, 0)):
        assert f([1.0, 2.0], *lengths).shape == (lengths[1], lengths[2], 3)
    for lengths in ((3, 4, 2), (2, 4, 1), (-1, 4, 2)):
        with pytest.raises(ValueError):
            f([1.0, 2.0], *lengths)
    # Which of both repeats a vector is not known.
    f = aesara.function([x, m, n], at.alloc(at.alloc(x, m), n, m), mode=mode)
    assert f([1.0], 3, 2).tolist() == [[1.0] * 3] * 2


@MODES
def test_writing_everything(mode):
    a, b = at.dmatrices("a", "b")
    column = at.dcol("column")
    old, new = np.arange(6.0).reshape(2, 3), -np.arange(6.0).reshape(2, 3)
    # Whether it is repeated is for the call to say.
    f = aesara.function([a, b], at.set_subtensor(a[:, :], b), mode=mode)
    (op,) = [node.op for node in f.maker.fgraph.apply_nodes]
    assert isinstance(op, IncSubtensor) and op.set_instead_of_inc
    np.testing.assert_array_equal(f(old, new), new)
    np.testing.assert_array_equal(f(old, new[:1]), new[[0, 0]])
    np.testing.assert_array_equal(f(old, new[:, 1:2]), new[:, [1, 1, 1]])
    assert f(old[:0], new[:1]).shape == (0, 3)
    with pytest.raises(ValueError):
        f(old, new[:, :2])
    f = aesara.function([a, b], at.set_subtensor(a[:], b) * 2, mode=mode)
    np.testing.assert_array_equal(f(old, new), 2 * new)
    ints = at.lmatrix("ints")
    f = aesara.function([a, ints], at.set_subtensor(a[:, :], ints), mode=mode)
    assert f(old, new.astype("int64")).dtype == "float64"
    # Here it is known.
    f = aesara.function([a, column], at.set_subtensor(a[:, :], column), mode=mode)
    assert any(isinstance(node.op, Alloc) for node in f.maker.fgraph.apply_nodes)
    np.testing.assert_array_equal(f(old, new[:, :1]), new[:, [0, 0, 0]])
    known = at.specify_shape(b, a.shape)
    f = aesara.function([a, b], at.set_subtensor(a[:, ::-1], known), mode=mode)
    assert not any(isinstance(node.op, IncSubtensor) for node in f.maker.fgraph.apply_nodes)
    np.testing.assert_array_equal(f(old, new), new[:, ::-1])


def test_set_subtensor_of_everything_drops_the_old_value():
    a, b = at.dmatrices("a", "b")
    written = at.set_subtensor(at.exp(a)[:, :], b) * 2
    f = aesara.function([a, b], written, mode=NATIVE)
    old, new = np.full((2, 3), 1e9), np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(f(old, new), 2 * new)
    text = aesara.explain(f)
    assert "1 loop nest" in str(text)


def test_dimensions_are_rearranged_at_the_inputs_at_once():
    a = at.dmatrix("a")
    out = ((x + 42) * (at.exp(a) + y)).T
    fgraph = aesara.graph.fg.FunctionGraph([x, y, a], [out], clone=False)
    (lifted,) = local_dimshuffle_lift.transform(fgraph, out.owner)
    assert aesara.pprint(lifted) == aesara.pprint((x.dimshuffle(0, "x") + 42) * (at.exp(a.T) + y.dimshuffle(0, "x")))
    kept = at.exp(a)
    fgraph = aesara.graph.fg.FunctionGraph([a], [(kept + 1).T, kept], clone=False)
    (lifted,) = local_dimshuffle_lift.transform(fgraph, fgraph.outputs[0].owner)
    assert lifted.owner.inputs[0].owner.inputs[0] is kept
    deep = a
    for _ in range(3000):
        deep = at.tanh(deep)
    fgraph = aesara.graph.fg.FunctionGraph([a], [deep.T], clone=False)
    (lifted,) = local_dimshuffle_lift.transform(fgraph, fgraph.outputs[0].owner)
    assert lifted.owner.op == at.tanh


def test_fills_are_allocations_for_those_who_ask_for_it_by_name():
    query = RewriteDatabaseQuery(["canonicalize"]).including("ShapeOpt", "local_fill_to_alloc")
    a = at.dmatrix("a")
    f = aesara.function([a], a / a, mode=Mode("llvm", query))
    assert [type(node.op).__name__ for node in f.maker.fgraph.toposort()] == ["Shape_i", "Shape_i", "Alloc"]


def test_patterns_of_dimensions_that_broadcast():
    first, second, third = (True, False, True, False), (True, True, False, False), (True, True, True, False)
    assert merge_broadcastables([first, second, third]) == [True, False, False, False]
    assert merge_broadcastables([first]) == list(first)
    assert merge_broadcastables([]) == []
    # Of rows, columns and longer tensors the last dimensions are compared.
    fits = {(a, b) for a in (first, second, third) for b in (first, second, third) if encompasses_broadcastable(a, b)}
    assert fits == {(p, p) for p in (first, second, third)} | {(first, third), (second, third)}
    assert encompasses_broadcastable(first, (True, False)) and not encompasses_broadcastable(third, (False, False))
    assert not encompasses_broadcastable((False,), (True, False)) and encompasses_broadcastable((True,), ())
