"""The older Fourier transform along one dimension; `aesara.tensor.fft` is for new programs."""

from __future__ import annotations

from typing import Any

from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.discrete_fourier.transforms import fft as _transform

__all__ = ["Fourier", "fft"]


class Fourier:
    """The Fourier transform of a tensor along an axis, in double precision: ``fft(a, n, axis)``.

    Examples
    --------
    >>> import numpy as np
    >>> fft(np.array([1.0, 0.0, 1.0]), 4, 0).eval()
    array([2.+0.j, 0.+0.j, 2.+0.j, 0.+0.j])
    """

    def __call__(self, a: TensorLike, n: TensorLike, axis: Any) -> TensorVariable:
        """The transform.

        Parameters
        ----------
        a
            The tensor, real or complex.
        n
            The length of the transform: `a` is cut, or filled with zeros; None for the length of `a`.
        axis
            The dimension, from 0 on; None for the last one.

        Raises
        ------
        TypeError
            If `a` has no dimensions, or `n` or `axis` is no integer that fits.
        """
        a = as_tensor_variable(a)
        if a.type.ndim < 1:
            raise TypeError(f"{type(self).__name__}: input must be an array, not a scalar")
        if n is not None and as_tensor_variable(n).type.dtype not in integer_dtypes:
            raise TypeError("Length of the transformed axis must be of type integer")
        where: int | None = a.type.ndim - 1
        if axis is not None:
            if as_tensor_variable(axis).type.dtype not in integer_dtypes:
                raise TypeError("Index of the transformed axis must be of type integer")
            where = known_integer(as_tensor_variable(axis))
        if where is None or not 0 <= where < a.type.ndim:
            raise TypeError(
                "Index of the transformed axis must be a scalar not smaller than 0 and smaller than dimension of array"
                f"; got {axis!r}, which has to be known when the graph is built."
            )
        dtype = "complex128" if a.type.dtype.startswith("complex") else "float64"
        return _transform(a.astype(dtype), n, where)


fft = Fourier()
