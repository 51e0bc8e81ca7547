"""Costs of sequences of labels against sums over all paths, and their gradients against differences."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from aesara.tensor.nnet.ctc import ConnectionistTemporalClassification, ctc, ctc_available, ctc_present
from tests.closeness import assert_close

LABELS = np.array([[1, 2, -1], [2, 2, -1], [-1, 1, -1], [-1, -1, -1], [1, 2, 1]])
LENGTHS = np.array([4, 3, 2, 4, 3])


def read(path):
    """Collapse a path to its labels: drop repetitions, then blanks."""
    return [symbol for symbol, _ in itertools.groupby(path) if symbol]


def summed_over_paths(activations, labels, lengths):
    costs = []
    for k, row in enumerate(labels):
        steps = activations[: lengths[k], k]
        probabilities = np.exp(steps) / np.exp(steps).sum(1, keepdims=True)
        wanted = [label for label in row if label >= 0]
        paths = itertools.product(range(activations.shape[2]), repeat=len(steps))
        total = sum(np.prod(probabilities[np.arange(len(steps)), path]) for path in paths if read(path) == wanted)
        costs.append(-np.log(total))
    return np.array(costs)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_costs(dtype):
    activations = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(dtype)
    x = at.tensor(dtype=dtype, shape=(None, None, None))
    want = summed_over_paths(activations.astype(float), LABELS, LENGTHS)
    for mode in (None, "FAST_COMPILE"):
        costs = aesara.function([x], ctc(x, LABELS, LENGTHS), mode=mode)(activations)
        assert costs.dtype == dtype
        np.testing.assert_allclose(costs, want, rtol=1e-12 if dtype == "float64" else 1e-6)


def test_gradients():
    rng = np.random.default_rng(1)
    activations, weights = rng.normal(size=(4, 5, 3)), rng.normal(size=5)
    verify_grad(lambda x: (ctc(x, LABELS, LENGTHS) * weights).sum(), [activations], rng=rng, mode="FAST_COMPILE")
    x = at.dtensor3("x")
    alone = ConnectionistTemporalClassification(compute_grad=False)(x, LABELS, LENGTHS)
    both = [
        aesara.grad((costs * weights).sum(), x).eval({x: activations}) for costs in (alone, ctc(x, LABELS, LENGTHS))
    ]
    np.testing.assert_array_equal(*both)
    assert not both[0][3, 1].any() and both[0][2, 1].any()  # of steps that are not there
    gradient = aesara.grad(ctc(x, LABELS, LENGTHS).sum(), x)
    with pytest.raises(Exception, match="not implemented"):
        aesara.grad((gradient**2).sum(), x)


@pytest.mark.slow
def test_long_sequences_do_not_underflow():
    activations = np.random.default_rng(2).normal(size=(2000, 1, 4)) * 10
    costs = ctc(activations, np.arange(900).reshape(1, -1) % 3 + 1, [2000])
    value = costs.eval()
    assert np.isfinite(value).all() and value[0] > 1000
    largest = ctc(np.array([[[0.0, 1e4]], [[1e4, 0.0]]]), [[1]], [2])
    assert_close(largest.eval(), [0.0], size=1.0)


def test_what_cannot_be_read():
    x = at.dtensor3("x")
    cost = ctc(x, [[1, 1], [1, -1]], [2, 2])
    values = np.zeros((2, 2, 2))
    value, gradient = (v.eval({x: values}) for v in (cost, aesara.grad(cost.sum(), x)))
    assert np.isinf(value[0]) and np.isfinite(value[1])
    assert np.isnan(gradient[:, 0]).all() and np.isfinite(gradient[:, 1]).all()


def test_gradients_are_left_out_where_nobody_reads_them():
    x = at.dtensor3("x")
    for mode in (None, "FAST_COMPILE"):
        f = aesara.function([x], ctc(x, LABELS, LENGTHS), mode=mode)
        (node,) = (n for n in f.maker.fgraph.apply_nodes if isinstance(n.op, ConnectionistTemporalClassification))
        assert not node.op.compute_grad
    f = aesara.function([x], [(c := ctc(x, LABELS, LENGTHS)), aesara.grad(c.sum(), x)])
    assert sum(isinstance(n.op, ConnectionistTemporalClassification) for n in f.maker.fgraph.apply_nodes) == 1
    shape = aesara.function([x], ctc(x, LABELS, LENGTHS).shape)
    assert not any(isinstance(n.op, ConnectionistTemporalClassification) for n in shape.maker.fgraph.apply_nodes)


@pytest.mark.parametrize(
    "error, message, given",
    [
        (TypeError, "floating-point", (np.zeros((2, 1, 2), dtype="int64"), [[1]], [1])),
        (ValueError, "activations must have 3", (np.zeros((2, 2)), [[1]], [1])),
        (ValueError, "labels must have 2", (np.zeros((2, 1, 2)), [1], [1])),
        (TypeError, "labels must be integers", (np.zeros((2, 1, 2)), [[1.0]], [1])),
        (TypeError, "input_lengths must be integers", (np.zeros((2, 1, 2)), [[1]], [1.0])),
        (ValueError, "Labels must be from 1 to 1", (np.zeros((2, 1, 2)), [[2]], [1])),
        (ValueError, "0 is the blank", (np.zeros((2, 1, 2)), [[0]], [1])),
        (ValueError, "Lengths of sequences must be from 1 to 2", (np.zeros((2, 1, 2)), [[1]], [3])),
        (ValueError, "labels of 2 and 1 lengths", (np.zeros((2, 1, 2)), [[1], [1]], [1])),
    ],
)
def test_what_is_refused(error, message, given):
    with pytest.raises(error, match=message):
        ctc(*given).eval()


def test_is_always_there():
    assert ctc_present() and ctc_available()
