"""Functions compiled by JAX (`mode="JAX"`) beside the same written for JAX, and beside our own compiler.

    python benchmarks/by_jax.py [--calls 200]

Needs ``pip install 'aesara[jax]'``. Prints the time of the first call with compilation, and the median of later ones.
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


def network() -> tuple[Callable[[Any], Any], Callable[..., Any], tuple[np.ndarray, ...]]:
    """One step of a network 784-256-10: the loss and its gradients."""
    images, labels = RNG.normal(size=(128, 784)), np.eye(10)[RNG.integers(10, size=128)]
    weights = RNG.normal(size=(784, 256)) * 0.05, RNG.normal(size=(256, 10)) * 0.05

    def ours(mode: Any) -> Any:
        x, y, w, v = (at.dmatrix(name) for name in "xywv")
        loss = -(y * at.special.log_softmax(at.tanh(x @ w) @ v, axis=1)).sum(axis=1).mean()
        return aesara.function([x, y, w, v], [loss, *aesara.grad(loss, [w, v])], mode=mode)

    def loss(x: Any, y: Any, w: Any, v: Any) -> Any:
        return -(y * jax.nn.log_softmax(jnp.tanh(x @ w) @ v, axis=1)).sum(axis=1).mean()

    return ours, jax.jit(jax.value_and_grad(loss, (2, 3))), (images, labels, *weights)


def recurrent() -> tuple[Callable[[Any], Any], Callable[..., Any], tuple[np.ndarray, ...]]:
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


def elementwise() -> tuple[Callable[[Any], Any], Callable[..., Any], tuple[np.ndarray, ...]]:
    """A formula on three numbers: what a call costs."""
    numbers = RNG.normal(size=3)

    def ours(mode: Any) -> Any:
        x = at.dvector("x")
        return aesara.function([x], at.exp(x) * 2 + 1, mode=mode)

    return ours, jax.jit(lambda x: jnp.exp(x) * 2 + 1), (numbers,)


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
    calls = parser.parse_args().calls
    for case in (elementwise, network, recurrent):
        ours, theirs, arguments = case()
        first, later = {}, {}
        for name in ("JAX itself", "mode=JAX", "native"):
            started = time.perf_counter()
            f = theirs if name == "JAX itself" else ours("JAX" if name == "mode=JAX" else "FAST_RUN")
            jax.block_until_ready(f(*arguments))
            first[name] = time.perf_counter() - started
            later[name] = measured(lambda f=f: f(*arguments), calls)  # type: ignore[misc]
        print(case.__name__)
        for name in first:
            print(f"  {name:12}first {first[name] * 1e3:8.3g} ms   later {later[name] * 1e6:8.3g} us")


if __name__ == "__main__":
    main()
