"""Joining tensors along a dimension, and splitting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import aesara.scalar as aes
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe, operand_text
from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import entries_of_output, known_entries, known_integer
from aesara.tensor.core.conversion import _as_tensor_variable, as_tensor_variable, constant, contains_variable
from aesara.tensor.core.dtypes import discrete_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, ShapeLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.make_vector import vector_of
from aesara.tensor.elementwise.ops import eq, gradient_as, switch
from aesara.tensor.shapes.reshape import shape_padaxis
from aesara.tensor.shapes.shape import shape
from aesara.tensor.shapes.specify_shape import specify_shape
from aesara.user_code import warn_user

__all__ = ["concatenate", "horizontal_stack", "join", "split", "stack", "stacklists", "vertical_stack"]


_MOST_NAMED = 6  # tensors in a message


class Join(Op):
    """The concatenation of tensors along a dimension.

    Inputs are the dimension (an integer scalar) and the tensors, which have the same lengths in all other dimensions;
    there is no broadcasting.

    Parameters
    ----------
    view
        If not -1, the position of a tensor that is returned as it is when all others
        are empty.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Join()(0, at.vector("x"), at.vector("y")).ndim
    1
    """

    __props__ = ("view",)
    check_input = False

    def __init__(self, view: int = -1):
        self.view = view
        if view != -1:
            # Positions without the first input, which is the axis.
            self.view_map = {0: [1 + view]}

    def __str__(self) -> str:
        return "Join" if self.view == -1 else f"Join{{view={self.view}}}"

    def make_node(self, axis: Any, *tensors: Any) -> Apply:
        if not tensors:
            raise ValueError("Cannot join an empty list of tensors.")
        tensors = tuple([as_tensor_variable(tensor) for tensor in tensors])
        ndims = {tensor.type.ndim for tensor in tensors}
        if 0 in ndims:
            raise TypeError("Join cannot handle scalars. Use `stack` to join scalar values.")
        if len(ndims) > 1:
            raise TypeError(_different_ranks(tensors, known_integer(axis)))
        ndim = ndims.pop()
        axis, known_axis = _as_axis(axis, ndim, "Join")
        static_shape = self._static_shape(known_axis, ndim, tensors)
        dtype = aes.upcast(*(tensor.type.dtype for tensor in tensors))
        return Apply(self, [axis, *tensors], [tensor_type(dtype, static_shape)()])

    @staticmethod
    def _static_shape(known_axis, ndim, tensors) -> tuple[int | None, ...]:
        if known_axis is None:
            return (None,) * ndim
        static_shape = []
        for axis in range(ndim):
            sizes = [tensor.type.shape[axis] for tensor in tensors]
            if axis == known_axis:
                static_shape.append(None if None in sizes else sum(sizes))
                continue
            known = set(sizes) - {None}
            if len(known) > 1:
                raise ValueError(
                    f"Cannot join tensors of shapes {[t.type.shape for t in tensors]} "
                    f"along axis {known_axis}: their sizes differ in dimension {axis}. "
                    "All sizes but those along the axis have to be equal."
                )
            static_shape.append(known.pop() if known else None)
        return tuple(static_shape)

    def perform(self, node, inputs, output_storage):
        axis, *tensors = inputs
        axis, ndim = int(axis), tensors[0].ndim
        if not -ndim <= axis < ndim:
            raise IndexError(f"Join axis {axis} out of bounds [-{ndim}, {ndim})")
        if self.view != -1 and all(
            tensor.shape[axis] == 0 for position, tensor in enumerate(tensors) if position != self.view
        ):
            output_storage[0][0] = tensors[self.view]
            return
        dtype = node.outputs[0].type.dtype
        joined = np.concatenate(tensors, axis=axis)
        output_storage[0][0] = joined.astype(dtype, copy=False)

    def infer_shape(self, fgraph, node, input_shapes):
        axis_variable, *_ = node.inputs
        _, *shapes = input_shapes
        static_shape = node.outputs[0].type.shape
        ndim = len(static_shape)
        known_axis = known_integer(axis_variable)
        sizes = []
        for axis in range(ndim):
            if static_shape[axis] is not None:
                sizes.append(constant(static_shape[axis], dtype="int64"))
            elif known_axis is None:
                joined = eq(axis_variable, axis) | eq(axis_variable, axis - ndim)
                sizes.append(switch(joined, _total(shapes, axis), shapes[0][axis]))
            elif axis == known_axis % ndim:
                sizes.append(_total(shapes, axis))
            else:
                sizes.append(shapes[0][axis])
        return [tuple(sizes)]

    def grad(self, inputs, output_gradients):
        axis, *tensors = inputs
        (g_out,) = output_gradients
        g_axis = grad_undefined(self, 0, axis)
        dtypes = [tensor.type.dtype for tensor in tensors]
        if aes.upcast(*dtypes) in discrete_dtypes:
            return [g_axis, *(tensor.zeros_like(dtype="floatX") for tensor in tensors)]
        lengths = vector_of([shape(tensor)[axis] for tensor in tensors])
        parts = Split(len(tensors))(g_out, axis, lengths)
        if len(tensors) == 1:
            parts = [parts]
        gradients = [_like(piece, tensor) for piece, tensor in zip(parts, tensors)]
        return [g_axis, *gradients]

    def R_op(self, inputs, eval_points):
        if all(point is None for point in eval_points[1:]):
            return [None]
        points = [tensor.zeros_like() if point is None else point for tensor, point in zip(inputs[1:], eval_points[1:])]
        return self(inputs[0], *points, return_list=True)


join_ = Join()


def _like(gradient: TensorVariable, tensor: TensorVariable) -> TensorVariable:
    """Return a gradient with the dtype and the static shape of its tensor."""
    dtype = tensor.type.dtype
    if dtype not in discrete_dtypes:
        gradient = gradient_as(gradient, dtype)
    return specify_shape(gradient, tensor.type.shape)


def _total(shapes: Sequence[Sequence[TensorVariable]], axis: int) -> TensorVariable:
    total = shapes[0][axis]
    for sizes in shapes[1:]:
        total = total + sizes[axis]
    return total


def _different_ranks(tensors: Sequence[TensorVariable], axis: int | None) -> str:
    """Return the error message for joining tensors with different numbers of dimensions."""
    ranks = [f"{describe(tensor)} has {tensor.type.ndim}" for tensor in tensors[:_MOST_NAMED]]
    if len(tensors) > len(ranks):
        ranks.append("...")
    text = (
        "Only tensors with the same number of dimensions can be joined; "
        f"got {[tensor.type.ndim for tensor in tensors]}: {', '.join(ranks)}."
    )
    ndim = max(tensor.type.ndim for tensor in tensors)
    short = next(tensor for tensor in tensors if tensor.type.ndim < ndim)
    if short.type.ndim < ndim - 1 or not -ndim <= (axis or 0) < ndim:
        return f"{text} Add dimensions of length 1 by `x[None]` or `x.dimshuffle(...)`."
    index = [":"] * short.type.ndim
    index.insert((axis or 0) % ndim, "None")
    return f"{text} Add a dimension of length 1, as in `{operand_text(short)}[{', '.join(index)}]`."


def _as_axis(axis: Any, ndim: int, user: str) -> tuple[TensorVariable, int | None]:
    """Return a dimension as a symbolic scalar, and as an integer if it is known."""
    known = known_integer(axis)
    if known is None:
        axis = as_tensor_variable(axis)
        if axis.type.ndim != 0 or axis.type.dtype not in discrete_dtypes:
            raise TypeError(f"{user} needs an integer scalar as axis; got {axis.type}.")
        return axis, None
    if not -ndim <= known < ndim:
        raise np.exceptions.AxisError(f"Axis value {known} is out of range for {ndim} dimension(s).")
    return constant(known % ndim), known % ndim


@entries_of_output.register(Join)
def _entries_of_join(op, node, depth):
    if node.outputs[0].type.ndim != 1:
        return None
    parts = [known_entries(vector, depth - 1) for vector in node.inputs[1:]]
    if None in parts:
        return None
    return [entry for part in parts for entry in part]


class Split(Op):
    """The parts of a tensor along a dimension, with given sizes.

    Inputs are the tensor, the dimension and a vector of sizes.

    Parameters
    ----------
    len_splits
        The number of pieces.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> first, rest = Split(2)(at.vector("x"), 0, [1, 3])
    >>> rest.type.shape
    (3,)
    """

    __props__ = ("len_splits",)

    def __init__(self, len_splits: int):
        self.len_splits = int(len_splits)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.len_splits}}}"

    def make_node(self, x: Any, axis: Any, splits: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.type.ndim == 0:
            raise TypeError("A scalar cannot be split.")
        axis, known_axis = _as_axis(axis, x.type.ndim, "Split")
        splits = as_tensor_variable(splits)
        if splits.type.ndim != 1 or splits.type.dtype not in integer_dtypes:
            raise TypeError(
                f"The sizes of the pieces must be a vector of integers; got {describe(splits)} of type {splits.type}."
            )
        sizes = known_entries(splits) or [None] * self.len_splits
        if len(sizes) != self.len_splits:
            raise ValueError(f"Split into {self.len_splits} pieces got {len(sizes)} sizes.")
        if known_axis is None:
            shapes = [(None,) * x.type.ndim] * self.len_splits
        else:
            self.check_sizes(x.type.shape[known_axis], sizes)
            shapes = [(*x.type.shape[:known_axis], size, *x.type.shape[known_axis + 1 :]) for size in sizes]
        outputs = [tensor_type(x.type.dtype, piece)() for piece in shapes]
        return Apply(self, [x, axis, splits], outputs)

    def check_sizes(self, length: int | None, sizes: Sequence[int | None]) -> None:
        """Raise an error if the sizes do not add up to the length of the dimension, as far as they are known."""
        if len(sizes) != self.len_splits:
            raise ValueError(f"Split: expected {self.len_splits} sizes, got {len(sizes)}.")
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            return
        if min(known, default=0) < 0:
            raise ValueError(f"Split: sizes cannot be negative; got {known}.")
        if length is not None and sum(known) != length:
            raise ValueError(f"Split: the sizes {known} sum up to {sum(known)}; expected {length}.")

    def perform(self, node, inputs, output_storage):
        x, axis, splits = inputs
        axis = int(axis)
        self.check_sizes(x.shape[axis], [int(size) for size in splits])
        borders = np.cumsum(splits[:-1], dtype="int64")
        for storage, piece in zip(output_storage, np.split(x, borders, axis=axis)):
            storage[0] = piece.copy()

    def infer_shape(self, fgraph, node, input_shapes):
        _, axis, splits = node.inputs
        x_shape = input_shapes[0]
        known_axis = known_integer(axis)
        shapes = []
        for position in range(self.len_splits):
            if known_axis is None:
                piece = [
                    switch(eq(axis, dim) | eq(axis, dim - len(x_shape)), splits[position], size)
                    for dim, size in enumerate(x_shape)
                ]
            else:
                piece = list(x_shape)
                piece[known_axis] = splits[position]
            shapes.append(tuple(piece))
        return shapes

    def L_op(self, inputs, outputs, output_gradients):
        x, axis, splits = inputs
        if all(isinstance(g.type, DisconnectedType) for g in output_gradients):
            g_x = DisconnectedType()()
        else:
            parts = [
                out.zeros_like(dtype="floatX" if out.type.dtype in discrete_dtypes else None)
                if isinstance(g.type, DisconnectedType)
                else g
                for out, g in zip(outputs, output_gradients)
            ]
            g_x = specify_shape(join(axis, *parts), x.type.shape)
        return [g_x, grad_undefined(self, 1, axis), grad_undefined(self, 2, splits)]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None] * self.len_splits
        return self(eval_points[0], *inputs[1:], return_list=True)


def join(axis: IntegerLike, *tensors_list: TensorLike) -> TensorVariable:
    """Concatenate tensors along a dimension.

    Parameters
    ----------
    axis
        The dimension; may be symbolic, negative numbers count from the end.
    tensors_list
        Tensors of the same size in all other dimensions.

    Returns
    -------
    TensorVariable
        The tensor itself when there is only one.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> join(1, at.matrix("x"), at.matrix("y")).ndim
    2
    """
    if len(tensors_list) == 1:
        return as_tensor_variable(tensors_list[0])
    return join_(axis, *tensors_list)


def concatenate(tensor_list: Sequence[Any], axis: Any = 0, *, dtype: Any = None) -> TensorVariable:
    """Concatenate tensors along a dimension; see `join`.

    Parameters
    ----------
    tensor_list
        A list or tuple of tensors.
    axis
        The dimension; None flattens the tensors first.
    dtype
        The dtype of the result; by default the one they promote to.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> concatenate([at.vector("x"), [1.0, 2.0]]).ndim
    1
    """
    if not isinstance(tensor_list, (tuple, list)):
        raise TypeError(
            "`concatenate` needs a list or a tuple of tensors; "
            f"got {tensor_list}. Did you forget the brackets around the arguments?"
        )
    if axis is None:
        tensor_list, axis = [as_tensor_variable(tensor).reshape((-1,)) for tensor in tensor_list], 0
    if dtype is not None:
        tensor_list = [cast(tensor, dtype) for tensor in tensor_list]
    return join(axis, *tensor_list)


def split(
    x: TensorLike, splits_size: ShapeLike, n_splits: int, axis: IntegerLike = 0
) -> list[TensorVariable] | TensorVariable:
    """Split a tensor along a dimension into parts of given sizes.

    Parameters
    ----------
    x
        The tensor.
    splits_size
        The sizes of the pieces; may be symbolic.
    n_splits
        The number of pieces.
    axis
        The dimension.

    Returns
    -------
    list of TensorVariable
        The pieces; a single variable when `n_splits` is one.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> a, b = split(at.vector("x"), [2, 3], 2)
    >>> a.type.shape
    (2,)
    """
    return Split(n_splits)(x, axis, splits_size)


def stack(*tensors: TensorLike, **kwargs: Any) -> TensorVariable:
    """Stack tensors of the same shape along a new dimension.

    Parameters
    ----------
    tensors
        A list or tuple of tensors.
    axis
        The position of the new dimension in the result.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> stack([at.matrix("x"), at.matrix("y")], axis=1).type.shape
    (None, 2, None)
    """
    unknown = set(kwargs) - {"axis", "tensors"}
    if unknown:
        raise TypeError(f"`stack` got unknown argument(s) {sorted(unknown)}.")
    if "tensors" in kwargs:
        tensors = (kwargs["tensors"], *tensors)
    axis = kwargs.get("axis", 0)
    if not tensors:
        raise ValueError("No tensor arguments provided: `stack` needs at least one.")
    if isinstance(tensors[0], (list, tuple)):
        if len(tensors) == 2 and "axis" not in kwargs:
            axis = tensors[1]
        elif len(tensors) > 1:
            raise TypeError("`stack` takes one list of tensors and an axis.")
        tensors = tuple(tensors[0])
    else:
        warn_user("stack(*tensors) is deprecated: use stack([tensors], axis=0).", DeprecationWarning)
    if not tensors:
        raise ValueError("No tensor arguments provided: `stack` needs at least one.")
    return _stack([as_tensor_variable(tensor) for tensor in tensors], axis)


def _stack(tensors: list[TensorVariable], axis: int) -> TensorVariable:
    ndims = {tensor.type.ndim for tensor in tensors}
    if len(ndims) > 1:
        raise ValueError(
            f"Only tensors of the same shape can be stacked; got {[tensor.type.ndim for tensor in tensors]} dimensions."
        )
    ndim = ndims.pop() + 1
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds [-{ndim}, {ndim})")
    if ndim == 1:
        return vector_of(tensors)
    axis = int(axis) % ndim
    return join(axis, *(shape_padaxis(tensor, axis) for tensor in tensors))


def stacklists(arg: Any) -> TensorVariable:
    """Stack nested lists of tensors to one tensor with one more dimension per level.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.scalar("x")
    >>> stacklists([[x, x, 1], [x, 2, x]]).type.shape
    (2, 3)
    """
    if isinstance(arg, (tuple, list)):
        return stack([stacklists(entry) for entry in arg])
    return arg


def horizontal_stack(*args: Any) -> TensorVariable:
    """Concatenate matrices along the second dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> horizontal_stack(at.matrix("x"), at.matrix("y")).ndim
    2
    """
    return concatenate(_matrices(args), axis=1)


def vertical_stack(*args: Any) -> TensorVariable:
    """Concatenate matrices along the first dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> vertical_stack(at.matrix("x"), at.matrix("y")).ndim
    2
    """
    return concatenate(_matrices(args), axis=0)


def _matrices(args: Sequence[TensorLike]) -> list[TensorVariable]:
    if len(args) < 2:
        raise ValueError(f"Expected at least two matrices, got {len(args)}.")
    matrices = [as_tensor_variable(matrix) for matrix in args]
    for matrix in matrices:
        if matrix.type.ndim != 2:
            raise ValueError(f"All arguments must have two dimensions; {describe(matrix)} has {matrix.type.ndim}.")
    return matrices


@_as_tensor_variable.register(list)
@_as_tensor_variable.register(tuple)
def _as_tensor_from_sequence(x, name, ndim, dtype=None, **kwargs) -> TensorVariable:
    if not contains_variable(x):
        return constant(x, name=name, ndim=ndim, dtype=dtype)
    if all(isinstance(entry, Constant) for entry in x):
        return constant([entry.data for entry in x], name=name, ndim=ndim, dtype=dtype)
    tensor = _stack([as_tensor_variable(entry) for entry in x], 0)
    if dtype is not None:
        tensor = cast(tensor, dtype)
    if ndim is not None:
        tensor = as_tensor_variable(tensor, ndim=ndim)
    if name is not None:
        tensor.name = name
    return tensor
