"""Norms of vectors and matrices, as in `numpy.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import abs, neq, pow, real, sqrt, square
from aesara.tensor.linear_algebra.svd import svdvals
from aesara.tensor.reductions.sum_prod_max import largest_size, min, sum
from aesara.tensor.shapes.rearranging import expand_dims, moveaxis, normalize_axes

__all__ = ["matrix_norm", "norm", "vector_norm"]


def _with_fractions(x: TensorLike) -> TensorVariable:
    x = as_tensor_variable(x)
    return x.astype("float64") if x.type.dtype in discrete_dtypes else x


def _root_of_squares(x: TensorVariable, axis: int | Sequence[int] | None, keepdims: bool) -> TensorVariable:
    squares = real(x * x.conj()) if x.type.dtype.startswith("complex") else square(x)
    return sqrt(sum(squares, axis=axis, keepdims=keepdims))


def vector_norm(
    x: TensorLike, ord: float | str = 2, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> TensorVariable:
    """Return the norm of order `ord` of the elements along axes, by default all.

    This is the `ord`-th root of the sum of `ord`-th powers of absolute values; the largest absolute value for infinity,
    the smallest for minus infinity, and the number of nonzero elements for 0.

    Examples
    --------
    >>> import numpy as np
    >>> vector_norm(np.array([3.0, -4.0])).eval(), vector_norm(np.array([3.0, -4.0]), np.inf).eval()
    (array(5.), array(4.))
    """
    x = _with_fractions(x)
    if isinstance(ord, str):
        raise ValueError(f"The norm of order {ord!r} is one of matrices; vectors have orders that are numbers.")
    if ord == 2:
        return _root_of_squares(x, axis, keepdims)
    magnitudes = abs(x)
    if ord == 0:
        return sum(neq(x, 0), axis=axis, keepdims=keepdims).astype(magnitudes.type.dtype)
    if np.isinf(ord):
        return (largest_size if ord > 0 else min)(magnitudes, axis, keepdims)
    if ord == 1:
        return sum(magnitudes, axis=axis, keepdims=keepdims)
    order = np.asarray(ord, dtype=magnitudes.type.dtype)
    return pow(sum(pow(magnitudes, order), axis=axis, keepdims=keepdims), 1 / order)


def matrix_norm(x: Any, ord: float | str = "fro", axis: Any = (-2, -1), keepdims: bool = False) -> TensorVariable:
    """Return the norm of matrices, whose rows and columns are the two dimensions `axis`.

    "fro" is the root of the sum of squares, 1 and infinity are the largest sum of absolute values of a column and of a
    row, -1 and minus infinity the smallest; 2 and -2 are the largest and the smallest singular value, "nuc" is their
    sum.

    Examples
    --------
    >>> import numpy as np
    >>> matrix_norm(np.array([[1.0, -2.0], [3.0, 4.0]]), np.inf).eval()
    array(7.)
    """
    x = _with_fractions(x)
    rows, columns = normalize_axes(axis, x.type.ndim)
    if ord is None or ord == "fro":
        return _root_of_squares(x, (rows, columns), keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(moveaxis(x, (rows, columns), (-2, -1)))
        if ord == -2:
            result = values[..., -1]
        else:  # of no singular values the largest is 0, as their sum
            result = sum(values if ord == "nuc" else values[..., :1], axis=-1)
        return expand_dims(result, sorted((rows, columns))) if keepdims else result
    if isinstance(ord, str) or ord not in (1, -1, np.inf, -np.inf):
        raise ValueError(
            f"There is no matrix norm of order {ord!r}: it is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf. The norm of all "
            "elements as one vector is x.flatten().norm(2)."
        )
    summed, compared = (rows, columns) if np.abs(ord) == 1 else (columns, rows)
    sums = sum(abs(x), axis=summed, keepdims=True)
    result = (largest_size if ord > 0 else min)(sums, compared, True)
    return result if keepdims else result.squeeze((rows, columns))


def norm(
    x: TensorLike, ord: float | str | None = None, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> TensorVariable:
    """Return the norm of a vector or matrix, as defined by `numpy.linalg.norm`.

    Without `ord` it is the root of the sum of squares of all elements along `axis`, otherwise the `vector_norm` or
    `matrix_norm`. ``"inf"`` and ``"-inf"`` are the orders infinity and minus infinity.

    Examples
    --------
    >>> import numpy as np
    >>> norm(np.array([[3.0, 0.0], [0.0, -4.0]])).eval()
    array(5.)
    """
    x = _with_fractions(x)
    if ord is None:
        return _root_of_squares(x, axis, keepdims)
    if ord in ("inf", "-inf"):
        ord = float(ord)
    axes = tuple(range(x.type.ndim)) if axis is None else tuple(normalize_axes(axis, x.type.ndim))
    if len(axes) == 1:
        return vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"The norm of order {ord!r} is one of vectors and matrices; got {len(axes)} dimensions. Use axis.")
