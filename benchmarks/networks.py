"""Measure max pooling and batch normalisation with their gradients beside JAX and PyTorch, on one core.

    python benchmarks/networks.py [--images 32] [--channels 32] [--size 64] [--repeat 30]

Each line has milliseconds here and for each of the others that is installed, best of many in turns: values and
gradients in one call.
"""

import argparse
import importlib.util
import os

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import numpy as np
from sparse_products import best

import aesara
import aesara.tensor as at
from aesara.tensor.nnet.batchnorm import batch_normalization_train
from aesara.tensor.signal.pool import pool_2d

EPSILON = 1e-5


def ours(dtype):
    """Functions of numbers to values and gradients."""
    x, g = (at.TensorType(dtype, (None,) * 4)(name) for name in "xg")
    gamma, beta = (at.TensorType(dtype, (None,))(name) for name in ("gamma", "beta"))
    pooled = pool_2d(x, (2, 2), ignore_border=True)
    functions = {"pooling": aesara.function([x, g], [pooled, aesara.grad(None, x, known_grads={pooled: g})])}
    normalised = batch_normalization_train(x, gamma, beta, "spatial", EPSILON)[0]
    gradients = aesara.grad(None, [x, gamma, beta], known_grads={normalised: g})
    functions["normalisation"] = aesara.function([x, gamma, beta, g], [normalised, *gradients])
    return functions


def of_jax():
    """The same with JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def pooling(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def pooling_by_reshape(x):
        n, c, h, w = x.shape
        return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))

    def normalisation(x, gamma, beta):
        mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        scale, shift = gamma[None, :, None, None], beta[None, :, None, None]
        return (x - mean) * jax.lax.rsqrt(var + EPSILON) * scale + shift

    def with_gradients(function):
        @jax.jit
        def values(*arguments):
            *inputs, g = arguments
            value, pull = jax.vjp(function, *inputs)
            return value, *pull(g)

        def run(*arguments):
            return jax.block_until_ready(values(*arguments))

        return run

    functions = {
        "pooling": with_gradients(pooling),
        "pooling, reshaped": with_gradients(pooling_by_reshape),
        "normalisation": with_gradients(normalisation),
    }
    return functions, jnp.asarray


def of_torch():
    """The same with PyTorch."""
    import torch

    torch.set_num_threads(1)

    def with_gradients(function):
        def run(*arguments):
            *inputs, g = arguments
            inputs = [one.requires_grad_() for one in inputs]
            value = function(*inputs)
            return value, *torch.autograd.grad(value, inputs, g)

        return run

    functions = {
        "pooling": with_gradients(lambda x: torch.nn.functional.max_pool2d(x, 2)),
        "normalisation": with_gradients(
            lambda x, gamma, beta: torch.nn.functional.batch_norm(x, None, None, gamma, beta, True, 0.1, EPSILON)
        ),
    }
    return functions, lambda value: torch.from_numpy(value.copy())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, default in (("images", 32), ("channels", 32), ("size", 64), ("repeat", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    shape = options.images, options.channels, options.size, options.size
    others = {
        name: make()
        for name, package, make in (("JAX", "jax", of_jax), ("PyTorch", "torch", of_torch))
        if importlib.util.find_spec(package)
    }
    for dtype in ("float32", "float64"):
        x = rng.normal(size=shape).astype(dtype)
        values = {
            "pooling": [x, rng.normal(size=(*shape[:2], shape[2] // 2, shape[3] // 2)).astype(dtype)],
            "normalisation": [
                x,
                rng.uniform(0.5, 2, shape[1]).astype(dtype),
                rng.normal(size=shape[1]).astype(dtype),
                rng.normal(size=shape).astype(dtype),
            ],
        }
        for what, f in ours(dtype).items():
            arguments = values[what]
            runs = {"here": lambda f=f, arguments=arguments: f(*arguments)}
            for name, (functions, convert) in others.items():
                for variant, function in functions.items():
                    if variant.startswith(what):
                        converted = [convert(value) for value in arguments]
                        runs[name + variant[len(what) :]] = lambda f=function, v=converted: f(*v)
            expected = runs["here"]()
            tolerance = 1e-3 if dtype == "float32" else 1e-8
            for run in runs.values():
                for one, other in zip(expected, run()):
                    other = other.detach().numpy() if hasattr(other, "detach") else np.asarray(other)
                    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * abs(one).max())
            times = best(list(runs.values()), options.repeat)
            line = "  ".join(f"{name} {time:8.2f}" for name, time in zip(runs, times))
            print(f"{what:14} {dtype} {shape}: {line}", flush=True)


if __name__ == "__main__":
    main()
