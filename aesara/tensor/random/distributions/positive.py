"""Distributions of positive numbers."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import log
from aesara.tensor.random.distributions.formulas import ScipyRandomVariable, as_numbers, powers, require, shape_of_draws
from aesara.tensor.random.generators import NumPyGenerator
from aesara.tensor.random.parameters import SizeLike
from aesara.tensor.random.path_derivatives import (
    of_f,
    of_generalized_gamma,
    of_location_and_scale,
    of_power,
    of_standard_gamma,
)
from aesara.tensor.random.random_variable import DrawOptions, DrawShape, PathDerivatives, RandomVariable, draw_again

__all__ = [
    "chisquare",
    "exponential",
    "f",
    "gamma",
    "gengamma",
    "halfcauchy",
    "halfnormal",
    "invgamma",
    "lognormal",
    "noncentral_chisquare",
    "noncentral_f",
    "pareto",
    "rayleigh",
    "wald",
    "weibull",
]


class HalfNormalRV(ScipyRandomVariable):
    r"""Half-normal distribution, of the size of a normal number, moved by a location.

    .. math::
        f(x) = \sqrt{\frac{2}{\pi \sigma^2}} \exp\left(-\frac{(x - \mu)^2}{2 \sigma^2}\right), \quad x \ge \mu
    """

    name = "halfnormal"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("N**+", "\\operatorname{N^{+}}")

    def __call__(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        loc
            Where the distribution begins, μ.
        scale
            Scale σ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(loc, scale, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, loc: np.ndarray, scale: np.ndarray, size: DrawShape) -> np.ndarray:
        loc, scale = as_numbers(loc, scale)
        require(scale >= 0, "scale < 0")
        return abs(rng.standard_normal(size=shape_of_draws(size, loc, scale))) * scale + loc

    def path_derivatives(self, draw: TensorVariable, loc: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return of_location_and_scale(draw_again(draw, 0.0, 1.0))


class HalfCauchyRV(ScipyRandomVariable):
    r"""Half-Cauchy distribution; drawn as :math:`x_0 + \gamma \tan(\pi U / 2)`.

    .. math:: f(x) = \frac{2}{\pi \gamma (1 + ((x - x_0) / \gamma)^2)}, \quad x \ge x_0
    """

    name = "halfcauchy"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("C**+", "\\operatorname{C^{+}}")

    def __call__(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        loc
            Where the distribution begins, x₀.
        scale
            Scale γ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(loc, scale, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, loc: np.ndarray, scale: np.ndarray, size: DrawShape) -> np.ndarray:
        loc, scale = as_numbers(loc, scale)
        require(scale >= 0, "scale < 0")
        return np.tan(np.pi / 2 * rng.uniform(size=shape_of_draws(size, loc, scale))) * scale + loc

    def path_derivatives(self, draw: TensorVariable, loc: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return of_location_and_scale(draw_again(draw, 0.0, 1.0))


class LogNormalRV(RandomVariable):
    r"""Distribution of numbers whose logarithm is normal.

    .. math:: f(x) = \frac{1}{x \sigma \sqrt{2 \pi}} \exp\left(-\frac{(\log x - \mu)^2}{2 \sigma^2}\right)
    """

    name = "lognormal"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("LogN", "\\operatorname{LogN}")

    def __call__(
        self, mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        mean
            Mean μ of the logarithm.
        sigma
            Standard deviation σ of the logarithm, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(mean, sigma, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, mean: TensorVariable, sigma: TensorVariable) -> PathDerivatives:
        return draw, draw * log(draw_again(draw, 0.0, 1.0))


class GammaRV(ScipyRandomVariable):
    r"""Gamma distribution.

    .. math:: f(x) = \frac{\beta^\alpha}{\Gamma(\alpha)} x^{\alpha - 1} e^{-\beta x}
    """

    name = "gamma"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("Gamma", "\\operatorname{Gamma}")

    def __call__(
        self,
        shape: TensorLike,
        rate: Any = None,
        size: SizeLike | None = None,
        *,
        scale: Any = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        shape
            Shape α, at least 0.
        rate
            Rate β, positive.
        size
            Shape of the draws.
        scale
            The inverse of the rate, which may be given instead.
        """
        if (rate is None) == (scale is None):
            raise TypeError("gamma takes either a rate or a scale, its inverse.")
        return super().__call__(shape, 1.0 / rate if scale is None else scale, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, shape: np.ndarray, scale: np.ndarray, size: DrawShape) -> np.ndarray:
        return rng.gamma(shape, scale, size)

    def path_derivatives(self, draw: TensorVariable, shape: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        y = draw_again(draw, shape, 1.0)
        return scale * of_standard_gamma(y, shape), y


class ChiSquareRV(RandomVariable):
    r"""Chi-square distribution.

    .. math:: f(x) = \frac{x^{k / 2 - 1} e^{-x / 2}}{2^{k / 2} \Gamma(k / 2)}
    """

    name = "chisquare"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "floatX"
    _print_name = ("ChiSquare", "\\operatorname{ChiSquare}")

    def __call__(self, df: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        df
            Degrees of freedom k, positive.
        size
            Shape of the draws.
        """
        return super().__call__(df, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, df: TensorVariable) -> PathDerivatives:
        return [of_standard_gamma(draw / 2, df / 2)]


class NoncentralChiSquareRV(RandomVariable):
    r"""Non-central chi-square distribution, of sums of squares of normal numbers whose means are not zero.

    .. math:: f(x) = \sum_{i=0}^\infty \frac{e^{-\lambda / 2} (\lambda / 2)^i}{i!} \chi^2_{k + 2 i}(x)
    """

    name = "noncentral_chisquare"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("NoncentralChiSquare", "\\operatorname{NoncentralChiSquare}")

    def __call__(
        self, df: TensorLike, nonc: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        df
            Degrees of freedom k, positive.
        nonc
            Sum λ of the squares of the means, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(df, nonc, size=size, **kwargs)


class FRV(RandomVariable):
    r"""F distribution, of the ratio of two means of squares.

    .. math::
        f(x) = \frac{1}{x B(d_1 / 2, d_2 / 2)} \sqrt{\frac{(d_1 x)^{d_1} d_2^{d_2}}{(d_1 x + d_2)^{d_1 + d_2}}}
    """

    name = "f"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("F", "\\operatorname{F}")

    def __call__(
        self, dfn: TensorLike = 1, dfd: TensorLike = 1, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        dfn, dfd
            Degrees of freedom of the numerator and of the denominator, positive.
        size
            Shape of the draws.
        """
        return super().__call__(dfn, dfd, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, dfn: TensorVariable, dfd: TensorVariable) -> PathDerivatives:
        return of_f(draw, dfn, dfd)


class NoncentralFRV(RandomVariable):
    """Non-central F distribution: the numerator of the ratio is non-central chi-square."""

    name = "noncentral_f"
    ndim_supp = 0
    ndims_params = (0, 0, 0)
    dtype = "floatX"
    _print_name = ("NoncentralF", "\\operatorname{NoncentralF}")

    def __call__(
        self,
        dfnum: TensorLike,
        dfden: TensorLike,
        nonc: TensorLike,
        size: SizeLike = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        dfnum, dfden
            Degrees of freedom of the numerator and of the denominator, positive.
        nonc
            Non-centrality of the numerator, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(dfnum, dfden, nonc, size=size, **kwargs)


class InvGammaRV(ScipyRandomVariable):
    r"""Inverse gamma distribution; drawn by the inverse of its distribution function.

    .. math:: f(x) = \frac{\beta^\alpha}{\Gamma(\alpha)} x^{-\alpha - 1} e^{-\beta / x}
    """

    name = "invgamma"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("InvGamma", "\\operatorname{Gamma^{-1}}")

    def __call__(
        self, shape: TensorLike, scale: TensorLike | None, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        shape
            Shape α, positive.
        scale
            Scale β, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(shape, scale, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, shape: np.ndarray, scale: np.ndarray, size: DrawShape) -> np.ndarray:
        import scipy.special  # slow to import

        shape, scale = as_numbers(shape, scale)
        require(shape > 0, "shape <= 0")
        require(scale >= 0, "scale < 0")
        uniform = rng.uniform(size=shape_of_draws(size, shape, scale))
        return 1.0 / scipy.special.gammainccinv(shape, uniform) * scale

    def path_derivatives(self, draw: TensorVariable, shape: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        z = draw_again(draw, shape, 1.0)
        return -scale * z**2 * of_standard_gamma(1 / z, shape), z


class GenGammaRV(ScipyRandomVariable):
    r"""Generalized gamma distribution; drawn as :math:`\lambda G^{1 / p}` with a gamma number of shape α / p.

    .. math:: f(x) = \frac{p / \lambda^\alpha}{\Gamma(\alpha / p)} x^{\alpha - 1} e^{-(x / \lambda)^p}
    """

    name = "gengamma"
    ndim_supp = 0
    ndims_params = (0, 0, 0)
    dtype = "floatX"
    _print_name = ("GG", "\\operatorname{GG}")

    def __call__(
        self,
        alpha: TensorLike = 1.0,
        p: TensorLike = 1.0,
        lambd: TensorLike = 1.0,
        size: SizeLike = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        alpha, p
            The exponents α and p, of one sign.
        lambd
            Scale λ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(alpha, p, lambd, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(
        cls, rng: NumPyGenerator, alpha: np.ndarray, p: np.ndarray, lambd: np.ndarray, size: DrawShape
    ) -> np.ndarray:
        alpha, p, lambd = as_numbers(alpha, p, lambd)
        require(p != 0, "p == 0")
        require(alpha / p > 0, "alpha / p <= 0")
        require(lambd >= 0, "lambd < 0")
        number = rng.standard_gamma(alpha / p, size=shape_of_draws(size, alpha, p, lambd))
        return powers(number, 1.0 / p) * lambd

    def path_derivatives(
        self, draw: TensorVariable, alpha: TensorVariable, p: TensorVariable, lambd: TensorVariable
    ) -> PathDerivatives:
        return of_generalized_gamma(draw_again(draw, alpha, p, 1.0), alpha, p, lambd)


class ParetoRV(ScipyRandomVariable):
    r"""Pareto distribution; drawn as :math:`m (1 - U)^{-1 / b}`.

    .. math:: f(x) = \frac{b m^b}{x^{b + 1}}, \quad x \ge m
    """

    name = "pareto"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("Pareto", "\\operatorname{Pareto}")

    def __call__(
        self, b: TensorLike, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        b
            The exponent, positive.
        scale
            Where the distribution begins, m, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(b, scale, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, b: np.ndarray, scale: np.ndarray, size: DrawShape) -> np.ndarray:
        b, scale = as_numbers(b, scale)
        require(b > 0, "b <= 0")
        require(scale >= 0, "scale < 0")
        uniform = rng.uniform(size=shape_of_draws(size, b, scale))
        return powers(1 - uniform, -1.0 / b) * scale

    def path_derivatives(self, draw: TensorVariable, b: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        z = draw_again(draw, b, 1.0)
        return -draw * log(z) / b, z


class ExponentialRV(RandomVariable):
    r"""Exponential distribution.

    .. math:: f(x) = \frac{1}{\beta} e^{-x / \beta}
    """

    name = "exponential"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "floatX"
    _print_name = ("Exp", "\\operatorname{Exp}")

    def __call__(self, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        scale
            Mean β, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(scale, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return [draw_again(draw, 1.0)]


class WeibullRV(RandomVariable):
    r"""Weibull distribution.

    .. math:: f(x) = k x^{k - 1} e^{-x^k}
    """

    name = "weibull"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "floatX"
    _print_name = ("Weibull", "\\operatorname{Weibull}")

    def __call__(self, shape: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        shape
            Shape k, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(shape, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, shape: TensorVariable) -> PathDerivatives:
        return [of_power(draw, shape)]


class RayleighRV(RandomVariable):
    r"""Rayleigh distribution.

    .. math:: f(x) = \frac{x}{\sigma^2} e^{-x^2 / (2 \sigma^2)}
    """

    name = "rayleigh"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = "floatX"
    _print_name = ("Rayleigh", "\\operatorname{Rayleigh}")

    def __call__(self, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        scale
            Scale σ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(scale, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return [draw_again(draw, 1.0)]


class WaldRV(RandomVariable):
    r"""Wald, or inverse Gaussian, distribution.

    .. math:: f(x) = \sqrt{\frac{\lambda}{2 \pi x^3}} \exp\left(-\frac{\lambda (x - \mu)^2}{2 \mu^2 x}\right)
    """

    name = "wald"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("Wald", "\\operatorname{Wald}")

    def __call__(
        self, mean: TensorLike = 1.0, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        mean
            Mean μ, positive.
        scale
            Scale λ, positive.
        size
            Shape of the draws.
        """
        return super().__call__(mean, scale, size=size, **kwargs)


halfnormal = HalfNormalRV()
halfcauchy = HalfCauchyRV()
lognormal = LogNormalRV()
gamma = GammaRV()
chisquare = ChiSquareRV()
noncentral_chisquare = NoncentralChiSquareRV()
f = FRV()
noncentral_f = NoncentralFRV()
invgamma = InvGammaRV()
gengamma = GenGammaRV()
pareto = ParetoRV()
exponential = ExponentialRV()
weibull = WeibullRV()
rayleigh = RayleighRV()
wald = WaldRV()
