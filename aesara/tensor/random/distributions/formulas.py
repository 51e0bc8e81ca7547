"""Distributions whose draws are computed from uniform, normal or gamma numbers of NumPy's generators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.tensor.random.generators import NumPyGenerator
from aesara.tensor.random.random_variable import DrawShape, RandomVariable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ScipyRandomVariable(RandomVariable):
    """A distribution that NumPy's generators have no method for.

    A subclass defines the class method ``rng_fn_scipy(rng, *parameters, size)``; methods ``rvs`` of the distributions
    in `scipy.stats` will do.

    Examples
    --------
    >>> class CircleRV(ScipyRandomVariable):
    ...     name = "anglit"
    ...     ndim_supp = 0
    ...     ndims_params = (0,)
    ...     dtype = "floatX"
    ...
    ...     @classmethod
    ...     def rng_fn_scipy(cls, rng, radius, size):
    ...         return radius * np.cos(rng.uniform(0, 2 * np.pi, size))
    >>> CircleRV()(1.0, size=3).type
    TensorType(float64, (3,))
    """

    @classmethod
    def rng_fn_scipy(cls, rng: NumPyGenerator, *args: Any, **kwargs: Any) -> np.ndarray:
        """Draw.

        Parameters
        ----------
        rng
            The generator.
        *args
            The values of the parameters, and a tuple or None as ``size``.
        """
        raise NotImplementedError(f"{cls.__name__} does not define rng_fn_scipy.")

    @classmethod
    def rng_fn(cls, *args: Any, **kwargs: Any) -> np.ndarray:
        drawn = cls.rng_fn_scipy(*args, **kwargs)
        size = args[-1]
        # Functions of SciPy give a number where there is one element, whatever the size says.
        if np.ndim(drawn) == 0 and size is not None:
            return np.broadcast_to(drawn, size)
        return drawn


def as_numbers(*parameters: ArrayLike) -> list[np.ndarray]:
    """Convert parameters to double precision, in which all draws are computed."""
    return [np.asarray(parameter, dtype="float64") for parameter in parameters]


def require(condition: ArrayLike, message: str) -> None:
    """Raise `ValueError` unless a condition on parameters holds everywhere; a NaN never fulfils one."""
    if not np.all(condition):
        raise ValueError(message)


def shape_of_draws(size: DrawShape, *parameters: ArrayLike) -> tuple[int, ...]:
    """Return the shape of draws: `size`, or the shape to which the parameters broadcast.

    Examples
    --------
    >>> shape_of_draws(None, np.zeros((2, 1)), np.zeros(3))
    (2, 3)
    """
    common = np.broadcast_shapes(*[np.shape(parameter) for parameter in parameters])
    if size is None:
        return common
    fits = len(common) <= len(size) and all(n in (1, m) for n, m in zip(common[::-1], size[::-1]))
    if not fits:
        raise ValueError(f"Output size {tuple(size)} is not compatible with broadcast dimensions of inputs {common}.")
    return tuple(size)


def powers(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Return powers of an array or scalar, with an exponent for each element or a common one.

    NumPy computes the exponent -1, for instance, by division, which rounds differently, if it detects that all elements
    or those of a row have it. For exponents that are not scalars, this depends on the version and on shapes.

    Examples
    --------
    >>> powers(np.array([2.0, 4.0]), np.array([0.5, -1.0])).round(3)
    array([1.414, 0.25 ])
    """
    return base ** (np.array(np.broadcast_to(exponent, base.shape)) if np.ndim(exponent) else exponent)
