"""Conversions of ops that read and change shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import (
    NEVER_FOLDED,
    is_known,
    jax_funcify,
    known_ints,
    module_for,
    require,
    require_known,
)
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.cpu_contiguous import CpuContiguous
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.shape import Shape, Shape_i
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast

NEVER_FOLDED.add(BroadcastTo)


@jax_funcify.register(Shape)
def jax_funcify_Shape(op: Shape, **kwargs: Any) -> Callable[..., Any]:
    """Return the shape, which is known."""
    return lambda x: np.array(np.shape(x), dtype="int64")


@jax_funcify.register(Shape_i)
def jax_funcify_Shape_i(op: Shape_i, **kwargs: Any) -> Callable[..., Any]:
    """Return the length of a dimension, which is known."""
    return lambda x: np.array(np.shape(x)[op.i], dtype="int64")


@jax_funcify.register(Reshape)
def jax_funcify_Reshape(op: Reshape, **kwargs: Any) -> Callable[..., Any]:
    """Reshape; one of the lengths may be -1."""

    def reshape(x: Any, shape: Any) -> Any:
        sizes = tuple(int(n) for n in require_known(shape, "The shape of the result of reshape"))
        return (np if is_known(x) else jnp).reshape(x, sizes)

    return reshape


@jax_funcify.register(SpecifyShape)
def jax_funcify_SpecifyShape(op: SpecifyShape, node: Apply | None = None, checks: Any = None, **kwargs: Any) -> Any:
    """Return the value after a check of its shape."""

    def specify(x: Any, *lengths: Any) -> Any:
        for axis, length in enumerate(lengths):
            if length is not None and not (isinstance(length, np.ndarray) and length.dtype == object):
                message = f"Dimension {axis} has length {x.shape[axis]}, which is not the one that was specified."
                require(checks, length == x.shape[axis], AssertionError, message, node)
        return x

    return specify


@jax_funcify.register(Unbroadcast)
@jax_funcify.register(CpuContiguous)
def _same_value(op: Any, **kwargs: Any) -> Callable[..., Any]:
    return lambda x: x


@jax_funcify.register(BroadcastTo)
def jax_funcify_BroadcastTo(op: BroadcastTo, **kwargs: Any) -> Callable[..., Any]:
    """Broadcast an array to a known shape."""

    def broadcast(x: Any, *shape: Any) -> Any:
        sizes = known_ints(shape, "The shape of the result of broadcast_to")
        return module_for(math.prod(sizes), x).broadcast_to(x, sizes)

    return broadcast
