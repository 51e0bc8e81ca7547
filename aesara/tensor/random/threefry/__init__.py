"""Draws without generators: pure functions of a key, by the counter-based Threefry-2x32."""

from aesara.tensor.random.threefry.bits import bits, fold_in, key, split, threefry2x32
from aesara.tensor.random.threefry.choosing import bernoulli, categorical, choice, permutation, randint
from aesara.tensor.random.threefry.continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    normal,
    pareto,
    rayleigh,
    uniform,
    weibull,
)

__all__ = [
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "laplace",
    "logistic",
    "lognormal",
    "normal",
    "pareto",
    "permutation",
    "randint",
    "rayleigh",
    "split",
    "threefry2x32",
    "uniform",
    "weibull",
]
