"""Small functions of NumPy in terms of functions of this package, and aliases with NumPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import diag
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import exp2, mul
from aesara.tensor.joining.join_split import join
from aesara.tensor.ordering.searching import unique
from aesara.tensor.ordering.sorting import argsort, sort
from aesara.tensor.reductions.sum_prod_max import max as amax
from aesara.tensor.reductions.sum_prod_max import min as amin
from aesara.tensor.sequences.cumulative import cumprod, cumsum
from aesara.tensor.shapes.broadcasting import broadcast_shape, broadcast_to
from aesara.tensor.shapes.rearranging import flatten, normalize_axes

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = [
    "amax",
    "amin",
    "argpartition",
    "broadcast_shapes",
    "cumulative_prod",
    "cumulative_sum",
    "diag_indices",
    "diagflat",
    "identity",
    "index_exp",
    "ix_",
    "ldexp",
    "lexsort",
    "partition",
    "s_",
    "unique_counts",
    "unique_inverse",
]

index_exp = np.index_exp
s_ = np.s_


def identity(n: TensorLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """The identity matrix with `n` rows.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.identity(2).eval()
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype)


def cumulative_sum(
    x: TensorLike, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> TensorVariable:
    """The running sums along an axis.

    Parameters
    ----------
    x
        The tensor.
    axis
        The axis; may be left out for a vector.
    dtype
        The dtype of the result; by default that of the sum of the elements.
    include_initial
        Put a zero in front.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.cumulative_sum([1, 2, 3], include_initial=True).eval()
    array([0, 1, 3, 6])
    """
    return _cumulative(cumsum, x, axis, dtype, include_initial, 0)


def cumulative_prod(
    x: Any, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> TensorVariable:
    """Return the cumulative product along an axis, optionally beginning with one; see `cumulative_sum` for the
    parameters.
    """
    return _cumulative(cumprod, x, axis, dtype, include_initial, 1)


def _cumulative(
    function: Any, x: TensorLike, axis: int | None, dtype: Any, include_initial: bool, initial: int
) -> TensorVariable:
    x = as_tensor_variable(x)
    if axis is None:
        if x.type.ndim != 1:
            raise ValueError(
                f"The axis must be given for a tensor that is not a vector; got {describe(x)} of type {x.type}."
            )
        axis = 0
    (axis,) = normalize_axes(axis, x.type.ndim)
    if dtype is None and x.type.dtype in discrete_dtypes:
        dtype = "uint64" if x.type.dtype.startswith("uint") else "int64"
    running = function(x, axis, dtype=dtype)
    if not include_initial:
        return running
    shape = [1 if k == axis else x.shape[k] for k in range(x.type.ndim)]
    return join(axis, broadcast_to(np.asarray(initial, dtype=running.type.dtype), shape), running)


def diagflat(v: Variable, k: int = 0) -> TensorVariable:
    """The matrix with the elements of a tensor on a diagonal.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.diagflat([[1, 2]]).eval()
    array([[1, 0],
           [0, 2]])
    """
    return diag(flatten(as_tensor_variable(v)), k)


def diag_indices(n: TensorLike, ndim: int = 2) -> tuple[TensorVariable, ...]:
    """Positions of the main diagonal of a tensor whose dimensions all have length `n`."""
    return (arange(n),) * ndim


def ix_(*args: Any) -> tuple[TensorVariable, ...]:
    """An index for all combinations of entries of several vectors.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.as_tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    >>> x[at.ix_([0, 2], [1, 2])].eval()
    array([[2, 3],
           [8, 9]])
    """
    vectors = []
    for arg in args:
        vector = as_tensor_variable(arg)
        if vector.type.ndim != 1:
            raise ValueError(f"ix_ needs vectors; got {describe(vector)} of type {vector.type}.")
        vectors.append(vector.nonzero()[0] if vector.type.dtype == "bool" else vector)
    return tuple([v.dimshuffle([0 if i == k else "x" for i in range(len(vectors))]) for k, v in enumerate(vectors)])


def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]:
    """The shape that tensors of the given shapes broadcast to.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> [int(n.eval()) for n in at.broadcast_shapes((1, 3), (2, 1))]
    [2, 3]
    """
    as_tuples = [(shape,) if isinstance(shape, (int, np.integer)) else tuple(shape) for shape in shapes]
    return tuple([as_tensor_variable(n) for n in broadcast_shape(*as_tuples, arrays_are_shapes=True)])


def partition(a: TensorLike, kth: int | Sequence[int], axis: int | None = -1) -> TensorVariable:
    """Partition the elements along an axis: those at `kth` are where sorting would put them, smaller ones before them.

    All elements are sorted, which is one of the results that NumPy permits.
    """
    return sort(_checked_kth(a, kth, axis), axis)


def argpartition(a: TensorLike, kth: int | Sequence[int], axis: int | None = -1) -> TensorVariable:
    """Return the positions of the elements of `partition`."""
    return argsort(_checked_kth(a, kth, axis), axis)


def _checked_kth(a: Any, kth: int | Sequence[int], axis: int | None) -> TensorVariable:
    a = as_tensor_variable(a)
    if axis is None:
        n = None if None in a.type.shape else int(np.prod(a.type.shape))
    else:
        n = a.type.shape[normalize_axes(axis, a.type.ndim)[0]]
    for k in np.atleast_1d(kth):
        if n is not None and not -n <= k < n:
            raise ValueError(f"kth(={k}) out of bounds ({n})")
    return a


def lexsort(keys: Sequence[Any] | TensorVariable, axis: int = -1) -> TensorVariable:
    """Return the positions that sort by several keys; the last key is the primary one.

    Parameters
    ----------
    keys
        Tensors of the same shape, or a tensor whose first dimension is known.
    axis
        The axis.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.lexsort([[9, 4, 0, 4], [1, 5, 1, 4]]).eval()
    array([2, 0, 3, 1])
    """
    if isinstance(keys, Variable):
        if keys.type.shape[0] is None:
            raise TypeError(f"lexsort: the number of keys must be known; got {keys.type}.")
        keys = [keys[i] for i in range(keys.type.shape[0])]
    tensors = [as_tensor_variable(key) for key in keys]
    if not tensors:
        raise TypeError("lexsort needs at least one key.")
    order = argsort(tensors[0], axis, "stable")
    for key in tensors[1:]:
        order = _along(order, argsort(_along(key, order, axis), axis, "stable"), axis)
    return order


def _along(x: TensorVariable, positions: TensorVariable, axis: int) -> TensorVariable:
    ndim = x.type.ndim
    (axis,) = normalize_axes(axis, ndim)
    index = [
        positions if k == axis else arange(x.shape[k]).dimshuffle([0 if i == k else "x" for i in range(ndim)])
        for k in range(ndim)
    ]
    return x[tuple(index)]


def unique_counts(x: TensorLike) -> list[TensorVariable]:
    """Return the unique elements in ascending order, and their numbers of occurrences."""
    return unique(x, return_counts=True)


def unique_inverse(x: TensorLike) -> list[TensorVariable]:
    """Return the unique elements in ascending order, and for each element of `x` its position among them."""
    x = as_tensor_variable(x)
    values, inverse = unique(x, return_inverse=True)
    return [values, inverse.reshape(x.shape, ndim=x.type.ndim)]


def ldexp(x1: TensorLike, x2: TensorLike) -> TensorVariable:
    """``x1 * 2**x2`` for integers `x2`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.ldexp([1.5], [4]).eval()
    array([24.])
    """
    x1, x2 = as_tensor_variable(x1), as_tensor_variable(x2)
    if x2.type.dtype not in discrete_dtypes:
        raise TypeError(f"ldexp: the powers of 2 must be integers; got {describe(x2)} of type {x2.type}.")
    x1 = x1.astype(np.promote_types(x1.type.dtype, "float32").name) if x1.type.dtype in discrete_dtypes else x1
    # Multiply twice, because the power may overflow where the product does not.
    half = x2 // 2
    return mul(mul(x1, exp2(half.astype(x1.type.dtype))), exp2((x2 - half).astype(x1.type.dtype)))
