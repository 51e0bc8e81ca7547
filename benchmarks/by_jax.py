"""Functions compiled by JAX (`mode="JAX"`) beside the same written for JAX, and beside our own compiler.

    python benchmarks/by_jax.py [--calls 200] [--large]

Needs ``pip install 'aesara[jax]'``. Prints the time of the first call with compilation, and the median of later ones.
With ``--large`` the graphs are ones for accelerators. All of them multiply with the digits of the dtype, and JAX has
its arguments on the device.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import aesara
import aesara.tensor as at

RNG = np.random.default_rng(0)


#: our graph for a mode, the function of JAX, and their arguments
Case = tuple[Callable[[Any], Any], Callable[..., Any], tuple[np.ndarray, ...]]


def network(rows: int = 128, units: int = 256, dtype: str = "float64") -> Case:
    """One step of a network 784-256-10: the loss and its gradients."""
    images, labels = RNG.normal(size=(rows, 784)), np.eye(10)[RNG.integers(10, size=rows)]
    weights = RNG.normal(size=(784, units)) * 0.05, RNG.normal(size=(units, 10)) * 0.05
    values = tuple(value.astype(dtype) for value in (images, labels, *weights))

    def ours(mode: Any) -> Any:
        x, y, w, v = (at.matrix(name, dtype=dtype) for name in "xywv")
        loss = -(y * at.special.log_softmax(at.tanh(x @ w) @ v, axis=1)).sum(axis=1).mean()
        return aesara.function([x, y, w, v], [loss, *aesara.grad(loss, [w, v])], mode=mode)

    def loss(x: Any, y: Any, w: Any, v: Any) -> Any:
        return -(y * jax.nn.log_softmax(jnp.tanh(x @ w) @ v, axis=1)).sum(axis=1).mean()

    return ours, jax.jit(jax.value_and_grad(loss, (2, 3))), values


def recurrent() -> Case:
    """Loss and gradient of a recurrent network of 64 units over 100 steps."""
    inputs, recurrence = RNG.normal(size=(100, 64)), RNG.normal(size=(64, 64)) * 0.1

    def ours(mode: Any) -> Any:
        x, w = at.dmatrix("x"), at.dmatrix("w")
        states, _ = aesara.scan(lambda row, state, w: at.tanh(row + state @ w), x, at.zeros(64), non_sequences=w)
        loss = (states**2).sum()
        return aesara.function([x, w], [loss, aesara.grad(loss, w)], mode=mode)

    def loss(x: Any, w: Any) -> Any:
        def step(state: Any, row: Any) -> tuple[Any, Any]:
            state = jnp.tanh(row + state @ w)
            return state, state

        return (jax.lax.scan(step, jnp.zeros(64), x)[1] ** 2).sum()

    return ours, jax.jit(jax.value_and_grad(loss, 1)), (inputs, recurrence)


def elementwise(length: int = 3) -> Case:
    """A formula on three numbers: what a call costs."""
    numbers = RNG.normal(size=length)

    def ours(mode: Any) -> Any:
        x = at.dvector("x")
        return aesara.function([x], at.exp(x) * 2 + 1, mode=mode)

    return ours, jax.jit(lambda x: jnp.exp(x) * 2 + 1), (numbers,)


def convolution() -> Case:
    """Loss and gradient of a layer of 64 filters of 3 x 3 on 64 images of 64 x 64 with 64 channels."""
    images, filters = (RNG.normal(size=size).astype("float32") for size in ((64, 64, 64, 64), (64, 64, 3, 3)))

    def ours(mode: Any) -> Any:
        x, w = at.ftensor4("x"), at.ftensor4("w")
        loss = (at.maximum(at.nnet.conv2d(x, w, filter_flip=False), 0) ** 2).sum()
        return aesara.function([x, w], [loss, aesara.grad(loss, w)], mode=mode)

    def loss(x: Any, w: Any) -> Any:
        return (jnp.maximum(jax.lax.conv(x, w, (1, 1), "VALID"), 0) ** 2).sum()

    return ours, jax.jit(jax.value_and_grad(loss, 1)), (images, filters)


CASES: dict[str, Callable[[], Case]] = {"elementwise": elementwise, "network": network, "recurrent": recurrent}
LARGE: dict[str, Callable[[], Case]] = {
    "elementwise, 10 million": lambda: elementwise(10_000_000),
    "network, 8192 rows, 4096 units, float32": lambda: network(8192, 4096, "float32"),
    "convolution": convolution,
}


def measured(call: Callable[[], Any], calls: int) -> float:
    """The median time of a call that waits for its results."""
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    print(*jax.devices())
    for title, case in (LARGE if options.large else CASES).items():
        ours, theirs, arguments = case()
        on_device = tuple(map(jax.device_put, arguments))
        first, later = {}, {}
        for name in ("JAX itself", "mode=JAX", "native"):
            started = time.perf_counter()
            f = theirs if name == "JAX itself" else ours("JAX" if name == "mode=JAX" else "FAST_RUN")
            given = arguments if name == "native" else on_device
            jax.block_until_ready(f(*given))
            first[name] = time.perf_counter() - started
            later[name] = measured(lambda f=f, given=given: f(*given), options.calls)  # type: ignore[misc]
        print(title)
        for name in first:
            print(f"  {name:12}first {first[name] * 1e3:8.3g} ms   later {later[name] * 1e6:8.3g} us")


if __name__ == "__main__":
    main()
