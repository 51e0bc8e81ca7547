"""x log x and x log y, with 0 for x = 0."""

from __future__ import annotations

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.special import xlogy


def xlogx(x: TensorLike) -> TensorVariable:
    """Return ``x * log(x)``, with 0 for x = 0.

    Examples
    --------
    >>> xlogx([0.0, 1.0]).eval()
    array([0., 0.])
    """
    x = as_tensor_variable(x)
    return xlogy(x, x)


def xlogy0(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return ``x * log(y)``, with 0 for x = 0; see `aesara.tensor.xlogy`.

    Examples
    --------
    >>> xlogy0([0.0, 1.0], [0.0, 1.0]).eval()
    array([0., 0.])
    """
    return xlogy(x, y)
