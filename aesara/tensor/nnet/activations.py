"""Activation functions of neural networks."""

from __future__ import annotations

import numpy as np

from aesara import scalar as aes
from aesara.graph.nodes import Variable
from aesara.scalar.constants import literal
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import clip, expm1, gt, lt, minimum, sigmoid, switch

__all__ = [
    "elu",
    "hard_sigmoid",
    "relu",
    "selu",
    "softsign",
    "ultra_fast_sigmoid",
]


class ScalarSoftsign(aes.UnaryScalarOp):
    """``x / (1 + |x|)``, between -1 and 1."""

    dtype = aes.upgrade_to_float

    @staticmethod
    def numpy(x: np.ndarray) -> np.ndarray:
        """Evaluate the function with NumPy."""
        return x / (1 + np.abs(x))

    def decompose(self, x: aes.ScalarVariable) -> aes.ScalarVariable:
        return x / (literal(1, x) + aes.abs(x))

    def pullback(self, x: aes.ScalarVariable, y: aes.ScalarVariable, g: aes.ScalarVariable) -> tuple:
        decay = literal(1, x) + aes.abs(x)
        return (g / (decay * decay),)


scalar_softsign = ScalarSoftsign(name="scalar_softsign")
softsign = Elemwise(scalar_softsign, name="softsign")


def _is_zero(value: TensorLike) -> bool:
    return not isinstance(value, Variable) and np.ndim(value) == 0 and value == 0


def relu(x: TensorLike, alpha: TensorLike = 0) -> TensorVariable:
    """The rectified linear function: `x` where it is positive, else ``alpha * x``.

    Parameters
    ----------
    x
        The tensor.
    alpha
        The slope for negative values: a number or a tensor that broadcasts.

    Notes
    -----
    At zero the gradient is the mean of both slopes.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara.tensor.nnet import relu
    >>> relu([-2.0, 3.0]).eval()
    array([0., 3.])
    >>> relu([-2.0, 3.0], 0.5).eval()
    array([-1.,  3.])
    """
    x = as_tensor_variable(x)
    # At zero, and for NaN, neither comparison holds.
    if _is_zero(alpha):
        half = x if x.type.dtype in discrete_dtypes else 0.5 * x
        return switch(gt(x, 0), x, switch(lt(x, 0), np.zeros((), x.type.dtype), half))
    alpha = as_tensor_variable(alpha)
    return switch(gt(x, 0), x, switch(lt(x, 0), alpha * x, 0.5 * (1 + alpha) * x))


def elu(x: TensorLike, alpha: TensorLike = 1) -> TensorVariable:
    """The exponential linear function: `x` where it is positive, else ``alpha * (exp(x) - 1)``.

    Parameters
    ----------
    x
        The tensor.
    alpha
        The negative of the limit for small `x`.

    Examples
    --------
    >>> from aesara.tensor.nnet import elu
    >>> elu([-1000.0, 3.0]).eval()
    array([-1.,  3.])
    """
    x = as_tensor_variable(x)
    # The minimum keeps the exponential, which has no part in the result for large x, from overflowing.
    return switch(gt(x, 0), x, alpha * expm1(minimum(x, np.int8(0))))


def selu(x: TensorLike) -> TensorVariable:
    """The scaled exponential linear function, which keeps mean 0 and variance 1.

    The constants are those of Klambauer et al., "Self-Normalizing Neural
    Networks" (2017).

    Examples
    --------
    >>> from aesara.tensor.nnet import selu
    >>> selu([1.0]).eval()
    array([1.05070099])
    """
    alpha = 1.6732632423543772848170429916717
    scale = 1.0507009873554804934193349852946
    return scale * elu(x, alpha)


def hard_sigmoid(x: TensorLike) -> TensorVariable:
    """Return a piecewise linear sigmoid: ``0.2 * x + 0.5``, limited to the range from 0 to 1.

    Examples
    --------
    >>> from aesara.tensor.nnet import hard_sigmoid
    >>> hard_sigmoid([-3.0, 0.0, 1.0]).eval()
    array([0. , 0.5, 0.7])
    """
    x = _as_floats(x)
    slope, middle = [as_tensor_variable(np.asarray(c, dtype=x.type.dtype)) for c in (0.2, 0.5)]
    return clip(x * slope + middle, np.int8(0), np.int8(1))


def ultra_fast_sigmoid(x: TensorLike) -> TensorVariable:
    """Return the logistic sigmoid; it is not approximated, since the exact function is fast."""
    return sigmoid(x)


def _as_floats(x: TensorLike) -> TensorVariable:
    """Convert integers to the floating-point dtype of functions of them."""
    x = as_tensor_variable(x)
    if x.type.dtype not in discrete_dtypes:
        return x
    (kind,) = aes.upgrade_to_float(aes.get_scalar_type(x.type.dtype))
    return x.astype(kind.dtype)
