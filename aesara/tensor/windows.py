"""Windows of signal processing, and polynomials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aesara.graph.messages import described
from aesara.graph.nodes import Variable
from aesara.tensor.allocation import ones_like, zeros_like
from aesara.tensor.conversion import as_tensor_variable
from aesara.tensor.creation import arange
from aesara.tensor.dtypes import integer_dtypes
from aesara.tensor.elementwise_ops import cos, i0, maximum, sqrt
from aesara.tensor.joining import stack

__all__ = ["blackman", "hamming", "hanning", "kaiser", "polyval", "vander"]


def _from_minus_one_to_one(M: Any, name: str) -> Variable:
    """M points at equal distances from -1 to 1; 0 for a single one."""
    M = as_tensor_variable(M)
    if M.type.ndim or M.type.dtype not in integer_dtypes:
        raise TypeError(f"{name}: the number of points must be an integer; got {described(M)} of type {M.type}.")
    M = M.astype("int64")
    return arange(1 - M, M, 2) / maximum(M - 1, 1)


def hamming(M: Any) -> Variable:
    """The Hamming window of M points.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.hamming(3).eval()
    array([0.08, 1.  , 0.08])
    """
    return 0.54 + np.float64(0.46) * cos(np.float64(math.pi) * _from_minus_one_to_one(M, "hamming"))


def hanning(M: Any) -> Variable:
    """The Hann window of M points."""
    return 0.5 + 0.5 * cos(np.float64(math.pi) * _from_minus_one_to_one(M, "hanning"))


def blackman(M: Any) -> Variable:
    """The Blackman window of M points."""
    angle = np.float64(math.pi) * _from_minus_one_to_one(M, "blackman")
    return np.float64(0.42) + 0.5 * cos(angle) + np.float64(0.08) * cos(2 * angle)


def kaiser(M: Any, beta: Any) -> Variable:
    """The Kaiser window of M points with the shape parameter `beta`."""
    place = _from_minus_one_to_one(M, "kaiser")
    beta = as_tensor_variable(beta).astype("float64")
    return i0(beta * sqrt(1 - place * place)) / i0(beta)


def polyval(p: Any, x: Any) -> Variable:
    """The values of a polynomial.

    Parameters
    ----------
    p
        The coefficients, that of the highest power first: a list, or a vector of
        known length.
    x
        Where.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.polyval([3, 0, 1], 5).eval()
    array(76)
    """
    # Plain numbers as NumPy takes them: a narrow constant would overflow.
    x = x if isinstance(x, Variable) else as_tensor_variable(np.asarray(x))
    if isinstance(p, Variable):
        if p.type.ndim != 1 or p.type.shape[0] is None:
            raise TypeError(f"polyval: the coefficients must be a vector of known length; got {p.type}.")
        p = [p[i] for i in range(p.type.shape[0])]
    value: Variable = zeros_like(x)
    for coefficient in p:
        value = value * x + (coefficient if isinstance(coefficient, Variable) else np.asarray(coefficient))
    return value


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Variable:
    """The Vandermonde matrix: a row of powers for each element of a vector.

    Parameters
    ----------
    x
        The vector.
    N
        The number of powers; by default the length of `x`, which must be known then.
    increasing
        Whether the powers increase from left to right.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.vander([1, 2, 3], 3).eval()
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    x = as_tensor_variable(x)
    if x.type.ndim != 1:
        raise ValueError(f"vander needs a vector; got {described(x)} of type {x.type}.")
    N = x.type.shape[0] if N is None else N
    if N is None:
        raise ValueError(f"vander: give the number of powers, since the length of {x} is not known.")
    x = x if x.type.dtype not in integer_dtypes else x.astype("int64")
    powers = [ones_like(x)]
    for _ in range(1, N):
        powers.append(powers[-1] * x)
    powers = powers[:N]
    if not powers:
        return zeros_like(x).dimshuffle(0, "x")[:, :0]
    return stack(powers if increasing else powers[::-1], axis=1)
