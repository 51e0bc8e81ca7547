"""Reducing a tensor along axes with a commutative and associative scalar op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from aesara import scalar as aes
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import AxisLike, OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable

Axes = tuple[int, ...] | None


def as_axes(axis: AxisLike) -> Axes:
    """Convert an axis argument (None, integers, or constants) to None or a tuple of ints."""
    if axis is None or (isinstance(axis, Constant) and axis.data is None):
        return None
    if isinstance(axis, (int, np.integer)) and not isinstance(axis, (bool, np.bool_)):
        return (int(axis),)
    if isinstance(axis, np.ndarray) and axis.dtype.kind in "iu":
        return tuple([int(a) for a in axis.ravel()])
    if hasattr(axis, "data") and isinstance(getattr(axis, "data", None), np.ndarray):
        return as_axes(axis.data)
    if isinstance(axis, (list, tuple, range)):
        return tuple([_as_axis(a) for a in axis])
    raise TypeError(
        f"An axis must be an integer, a tuple of integers or None, known when the graph is built; got {axis!r}."
    )


def _as_axis(axis: AxisLike) -> int:
    axes = as_axes(axis)
    if axes is None:
        raise TypeError("One of several axes is None; expected integers.")
    return axes[0]


@overload
def normalize_axes(axis: None, ndim: int, x: TensorLike | None = None) -> None: ...


@overload
def normalize_axes(axis: tuple[int, ...], ndim: int, x: TensorLike | None = None) -> tuple[int, ...]: ...


def normalize_axes(axis: Axes, ndim: int, x: Any = None) -> Axes:
    """Return distinct, nonnegative axes; raise an error for others.

    As in NumPy, a 0-d tensor has an axis 0 too. Error messages name the variable `x`, if it is given.
    """
    if axis is None:
        return None
    if ndim == 0 and len(axis) == 1 and axis[0] in (0, -1):
        return ()
    for a in axis:
        if not -ndim <= a < ndim:
            type_note = "" if x is None else f": {describe(x)} has type {x.type}"
            dimensions = "1 dimension" if ndim == 1 else f"{ndim} dimensions"
            raise np.exceptions.AxisError(f"axis {a} is out of bounds for a tensor of {dimensions}{type_note}.")
    normalized = tuple([a + ndim if a < 0 else a for a in axis])
    if len(set(normalized)) != len(normalized):
        raise ValueError(f"repeated axis in {axis}")
    return normalized


_ACCUMULATOR_DTYPES = {"float16": "float32", "float32": "float64", "complex64": "complex128"}


def _wide_dtype(dtype: str) -> str:
    """Return the integer dtype of sums and products of a discrete dtype."""
    if dtype in ("bool", "int8", "int16", "int32"):
        return "int64"
    if dtype in ("uint8", "uint16", "uint32"):
        return "uint64"
    return dtype


class CAReduce(Op):
    """Reduce a tensor along axes by a commutative and associative scalar op.

    Parameters
    ----------
    scalar_op
        The scalar op that combines two values: `aesara.scalar.add`, say.
    axis
        The axes to reduce; None for all of them. Negative ones count from the end.
    dtype
        The dtype of the result; by default that of the input.
    acc_dtype
        The dtype in which values are combined; by default one at least as wide.
    upcast_discrete_output
        Whether narrow integers are reduced in, and to, 64 bits.

    Examples
    --------
    >>> import aesara.scalar as aes, aesara.tensor as at
    >>> CAReduce(aes.add, axis=0)(at.matrix()).type
    TensorType(float64, (None,))
    """

    __props__: tuple[str, ...] = ("scalar_op", "axis", "dtype", "acc_dtype", "upcast_discrete_output")

    def __init__(
        self,
        scalar_op: aes.ScalarOp,
        axis: AxisLike = None,
        dtype: str | None = None,
        acc_dtype: str | None = None,
        upcast_discrete_output: bool = False,
    ):
        if getattr(scalar_op, "nin", -1) not in (-1, 2) or getattr(scalar_op, "nout", 1) != 1:
            raise NotImplementedError(f"CAReduce needs a scalar op with two inputs and one output; got {scalar_op}.")
        self.scalar_op = scalar_op
        self.axis = as_axes(axis)
        self.dtype = None if dtype is None else np.dtype(dtype).name
        self.acc_dtype = None if acc_dtype is None else np.dtype(acc_dtype).name
        self.upcast_discrete_output = upcast_discrete_output
        self._resolved: dict[tuple[str, int], CAReduce] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_resolved": {}}

    @property
    def ufunc(self) -> np.ufunc:
        """The NumPy function that combines two arrays, with a ``reduce`` method."""
        function = getattr(self.scalar_op, "numpy", None)
        if not isinstance(function, np.ufunc):
            # The reference of a variadic op takes any number of arrays; the function for two has a name.
            name, n_inputs, _ = getattr(self.scalar_op, "nfunc_spec", None) or ("", 0, 0)
            function = getattr(np, name, None) if n_inputs == 2 else None
        return function if isinstance(function, np.ufunc) else np.frompyfunc(self.scalar_op.impl, 2, 1)

    def __str__(self) -> str:
        shown = {"axis": None if self.axis is None else list(self.axis), "acc_dtype": self.acc_dtype}
        parameters = ", ".join([f"{name}={value}" for name, value in shown.items() if value is not None])
        return f"{type(self).__name__}{{{self.scalar_op}}}" + (f"{{{parameters}}}" if parameters else "")

    def clone(
        self,
        axis: AxisLike = None,
        dtype: str | None = None,
        acc_dtype: str | None = None,
        upcast_discrete_output: bool | None = None,
        **kwargs: Any,
    ) -> CAReduce:
        """Return a copy of the op with other parameters; omitted ones are kept."""
        return type(self)(
            self.scalar_op,
            axis=self.axis if axis is None else axis,
            dtype=self.dtype if dtype is None else dtype,
            acc_dtype=self.acc_dtype if acc_dtype is None else acc_dtype,
            upcast_discrete_output=(
                self.upcast_discrete_output if upcast_discrete_output is None else upcast_discrete_output
            ),
            **kwargs,
        )

    # -- dtypes ---------------------------------------------------------------

    def output_dtype(self, input_dtype: str) -> str:
        """Return the dtype of the result for an input of the given dtype."""
        if self.dtype is not None:
            return self.dtype
        return _wide_dtype(input_dtype) if self.upcast_discrete_output else input_dtype

    def accumulator_dtype(self, input_dtype: str) -> str:
        """Return the dtype of the accumulator for values of the given dtype."""
        if self.acc_dtype is None:
            if input_dtype in discrete_dtypes:
                return _wide_dtype(input_dtype) if self.upcast_discrete_output else input_dtype
            return _ACCUMULATOR_DTYPES.get(input_dtype, input_dtype)
        if not np.can_cast(input_dtype, self.acc_dtype, "safe"):
            raise TypeError(
                f"Cannot build {self} node with input dtype {input_dtype} and acc_dtype {self.acc_dtype}, "
                "as precision "
                "would be lost. To correct this error, you can:\n"
                "  - not specify acc_dtype, or\n"
                f"  - use an acc_dtype at least as precise as {input_dtype}, or\n"
                '  - specify "dtype" instead of "acc_dtype", so that only the result is cast.\n'
                f'If you want the precision loss, cast the input: at.cast(..., dtype="{self.acc_dtype}").'
            )
        return self.acc_dtype

    # -- nodes ----------------------------------------------------------------

    def make_node(self, inp: Any) -> Apply:
        inp = as_tensor_variable(inp)
        if not inp.type.is_dense:
            raise TypeError(
                f"{self} takes a dense tensor; {describe(inp)} is a {inp.type}. Use aesara.sparse.sp_sum, or "
                "the dense matrix: toarray()."
            )
        key = (inp.type.dtype, inp.type.ndim)
        op = self._resolved.get(key)
        if op is None:
            op = self._resolved[key] = self._resolve(inp)
        axes = op.axis
        shape = () if axes is None else tuple([n for i, n in enumerate(inp.type.shape) if i not in axes])
        return Apply(op, [inp], [tensor_type(op.dtype, shape)()])  # type: ignore[arg-type]  # filled in

    def _resolve(self, inp: Any) -> CAReduce:
        """Return the op for an input, with explicit dtypes and axes counted from the front."""
        input_dtype = inp.type.dtype
        axis = normalize_axes(self.axis, inp.type.ndim, inp)
        dtype = self.output_dtype(input_dtype)
        acc_dtype = self.accumulator_dtype(input_dtype)
        if acc_dtype in ("complex64", "complex128") and dtype not in ("complex64", "complex128"):
            raise TypeError(
                f"{self} of complex values cannot have dtype {dtype}: take the real or the imaginary part first."
            )
        if (axis, dtype, acc_dtype) == (self.axis, self.dtype, self.acc_dtype):
            return self
        return self.clone(axis=axis, dtype=dtype, acc_dtype=acc_dtype)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        (x,) = inputs
        axes = tuple(range(np.ndim(x))) if self.axis is None else self.axis
        out_dtype = node.outputs[0].type.numpy_dtype
        acc_dtype = np.dtype(self.acc_dtype) if self.acc_dtype is not None else out_dtype
        with np.errstate(all="ignore"):
            result = self._reduce(np.asarray(x), axes, acc_dtype)
            result = np.asarray(result).astype(out_dtype)
        output_storage[0][0] = result

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], acc_dtype: np.dtype) -> Any:
        function = self.ufunc
        if function.types != ["OO->O"]:
            # Comparing and combining bits keep the dtype; the others accumulate in a wider one.
            return function.reduce(x.astype(acc_dtype, copy=False), axis=axis, dtype=acc_dtype)
        for a in sorted(axis, reverse=True):
            if x.shape[a] == 0:
                identity = getattr(self.scalar_op, "identity", None)
                if identity is None:
                    raise ValueError(f"zero-size array to {self}, which has no identity")
                x = np.full(np.delete(x.shape, a), identity, dtype=acc_dtype)
            else:
                x = np.asarray(function.reduce(x, axis=a))
        return x

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        (shape,) = shapes
        if self.axis is None:
            return [()]
        axes = normalize_axes(self.axis, node.inputs[0].type.ndim)
        return [tuple([length for i, length in enumerate(shape) if i not in axes])]


def with_kept_dims(x: Any, y: Any, axis: AxisLike) -> Any:
    """Insert the axes of a reduction of `x` into its result `y`, with length 1."""
    ndim = x.type.ndim
    axes = normalize_axes(as_axes(axis), ndim, x)
    other_axes = iter(range(ndim))
    order = ["x" if axes is None or i in axes else next(other_axes) for i in range(ndim)]
    return y.dimshuffle(order)
