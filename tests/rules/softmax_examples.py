"""Examples of rules about some entries of a softmax."""

import aesara.tensor as at
from aesara.tensor.special import SoftmaxGrad, softmax
from aesara.tensor.subtensor import advanced_inc_subtensor1, advanced_subtensor1, inc_subtensor, set_subtensor
from tests.rules.framework import example

FLOATS = ("float64", "float32")
CANCELS = "what is divided by vanishing probabilities and multiplied by them again is neither"


def entries(m, i):
    return softmax(m, axis=1)[at.arange(4), i]


def gradient_of_entries(m, i, s):
    probabilities = softmax(m, axis=1)
    index = (at.arange(4), i)
    scattered = inc_subtensor(at.zeros_like(probabilities)[index], s / probabilities[index])
    return SoftmaxGrad(axis=1)(scattered, probabilities)


def gradient_of_rows(m, i, s):
    probabilities = softmax(m, axis=0)
    scattered = advanced_inc_subtensor1(at.zeros_like(probabilities), -s / advanced_subtensor1(probabilities, i), i)
    return SoftmaxGrad(axis=0)(scattered, probabilities)


def gradient_of_column(m, s):
    probabilities = softmax(m)
    scattered = set_subtensor(at.zeros_like(probabilities)[:, 1], s / probabilities[:, 1])
    return SoftmaxGrad(axis=None)(scattered, probabilities)


def scattered_quotient(m, i, s):
    index = (at.arange(4), i)
    return inc_subtensor(at.zeros_like(m)[index], s / m[index])


QUOTIENT = {"dtypes": FLOATS, "moderate": CANCELS, "regroups": CANCELS, "assumes_finite": CANCELS}

EXAMPLES = {
    "local_scattered_quotient": [
        example(lambda m, i, s: m * scattered_quotient(m, i, s), zeros=CANCELS, **QUOTIENT),
        example(lambda m, i, s: m * (scattered_quotient(m, i, s) + s), **QUOTIENT),
        example(lambda m, i, s, s1: at.mul(s1, m, scattered_quotient(m, i, s)), zeros=CANCELS, **QUOTIENT),
    ],
    "local_advanced_indexing_crossentropy_onehot": [
        example(lambda m, i: at.log(entries(m, i)), dtypes=FLOATS, moderate=CANCELS, regroups=CANCELS),
        example(lambda m: at.log(softmax(m)[1, 2:]), dtypes=FLOATS, moderate=CANCELS, regroups=CANCELS),
        example(lambda m, i: at.log(softmax(m, axis=0)[i]), dtypes=FLOATS, moderate=CANCELS, regroups=CANCELS),
    ],
    "local_advanced_indexing_crossentropy_onehot_grad": [
        example(build, dtypes=FLOATS, moderate=CANCELS, regroups=CANCELS)
        for build in (gradient_of_entries, gradient_of_rows, gradient_of_column)
    ],
}
