"""Batch normalization as ops, which rules replace by elementary ops.

Each op is defined by a function of arrays or tensors: the reference calls it with arrays, and the rules in
`aesara.tensor.nnet.batchnorm` with variables. Scales, shifts and statistics have the dimensions of the images, with
length 1 along the normalized axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.autodiff import Lop
from aesara.graph.cloning import graph_replace
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op, stand_in
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import gradient_as, sqrt
from aesara.tensor.shapes.specify_shape import specify_broadcastable

__all__ = ["AbstractBatchNormInference", "AbstractBatchNormTrain", "AbstractBatchNormTrainGrad", "BatchNormOp"]

Axes = tuple[int, ...]


def _normalize(x: Any, scale: Any, bias: Any, mean: Any, invstd: Any) -> Any:
    return (x - mean) * (scale * invstd) + bias


def _count(x: Any, axes: Axes) -> Any:
    total = 1
    for axis in axes:
        total = total * x.shape[axis]
    return total


def _as_dtype(value: Any, dtype: str) -> Any:
    return np.dtype(dtype).type(value) if isinstance(value, int) else value.astype(dtype)


def normalize_batch(
    axes: Axes, root: Callable, x: Any, scale: TensorLike, bias: TensorLike, epsilon: Any, factor: Any, *running: Any
) -> list[Any]:
    """Compute the outputs of `AbstractBatchNormTrain`."""
    mean = x.mean(axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axes, keepdims=True)
    invstd = 1 / root(variance + epsilon)
    results = [_normalize(x, scale, bias, mean, invstd), mean, invstd]
    if running:
        m = _as_dtype(_count(x, axes), str(x.dtype))
        old_mean, old_variance = running
        results.append(old_mean * (1 - factor) + mean * factor)
        results.append(old_variance * (1 - factor) + (m / (m - 1)) * variance * factor)
    return results


def normalize_by_estimates(
    axes: Axes,
    root: Callable,
    x: TensorLike,
    scale: TensorLike,
    bias: TensorLike,
    mean: TensorLike,
    variance: Any,
    epsilon: Any,
) -> list[Any]:
    """Compute the outputs of `AbstractBatchNormInference`."""
    return [_normalize(x, scale, bias, mean, 1 / root(variance + epsilon))]


def pulled_back(
    axes: Axes, root: Callable, x: Any, dy: Any, scale: Any, mean: Any, invstd: Any, epsilon: Any
) -> list[Any]:
    """Compute the outputs of `AbstractBatchNormTrainGrad`."""
    count = _as_dtype(_count(x, axes), str(x.dtype))
    deviation = x - mean
    of_bias = dy.sum(axes, keepdims=True)
    along = (dy * deviation).sum(axes, keepdims=True)
    of_x = (scale * invstd) * (dy - of_bias / count - deviation * (along * invstd**2 / count))
    return [of_x, along * invstd, of_bias]


class BatchNormOp(Op):
    """An op of batch normalisation along some axes.

    Parameters
    ----------
    axes
        The axes over which means are taken.
    """

    __props__: tuple[str, ...] = ("axes",)
    #: defines the op, for arrays and for variables
    formula: Callable[..., list[Any]]
    #: how many of the first inputs are differentiated
    moving: int
    #: whether the second input is the gradient of the normalised inputs, with their shape
    has_whole_gradient = False

    def __init__(self, axes: Sequence[int] = (0,)):
        if not axes:
            raise ValueError("there should be at least one normalization axis")
        self.axes = tuple(int(axis) for axis in axes)
        if len(set(self.axes)) != len(self.axes) or min(self.axes) < 0:
            raise ValueError(f"{type(self).__name__}: axes are different numbers from 0 on; got {self.axes}.")

    def operands(self, x: TensorLike, names: Sequence[str], *values: TensorLike) -> list[TensorVariable]:
        """Convert the operands to tensors with the same number of dimensions and the same floating-point dtype.

        Raises
        ------
        ValueError
            If a dimension of another tensor than `x` is known to have another length than `x` or 1.
        TypeError
            If they have different numbers of dimensions.
        """
        x, *rest = (as_tensor_variable(v) for v in (x, *values))
        if max(self.axes) >= x.type.ndim:
            raise ValueError(f"axes should be less than ndim (<{x.type.ndim}), but {self.axes} given")
        others = [axis for axis in range(x.type.ndim) if axis not in self.axes]
        for name, v in zip(names, rest, strict=True):
            if v.type.ndim != x.type.ndim:
                raise TypeError(
                    f"{type(self).__name__}: `{name}` has {v.type.ndim} dimensions, the inputs {x.type.ndim}."
                )
            if name != "dy":
                # A factor is never broadcast along other axes: where it has length 1, so have the inputs.
                x = specify_broadcastable(
                    x, *(axis for axis in others if v.type.shape[axis] == 1 and x.type.shape[axis] is None)
                )
            for axis, (n, m) in enumerate(zip(v.type.shape, x.type.shape)):
                wanted = 1 if axis in self.axes and name != "dy" else m
                if n is not None and wanted is not None and n != wanted:
                    raise ValueError(
                        f"{type(self).__name__}: dimension {axis} of `{name}` has length {n} in place of {wanted}."
                    )
        dtype = aes.upcast(x.type.dtype, *(v.type.dtype for v in rest))
        if dtype in discrete_dtypes:
            dtype = aes.upcast(dtype, config.floatX)
        return [v.astype(dtype) for v in (x, *rest)]

    def numbers(self, *values: TensorLike) -> list[TensorVariable]:
        """0-d tensors.

        Raises
        ------
        TypeError
            If one has dimensions.
        """
        result = [as_tensor_variable(v) for v in values]
        for v in result:
            if v.type.ndim:
                raise TypeError(f"{type(self).__name__}: epsilon and factors are single numbers; got {v.type}.")
        return result

    def statistic(self, x: TensorVariable) -> TensorVariable:
        """Return a variable for a mean along the axes."""
        shape = tuple(1 if axis in self.axes else n for axis, n in enumerate(x.type.shape))
        return tensor_type(x.type.dtype, shape)()

    def statistic_shape(self, shape: Sequence[Any]) -> tuple:
        """Return the shape of a mean along the axes."""
        return tuple(as_tensor_variable(np.int64(1)) if axis in self.axes else n for axis, n in enumerate(shape))

    def require_shapes(self, inputs: Sequence[Any]) -> None:
        """Complain if statistics or factors have not the shape that they have for these inputs."""
        x, *rest = inputs
        of_factors = tuple(1 if axis in self.axes else n for axis, n in enumerate(x.shape))
        for k, v in enumerate(rest, 1):
            wanted = x.shape if self.has_whole_gradient and k == 1 else of_factors
            if v.ndim and v.shape != wanted:
                raise ValueError(f"{type(self).__name__}: input {k} has the shape {v.shape} in place of {wanted}.")

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        dtype = node.outputs[0].type.dtype
        working = "float32" if dtype == "float16" else dtype
        self.require_shapes(inputs)
        with np.errstate(all="ignore"):
            results = type(self).formula(self.axes, np.sqrt, *(v.astype(working) for v in inputs))
        for storage, result, v in zip(output_storage, results, node.outputs, strict=True):
            storage[0] = np.asarray(result, dtype=v.type.dtype)

    def expressions(self, *inputs: TensorVariable) -> list[TensorVariable]:
        """Return the outputs in terms of elementary ops."""
        dtype = inputs[0].type.dtype
        working = "float32" if dtype == "float16" else dtype
        results = type(self).formula(self.axes, sqrt, *(v.astype(working) for v in inputs))
        return [v.astype(dtype) for v in results]

    def pullback(
        self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable], first: int = 0
    ) -> list[TensorVariable]:
        """Return the gradients of outputs from `first` on, for the inputs that are differentiated."""
        free = [stand_in(v) for v in inputs]
        pairs = [
            (y, g)
            for y, g in zip(self.expressions(*free)[first:], output_grads[first:])
            if not isinstance(g.type, DisconnectedType)
        ]
        if not pairs:
            return [v.zeros_like() for v in inputs[: self.moving]]
        outputs, grads = zip(*pairs)
        gradients = Lop(list(outputs), free[: self.moving], list(grads), disconnected_inputs="ignore")
        return graph_replace(gradients, dict(zip(free, inputs)), strict=False)


class AbstractBatchNormTrain(BatchNormOp):
    """Normalization with the mean and variance of the batch.

    ``op(x, scale, bias, epsilon, running_average_factor, running_mean, running_var)`` returns the normalized inputs,
    their means, the inverses of their standard deviations, and, if there are running averages, the new ones.

    Parameters
    ----------
    axes
        The axes over which means are taken.
    """

    formula = staticmethod(normalize_batch)
    moving = 3

    def make_node(
        self,
        x: Any,
        scale: Any,
        bias: Any,
        epsilon: Any = 1e-4,
        running_average_factor: Any = 0.1,
        running_mean: Any = None,
        running_var: Any = None,
    ) -> Apply:
        running = [v for v in (running_mean, running_var) if v is not None]
        if len(running) == 1:
            raise ValueError("running_mean and running_var must both be tensors, or both None")
        names = ("scale", "bias", "running_mean", "running_var")[: 2 + len(running)]
        x, scale, bias, *running = self.operands(x, names, scale, bias, *running)
        results = [x.type(), *(self.statistic(x) for _ in range(2 + len(running)))]
        return Apply(self, [x, scale, bias, *self.numbers(epsilon, running_average_factor), *running], results)

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Any]) -> list[tuple]:
        return [shapes[0], *[self.statistic_shape(shapes[0])] * (len(node.outputs) - 1)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        has_running = len(node.outputs) == 5
        pattern = [
            [True, True, True, *[True] * 2 * has_running],
            *[[True, False, False, *[False] * 2 * has_running]] * 2,
            *[[False] * len(node.outputs)] * 2,
        ]
        if has_running:
            pattern += [[False, False, False, True, False], [False, False, False, False, True]]
        return pattern

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, scale, _, epsilon, factor, *running = inputs
        dy = output_grads[0]
        gradients = self.pullback(inputs, output_grads, first=1)
        if not isinstance(dy.type, DisconnectedType):
            own = AbstractBatchNormTrainGrad(self.axes)(x, dy, scale, outputs[1], outputs[2], epsilon)
            if all(isinstance(g.type, DisconnectedType) for g in output_grads[1:]):
                gradients = own
            else:
                gradients = [own[0] + gradients[0], *own[1:]]
        running_gradients = []
        for v, g in zip(running, output_grads[3:]):
            is_off = isinstance(g.type, DisconnectedType)
            running_gradients.append(disconnected_type() if is_off else g * (1 - factor.astype(v.type.dtype)))
        return [
            *(gradient_as(g, v.type.dtype) for g, v in zip(gradients, inputs)),
            disconnected_type(),
            disconnected_type(),
            *running_gradients,
        ]


class AbstractBatchNormInference(BatchNormOp):
    """Normalization with given means and variances.

    ``op(x, scale, bias, estimated_mean, estimated_variance, epsilon)`` returns the normalized inputs.

    Parameters
    ----------
    axes
        The axes along which means and variances have length 1.
    """

    formula = staticmethod(normalize_by_estimates)
    moving = 5

    def make_node(
        self,
        x: Any,
        scale: Any,
        bias: TensorLike,
        estimated_mean: TensorLike,
        estimated_variance: TensorLike,
        epsilon: TensorLike = 1e-4,
    ) -> Apply:
        names = ("scale", "bias", "estimated_mean", "estimated_variance")
        tensors = self.operands(x, names, scale, bias, estimated_mean, estimated_variance)
        return Apply(self, [*tensors, *self.numbers(epsilon)], [tensors[0].type()])

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Any]) -> list[tuple]:
        return [shapes[0]]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [*[[True]] * 5, [False]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        gradients = self.pullback(inputs, output_grads)
        return [*(gradient_as(g, v.type.dtype) for g, v in zip(gradients, inputs)), disconnected_type()]


class AbstractBatchNormTrainGrad(BatchNormOp):
    """The gradient of the normalized inputs of `AbstractBatchNormTrain`.

    ``op(x, dy, scale, x_mean, x_invstd, epsilon)``, where `dy` is the gradient of the normalized inputs, returns the
    gradients for x, for the scale and for the shift.

    Parameters
    ----------
    axes
        The axes over which means are taken.
    """

    formula = staticmethod(pulled_back)
    moving = 5
    has_whole_gradient = True

    def make_node(
        self,
        x: Any,
        dy: Any,
        scale: TensorLike,
        x_mean: TensorLike,
        x_invstd: TensorLike,
        epsilon: TensorLike = 1e-4,
    ) -> Apply:
        names = ("dy", "scale", "x_mean", "x_invstd")
        tensors = self.operands(x, names, dy, scale, x_mean, x_invstd)
        x, _, scale, *_ = tensors
        return Apply(self, [*tensors, *self.numbers(epsilon)], [x.type(), scale.type(), scale.type()])

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Any]) -> list[tuple]:
        return [shapes[0], *[self.statistic_shape(shapes[0])] * 2]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [
            [True, True, False],
            [True, True, True],
            [True, False, False],
            [True, True, False],
            [True, True, False],
            [False, False, False],
        ]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        gradients = self.pullback(inputs, output_grads)
        return [*(gradient_as(g, v.type.dtype) for g, v in zip(gradients, inputs)), disconnected_type()]
