"""Each distribution, with parameters to try and what draws the same numbers with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

import aesara.tensor.random as at_random


@dataclass(frozen=True)
class Case:
    """A distribution.

    Parameters
    ----------
    name
        Its name in `aesara.tensor.random`.
    parameters
        What it is called with.
    expected
        Draws with NumPy: ``expected(rng, *parameters, size)``.  Default: the method of the same name.
    batch
        The parameters of three distributions, whose batch has the shape (3,).
    kinds
        The kinds of generators that it works with.
    """

    name: str
    parameters: tuple
    batch: tuple
    expected: Callable[..., Any] | None = None
    kinds: tuple[str, ...] = ("Generator", "RandomState")

    @property
    def distribution(self):
        return getattr(at_random, self.name)

    def numbers(self, rng: Any, parameters: tuple, size: Any) -> np.ndarray:
        draw = self.expected or (lambda r, *args: getattr(r, self.name)(*args))
        return np.asarray(draw(rng, *parameters, size))


def _shape(size, *parameters):
    return np.broadcast_shapes(*[np.shape(p) for p in parameters]) if size is None else size


def _one_by_one(draw, ndims):
    """Draws from a batch of distributions of vectors, in the order of the batch."""

    def drawn(rng, *arguments):
        *parameters, size = arguments
        batches = [np.shape(p)[: np.ndim(p) - n] for p, n in zip(parameters, ndims)]
        if not any(batches):
            return draw(rng)(*parameters, size)
        shape = np.broadcast_shapes(*batches) if size is None else tuple(np.atleast_1d(size))
        full = [np.broadcast_to(p, (*shape, *np.shape(p)[len(b) :])) for p, b in zip(parameters, batches)]
        rows = [draw(rng)(*[p[index] for p in full]) for index in np.ndindex(shape)]
        return np.reshape(rows, (*shape, *np.shape(rows[0])))

    return drawn


def _categories(rng, p, size):
    p = np.asarray(p)
    shape = _shape(size, np.empty(p.shape[:-1]))
    sums = np.broadcast_to(np.cumsum(p, axis=-1), (*shape, p.shape[-1]))
    u = rng.uniform(size=shape)
    return np.reshape([np.searchsorted(sums[i], u[i]) for i in np.ndindex(shape)], shape)


def _betabinom(rng, n, a, b, size):
    shape = _shape(size, n, a, b)
    return rng.binomial(n, rng.beta(a, b, shape), shape)


def _uniform(rng, size, *parameters):
    return rng.uniform(size=_shape(size, *parameters))


three = np.array([0.5, 1.0, 2.5])
moved = np.array([-1.0, 0.0, 2.0])
p3 = np.array([0.2, 0.3, 0.5])
rows = np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.6, 0.2, 0.2]])
cov = np.array([[2.0, 0.5], [0.5, 1.0]])
covs = np.stack([cov, np.eye(2), 3 * cov])

CASES = [
    Case("normal", (0.3, 1.7), (moved, three)),
    Case("standard_normal", (), (), lambda r, size: r.standard_normal(size)),
    Case("halfnormal", (0.3, 1.7), (moved, three), lambda r, m, s, n: abs(r.standard_normal(_shape(n, m, s))) * s + m),
    Case("lognormal", (0.3, 0.7), (moved, three)),
    Case("uniform", (-0.3, 1.7), (moved, three + 2)),
    Case(
        "random",
        (),
        (),
        lambda r, size: r.random(size) if isinstance(r, np.random.Generator) else r.rand(*(size or ())),
    ),
    Case("triangular", (-1.0, 0.3, 2.0), (moved, moved + 0.1, moved + 2)),
    Case("beta", (0.7, 1.7), (three, 2 * three)),
    Case("gamma", (0.7, 1.7), (three, 2 * three), lambda r, a, b, size: r.gamma(a, 1.0 / b, size)),
    Case("standard_gamma", (0.7,), (three,)),
    Case("chisquare", (1.7,), (three,)),
    Case("noncentral_chisquare", (1.7, 0.3), (three, three)),
    Case("f", (1.7, 2.3), (three, 2 * three)),
    Case("noncentral_f", (1.7, 2.3, 0.4), (three, 2 * three, three)),
    Case(
        "gengamma",
        (1.1, 2.3, 1.7),
        (three, 2 * three, three),
        lambda r, a, p, s, n: np.asarray(r.standard_gamma(a / p, _shape(n, a, p, s))) ** (1 / p) * s,
    ),
    Case(
        "invgamma",
        (1.1, 2.3),
        (three, 2 * three),
        lambda r, a, s, n: 1 / scipy.special.gammainccinv(a, _uniform(r, n, a, s)) * s,
    ),
    Case("exponential", (1.7,), (three,)),
    Case("standard_exponential", (), (), lambda r, size: r.standard_exponential(size)),
    Case(
        "truncexpon",
        (1.5, 0.3, 2.1),
        (three, moved, three),
        lambda r, b, m, s, n: -scipy.special.log1p(_uniform(r, n, b, m, s) * scipy.special.expm1(-b)) * s + m,
    ),
    Case("laplace", (0.3, 1.7), (moved, three)),
    Case("logistic", (0.3, 1.7), (moved, three)),
    Case("gumbel", (0.3, 1.7), (moved, three), lambda r, m, s, n: -np.log(-np.log(_uniform(r, n, m, s))) * s + m),
    Case(
        "cauchy",
        (0.3, 1.7),
        (moved, three),
        lambda r, m, s, n: np.tan(np.pi * _uniform(r, n, m, s) - np.pi / 2) * s + m,
    ),
    Case("standard_cauchy", (), (), lambda r, size: np.tan(np.pi * _uniform(r, size) - np.pi / 2)),
    Case("halfcauchy", (0.3, 1.7), (moved, three), lambda r, m, s, n: np.tan(np.pi / 2 * _uniform(r, n, m, s)) * s + m),
    Case(
        "t", (2.3, 0.3, 1.7), (three, moved, three), lambda r, d, m, s, n: r.standard_t(d, _shape(n, d, m, s)) * s + m
    ),
    Case("standard_t", (2.3,), (three,)),
    Case(
        "pareto",
        (1.1, 2.3),
        (three, 2 * three),
        lambda r, b, s, n: (1 - np.asarray(_uniform(r, n, b, s))) ** (-1 / b) * s,
    ),
    Case("power", (1.7,), (three,)),
    Case("rayleigh", (1.7,), (three,)),
    Case("vonmises", (0.3, 1.7), (moved, three)),
    Case("wald", (0.3, 1.7), (three, three)),
    Case("weibull", (1.7,), (three,)),
    Case("bernoulli", (0.3,), (p3,), lambda r, p, size: r.binomial(1, p, size)),
    Case("binomial", (7, 0.3), (np.array([3, 4, 50]), p3)),
    Case("nbinom", (7, 0.3), (np.array([3, 4, 50]), p3), lambda r, n, p, size: r.negative_binomial(n, p, size)),
    Case("negative_binomial", (7, 0.3), (np.array([3, 4, 50]), p3)),
    Case("betabinom", (7, 0.7, 1.3), (np.array([3, 4, 50]), three, three), _betabinom),
    Case("poisson", (3.1,), (10 * three,)),
    Case("geometric", (0.3,), (p3,)),
    Case("hypergeometric", (5, 6, 7), (np.array([5, 6, 7]), np.array([5, 6, 7]), np.array([3, 4, 5]))),
    Case("logseries", (0.3,), (p3,)),
    Case("zipf", (2.3,), (three + 1,)),
    Case("integers", (-3, 9), (np.array([0, 1, 2]), np.array([5, 600, 7])), kinds=("Generator",)),
    Case("randint", (-3, 9), (np.array([0, 1, 2]), np.array([5, 600, 7])), kinds=("RandomState",)),
    Case("categorical", (p3,), (rows,), _categories),
    Case(
        "multivariate_normal",
        (np.array([0.3, -1.0]), cov),
        (np.arange(6.0).reshape(3, 2), covs),
        _one_by_one(lambda r: r.multivariate_normal, (1, 2)),
    ),
    Case("dirichlet", (10 * p3,), (10 * rows,), _one_by_one(lambda r: r.dirichlet, (1,))),
    Case("multinomial", (9, p3), (np.array([3, 4, 50]), rows), _one_by_one(lambda r: r.multinomial, (0, 1))),
    Case(
        "multivariate_hypergeometric",
        (np.array([3, 4, 5]), 6),
        (np.array([[3, 4], [5, 6], [7, 8]]), np.array([2, 3, 4])),
        _one_by_one(lambda r: lambda c, n, *size: r.multivariate_hypergeometric(c, int(n), *size), (1, 0)),
        kinds=("Generator",),
    ),
]

BIT_GENERATORS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]


def generator(kind: str, bits: str = "PCG64", seed: int = 5) -> Any:
    """A generator of a kind, in a state between two numbers of 64 bits."""
    made = getattr(np.random, kind)(getattr(np.random, bits)(seed))
    if kind == "Generator":
        made.random(dtype="float32")
    return made
