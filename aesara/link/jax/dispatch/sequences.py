"""Conversions of cumulative ops, recurrences, convolutions of vectors, and `repeat`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import NEVER_FOLDED, jax_funcify, module_for, require_known
from aesara.link.jax.dispatch.scalar import cast
from aesara.tensor.sequences.convolve import Convolve
from aesara.tensor.sequences.cumulative import CumOp
from aesara.tensor.sequences.recurrence import LinearRecurrence
from aesara.tensor.shapes.repeating import Repeat

NEVER_FOLDED.add(Repeat)


@jax_funcify.register(CumOp)
def jax_funcify_CumOp(op: CumOp, **kwargs: Any) -> Callable[..., Any]:
    """Return cumulative sums or products in the dtype of the operand."""
    accumulate = jnp.cumsum if op.mode == "add" else jnp.cumprod
    return lambda x: accumulate(x, axis=op.axis, dtype=x.dtype)


@jax_funcify.register(LinearRecurrence)
def jax_funcify_LinearRecurrence(op: LinearRecurrence, **kwargs: Any) -> Callable[..., Any]:
    """Compose the maps ``h -> a[i] * h + b[i]`` along the dimension by an associative scan."""

    def compose(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
        (factor, term), (next_factor, next_term) = first, second
        return factor * next_factor, term * next_factor + next_term

    def recurrence(a: Any, b: Any) -> Any:
        if a.shape != b.shape:
            raise ValueError(f"{op}: the factors have shape {a.shape}, the terms {b.shape}.")
        # A backward step multiplies with the factor of the element that it starts from.
        factors = jnp.roll(a, -1, axis=op.axis) if op.backwards else a
        return lax.associative_scan(compose, (factors, b), reverse=op.backwards, axis=op.axis)[1]

    return recurrence


@jax_funcify.register(Convolve)
def jax_funcify_Convolve(op: Convolve, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Sum the overlapping products only: products of zero padding with infinity would be NaN."""
    assert node is not None
    dtype = node.outputs[0].type.dtype

    def convolve(a: Any, v: Any) -> Any:
        long, short = (jnp.asarray(cast(x, dtype)) for x in ((a, v) if a.size >= v.size else (v, a)))
        n, m = long.size, short.size
        if not m:
            raise ValueError(f"{'v' if a.size else 'a'} cannot be empty")
        start, length = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[op.mode]
        positions = start + jnp.arange(length)[:, None] - jnp.arange(m)
        overlaps = (positions >= 0) & (positions < n)
        zero = jnp.zeros((), dtype)
        products = jnp.where(overlaps, long[jnp.clip(positions, 0, n - 1)], zero) * jnp.where(overlaps, short, zero)
        return jnp.sum(products, axis=1, dtype=dtype)

    return convolve


@jax_funcify.register(Repeat)
def jax_funcify_Repeat(op: Repeat, **kwargs: Any) -> Callable[..., Any]:
    """Repeat elements by known counts."""

    def repeat(x: Any, repeats: Any) -> Any:
        counts = require_known(repeats, "The number of repetitions").astype("int64")
        length = x.size if op.axis is None else x.shape[op.axis]
        if counts.min(initial=0) < 0:
            raise ValueError("repeats may not contain negative values.")
        if counts.size != 1 and counts.size != length:
            raise ValueError(f"operands could not be broadcast together with shape ({length},) ({counts.size},)")
        times = counts if counts.size != 1 else int(counts.reshape(()))
        return module_for(x.size * int(counts.max(initial=0)), x).repeat(x, times, axis=op.axis)

    return repeat
