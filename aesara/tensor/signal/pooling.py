"""Pooling: maxima, sums and means over windows of images, and their derivatives.

Windows are in the last dimensions of images; all others are batch dimensions. There are three operations, whose
derivatives are among the others: reduction of a window to a number (`Pool`), the sum of elements of a window of one
array at the maxima of another array (`DownsampleFactorMaxGradGrad`), and distribution of a number to all elements of a
window, or to the maxima (`AveragePoolGrad`, `MaxPoolGrad`). This module implements them in NumPy, and
`aesara/lower/reductions/pooling.py` in native code.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from aesara.configdefaults import config
from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.records import dataclass
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import entries_of
from aesara.tensor.elementwise.ops import gradient_as, maximum, minimum

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = [
    "AveragePoolGrad",
    "DownsampleFactorMaxGradGrad",
    "MaxPoolGrad",
    "MaxPoolRop",
    "Pool",
    "PoolGrad",
    "PoolingOp",
    "least",
    "pooled_shape",
]

MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


def pooled_size(
    n: TensorLike,
    width: Any,
    stride: Any,
    pad: Any,
    ignore_border: bool,
    at_most: Callable = min,
    at_least: Callable = max,
) -> Any:
    """Return the number of windows along a dimension of `n` elements.

    With `ignore_border` only complete windows count. Otherwise the last window may extend beyond the end, but each
    window contains an element, and none starts after the end of the elements covered before.
    """
    if ignore_border:
        return at_least((n + 2 * pad - width) // stride + 1, 0)
    return at_most((n + stride - 1) // stride, at_least((n - width + stride - 1) // stride, 0) + 1)


def pooled_shape(
    shape: Sequence[Any], ws: Sequence[Any], ignore_border: bool, stride: Sequence[Any], pad: Sequence[Any]
) -> list[Any]:
    """Return the shape after pooling over the last dimensions, as numbers or variables."""
    lead = len(shape) - len(ws)
    result = list(shape[:lead])
    for parts in zip(shape[lead:], ws, stride, pad, strict=True):
        symbolic = any(isinstance(part, Variable) for part in parts)
        choices = (minimum, maximum) if symbolic else (min, max)
        result.append(pooled_size(*parts, ignore_border, *choices))
    return result


@dataclass(frozen=True)
class PoolWindows:
    """Window geometry of a pooling over images of known sizes."""

    image: tuple[int, ...]
    ws: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    output: tuple[int, ...]

    def pad_images(self, x: np.ndarray, fill: TensorLike) -> np.ndarray:
        """Pad the images with `fill` so that every window lies inside."""
        around = np.full((*x.shape[: x.ndim - len(self.sizes)], *self.sizes), fill, dtype=x.dtype)
        around[self.inner] = x
        return around

    @property
    def sizes(self) -> list[int]:
        """The sizes of arrays that have the images and all windows inside."""
        return [
            max(p + n, (m - 1) * s + w)
            for n, w, s, p, m in zip(self.image, self.ws, self.stride, self.pad, self.output, strict=True)
        ]

    @property
    def inner(self) -> tuple[Any, ...]:
        """Index of the images in an array of the padded `sizes`."""
        return (..., *(slice(p, p + n) for p, n in zip(self.pad, self.image, strict=True)))

    def views(self, around: np.ndarray) -> np.ndarray:
        """Return a view ``[..., *position, *entry of the window]``."""
        steps = around.strides[around.ndim - len(self.ws) :]
        lead = around.ndim - len(self.ws)
        strides = (*around.strides[:lead], *(a * s for a, s in zip(steps, self.stride, strict=True)), *steps)
        return as_strided(around, (*around.shape[:lead], *self.output, *self.ws), strides)

    def entries(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the entries of a window, as views over all windows."""
        for entry in itertools.product(*map(range, self.ws)):
            yield (
                ...,
                *(slice(k, k + (m - 1) * s + 1, s) for k, s, m in zip(entry, self.stride, self.output, strict=True)),
            )

    def counts(self, include_pad: bool) -> np.ndarray:
        """Return the number of elements in each window, with or without the padding."""
        total = np.ones((), dtype="int64")
        for n, w, s, p, m in zip(self.image, self.ws, self.stride, self.pad, self.output, strict=True):
            starts = np.arange(m) * s
            ends = np.minimum(starts + w, n + (2 * p if include_pad else p))
            if not include_pad:
                starts = np.maximum(starts, p)
            total = np.multiply.outer(total, ends - starts)
        return total


class PoolingOp(Op):
    """An operation on windows: ``op(*arrays, ws, stride, pad)``.

    Parameters
    ----------
    ignore_border
        Whether to ignore elements at the end of the images that do not fill a whole window.
    mode
        "max", "sum", "average_inc_pad" (means, in which zeros of the padding count) or "average_exc_pad" (means of
        what is there).
    ndim
        Over how many dimensions, the last ones, windows extend.
    openmp
        Has no effect.
    """

    __props__: tuple[str, ...] = ("ignore_border", "mode", "ndim")
    #: how many arrays come before `ws`; the first has the shape of the images
    operands: int

    def __init__(self, ignore_border: bool = False, mode: str = "max", ndim: int = 2, openmp: bool | None = None):
        if mode not in MODES:
            raise ValueError(f"Pool mode parameter only support {', '.join(map(repr, MODES))}. Got {mode}")
        self.ignore_border = bool(ignore_border)
        self.mode = mode
        self.ndim = int(ndim)

    @property
    def may_lie_in_padding(self) -> bool:
        """Return whether a window may hold only padding, and so have no maximum and no mean without it."""
        return self.mode in ("sum", "average_inc_pad")

    # -- types -----------------------------------------------------------------------------------------------

    def window_inputs(self, ws: TensorLike, stride: TensorLike, pad: TensorLike) -> list[TensorVariable]:
        """Return the vectors `ws`, `stride` and `pad`.

        Raises
        ------
        TypeError
            If one is no vector of integers.
        ValueError
            If one has not as many entries as the windows have dimensions.
        NotImplementedError
            If windows may lie in the padding alone, or there is padding without `ignore_border`.
        """
        ws = self._integers("ws", "Pool downsample", ws)
        stride = ws if stride is None else self._integers("stride", "Stride", stride)
        pad = self._integers("pad", "Padding", (0,) * self.ndim if pad is None else pad)
        self._require_known_to_fit(*(self.known_entries(v) for v in (ws, stride, pad)))
        return [ws, stride, pad]

    def _integers(self, name: str, quantity: str, value: TensorLike) -> TensorVariable:
        vector = as_tensor_variable(value)
        if vector.type.dtype not in integer_dtypes:
            raise TypeError(f"{quantity} parameters must be ints.")
        if vector.type.ndim != 1 or vector.type.shape[0] not in (None, self.ndim):
            raise ValueError(
                f"{type(self).__name__}: `{name}` must have an entry for each of {self.ndim} dimensions; got {value}."
            )
        return vector.astype("int64")

    def known_entries(self, vector: TensorVariable) -> list[int | None]:
        """Return the entries of a vector, with None for unknown ones."""
        return [known_integer(vector[k]) for k in range(self.ndim)]

    def _require_known_to_fit(
        self, ws: Sequence[int | None], stride: Sequence[int | None], pad: Sequence[int | None]
    ) -> None:
        for w, s, p in zip(ws, stride, pad, strict=True):
            if w is not None and w < 1:
                raise ValueError(f"{type(self).__name__}: windows must not be empty; got `ws` {tuple(ws)}.")
            if s is not None and s < 1:
                raise ValueError(f"{type(self).__name__}: strides must be positive; got `stride` {tuple(stride)}.")
            if p is not None and p < 0:
                raise ValueError(f"{type(self).__name__}: padding must not be negative; got `pad` {tuple(pad)}.")
            if p and not self.ignore_border:
                raise NotImplementedError("padding works only with ignore_border=True")
            if p is not None and w is not None and p >= w and not self.may_lie_in_padding:
                raise NotImplementedError(
                    f"padding must be smaller than the windows; got `pad` {tuple(pad)} and `ws` {tuple(ws)}."
                )

    def images(self, x: TensorLike, name: str = "x") -> TensorVariable:
        """Convert to a tensor with at least the dimensions of the windows.

        Raises
        ------
        TypeError
            If it has fewer.
        """
        x = as_tensor_variable(x)
        if x.type.ndim < self.ndim:
            raise TypeError(
                f"{type(self).__name__}: `{name}` must have {self.ndim} dimensions at least; got {x.type.ndim}."
            )
        return x

    def same_rank(self, *arrays: tuple[str, Any]) -> list[TensorVariable]:
        """Arrays with one number of dimensions.

        Raises
        ------
        TypeError
            If they have different numbers.
        """
        result = [self.images(value, name) for name, value in arrays]
        for (name, _), v in zip(arrays, result, strict=True):
            if v.type.ndim != result[0].type.ndim:
                raise TypeError(
                    f"{type(self).__name__}: `{name}` has {v.type.ndim} dimensions, the images {result[0].type.ndim}."
                )
        return result

    def pooled_type(self, x: TensorVariable, windows: Sequence[TensorVariable]) -> TensorVariable:
        """Return a variable with an element for each window of `x`, and its dtype."""
        lead = x.type.ndim - self.ndim
        parts = zip(x.type.shape[lead:], *(self.known_entries(v) for v in windows), strict=True)
        sizes = [None if None in (n, w, s, p) else pooled_size(n, w, s, p, self.ignore_border) for n, w, s, p in parts]
        return tensor_type(x.type.dtype, (*x.type.shape[:lead], *sizes))()

    # -- values ----------------------------------------------------------------------------------------------

    def windows(self, shape: Sequence[int], ws: np.ndarray, stride: np.ndarray, pad: np.ndarray) -> PoolWindows:
        """Return the window geometry for images of this shape.

        Raises
        ------
        ValueError, NotImplementedError
            If they do not fit.
        """
        parts = [tuple(int(n) for n in v) for v in (ws, stride, pad)]
        for name, part in zip(("ws", "stride", "pad"), parts, strict=True):
            if len(part) != self.ndim:
                raise ValueError(f"{type(self).__name__}: `{name}` must have {self.ndim} entries; got {part}.")
        self._require_known_to_fit(*parts)
        output = pooled_shape(shape, parts[0], self.ignore_border, *parts[1:])
        lead = len(shape) - self.ndim
        return PoolWindows(tuple(shape[lead:]), parts[0], parts[1], parts[2], tuple(output[lead:]))

    def require_shape(self, x: np.ndarray, windows: PoolWindows, lead: Sequence[int], name: str) -> None:
        """Complain if an array has not an element for each window."""
        wanted = (*lead, *windows.output)
        if x.shape != wanted:
            raise ValueError(f"{type(self).__name__}: `{name}` has the shape {x.shape}; the windows are {wanted}.")

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        arrays, vectors = inputs[: self.operands], inputs[self.operands :]
        dtype = node.outputs[0].type.dtype
        if dtype == "float16":
            arrays = [x.astype("float32") for x in arrays]  # rounded once, at the end
        windows = self.windows(arrays[0].shape, *vectors)
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.asarray(self.compute(windows, *arrays)).astype(dtype, copy=False)

    def compute(self, windows: PoolWindows, *arrays: np.ndarray) -> np.ndarray:
        """Compute the result for arrays."""
        raise NotImplementedError

    # -- symbolic --------------------------------------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [*[[True]] * self.operands, [False], [False], [False]]

    def _with_gradients(
        self, inputs: Sequence[TensorVariable], gradients: Sequence[TensorVariable | None]
    ) -> list[Variable]:
        """Gradients of the arrays, where None is zero, and none of the vectors."""
        result = []
        for v, dv in zip(inputs, gradients, strict=False):
            if dv is None or v.type.dtype in discrete_dtypes:
                result.append(v.zeros_like(dtype=config.floatX if v.type.dtype in discrete_dtypes else None))
            else:
                result.append(gradient_as(dv, v.type.dtype))
        return [*result, *(disconnected_type() for _ in range(3))]


class _Downscaling(PoolingOp):
    """An operation whose result has an element for each window."""

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        ws, stride, pad = (entries_of(v, self.ndim) for v in node.inputs[self.operands :])
        return [tuple(pooled_shape(shapes[0], ws, self.ignore_border, stride, pad))]


class Pool(_Downscaling):
    """The maximum, the sum or the mean over each window: ``op(x, ws, stride, pad)``; see `PoolingOp`.

    Examples
    --------
    >>> import numpy as np
    >>> Pool(ignore_border=True, mode="sum")(np.arange(16.0).reshape(4, 4), (2, 2)).eval()
    array([[10., 18.],
           [42., 50.]])
    """

    operands = 1

    @staticmethod
    def out_shape(
        imgshape: Sequence[Any],
        ws: Sequence[Any] | None = None,
        ignore_border: bool = False,
        stride: Sequence[Any] | None = None,
        pad: Sequence[Any] | None = None,
        ndim: int = 2,
        ds: Sequence[Any] | None = None,
        st: Sequence[Any] | None = None,
        padding: Sequence[Any] | None = None,
    ) -> list[Any]:
        """Return the shape of the result for images of a shape, as numbers, or variables for unknown lengths.

        Parameters
        ----------
        imgshape
            The shape of the images.
        ws, ignore_border, stride, pad, ndim
            As in `pool_2d`, for `ndim` dimensions.
        ds, st, padding
            Older names of `ws`, `stride` and `pad`.
        """
        return _out_shape(imgshape, ws, ignore_border, stride, pad, ndim, ds, st, padding)

    def make_node(self, x: Any, ws: Any, stride: Any = None, pad: Any = None) -> Apply:
        x, windows = self.images(x), self.window_inputs(ws, stride, pad)
        return Apply(self, [x, *windows], [self.pooled_type(x, windows)])

    def compute(self, windows: PoolWindows, *arrays: np.ndarray) -> np.ndarray:
        (x,) = arrays
        axes = tuple(range(-self.ndim, 0))
        if self.mode == "max":
            return windows.views(windows.pad_images(x, least(x.dtype))).max(axes)
        working = "float64" if x.dtype.name in discrete_dtypes and self.mode != "sum" else x.dtype
        total = windows.views(windows.pad_images(x, 0)).sum(axes, dtype=working)
        return total if self.mode == "sum" else total / _counts(self, windows, total.dtype)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, *windows = inputs
        (g,) = output_grads
        if self.mode == "max":
            of_x = MaxPoolGrad(self.ignore_border, self.ndim)(x, outputs[0], g, *windows)
        else:
            of_x = AveragePoolGrad(self.ignore_border, self.mode, self.ndim)(x, g, *windows)
        return self._with_gradients(inputs, [of_x])

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        x, *windows = inputs
        (dx, *_) = eval_points
        if dx is None:
            return [None]
        if self.mode == "max":
            return [MaxPoolRop(self.ignore_border, ndim=self.ndim)(x, dx, *windows)]
        return [self(dx, *windows)]


class DownsampleFactorMaxGradGrad(_Downscaling):
    """The sum over each window of `gz` at the maxima of x: ``op(x, maxout, gz, ws, stride, pad)``.

    It is the derivative of a maximum along `gz`, and the gradient of `MaxPoolGrad`. See `PoolingOp`.
    """

    operands = 3

    def __init__(self, ignore_border: bool, mode: str = "max", ndim: int = 2, openmp: bool | None = None):
        super().__init__(ignore_border, mode, ndim, openmp)
        _require_max(self)

    def make_node(self, x: Any, maxout: Any, gz: TensorLike, ws: Any, stride: Any = None, pad: Any = None) -> Apply:
        x, maxout, gz = self.same_rank(("x", x), ("maxout", maxout), ("gz", gz))
        windows = self.window_inputs(ws, stride, pad)
        output = self.pooled_type(x, windows)
        return Apply(self, [x, maxout, gz, *windows], [tensor_type(gz.type.dtype, output.type.shape)()])

    def compute(self, windows: PoolWindows, *arrays: np.ndarray) -> np.ndarray:
        x, largest, g = arrays
        if g.shape != x.shape:
            raise ValueError(f"{type(self).__name__}: `gz` has the shape {g.shape}, the images {x.shape}.")
        self.require_shape(largest, windows, x.shape[: -self.ndim], "maxout")
        return _at_maxima(windows, x, largest, g)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, largest, _, *windows = inputs
        of_g = MaxPoolGrad(self.ignore_border, self.ndim)(x, largest, output_grads[0], *windows)
        return self._with_gradients(inputs, [None, None, of_g])


class MaxPoolRop(_Downscaling):
    """The derivative of the maxima of windows along `eval_point`: ``op(x, eval_point, ws, stride, pad)``.

    See `PoolingOp`.
    """

    operands = 2

    def __init__(self, ignore_border: bool = False, mode: str = "max", ndim: int = 2, openmp: bool | None = None):
        super().__init__(ignore_border, mode, ndim, openmp)
        _require_max(self)

    def make_node(self, x: Any, eval_point: Any, ws: Any, stride: Any = None, pad: Any = None) -> Apply:
        x, point = self.same_rank(("x", x), ("eval_point", eval_point))
        windows = self.window_inputs(ws, stride, pad)
        output = self.pooled_type(x, windows)
        return Apply(self, [x, point, *windows], [tensor_type(point.type.dtype, output.type.shape)()])

    def compute(self, windows: PoolWindows, *arrays: np.ndarray) -> np.ndarray:
        x, point = arrays
        if point.shape != x.shape:
            raise ValueError(f"{type(self).__name__}: `eval_point` has the shape {point.shape}, the images {x.shape}.")
        largest = windows.views(windows.pad_images(x, least(x.dtype))).max(tuple(range(-self.ndim, 0)))
        return _at_maxima(windows, x, largest, point)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, _, *windows = inputs
        largest = Pool(self.ignore_border, ndim=self.ndim)(x, *windows)
        of_point = MaxPoolGrad(self.ignore_border, self.ndim)(x, largest, output_grads[0], *windows)
        return self._with_gradients(inputs, [None, of_point])


class PoolGrad(PoolingOp):
    """The gradient of `Pool`: gradients of windows are distributed to their elements. See `PoolingOp`."""

    out_shape = Pool.out_shape

    def __init__(self, ignore_border: bool, mode: str = "max", ndim: int = 2, openmp: bool | None = None):
        super().__init__(ignore_border, mode, ndim, openmp)

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Any]) -> list[tuple]:
        return [shapes[0]]


class MaxPoolGrad(PoolGrad):
    """The gradient of maxima: ``op(x, maxout, gz, ws, stride, pad)``; see `PoolingOp`.

    Each element that equals the maximum of its window gets the gradient of the window.
    """

    operands = 3

    def __init__(self, ignore_border: bool, ndim: int = 2, openmp: bool | None = None):
        super().__init__(ignore_border, "max", ndim, openmp)

    def make_node(self, x: Any, maxout: Any, gz: Any, ws: Any, stride: Any = None, pad: Any = None) -> Apply:
        x, maxout, gz = self.same_rank(("x", x), ("maxout", maxout), ("gz", gz))
        result = tensor_type(gz.type.dtype, x.type.shape)()
        return Apply(self, [x, maxout, gz, *self.window_inputs(ws, stride, pad)], [result])

    def compute(self, windows: PoolWindows, *arrays: np.ndarray) -> np.ndarray:
        x, largest, g = arrays
        for name, v in (("maxout", largest), ("gz", g)):
            self.require_shape(v, windows, x.shape[: -self.ndim], name)
        around = windows.pad_images(x, least(x.dtype))
        total = np.zeros(around.shape, dtype=g.dtype)
        for entry in windows.entries():
            total[entry] += np.where(around[entry] == largest, g, np.zeros((), g.dtype))
        return np.ascontiguousarray(total[windows.inner])

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, largest, _, *windows = inputs
        of_g = DownsampleFactorMaxGradGrad(self.ignore_border, ndim=self.ndim)(x, largest, output_grads[0], *windows)
        return self._with_gradients(inputs, [None, None, of_g])


class AveragePoolGrad(PoolGrad):
    """The gradient of sums and means: ``op(x, gz, ws, stride, pad)``, where only the shape of x matters.

    See `PoolingOp`.
    """

    operands = 2

    def __init__(self, ignore_border: bool, mode: str = "average_inc_pad", ndim: int = 2):
        if mode == "max":
            raise ValueError("AveragePoolGrad is for sums and averages; the gradient of maxima is MaxPoolGrad.")
        super().__init__(ignore_border, mode, ndim)

    def make_node(self, x: Any, gz: Any, ws: Any, stride: Any = None, pad: Any = None, dummy: Any = None) -> Apply:
        x, gz = self.same_rank(("x", x), ("gz", gz))
        result = tensor_type(gz.type.dtype, x.type.shape)()
        return Apply(self, [x, gz, *self.window_inputs(ws, stride, pad)], [result])

    def compute(self, windows: PoolWindows, *arrays: np.ndarray) -> np.ndarray:
        x, g = arrays
        self.require_shape(g, windows, x.shape[: -self.ndim], "gz")
        if self.mode != "sum":
            g = g / _counts(self, windows, g.dtype)
        total = windows.pad_images(np.zeros(x.shape, dtype=g.dtype), 0)
        for entry in windows.entries():
            total[entry] += g
        return np.ascontiguousarray(total[windows.inner])

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        _, _, *windows = inputs
        of_g = Pool(self.ignore_border, self.mode, self.ndim)(output_grads[0], *windows)
        return self._with_gradients(inputs, [None, of_g])


def _require_max(op: PoolingOp) -> None:
    if op.mode != "max":
        raise ValueError(f"{type(op).__name__} is for maxima; got mode {op.mode!r}.")


def _out_shape(
    imgshape: Sequence[Any], ws: Any, ignore_border: bool, stride: Any, pad: Any, ndim: int, ds: Any, st: Any,
    padding: Any,
) -> list[Any]:  # fmt: skip
    ws = one_of("ws", ws, "ds", ds)
    stride, pad = one_of("stride", stride, "st", st), one_of("pad", pad, "padding", padding)
    if ws is None:
        raise ValueError("You must provide a tuple value for the window size.")
    if len(imgshape) < ndim:
        raise TypeError(f"imgshape must have at least {ndim} dimensions")
    stride = ws if stride is None else stride
    return pooled_shape(imgshape, ws, ignore_border, stride, (0,) * ndim if pad is None else pad)


def one_of(name: str, value: TensorLike, older: str, older_value: Any) -> Any:
    """Return the value of a parameter that also has an older name.

    Raises
    ------
    ValueError
        If both are given.
    """
    if older_value is None:
        return value
    if value is not None:
        raise ValueError(
            f"You can't provide a tuple value to both '{name}' and '{older}'. Please provide a value only to '{name}'."
        )
    return older_value


def least(dtype: np.dtype) -> Any:
    """Return the least value of a dtype: the identity of the maximum."""
    if dtype.kind == "b":
        return False
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return -np.inf


def _counts(op: PoolingOp, windows: PoolWindows, dtype: np.dtype) -> np.ndarray:
    return windows.counts(op.mode == "average_inc_pad").astype(dtype)


def _at_maxima(windows: PoolWindows, x: np.ndarray, largest: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return the sum over each window of `g` at the maxima of x."""
    around, values = windows.pad_images(x, least(x.dtype)), windows.pad_images(g, 0)
    total = np.zeros(largest.shape, dtype=g.dtype)
    for entry in windows.entries():
        total += np.where(around[entry] == largest, values[entry], np.zeros((), g.dtype))
    return total
