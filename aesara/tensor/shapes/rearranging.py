"""The same entries in another arrangement: flattening, moving axes, rolling, tiling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import ShapeLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import le, maximum
from aesara.tensor.joining.join_split import join
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.reshape import reshape, shape_padleft, shape_padright
from aesara.tensor.shapes.shape import shape

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "atleast_Nd",
    "expand_dims",
    "flatten",
    "is_flat",
    "moveaxis",
    "roll",
    "swapaxes",
    "tile",
    "transpose",
]


def normalize_axes(axes: int | Sequence[int], ndim: int, name: str = "axis") -> tuple[int, ...]:
    """Return dimensions counted from the front, each at most once.

    Raises
    ------
    ValueError
        If one is out of range (as `numpy.exceptions.AxisError`) or there twice.

    Examples
    --------
    >>> normalize_axes(-1, 3)
    (2,)
    """
    if isinstance(axes, (int, np.integer)):
        axes = (axes,)
    normalized = []
    for axis in axes:
        if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
            raise TypeError(f"{name} must be an integer; got {axis!r}.")
        if not -ndim <= axis < ndim:
            raise np.exceptions.AxisError(f"{name} {axis} is out of bounds for a tensor of dimension {ndim}")
        normalized.append(int(axis) % ndim)
    if len(set(normalized)) != len(normalized):
        raise ValueError(f"Repeated {name} in {tuple(axes)}.")
    return tuple(normalized)


def sizes_of(x: TensorVariable) -> list[int | TensorVariable]:
    """Return the sizes of `x`: integers if they are static, else symbolic.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> sizes_of(at.tensor("float64", shape=(None, 3)))[1]
    3
    """
    if None not in x.type.shape:
        known_sizes: Any = x.type.shape
        return list(known_sizes)
    symbolic = shape(x)
    return [symbolic[i] if known is None else known for i, known in enumerate(x.type.shape)]


def flatten(x: Any, ndim: int | None = 1) -> TensorVariable:
    """Join the last dimensions of a tensor to one, in C order.

    Parameters
    ----------
    x
        The tensor.
    ndim
        The number of dimensions of the result; the first ``ndim - 1`` are kept.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> flatten(at.tensor("float64", shape=(None, 2, 3)), 2).type.shape
    (None, 6)
    """
    x = as_tensor_variable(x)
    ndim = 1 if ndim is None else ndim
    if ndim < 1 or (ndim > 1 and x.type.ndim < ndim):
        raise ValueError(f"ndim {ndim} out of bound [1, {x.type.ndim + 1})")
    joined = x.type.shape[ndim - 1 :]
    last = -1 if None in joined else int(np.prod(joined, dtype="int64"))
    return reshape(x, [*sizes_of(x)[: ndim - 1], last], ndim=ndim)


def is_flat(var: TensorVariable, ndim: int | None = None, outdim: int | None = None) -> bool:
    """Return whether `var` has the number of dimensions that `flatten` would return.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> is_flat(at.vector("x"))
    True
    """
    if ndim is None:
        ndim = 1 if outdim is None else outdim
    elif outdim is not None:
        raise ValueError("You should only specify `ndim`, not `outdim`, its old name.")
    return var.ndim == ndim


def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> TensorVariable:
    """Return a view with the dimensions in another order.

    Parameters
    ----------
    x
        The tensor.
    axes
        For each dimension of the result, which dimension of `x` it is; by default
        the order is reversed.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> transpose(at.tensor("float64", shape=(2, 3))).type.shape
    (3, 2)
    """
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    backwards = tuple(range(ndim - 1, -1, -1))
    order = backwards if axes is None else normalize_axes(axes, ndim, "axes")
    if len(order) != ndim:
        raise ValueError(f"`axes` must name all {ndim} dimensions; got {axes}.")
    result = dimshuffle(x, order)
    if x.name and result is not x and order == backwards:
        result.name = x.name + ".T"
    return result


def moveaxis(a: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> TensorVariable:
    """Move dimensions to other positions; the others stay in order.

    Parameters
    ----------
    a
        The tensor.
    source
        The dimensions to move.
    destination
        Where each of them goes.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> moveaxis(at.tensor("float64", shape=(2, 3, 4)), 0, -1).type.shape
    (3, 4, 2)
    """
    a = as_tensor_variable(a)
    ndim = a.type.ndim
    source = normalize_axes(source, ndim, "source")
    destination = normalize_axes(destination, ndim, "destination")
    if len(source) != len(destination):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements; "
            f"got {len(source)} and {len(destination)}."
        )
    order = [axis for axis in range(ndim) if axis not in source]
    for target, axis in sorted(zip(destination, source)):
        order.insert(target, axis)
    return dimshuffle(a, order)


def swapaxes(y: TensorLike, axis1: int, axis2: int) -> TensorVariable:
    """Exchange two dimensions.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> swapaxes(at.tensor("float64", shape=(2, 3, 4)), 0, 2).type.shape
    (4, 3, 2)
    """
    y = as_tensor_variable(y)
    ndim = y.type.ndim
    (axis1,), (axis2,) = normalize_axes(axis1, ndim), normalize_axes(axis2, ndim)
    order = list(range(ndim))
    order[axis1], order[axis2] = axis2, axis1
    return dimshuffle(y, order)


def expand_dims(a: TensorLike, axis: int | Sequence[int]) -> TensorVariable:
    """Add dimensions of size one.

    Parameters
    ----------
    a
        The tensor.
    axis
        The positions of the new dimensions in the result.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> expand_dims(at.matrix("a"), (0, 2)).type.shape
    (1, None, 1, None)
    """
    a = as_tensor_variable(a)
    n_new = 1 if isinstance(axis, (int, np.integer)) else len(axis)
    ndim = a.type.ndim + n_new
    new = normalize_axes(axis, ndim)
    old = iter(range(a.type.ndim))
    return dimshuffle(a, ["x" if i in new else next(old) for i in range(ndim)])


def atleast_Nd(*arys: TensorLike, n: int = 1, left: bool = True) -> TensorVariable | list[TensorVariable]:
    """Add dimensions of size one until there are at least `n`.

    Parameters
    ----------
    arys
        Tensors.
    n
        The number of dimensions.
    left
        Whether they are added at the front; at the end otherwise.

    Returns
    -------
    TensorVariable, or a list of them when there are several arguments

    Examples
    --------
    >>> import aesara.tensor as at
    >>> atleast_Nd(at.vector("x"), n=3).type.shape
    (1, 1, None)
    """
    results = []
    for array in arys:
        tensor = as_tensor_variable(array)
        missing = n - tensor.type.ndim
        if missing > 0:
            pad = shape_padleft if left else shape_padright
            tensor = pad(tensor, missing)
        results.append(tensor)
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys: TensorLike, left: bool = True) -> TensorVariable | list[TensorVariable]:
    """Add a dimension to scalars; see `atleast_Nd`."""
    return atleast_Nd(*arys, n=1, left=left)


def atleast_2d(*arys: TensorLike, left: bool = True) -> TensorVariable | list[TensorVariable]:
    """Add dimensions until there are at least two; see `atleast_Nd`."""
    return atleast_Nd(*arys, n=2, left=left)


def atleast_3d(*arys: TensorLike, left: bool = True) -> TensorVariable | list[TensorVariable]:
    """Add dimensions until there are at least three; see `atleast_Nd`."""
    return atleast_Nd(*arys, n=3, left=left)


def roll(x: TensorLike, shift: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    """Shift the entries along a dimension cyclically.

    Parameters
    ----------
    x
        The tensor.
    shift
        By how many places; may be symbolic, negative or larger than the size.
        For several dimensions: one number, or one for each of them.
    axis
        The dimension, or several; by default the flattened tensor is shifted.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> roll(at.vector("x"), 1).ndim
    1
    """
    x = as_tensor_variable(x)
    if axis is None:
        if x.type.ndim != 1:
            return reshape(roll(flatten(x), shift, axis=0), shape(x), ndim=x.type.ndim)
        axis = 0
    if isinstance(axis, (tuple, list)) or isinstance(shift, (tuple, list)):
        axes = axis if isinstance(axis, (tuple, list)) else [axis]
        shifts = shift if isinstance(shift, (tuple, list)) else [shift]
        n = max(len(axes), len(shifts))
        if len(axes) not in (1, n) or len(shifts) not in (1, n):
            raise ValueError(f"roll needs as many shifts as axes; got {len(shifts)} and {len(axes)}.")
        for by, along in zip(list(shifts) * (n // len(shifts)), list(axes) * (n // len(axes))):
            x = roll(x, by, along)
        return x
    (axis,) = normalize_axes(axis, x.type.ndim)
    size = sizes_of(x)[axis]
    if isinstance(size, int) and isinstance(shift, (int, np.integer)):
        split_at = size - int(shift) % size if size else 0
    else:
        # At least 1, to avoid a division by 0 if the tensor is empty.
        split_at = size - shift % maximum(size, 1)
    before = (slice(None),) * axis
    return join(axis, x[(*before, slice(split_at, None))], x[(*before, slice(None, split_at))])


def tile(x: TensorLike, reps: ShapeLike, ndim: int | None = None) -> TensorVariable:
    """Repeat a tensor as a whole along its dimensions; see `numpy.tile`.

    Parameters
    ----------
    x
        The tensor.
    reps
        How often along each dimension: an integer, a sequence of integers (which may
        be symbolic), or a symbolic vector.
    ndim
        The number of dimensions of the result; necessary only if the length of a
        symbolic `reps` is not known. A shorter one is for the last dimensions.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> tile(at.vector("x"), (2, 1)).type.shape
    (2, None)
    """
    x = as_tensor_variable(x)
    repetitions = _repetitions(reps, ndim)
    if ndim is None:
        ndim = max(len(repetitions), x.type.ndim)
    if ndim < max(len(repetitions), x.type.ndim):
        raise ValueError(
            f"`ndim` must be at least {max(len(repetitions), x.type.ndim)}, the larger of "
            f"the length of `reps` and the dimensions of `x`; got {ndim}."
        )
    repetitions = [1] * (ndim - len(repetitions)) + repetitions
    if ndim > x.type.ndim:
        x = shape_padleft(x, ndim - x.type.ndim)
    sizes = sizes_of(x)
    pairs = [entry for pair in zip(repetitions, sizes) for entry in pair]
    spread = x.dimshuffle([entry for axis in range(ndim) for entry in ("x", axis)])
    lengths = [_in_int64(r) * size for r, size in zip(repetitions, sizes)]
    return reshape(alloc(spread, *pairs), lengths, ndim=ndim)


def _in_int64(count: Any) -> Any:
    """Convert a count to int64, as its product with a length may not fit a smaller dtype."""
    if isinstance(count, np.integer):
        return int(count)
    return count.astype("int64") if isinstance(count, TensorVariable) and count.type.dtype in integer_dtypes else count


def _repetitions(reps: ShapeLike, ndim: int | None) -> list[Any]:
    if isinstance(reps, (int, np.integer)):
        return [int(reps)]
    if isinstance(reps, (list, tuple)):
        entries = list(reps)
    else:
        reps = as_tensor_variable(reps)
        if reps.type.dtype[:3] not in ("int", "uin"):
            raise ValueError(f"`reps` must be integers; got {reps.type}.")
        if reps.type.ndim == 0:
            return [reps]
        if reps.type.ndim != 1:
            raise ValueError(f"`reps` must be a scalar or a vector; got {reps.type}.")
        try:
            length = get_vector_length(reps)
        except ValueError as error:
            if ndim is None:
                raise ValueError("The length of the vector `reps` is not known: specify `ndim`.") from error
            length, n_repetitions = ndim, shape(reps)[0]
            check = Assert(f"tile: `reps` must have at most as many elements as `ndim` says: {ndim}.")
            missing = check(ndim - n_repetitions, le(n_repetitions, ndim))
            reps = join(0, alloc(np.ones((), reps.type.dtype), missing), reps)
        return [reps[i] for i in range(length)]
    for entry in entries:
        if isinstance(entry, (int, np.integer)):
            continue
        if not (isinstance(entry, Variable) and np.dtype(entry.type.dtype).kind in "iu"):
            raise ValueError(f"The elements of `reps` must be integer scalars; got {entry!r}.")
    return entries
