"""Indexing tensors: ``x[...]``, `set_subtensor`, `inc_subtensor`, `take`."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from aesara.graph.messages import describe, operand_text
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import clip
from aesara.tensor.indexing.index_shapes import (
    FULL_SLICE,
)
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.shapes.dimshuffle import DimShuffle, dimshuffle
from aesara.tensor.shapes.reshape import Reshape, reshape, shape, shape_padleft
from aesara.tensor.shapes.specify_shape import specify_broadcastable

__all__ = ["inc_subtensor", "set_subtensor", "take"]


def set_subtensor(
    x: TensorVariable, y: TensorLike, inplace: bool = False, tolerate_inplace_aliasing: bool = False
) -> TensorVariable:
    """Return a tensor with a part of it replaced.

    Parameters
    ----------
    x
        The part: an indexed tensor, such as ``r[10:]``.
    y
        The value; it broadcasts to the part.
    inplace
        Do not use: it lets the computation write to the tensor.
    tolerate_inplace_aliasing
        Whether `x` and `y` may share memory when `inplace` is true.

    Returns
    -------
    TensorVariable
        The whole tensor.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> r = at.vector("r")
    >>> set_subtensor(r[10:], 5.0).ndim
    1
    """
    return inc_subtensor(
        x,
        y,
        inplace,
        set_instead_of_inc=True,
        tolerate_inplace_aliasing=tolerate_inplace_aliasing,
    )


def inc_subtensor(
    x: TensorVariable,
    y: TensorLike,
    inplace: bool = False,
    set_instead_of_inc: bool = False,
    tolerate_inplace_aliasing: bool = False,
    ignore_duplicates: bool = False,
) -> TensorVariable:
    """Return a tensor with a value added to a part of it.

    Entries that an index names several times are added to several times.

    Parameters
    ----------
    x
        The part: an indexed tensor, such as ``r[10:]`` or ``r[[0, 0, 1]]``.
    y
        The value; it broadcasts to the part.
    inplace
        Do not use: it lets the computation write to the tensor.
    set_instead_of_inc
        Whether the part is replaced instead.
    tolerate_inplace_aliasing
        Whether `x` and `y` may share memory when `inplace` is true.
    ignore_duplicates
        Whether entries that are named several times are added to once.

    Returns
    -------
    TensorVariable
        The whole tensor.

    Raises
    ------
    TypeError
        If `x` is not an indexed tensor, or `y` does not fit.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> r = at.vector("r")
    >>> inc_subtensor(r[[0, 0, 1]], 1.0).ndim
    1
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if y.type.ndim > x.type.ndim:
        raise TypeError(
            f"Trying to increment a {x.type.ndim}-dimensional subtensor with a {y.type.ndim}-dimensional value."
        )
    write = _Writing(inplace, set_instead_of_inc, tolerate_inplace_aliasing, ignore_duplicates)
    if x.owner is None:
        raise TypeError(_no_part(x, write))
    # A dimension of size 1 of the part requires size 1 of the value.
    n_new = x.type.ndim - y.type.ndim
    ones = [axis for axis, known in enumerate(y.type.shape) if x.type.shape[n_new + axis] == 1 and known != 1]
    if ones:
        y = specify_broadcastable(y, *ones)
    return write_to_result(x.owner.op, x, y, write)


class _Writing:
    """Options of `inc_subtensor`, checked."""

    __slots__ = ("ignore_duplicates", "inplace", "set_instead_of_inc", "tolerate_aliasing")

    def __init__(self, inplace, set_instead_of_inc, tolerate_aliasing, ignore_duplicates):
        if tolerate_aliasing and not inplace:
            raise ValueError("`tolerate_inplace_aliasing` makes sense with `inplace` only.")
        self.inplace = inplace
        self.set_instead_of_inc = set_instead_of_inc
        self.tolerate_aliasing = tolerate_aliasing
        self.ignore_duplicates = ignore_duplicates

    def again(self, x: TensorVariable, y: TensorVariable) -> TensorVariable:
        """Write `y` to the part `x` in the same way."""
        return inc_subtensor(
            x,
            y,
            self.inplace,
            self.set_instead_of_inc,
            self.tolerate_aliasing,
            self.ignore_duplicates,
        )


@singledispatch
def write_to_result(op: Op, x: TensorVariable, y: TensorVariable, write: _Writing) -> TensorVariable:
    """Return the tensor that `x`, computed by `op`, is a part of, with `y` written there."""
    raise TypeError(_no_part(x, write))


def _no_part(x: TensorVariable, write: _Writing) -> str:
    """Return the error message for a tensor that is not a part of another one."""
    text = f"x must be the result of a subtensor operation; got {describe(x)}."
    function = "set_subtensor" if write.set_instead_of_inc else "inc_subtensor"
    if x.type.ndim == 0:
        return f"{text} A scalar has no parts: use the new value itself, or `switch` to choose one."
    return (
        f"{text} Give the part that is written to: `{operand_text(x)}[i]`, or the whole, as in "
        f"`{function}({operand_text(x)}[:], value)`."
    )


@write_to_result.register(Subtensor)
def _write_to_subtensor(op, x, y, write):
    tensor, *scalars = x.owner.inputs
    writer = IncSubtensor(
        op.idx_list,
        write.inplace,
        write.set_instead_of_inc,
        destroyhandler_tolerate_aliased=[(0, 1)] if write.tolerate_aliasing else [],
    )
    return writer(tensor, y, *scalars)


@write_to_result.register(AdvancedSubtensor1)
def _write_to_advanced_subtensor1(op, x, y, write):
    tensor, positions = x.owner.inputs
    if write.ignore_duplicates:
        return _write_to_advanced_subtensor(op, x, y, write)
    return AdvancedIncSubtensor1(write.inplace, write.set_instead_of_inc)(tensor, y, positions)


@write_to_result.register(AdvancedSubtensor)
def _write_to_advanced_subtensor(op, x, y, write):
    tensor, *index = x.owner.inputs
    writer = AdvancedIncSubtensor(write.inplace, write.set_instead_of_inc, write.ignore_duplicates)
    return writer(tensor, y, *index)


@write_to_result.register(DimShuffle)
def _write_to_dimshuffle(op, x, y, write):
    """Write to a part with reordered dimensions, by reordering those of the value."""
    (inner,) = x.owner.inputs
    y = shape_padleft(y, x.type.ndim - y.type.ndim) if y.type.ndim < x.type.ndim else y
    new = [axis for axis, entry in enumerate(op.new_order) if entry == "x"]
    if new:
        y = specify_broadcastable(y, *new)
    back: list[Any] = ["x"] * inner.type.ndim
    for axis, entry in enumerate(op.new_order):
        if entry != "x":
            back[entry] = axis
    y = dimshuffle(y, back)
    if new and not _is_part(inner):
        # The index is that of all of `inner` with new dimensions.
        return write.again(inner[...], y)
    written = write.again(inner, y)
    # `written` is the tensor that `inner` is a part of. Dimensions are new, or dropped, in the part only; their
    # order is that of the tensor, too, if it has as many.
    is_permutation = not new and len(op.new_order) == inner.type.ndim
    if is_permutation and written.type.ndim == inner.type.ndim:
        return op(written)
    return written


def _is_part(x: TensorVariable) -> bool:
    """Return whether `x` is a part of a tensor that can be written to."""
    return x.owner is not None and write_to_result.dispatch(type(x.owner.op)) is not write_to_result.dispatch(Op)


@write_to_result.register(Reshape)
def _write_to_reshape(op, x, y, write):
    """Write to a part that was reshaped: reshape the value back."""
    inner = x.owner.inputs[0]
    if y.type.ndim > 0:
        if y.type.ndim < x.type.ndim or y.type.broadcastable != x.type.broadcastable:
            y = alloc(y, *(shape(x)[axis] for axis in range(x.type.ndim)))
        y = reshape(y, shape(inner), ndim=inner.type.ndim)
    return write.again(inner, y)


def take(a: TensorLike, indices: Any, axis: int | None = None, mode: str | None = "raise") -> TensorVariable:
    """Take entries along a dimension; see `numpy.take`.

    Parameters
    ----------
    a
        The tensor.
    indices
        Integers; the result has their dimensions in place of the one indexed.
    axis
        The dimension; by default the flattened tensor is indexed.
    mode
        What happens to positions out of range: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> take(at.matrix("a"), [0, 2], axis=1).type.shape
    (None, 2)
    """
    a = as_tensor_variable(a)
    indices = as_tensor_variable(indices)
    if mode not in ("raise", "wrap", "clip", None):
        raise ValueError(f"`mode` must be 'raise' (or None), 'wrap' or 'clip'; got {mode!r}.")
    if axis is None:
        a, axis = reshape(a, (-1,)), 0
    if not -a.type.ndim <= axis < a.type.ndim:
        raise IndexError(f"axis {axis} is out of bounds [-{a.type.ndim}, {a.type.ndim})")
    axis %= a.type.ndim
    if mode == "clip":
        indices = clip(indices, 0, a.shape[axis] - 1)
    elif mode == "wrap":
        indices = indices % a.shape[axis]
    return a[(FULL_SLICE,) * axis + (indices,)]
