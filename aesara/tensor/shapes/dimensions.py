"""Merging and splitting of dimensions, and functions of shapes with NumPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import entries_of
from aesara.tensor.elementwise.ops import and_, eq, invert, or_
from aesara.tensor.indexing.nonzero import nonzero
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.reductions.all_any import all as all_true
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.shapes.broadcasting import broadcast_to
from aesara.tensor.shapes.rearranging import flatten, normalize_axes, sizes_of, transpose
from aesara.tensor.shapes.reshape import reshape, shape_padleft, shape_padright

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = [
    "argwhere",
    "array_equal",
    "astype",
    "concat",
    "count_nonzero",
    "join_dims",
    "meshgrid",
    "ndim",
    "pack",
    "permute_dims",
    "ravel",
    "size",
    "split_dims",
    "unpack",
]

concat = concatenate
permute_dims = transpose


def _product(sizes: Sequence[Any]) -> Any:
    """Return the product of lengths, symbolic if one of them is."""
    total: Any = int(np.prod([n for n in sizes if isinstance(n, int)], dtype="int64"))
    for n in sizes:
        if not isinstance(n, int):
            total = n if isinstance(total, int) and total == 1 else total * n
    return total


def join_dims(x: TensorLike, start_axis: int = 0, n_axes: int | None = None) -> TensorVariable:
    """Make one dimension of consecutive ones.

    Parameters
    ----------
    x
        The tensor.
    start_axis
        The first of the dimensions.
    n_axes
        How many; by default all that follow. None at all give a dimension of
        length 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.join_dims(at.tensor("float64", (2, 3, 4, 5)), 1, 2).type.shape
    (2, 12, 5)
    """
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    if not -ndim <= start_axis <= ndim:
        raise np.exceptions.AxisError(f"start_axis {start_axis} is out of bounds for a tensor of dimension {ndim}")
    start = start_axis + ndim if start_axis < 0 else start_axis
    n_axes = ndim - start if n_axes is None else n_axes
    if n_axes < 0 or start + n_axes > ndim:
        raise ValueError(
            f"join_dims: {describe(x)} of type {x.type} has no {n_axes} dimensions from number {start} on."
        )
    sizes = sizes_of(x)
    joined = [*sizes[:start], _product(sizes[start : start + n_axes]), *sizes[start + n_axes :]]
    return reshape(x, joined, ndim=len(joined))


def split_dims(x: TensorLike, shape: Any, axis: int = 0) -> TensorVariable:
    """Make several dimensions of one.

    Parameters
    ----------
    x
        The tensor.
    shape
        The lengths of the new dimensions, whose product is that of the old one;
        entries may be symbolic, one may be -1.
    axis
        The dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.split_dims(at.tensor("float64", (6, 4)), (2, 3)).type.shape
    (2, 3, 4)
    """
    x = as_tensor_variable(x)
    (axis,) = normalize_axes(axis, x.type.ndim)
    if isinstance(shape, Variable) and shape.type.ndim:
        if shape.type.shape[0] is None:
            raise ValueError(f"split_dims: the number of new dimensions must be known; got {shape.type}.")
        shape = entries_of(shape, shape.type.shape[0])
    new = list(shape) if isinstance(shape, (list, tuple, np.ndarray)) else [shape]
    new = [int(n) if isinstance(n, np.integer) else n for n in new]
    sizes = sizes_of(x)
    known = [n for n in new if isinstance(n, int)]
    size = sizes[axis]
    if len(known) == len(new) and isinstance(size, int):
        _check_split(x, new, axis, size)
        rest = int(np.prod([n for n in new if n != -1], dtype="int64"))
        new = [size // rest if n == -1 else n for n in new]
    elif -1 in known:
        rest = _product([n for n in new if not (isinstance(n, int) and n == -1)])
        new = [size // rest if isinstance(n, int) and n == -1 else n for n in new]
    result = [*sizes[:axis], *new, *sizes[axis + 1 :]]
    return reshape(x, result, ndim=len(result))


def _check_split(x: TensorVariable, new: list[int], axis: int, length: int) -> None:
    rest = int(np.prod([n for n in new if n != -1], dtype="int64"))
    fits = rest and length % rest == 0 if -1 in new else rest == length
    if new.count(-1) > 1 or any(n < -1 for n in new) or not fits:
        raise ValueError(f"split_dims: a dimension of length {length} cannot become {new}; axis {axis} of {x.type}.")


def pack(*tensors: Any, keep_axes: int | Sequence[int] | None = None) -> tuple[TensorVariable, list[tuple[Any, ...]]]:
    """Concatenate tensors of any shapes, with all but some of their dimensions merged.

    Parameters
    ----------
    tensors
        The tensors.
    keep_axes
        Dimensions that stay; they must be of the same length in all tensors,
        and be the first or the last ones (negative).

    Returns
    -------
    packed
        The joined tensor.
    shapes
        The shapes of the dimensions that were made one, for `unpack`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> packed, shapes = at.pack(at.tensor("float64", (2, 3)), at.tensor("float64", (4,)))
    >>> packed.type.shape
    (10,)
    >>> [part.type.shape for part in at.unpack(packed, shapes)]
    [(2, 3), (4,)]
    """
    variables = [as_tensor_variable(t) for t in tensors]
    if not variables:
        raise ValueError("pack needs at least one tensor.")
    front, back = _kept_at_ends(keep_axes)
    parts, shapes = [], []
    for t in variables:
        if t.type.ndim < front + back:
            raise ValueError(
                f"pack: {describe(t)} of type {t.type} has too few dimensions to keep {front + back} of them."
            )
        n_axes = t.type.ndim - front - back
        shapes.append(tuple(sizes_of(t)[front : front + n_axes]))
        parts.append(join_dims(t, front, n_axes))
    return concatenate(parts, axis=front), shapes


def unpack(
    packed: TensorLike, packed_shapes: Sequence[Any], keep_axes: int | Sequence[int] | None = None
) -> list[TensorVariable]:
    """Return the tensors that `pack` has concatenated.

    Parameters
    ----------
    packed
        The joined tensor.
    packed_shapes
        The shapes that `pack` returned.
    keep_axes
        The same as for `pack`.
    """
    packed = as_tensor_variable(packed)
    front, _ = _kept_at_ends(keep_axes)
    before = (slice(None),) * front
    parts, begin = [], 0
    for shape in packed_shapes:
        if isinstance(shape, Variable):
            shape = entries_of(shape, shape.type.shape[0])
        length = _product(list(shape))
        part = packed[(*before, slice(begin, begin + length))]
        sizes = sizes_of(packed)
        full = [*sizes[:front], *shape, *sizes[front + 1 :]]
        parts.append(reshape(part, full, ndim=len(full)))
        begin = begin + length
    return parts


def _kept_at_ends(keep_axes: int | Sequence[int] | None) -> tuple[int, int]:
    """Return the numbers of first and last dimensions that are kept."""
    axes = [] if keep_axes is None else [keep_axes] if isinstance(keep_axes, int) else sorted(keep_axes)
    front = [k for k in axes if k >= 0]
    back = [k for k in axes if k < 0]
    if front != list(range(len(front))) or back != list(range(-len(back), 0)):
        raise ValueError(
            f"keep_axes must name the first dimensions (0, 1, ...) or the last ones (-1, ...); got {axes}."
        )
    return len(front), len(back)


def ravel(a: TensorLike) -> TensorVariable:
    """The elements of a tensor as a vector."""
    return flatten(a)


def ndim(a: TensorLike) -> int:
    """The number of dimensions."""
    return as_tensor_variable(a).type.ndim


def size(a: TensorLike, axis: int | None = None) -> TensorVariable:
    """The number of elements, or the length of an axis.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.size([[1, 2, 3], [4, 5, 6]]).eval()
    array(6)
    """
    a = as_tensor_variable(a)
    sizes = sizes_of(a)
    if axis is None:
        total = _product(sizes)
    else:
        total = sizes[normalize_axes(axis, a.type.ndim)[0]]
    return constant(np.int64(total)) if isinstance(total, int) else total


def astype(x: TensorLike, dtype: DTypeLike) -> TensorVariable:
    """The tensor in another dtype."""
    return as_tensor_variable(x).astype(dtype)


def count_nonzero(a: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> TensorVariable:
    """Count the nonzero elements along axes.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.count_nonzero([[0, 1, 7], [0, 0, 2]], axis=0).eval()
    array([0, 1, 2])
    """
    a = as_tensor_variable(a)
    return sum_along(a if a.type.dtype == "bool" else a.astype("bool"), axis=axis, keepdims=keepdims, dtype="int64")


def argwhere(a: TensorLike) -> TensorVariable:
    """The positions of the elements that are not zero: a row for each, with a column for each dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.argwhere([[0, 1], [2, 0]]).eval()
    array([[0, 1],
           [1, 0]])
    """
    a = as_tensor_variable(a)
    if a.type.ndim == 0:
        return argwhere(shape_padleft(a))[:, :0]
    return concatenate([shape_padright(positions) for positions in nonzero(a)], axis=1)


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> TensorVariable:
    """Return whether two tensors have the same shape and equal elements.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.array_equal([1, 2], [1, 2]).eval()
    array(True)
    """
    a1, a2 = as_tensor_variable(a1), as_tensor_variable(a2)
    if a1.type.ndim != a2.type.ndim or any(
        n is not None and m is not None and n != m for n, m in zip(a1.type.shape, a2.type.shape)
    ):
        return constant(np.array(False))
    # Cut both to the length of the shorter one, so that the comparison is valid also if shapes differ.
    same_shape: TensorVariable = constant(np.array(True))
    if None in a1.type.shape or None in a2.type.shape:
        same_shape = all_true(eq(a1.shape, a2.shape))
        a1, a2 = flatten(a1), flatten(a2)
        a1, a2 = a1[: a2.shape[0]], a2[: a1.shape[0]]
    same = eq(a1, a2)
    if equal_nan:
        same = or_(same, _both_nan(a1, a2))
    return and_(same_shape, all_true(same))


def _both_nan(a1: TensorVariable, a2: TensorVariable) -> TensorVariable:
    return and_(invert(eq(a1, a1)), invert(eq(a2, a2)))


def meshgrid(*xi: TensorLike, indexing: str = "xy", sparse: bool = False) -> list[TensorVariable]:
    """Tensors of coordinates from vectors of coordinates; see `numpy.meshgrid`.

    Parameters
    ----------
    xi
        The vectors.
    indexing
        "xy" for matrices whose rows are along the second vector, "ij" for
        dimensions in the order of the vectors.
    sparse
        Leave dimensions that would only repeat at length 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x, y = at.meshgrid([1, 2, 3], [10, 20])
    >>> y.eval()
    array([[10, 10, 10],
           [20, 20, 20]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid: indexing must be "xy" or "ij"; got {indexing!r}.')
    vectors = [flatten(as_tensor_variable(x)) for x in xi]
    n = len(vectors)
    axes_of_grids = list(range(n))
    if indexing == "xy" and n > 1:
        axes_of_grids[0], axes_of_grids[1] = 1, 0
    grids = [
        v.dimshuffle([0 if k == axis_of_grid else "x" for k in range(n)])
        for v, axis_of_grid in zip(vectors, axes_of_grids)
    ]
    if sparse or n < 2:
        return grids
    lengths = [sizes_of(vectors[axes_of_grids.index(k)])[0] for k in range(n)]
    return [broadcast_to(grid, lengths) for grid in grids]
