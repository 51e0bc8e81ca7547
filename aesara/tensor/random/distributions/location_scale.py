"""Distributions on the whole line, moved by a location and stretched by a scale."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.random.distributions.formulas import ScipyRandomVariable, as_numbers, require, shape_of_draws
from aesara.tensor.random.generators import NumPyGenerator
from aesara.tensor.random.parameters import SizeLike
from aesara.tensor.random.path_derivatives import of_location_and_scale, of_student
from aesara.tensor.random.random_variable import DrawOptions, DrawShape, PathDerivatives, RandomVariable, draw_again

__all__ = ["cauchy", "gumbel", "laplace", "logistic", "normal", "t"]


class NormalRV(RandomVariable):
    r"""Normal distribution.

    .. math:: f(x) = \frac{1}{\sigma \sqrt{2 \pi}} \exp\left(-\frac{(x - \mu)^2}{2 \sigma^2}\right)
    """

    name = "normal"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("N", "\\operatorname{N}")

    def __call__(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        loc
            Mean μ.
        scale
            Standard deviation σ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(loc, scale, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, loc: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return of_location_and_scale(draw_again(draw, 0.0, 1.0))


class LaplaceRV(RandomVariable):
    r"""Laplace, or double exponential, distribution.

    .. math:: f(x) = \frac{1}{2 \lambda} \exp\left(-\frac{|x - \mu|}{\lambda}\right)
    """

    name = "laplace"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("Laplace", "\\operatorname{Laplace}")

    def __call__(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        loc
            Location μ.
        scale
            Scale λ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(loc, scale, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, loc: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return of_location_and_scale(draw_again(draw, 0.0, 1.0))


class LogisticRV(RandomVariable):
    r"""Logistic distribution.

    .. math:: f(x) = \frac{e^{-(x - \mu) / s}}{s (1 + e^{-(x - \mu) / s})^2}
    """

    name = "logistic"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("Logistic", "\\operatorname{Logistic}")

    def __call__(
        self, loc: TensorLike = 0, scale: TensorLike = 1, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        loc
            Location μ.
        scale
            Scale s, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(loc, scale, size=size, **kwargs)

    def path_derivatives(self, draw: TensorVariable, loc: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return of_location_and_scale(draw_again(draw, 0.0, 1.0))


class GumbelRV(ScipyRandomVariable):
    r"""Gumbel distribution, of the largest of many numbers; drawn as :math:`\mu - \beta \log(-\log U)`.

    .. math:: f(x) = \frac{1}{\beta} e^{-(z + e^{-z})}, \quad z = (x - \mu) / \beta
    """

    name = "gumbel"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("Gumbel", "\\operatorname{Gumbel}")

    def __call__(
        self, loc: TensorLike, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        loc
            Location μ.
        scale
            Scale β, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(loc, scale, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, loc: np.ndarray, scale: np.ndarray, size: DrawShape) -> np.ndarray:
        loc, scale = as_numbers(loc, scale)
        require(scale >= 0, "scale < 0")
        uniform = rng.uniform(size=shape_of_draws(size, loc, scale))
        return -np.log(-np.log(uniform)) * scale + loc

    def path_derivatives(self, draw: TensorVariable, loc: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return of_location_and_scale(draw_again(draw, 0.0, 1.0))


class CauchyRV(ScipyRandomVariable):
    r"""Cauchy distribution; drawn as :math:`x_0 + \gamma \tan(\pi U - \pi / 2)`.

    .. math:: f(x) = \frac{1}{\pi \gamma (1 + ((x - x_0) / \gamma)^2)}
    """

    name = "cauchy"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "floatX"
    _print_name = ("C", "\\operatorname{C}")

    def __call__(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        loc
            Location x₀.
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
        uniform = rng.uniform(size=shape_of_draws(size, loc, scale))
        return np.tan(np.pi * uniform - np.pi / 2) * scale + loc

    def path_derivatives(self, draw: TensorVariable, loc: TensorVariable, scale: TensorVariable) -> PathDerivatives:
        return of_location_and_scale(draw_again(draw, 0.0, 1.0))


class StudentTRV(ScipyRandomVariable):
    r"""Student's t distribution.

    .. math::
        f(x) = \frac{\Gamma((\nu + 1) / 2)}{\sqrt{\pi \nu}\, \sigma\, \Gamma(\nu / 2)}
        \left(1 + \frac{((x - \mu) / \sigma)^2}{\nu}\right)^{-(\nu + 1) / 2}
    """

    name = "t"
    ndim_supp = 0
    ndims_params = (0, 0, 0)
    dtype = "floatX"
    _print_name = ("StudentT", "\\operatorname{StudentT}")

    def __call__(
        self,
        df: TensorLike,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
        size: SizeLike = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        df
            Degrees of freedom ν, positive.
        loc
            Location μ.
        scale
            Scale σ, at least 0.
        size
            Shape of the draws.
        """
        return super().__call__(df, loc, scale, size=size, **kwargs)

    @classmethod
    def rng_fn_scipy(
        cls, rng: NumPyGenerator, df: np.ndarray, loc: np.ndarray, scale: np.ndarray, size: DrawShape
    ) -> np.ndarray:
        loc, scale = as_numbers(loc, scale)
        require(scale >= 0, "scale < 0")
        return rng.standard_t(df, size=shape_of_draws(size, df, loc, scale)) * scale + loc

    def path_derivatives(
        self, draw: TensorVariable, df: TensorVariable, loc: TensorVariable, scale: TensorVariable
    ) -> PathDerivatives:
        z = draw_again(draw, df, 0.0, 1.0)
        return scale * of_student(z, df), *of_location_and_scale(z)


normal = NormalRV()
laplace = LaplaceRV()
logistic = LogisticRV()
gumbel = GumbelRV()
cauchy = CauchyRV()
t = StudentTRV()
