"""Elementwise operations that are reduced as they are computed, for those who ask for it."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import FAST_RUN, OPT_FAST_RUN, Mode, optdb
from aesara.graph.vectorization import vectorize_graph
from aesara.scalar import Composite
from aesara.tensor.reductions.fused_reduction import FusedReduction
from tests.closeness import assert_close

x, y = at.dmatrices("x", "y")
row = at.tensor("float64", shape=(1, None), name="row")
small = at.tensor("int8", shape=(None, None), name="small")

VALUES = {
    x: np.array([[0.5, -1.0, np.nan], [2.0, -0.0, np.inf]]),
    y: np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, -2.0]]),
    row: np.array([[1.0, 2.0, 3.0]]),
    small: np.array([[100, -100, 3], [127, -128, 0]], dtype="int8"),
}
CASES = {
    "sum": (at.sum(at.exp(x), axis=0), 1),
    "composite": (at.sum(at.exp(x) * y + row, axis=1), 1),
    "largest": (at.max(at.tanh(x)), 1),
    "product": (at.prod(y + row, axis=-1), 1),
    "bool": (at.any(x > y, axis=0), 1),
    "wraps": (at.sum(small * small, axis=0), 1),
    "narrow": (at.sum(small * small, axis=0, dtype="int8"), 1),
    "widened": (at.sum(at.cast(y, "float32"), axis=1, dtype="float64"), 1),
    "complex": (at.sum(at.exp(y * 1j), axis=0), 1),
    "kept": (at.sum(at.exp(y), axis=0, keepdims=True), 1),
    "two readers": ((lambda e: at.sum(e, axis=0) + at.max(e, axis=0))(at.exp(y)), 0),
    "read as well": (at.sum(at.exp(y), axis=0) + at.exp(y), 0),
    "not elementwise": (at.sum(at.dot(x, y.T), axis=0), 0),
    "not commutative": (at.argmax(at.exp(y), axis=0), 0),
}


def fused(function):
    return [node.op for node in function.maker.fgraph.apply_nodes if isinstance(node.op, FusedReduction)]


#: The rewriter itself: of a query the reference would leave fused reductions out.
REFERENCE = Mode("py", optdb.query(OPT_FAST_RUN.including("fusion")))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", [FAST_RUN.including("fusion"), REFERENCE], ids=["native", "reference"])
def test_values(mode, name):
    expression, count = CASES[name]
    inputs = [v for v in VALUES if v in aesara.graph.basic.graph_inputs([expression])]
    values = [VALUES[v] for v in inputs]
    expected = aesara.function(inputs, expression, mode=Mode("py", None))(*values)
    f = aesara.function(inputs, expression, mode=mode)
    assert len(fused(f)) == count
    result = f(*values)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_its_own_tag_is_enough_and_none_means_none():
    expression = at.sum(at.exp(y), axis=0)
    f = aesara.function([y], expression, mode=FAST_RUN.including("local_careduce_fusion"))
    assert [str(op) for op in fused(f)] == ["Sum{axis=[0], acc_dtype=float64} of exp"]
    assert not fused(aesara.function([y], expression, mode=FAST_RUN))
    assert not fused(aesara.function([y], expression, mode=FAST_RUN.including("fusion").excluding("fusion")))


def test_the_reference_computes_nodes_one_by_one():
    expression = at.sum(at.exp(y), axis=0)
    assert not fused(aesara.function([y], expression, mode=Mode("py", "fast_run").including("fusion")))


def test_the_scalar_op_combines_a_result_with_an_element():
    f = aesara.function([x, row], at.prod(x + row, axis=1), mode=FAST_RUN.including("fusion"))
    (op,) = fused(f)
    assert isinstance(op.scalar_op, Composite)
    assert op.scalar_op.impl(2.0, 3.0, 4.0) == 2.0 * (3.0 + 4.0)
    f = aesara.function([small], at.sum(small * small, axis=0), mode=FAST_RUN.including("fusion"))
    (op,) = fused(f)
    # The elements are computed in their dtype, and added in that of the sum.
    assert op.scalar_op.impl(1, np.int8(100)) == 1 + int(np.array(100 * 100).astype("int8"))
    assert op.scalar_op.outputs[0].type.dtype == "int64"
    assert not hasattr(FusedReduction(op.reduction, op.elemwise), "scalar_op")


def test_what_it_stands_for():
    reduction = at.sum(at.exp(y), axis=0).owner.op
    op = FusedReduction(reduction, at.exp)
    assert op == FusedReduction(reduction, at.exp) != FusedReduction(reduction, at.tanh)
    out = op(y)
    assert out.type == at.sum(at.exp(y), axis=0).type
    with pytest.raises(TypeError):
        op(y, y)
    batch = at.tensor("float64", shape=(None, None, None), name="batch")
    value = np.arange(12.0).reshape(2, 3, 2) / 10
    f = aesara.function(
        [y, batch],
        [aesara.grad(out.sum(), y), aesara.gradient.Rop(out, y, y), out.shape, vectorize_graph(out, {y: batch})],
        mode="FAST_COMPILE",
    )
    gradient, tangent, shape, batched = f(VALUES[y], value)
    assert_close(gradient, np.exp(VALUES[y]))
    assert_close(tangent, (np.exp(VALUES[y]) * VALUES[y]).sum(0))
    assert shape.tolist() == [3]
    assert_close(batched, np.exp(value).sum(1))


def test_nothing_to_reduce():
    f = aesara.function([y], at.sum(at.exp(y), axis=0), mode=FAST_RUN.including("fusion"))
    assert fused(f) and f(np.zeros((0, 2))).tolist() == [0.0, 0.0]
    largest = aesara.function([y], at.max(at.exp(y), axis=0), mode=FAST_RUN.including("fusion"))
    with pytest.raises(ValueError):
        largest(np.zeros((0, 2)))
