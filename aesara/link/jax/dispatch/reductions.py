"""Conversions of reductions, argmax and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import jax_funcify
from aesara.link.jax.dispatch.scalar import cast
from aesara.scalar.types import get_scalar_type
from aesara.tensor.reductions.all_any import All
from aesara.tensor.reductions.all_any import Any as AnyOp
from aesara.tensor.reductions.argmax import Argmax, MaxAndArgmax
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import ProdWithoutZeros, Supremum
from aesara.tensor.statistics.mean_var import Mean


def _sum(x: Any, axes: Sequence[int]) -> Any:
    return jnp.sum(x, axis=axes, dtype=x.dtype)


def _product(x: Any, axes: Sequence[int]) -> Any:
    return jnp.prod(x, axis=axes, dtype=x.dtype)


def _largest(x: Any, axes: Sequence[int]) -> Any:
    if not jnp.iscomplexobj(x):
        return jnp.max(x, axis=axes)
    rows = _rows(x, axes)
    return jnp.take_along_axis(rows, _position_of_largest(rows)[..., None], axis=-1)[..., 0]


def _smallest(x: Any, axes: Sequence[int]) -> Any:
    return -_largest(-x, axes) if jnp.iscomplexobj(x) else jnp.min(x, axis=axes)


#: reductions in the dtype of the accumulator, by the ufunc of NumPy that combines two elements
BY_UFUNC: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _sum,
    np.multiply: _product,
    np.maximum: _largest,
    np.minimum: _smallest,
}
#: reductions by Op
BY_OP: dict[type, Callable[..., Any]] = {
    All: jnp.all,
    AnyOp: jnp.any,
    Mean: jnp.mean,
    ProdWithoutZeros: lambda x, axes: _product(jnp.where(x == 0, jnp.ones((), x.dtype), x), axes),
    Supremum: lambda x, axes: jnp.max(x, axis=axes, initial=-jnp.inf),
}


@jax_funcify.register(CAReduce)
def jax_funcify_CAReduce(op: CAReduce, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Reduce by a function of JAX, or by halves, in the dtype of the accumulator."""
    assert node is not None
    dtype = node.outputs[0].type.dtype
    accumulator = op.acc_dtype or dtype
    reduce = BY_OP.get(type(op)) or BY_UFUNC.get(op.ufunc) or _by_halves(op, accumulator, **kwargs)

    def reduce_and_cast(x: Any) -> Any:
        axes = tuple(range(x.ndim)) if op.axis is None else op.axis
        return cast(reduce(jnp.asarray(cast(x, accumulator)), axes), dtype)

    return reduce_and_cast


def _by_halves(op: CAReduce, dtype: str, **kwargs: Any) -> Callable[..., Any]:
    """Reduce by a scalar op: combine the first half with the second until one element is left."""
    kind = get_scalar_type(dtype)
    combine = jax_funcify(op.scalar_op, node=op.scalar_op.make_node(kind(), kind()), **kwargs)

    def reduce(x: Any, axes: Sequence[int]) -> Any:
        rows = jnp.moveaxis(_rows(x, axes), -1, 0)
        if not len(rows):
            identity = getattr(op.scalar_op, "identity", None) if op.ufunc.identity is None else op.ufunc.identity
            if identity is None:
                raise ValueError(f"zero-size array to {op}, which has no identity")
            return jnp.broadcast_to(np.asarray(identity).astype(dtype), rows.shape[1:])
        while len(rows) > 1:
            half = len(rows) // 2
            combined = cast(combine(rows[:half], rows[half : 2 * half]), dtype)
            rows = jnp.concatenate([combined, rows[2 * half :]])
        return rows[0]

    return reduce


def _rows(x: Any, axes: Sequence[int]) -> Any:
    """Move axes to the end, and flatten them to one."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    length = math.prod(x.shape[axis] for axis in axes)
    return x.transpose([*kept, *axes]).reshape([*(x.shape[axis] for axis in kept), length])


def _position_of_largest(rows: Any) -> Any:
    """Return the position of the first maximum along the last axis; NaN is the largest."""
    if not jnp.iscomplexobj(rows):
        return jnp.argmax(rows, axis=-1)
    # The order of complex numbers is lexicographic.
    found = jnp.isnan(rows)
    found = found | ~found.any(axis=-1, keepdims=True)
    for part in (rows.real, rows.imag):
        part = jnp.where(jnp.isnan(rows), 0, part)
        largest = jnp.max(part, axis=-1, keepdims=True, where=found, initial=-jnp.inf)
        found = found & (part == largest)
    return jnp.argmax(found, axis=-1)


def _position(op: Any, x: Any) -> Any:
    axes = tuple(range(x.ndim)) if op.axis is None else op.axis
    return cast(_position_of_largest(_rows(jnp.asarray(x), axes)), "int64")


@jax_funcify.register(Argmax)
def jax_funcify_Argmax(op: Argmax, **kwargs: Any) -> Callable[..., Any]:
    """Return the position of the maximum."""
    return lambda x: _position(op, x)


@jax_funcify.register(MaxAndArgmax)
def jax_funcify_MaxAndArgmax(op: MaxAndArgmax, **kwargs: Any) -> Callable[..., Any]:
    """Return the maximum and its position."""
    return lambda x: (_largest(jnp.asarray(x), tuple(range(x.ndim)) if op.axis is None else op.axis), _position(op, x))


def _subtract_max(x: Any, axis: int | None) -> Any:
    """Subtract the maximum, which changes neither softmax nor its derivatives."""
    return x - lax.stop_gradient(jnp.max(x, axis=axis, keepdims=True, initial=-jnp.inf))


@jax_funcify.register(Softmax)
def jax_funcify_Softmax(op: Softmax, **kwargs: Any) -> Callable[..., Any]:
    """Return exponentials over their sum."""

    def softmax(x: Any) -> Any:
        powers = jnp.exp(_subtract_max(x, op.axis))
        return powers / jnp.sum(powers, axis=op.axis, keepdims=True)

    return softmax


@jax_funcify.register(LogSoftmax)
def jax_funcify_LogSoftmax(op: LogSoftmax, **kwargs: Any) -> Callable[..., Any]:
    """Return the logarithm of softmax."""

    def log_softmax(x: Any) -> Any:
        shifted = _subtract_max(x, op.axis)
        return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=op.axis, keepdims=True))

    return log_softmax


@jax_funcify.register(SoftmaxGrad)
def jax_funcify_SoftmaxGrad(op: SoftmaxGrad, **kwargs: Any) -> Callable[..., Any]:
    """Return the vector-Jacobian product of softmax."""

    def softmax_grad(dy: Any, sm: Any) -> Any:
        weighted = dy * sm
        return weighted - jnp.sum(weighted, axis=op.axis, keepdims=True) * sm

    return softmax_grad
