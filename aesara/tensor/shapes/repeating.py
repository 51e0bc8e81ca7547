"""Repeating entries, dropping dimensions, selecting by a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.core.constant_value import known_entries, known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc, zeros
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import eq, switch
from aesara.tensor.indexing.inc_subtensor import set_subtensor, take
from aesara.tensor.indexing.nonzero import flatnonzero
from aesara.tensor.indexing.subtensor_advanced import advanced_inc_subtensor1
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.rearranging import flatten, normalize_axes, sizes_of
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.shapes.shape import shape

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = ["compress", "repeat", "squeeze"]


class Repeat(Op):
    """The repetition of each entry along a dimension.

    Inputs are the tensor and the number of repetitions: an integer, or one for each entry.

    Parameters
    ----------
    axis
        The dimension; None for the flattened tensor.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Repeat(axis=0)(at.matrix("x"), at.lvector("n")).ndim
    2
    """

    __props__ = ("axis",)

    def __init__(self, axis: int | None = None):
        self.axis = axis

    def make_node(self, x: Any, repeats: Any) -> Apply:
        x, repeats = as_tensor_variable(x), as_tensor_variable(repeats)
        if repeats.type.dtype not in integer_dtypes:
            raise TypeError(f"The numbers of repetitions must be integers; got {repeats.type}.")
        if repeats.type.ndim > 1:
            raise ValueError(f"The numbers of repetitions must be a scalar or a vector; got {repeats.type}.")
        static_shape: list[int | None]
        if self.axis is None:
            axis, static_shape = 0, [None if None in x.type.shape else int(np.prod(x.type.shape))]
        else:
            (axis,) = normalize_axes(self.axis, x.type.ndim)
            static_shape = list(x.type.shape)
        static_shape[axis] = _static_length(static_shape[axis], repeats)
        return Apply(self, [x, repeats], [tensor_type(x.type.dtype, tuple(static_shape))()])

    def perform(self, node, inputs, output_storage):
        x, repeats = inputs
        counts = np.asarray(repeats).astype(np.intp)
        n_entries = x.size if self.axis is None else x.shape[self.axis]
        # NumPy does not check this product and sum for overflow, and would write out of bounds.
        total = counts.sum(dtype="float64") * (n_entries if counts.size == 1 else 1)
        if total * x.nbytes > 2.0**62 * max(n_entries, 1):
            raise ValueError(f"repeat: {total:.3g} entries are too many.")
        output_storage[0][0] = np.repeat(x, counts, axis=self.axis)

    def infer_shape(self, fgraph, node, input_shapes):
        x_shape, _ = input_shapes
        repeats = node.inputs[1]
        known = node.outputs[0].type.shape
        if self.axis is None:
            axis, sizes = 0, [as_tensor_variable(np.array(1, dtype="int64"))]
            for length in x_shape:
                sizes[0] = sizes[0] * length
        else:
            axis, sizes = self.axis % len(x_shape), list(x_shape)
        if known[axis] is not None:
            sizes[axis] = as_tensor_variable(np.array(known[axis], dtype="int64"))
        else:
            total = repeats.astype("int64").sum()
            if repeats.type.shape in ((), (1,)):
                sizes[axis] = sizes[axis] * total
            elif repeats.type.shape == (None,):
                # A single number is used for all entries.
                sizes[axis] = switch(eq(shape(repeats)[0], 1), sizes[axis] * total, total)
            else:
                sizes[axis] = total
        return [tuple(sizes)]

    def connection_pattern(self, node):
        return [[True], [False]]

    def grad(self, inputs, output_gradients):
        x, repeats = inputs
        (g_out,) = output_gradients
        if x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype="floatX"), DisconnectedType()()]
        if self.axis is None:
            g_entries, g_repeats = Repeat(0).grad([flatten(x), repeats], output_gradients)
            return [reshape(g_entries, shape(x), ndim=x.type.ndim), g_repeats]
        axis = self.axis % x.type.ndim
        # The entry of `x` that each entry of the output is a copy of.
        source = Repeat(0)(arange(x.shape[axis]), repeats)
        order = [axis, *(i for i in range(x.type.ndim) if i != axis)]
        back = [order.index(i) for i in range(x.type.ndim)]
        summed = advanced_inc_subtensor1(dimshuffle(x.zeros_like(), order), dimshuffle(g_out, order), source)
        return [dimshuffle(summed, back), DisconnectedType()()]

    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else self(eval_points[0], inputs[1])]


def _static_length(length: int | None, repeats: TensorVariable) -> int | None:
    """Return the static length after repetition, or None."""
    if repeats.type.ndim == 0:
        count = known_integer(repeats)
    else:
        (n_counts,) = repeats.type.shape
        if n_counts not in (None, 1) and length is not None and n_counts != length:
            raise ValueError(
                f"There must be one number of repetitions, or one for each entry: expected {length}, got {n_counts}."
            )
        entries = known_entries(repeats)
        if entries is None:
            return None
        counts = [entry for entry in entries if entry is not None]
        if len(counts) < len(entries):
            return None
        if len(counts) != 1:
            return _not_negative(counts)
        (count,) = counts
    if count is None:
        return 0 if length == 0 else None
    if not _not_negative([count]):
        return 0
    return None if length is None else count * length


def _not_negative(counts: Sequence[int]) -> int:
    if any(count < 0 for count in counts):
        raise ValueError(f"Numbers of repetitions cannot be negative; got {list(counts)}.")
    return sum(counts)


def repeat(x: TensorLike, repeats: TensorLike, axis: int | None = None) -> TensorVariable:
    """Repeat each entry; see `numpy.repeat`.

    Parameters
    ----------
    x
        The tensor.
    repeats
        How often: an integer, or a vector with one for each entry; may be symbolic.
    axis
        The dimension; by default the flattened tensor is repeated.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> repeat(at.tensor("float64", shape=(2, 3)), 2, axis=1).type.shape
    (2, 6)
    """
    x, repeats = as_tensor_variable(x), as_tensor_variable(repeats)
    if repeats.type.ndim > 1:
        raise ValueError("The dimension of `repeats` should not exceed 1.")
    if repeats.type.dtype not in integer_dtypes:
        raise TypeError(f"`repeats` must be integers; got {repeats.type}.")
    if repeats.type.ndim == 1 and not repeats.type.broadcastable[0]:
        return Repeat(axis)(x, repeats)
    if repeats.type.ndim == 1:
        repeats = repeats[0]
    if axis is None:
        x, axis = flatten(x), 0
    (axis,) = normalize_axes(axis, x.type.ndim)
    # Repeat along a new dimension and merge it with the preceding one.
    sizes = sizes_of(x)
    spread = dimshuffle(x, [*range(axis + 1), "x", *range(axis + 1, x.type.ndim)])
    filled = alloc(spread, *sizes[: axis + 1], repeats, *sizes[axis + 1 :])
    # The new length may not fit the dtype of `repeats`.
    count = repeats.data.item() if hasattr(repeats, "data") else repeats.astype("int64")
    return reshape(filled, [*sizes[:axis], sizes[axis] * count, *sizes[axis + 1 :]], ndim=x.type.ndim)


def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    """Drop dimensions of size one.

    Parameters
    ----------
    x
        The tensor.
    axis
        The dimensions; by default all that are known to have size one.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> squeeze(at.row("x")).ndim
    1
    """
    x = as_tensor_variable(x)
    if axis is None:
        axes: Sequence[int] = [i for i, known in enumerate(x.type.broadcastable) if known]
    else:
        if x.type.ndim == 0 and axis in (0, -1, (0,), (-1,), [0], [-1]):
            return x  # as in NumPy
        axes = normalize_axes(axis, x.type.ndim)
    if not axes:
        return x
    return dimshuffle(x, [i for i in range(x.type.ndim) if i not in axes])


def compress(condition: TensorLike, x: TensorLike, axis: int | None = None) -> TensorVariable:
    """Select the slices of a tensor for which a condition holds; see `numpy.compress`.

    Parameters
    ----------
    condition
        A vector of truth values.
    x
        The tensor.
    axis
        The dimension; by default the flattened tensor is used.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> compress([0, 1, 1], at.matrix("x"), axis=0).ndim
    2
    """
    if not isinstance(condition, Variable):
        condition = np.asarray(condition)
    condition = as_tensor_variable(condition)
    if condition.type.ndim != 1:
        raise ValueError(f"`condition` must be a vector; got {condition.type}.")
    return take(x, flatnonzero(condition), axis=axis)


def to_one_hot(y: TensorLike, nb_class: Any, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return a matrix with a one in each row, in the column that `y` names.

    Parameters
    ----------
    y
        A vector of integers from 0 to ``nb_class - 1``.
    nb_class
        The number of columns.
    dtype
        ``floatX`` by default.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> to_one_hot(at.lvector("y"), 4).type.shape
    (None, 4)
    """
    y = as_tensor_variable(y)
    rows = zeros((y.shape[0], nb_class), dtype=config.floatX if dtype is None else dtype)
    return set_subtensor(rows[arange(y.shape[0]), y], 1)
