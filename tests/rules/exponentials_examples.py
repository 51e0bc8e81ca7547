"""Examples of rules about exponentials, logarithms, the logistic function and softmax."""

import numpy as np

import aesara.tensor as at
from aesara.tensor.special import SoftmaxGrad, softmax
from tests.rules.framework import example

LIMIT = "the logistic function has limits where the quotient is that of two infinite numbers"
TERMS = "one is added to the sum of the other terms"
SUMMED = "a sum of exponentials is computed relative to the largest"
FLOATS = ("float64", "float32", "float16")
SUM = {"dtypes": FLOATS, "regroups": SUMMED}

ROWS = {
    "local_function_of_integers": {"not_made": "it applies where arithmetic reads the function"},
    "local_exp_over_1_plus_exp": {"limits": LIMIT},
    "local_log1p": {"regroups": TERMS},
    "local_log1p_of_integer": {"assumes_finite": "a sum that wraps around is negative, and has no logarithm"},
    "local_log1p_minus_one": {"regroups": TERMS},
}
EXAMPLES = {
    "local_function_of_integers": [
        lambda x: 1 + at.exp(x),
        lambda m: at.exp(m).sum(axis=0),
        lambda x: [at.expm1(x) * 2, -at.sigmoid(x)],
        lambda x, y: [at.softplus(x) + y, 1 - at.erf(x), at.log(at.erfc(x))],
    ],
    "local_log_sum_exp": [
        example(lambda m: at.log(at.exp(m).sum(axis=1)), **SUM),
        example(lambda m: at.log(at.exp(m).sum(axis=0, keepdims=True)), **SUM),
        example(lambda m: at.log(at.exp(m).sum()), **SUM),
        example(lambda t: at.log(at.exp(t).sum(axis=(0, 2))), **SUM),
    ],
    "local_log_add_exp": [
        example(lambda x, y: at.log(at.exp(x) + at.exp(y)), **SUM),
        example(lambda x, y, z: at.log(at.add(at.exp(x), at.exp(y), at.exp(z))), **SUM),
    ],
    "local_log_mul_exp": [
        example(lambda x: at.log(2 * at.exp(x)), regroups="the logarithm of the factor is added"),
        example(lambda x: at.log(at.exp(x) * np.float32(0.3)), regroups="the logarithm of the factor is added"),
    ],
    "local_logsoftmax": [
        example(lambda m: at.log(softmax(m, axis=1)), **SUM),
        example(lambda m: at.log(softmax(m, axis=0)), **SUM),
        example(lambda t: at.log(softmax(t, axis=None)), **SUM),
    ],
    "local_logsoftmax_grad": [
        example(
            lambda m1, m2: _gradient_of_log_softmax(m1, m2, 1),
            dtypes=FLOATS,
            regroups="the division by what is multiplied by later is left out",
            moderate="the quotient may overflow",
        ),
        example(
            lambda m1, m2: _gradient_of_log_softmax(m1, m2, 0, -1),
            dtypes=FLOATS,
            regroups="the division by what is multiplied by later is left out",
            moderate="the quotient may overflow",
        ),
    ],
}


def _gradient_of_log_softmax(g, x, axis, sign=1):
    probabilities = softmax(x, axis=axis)
    quotient = g / probabilities
    return SoftmaxGrad(axis=axis)(quotient if sign > 0 else -quotient, probabilities)
