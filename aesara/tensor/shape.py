"""Shapes as values: reading, asserting, changing and forgetting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.scalar import ScalarConstant, int32
from aesara.scalar import int64 as scalar_int64
from aesara.tensor.constant_value import (
    constant_of_output,
    entries_of_output,
    follow_input,
    known_entries,
    known_integer,
)
from aesara.tensor.conversion import as_tensor_variable, constant
from aesara.tensor.elementwise_ops import eq, maximum, switch
from aesara.tensor.make_vector import MakeVector
from aesara.tensor.type import tensor_type
from aesara.tensor.type_other import NoneConst, NoneTypeT
from aesara.tensor.vector_length import get_vector_length, vector_length_of_output


__all__ = [
    "Reshape",
    "Shape",
    "Shape_i",
    "SpecifyShape",
    "Unbroadcast",
    "NoneConst",
    "int32",
    "register_shape_c_code",
    "register_shape_i_c_code",
    "reshape",
    "shape",
    "shape_i",
    "shape_i_op",
    "shape_padaxis",
    "shape_padleft",
    "shape_padright",
    "shape_tuple",
    "specify_broadcastable",
    "specify_shape",
    "unbroadcast",
]


class Shape(Op):
    """The shape of a tensor as a vector of int64.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Shape()(at.matrix("x")).type.shape
    (2,)
    """

    __props__ = ()
    _f16_ok = True

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


@vector_length_of_output.register(Shape)
def _length_of_shape(op, v):
    return v.owner.inputs[0].type.ndim


@entries_of_output.register(Shape)
def _entries_of_shape(op, node):
    return list(node.inputs[0].type.shape)


def shape(x: Any) -> Variable:
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
        return constant(np.asarray(static_shape, dtype="int64"))
    return _shape(x)


def shape_tuple(x: Variable) -> tuple[Variable, ...]:
    """Return the sizes of `x`, one symbolic scalar for each dimension.

    Sizes that the type tells are scalar constants.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> len(shape_tuple(at.matrix("x")))
    2
    """
    static_shape = x.type.shape
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
    _f16_ok = True
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
            raise TypeError(
                f"{x} has {x.type.ndim} dimension(s), so none with number {self.i}."
            )
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


def shape_i(var: Variable, i: int, fgraph=None) -> Variable:
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
    if feature is None:
        return shape(var)[i]
    if var not in feature.shape_of:
        _import_into_shape_feature(fgraph, feature, var)
    return feature.shape_of[var][i]


def _import_into_shape_feature(fgraph, feature, var: Variable) -> None:
    """Let the shape feature see the nodes that `var` needs, inputs first."""
    pending = [var]
    nodes = []
    seen = set()
    while pending:
        node = pending.pop().owner
        if node is None or node in seen:
            continue
        seen.add(node)
        nodes.append(node)
        pending.extend(v for v in node.inputs if v not in feature.shape_of)
    for node in reversed(nodes):
        feature.on_import(fgraph, node, "shape_i")


class SpecifyShape(Op):
    """State the sizes of a tensor, checking them when the graph is computed.

    Inputs are the tensor and one integer scalar, or None, for each dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> SpecifyShape()(at.matrix("x"), 2, None).type.shape
    (2, None)
    """

    __props__ = ()
    view_map = {0: [0]}
    _f16_ok = True

    def make_node(self, x: Any, *shape: Any) -> Apply:
        x = as_tensor_variable(x)
        if len(shape) != x.type.ndim:
            raise ValueError(
                f"Expected {x.type.ndim} size(s) for {x} of type {x.type}; "
                f"got {len(shape)}: {shape}."
            )
        sizes = [_size_or_none(size) for size in shape]
        static_shape = []
        for axis, (size, known) in enumerate(zip(sizes, x.type.shape)):
            stated = None if size is NoneConst else known_integer(size)
            if stated is not None and stated < 0:
                raise ValueError(f"Sizes cannot be negative; got {stated}.")
            if stated is not None and known is not None and stated != known:
                raise ValueError(
                    f"SpecifyShape: dimension {axis} of {x} has size {known} "
                    f"according to its type; it cannot be {stated}."
                )
            static_shape.append(known if stated is None else stated)
        return Apply(self, [x, *sizes], [x.type.clone(shape=tuple(static_shape))()])

    def perform(self, node, inputs, output_storage):
        x, *expected = inputs
        actual = np.shape(x)
        if len(actual) != len(expected):
            raise AssertionError(
                f"SpecifyShape: expected {len(expected)} dimension(s), "
                f"got {len(actual)}."
            )
        if not all(e is None or a == e for a, e in zip(actual, expected)):
            wanted = tuple(None if e is None else int(e) for e in expected)
            raise AssertionError(
                f"SpecifyShape: Got shape {actual}, expected {wanted}."
            )
        output_storage[0][0] = x

    def infer_shape(self, fgraph, node, input_shapes):
        x_shape, *_ = input_shapes
        sizes = []
        for axis, size in enumerate(node.inputs[1:]):
            static_size = node.outputs[0].type.shape[axis]
            if static_size is not None:
                sizes.append(constant(static_size, dtype="int64"))
            elif isinstance(size.type, NoneTypeT):
                sizes.append(x_shape[axis])
            else:
                sizes.append(size)
        return [tuple(sizes)]

    def connection_pattern(self, node):
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    def grad(self, inputs, output_gradients):
        _, *sizes = inputs
        (g_out,) = output_gradients
        stated = [None if isinstance(s.type, NoneTypeT) else s for s in sizes]
        g_x = g_out
        if not isinstance(g_out.type, DisconnectedType):
            g_x = specify_shape(g_out, stated)
        return [g_x, *(DisconnectedType()() for _ in sizes)]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self.make_node(eval_points[0], *inputs[1:]).outputs


_specify_shape = SpecifyShape()
constant_of_output.register(SpecifyShape)(follow_input(0))


@vector_length_of_output.register(SpecifyShape)
def _length_of_specify_shape(op, v):
    return known_integer(v.owner.inputs[1])


def _size_or_none(size: Any) -> Variable:
    if size is None or (isinstance(size, Variable) and isinstance(size.type, NoneTypeT)):
        return NoneConst
    size = as_tensor_variable(size, ndim=0)
    if np.dtype(size.type.dtype).kind not in "iu":
        raise TypeError(f"Shape values must be integers or None; got {size}.")
    return size


def specify_shape(x: Any, shape: Any) -> Variable:
    """State the shape of a tensor.

    The rest of the graph can rely on it; it is checked when the graph is computed.

    Parameters
    ----------
    x
        A tensor, or anything that converts to one.
    shape
        For each dimension an integer, a symbolic integer scalar, or None where
        nothing is stated; or a vector of known length.

    Returns
    -------
    TensorVariable
        `x` itself if the shape tells nothing new.

    Raises
    ------
    ValueError
        If the shape contradicts the type of `x`.
    AssertionError
        When the graph is computed, if the value of `x` has another shape.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> specify_shape(at.matrix("x"), (None, 3)).type.shape
    (None, 3)
    """
    if not isinstance(shape, (tuple, list)):
        if isinstance(shape, np.ndarray):
            shape = tuple(shape) if shape.ndim else (shape[()],)
        elif isinstance(shape, Variable) and getattr(shape.type, "ndim", 0) == 1:
            shape = tuple(shape[i] for i in range(get_vector_length(shape)))
        else:
            shape = (shape,)
    x = as_tensor_variable(x)
    tells_nothing_new = len(shape) == x.type.ndim and all(
        stated is None or (isinstance(stated, (int, np.integer)) and stated == known)
        for stated, known in zip(shape, x.type.shape)
    )
    return x if tells_nothing_new else _specify_shape(x, *shape)


class Reshape(Op):
    """Arrange the entries of a tensor, in C order, in another shape.

    Inputs are the tensor and an integer vector of `ndim` entries, of which one may
    be -1: that size follows from the others.

    Parameters
    ----------
    ndim
        The number of dimensions of the output.
    name
        No longer used.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Reshape(2)(at.vector("x"), [2, -1]).type.shape
    (2, None)
    """

    __props__ = ("ndim",)
    view_map = {0: [0]}
    _f16_ok = True
    check_input = False

    def __init__(self, ndim: int, name: None = None):
        if name is not None:
            raise ValueError("The `name` of Reshape is no longer supported: leave it out.")
        if ndim < 0:
            raise ValueError(f"The number of dimensions cannot be negative; got {ndim}.")
        self.ndim = int(ndim)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.ndim}}}"

    def make_node(self, x: Any, shp: Any) -> Apply:
        x = as_tensor_variable(x)
        shp = _as_shape_vector(shp)
        sizes = known_entries(shp)
        if sizes is None:
            sizes = [None] * self.ndim
        elif len(sizes) != self.ndim:
            raise ValueError(
                f"Reshape to {self.ndim} dimension(s) got a shape of "
                f"{len(sizes)} entries: {shp}."
            )
        static_shape = static_reshape(x.type.shape, sizes)
        return Apply(self, [x, shp], [tensor_type(x.type.dtype, static_shape)()])

    def perform(self, node, inputs, output_storage):
        x, shp = inputs
        if len(shp) != self.ndim:
            raise ValueError(
                f"Reshape: expected a shape of {self.ndim} entries, "
                f"got {len(shp)}: {shp}."
            )
        try:
            output_storage[0][0] = np.reshape(x, tuple(shp))
        except ValueError as error:
            raise ValueError(
                f"Cannot reshape input of shape {np.shape(x)} to shape "
                f"{tuple(int(size) for size in shp)}."
            ) from error

    def infer_shape(self, fgraph, node, input_shapes):
        static_shape = node.outputs[0].type.shape
        if None not in static_shape:
            return [tuple(constant(size, dtype="int64") for size in static_shape)]
        shp = node.inputs[1]
        stated = known_entries(shp) or [None] * self.ndim
        entries = [
            shp[axis] if size is None else constant(size, dtype="int64")
            for axis, size in enumerate(stated)
        ]
        if None not in stated and -1 not in stated:
            return [tuple(entries)]
        total = _product(input_shapes[0])
        if None not in stated:
            rest = [entry for entry, size in zip(entries, stated) if size != -1]
            missing = total // maximum(_product(rest), 1) if rest else total
        else:
            # The factor -1, if it is there, turns the sign of the product.
            missing = total // maximum(-_product(entries), 1)
        sizes = []
        for axis, (entry, size) in enumerate(zip(entries, stated)):
            if static_shape[axis] is not None:
                sizes.append(constant(static_shape[axis], dtype="int64"))
            elif size is None:
                sizes.append(switch(eq(entry, -1), missing, entry))
            else:
                sizes.append(missing)
        return [tuple(sizes)]

    def connection_pattern(self, node):
        return [[True], [False]]

    def grad(self, inputs, output_gradients):
        x, _ = inputs
        (g_out,) = output_gradients
        return [reshape(g_out, shape(x), ndim=x.type.ndim), DisconnectedType()()]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self.make_node(eval_points[0], inputs[1]).outputs


@vector_length_of_output.register(Reshape)
def _length_of_reshape(op, v):
    sizes = known_entries(v.owner.inputs[1])
    if sizes and sizes[0] is not None and sizes[0] >= 0:
        return sizes[0]
    return None


@constant_of_output.register(Reshape)
def _constant_of_reshape(op, node, output, max_recur):
    return node.inputs[0]


def _product(sizes: Sequence[Variable]) -> Variable:
    product = constant(1, dtype="int64")
    for position, size in enumerate(sizes):
        product = size if position == 0 else product * size
    return product


def _as_shape_vector(shp: Any) -> Variable:
    """Return a shape as a symbolic integer vector."""
    if isinstance(shp, (tuple, list)) and len(shp) == 0:
        return constant(np.empty(0, dtype="int64"))
    shp = as_tensor_variable(shp)
    if shp.type.ndim == 0:
        shp = MakeVector(shp.type.dtype)(shp)
    if shp.type.ndim != 1:
        raise TypeError(
            "New shape in reshape must be a vector or a list/tuple of scalars; "
            f"got {shp} with {shp.type.ndim} dimensions."
        )
    if np.dtype(shp.type.dtype).kind not in "iu":
        if isinstance(shp, Constant) and shp.data.size == 0:
            return constant(np.empty(0, dtype="int64"))
        raise TypeError(f"Shape must be integers; got {shp} of dtype {shp.type.dtype}.")
    return shp


def static_reshape(
    old_shape: Sequence[int | None], new_shape: Sequence[int | None]
) -> tuple[int | None, ...]:
    """Return what is known of the shape after a reshape.

    Parameters
    ----------
    old_shape
        The static shape before.
    new_shape
        What is known of the sizes asked for; at most one is -1.

    Raises
    ------
    ValueError
        If the shapes cannot fit.

    Examples
    --------
    >>> static_reshape((2, 3), (-1, 2))
    (3, 2)
    """
    if any(size is not None and size < -1 for size in new_shape):
        raise ValueError(
            f"Shapes are made of sizes and at most one -1; got {tuple(new_shape)}."
        )
    n_missing = sum(size == -1 for size in new_shape)
    if n_missing > 1:
        raise ValueError(
            f"Only one size of a new shape can be -1; got {tuple(new_shape)}."
        )
    static_shape = [None if size == -1 else size for size in new_shape]
    if None in old_shape or None in new_shape:
        return tuple(static_shape)
    total = int(np.prod(old_shape, dtype=object))
    stated = int(np.prod([size for size in new_shape if size != -1], dtype=object))
    fits = total == stated if n_missing == 0 else stated > 0 and total % stated == 0
    if not fits:
        raise ValueError(
            f"Cannot reshape a tensor of shape {tuple(old_shape)} "
            f"to shape {tuple(new_shape)}."
        )
    if n_missing:
        static_shape[list(new_shape).index(-1)] = total // stated
    return tuple(static_shape)


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> Variable:
    """Arrange the entries of a tensor, in C order, in another shape.

    Parameters
    ----------
    x
        A tensor, or anything that converts to one.
    newshape
        The sizes: integers or symbolic integer scalars, or a symbolic vector.  One
        of them may be -1; it follows from the others.
    ndim
        The number of dimensions of the result; needed only when the length of a
        symbolic `newshape` is not known.

    Returns
    -------
    TensorVariable
        A view of `x` where NumPy would give one.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> reshape(at.vector("x"), (-1, 2)).type.shape
    (None, 2)
    """
    newshape = _as_shape_vector(newshape)
    if ndim is None:
        try:
            ndim = get_vector_length(newshape)
        except ValueError as error:
            raise ValueError(
                f"The length of the provided shape ({newshape}) cannot be determined, "
                "so the number of dimensions of the result is unknown. "
                "Give it by the argument `ndim`."
            ) from error
    return Reshape(ndim)(x, newshape)


def shape_padleft(t: Any, n_ones: int = 1) -> Variable:
    """Add `n_ones` dimensions of size one at the front.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> shape_padleft(at.vector("x")).type.shape
    (1, None)
    """
    t = as_tensor_variable(t)
    return t.dimshuffle(["x"] * n_ones + list(range(t.type.ndim)))


def shape_padright(t: Any, n_ones: int = 1) -> Variable:
    """Add `n_ones` dimensions of size one at the end.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> shape_padright(at.vector("x")).type.shape
    (None, 1)
    """
    t = as_tensor_variable(t)
    return t.dimshuffle(list(range(t.type.ndim)) + ["x"] * n_ones)


def shape_padaxis(t: Any, axis: int) -> Variable:
    """Add one dimension of size one as dimension `axis` of the result.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> shape_padaxis(at.matrix("x"), -2).type.shape
    (None, 1, None)
    """
    t = as_tensor_variable(t)
    ndim = t.type.ndim + 1
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds [-{ndim}, {ndim})")
    pattern: list[int | str] = list(range(t.type.ndim))
    pattern.insert(axis % ndim, "x")
    return t.dimshuffle(pattern)


class Unbroadcast(Op):
    """Forget that dimensions have size one, so that they do not broadcast.

    Parameters
    ----------
    axis
        The dimensions.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Unbroadcast(0)(at.row("x")).type.shape
    (None, None)
    """

    __props__ = ("axes",)
    view_map = {0: [0]}
    _f16_ok = True
    check_input = False

    def __init__(self, *axis: int):
        axes = tuple(sorted(set(axis)))
        if not axes or not all(isinstance(a, (int, np.integer)) for a in axes):
            raise TypeError(f"Unbroadcast needs integer axes; got {axis}.")
        self.axes = tuple(int(a) for a in axes)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{','.join(str(axis) for axis in self.axes)}}}"

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        ndim = x.type.ndim
        if not all(-ndim <= axis < ndim for axis in self.axes):
            raise ValueError(
                f"Trying to unbroadcast axes {self.axes} of {x}, which has {ndim} "
                "dimension(s)."
            )
        axes = {axis % ndim for axis in self.axes}
        static_shape = [
            None if axis in axes and size == 1 else size
            for axis, size in enumerate(x.type.shape)
        ]
        return Apply(self, [x], [x.type.clone(shape=static_shape)()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]

    def infer_shape(self, fgraph, node, input_shapes):
        return [tuple(input_shapes[0])]

    def grad(self, inputs, output_gradients):
        (x,) = inputs
        (g_out,) = output_gradients
        axes = [a % x.type.ndim for a in self.axes if x.type.shape[a] == 1]
        return [specify_broadcastable(g_out, *axes)]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self.make_node(*eval_points).outputs


constant_of_output.register(Unbroadcast)(follow_input(0))


@vector_length_of_output.register(Unbroadcast)
def _length_of_unbroadcast(op, v):
    try:
        return get_vector_length(v.owner.inputs[0])
    except ValueError:
        return None


def unbroadcast(x: Any, *axes: int) -> Variable:
    """Make dimensions of `x` that are known to have size one not broadcast.

    Parameters
    ----------
    x
        A tensor.
    axes
        The dimensions; those of which the size is not known to be one are left.

    Returns
    -------
    TensorVariable
        `x` itself when there is nothing to do.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> unbroadcast(at.row("x"), 0).type.shape
    (None, None)
    """
    x = as_tensor_variable(x)
    axes = _normalized_axes(x, axes, "unbroadcast")
    axes = [axis for axis in axes if x.type.shape[axis] == 1]
    return Unbroadcast(*axes)(x) if axes else x


def specify_broadcastable(x: Any, *axes: int) -> Variable:
    """State that dimensions of `x` have size one, so that they broadcast.

    Parameters
    ----------
    x
        A tensor.
    axes
        The dimensions.

    Returns
    -------
    TensorVariable
        `x` itself when this is known already.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> specify_broadcastable(at.matrix("x"), 0).type.shape
    (1, None)
    """
    x = as_tensor_variable(x)
    axes = _normalized_axes(x, axes, "specify broadcastable of")
    stated = [1 if axis in axes else None for axis in range(x.type.ndim)]
    return specify_shape(x, stated)


def _normalized_axes(x: Variable, axes: Sequence[int], what: str) -> list[int]:
    ndim = x.type.ndim
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(
                f"Trying to {what} a non-existent dimension: axis {axis} of {x}, "
                f"which has {ndim} dimension(s)."
            )
    return sorted({axis % ndim for axis in axes})


def register_shape_c_code(type: Any, code: str, version: Any = ()) -> None:
    """Do nothing: native code for shapes needs no registration here."""


def register_shape_i_c_code(
    typ: Any, code: str, check_input: str, version: Any = ()
) -> None:
    """Do nothing: native code for sizes needs no registration here."""
