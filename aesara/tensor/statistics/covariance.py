"""The covariance matrix of observed variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import conj, maximum
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.products.dot import dot
from aesara.tensor.reductions.sum_prod_max import sum
from aesara.tensor.statistics.one_observation import spread_of_one

__all__ = ["cov"]


def cov(
    m: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> TensorVariable:
    """The covariance matrix of variables, from observations of them.

    Parameters
    ----------
    m
        A vector of observations of one variable, or a matrix with a variable
        in each row and an observation in each column.
    y
        More variables, in the same form.
    rowvar
        Whether variables are in the rows; else they are in the columns.
    bias
        Divide by the number of observations n, not by n - 1.
    ddof
        Divide by n - ddof; overrides `bias`.
    fweights
        How often each observation occurs: a vector of integers.
    aweights
        The relative weight of each observation: a vector.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).eval()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"ddof must be an integer; got {ddof!r}.")
    if ddof is None:
        ddof = 0 if bias else 1
    x = _variables_in_rows(m, rowvar, "m")
    if y is not None:
        x = concatenate((x, _variables_in_rows(y, rowvar, "y")), axis=0)
    weights = _weights(x, fweights, aweights)
    if weights is None:
        count = x.shape[1].astype(x.type.dtype if x.type.dtype.startswith("float") else "float64")
        mean = sum(x, axis=1) / count
        divisor = count - ddof
    else:
        total = sum(weights)
        mean = sum(x * weights, axis=1) / total
        if ddof == 0:
            divisor = total
        elif aweights is None:
            divisor = total - ddof
        else:
            divisor = total - ddof * sum(weights * as_tensor_variable(aweights)) / total
    deviation = x - mean.dimshuffle(0, "x")
    weighted = deviation if weights is None else deviation * weights
    covariance = dot(weighted, conj(deviation).T) / maximum(divisor, 0)
    if x.type.shape[1] == 1:
        freedom = max(1 - ddof, 0) if weights is None else maximum(divisor, 0)
        covariance = spread_of_one(covariance, dot(x, conj(x).T), freedom)
    return _without_lengths_of_one(covariance)


def _variables_in_rows(values: TensorLike, rowvar: bool, name: str) -> TensorVariable:
    x = as_tensor_variable(values)
    if x.type.ndim > 2:
        raise ValueError(f"{name} has more than 2 dimensions: {describe(x)} of type {x.type}.")
    if x.type.dtype in discrete_dtypes:
        x = x.astype("float64")
    if x.type.ndim < 2:
        return as_tensor_variable(x, ndim=2)
    return x if rowvar or x.type.shape[0] == 1 else x.T


def _weights(x: TensorVariable, fweights: TensorLike, aweights: TensorLike) -> TensorVariable | None:
    """The product of both kinds of weights, None without any."""
    weights = None
    for name, values in (("fweights", fweights), ("aweights", aweights)):
        if values is None:
            continue
        factor = as_tensor_variable(values)
        if factor.type.ndim != 1:
            raise ValueError(f"cannot handle {name} with {factor.type.ndim} dimensions: a vector is expected.")
        if name == "fweights" and factor.type.dtype not in discrete_dtypes:
            raise TypeError(f"fweights count observations and must be integers; got dtype {factor.type.dtype}.")
        factor = factor.astype(np.result_type(factor.type.dtype, x.type.dtype).name)
        weights = factor if weights is None else weights * factor
    return weights


def _without_lengths_of_one(x: TensorVariable) -> TensorVariable:
    axes = [axis for axis, length in enumerate(x.type.shape) if length != 1]
    return x if len(axes) == x.type.ndim else x.dimshuffle(axes)
