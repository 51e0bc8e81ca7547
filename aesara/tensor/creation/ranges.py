"""Equally spaced numbers, and grids of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import aesara.scalar as aes
from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.casting import cast, resolve_dtype
from aesara.tensor.core.constant_value import get_scalar_constant_value, known_integer
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros, zeros_like
from aesara.tensor.elementwise.ops import ceil, eq, gt, maximum, neq, switch
from aesara.tensor.exceptions import NotScalarConstantError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = ["arange", "mgrid", "ogrid"]


class ARange(Op):
    """Equally spaced numbers from a start up to, but without, a stop.

    Inputs are the start, the stop and the step, all scalars.

    Parameters
    ----------
    dtype
        The dtype of the vector.

    Examples
    --------
    >>> ARange("int64")(0, 10, 3).type.shape
    (4,)
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: str):
        self.dtype = resolve_dtype(dtype)

    def make_node(self, start: Any, stop: Any, step: TensorLike) -> Apply:
        inputs = [as_tensor_variable(value) for value in (start, stop, step)]
        for name, value in zip(("start", "stop", "step"), inputs):
            if value.type.ndim != 0:
                raise TypeError(
                    f"The {name} of a range must be a scalar; got {describe(value)} with {value.type.ndim} "
                    "dimension(s)."
                )
            if value.type.dtype.startswith("complex"):
                raise TypeError(f"The {name} of a range must be real; got {value.type}.")
        length = _static_range_length(*inputs)
        return Apply(self, inputs, [tensor_type(self.dtype, (length,))()])

    def perform(self, node, inputs, output_storage):
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.arange(*_as_numbers(inputs), dtype=self.dtype)

    def infer_shape(self, fgraph, node, input_shapes):
        static_length = node.outputs[0].type.shape[0]
        if static_length is not None:
            return [(constant(static_length, dtype="int64"),)]
        start, stop, step = node.inputs
        if all(value.type.dtype in discrete_dtypes for value in node.inputs):
            start, stop, step = (cast(value, "int64") for value in node.inputs)
            if known_integer(node.inputs[0]) == 0:
                span, negative_span = stop, -stop
            else:
                span, negative_span = stop - start, start - stop
            # -(-a // b) is the quotient rounded up.
            length = span if known_integer(node.inputs[2]) == 1 else -(negative_span // step)
        else:
            common = aes.upcast(*(value.type.dtype for value in node.inputs))
            start, stop, step = (cast(value, common) for value in node.inputs)
            quotient = (stop - start) / step
            # A quotient that underflows to 0 still stands for one element.
            tiny = eq(quotient, 0) & neq(stop, start) & eq(gt(stop, start), gt(step, 0))
            length = switch(tiny, constant(1, dtype="int64"), cast(ceil(quotient), "int64"))
        return [(maximum(length, constant(0, dtype="int64")),)]

    def connection_pattern(self, node):
        return [[True], [False], [True]]

    def L_op(self, inputs, outputs, output_gradients):
        start, _, step = inputs
        (g_out,) = output_gradients
        if self.dtype in discrete_dtypes:
            g_start, g_step = (value.zeros_like(dtype="floatX") for value in (start, step))
            return [g_start, DisconnectedType()(), g_step]
        position = arange(outputs[0].shape[0], dtype=g_out.type.dtype)
        return [
            _as_gradient_of(start, g_out.sum()),
            DisconnectedType()(),
            _as_gradient_of(step, (g_out * position).sum()),
        ]

    def R_op(self, inputs, eval_points):
        of_start, _, of_step = eval_points
        if self.dtype in discrete_dtypes or (of_start is None and of_step is None):
            return [None]
        length = self.make_node(*inputs).outputs[0].shape[0]
        tangent = zeros((length,), dtype=self.dtype)
        if of_start is not None:
            tangent = tangent + of_start
        if of_step is not None:
            tangent = tangent + arange(length, dtype=self.dtype) * of_step
        return [cast(tangent, self.dtype)]


def _as_gradient_of(x: TensorVariable, gradient: TensorVariable) -> TensorVariable:
    return gradient if x.type.dtype in discrete_dtypes else cast(gradient, x.type.dtype)


def _as_numbers(values: Sequence[Any]) -> list[Any]:
    """Convert the bounds of a range to numbers of a common type.

    Integers are converted to Python's, whose difference ``stop - start`` does not overflow. If one bound is a float,
    all are converted to the common dtype, as in the symbolic length.
    """
    arrays = [np.asarray(value) for value in values]
    if all(value.dtype.kind in "iub" for value in arrays):
        return [value.item() for value in arrays]
    common = aes.upcast(*(value.dtype.name for value in arrays))
    return [value.astype(common)[()] for value in arrays]


def _static_range_length(start: TensorVariable, stop: TensorVariable, step: TensorVariable) -> int | None:
    try:
        first, last, distance = _as_numbers([get_scalar_constant_value(value) for value in (start, stop, step)])
    except NotScalarConstantError:
        return None
    if distance == 0:
        raise ValueError("The step of a range cannot be zero.")
    length = (last - first) / distance
    if length == 0 and last != first and (last > first) == (distance > 0):
        return 1
    if not math.isfinite(length):
        raise ValueError(f"A range from {first} to {last} by {distance} has no finite length.")
    return max(0, math.ceil(length))


def arange(
    start: TensorLike, stop: TensorLike | None = None, step: TensorLike = 1, dtype: DTypeLike | None = None
) -> TensorVariable:
    """Return equally spaced numbers; see `numpy.arange`.

    Parameters
    ----------
    start
        The first number; the stop, when no `stop` is given, and then it starts at 0.
    stop
        Where the range ends; not part of it.
    step
        The distance between two numbers.
    dtype
        By default int64 for integers, and the common dtype of the arguments otherwise; NumPy's, if
        ``config.cast_policy`` is ``"numpy+floatX"``.

    Examples
    --------
    >>> arange(5).type
    TensorType(int64, (5,))
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (as_tensor_variable(value) for value in (start, stop, step))
    if dtype is None:
        dtype = _range_dtype([value.type.dtype for value in (start, stop, step)])
    return _range_of(resolve_dtype(dtype))(start, stop, step)


#: one operation for each dtype
_range_of = cache(ARange)


def _range_dtype(dtypes: list[str]) -> str:
    common = aes.upcast(*dtypes)
    if common in discrete_dtypes:
        return "uint64" if common == "uint64" else "int64"
    if config.cast_policy == "numpy+floatX":
        # NumPy computes ranges of float32 numbers in float64.
        numbers: Any = [np.array(value, dtype) for value, dtype in zip((0, 1, 1), dtypes)]
        common = np.arange(*numbers).dtype.name
        if common == "float64" and config.floatX == "float32" and "float64" not in dtypes:
            return "float32"
    return common


class _nd_grid:
    """Make grids of coordinates by indexing with slices; see `numpy.mgrid`.

    Parameters
    ----------
    sparse
        Whether each coordinate extends along its own dimension only.
    """

    def __init__(self, sparse: bool = False):
        self.sparse = sparse

    def __getitem__(self, slices: slice | tuple[slice, ...]) -> TensorVariable | list[TensorVariable]:
        if isinstance(slices, slice):
            return self._range(slices)
        ndim = len(slices)
        axes = [
            self._range(entry).dimshuffle([0 if i == axis else "x" for i in range(ndim)])
            for axis, entry in enumerate(slices)
        ]
        if self.sparse:
            return axes
        grids = []
        for axis, coordinate in enumerate(axes):
            grid = coordinate
            for other, model in enumerate(axes):
                if other != axis:
                    grid = grid + zeros_like(model, dtype=grid.type.dtype)
            grids.append(grid)
        return grids

    @staticmethod
    def _range(entry: slice) -> TensorVariable:
        if isinstance(entry.step, complex):
            raise NotImplementedError(
                "Grids with a number of points (a complex step) are not implemented: use `linspace`."
            )
        start = 0 if entry.start is None else entry.start
        return arange(start, entry.stop, 1 if entry.step is None else entry.step)


mgrid = _nd_grid()


ogrid = _nd_grid(sparse=True)
