"""Rules about masks, for graphs that are compiled by JAX."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import JAX
from aesara.graph.rewriting.basic import in2out
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.scalar import Switch
from aesara.tensor.indexing.nonzero import Nonzero
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedSubtensor, AdvancedSubtensor1
from aesara.tensor.rewriting.jax import boolean_indexing_set_or_inc, boolean_indexing_sum, shape_parameter_as_tuple
from aesara.tensor.shapes.reshape import Reshape
from tests.link.jax_mode.matching import fail_alike, on_both

X = np.random.default_rng(0).normal(size=(4, 5))
X[0, 0], X[1, 1], X[2, 2] = np.nan, np.inf, -0.0
W = np.random.default_rng(1).normal(size=(4, 5))
INDEXING = (AdvancedIncSubtensor, AdvancedSubtensor, AdvancedSubtensor1, Nonzero)

x, w, v, mask = at.dmatrix("x"), at.dmatrix("w"), at.dvector("v"), at.tensor("bool", (None, None))
positive = x > 0

ANYWHERE = [
    x[positive].sum(),
    x[positive].mean(),
    x[positive].var(),
    x[positive].prod(),
    (x[positive] > 1).any(),
    (x[positive] > -1).all(),
    positive[positive].sum(),
    x[positive.nonzero()].sum(),
    at.exp(x[positive] - 2).sum(),
    ((x[positive] - w[positive]) ** 2).sum(),
    x[v > 0].sum(axis=0),
    x[v > 0].sum(axis=(0, 1)),
    (x[v > 0] * w[v > 0] * 2).sum(axis=0),
    v[(v > 0).nonzero()].sum(),
    x.astype("int8")[at.isfinite(x)].sum(),
    at.set_subtensor(x[positive], 0.0),
    at.set_subtensor(x[at.isnan(x)], 0.0),
    at.inc_subtensor(x[positive], v[0]),
    at.set_subtensor(x[positive.nonzero()], -1.0),
    at.inc_subtensor(x[v > 0], 1.0),
    at.set_subtensor(v[v > 0], at.log(v[v > 0])),
    at.inc_subtensor(x[positive], x[positive] * w[positive]),
    at.inc_subtensor(positive[w > 0], np.array(True)),
    at.grad(((w[positive] - w[positive].mean()) ** 2).sum(), w),
]


@pytest.mark.parametrize("result", ANYWHERE, ids=range(len(ANYWHERE)))
def test_what_is_done_by_mask_is_done_everywhere(result):
    on_both([x, w, v], result, X, W, W[:, 0])
    on_both([x, w, v], result, -np.abs(X), W, -np.abs(W[:, 0]))
    f = aesara.function([x, w, v], result, mode="JAX", on_unused_input="ignore")
    assert not any(isinstance(node.op, INDEXING) for node in f.maker.fgraph.toposort())


OTHERS = [
    # What has as many entries as the mask chooses, but is something else.
    at.set_subtensor(x[positive], v),
    at.set_subtensor(v[v > 0], v[v > 0][::-1]),
    at.set_subtensor(x[v > 0], x[v > 0] * 2),
    (x[positive] * at.arange(positive.sum())).sum(),
    (x[positive] * x[w > 0]).sum(),
    # The number of results is not known.
    x[v > 0].sum(axis=1),
    # The positions may be those of another shape.
    x[(w > 0).nonzero()].sum(),
    at.set_subtensor(x[(w > 0).nonzero()], 0.0),
    # Not all, and not in this order.
    x[positive.nonzero()[0]].sum(),
    x[positive.nonzero()[::-1]].sum(),
    x[positive.nonzero()[0], 1].sum(),
    # A mask of another length than one that is broadcast.
    at.specify_broadcastable(x, 0)[at.extra_ops.broadcast_to(v > 0, (v.shape[0],))].sum(),
]


@pytest.mark.parametrize("result", OTHERS, ids=range(len(OTHERS)))
def test_what_cannot_be_done_everywhere_stays(result):
    f = aesara.function([x, w, v], result, mode=JAX.clone(), on_unused_input="ignore")
    assert any(isinstance(node.op, INDEXING) for node in f.maker.fgraph.toposort())


def test_shapes_are_checked():
    for result in (
        x[mask].sum(),
        at.set_subtensor(x[mask], 0.0),
        at.inc_subtensor(x[mask], w[mask]),
        (w[mask] - 1).sum(),
    ):
        for shape in ((4, 6), (3, 5), (1, 5)):
            fail_alike(
                IndexError, [x, w, mask], result, X, W, np.ones(shape, bool), match="boolean index did not match"
            )
        on_both([x, w, mask], result, X, W, np.ones((4, 5), bool))
    fail_alike(IndexError, [x, w], (x[positive] * w[positive]).sum(), X, W[:3], match="boolean index did not match")


def test_expressions_of_any_depth():
    part = x[positive]
    for _ in range(700):
        part = at.tanh(part * part)
    f = rewrite_graph(part.sum(), custom_rewrite=in2out(boolean_indexing_sum), clone=False)
    assert isinstance(f.owner.inputs[0].owner.op.scalar_op, Switch)


def test_only_modes_with_the_tag_have_them():
    for mode in (None, "FAST_RUN", "FAST_COMPILE", JAX.excluding("jax")):
        f = aesara.function([x], [x[positive].sum(), at.set_subtensor(x[positive], 0.0)], mode=mode)
        assert sum(isinstance(node.op, INDEXING) for node in f.maker.fgraph.toposort()) == 2
    f = aesara.function([x], x[positive].sum(), mode=JAX.excluding("jax_boolean_indexing_sum"))
    assert any(isinstance(node.op, INDEXING) for node in f.maker.fgraph.toposort())


def test_rules_by_themselves():
    for rule, result in (
        (boolean_indexing_sum, x[positive].sum()),
        (boolean_indexing_set_or_inc, at.inc_subtensor(x[positive], 1.0)),
    ):
        found = rewrite_graph(result, custom_rewrite=in2out(rule), clone=False)
        assert found is not result
        np.testing.assert_allclose(found.eval({x: X}), result.eval({x: X}), rtol=1e-12)
    shaped = Reshape(2)(v, at.stack([at.constant(2), -1]))
    (found,) = shape_parameter_as_tuple.transform(None, shaped.owner)
    assert found.owner.inputs[1].data.tolist() == [2, -1]
    unknown = v.reshape((v.shape[0], 1))
    assert shape_parameter_as_tuple.transform(None, unknown.owner) is False
