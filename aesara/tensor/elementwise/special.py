"""Special functions that are composed of others: log-odds, factorials, the multivariate gamma function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.elementwise.ops import (
    gamma,
    gammaln,
    log,
    log1p,
    neg,
    softplus,
)
from aesara.tensor.elementwise.ops import logit as _logit
from aesara.tensor.elementwise.ops import poch as _poch

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable


def as_floats(x: Any) -> TensorVariable:
    x = as_tensor_variable(x)
    return x.astype("float64") if x.type.dtype in discrete_dtypes else x


def logit(x: Any) -> TensorVariable:
    """The logarithm of the odds ``x / (1 - x)``: the inverse of the logistic sigmoid."""
    x = as_tensor_variable(x)
    return log(x) - log1p(neg(x)) if x.type.dtype in complex_dtypes else _logit(x)


def log_expit(x: Any) -> TensorVariable:
    """The logarithm of the logistic sigmoid, accurate where that underflows.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.special.log_expit([-1000.0, 0.0]).eval()
    array([-1.00000000e+03, -6.93147181e-01])
    """
    return neg(softplus(neg(x)))


def poch(z: Any, m: Any) -> TensorVariable:
    """The Pochhammer symbol ``gamma(z + m) / gamma(z)``: the rising factorial."""
    z, m = as_tensor_variable(z), as_tensor_variable(m)
    if z.type.dtype in complex_dtypes or m.type.dtype in complex_dtypes:
        return gamma(z + m) / gamma(z)
    return _poch(z, m)


def factorial(n: Any) -> TensorVariable:
    """The factorial of `n`, extended to real numbers by the gamma function."""
    return gamma(as_tensor_variable(n) + 1)


def multigammaln(a: Any, d: int) -> TensorVariable:
    """The logarithm of the multivariate gamma function, for a > (d - 1) / 2.

    Parameters
    ----------
    a
        The argument, element by element.
    d
        The dimension, a positive whole number.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.special.multigammaln(at.constant([2.5, 4.0]), 2).eval()
    array([0.85704781, 3.56509801])
    """
    if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or d < 1:
        raise ValueError(f"multigammaln needs a positive whole number as its dimension d; got {d!r}.")
    a = as_floats(a)
    total = gammaln(a)
    for k in range(1, int(d)):
        total = total + gammaln(a - np.asarray(k / 2, dtype=a.type.dtype))
    return total + np.asarray(d * (d - 1) / 4 * math.log(math.pi), dtype=a.type.dtype)
