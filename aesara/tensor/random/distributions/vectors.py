"""Distributions of vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq, switch
from aesara.tensor.products.dot import dot
from aesara.tensor.random.generators import NumPyGenerator
from aesara.tensor.random.parameters import SizeLike
from aesara.tensor.random.path_derivatives import of_beta
from aesara.tensor.random.random_variable import DrawOptions, DrawShape, PathDerivatives, RandomVariable
from aesara.tensor.shapes.broadcasting import broadcast_to, summed_to
from aesara.tensor.shapes.shape import shape_tuple
from aesara.utils import modules_on_demand

__all__ = ["dirichlet", "multinomial", "multivariate_hypergeometric", "multivariate_normal"]

#: A gradient alone needs it; loaded with it are all rules about matrices.
_linear_algebra = modules_on_demand("aesara.tensor.linear_algebra")


def _drawn_one_by_one(
    draw: Callable[..., np.ndarray], params: Sequence[np.ndarray], ndims: Sequence[int], size: Sequence[int] | None
) -> np.ndarray:
    """Draws from a batch of distributions, in the order of the batch.

    Parameters
    ----------
    draw
        Draws a vector, given the parameters of one distribution.
    params
        The parameters of the batch.
    ndims
        How many dimensions one distribution needs of each.
    size
        The shape of the batch; None for that of the parameters.
    """
    arrays = [np.asarray(param) for param in params]
    batches = [array.shape[: array.ndim - ndim] for array, ndim in zip(arrays, ndims)]
    shape = tuple(size) if size else np.broadcast_shapes(*batches)
    full = [np.broadcast_to(a, (*shape, *a.shape[len(batch) :])) for a, batch in zip(arrays, batches)]
    drawn = [draw(*[param[index] for param in full]) for index in np.ndindex(shape)]
    support = np.shape(drawn[0]) if drawn else full[ndims.index(1)].shape[-1:]
    return np.reshape(drawn, (*shape, *support))


def _has_derivatives(op: RandomVariable, cls: type[RandomVariable], gradient: Variable, parameter: Variable) -> bool:
    """Return whether derivatives for draws of a class apply to an op, and are requested."""
    own, known = (getattr(kind.rng_fn, "__func__", kind.rng_fn) for kind in (type(op), cls))
    is_requested = not isinstance(gradient.type, DisconnectedType) and parameter.type.dtype not in discrete_dtypes
    return own is known and is_requested


def safe_multivariate_normal(
    mean: np.ndarray, cov: np.ndarray, size: DrawShape = None, rng: NumPyGenerator | None = None
) -> np.ndarray:
    """Draw vectors from one normal distribution, with the checks and the shapes that draws of graphs have.

    Parameters
    ----------
    mean
        Mean: a vector.
    cov
        Covariance: a matrix, symmetric and positive semidefinite.
    size
        Shape of the batch of draws.
    rng
        The generator.

    Raises
    ------
    ValueError
        If the covariance is not symmetric and positive semidefinite.
    numpy.linalg.LinAlgError
        If it has NaN or infinities.

    Examples
    --------
    >>> safe_multivariate_normal([0.0, 1.0], np.eye(2), size=3, rng=np.random.default_rng(0)).shape
    (3, 2)
    """
    if not np.isfinite(cov).all():
        raise np.linalg.LinAlgError("SVD did not converge")  # by NumPy's version, infinities are that or something else
    generator = np.random.default_rng() if rng is None else rng
    return generator.multivariate_normal(np.atleast_1d(mean), np.atleast_2d(cov), size, check_valid="raise")


class MvNormalRV(RandomVariable):
    r"""Multivariate normal distribution.

    .. math::
        f(x) = \frac{1}{\sqrt{(2 \pi)^n |\Sigma|}} \exp\left(-\frac{1}{2} (x - \mu)^\top \Sigma^{-1} (x - \mu)\right)
    """

    name = "multivariate_normal"
    ndim_supp = 1
    ndims_params = (1, 2)
    open_support = False
    dtype = "floatX"
    _print_name = ("N", "\\operatorname{N}")

    def __call__(
        self,
        mean: TensorLike | None = None,
        cov: TensorLike | None = None,
        size: SizeLike = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        mean
            Mean μ: a vector, or a batch of vectors.  Default: the vector ``[0.0]``.
        cov
            Covariance Σ: a matrix, or a batch of matrices.  Default: the matrix ``[[1.0]]``.
        size
            Shape of the batch of draws.
        """
        mean = np.array([0.0]) if mean is None else mean
        cov = np.array([[1.0]]) if cov is None else cov
        return super().__call__(mean, cov, size=size, **kwargs)

    def _supp_shape_from_params(
        self, dist_params: Sequence[Variable], **kwargs: Any
    ) -> Variable | tuple[IntegerLike, ...]:
        mean, cov = dist_params
        if mean.type.ndim and mean.type.shape[-1] is None and cov.type.ndim and cov.type.shape[-1] is not None:
            kwargs.setdefault("rep_param_idx", 1)
        return super()._supp_shape_from_params(dist_params, **kwargs)

    @classmethod
    def rng_fn(cls, rng: NumPyGenerator, mean: np.ndarray, cov: np.ndarray, size: DrawShape) -> np.ndarray:
        if np.ndim(mean) <= 1 and np.ndim(cov) <= 2:
            return safe_multivariate_normal(mean, cov, size, rng)

        def draw(mean: np.ndarray, cov: np.ndarray) -> np.ndarray:
            return safe_multivariate_normal(mean, cov, None, rng)

        return _drawn_one_by_one(draw, (mean, cov), cls.ndims_params, size)

    def path_derivatives(self, draw: TensorVariable, mean: TensorVariable, cov: TensorVariable) -> PathDerivatives:
        return draw.ones_like(), None

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], output_grads: Sequence[Variable]
    ) -> list[Variable]:
        r"""Return derivatives with respect to the covariance, of draws :math:`x = \mu + F z` with :math:`F F^\top =
        \Sigma`.

        The factor is not unique: derivatives differ by rotations of :math:`z`, which do not affect the distribution.
        The one without rotation is :math:`dF = d\Sigma \, F^{-\top} / 2`, so that :math:`dx = d\Sigma \, \Sigma^{-1} (x
        - \mu) / 2`. It exists also for equal eigenvalues, for which factors by eigenvectors are not differentiable.
        """
        gradients = super().L_op(inputs, outputs, output_grads)
        gradient: Any = output_grads[1]
        mean: Any = inputs[3]
        cov: Any = inputs[4]
        if not _has_derivatives(self, MvNormalRV, gradient, cov):
            return gradients
        solve = _linear_algebra("solve").solve
        x: Any = outputs[1]
        centred = x - mean
        if cov.type.ndim == 2:
            rows, slopes = (a.reshape((-1, cov.shape[-1])) for a in (centred, gradient))
            whitened = solve(cov, rows.T, assume_a="pos").T
            outer = dot(slopes.T, whitened)
        else:
            lead = shape_tuple(x)[:-1]
            matrices = broadcast_to(cov, (*lead, *shape_tuple(cov)[-2:]))
            whitened = solve(matrices, centred, assume_a="pos", b_ndim=1)
            outer = summed_to(gradient[..., :, None] * whitened[..., None, :], cov)
        return [*gradients[:4], cast((outer + outer.mT) / 4, cov.type.dtype)]


class DirichletRV(RandomVariable):
    r"""Dirichlet distribution, of vectors of positive numbers whose sum is one.

    .. math:: f(x) = \frac{\Gamma(\sum_i \alpha_i)}{\prod_i \Gamma(\alpha_i)} \prod_i x_i^{\alpha_i - 1}
    """

    name = "dirichlet"
    ndim_supp = 1
    ndims_params = (1,)
    open_support = True
    dtype = "floatX"
    _print_name = ("Dir", "\\operatorname{Dir}")

    def __call__(self, alphas: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        alphas
            Concentrations α, at least 0: a vector, or a batch of vectors.
        size
            Shape of the batch of draws.
        """
        return super().__call__(alphas, size=size, **kwargs)

    @classmethod
    def rng_fn(cls, rng: NumPyGenerator, alphas: np.ndarray, size: DrawShape) -> np.ndarray:
        if np.ndim(alphas) <= 1:
            return rng.dirichlet(alphas, size)

        def draw(alphas: np.ndarray) -> np.ndarray:
            return rng.dirichlet(alphas)

        return _drawn_one_by_one(draw, (alphas,), cls.ndims_params, size)

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], output_grads: Sequence[Variable]
    ) -> list[Variable]:
        r"""Return derivatives by the distribution functions of the components, which have beta distributions.

        While :math:`x_j` changes with :math:`\alpha_j`, the others keep their ratios: :math:`dx_i / d\alpha_j = -x_i /
        (1 - x_j) \, dx_j / d\alpha_j`.
        """
        gradients = super().L_op(inputs, outputs, output_grads)
        gradient: Any = output_grads[1]
        alphas: Any = inputs[3]
        if not _has_derivatives(self, DirichletRV, gradient, alphas):
            return gradients
        x: Any = outputs[1]
        wide = broadcast_to(alphas, shape_tuple(x))
        own, _ = of_beta(x, wide, wide.sum(axis=-1, keepdims=True) - wide)
        # Where one number is all, rounding has taken what the others have.
        slope = switch(eq(x, 1), 0, own / (1 - x))
        centred = gradient - (x * gradient).sum(axis=-1, keepdims=True)
        return [*gradients[:3], cast(summed_to(slope * centred, alphas), alphas.type.dtype)]


class MultinomialRV(RandomVariable):
    r"""Multinomial distribution, of the counts of several outcomes in n trials.

    .. math:: f(x) = \frac{n!}{\prod_i x_i!} \prod_i p_i^{x_i}
    """

    name = "multinomial"
    ndim_supp = 1
    ndims_params = (0, 1)
    open_support = False
    dtype = "int64"
    _print_name = ("MN", "\\operatorname{MN}")

    def __call__(self, n: TensorLike, p: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        n
            Number of trials.
        p
            Probabilities of the outcomes: a vector, or a batch of vectors.
        size
            Shape of the batch of draws.
        """
        return super().__call__(n, p, size=size, **kwargs)

    def _supp_shape_from_params(
        self, dist_params: Sequence[Variable], **kwargs: Any
    ) -> Variable | tuple[IntegerLike, ...]:
        kwargs.setdefault("rep_param_idx", 1)
        return super()._supp_shape_from_params(dist_params, **kwargs)

    @classmethod
    def rng_fn(cls, rng: NumPyGenerator, n: np.ndarray, p: np.ndarray, size: DrawShape) -> np.ndarray:
        if np.ndim(n) == 0 and np.ndim(p) <= 1:
            return rng.multinomial(n, p, size)

        def draw(n: np.ndarray, p: np.ndarray) -> np.ndarray:
            return rng.multinomial(n, p)

        return _drawn_one_by_one(draw, (n, p), cls.ndims_params, size)


class MultivariateHypergeometricRV(RandomVariable):
    """Multivariate hypergeometric distribution, of the counts of colours in a sample without replacement."""

    name = "multivariate_hypergeometric"
    ndim_supp = 1
    ndims_params = (1, 0)
    dtype = "int64"
    _print_name = ("MvHyperGeom", "\\operatorname{MvHyperGeom}")

    def __call__(
        self, colors: TensorLike, nsample: TensorLike, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        colors
            How many there are of each colour: a vector of integers, or a batch of vectors.
        nsample
            How many are taken.
        size
            Shape of the batch of draws.
        """
        return super().__call__(as_tensor_variable(colors), nsample, size=size, **kwargs)

    @classmethod
    def rng_fn(cls, rng: np.random.Generator, colors: np.ndarray, nsample: np.ndarray, size: DrawShape) -> np.ndarray:
        if np.ndim(colors) <= 1 and np.ndim(nsample) == 0:
            return rng.multivariate_hypergeometric(colors, int(nsample), size)

        def draw(colors: np.ndarray, nsample: np.ndarray) -> np.ndarray:
            return rng.multivariate_hypergeometric(colors, int(nsample))

        return _drawn_one_by_one(draw, (colors, nsample), cls.ndims_params, size)


multivariate_normal = MvNormalRV()
dirichlet = DirichletRV()
multinomial = MultinomialRV()
multivariate_hypergeometric = MultivariateHypergeometricRV()
