"""Indexing by tensors: taking entries of a tensor, and writing to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph import hooks
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import discrete_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import switch
from aesara.tensor.exceptions import NotScalarConstantError, ShapeError
from aesara.tensor.indexing.distinct_positions import have_distinct_positions, is_last_write
from aesara.tensor.indexing.index_facts import static_indexed_shape
from aesara.tensor.indexing.index_forms import as_index_variable
from aesara.tensor.indexing.index_shapes import check_advanced_indexing_dimensions, indexed_result_shape
from aesara.tensor.indexing.subtensor_basic import check_value, check_value_shape, gradient_of_part, known_sizes
from aesara.tensor.shapes.repeated import gradient_of_value

__all__ = [
    "AdvancedIncSubtensor",
    "AdvancedIncSubtensor1",
    "AdvancedSubtensor",
    "AdvancedSubtensor1",
    "advanced_inc_subtensor",
    "advanced_inc_subtensor1",
    "advanced_inc_subtensor_nodup",
    "advanced_set_subtensor",
    "advanced_set_subtensor1",
    "advanced_set_subtensor_nodup",
    "advanced_subtensor",
    "advanced_subtensor1",
]


def _as_positions(ilist: Any) -> TensorVariable:
    """Return the index of an op that takes one vector of integers."""
    ilist = as_tensor_variable(ilist)
    if ilist.type.dtype not in integer_dtypes:
        raise TypeError(f"index must be integers; got {describe(ilist)} of dtype {ilist.type.dtype}.")
    if ilist.type.ndim != 1:
        raise TypeError(f"index must be a vector; got {describe(ilist)} with {ilist.type.ndim} dimension(s).")
    return ilist


def _independent(value: TensorLike, x: np.ndarray) -> np.ndarray:
    """Return `value` as an array that does not share the memory of `x`."""
    value = np.asarray(value)
    return value.copy() if np.may_share_memory(value, x) else value


class AdvancedSubtensor1(Op):
    """The entries along the first dimension at positions given by a vector.

    Parameters
    ----------
    sparse_grad
        Whether the gradient for a matrix is a sparse matrix, which needs `aesara.sparse` to be imported.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> advanced_subtensor1(at.matrix("x"), [0, 2]).type.shape
    (2, None)
    """

    # `sparse_grad` does not change what is computed.
    __props__ = ()
    check_input = False

    def __init__(self, sparse_grad: bool = False):
        self.sparse_grad = sparse_grad

    def make_node(self, x: Any, ilist: Any) -> Apply:
        x = as_tensor_variable(x)
        ilist = _as_positions(ilist)
        if x.type.ndim == 0:
            raise TypeError("A scalar cannot be indexed.")
        static_shape = static_indexed_shape(x.type.shape, [ilist])
        return Apply(self, [x, ilist], [tensor_type(x.type.dtype, static_shape)()])

    def perform(self, node, inputs, output_storage):
        x, positions = inputs
        output_storage[0][0] = x[positions]

    def infer_shape(self, fgraph, node, input_shapes):
        x_shape, (n_positions,) = input_shapes
        return [(n_positions, *x_shape[1:])]

    def connection_pattern(self, node):
        return [[True], [False]]

    def grad(self, inputs, output_gradients):
        if self.sparse_grad:
            x, rows = inputs
            return [hooks.sparse_row_gradient(x, output_gradients[0], rows), DisconnectedType()()]
        return gradient_of_part(inputs, output_gradients[0], advanced_inc_subtensor1)

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self(eval_points[0], inputs[1], return_list=True)


advanced_subtensor1 = AdvancedSubtensor1()


class _AdvancedWriter(Op):
    """Base of the ops that write to entries selected by tensors."""

    def _set_kind(self, inplace: bool, set_instead_of_inc: bool) -> None:
        self.inplace = bool(inplace)
        self.set_instead_of_inc = bool(set_instead_of_inc)
        if self.inplace:
            self.destroy_map = {0: [0]}

    @property
    def _writes_once(self) -> bool:
        """Return whether the last one of several values for a position is used, as opposed to their sum."""
        return self.set_instead_of_inc or getattr(self, "ignore_duplicates", False)

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0]]

    def connection_pattern(self, node):
        return [[True], [True], *[[False]] * (len(node.inputs) - 2)]

    def R_op(self, inputs, eval_points):
        x_point, y_point = eval_points[:2]
        if x_point is None and y_point is None:
            return [None]
        x_point = inputs[0].zeros_like() if x_point is None else x_point
        y_point = inputs[1].zeros_like() if y_point is None else y_point
        return self(x_point, y_point, *inputs[2:], return_list=True)

    def _gradients(self, inputs, g_out, take, write) -> list[TensorVariable]:
        """Return the gradients, given ops that read and set entries.

        Of several values that are set at a position, the last one is used; the gradients of others are zero.
        """
        x, y, *indices = inputs
        disconnected = [DisconnectedType()() for _ in indices]
        if x.type.dtype in discrete_dtypes:
            # The result is discrete too.
            return [x.zeros_like(dtype="floatX"), y.zeros_like(dtype="floatX"), *disconnected]
        g_x = g_out
        if self.set_instead_of_inc:
            g_x = write(g_out, constant(np.zeros((), dtype=g_out.type.dtype)), *indices)
        if y.type.dtype in discrete_dtypes:
            g_y = y.zeros_like(dtype="floatX")
        else:
            g_part = take(g_out, *indices)
            if self._writes_once and not have_distinct_positions(x.type.shape, indices):
                zero = constant(np.zeros((), dtype=g_out.type.dtype))
                g_part = switch(is_last_write(x, indices, take, write), g_part, zero)
            g_y = gradient_of_value(y, g_part)
        return [g_x, g_y, *disconnected]


def _add_at(out: np.ndarray, index: Any, y: TensorLike) -> None:
    """Add `y` at an index with repeated positions.

    The value is broadcast first: `numpy.add.at` reads out of bounds for a vector with an index matrix.
    """
    shape = out[index].shape
    np.add.at(out, index, np.broadcast_to(np.asarray(y).astype(out.dtype, copy=False), shape))


class AdvancedIncSubtensor1(_AdvancedWriter):
    """Write to, or add to, entries along the first dimension given by a vector.

    Inputs are the tensor, the value and the positions.  The output is the whole
    tensor.  A position that occurs several times is added to several times.

    Parameters
    ----------
    inplace
        Whether the memory of the tensor is written to.
    set_instead_of_inc
        Whether the value is written; it is added otherwise.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> advanced_inc_subtensor1(at.vector("x"), 1.0, [0, 0]).ndim
    1
    """

    __props__ = ("inplace", "set_instead_of_inc")
    check_input = False

    def __init__(self, inplace: bool = False, set_instead_of_inc: bool = False):
        self._set_kind(inplace, set_instead_of_inc)

    def clone_inplace(self) -> AdvancedIncSubtensor1:
        """Return the in-place variant of the op."""
        return type(self)(inplace=True, set_instead_of_inc=self.set_instead_of_inc)

    def __str__(self) -> str:
        where = "inplace" if self.inplace else "no_inplace"
        verb = "set" if self.set_instead_of_inc else "inc"
        return f"{type(self).__name__}{{{where},{verb}}}"

    def make_node(self, x: Any, y: Any, ilist: Any) -> Apply:
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        ilist = _as_positions(ilist)
        if x.type.ndim == 0:
            raise TypeError("A scalar cannot be indexed.")
        check_value(x, y, self.set_instead_of_inc)
        if y.type.ndim > x.type.ndim:
            verb = "set" if self.set_instead_of_inc else "increment"
            raise TypeError(f"cannot {verb} x subtensor with ndim={x.type.ndim} by y with ndim={y.type.ndim}.")
        check_value_shape(y, static_indexed_shape(x.type.shape, [ilist]), self.set_instead_of_inc)
        return Apply(self, [x, y, ilist], [x.type()])

    def perform(self, node, inputs, output_storage):
        x, y, positions = inputs
        out = x if self.inplace and x.flags.writeable else np.array(x)
        if self.set_instead_of_inc:
            out[positions] = np.asarray(y, order="C")
        else:
            _add_at(out, positions, y)
        output_storage[0][0] = out

    def grad(self, inputs, output_gradients):
        return self._gradients(inputs, output_gradients[0], advanced_subtensor1, advanced_set_subtensor1)


advanced_inc_subtensor1 = AdvancedIncSubtensor1()
advanced_set_subtensor1 = AdvancedIncSubtensor1(set_instead_of_inc=True)


class AdvancedSubtensor(Op):
    """The entries of a tensor that an index of NumPy's advanced kind names.

    Inputs are the tensor and the parts of the index: integer and Boolean tensors,
    slices and None.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> advanced_subtensor(at.matrix("x"), [0, 2], slice(None)).type.shape
    (2, None)
    """

    __props__ = ()

    def make_node(self, x: Any, *index: Any) -> Apply:
        x = as_tensor_variable(x)
        parts = [as_index_variable(part) for part in index]
        static_shape = static_indexed_shape(x.type.shape, parts)
        return Apply(self, [x, *parts], [tensor_type(x.type.dtype, static_shape)()])

    def perform(self, node, inputs, output_storage):
        x, *index = inputs
        check_advanced_indexing_dimensions(x, index)
        output_storage[0][0] = _independent(x[tuple(index)], x)

    def infer_shape(self, fgraph, node, input_shapes):
        static_shape = node.outputs[0].type.shape
        try:
            sizes = indexed_result_shape(input_shapes[0], node.inputs[1:]) if None in static_shape else static_shape
        except NotScalarConstantError as error:
            raise ShapeError(f"The shape of {node} is known when it is computed: {error}") from error
        return [known_sizes(sizes, static_shape)]

    def connection_pattern(self, node):
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    def grad(self, inputs, output_gradients):
        return gradient_of_part(inputs, output_gradients[0], advanced_inc_subtensor)

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self(eval_points[0], *inputs[1:], return_list=True)


advanced_subtensor = AdvancedSubtensor()


class AdvancedIncSubtensor(_AdvancedWriter):
    """Write to, or add to, the entries that an index of the advanced kind names.

    Inputs are the tensor, the value and the parts of the index; see
    `AdvancedSubtensor`.  The output is the whole tensor.

    Parameters
    ----------
    inplace
        Whether the memory of the tensor is written to.
    set_instead_of_inc
        Whether the value is written; it is added otherwise.
    ignore_duplicates
        Whether entries named several times are added to only once, as NumPy's
        ``x[index] += y`` does.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> advanced_inc_subtensor(at.matrix("x"), 1.0, [0, 0], [1, 1]).ndim
    2
    """

    __props__ = ("inplace", "set_instead_of_inc", "ignore_duplicates")

    def __init__(
        self,
        inplace: bool = False,
        set_instead_of_inc: bool = False,
        ignore_duplicates: bool = False,
    ):
        self._set_kind(inplace, set_instead_of_inc)
        self.ignore_duplicates = bool(ignore_duplicates)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{inplace={self.inplace},  set_instead_of_inc={self.set_instead_of_inc}}}"

    def make_node(self, x: Any, y: Any, *inputs: TensorLike) -> Apply:
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        check_value(x, y, self.set_instead_of_inc)
        index = [as_index_variable(part) for part in inputs]
        part_shape = static_indexed_shape(x.type.shape, index)
        if y.type.ndim > len(part_shape):
            raise TypeError(
                f"Trying to increment a {len(part_shape)}-dimensional subtensor with a {y.type.ndim}-dimensional value."
            )
        check_value_shape(y, part_shape, self.set_instead_of_inc)
        return Apply(self, [x, y, *index], [x.type()])

    def perform(self, node, inputs, output_storage):
        x, y, *index = inputs
        check_advanced_indexing_dimensions(x, index)
        out = x if self.inplace and x.flags.writeable else np.array(x)
        # NumPy visits an index matrix, and a value, in the order of its memory; the last repeated position in row-major
        # order counts.
        index = tuple(np.ascontiguousarray(i) if isinstance(i, np.ndarray) and i.ndim > 1 else i for i in index)
        if self.set_instead_of_inc:
            out[index] = np.asarray(y, order="C")
        else:
            if self.ignore_duplicates:
                new = out[index] + np.asarray(y).astype(out.dtype, copy=False)
                out[index] = np.asarray(new, order="C")
            else:
                _add_at(out, index, y)
        output_storage[0][0] = out

    def grad(self, inputs, output_gradients):
        return self._gradients(inputs, output_gradients[0], advanced_subtensor, advanced_set_subtensor)


advanced_inc_subtensor = AdvancedIncSubtensor()
advanced_set_subtensor = AdvancedIncSubtensor(set_instead_of_inc=True)
advanced_inc_subtensor_nodup = AdvancedIncSubtensor(ignore_duplicates=True)
advanced_set_subtensor_nodup = AdvancedIncSubtensor(set_instead_of_inc=True, ignore_duplicates=True)
