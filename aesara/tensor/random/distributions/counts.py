"""Distributions of counts: of successes, events and trials."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.random.distributions.formulas import ScipyRandomVariable, shape_of_draws
from aesara.tensor.random.generators import NumPyGenerator
from aesara.tensor.random.parameters import SizeLike
from aesara.tensor.random.random_variable import DrawOptions, DrawShape, RandomVariable

__all__ = [
    "bernoulli",
    "betabinom",
    "binomial",
    "geometric",
    "hypergeometric",
    "logseries",
    "nbinom",
    "negative_binomial",
    "poisson",
    "zipf",
]


class BernoulliRV(ScipyRandomVariable):
    r"""Bernoulli distribution: 1 with probability p, else 0."""

    name = "bernoulli"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "int64"
    _print_name = ("Bern", "\\operatorname{Bern}")

    def __call__(self, p: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        p
            Probability of 1.
        size
            Shape of the draws.
        """
        return super().__call__(p, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, p: np.ndarray, size: DrawShape) -> np.ndarray:
        return rng.binomial(1, p, size)


class BinomialRV(RandomVariable):
    r"""Binomial distribution, of the number of successes in n trials.

    .. math:: f(k) = \binom{n}{k} p^k (1 - p)^{n - k}
    """

    name = "binomial"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "int64"
    _print_name = ("Binom", "\\operatorname{Binom}")

    def __call__(self, n: TensorLike, p: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        n
            Number of trials.
        p
            Probability of a success.
        size
            Shape of the draws.
        """
        return super().__call__(n, p, size=size, **kwargs)


class NegBinomialRV(ScipyRandomVariable):
    r"""Negative binomial distribution, of the number of failures before the n-th success.

    .. math:: f(k) = \binom{k + n - 1}{n - 1} p^n (1 - p)^k
    """

    name = "nbinom"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "int64"
    _print_name = ("NB", "\\operatorname{NB}")

    def __call__(self, n: TensorLike, p: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        n
            Number of successes, positive; it need not be an integer.
        p
            Probability of a success, positive.
        size
            Shape of the draws.
        """
        return super().__call__(n, p, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, n: np.ndarray, p: np.ndarray, size: DrawShape) -> np.ndarray:
        return rng.negative_binomial(n, p, size)


class BetaBinomialRV(ScipyRandomVariable):
    r"""Beta-binomial distribution: binomial, with a probability that has been drawn from a beta distribution.

    .. math:: f(k) = \binom{n}{k} \frac{B(k + a, n - k + b)}{B(a, b)}
    """

    name = "beta_binomial"
    ndim_supp = 0
    ndims_params = (0, 0, 0)
    dtype = "int64"
    _print_name = ("BetaBinom", "\\operatorname{BetaBinom}")

    def __call__(
        self, n: TensorLike, a: TensorLike, b: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        n
            Number of trials.
        a, b
            Parameters of the beta distribution, positive.
        size
            Shape of the draws.
        """
        return super().__call__(n, a, b, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(
        cls, rng: NumPyGenerator, n: np.ndarray, a: np.ndarray, b: np.ndarray, size: DrawShape
    ) -> np.ndarray:
        shape = shape_of_draws(size, n, a, b)
        return rng.binomial(n, rng.beta(a, b, shape), shape)


class PoissonRV(RandomVariable):
    r"""Poisson distribution.

    .. math:: f(k) = \frac{e^{-\lambda} \lambda^k}{k!}
    """

    name = "poisson"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "int64"
    _print_name = ("Pois", "\\operatorname{Pois}")

    def __call__(self, lam: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        lam
            Mean λ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(lam, size=size, **kwargs)


class GeometricRV(RandomVariable):
    r"""Geometric distribution, of the number of the trial that succeeds first.

    .. math:: f(k) = p (1 - p)^{k - 1}
    """

    name = "geometric"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "int64"
    _print_name = ("Geom", "\\operatorname{Geom}")

    def __call__(self, p: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        p
            Probability of a success, positive.
        size
            Shape of the draws.
        """
        return super().__call__(p, size=size, **kwargs)


class HyperGeometricRV(RandomVariable):
    r"""Hypergeometric distribution, of the number of good items among n that are drawn without replacement.

    .. math:: f(k) = \binom{g}{k} \binom{b}{n - k} / \binom{g + b}{n}
    """

    name = "hypergeometric"
    ndim_supp = 0
    ndims_params = (0, 0, 0)
    dtype = "int64"
    _print_name = ("HyperGeom", "\\operatorname{HyperGeom}")

    def __call__(
        self,
        ngood: TensorLike,
        nbad: TensorLike,
        nsample: TensorLike,
        size: SizeLike = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        ngood, nbad
            How many good and bad ones there are, g and b.
        nsample
            How many are taken, n.
        size
            Shape of the draws.
        """
        return super().__call__(ngood, nbad, nsample, size=size, **kwargs)


class LogSeriesRV(RandomVariable):
    r"""Logarithmic distribution.

    .. math:: f(k) = \frac{-p^k}{k \log(1 - p)}
    """

    name = "logseries"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "int64"
    _print_name = ("LogSeries", "\\operatorname{LogSeries}")

    def __call__(self, p: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        p
            The parameter, at least 0 and less than 1.
        size
            Shape of the draws.
        """
        return super().__call__(p, size=size, **kwargs)


class ZipfRV(RandomVariable):
    r"""Zipf distribution.

    .. math:: f(k) = \frac{k^{-a}}{\zeta(a)}
    """

    name = "zipf"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "int64"
    _print_name = ("Zipf", "\\operatorname{Zipf}")

    def __call__(self, a: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        a
            The exponent, greater than 1.
        size
            Shape of the draws.
        """
        return super().__call__(a, size=size, **kwargs)


bernoulli = BernoulliRV()
binomial = BinomialRV()
nbinom = NegBinomialRV()
negative_binomial = nbinom
betabinom = BetaBinomialRV()
poisson = PoissonRV()
geometric = GeometricRV()
hypergeometric = HyperGeometricRV()
logseries = LogSeriesRV()
zipf = ZipfRV()
