"""Measure Jacobians, Hessians and products of Hessians with vectors: time to build, to compile and to call.

    python benchmarks/derivatives.py [--library aesara|jax] [--only WORD]

The same models for both libraries; each is measured in the process it is asked for in. Values are compared with
finite differences of the gradient before anything is measured.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RNG = np.random.default_rng(0)
ROWS, COLUMNS = 1000, 50
FEATURES = RNG.normal(size=(ROWS, COLUMNS))
LABELS = (RNG.random(ROWS) < 0.5).astype("float64")
HOMES, COUNTIES = 919, 85
COUNTY = RNG.integers(0, COUNTIES, HOMES)
FLOOR = RNG.integers(0, 2, HOMES).astype("float64")
RADON = RNG.normal(size=HOMES)
LAYERS = [RNG.normal(size=shape) / np.sqrt(shape[0]) for shape in ((30, 40), (40, 20))]


def logistic_regression(ops: Any, beta: Any) -> Any:
    """Minus the log-posterior of a logistic regression."""
    z = ops.dot(FEATURES, beta)
    return (ops.log1pexp(z) - LABELS * z).sum() + 0.5 * (beta**2).sum()


def radon(ops: Any, theta: Any) -> Any:
    """Minus the log-posterior of a hierarchical model: an intercept and a slope for each county."""
    mean_a, log_a, mean_b, log_b, log_noise = (theta[k] for k in range(5))
    a = mean_a + ops.exp(log_a) * theta[5 : 5 + COUNTIES]
    b = mean_b + ops.exp(log_b) * theta[5 + COUNTIES : 5 + 2 * COUNTIES]
    mu = a[COUNTY] + b[COUNTY] * FLOOR
    return 0.5 * ((RADON - mu) ** 2).sum() * ops.exp(-2 * log_noise) + HOMES * log_noise + 0.5 * (theta**2).sum()


def network(ops: Any, x: Any) -> Any:
    """The outputs of a small network."""
    return ops.tanh(ops.dot(ops.tanh(ops.dot(x, LAYERS[0])), LAYERS[1]))


@dataclass(frozen=True)
class Task:
    """Measured task: a derivative of a model at a point."""

    name: str
    kind: str
    model: Callable[[Any, Any], Any]
    point: np.ndarray


TASKS = [
    Task("gradient, logistic regression", "gradient", logistic_regression, RNG.normal(size=COLUMNS) / 5),
    Task("Hessian, logistic regression", "hessian", logistic_regression, RNG.normal(size=COLUMNS) / 5),
    Task("Hessian times vector, logistic regression", "product", logistic_regression, RNG.normal(size=COLUMNS) / 5),
    Task("gradient, radon", "gradient", radon, RNG.normal(size=5 + 2 * COUNTIES) / 3),
    Task("Hessian, radon", "hessian", radon, RNG.normal(size=5 + 2 * COUNTIES) / 3),
    Task("Hessian times vector, radon", "product", radon, RNG.normal(size=5 + 2 * COUNTIES) / 3),
    Task("Jacobian, network", "jacobian", network, RNG.normal(size=30)),
]


def with_aesara(task: Task) -> tuple[Callable[..., Any], float]:
    """The compiled derivative, and how long it took."""
    sys.path[:0] = [str(ROOT)]
    import aesara
    import aesara.tensor as at

    start = time.perf_counter()
    x, direction = at.dvectors("x", "direction")
    out = task.model(at, x)
    if task.kind == "gradient":
        function = aesara.function([x], aesara.grad(out, x))
    elif task.kind == "hessian":
        function = aesara.function([x], aesara.gradient.hessian(out, x))
    elif task.kind == "jacobian":
        function = aesara.function([x], aesara.gradient.jacobian(out, x))
    else:
        function = aesara.function([x, direction], aesara.gradient.hessian_vector_product(out, x, direction))
    return function, time.perf_counter() - start


def with_jax(task: Task) -> tuple[Callable[..., Any], float]:
    """The same with JAX; compilation includes the first call."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    class Ops:
        dot, exp, tanh = jnp.dot, jnp.exp, jnp.tanh
        log1pexp = staticmethod(jax.nn.softplus)

    def model(x: Any) -> Any:
        return task.model(Ops, x)

    kinds = {
        "gradient": jax.grad(model),
        "hessian": jax.hessian(model),
        "jacobian": jax.jacrev(model),
        "product": lambda x, v: jax.jvp(jax.grad(model), (x,), (v,))[1],
    }
    function = jax.jit(kinds[task.kind])
    arguments = arguments_of(task)
    start = time.perf_counter()
    function(*arguments).block_until_ready()
    compile_time = time.perf_counter() - start
    return lambda *values: np.asarray(function(*values)), compile_time


def arguments_of(task: Task) -> list[np.ndarray]:
    """The point, and for products a direction."""
    return [task.point] if task.kind != "product" else [task.point, np.linspace(-1, 1, len(task.point))]


def median_time(call: Callable[[], object], seconds: float = 1.0) -> float:
    """Median time of one call."""
    call()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(10):
            call()
        times.append((time.perf_counter() - start) / 10)
    return float(np.median(times))


def check(task: Task, value: np.ndarray, make: Callable[[Task], Any]) -> None:
    """Compare a derivative, along one direction, with a difference of values one order below."""
    if task.kind in ("gradient", "jacobian"):
        return
    gradient, _ = make(Task(task.name, "gradient", task.model, task.point))
    along = np.linspace(-1, 1, len(task.point))
    difference = (gradient(task.point + 1e-5 * along) - gradient(task.point - 1e-5 * along)) / 2e-5
    found = value @ along if task.kind == "hessian" else value
    np.testing.assert_allclose(found, difference, rtol=1e-5, atol=1e-4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", choices=["aesara", "jax"], default="aesara")
    parser.add_argument("--only", default="", help="a word in the name of what is measured")
    options = parser.parse_args()
    make = with_aesara if options.library == "aesara" else with_jax
    print(f"{options.library:45} {'compile (ms)':>12} {'call (µs)':>10}")
    for task in TASKS:
        if options.only not in task.name:
            continue
        function, compile_time = make(task)
        arguments = arguments_of(task)
        check(task, np.asarray(function(*arguments)), make)
        call_time = median_time(lambda: function(*arguments))
        print(f"{task.name:45} {compile_time * 1e3:12.1f} {call_time * 1e6:10.1f}")


if __name__ == "__main__":
    main()
