"""First and second derivatives of logarithms of what overflows or underflows, in the ways in which it is written.

Each form is a number for each row of a matrix. Its value, its gradient and the product of its Hessian matrix with a
vector are compared with those of a function of mpmath, for rows in which exponentials leave the range.
"""

from __future__ import annotations

import warnings
from functools import cache

import mpmath as mp
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.graph.traversal import applys_between
from aesara.tensor import special
from aesara.tensor.nnet import binary_crossentropy, categorical_crossentropy, sigmoid_binary_crossentropy

RULES = Mode(linker="py", optimizer="fast_run")

ROWS = np.array([
    [0.0, 800.0, 0.0], [1000.0, 0.0, -1000.0], [-2000.0, 2000.0, 0.0], [1e4, -1e4, 0.0], [1000.0, 1001.0, 999.0],
    [-1000.0, -1001.0, -5000.0], [1e-20, 0.0, -1e-20], [0.1, -40.0, -45.0], [-745.0, -746.0, -750.0],
    [5e-324, 0.0, 1e-310], [0.5, -0.25, 1.5], [350.0, 351.0, -340.0], [-352.0, -351.0, -350.0],
])  # fmt: skip
TARGETS = np.array([1, 1, 0, 2, 0, 1, 2, 1, 0, 2, 1, 0, 2])
N = at.arange(len(ROWS))
ONE_HOT = at.constant(np.eye(3)[TARGETS])
MASK = at.constant(np.array([[True, True, False]]))
WEIGHTS = np.array([0.1, 0.7, 0.2])
SMOOTH = np.eye(3)[TARGETS] * 0.7 + 0.1
MATRIX = np.array([[0.5, 0.25], [1.0, 2.0], [0.125, 4.0]])
#: The vector that Hessian matrices are multiplied by.
DIRECTION = np.array([1.0, -0.5, 2.0])


def quotient(z):
    return z / z.sum(-1, keepdims=True)


def softmax(x):
    return special.softmax(x, -1)


def probabilities(x):
    """The ways to write a softmax."""
    total = at.exp(x).sum(-1, keepdims=True)
    return [
        softmax(x), at.exp(x) / total, at.exp(x) * (1 / total), at.exp(x) * total**-1, at.exp(x - at.log(total)),
        quotient(at.exp(x - x.max(-1, keepdims=True))), (at.exp(x).T / at.exp(x).sum(-1)).T,
        quotient(3 * at.exp(x)), 1 / (total * at.exp(-x)), at.reciprocal(total / at.exp(x)),
    ]  # fmt: skip


# The truth: functions of rows, of numbers of mpmath.


def log_sum_exp(row, weights=(1, 1, 1)):
    largest = max(row)
    return largest + mp.log(mp.fsum(mp.mpf(w) * mp.exp(v - largest) for v, w in zip(row, weights, strict=True)))


def true_softmax(row):
    total = log_sum_exp(row)
    return [mp.exp(v - total) for v in row]


def true_cross_entropy(row, k):
    return log_sum_exp(row) - row[TARGETS[k]]


def true_smooth_cross_entropy(row, k):
    return mp.fsum(mp.mpf(w) * (log_sum_exp(row) - v) for v, w in zip(row, SMOOTH[k], strict=True))


def true_entropy(row, k):
    return mp.fsum(mp.exp(v - log_sum_exp(row)) * (log_sum_exp(row) - v) for v in row)


def softplus(x):
    return mp.log1p(mp.exp(x))


def true_binary(row, k):
    return mp.fsum(softplus(v) - (v if j == TARGETS[k] else 0) for j, v in enumerate(row))


TRUTHS = {
    "log sum exp": lambda row, k: log_sum_exp(row),
    "log sum of some": lambda row, k: log_sum_exp(row[:2], (1, 1)),
    "log weighted sum exp": lambda row, k: log_sum_exp(row, WEIGHTS),
    "products of matrices": lambda row, k: log_sum_exp(row, MATRIX[:, 0]) + log_sum_exp(row, MATRIX[:, 1]),
    "log mean exp": lambda row, k: log_sum_exp(row) - mp.log(3),
    "log add exp": lambda row, k: log_sum_exp([row[0], 2 * row[1]], (1, 1)),
    "power": lambda row, k: (log_sum_exp(row) - row[0]) / 2,
    "cross-entropy": true_cross_entropy,
    "smooth cross-entropy": true_smooth_cross_entropy,
    "mixture": lambda row, k: log_sum_exp(row, WEIGHTS) - log_sum_exp(row),
    "part": lambda row, k: log_sum_exp(row[:2], (1, 1)) - log_sum_exp(row),
    "ratio": lambda row, k: row[0] - row[1],
    "divergence": lambda row, k: mp.fsum(
        mp.exp(v - log_sum_exp(row)) * (v - log_sum_exp(row) + log_sum_exp([2 * u for u in row]) - 2 * v) for v in row
    ),
    "entropy": true_entropy,
    "binary cross-entropy": true_binary,
    "sum of products": lambda row, k: log_sum_exp([row[0] - softplus(row[0]), row[1] - softplus(row[1])], (1, 1)),
    "softmax entry": lambda row, k: true_softmax(row)[TARGETS[k]],
}

FORMS = {
    "log sum exp": [
        lambda x: at.log(at.exp(x).sum(-1)),
        lambda x: at.log(at.exp(x).sum(-1, keepdims=True)).flatten(),
        lambda x: at.log(at.exp(x[:, 0]) + at.exp(x[:, 1]) + at.exp(x[:, 2])),
        lambda x: at.log(at.dot(at.exp(x), at.ones(3))),
        lambda x: at.log(at.dot(at.exp(x), at.ones((3, 1))))[:, 0],
        lambda x: at.log(at.dot(at.ones((1, 3)), at.exp(x.T)))[0],
        lambda x: -at.log(1 / at.exp(x).sum(-1)),
        lambda x: at.log(at.square(at.exp(x / 2)).sum(-1)),
        lambda x: at.log((at.exp(x / 2) ** 2).sum(-1)),
        lambda x: at.log((1 / at.exp(-x)).sum(-1)),
        lambda x: 2 * at.log(at.sqrt(at.exp(x).sum(-1))),
        lambda x: at.log(at.exp(x).T.sum(0)),
        lambda x: at.log(at.exp(x).reshape((-1,)).reshape(x.shape).sum(-1)),
        lambda x: at.log(at.exp(x - x.max(-1, keepdims=True)).sum(-1)) + x.max(-1),
        lambda x: at.log(at.switch(x > -1e9, at.exp(x), 0).sum(-1)),
        lambda x: at.logsumexp(x, -1),
        lambda x: at.log(at.exp(x).max(-1)) + at.log((at.exp(x) / at.exp(x).max(-1, keepdims=True)).sum(-1)),
        lambda x: at.log(at.exp(x[:, :2]).sum(-1) + at.exp(x[:, 2])),
    ],
    "log sum of some": [
        lambda x: at.log(at.exp(x)[:, :2].sum(-1)),
        lambda x: at.log((MASK * at.exp(x)).sum(-1)),
        lambda x: at.log(at.switch(MASK, at.exp(x), 0).sum(-1)),
        lambda x: at.log(at.exp(at.switch(MASK, x, -np.inf)).sum(-1)),
        lambda x: at.log(at.dot(at.exp(x), at.constant([1.0, 1.0, 0.0]))),
        lambda x: at.log(at.exp(x[:, 0]) + at.exp(x[:, 1])),
        lambda x: at.logaddexp(x[:, 0], x[:, 1]),
    ],
    "log weighted sum exp": [
        lambda x: at.log((at.constant(WEIGHTS) * at.exp(x)).sum(-1)),
        lambda x: at.log(at.exp(x + np.log(WEIGHTS)).sum(-1)),
        lambda x: at.log(at.dot(at.exp(x), at.constant(WEIGHTS))),
        lambda x: at.log(0.1 * at.exp(x[:, 0]) + 0.7 * at.exp(x[:, 1]) + 0.2 * at.exp(x[:, 2])),
    ],
    "products of matrices": [
        lambda x: at.log(at.dot(at.exp(x), at.constant(MATRIX))).sum(-1),
        lambda x: at.log(at.dot(at.constant(MATRIX.T), at.exp(x).T)).sum(0),
        lambda x: at.log(at.dot(at.exp(x), at.constant(MATRIX.astype("float32")))).sum(-1),
        lambda x: at.stack([at.log(at.dot(at.constant(MATRIX.T), at.exp(x[k]))).sum() for k in range(len(ROWS))]),
        lambda x: at.log(at.dot(softmax(x), at.constant(MATRIX))).sum(-1) + 2 * at.logsumexp(x, -1),
    ],
    "log mean exp": [lambda x: at.log(at.exp(x).mean(-1)), lambda x: at.log(at.exp(x).sum(-1) / x.shape[1])],
    "log add exp": [
        lambda x: at.log(at.exp(x[:, 0]) + at.exp(x[:, 1]) ** 2),
        lambda x: at.log(at.exp(x[:, 0]) + at.exp(x[:, 1]) * at.exp(x[:, 1])),
        lambda x: at.log(at.exp(x[:, 0]) * (1 + at.exp(2 * x[:, 1] - x[:, 0]))),
    ],
    "power": [
        lambda x: at.log((at.exp(x).sum(-1) / at.exp(x[:, 0])) ** 0.5),
        lambda x: at.log(at.sqrt(at.exp(x).sum(-1) / at.exp(x[:, 0]))),
        lambda x: -at.log(softmax(x)[:, 0] ** 0.5),
    ],
    "cross-entropy": [
        *(lambda x, k=k: -at.log(probabilities(x)[k][N, TARGETS]) for k in range(10)),
        *(lambda x, k=k: -at.log(probabilities(x)[k])[N, TARGETS] for k in range(10)),
        *(lambda x, k=k: -(ONE_HOT * at.log(probabilities(x)[k])).sum(-1) for k in range(10)),
        *(lambda x, k=k: -at.log((ONE_HOT * probabilities(x)[k]).sum(-1)) for k in range(10)),
        *(lambda x, k=k: categorical_crossentropy(probabilities(x)[k], at.constant(TARGETS)) for k in (0, 1, 6)),
        *(lambda x, k=k: categorical_crossentropy(probabilities(x)[k], ONE_HOT) for k in (0, 1, 6)),
        lambda x: -at.log(softmax(x).flatten()[N * 3 + TARGETS]),
        lambda x: -at.log(at.switch(ONE_HOT > 0, softmax(x), 0).sum(-1)),
        lambda x: -at.log(at.switch(ONE_HOT > 0, softmax(x), 0).max(-1)),
        lambda x: -at.log(at.switch(ONE_HOT > 0, softmax(x), 1).prod(-1)),
        lambda x: -at.log((softmax(x) ** ONE_HOT).prod(-1)),
        lambda x: -at.log(softmax(x).T[TARGETS, N]),
        lambda x: -at.log(at.exp(x)[N, TARGETS] / at.exp(x).sum(-1)),
        lambda x: at.log(at.exp(x).sum(-1)) - at.log(at.exp(x)[N, TARGETS]),
        lambda x: at.log((at.exp(x) / at.exp(x)[N, TARGETS][:, None]).sum(-1)),
        lambda x: at.log(at.exp(x - x[N, TARGETS][:, None]).sum(-1)),
        lambda x: -at.xlogy(ONE_HOT, softmax(x)).sum(-1),
        lambda x: -at.batched_dot(ONE_HOT, at.log(softmax(x))),
    ],
    "smooth cross-entropy": [
        *(lambda x, k=k: -(at.constant(SMOOTH) * at.log(probabilities(x)[k])).sum(-1) for k in range(10)),
        lambda x: categorical_crossentropy(softmax(x), at.constant(SMOOTH)),
        lambda x: -at.xlogy(at.constant(SMOOTH), softmax(x)).sum(-1),
    ],
    "mixture": [
        *(lambda x, k=k: at.log((at.constant(WEIGHTS) * probabilities(x)[k]).sum(-1)) for k in range(10)),
        *(lambda x, k=k: at.log(at.dot(probabilities(x)[k], at.constant(WEIGHTS))) for k in range(10)),
    ],
    "part": [
        *(lambda x, k=k: at.log(probabilities(x)[k][:, :2].sum(-1)) for k in range(10)),
        *(lambda x, k=k: at.log(probabilities(x)[k][:, 0] + probabilities(x)[k][:, 1]) for k in (0, 1)),
    ],
    "ratio": [
        *(lambda x, k=k: at.log(probabilities(x)[k][:, 0] / probabilities(x)[k][:, 1]) for k in range(10)),
        lambda x: at.log(softmax(x)[:, 0]) - at.log(softmax(x)[:, 1]),
    ],
    "divergence": [
        lambda x: (softmax(x) * at.log(softmax(x) / softmax(2 * x))).sum(-1),
        lambda x: (softmax(x) * (at.log(softmax(x)) - at.log(softmax(2 * x)))).sum(-1),
        lambda x: (quotient(at.exp(x)) * at.log(quotient(at.exp(x)) / quotient(at.exp(2 * x)))).sum(-1),
        lambda x: special.rel_entr(softmax(x), softmax(2 * x)).sum(-1),
        lambda x: special.kl_div(softmax(x), softmax(2 * x)).sum(-1),
    ],
    "entropy": [
        *(lambda x, k=k: -(probabilities(x)[k] * at.log(probabilities(x)[k])).sum(-1) for k in range(10)),
        lambda x: special.entr(softmax(x)).sum(-1),
        lambda x: -at.xlogy(softmax(x), softmax(x)).sum(-1),
    ],
    "binary cross-entropy": [
        lambda x: -at.switch(ONE_HOT > 0, at.log(at.sigmoid(x)), at.log(1 - at.sigmoid(x))).sum(-1),
        lambda x: -(ONE_HOT * at.log(at.sigmoid(x)) + (1 - ONE_HOT) * at.log(1 - at.sigmoid(x))).sum(-1),
        lambda x: -(ONE_HOT * at.log(at.sigmoid(x)) + (1 - ONE_HOT) * at.log1p(-at.sigmoid(x))).sum(-1),
        lambda x: -at.log(at.switch(ONE_HOT > 0, at.sigmoid(x), 1 - at.sigmoid(x))).sum(-1),
        lambda x: -at.log(at.switch(ONE_HOT > 0, at.sigmoid(x), at.sigmoid(-x)).prod(-1)),
        lambda x: -at.log(at.sigmoid(x) ** ONE_HOT * (1 - at.sigmoid(x)) ** (1 - ONE_HOT)).sum(-1),
        lambda x: -at.log(1 / (1 + at.exp(-(2 * ONE_HOT - 1) * x))).sum(-1),
        lambda x: at.log(1 + at.exp(-(2 * ONE_HOT - 1) * x)).sum(-1),
        lambda x: binary_crossentropy(at.sigmoid(x), ONE_HOT).sum(-1),
        lambda x: sigmoid_binary_crossentropy(x, ONE_HOT).sum(-1),
        lambda x: at.log((1 + at.exp(-(2 * ONE_HOT - 1) * x)).prod(-1)),
    ],
    "sum of products": [
        lambda x: at.log(at.sigmoid(x[:, 0]) + at.sigmoid(x[:, 1])),
        lambda x: at.log(at.sigmoid(x)[:, :2].sum(-1)),
        lambda x: at.log(1 / (1 + at.exp(-x[:, 0])) + 1 / (1 + at.exp(-x[:, 1]))),
    ],
    "softmax entry": [*(lambda x, k=k: probabilities(x)[k][N, TARGETS] for k in range(10))],
}


@cache
def truth(name):
    """Values, gradients and Hessian-vector products for all rows, by differences of numbers with many digits."""
    function = TRUTHS[name]
    value, slope, curvature = np.zeros(len(ROWS)), np.zeros(ROWS.shape), np.zeros(ROWS.shape)
    with mp.workdps(700):
        step = mp.mpf(10) ** -150
        direction = [mp.mpf(d) * step for d in DIRECTION]
        for k, row in enumerate(ROWS):
            row = [mp.mpf(float(v)) for v in row]

            def moved(i, along_axis, along_direction, k=k, row=row):
                point = [v + along_direction * d for v, d in zip(row, direction, strict=True)]
                point[i] += along_axis * step
                return function(point, k)

            value[k] = float(function(row, k))
            for i in range(3):
                slope[k, i] = float((moved(i, 1, 0) - moved(i, -1, 0)) / (2 * step))
                corners = [s * t * moved(i, s, t) for s in (1, -1) for t in (1, -1)]
                curvature[k, i] = float(mp.fsum(corners) / (4 * step**2))
    return value, slope, curvature


def derivatives(form, dtype):
    """The value of a form for each row, its gradient, and the product of its Hessian matrices with a vector."""
    x = at.matrix("x", dtype=dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = form(x)
        slope = aesara.grad(y.sum(), x)
        curvature = aesara.grad((slope * at.constant(DIRECTION)).sum(), x, disconnected_inputs="ignore")
        return aesara.function([x], [y, slope, curvature], mode=RULES)(ROWS.astype(dtype))


@pytest.mark.parametrize(("name", "position"), [(name, k) for name, forms in FORMS.items() for k in range(len(forms))])
def test_values_and_derivatives(name, position):
    for found, wanted in zip(derivatives(FORMS[name][position], "float64"), truth(name), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", FORMS)
def test_in_single_precision(name):
    """The first of the ways: what is rounded of the largest exponent is an error of the result."""
    sizes = np.abs(ROWS).max(1)
    for found, wanted in zip(derivatives(FORMS[name][0], "float32"), truth(name), strict=True):
        error = np.abs(found - wanted).reshape(len(ROWS), -1).max(1)
        np.testing.assert_array_less(error, 1e-5 * (1 + np.abs(wanted).reshape(len(ROWS), -1).max(1)) + 2e-7 * sizes)


def test_what_divides_by_no_exponentials_is_differentiated_as_written():
    x = at.dvector("x")
    y = at.tanh(x - 0.5 * at.mean(0.7 * at.exp(-(x**2)))).sum()
    graph = rewrite_graph(aesara.grad(y, x), include=("fast_run",))
    names = {str(node.op) for node in applys_between([x], [graph])}
    assert not any("max" in name.lower() or "switch" in name.lower() for name in names)


@pytest.mark.parametrize("reciprocal", [at.reciprocal, lambda q: 1 / q, lambda q: q**-1])
def test_logarithms_of_reciprocals(reciprocal):
    """Derivatives in the factors of what is inverted, where these are far from one."""
    x, y, z = given = at.dvectors("xyz")
    slopes = aesara.grad(at.log(reciprocal(y / z * at.exp(x))).sum(), given)
    values = [np.array(v) for v in ([3.0, 800.0, -800.0, 0.5], [1e300, 1.5, 2.0, 1e-200], [1e-10, 3.0, 5.0, 1e120])]
    found = aesara.function(given, slopes, mode=RULES)(*values)
    for slope, wanted in zip(found, (-np.ones(4), -1 / values[1], 1 / values[2]), strict=True):
        np.testing.assert_allclose(slope, wanted, rtol=1e-15)
