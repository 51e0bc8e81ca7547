"""Conversions of discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import jax_funcify, require_known
from aesara.tensor.discrete_fourier.transforms import (
    FourierTransform,
    InverseRealFourierTransform,
    RealFourierTransform,
)


@jax_funcify.register(FourierTransform)
def jax_funcify_FourierTransform(op: FourierTransform, **kwargs: Any) -> Callable[..., Any]:
    """Transform the last dimensions one by one, since XLA transforms at most three at once."""

    def transform(x: Any) -> Any:
        for axis in range(-op.ndim, 0):
            _require_points(x.shape[axis])
            x = jnp.fft.ifft(x, axis=axis, norm="forward") if op.inverse else jnp.fft.fft(x, axis=axis)
        return x

    return transform


def _require_points(n: int) -> None:
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")


@jax_funcify.register(RealFourierTransform)
def jax_funcify_RealFourierTransform(op: RealFourierTransform, **kwargs: Any) -> Callable[..., Any]:
    """Return the first half of the transform of real numbers."""

    def transform(x: Any) -> Any:
        _require_points(x.shape[-1])
        return jnp.fft.rfft(x)

    return transform


@jax_funcify.register(InverseRealFourierTransform)
def jax_funcify_InverseRealFourierTransform(
    op: InverseRealFourierTransform, node: Apply | None = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the real numbers with the given first half of the transform."""

    def transform(x: Any, n: Any) -> Any:
        length = int(require_known(n, "The length of the result of an inverse Fourier transform"))
        if x.shape[-1] != length // 2 + 1:
            raise ValueError(f"{op}: {x.shape[-1]} numbers are not the first half of a transform of length {length}.")
        _require_points(length)
        return jnp.fft.irfft(x, length, norm="forward")

    return transform
