"""Conversions of composed Ops of neural networks, and of pooling.

`ConnectionistTemporalClassification` runs its `perform` on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import by_expression, jax_funcify, require_known
from aesara.link.jax.dispatch.windows import WindowGrid
from aesara.tensor.nnet.batchnorm_ops import BatchNormOp
from aesara.tensor.nnet.composed import ComposedOp
from aesara.tensor.signal.pooling import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    PoolingOp,
    PoolWindows,
    least,
)


@jax_funcify.register(ComposedOp)
def jax_funcify_ComposedOp(op: ComposedOp, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Convert the expression of the op."""
    assert node is not None
    inputs = [variable.type() for variable in node.inputs]
    return by_expression(op, node, inputs, op.expand(*inputs), **kwargs)


@jax_funcify.register(BatchNormOp)
def jax_funcify_BatchNormOp(op: BatchNormOp, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Convert the expressions of the op, after checks of shapes."""
    assert node is not None
    inputs = [variable.type() for variable in node.inputs]
    function = by_expression(op, node, inputs, op.expressions(*inputs), **kwargs)

    def normalise(*values: Any) -> Any:
        op.require_shapes(values)
        return function(*values)

    return normalise


@jax_funcify.register(PoolingOp)
def jax_funcify_PoolingOp(op: PoolingOp, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Pool by an array with all entries of all windows."""
    assert node is not None
    dtype = node.outputs[0].type.dtype
    compute = next(function for kind, function in _COMPUTE.items() if isinstance(op, kind))

    def pool(*values: Any) -> Any:
        arrays, vectors = values[: op.operands], values[op.operands :]
        if dtype == "float16":
            arrays = tuple(x.astype("float32") for x in arrays)
        quantity = f"The shape of the windows of {op}"
        windows = op.windows(arrays[0].shape, *(require_known(v, quantity) for v in vectors))
        return compute(op, _Windows(windows, arrays[0].shape[-op.ndim :]), *arrays).astype(dtype)

    return pool


class _Windows:
    """Windows of padded images."""

    def __init__(self, windows: PoolWindows, image: tuple[int, ...]) -> None:
        self.windows, self.image = windows, image
        self.grid = WindowGrid(windows.output, windows.ws, windows.stride, (1,) * len(image))
        self.sizes = windows.sizes
        self.entries = tuple(range(-len(image), 0))

    def views(self, x: Any, fill: Any) -> Any:
        """Return the entries of all windows as an array."""
        pads = [
            (before, size - before - n)
            for before, size, n in zip(self.windows.pad, self.sizes, self.image, strict=True)
        ]
        lead = [(0, 0)] * (x.ndim - len(pads))
        return self.grid.unfold(jnp.pad(x, [*lead, *pads], constant_values=fill))

    def scatter(self, x: Any) -> Any:
        """Return images that sum the entries of windows."""
        return self.grid.fold(x, self.sizes)[self.windows.inner]

    def over_entries(self, x: Any) -> Any:
        """Broadcast an array with an element for each window along entries."""
        return jnp.expand_dims(x, self.entries)


def _pool(op: Pool, windows: _Windows, x: Any) -> Any:
    if op.mode == "max":
        return windows.views(x, least(np.dtype(x.dtype))).max(windows.entries)
    total = windows.views(x, 0)
    if op.mode != "sum":
        total = total if jnp.issubdtype(x.dtype, jnp.inexact) else total.astype("float64")
    total = total.sum(windows.entries, dtype=total.dtype)
    return total if op.mode == "sum" else total / _counts(op, windows, total)


def _counts(op: PoolingOp, windows: _Windows, total: Any) -> Any:
    return windows.windows.counts(op.mode == "average_inc_pad").astype(total.dtype)


def _at_maxima(op: DownsampleFactorMaxGradGrad, windows: _Windows, x: Any, largest: Any, g: Any) -> Any:
    if g.shape != x.shape:
        raise ValueError(f"{type(op).__name__}: `gz` has the shape {g.shape}, the images {x.shape}.")
    op.require_shape(largest, windows.windows, x.shape[: -op.ndim], "maxout")
    at_maximum = windows.views(x, least(np.dtype(x.dtype))) == windows.over_entries(largest)
    return jnp.where(at_maximum, windows.views(g, 0), 0).sum(windows.entries, dtype=g.dtype)


def _max_pool_rop(op: MaxPoolRop, windows: _Windows, x: Any, point: Any) -> Any:
    if point.shape != x.shape:
        raise ValueError(f"{type(op).__name__}: `eval_point` has the shape {point.shape}, the images {x.shape}.")
    views = windows.views(x, least(np.dtype(x.dtype)))
    at_maximum = views == views.max(windows.entries, keepdims=True)
    return jnp.where(at_maximum, windows.views(point, 0), 0).sum(windows.entries, dtype=point.dtype)


def _to_maxima(op: MaxPoolGrad, windows: _Windows, x: Any, largest: Any, g: Any) -> Any:
    for name, v in (("maxout", largest), ("gz", g)):
        op.require_shape(v, windows.windows, x.shape[: -op.ndim], name)
    at_maximum = windows.views(x, least(np.dtype(x.dtype))) == windows.over_entries(largest)
    return windows.scatter(jnp.where(at_maximum, windows.over_entries(g), 0))


def _to_all(op: AveragePoolGrad, windows: _Windows, x: Any, g: Any) -> Any:
    op.require_shape(g, windows.windows, x.shape[: -op.ndim], "gz")
    if op.mode != "sum":
        g = g / _counts(op, windows, g)
    return windows.scatter(jnp.broadcast_to(windows.over_entries(g), g.shape + windows.windows.ws))


_COMPUTE: dict[type[PoolingOp], Callable[..., Any]] = {
    Pool: _pool,
    DownsampleFactorMaxGradGrad: _at_maxima,
    MaxPoolRop: _max_pool_rop,
    MaxPoolGrad: _to_maxima,
    AveragePoolGrad: _to_all,
}
