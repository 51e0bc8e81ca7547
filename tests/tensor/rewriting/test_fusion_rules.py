"""Elementwise operations as one operation of the graph, where it is asked for."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import scalar as aes
from aesara.compile import Mode
from aesara.compile.mode import optdb
from aesara.graph.fg import FunctionGraph
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.rewriting.elemwise import (
    FusionOptimizer,
    elemwise_max_input_fct,
    fuse_seqopt,
    local_elemwise_fusion,
    local_elemwise_fusion_op,
    local_upcast_elemwise_constant_inputs,
    local_useless_composite,
)
from tests.closeness import assert_close

x, y = at.dvector("x"), at.dvector("y")


def fused(*outputs, rewriter=local_elemwise_fusion):
    fgraph = FunctionGraph(outputs=list(outputs), clone=True)
    FusionOptimizer(rewriter).rewrite(fgraph)
    return [str(node.op) for node in fgraph.toposort() if isinstance(node.op, Elemwise)]


def test_nodes_that_only_one_reads():
    assert fused(at.exp(x) * at.sin(y) + x) == ["Elemwise{Composite{((exp(i0) * sin(i1)) + i0)}}"]
    assert fused(at.exp(x)) == ["Elemwise{exp,no_inplace}"]


def test_nodes_that_others_read():
    t = at.exp(x)
    assert fused(t + 0.5, t * 2.0)[0] == "Elemwise{exp,no_inplace}"
    # All that read it are fused with it.
    assert fused(at.sin(t) + at.cos(t)) == ["Elemwise{Composite{(sin(exp(i0)) + cos(exp(i0)))}}"]
    assert "Elemwise{exp,no_inplace}" in fused(t, at.sin(t) + at.cos(t))


def test_what_is_repeated_stays_outside():
    m = at.dmatrix("m")
    ops = fused(at.exp(x) + at.sin(m) * 2.0)
    assert "Elemwise{exp,no_inplace}" in ops and sum("Composite" in op for op in ops) == 1


def test_long_chains_take_linear_time_and_inputs_are_limited():
    many = [at.dvector() for _ in range(100)]
    total = many[0]
    for one in many[1:]:
        total = at.tanh(total) * one
    fgraph = FunctionGraph(many, [total], clone=True)
    FusionOptimizer(local_elemwise_fusion).rewrite(fgraph)
    assert elemwise_max_input_fct(total.owner) == 31
    assert 4 <= len(fgraph.apply_nodes) <= 8
    assert all(len(node.inputs) <= 31 for node in fgraph.apply_nodes)


def test_own_classes_and_makers():
    class Special(Elemwise):
        pass

    special = Special(aes.exp)(Special(aes.sin)(x))
    rule = local_elemwise_fusion_op(Special, lambda node: 3, lambda node, op: Special(op, name="mine"))
    assert fused(special, rewriter=rule) == ["mine"]


def test_registered_but_not_part_of_fast_run():
    assert optdb.__position__["elemwise_fusion"] == 49 and optdb["elemwise_fusion"] is fuse_seqopt
    assert fuse_seqopt.__position__ == {"local_add_mul_fusion": 0, "composite_elemwise_fusion": 1}
    f = aesara.function([x], at.exp(x) * 2 + x)
    assert not any("Composite" in str(node.op) for node in f.maker.fgraph.apply_nodes)


@pytest.mark.parametrize(
    "mode",
    [Mode("py", "o2"), Mode("py", "fast_run").including("fusion"), Mode("llvm", "fast_run").including("fusion")],
    ids=["o2", "vm", "native"],
)
def test_values_and_gradients(mode):
    z = at.zvector("z")
    k = at.bvector("k")
    cost = (at.exp(x) * y - at.sqrt(at.abs(x)) / (1 + y**2)).sum()
    results = [cost, *aesara.grad(cost, [x, y]), (z * at.exp(z) + x).imag, (k + k * k) // 3, at.switch(x > 0, x, k * y)]
    f = aesara.function([x, y, z, k], results, mode=mode)
    assert any("Composite" in str(node.op) for node in f.maker.fgraph.apply_nodes)
    plain = aesara.function([x, y, z, k], results, mode=Mode("py", None))
    values = [
        np.array([0.5, -1.5, np.inf]),
        np.array([1.0, -2.0, 0.0]),
        np.array([1j, 2, -0.0]),
        np.array([100, -3, 7], "int8"),
    ]
    with np.errstate(all="ignore"):
        for got, expected in zip(f(*values), plain(*values), strict=True):
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-13)


@pytest.mark.parametrize("linker", ["py", "llvm"])
def test_lengths_that_differ_are_found(linker):
    f = aesara.function([x, y], at.exp(x) * 2 + y, mode=Mode(linker, "fast_run").including("fusion"))
    with pytest.raises(ValueError, match="[dD]imension"):
        f(np.ones(3), np.ones(4))


def test_composites_without_what_nobody_asks_for():
    a, b, c = aes.float64("a"), aes.float64("b"), aes.float64("c")
    op = Elemwise(aes.Composite([a, b, c], [a + 1.0, b * a, c]))
    first, second, _ = op(x, x + y, y, return_list=True)
    fgraph = FunctionGraph([x, y], [second], clone=False)
    (new,) = local_useless_composite.transform(fgraph, second.owner).values()
    assert new.owner.op.scalar_op.nout == 1 and new.owner.op.scalar_op.nin == 2
    f = aesara.function([x, y], [second])
    assert_close(f([1.0, 2.0], [3.0, 4.0])[0], [4, 12])
    fgraph = FunctionGraph([x, y], [first, second, _], clone=False)
    assert local_useless_composite.transform(fgraph, first.owner) is False


def test_constants_in_the_dtype_of_the_result():
    def upcast(expression):
        return local_upcast_elemwise_constant_inputs.transform(None, expression.owner)

    one = at.constant(np.array([1, 2], "int8"))
    (new,) = upcast(x + one)
    assert new.owner.inputs[1].type.dtype == "float64" and new.type == (x + one).type
    assert upcast(x + y) is False and upcast(x + np.array([1.0])) is False
    assert upcast(at.zvector() * one) is False
