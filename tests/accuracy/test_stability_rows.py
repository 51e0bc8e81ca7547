"""Softmax, logarithms of sums of exponentials and cross-entropies in the ways in which they are written; gradients.

Entries are so large that exponentials overflow, or so small that all underflow. The truth is mpmath's.
"""

from __future__ import annotations

import warnings

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor import special

RULES = Mode(linker="py", optimizer="fast_run")

ROWS = np.array([
    [1000.0, 1001.0, 999.0], [-1000.0, -1001.0, -5000.0], [1e-20, 0.0, -1e-20], [800.0, -800.0, 0.0],
    [-745.0, -746.0, -750.0], [0.1, -40.0, -45.0], [3.0, -np.inf, 5.0], [1e300, 1e299, -1e300],
])  # fmt: skip
WEIGHTS = np.array([[0.5, 0.0, 2.0]])
COEFFICIENTS = np.arange(24.0).reshape(8, 3)[::-1] + 1


def quotient(z, axis):
    return z / z.sum(axis, keepdims=True)


def lines(x, axis):
    """Rows, columns or all elements, and how to put results for them in the order of the elements."""
    if axis is None:
        return [list(x.ravel())], lambda per_line: np.array(per_line).reshape(x.shape)
    if axis == 0:
        return [list(column) for column in x.T], lambda per_line: np.array(per_line).T
    return [list(row) for row in x], np.array


def softmax_of(line):
    largest = max(line)
    powers = [mp.exp(mp.mpf(float(v)) - mp.mpf(float(largest))) for v in line]
    return [power / mp.fsum(powers) for power in powers]


LOGSUMEXP = [
    (1, 1, lambda x: at.log(at.exp(x).sum(1))),
    (0, 1, lambda x: at.log(at.exp(x).sum(0))),
    (None, 1, lambda x: at.log(at.exp(x).sum())),
    (None, 1, lambda x: at.log(at.exp(x).sum((0, 1)))),
    (None, 1, lambda x: at.log(at.exp(x).sum(0).sum(0))),
    (1, 1, lambda x: at.log(at.exp(x).sum(1, keepdims=True))),
    (0, 1, lambda x: at.log(at.exp(x).sum(0, keepdims=True))),
    (1, 1, lambda x: at.log(at.exp(x - x.max(1, keepdims=True)).sum(1)) + x.max(1)),
    (1, 1 / 3, lambda x: at.log(at.exp(x).mean(1))),
    (None, 1 / 24, lambda x: at.log(at.exp(x).mean())),
    (0, 1 / 8, lambda x: at.log(at.exp(x).mean(0, keepdims=True))),
    (1, 1 / 3, lambda x: at.log(at.exp(x).sum(1) / x.shape[1])),
    (1, 2, lambda x: at.log(2 * at.exp(x).sum(1))),
    (1, 2, lambda x: at.log((2 * at.exp(x)).sum(1))),
    (1, 1 / 4, lambda x: at.log((at.exp(x) / 4).sum(1))),
    (1, 1, lambda x: -at.log(1 / at.exp(x).sum(1))),
    (1, 1, lambda x: at.log(at.exp(x.T).sum(0))),
    (1, 1, lambda x: at.log(at.exp(x).T.sum(0))),
    (1, 1, lambda x: at.log((1 / at.exp(-x)).sum(1))),
    (1, 1, lambda x: at.log(at.exp(x[:, 0]) + at.exp(x[:, 1]) + at.exp(x[:, 2]))),
    (1, WEIGHTS, lambda x: at.log((at.constant(WEIGHTS) * at.exp(x)).sum(1))),
    (1, WEIGHTS, lambda x: at.log((at.exp(x) * at.constant(WEIGHTS)).sum(1, keepdims=True))),
    (1, WEIGHTS, lambda x: at.log(at.dot(at.exp(x), at.constant(WEIGHTS[0])))),
    (1, WEIGHTS, lambda x: at.log(at.dot(at.constant(WEIGHTS[0]), at.exp(x).T))),
]


@pytest.mark.parametrize("position", range(len(LOGSUMEXP)))
def test_logarithm_of_sum_of_exponentials(position):
    axis, weights, build = LOGSUMEXP[position]
    x = at.dmatrix("x")
    y = build(x)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value, slope = aesara.function([x], [y, aesara.grad(y.sum(), x)], mode=RULES)(ROWS)
        logarithms = np.log(np.broadcast_to(weights, ROWS.shape))
    exponents, ordered = lines(ROWS + logarithms, axis)
    with mp.workdps(400):
        truth = [max(line) + mp.log(mp.fsum(mp.exp(mp.mpf(v) - mp.mpf(max(line))) for v in line)) for line in exponents]
        truth = np.array([float(v) for v in truth])
        slopes = ordered([[float(v) for v in softmax_of(line)] for line in exponents])
    np.testing.assert_allclose(value.ravel(), truth, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(slope, slopes, rtol=3e-13, atol=1e-300)


SOFTMAX = [
    (1, lambda x: quotient(at.exp(x), 1)),
    (0, lambda x: quotient(at.exp(x), 0)),
    (None, lambda x: quotient(at.exp(x), None)),
    (None, lambda x: at.exp(x) / at.exp(x).sum()),
    (None, lambda x: quotient(at.exp(x), (0, 1))),
    (1, lambda x: at.exp(x) / at.exp(x).sum(1)[:, None]),
    (1, lambda x: at.exp(x) / at.exp(x).sum(-1).dimshuffle(0, "x")),
    (0, lambda x: at.exp(x) / at.exp(x).sum(0)),
    (1, lambda x: (at.exp(x).T / at.exp(x).sum(1)).T),
    (1, lambda x: (at.exp(x.T) / at.exp(x.T).sum(0)).T),
    (1, lambda x: 2 * at.exp(x) / (2 * at.exp(x)).sum(1, keepdims=True)),
    (1, lambda x: quotient(at.exp(x - x.max(1, keepdims=True)), 1)),
    (None, lambda x: quotient(at.exp(x - x.max()), None)),
    (1, lambda x: quotient(at.exp(x - aesara.gradient.disconnected_grad(x.max(1, keepdims=True))), 1)),
    (1, lambda x: at.exp(special.log_softmax(x, 1))),
]

#: The last has no stable logarithm: its gradient divides by probabilities that underflow.
SOFTMAX_ALONE = [*SOFTMAX, (1, lambda x: at.exp(x) * (1 / at.exp(x).sum(1, keepdims=True)))]


@pytest.mark.parametrize(
    ("position", "logarithm"),
    [*((k, False) for k in range(len(SOFTMAX_ALONE))), *((k, True) for k in range(len(SOFTMAX)))],
)
def test_softmax(position, logarithm):
    axis, build = SOFTMAX_ALONE[position]
    rows = ROWS[np.isfinite(ROWS).all(1)] if logarithm else ROWS
    coefficients = COEFFICIENTS[: len(rows)]
    x = at.dmatrix("x")
    y = at.log(build(x)) if logarithm else build(x)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cost = (y * at.constant(coefficients)).sum()
        value, slope = aesara.function([x], [y, aesara.grad(cost, x)], mode=RULES)(rows)
    exponents, ordered = lines(rows, axis)
    weights, _ = lines(coefficients, axis)
    with mp.workdps(400):
        truth, slopes = [], []
        for line, c in zip(exponents, weights, strict=True):
            p = softmax_of(line)
            if logarithm:
                largest = mp.mpf(float(max(line)))
                total = mp.log(mp.fsum(mp.exp(mp.mpf(float(v)) - largest) for v in line))
                truth.append([float(mp.mpf(float(v)) - largest - total) for v in line])
                slopes.append([float(w - sum(c) * q) for w, q in zip(c, p, strict=True)])
            else:
                mean = mp.fsum(w * q for w, q in zip(c, p, strict=True))
                truth.append([float(q) for q in p])
                slopes.append([float(q * (w - mean)) for w, q in zip(c, p, strict=True)])
    np.testing.assert_allclose(value, ordered(truth), rtol=1e-13, atol=1e-13 if logarithm else 1e-300)
    np.testing.assert_allclose(slope, ordered(slopes), rtol=1e-12, atol=1e-12)


def test_weighted_average():
    """``sum(v * exp(x)) / sum(exp(x))``, as in attention, and its gradient."""
    x, v = at.dmatrices("xv")
    average = (v * at.exp(x)).sum(1) / at.exp(x).sum(1)
    function = aesara.function([x, v], [average, aesara.grad(average.sum(), x)], mode=RULES)
    with np.errstate(all="ignore"):
        value, slope = function(ROWS, COEFFICIENTS)
        p = np.array([[float(q) for q in softmax_of(list(row))] for row in ROWS])
    mean = (p * COEFFICIENTS).sum(1)
    np.testing.assert_allclose(value, mean, rtol=1e-13)
    np.testing.assert_allclose(slope, p * (COEFFICIENTS - mean[:, None]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("of_second", [False, True], ids=["exp first", "exp second"])
@pytest.mark.parametrize("ranks", [(1, 1), (2, 1), (1, 2), (2, 2)], ids=str)
def test_products_of_exponentials(ranks, of_second):
    """Adding a number to all exponents adds it to the logarithm of the product and leaves its shares unchanged."""
    x, y = (at.TensorType("float64", (None,) * rank)(name) for rank, name in zip(ranks, "xy"))
    rng = np.random.default_rng(4)
    values = [rng.uniform(0.1, 1.0, size=(3,) * rank) for rank in ranks]

    def computed(module, x, y):
        powers = module.exp(y if of_second else x)
        product = module.dot(x, powers) if of_second else module.dot(powers, y)
        return [module.log(product), powers / product]

    f = aesara.function([x, y], computed(at, x, y), mode=RULES)
    logarithm, shares = computed(np, *values)
    for found, wanted in zip(f(*values), (logarithm, shares), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    for shift in (800.0, -800.0):
        values[of_second] += shift
        with np.errstate(all="ignore"):
            found = f(*values)
        np.testing.assert_allclose(found[0], logarithm + shift, rtol=1e-15)
        if ranks[not of_second] == 1:
            np.testing.assert_allclose(found[1], shares, rtol=1e-12)
        values[of_second] -= shift


TARGETS = np.array([0, 1, 2, 1, 0, 2, 0])

CROSS_ENTROPIES = [
    lambda x, y: -at.log(at.exp(x)[at.arange(x.shape[0]), y] / at.exp(x).sum(1)).sum(),
    lambda x, y: -at.log(special.softmax(x, 1))[at.arange(x.shape[0]), y].sum(),
    lambda x, y: -at.log(special.softmax(x, 1)[at.arange(x.shape[0]), y]).sum(),
    lambda x, y: -at.log(quotient(at.exp(x), 1))[at.arange(x.shape[0]), y].sum(),
    lambda x, y: (at.log(at.exp(x).sum(1)) - x[at.arange(x.shape[0]), y]).sum(),
    lambda x, y: -(at.extra_ops.to_one_hot(y, 3, dtype="float64") * at.log(special.softmax(x, 1))).sum(),
    lambda x, y: -(at.extra_ops.to_one_hot(y, 3, dtype="float64") * at.log(quotient(at.exp(x), 1))).sum(1).sum(),
]


@pytest.mark.parametrize("position", range(len(CROSS_ENTROPIES)))
def test_cross_entropy(position):
    rows = ROWS[np.isfinite(ROWS).all(1)]
    rows = rows[np.abs(rows).max(1) < 1e5]
    targets = TARGETS[: len(rows)]
    x, y = at.dmatrix("x"), at.lvector("y")
    cost = CROSS_ENTROPIES[position](x, y)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value, slope = aesara.function([x, y], [cost, aesara.grad(cost, x)], mode=RULES)(rows, targets)
    with mp.workdps(400):
        p = [softmax_of(list(row)) for row in rows]
        truth = float(mp.fsum(-mp.log(line[k]) for line, k in zip(p, targets, strict=True)))
        slopes = np.array(
            [[float(q - (j == k)) for j, q in enumerate(line)] for line, k in zip(p, targets, strict=True)]
        )
    np.testing.assert_allclose(value, truth, rtol=1e-13)
    np.testing.assert_allclose(slope, slopes, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("linker", ["py", "llvm"])
def test_of_no_numbers(linker):
    x, v = at.dmatrices("xv")
    outputs = [at.log(at.exp(x).sum(1)), at.log((v * at.exp(x)).sum(1)), (v * at.exp(x)).sum(1) / at.exp(x).sum(1)]
    empty = np.zeros((2, 0))
    found = aesara.function([x, v], outputs, mode=Mode(linker=linker, optimizer="fast_run"))(empty, empty)
    np.testing.assert_array_equal(found, [[-np.inf] * 2, [-np.inf] * 2, [np.nan] * 2])


@pytest.mark.parametrize("term", [special.rel_entr, special.kl_div, at.xlogy], ids=lambda term: term.scalar_op.name)
def test_entropies_where_masks_leave_no_probability(term):
    """Logarithms of both probabilities may be minus infinity."""
    p, q = at.dmatrices("pq")
    terms = term(special.softmax(p, 1), special.softmax(q, 1))
    function = aesara.function([p, q], [terms, aesara.grad(terms.sum(), p)], mode=RULES)
    first = np.array([[-np.inf, 1.0, 2.0], [0.0, -np.inf, -np.inf], [-np.inf, -np.inf, 3.0]])
    second = np.array([[-np.inf, 1.0, 3.0], [0.0, -np.inf, 1.0], [-np.inf, 1.0, 3.0]])
    with np.errstate(all="ignore"):
        value, slope = function(first, second)
        written = getattr(scipy.special, term.scalar_op.name)(*(scipy.special.softmax(x, 1) for x in (first, second)))
    np.testing.assert_allclose(value, written, rtol=1e-13, atol=1e-16)
    assert np.isfinite(slope).all()
