"""Distributions on an interval."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.random.distributions.formulas import ScipyRandomVariable, as_numbers, require, shape_of_draws
from aesara.tensor.random.generators import NumPyGenerator
from aesara.tensor.random.parameters import SizeLike
from aesara.tensor.random.path_derivatives import (
    of_beta,
    of_location_and_scale,
    of_power,
    of_triangular,
    of_truncated_exponential,
    of_uniform,
)
from aesara.tensor.random.random_variable import DrawOptions, DrawShape, PathDerivatives, RandomVariable, draw_again

__all__ = ["beta", "power", "random", "triangular", "truncexpon", "uniform", "vonmises"]


class UniformRV(RandomVariable):
    r"""Uniform distribution on the interval :math:`[a, b)`.

    .. math:: f(x) = \frac{1}{b - a}
    """

    name = "uniform"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("U", "\\operatorname{U}")

    def __call__(
        self, low: TensorLike = 0.0, high: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        low, high
            The ends a and b of the interval.
        size
            Shape of the draws.
        """
        return super().__call__(low, high, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, low: TensorVariable, high: TensorVariable) -> PathDerivatives:
        return of_uniform(draw_again(draw, 0.0, 1.0))


class TriangularRV(RandomVariable):
    r"""Triangular distribution.

    .. math::
        f(x) = \begin{cases}
        \frac{2 (x - l)}{(r - l)(m - l)} & l \le x \le m \\
        \frac{2 (r - x)}{(r - l)(r - m)} & m \le x \le r
        \end{cases}
    """

    name = "triangular"
    ndim_supp = 0
    ndims_params = (0, 0, 0)
    dtype = "floatX"
    _print_name = ("Triang", "\\operatorname{Triang}")

    def __call__(
        self,
        left: TensorLike,
        mode: TensorLike,
        right: TensorLike,
        size: SizeLike = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        left, mode, right
            Lower end l, place m of the peak, upper end r.
        size
            Shape of the draws.
        """
        return super().__call__(left, mode, right, size=size, **kwargs)

    def path_derivatives(
        self, draw: TensorVariable, left: TensorVariable, mode: TensorVariable, right: TensorVariable
    ) -> PathDerivatives:
        return of_triangular(draw, left, mode, right)


class BetaRV(RandomVariable):
    r"""Beta distribution.

    .. math:: f(x) = \frac{x^{\alpha - 1} (1 - x)^{\beta - 1}}{B(\alpha, \beta)}
    """

    name = "beta"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("Beta", "\\operatorname{Beta}")

    def __call__(
        self, alpha: TensorLike, beta: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        alpha, beta
            The parameters α and β, positive.
        size
            Shape of the draws.
        """
        return super().__call__(alpha, beta, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, alpha: TensorVariable, beta: TensorVariable) -> PathDerivatives:
        return of_beta(draw, alpha, beta)


class PowerRV(RandomVariable):
    r"""Power distribution on the interval from 0 to 1.

    .. math:: f(x) = a x^{a - 1}
    """

    name = "power"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "floatX"
    _print_name = ("Power", "\\operatorname{Power}")

    def __call__(self, a: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        a
            The exponent, positive.
        size
            Shape of the draws.
        """
        return super().__call__(a, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, a: TensorVariable) -> PathDerivatives:
        return [of_power(draw, a)]


class VonMisesRV(RandomVariable):
    r"""Von Mises distribution, of angles from -π to π.

    .. math:: f(x) = \frac{e^{\kappa \cos(x - \mu)}}{2 \pi I_0(\kappa)}
    """

    name = "vonmises"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("VonMises", "\\operatorname{VonMises}")

    def __call__(
        self, mu: TensorLike, kappa: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        mu
            The angle μ in the middle.
        kappa
            Concentration κ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(mu, kappa, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, mu: TensorVariable, kappa: TensorVariable) -> PathDerivatives:
        return draw.ones_like(), None


class TruncExponentialRV(ScipyRandomVariable):
    r"""Exponential distribution, cut off; drawn as :math:`\mu - \sigma \log(1 + U (e^{-b} - 1))`.

    .. math:: f(x) = \frac{e^{-(x - \mu) / \sigma}}{\sigma (1 - e^{-b})}, \quad \mu \le x \le \mu + b \sigma
    """

    name = "truncexpon"
    ndim_supp = 0
    ndims_params = (0, 0, 0)
    dtype = "floatX"
    _print_name = ("TruncExp", "\\operatorname{TruncExp}")

    def __call__(
        self,
        b: TensorLike,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
        size: SizeLike = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        b
            Where the distribution ends, in units of the scale; positive.
        loc
            Where it begins, μ.
        scale
            Scale σ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(b, loc, scale, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(
        cls, rng: NumPyGenerator, b: np.ndarray, loc: np.ndarray, scale: np.ndarray, size: DrawShape
    ) -> np.ndarray:
        import scipy.special  # slow to import

        b, loc, scale = as_numbers(b, loc, scale)
        require(b > 0, "b <= 0")
        require(scale >= 0, "scale < 0")
        uniform = rng.uniform(size=shape_of_draws(size, b, loc, scale))
        return -scipy.special.log1p(uniform * scipy.special.expm1(-b)) * scale + loc

    def path_derivatives(
        self, draw: TensorVariable, b: TensorVariable, loc: TensorVariable, scale: TensorVariable
    ) -> PathDerivatives:
        z = draw_again(draw, b, 0.0, 1.0)
        return scale * of_truncated_exponential(z, b), *of_location_and_scale(z)


uniform = UniformRV()
random = uniform
triangular = TriangularRV()
beta = BetaRV()
power = PowerRV()
vonmises = VonMisesRV()
truncexpon = TruncExponentialRV()
