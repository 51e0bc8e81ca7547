"""Distributions with fixed parameters."""

from __future__ import annotations

from functools import partial
from typing import Any

from aesara.tensor.random.distributions.location_scale import cauchy, normal, t
from aesara.tensor.random.distributions.positive import exponential, gamma
from aesara.tensor.random.random_variable import RandomVariable

__all__ = ["standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t"]


def get_partial_wrapper(rv: RandomVariable, name: str, *args: Any, **kwargs: Any) -> Any:
    """Return a distribution with some arguments fixed, under another name.

    Parameters
    ----------
    rv
        The distribution.
    name
        The name.
    *args, **kwargs
        The arguments.

    Examples
    --------
    >>> wide = get_partial_wrapper(normal, "wide", scale=10.0)
    >>> wide.__name__, wide(size=3).type
    ('wide', TensorType(float64, (3,)))
    """
    wrapper: Any = partial(rv, *args, **kwargs)
    arguments_text = ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())])
    wrapper.__name__ = name
    wrapper.__doc__ = f"Draw from `{rv.name}` with {arguments_text}."
    return wrapper


standard_normal = get_partial_wrapper(normal, "standard_normal", loc=0.0, scale=1.0)
standard_gamma = get_partial_wrapper(gamma, "standard_gamma", rate=1.0)
standard_exponential = get_partial_wrapper(exponential, "standard_exponential", scale=1.0)
standard_cauchy = get_partial_wrapper(cauchy, "standard_cauchy", loc=0.0, scale=1.0)
standard_t = get_partial_wrapper(t, "standard_t", loc=0.0, scale=1.0)
