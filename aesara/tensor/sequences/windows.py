"""Windows of signal processing, and polynomials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import entries_of
from aesara.tensor.creation.allocation import ones_like, zeros_like
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import cos, maximum, sqrt
from aesara.tensor.elementwise.special import i0
from aesara.tensor.joining.join_split import stack

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser", "polyval", "vander"]


def _from_minus_one_to_one(M: TensorLike, name: str) -> TensorVariable:
    """M points at equal distances from -1 to 1; 0 for a single one."""
    M = as_tensor_variable(M)
    if M.type.ndim or M.type.dtype not in integer_dtypes:
        raise TypeError(f"{name}: the number of points must be an integer; got {describe(M)} of type {M.type}.")
    M = M.astype("int64")
    return arange(1 - M, M, 2) / maximum(M - 1, 1)


def hamming(M: TensorLike) -> TensorVariable:
    """The Hamming window of M points.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.hamming(3).eval()
    array([0.08, 1.  , 0.08])
    """
    return 0.54 + np.float64(0.46) * cos(np.float64(math.pi) * _from_minus_one_to_one(M, "hamming"))


def hanning(M: TensorLike) -> TensorVariable:
    """The Hann window of M points."""
    return 0.5 + 0.5 * cos(np.float64(math.pi) * _from_minus_one_to_one(M, "hanning"))


def blackman(M: TensorLike) -> TensorVariable:
    """The Blackman window of M points."""
    angle = np.float64(math.pi) * _from_minus_one_to_one(M, "blackman")
    return np.float64(0.42) + 0.5 * cos(angle) + np.float64(0.08) * cos(2 * angle)


def kaiser(M: TensorLike, beta: TensorLike) -> TensorVariable:
    """The Kaiser window of M points with the shape parameter `beta`."""
    points = _from_minus_one_to_one(M, "kaiser")
    beta = as_tensor_variable(beta).astype("float64")
    return i0(beta * sqrt(1 - points * points)) / i0(beta)


def polyval(p: Any, x: TensorLike) -> TensorVariable:
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
    # Convert Python numbers as NumPy does: constants of a narrow dtype would overflow.
    x = x if isinstance(x, Variable) else as_tensor_variable(np.asarray(x))
    if isinstance(p, Variable):
        if p.type.ndim != 1 or p.type.shape[0] is None:
            raise TypeError(f"polyval: the coefficients must be a vector of known length; got {p.type}.")
        p = entries_of(p, p.type.shape[0])
    value: TensorVariable = zeros_like(x)
    for coefficient in p:
        value = value * x + (coefficient if isinstance(coefficient, Variable) else np.asarray(coefficient))
    return value


def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> TensorVariable:
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
        raise ValueError(f"vander needs a vector; got {describe(x)} of type {x.type}.")
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


class Bartlett(Op):
    """A triangular window; see `bartlett`.

    Examples
    --------
    >>> Bartlett()(5).type.shape
    (5,)
    """

    __props__ = ()

    def make_node(self, M: Any) -> Apply:
        M = as_tensor_variable(M)
        if M.type.ndim != 0:
            raise TypeError(f"{type(self).__name__} only works on scalars; got {M.type}.")
        if M.type.dtype not in integer_dtypes:
            raise TypeError(f"{type(self).__name__} only works on integers; got {M.type}.")
        known = known_integer(M)
        length = None if known is None else max(known, 0)
        return Apply(self, [M], [tensor_type("float64", (length,))()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.bartlett(int(inputs[0]))

    def infer_shape(self, fgraph, node, input_shapes):
        return [(maximum(node.inputs[0].astype("int64"), 0),)]

    def grad(self, inputs, output_gradients):
        return [grad_undefined(self, 0, inputs[0], "The length is not continuous.")]


bartlett_ = Bartlett()


def bartlett(M: TensorLike) -> TensorVariable:
    """Return the Bartlett window: a triangle from 0 up to 1 and down to 0.

    Parameters
    ----------
    M
        The number of points; the result is empty if it is not positive.

    Examples
    --------
    >>> bartlett(5).type.shape
    (5,)
    """
    return bartlett_(M)
