"""Indexing by integers and slices: taking a part of a tensor, and writing to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.type import Type
from aesara.tensor.core.constant_value import (
    constant_of_output,
    entries_of_output,
    known_entries,
    known_integer,
)
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import TemplateEntry, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.indexing.index_facts import check_static_index, static_slice_length
from aesara.tensor.indexing.index_forms import (
    as_nontensor_scalar,
    get_slice_elements,
    index_vars_to_types,
    indices_from_subtensor,
)
from aesara.tensor.indexing.index_shapes import basic_shape
from aesara.tensor.shapes.repeated import gradient_of_value
from aesara.tensor.shapes.shape import Shape

__all__ = ["IncSubtensor", "Subtensor"]


def _template_key(idx_list: Sequence[TemplateEntry]) -> tuple:
    """Return a template in a form that can be hashed."""
    return tuple(
        (slice, entry.start, entry.stop, entry.step) if isinstance(entry, slice) else entry for entry in idx_list
    )


def _part_text(part: TemplateEntry) -> str:
    return "" if part is None else str(part)


def template_text(idx_list: Sequence[TemplateEntry]) -> str:
    """Return a template as it is printed.

    Examples
    --------
    >>> template_text([slice(None)])
    '::'
    """
    return ", ".join(
        f"{_part_text(e.start)}:{_part_text(e.stop)}:{_part_text(e.step)}" if isinstance(e, slice) else str(e)
        for e in idx_list
    )


def _is_type(part: TemplateEntry) -> bool:
    return isinstance(part, Type)


class _TemplateOp(Op):
    """Base of the ops with a basic index: the template of the index."""

    idx_list: Sequence[TemplateEntry]

    def _set_template(self, idx_list: Sequence[TemplateEntry]) -> None:
        self._key = _template_key(idx_list)
        self._scalar_types = get_slice_elements(idx_list, _is_type)

    def _indices(self, x: TensorVariable, scalars: Sequence[Any]) -> list[TensorVariable]:
        """Return the scalars of an index as variables, checked against the template."""
        if len(self.idx_list) > x.type.ndim:
            raise IndexError(
                f"too many indices for array: {describe(x)} has {x.type.ndim} dimension(s), but {len(self.idx_list)} "
                "are indexed"
            )
        scalars = [as_nontensor_scalar(scalar) for scalar in scalars]
        if len(scalars) != len(self._scalar_types):
            raise IndexError(
                f"The template {template_text(self.idx_list)} takes "
                f"{len(self._scalar_types)} scalar(s); got {len(scalars)}."
            )
        for scalar, expected in zip(scalars, self._scalar_types):
            if scalar.type != expected:
                raise TypeError(f"Wrong type for the Subtensor template: expected {expected}, got {scalar.type}.")
        return scalars

    def _static_shape(self, shape: Sequence[int | None], scalars: Sequence[TensorLike]) -> tuple[int | None, ...]:
        """Return the static shape of the part."""
        result = []
        index = indices_from_subtensor(scalars, self.idx_list)
        for dimension, (size, entry) in enumerate(zip(shape, index)):
            if isinstance(entry, slice):
                result.append(static_slice_length(entry, size))
            else:
                check_static_index(entry, size, dimension)
        return (*result, *shape[len(index) :])

    def _index(self, scalars: Sequence[Any]) -> tuple[Any, ...]:
        """Return the NumPy index, given the values of its scalars; it selects a view."""
        index = indices_from_subtensor([int(s) for s in scalars], self.idx_list)
        return (*index, ...)


class Subtensor(_TemplateOp):
    """A part of a tensor, as a view, by integers and slices.

    Inputs are the tensor and the scalars of the index that are not None, in order.

    Parameters
    ----------
    idx_list
        The template of the index, an entry for each indexed dimension: the type of a
        scalar for an integer, or a slice of such types and None.  Scalars stand for
        their types.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.matrix("x")[1:, 0].owner.op
    Subtensor{int64::, int64}
    """

    view_map = {0: [0]}
    check_input = False

    def __init__(self, idx_list: Sequence[Any]):
        self.idx_list = tuple(index_vars_to_types(entry) for entry in idx_list)
        self._set_template(self.idx_list)
        self._hash = hash((type(self), self._key))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def digest_facts(self) -> tuple[object, ...]:
        return (self.idx_list,)

    def __reduce__(self):
        return type(self), (self.idx_list,)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{template_text(self.idx_list)}}}"

    __repr__ = __str__

    @staticmethod
    def str_from_slice(entry: slice) -> str:
        """Return a slice of a template as it is printed."""
        return template_text([entry])

    def make_node(self, x: Any, *inputs: Any) -> Apply:
        x = as_tensor_variable(x)
        scalars = self._indices(x, inputs)
        static_shape = self._static_shape(x.type.shape, scalars)
        output = tensor_type(x.type.dtype, static_shape)()
        return Apply(self, [x, *scalars], [output])

    def perform(self, node, inputs, output_storage):
        x, *scalars = inputs
        output_storage[0][0] = np.asarray(x[self._index(scalars)])

    def infer_shape(self, fgraph, node, input_shapes):
        sizes = input_shapes[0]
        index = indices_from_subtensor(node.inputs[1:], self.idx_list)
        return [known_sizes((*basic_shape(sizes, index), *sizes[len(index) :]), node.outputs[0].type.shape)]

    def connection_pattern(self, node):
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    def grad(self, inputs, output_gradients):
        return gradient_of_part(inputs, output_gradients[0], IncSubtensor(self.idx_list))

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self(eval_points[0], *inputs[1:], return_list=True)


class IncSubtensor(_TemplateOp):
    """Write to, or add to, a part of a tensor given by integers and slices.

    Inputs are the tensor, the value, which broadcasts to the part, and the scalars of
    the index.  The output is the whole tensor with the part changed.

    Parameters
    ----------
    idx_list
        The template of the index; see `Subtensor`.
    inplace
        Whether the memory of the tensor is written to.
    set_instead_of_inc
        Whether the value is written; it is added otherwise.
    destroyhandler_tolerate_aliased
        Pairs of input positions that may share memory all the same.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.set_subtensor(at.vector("x")[0], 3.0).owner.op
    IncSubtensor{Set;int64}
    """

    check_input = False

    def __init__(
        self,
        idx_list: Sequence[Any],
        inplace: bool = False,
        set_instead_of_inc: bool = False,
        destroyhandler_tolerate_aliased: Sequence[tuple[int, int]] | None = None,
    ):
        self.idx_list = [index_vars_to_types(entry) for entry in idx_list]
        self._set_template(self.idx_list)
        self.inplace = bool(inplace)
        self.set_instead_of_inc = bool(set_instead_of_inc)
        self.destroyhandler_tolerate_aliased = list(destroyhandler_tolerate_aliased or ())
        if self.inplace:
            self.destroy_map = {0: [0]}
        self._hash = hash((type(self), self._key, self.inplace, self.set_instead_of_inc))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(self) is type(other)
            and self._key == other._key
            and self.inplace == other.inplace
            and self.set_instead_of_inc == other.set_instead_of_inc
        )

    def __hash__(self) -> int:
        return self._hash

    def digest_facts(self) -> tuple[object, ...]:
        return self.idx_list, self.inplace, self.set_instead_of_inc, self.destroyhandler_tolerate_aliased

    def __reduce__(self):
        return type(self), (
            self.idx_list,
            self.inplace,
            self.set_instead_of_inc,
            self.destroyhandler_tolerate_aliased,
        )

    def __str__(self) -> str:
        kind = ("Inplace" if self.inplace else "") + ("Set" if self.set_instead_of_inc else "Inc")
        return f"{type(self).__name__}{{{kind};{template_text(self.idx_list)}}}"

    __repr__ = __str__

    def make_node(self, x: Any, y: Any, *inputs: TensorLike) -> Apply:
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        check_value(x, y, self.set_instead_of_inc)
        if y.type.ndim > x.type.ndim:
            raise ValueError(
                f"Trying to increment a part of a tensor of {x.type.ndim} dimension(s) with a value of {y.type.ndim}."
            )
        scalars = self._indices(x, inputs)
        check_value_shape(y, self._static_shape(x.type.shape, scalars), self.set_instead_of_inc)
        return Apply(self, [x, y, *scalars], [x.type()])

    def perform(self, node, inputs, output_storage):
        x, y, *scalars = inputs
        out = x if self.inplace and x.flags.writeable else np.array(x)
        part = out[self._index(scalars)]
        if self.set_instead_of_inc:
            part[...] = y
        else:
            # Add in the dtype of the tensor, as advanced indexing does: the sum of Booleans is a Boolean.
            np.add(part, np.asarray(y).astype(out.dtype, copy=False), out=part)
        output_storage[0][0] = out

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0]]

    def connection_pattern(self, node):
        return [[True], [True], *[[False]] * (len(node.inputs) - 2)]

    def grad(self, inputs, output_gradients):
        x, y, *scalars = inputs
        (g_out,) = output_gradients
        if x.type.dtype in discrete_dtypes:
            # The result is discrete too.
            g_x, g_y = x.zeros_like(dtype="floatX"), y.zeros_like(dtype="floatX")
        else:
            g_x = g_out
            if self.set_instead_of_inc:
                zero = constant(np.zeros((), dtype=g_out.type.dtype))
                op = IncSubtensor(self.idx_list, set_instead_of_inc=True)
                g_x = op(g_out, zero, *scalars)
            if y.type.dtype in discrete_dtypes:
                g_y = y.zeros_like(dtype="floatX")
            else:
                g_y = gradient_of_value(y, Subtensor(self.idx_list)(g_out, *scalars))
        return [g_x, g_y, *(DisconnectedType()() for _ in scalars)]

    def R_op(self, inputs, eval_points):
        x_point, y_point = eval_points[:2]
        if x_point is None and y_point is None:
            return [None]
        x_point = inputs[0].zeros_like() if x_point is None else x_point
        y_point = inputs[1].zeros_like() if y_point is None else y_point
        return self(x_point, y_point, *inputs[2:], return_list=True)


def check_value(x: TensorVariable, y: TensorVariable, is_set: bool) -> None:
    """Check that a value of the dtype of `y` can be written, or added, to `x`.

    Raises
    ------
    TypeError
        If not.
    """
    if y.type.dtype in complex_dtypes and x.type.dtype not in complex_dtypes:
        raise TypeError(
            f"Trying to write a value of dtype {y.type.dtype} to a part of a tensor of "
            f"dtype {x.type.dtype}: choose `real`, `imag` or `abs` of the value."
        )
    if not is_set and x.type.dtype in discrete_dtypes and y.type.dtype not in discrete_dtypes:
        raise TypeError(
            f"Trying to increment a part of a tensor of dtype {x.type.dtype} with a "
            f"value of dtype {y.type.dtype}: cast one of them."
        )


def check_value_shape(y: TensorVariable, part_shape: Sequence[int | None], is_set: bool) -> None:
    """Check the static shapes of a value and of the part of a tensor that is set or incremented.

    Raises
    ------
    ValueError
        If the value cannot broadcast to the part.
    """
    for size, wanted in zip(reversed(y.type.shape), reversed(part_shape)):
        if size is not None and size != 1 and wanted is not None and size != wanted:
            verb = "set" if is_set else "increment"
            raise ValueError(
                f"Cannot {verb} a part of shape {tuple(part_shape)} with a value of shape {y.type.shape}: "
                f"expected size {wanted} or 1, got {size}. The value has to broadcast to the part."
            )


def known_sizes(sizes: Sequence[TensorVariable], static_shape: Sequence[int | None]) -> tuple[TensorVariable, ...]:
    """Return the sizes of a result, with constants for static lengths."""
    return tuple(size if known is None else constant(known, dtype="int64") for size, known in zip(sizes, static_shape))


def gradient_of_part(inputs: Sequence[TensorVariable], gradient: TensorVariable, increment: Op) -> list[Variable]:
    """Return the gradients for a tensor and for an index, given that of the indexed part.

    `increment` adds the gradient to zeros at the index.
    """
    x, *index = inputs
    if x.type.dtype in discrete_dtypes:
        g_x = x.zeros_like(dtype="floatX")
    else:
        g_x = increment(x.zeros_like(), gradient, *index)
    return [g_x, *[DisconnectedType()() for _ in index]]


@entries_of_output.register(Subtensor)
def _entries_of_subtensor(op, node, depth):
    x, *scalars = node.inputs
    if x.type.ndim != 1 or not op.idx_list:
        return None
    index = _known_index(scalars, op.idx_list)
    entries = known_entries(x, depth - 1) if x.type.dtype in discrete_dtypes else None
    return None if entries is None or index is None else entries[index]


@entries_of_output.register(IncSubtensor)
def _entries_of_inc_subtensor(op, node, depth):
    x, y, *scalars = node.inputs
    if not op.set_instead_of_inc or x.type.ndim != 1 or not op.idx_list or x.type.dtype not in discrete_dtypes:
        return None
    index = _known_index(scalars, op.idx_list)
    entries = known_entries(x, depth - 1)
    if entries is None or index is None:
        return None
    written: list[int | None] = [None]
    if y.type.dtype in discrete_dtypes:
        written = [known_integer(y, depth - 1)] if y.type.ndim == 0 else known_entries(y, depth - 1) or [None]
    positions = np.arange(len(entries))[index].reshape(-1)
    for k, position in enumerate(positions):
        entries[position] = written[k if len(written) == len(positions) else 0] if len(written) > 0 else None
    return entries


def _known_index(scalars: Sequence[TensorLike], idx_list: Sequence[TemplateEntry]) -> int | slice | None:
    """Return an index of a vector, None if it is not known."""
    (entry,) = indices_from_subtensor(scalars, idx_list)
    if not isinstance(entry, slice):
        return known_integer(entry)
    parts = [None if part is None else known_integer(part) for part in (entry.start, entry.stop, entry.step)]
    bounds = (entry.start, entry.stop, entry.step)
    return None if any(k is None and p is not None for k, p in zip(parts, bounds)) else slice(*parts)


@constant_of_output.register(Subtensor)
def _constant_of_subtensor(op, node, output, max_recur):
    x, *scalars = node.inputs
    if output.type.ndim != 0 or len(scalars) != x.type.ndim:
        return None
    index = [known_integer(scalar, max_recur - 1) for scalar in scalars] if max_recur > 0 else [None]
    if None in index:
        return None
    if isinstance(x, Constant):
        return np.asarray(x.data[tuple(index)])
    if x.type.ndim != 1 or x.owner is None:
        return None
    (position,) = index
    if isinstance(x.owner.op, Shape):
        shape = x.owner.inputs[0].type.shape
        return shape[position] if -len(shape) <= position < len(shape) else None
    if isinstance(x.owner.op, MakeVector):
        return x.owner.inputs[position]
    entries = known_entries(x, max_recur - 1) if x.type.dtype in discrete_dtypes else None
    if entries is None or not -len(entries) <= position < len(entries):
        return None
    return entries[position]
