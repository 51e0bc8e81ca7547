"""Reordering, adding and dropping dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import HasCFile, Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


class DimShuffle(HasCFile, Op):
    """Reorder the dimensions of a tensor, add dimensions of length 1, and drop such.

    The result is a view of the input.

    Parameters
    ----------
    input_broadcastable
        For each dimension of the input, whether its length is known to be 1.
    new_order
        For each dimension of the output, the dimension of the input that it
        is, or "x" for a new one of length 1. Dimensions of the input that do
        not occur are dropped; their length must be known to be 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.matrix("x")
    >>> DimShuffle((False, False), (1, "x", 0))(x).type
    TensorType(float64, (None, 1, None))
    """

    __props__ = ("input_broadcastable", "new_order", "inplace")
    view_map = {0: [0]}
    inplace = True
    c_func_file = "c_code/dimshuffle.c"

    def __init__(self, input_broadcastable: Sequence[bool], new_order: Sequence[int | str]):
        self.input_broadcastable = tuple([bool(flag) for flag in input_broadcastable])
        ndim = len(self.input_broadcastable)
        self.new_order = tuple([_checked_entry(i, entry, ndim) for i, entry in enumerate(new_order)])
        self.shuffle = [entry for entry in self.new_order if isinstance(entry, int)]
        self.augment = [i for i, entry in enumerate(self.new_order) if entry == "x"]
        remaining = set(self.shuffle)
        if len(remaining) != len(self.shuffle):
            raise ValueError(
                f"The same input dimension may not appear twice in the list of output dimensions: {self.new_order}"
            )
        self.drop = [axis for axis in range(ndim) if axis not in remaining]
        for axis in self.drop:
            if not self.input_broadcastable[axis]:
                raise ValueError(
                    f"Cannot drop a non-broadcastable dimension: dimension {axis} of an input with broadcast pattern "
                    f"{self.input_broadcastable} does not occur in {self.new_order}, and its length is not known to "
                    "be 1. If it is 1, say so with specify_shape."
                )
        self.is_transpose = not self.augment and not self.drop
        self.is_left_expand_dims = (
            not self.drop
            and len(self.new_order) > ndim
            and self.new_order[len(self.augment) :] == tuple(range(ndim))
            and self.augment == list(range(len(self.augment)))
        )
        self.transposition = self.shuffle + self.drop
        self._index = self._view_index()

    def _view_index(self) -> tuple[Any, ...]:
        """Return the index that inserts and drops dimensions after the transposition of the input."""
        added = tuple([None if entry == "x" else slice(None) for entry in self.new_order])
        return added + (0,) * len(self.drop)

    def __str__(self) -> str:
        return f"InplaceDimShuffle{{{','.join(map(str, self.new_order))}}}"

    def make_node(self, inp: Any) -> Apply:
        inp = as_tensor_variable(inp)
        shape = inp.type.shape
        if inp.type.broadcastable != self.input_broadcastable:
            self._check_input(inp)
        out_shape = tuple([1 if entry == "x" else shape[entry] for entry in self.new_order])
        return Apply(self, [inp], [tensor_type(inp.type.dtype, out_shape)()])

    def _check_input(self, inp: TensorVariable) -> None:
        broadcastable = inp.type.broadcastable
        if len(broadcastable) != len(self.input_broadcastable):
            raise TypeError(
                f"The number of dimensions of the input is incorrect for {self}: "
                f"expected {len(self.input_broadcastable)}, got {len(broadcastable)} (input {describe(inp)} of type "
                f"{inp.type})."
            )
        for axis, (expected, actual) in enumerate(zip(self.input_broadcastable, broadcastable)):
            if expected and not actual:
                raise TypeError(
                    f"The broadcast pattern of the input is incorrect for {self}: dimension {axis} must have "
                    f"length 1, but the input {describe(inp)} has type {inp.type}."
                )

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        (x,) = inputs
        x = np.asarray(x)
        for axis in self.drop:
            if x.shape[axis] != 1:
                raise ValueError(f"{self} drops dimension {axis}, which must have length 1; the shape is {x.shape}.")
        output_storage[0][0] = x.transpose(self.transposition)[(..., *self._index)]

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: list[Any]) -> list[tuple]:
        (in_shape,) = shapes
        return [tuple([_one() if entry == "x" else in_shape[entry] for entry in self.new_order])]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        return [None if point is None else self(point) for point in eval_points]

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        grad_order: list[int | str] = ["x"] * inputs[0].type.ndim
        for axis, entry in enumerate(self.new_order):
            if isinstance(entry, int):
                grad_order[entry] = axis
        # Added dimensions have length 1, also if the type of the gradient has an unknown length.
        added = tuple([1 if entry == "x" else None for entry in self.new_order])
        return [dimshuffle(output_gradients[0].with_static_shape(added), grad_order)]


def _checked_entry(position: int, entry: Any, ndim: int) -> int | str:
    """Return an entry of `new_order` as an int or "x"."""
    if isinstance(entry, str) and entry == "x":
        return entry
    if isinstance(entry, (bool, np.bool_)) or not isinstance(entry, (int, np.integer)):
        raise TypeError(f'DimShuffle indices must be Python ints or "x"; new_order[{position}] is {entry!r}.')
    if not 0 <= entry < ndim:
        if ndim == 0:
            raise ValueError(f"new_order[{position}] is {entry}, but the input is a scalar.")
        raise ValueError(f"new_order[{position}] is {entry}, but the input only has {ndim} axes.")
    return int(entry)


def _one() -> TensorVariable:
    return as_tensor_variable(np.int64(1))


_ops: dict[tuple[tuple[bool, ...], tuple[int | str, ...]], DimShuffle] = {}


def dimshuffle_op(input_broadcastable: tuple[bool, ...], new_order: tuple[int | str, ...]) -> DimShuffle:
    """Return the `DimShuffle` with these parameters; ops are cached."""
    if not all(type(entry) is int or entry == "x" for entry in new_order):
        return DimShuffle(input_broadcastable, new_order)  # 1.0 and True are equal to 1 and must not be found as such
    key = (input_broadcastable, new_order)
    op = _ops.get(key)
    if op is None:
        if len(_ops) > 10_000:
            _ops.clear()
        op = _ops[key] = DimShuffle(input_broadcastable, new_order)
    return op


def dimshuffle(x: TensorLike, new_order: Sequence[int | str]) -> TensorVariable:
    """Reorder, add and drop dimensions; see `DimShuffle`. The tensor itself if nothing changes.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> dimshuffle(at.vector("v"), ("x", 0)).type
    TensorType(float64, (1, None))
    """
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    order = tuple(new_order)
    if order == tuple(range(ndim)):
        return x
    return dimshuffle_op(x.type.broadcastable, order)(x)
