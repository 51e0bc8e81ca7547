"""Tensors as sets of their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.elementwise.ops import eq, lt
from aesara.tensor.elementwise.ops import invert as logical_opposite
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.joining.join_split import concatenate, join
from aesara.tensor.ordering.searching import searchsorted, unique
from aesara.tensor.ordering.sorting import sort
from aesara.tensor.reductions.all_any import any as any_true
from aesara.tensor.shapes.rearranging import flatten

__all__ = ["intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique_values"]

#: Up to this many elements a comparison with each of them is faster than a search.
_FEW = 64


def isin(
    element: TensorLike, test_elements: TensorLike, assume_unique: bool = False, invert: bool = False
) -> TensorVariable:
    """Return whether each element is one of `test_elements`.

    Parameters
    ----------
    element
        The tensor.
    test_elements
        The others.
    assume_unique
        As in NumPy; has no effect.
    invert
        Whether to mark the elements that are not in the other set.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.isin([1, 2, 3], [3, 1]).eval()
    array([ True, False,  True])
    """
    element, others = as_tensor_variable(element), flatten(as_tensor_variable(test_elements))
    length = others.type.shape[0]
    if length is not None and length <= _FEW:
        ndim = element.type.ndim
        pairs = eq(element.dimshuffle([*range(ndim), "x"]), others.dimshuffle([*["x"] * ndim, 0]))
        result = any_true(pairs, axis=-1)
    else:
        dtype = np.result_type(element.type.dtype, others.type.dtype).name
        element, ordered = element.astype(dtype), sort(others.astype(dtype))
        positions = searchsorted(ordered, element)
        # Positions after the last element read an appended zero.
        behind = join(0, ordered, zeros((1,), dtype=dtype))
        result = lt(positions, ordered.shape[0]) & eq(getitem(behind, positions), element)
    return logical_opposite(result) if invert else result


def unique_values(x: TensorLike) -> TensorVariable:
    """Return the unique elements of a tensor in ascending order."""
    return unique(x)


def union1d(ar1: Any, ar2: Any) -> TensorVariable:
    """Return the unique elements of both tensors in ascending order.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.union1d([3, 1], [1, 2]).eval()
    array([1, 2, 3])
    """
    return unique(concatenate([ar1, ar2], axis=None))


def _both(ar1: Any, ar2: Any, assume_unique: bool) -> TensorVariable:
    """Return the unique elements of each tensor, concatenated and sorted; common ones occur twice."""
    parts = [flatten(as_tensor_variable(ar)) if assume_unique else unique(ar) for ar in (ar1, ar2)]
    return sort(concatenate(parts))


def intersect1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> TensorVariable:
    """Return the unique common elements of two tensors in ascending order.

    Parameters
    ----------
    ar1, ar2
        The tensors.
    assume_unique
        Whether no element is twice in a tensor.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.intersect1d([3, 1, 1, 2], [1, 2, 5]).eval()
    array([1, 2])
    """
    together = _both(ar1, ar2, assume_unique)
    return getitem(together[:-1], eq(together[1:], together[:-1]))


def setxor1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> TensorVariable:
    """Return the unique elements of exactly one of two tensors in ascending order; see `intersect1d`."""
    together = _both(ar1, ar2, assume_unique)
    same = eq(together[1:], together[:-1])
    # An element is alone if it differs from the one before it and from the one after it.
    edge = together[:1].zeros_like(dtype="bool")
    alone = logical_opposite(join(0, edge, same) | join(0, same, edge))
    return getitem(together, alone)


def setdiff1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> TensorVariable:
    """Return the unique elements of one tensor that are not in another one, in ascending order.

    With `assume_unique` they keep their order.
    """
    first = flatten(as_tensor_variable(ar1)) if assume_unique else unique(ar1)
    return getitem(first, isin(first, ar2, invert=True))
