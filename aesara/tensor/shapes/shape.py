"""Shapes and sizes of tensors as values."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.scalar import ScalarConstant
from aesara.scalar import int64 as scalar_int64
from aesara.tensor.core.constant_value import constant_of_output, entries_of_output
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable

__all__ = ["shape"]


class Shape(Op):
    """The shape of a tensor as a vector of int64.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Shape()(at.matrix("x")).type.shape
    (2,)
    """

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        if not isinstance(x, Variable):
            x = as_tensor_variable(x)
        ndim = getattr(x.type, "ndim", None)
        return Apply(self, [x], [tensor_type("int64", (ndim,))()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(np.shape(inputs[0]), dtype="int64")

    def infer_shape(self, fgraph, node, input_shapes):
        return [(constant(len(input_shapes[0]), dtype="int64"),)]

    def connection_pattern(self, node):
        # The sizes do not depend on the entries.
        return [[False]]

    def grad(self, inputs, output_gradients):
        return [DisconnectedType()()]

    def R_op(self, inputs, eval_points):
        return [None]


_shape = Shape()

#: From constants that are shapes to the variables they are the shapes of.
variables_of_shapes: WeakKeyDictionary[TensorVariable, TensorVariable] = WeakKeyDictionary()


@entries_of_output.register(Shape)
def _entries_of_shape(op, node, depth):
    return list(node.inputs[0].type.shape)


def shape(x: Any) -> TensorVariable:
    """Return the shape of `x` as a vector of int64.

    Parameters
    ----------
    x
        A tensor, or anything that converts to one.

    Returns
    -------
    TensorVariable
        A constant when the type of `x` tells all sizes.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> shape(at.tensor("float64", shape=(2, 3))).data
    array([2, 3])
    """
    if not isinstance(x, Variable):
        x = as_tensor_variable(x)
    static_shape = getattr(x.type, "shape", None)
    if static_shape is not None and None not in static_shape:
        known = constant(np.asarray(static_shape, dtype="int64"))
        variables_of_shapes[known] = x
        return known
    return _shape(x)


def shape_tuple(x: Variable) -> tuple[Variable, ...]:
    """Return the sizes of `x`, one symbolic scalar for each dimension.

    Static sizes are scalar constants. The result is empty for variables that are not tensors.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> len(shape_tuple(at.matrix("x")))
    2
    """
    static_shape = getattr(x.type, "shape", ())
    if None not in static_shape:
        return tuple(ScalarConstant(scalar_int64, size) for size in static_shape)
    symbolic_shape = shape(x)
    return tuple(
        symbolic_shape[axis] if size is None else ScalarConstant(scalar_int64, size)
        for axis, size in enumerate(static_shape)
    )


class Shape_i(Op):
    """The size of one dimension of a tensor.

    Parameters
    ----------
    i
        Which dimension; not negative.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Shape_i(1)(at.matrix("x")).dtype
    'int64'
    """

    __props__ = ("i",)
    check_input = False

    def __init__(self, i: int):
        if i < 0:
            raise ValueError(f"Shape_i counts from the front; got dimension {i}.")
        self.i = int(i)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.i}}}"

    def make_node(self, x: Any) -> Apply:
        if not isinstance(x, Variable) or not hasattr(x.type, "ndim"):
            raise TypeError(f"{x} has no `ndim`: sizes exist for tensors only.")
        if x.type.ndim <= self.i:
            raise TypeError(f"{describe(x)} has {x.type.ndim} dimension(s), so none with number {self.i}.")
        return Apply(self, [x], [tensor_type("int64", ())()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0].shape[self.i], dtype="int64")

    def infer_shape(self, fgraph, node, input_shapes):
        return [()]

    def connection_pattern(self, node):
        return [[False]]

    def grad(self, inputs, output_gradients):
        return [DisconnectedType()()]

    def R_op(self, inputs, eval_points):
        return [None]


@constant_of_output.register(Shape_i)
def _constant_of_shape_i(op, node, output, max_recur):
    (x,) = node.inputs
    if isinstance(x, Constant):
        return np.asarray(x.data.shape[op.i], dtype="int64")
    return x.type.shape[op.i]


def shape_i_op(i: int) -> Shape_i:
    """Return the op that takes the size of dimension `i`."""
    return Shape_i(i)


def shape_i(var: TensorVariable, i: int, fgraph=None) -> TensorVariable:
    """Return the size of one dimension, in the best form that is known.

    Parameters
    ----------
    var
        A tensor.
    i
        Which dimension; negative numbers count from the end.
    fgraph
        A function graph; if it keeps track of shapes, what it knows is returned,
        which may not depend on `var` at all.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> shape_i(at.matrix("x"), 0).ndim
    0
    """
    feature = getattr(fgraph, "shape_feature", None)
    return shape(var)[i] if feature is None else feature.shape_of[var][i]
