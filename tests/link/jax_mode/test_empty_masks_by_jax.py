"""Empty masks index dimensions of any length, compiled by JAX."""

import numpy as np
import pytest

import aesara.tensor as at
from tests.link.jax_mode.matching import fail_alike, on_both

X = np.random.default_rng(0).normal(size=(2, 3))

x, v, mask, other = at.dmatrix("x"), at.dvector("v"), at.tensor("bool", (None, None)), at.tensor("bool", (None,))
of_rows = [
    x[other].sum(),
    x[other].sum(axis=0),
    at.set_subtensor(x[other], 2.0),
    at.inc_subtensor(x[other], v),
    at.set_subtensor(x[other, 1], 2.0),
    at.inc_subtensor(x[other, :2], 2.0),
    at.grad((at.set_subtensor(x[other], 3.0) ** 2).sum(), x),
]
of_all = [
    x[mask].sum(),
    at.exp(x[mask] - 1).prod(),
    at.set_subtensor(x[mask], 2.0),
    at.inc_subtensor(x[mask], x[mask] * 2),
    at.grad((x[mask] ** 2).sum(), x),
]


@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("result", of_rows, ids=range(len(of_rows)))
def test_masks_of_rows(result, n):
    on_both([x, v, other], result, X, X[0], np.ones(n, dtype=bool))


@pytest.mark.parametrize("lengths", [(0, 3), (2, 0), (0, 0), (2, 3)], ids=str)
@pytest.mark.parametrize("result", of_all, ids=range(len(of_all)))
def test_masks_of_all(result, lengths):
    on_both([x, mask], result, X, np.ones(lengths, dtype=bool))


@pytest.mark.parametrize("lengths", [(0, 2), (3, 0), (1, 3)], ids=str)
@pytest.mark.parametrize("result", of_all, ids=range(len(of_all)))
def test_masks_that_do_not_fit(result, lengths):
    fail_alike(IndexError, [x, mask], result, X, np.ones(lengths, dtype=bool))


def test_known_masks_and_positions_that_are_broadcast_to_nothing():
    nothing = np.zeros(0, dtype=bool)
    on_both([x], at.set_subtensor(x[nothing], 2.0), X)
    on_both([x], x[nothing].sum(axis=0), X)
    on_both([x], at.set_subtensor(x[nothing, [7]], 2.0), X)
