"""The same entries in another shape, and dimensions of length one at the ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import Op
from aesara.tensor.core.constant_value import constant_of_output, known_entries
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_like import ShapeLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.ops import eq, maximum, switch
from aesara.tensor.shapes.shape import shape

__all__ = ["reshape", "shape_padaxis", "shape_padleft", "shape_padright"]


def wrong_number_of_lengths(ndim: int, got: str) -> str:
    """Return the error message for a shape with a wrong number of lengths."""
    return f"Shape argument to Reshape has incorrect length: expected {ndim} lengths, got {got}."


class Reshape(Op):
    """The entries of a tensor, in C order, in another shape.

    Inputs are the tensor and an integer vector of `ndim` entries, of which one may be -1, for the size that follows
    from the others.

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
            raise ValueError(f"Reshape to {self.ndim} dimension(s) got a shape of {len(sizes)} entries: {shp}.")
        static_shape = static_reshape(x.type.shape, sizes)
        return Apply(self, [x, shp], [tensor_type(x.type.dtype, static_shape)()])

    def perform(self, node, inputs, output_storage):
        x, shp = inputs
        if len(shp) != self.ndim:
            raise ValueError(wrong_number_of_lengths(self.ndim, f"{len(shp)}: {shp}"))
        if np.min(shp, initial=0) < -1:  # which NumPy takes for -1
            raise ValueError(f"Reshape: lengths must be -1 or at least 0; one is {np.min(shp)}.")
        try:
            output_storage[0][0] = np.reshape(x, tuple(shp))
        except ValueError as error:
            raise ValueError(
                f"Cannot reshape input of shape {np.shape(x)} to shape {tuple(int(size) for size in shp)}."
            ) from error

    def infer_shape(self, fgraph, node, input_shapes):
        static_shape = node.outputs[0].type.shape
        if None not in static_shape:
            return [tuple(constant(size, dtype="int64") for size in static_shape)]
        shp = node.inputs[1]
        stated = known_entries(shp) or [None] * self.ndim
        entries = [shp[axis] if size is None else constant(size, dtype="int64") for axis, size in enumerate(stated)]
        if None not in stated and -1 not in stated:
            return [tuple(entries)]
        total = _product(input_shapes[0])
        if None not in stated:
            rest = [entry for entry, size in zip(entries, stated) if size != -1]
            missing = total // maximum(_product(rest), 1) if rest else total
        else:
            # A size of -1 changes the sign of the product.
            missing = total // maximum(-_product(entries), 1)
        sizes = []
        for axis, (entry, size) in enumerate(zip(entries, stated)):
            if static_shape[axis] is not None:
                sizes.append(constant(static_shape[axis], dtype="int64"))
            elif size == -1:
                sizes.append(missing)
            elif size is None:
                sizes.append(switch(eq(entry, -1), missing, entry))
            else:  # it has become known since the type was made
                sizes.append(entry)
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
        return self(eval_points[0], inputs[1], return_list=True)


@constant_of_output.register(Reshape)
def _constant_of_reshape(op, node, output, max_recur):
    return node.inputs[0]


def _product(sizes: Sequence[TensorVariable]) -> TensorVariable:
    product: TensorVariable = constant(1, dtype="int64")
    for position, size in enumerate(sizes):
        product = size if position == 0 else product * size
    return product


def _as_shape_vector(shp: Any) -> TensorVariable:
    """Return a shape as a symbolic integer vector."""
    shp = as_tensor_variable(shp)
    if shp.type.ndim == 0:
        shp = MakeVector(shp.type.dtype)(shp)
    if shp.type.ndim != 1:
        raise TypeError(
            "New shape in reshape must be a vector or a list/tuple of scalars; "
            f"got {describe(shp)} with {shp.type.ndim} dimensions."
        )
    if np.dtype(shp.type.dtype).kind not in "iu":
        if isinstance(shp, Constant) and shp.data.size == 0:
            return constant(np.empty(0, dtype="int64"))
        raise TypeError(f"Shape must be integers; got {describe(shp)} of dtype {shp.type.dtype}.")
    return shp


def static_reshape(old_shape: Sequence[int | None], new_shape: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return the static shape after a reshape.

    Parameters
    ----------
    old_shape
        The static shape before.
    new_shape
        The known lengths of the new shape; at most one is -1.

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
        raise ValueError(f"A shape consists of sizes, of which at most one is -1; got {tuple(new_shape)}.")
    n_missing = sum(size == -1 for size in new_shape)
    if n_missing > 1:
        raise ValueError(f"Only one size of a new shape can be -1; got {tuple(new_shape)}.")
    static_shape = [None if size == -1 else size for size in new_shape]
    if None in old_shape or None in new_shape:
        return tuple(static_shape)
    total = math.prod([size for size in old_shape if size is not None])
    stated = math.prod([size for size in new_shape if size is not None and size != -1])
    fits = total == stated if n_missing == 0 else stated > 0 and total % stated == 0
    if not fits:
        raise ValueError(
            f"Cannot reshape a tensor of shape {tuple(old_shape)} to shape {tuple(new_shape)}: expected sizes that "
            f"multiply to {total}, got {stated}{' times what -1 stands for' if n_missing else ''}."
        )
    if n_missing:
        static_shape[list(new_shape).index(-1)] = total // stated
    return tuple(static_shape)


def reshape(x: TensorLike, newshape: ShapeLike, ndim: int | None = None) -> TensorVariable:
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


def shape_padleft(t: TensorLike, n_ones: int = 1) -> TensorVariable:
    """Add `n_ones` dimensions of size one at the front.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> shape_padleft(at.vector("x")).type.shape
    (1, None)
    """
    t = as_tensor_variable(t)
    return t.dimshuffle(["x"] * n_ones + list(range(t.type.ndim)))


def shape_padright(t: TensorLike, n_ones: int = 1) -> TensorVariable:
    """Add `n_ones` dimensions of size one at the end.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> shape_padright(at.vector("x")).type.shape
    (None, 1)
    """
    t = as_tensor_variable(t)
    return t.dimshuffle(list(range(t.type.ndim)) + ["x"] * n_ones)


def shape_padaxis(t: TensorLike, axis: int) -> TensorVariable:
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


def register_shape_c_code(type: Any, code: str, version: Any = ()) -> None:
    """Do nothing: native code for shapes needs no registration here."""


def register_shape_i_c_code(typ: Any, code: str, check_input: str, version: Any = ()) -> None:
    """Do nothing: native code for sizes needs no registration here."""
