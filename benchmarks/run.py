"""Measure compile times, call overhead and throughput, with NumPy beside them in the same process.

    python benchmarks/run.py [--quick] [--only WORD] [--json FILE]

Each number is the median of repeated measurements. "Cold" is a fresh process with an empty cache of native
code, "cached" a fresh process that finds its code in the cache.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]


@dataclass(frozen=True)
class Result:
    """One line of the table; times in seconds."""

    name: str
    ours: float
    numpy: float | None = None


def median_time(call: Callable[[], object], seconds: float) -> float:
    """Median time of one call, measured in batches long enough for the clock."""
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    batch = max(1, int(2e-5 / max(once, 1e-8)))
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - start) / batch)
    return float(np.median(times))


def in_fresh_process(code: str, cache: str) -> float:
    """Run `code` in a new interpreter; return the last number it prints."""
    environment = {
        **os.environ,
        "AESARA_FLAGS": f"native_cache_dir={cache}",
        "PYTHONPATH": os.pathsep.join(sys.path[:2]),
    }
    output = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    ).stdout
    return float(output.split()[-1])


IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
COMPILE = """
import sys, time
sys.path[:0] = {path!r}
from run import fused_expression
import aesara
inputs, output = fused_expression()
t = time.perf_counter()
f = aesara.function(inputs, [output, *aesara.grad(output.sum(), inputs)])
f(*[[0.5]] * len(inputs))
print(time.perf_counter() - t)
"""


def fused_expression():
    """exp(x) * y + log1p(x**2) + tanh(x * y), symbolically."""
    import aesara.tensor as at

    x, y = at.dvectors("x", "y")
    return [x, y], at.exp(x) * y + at.log1p(x**2) + at.tanh(x * y)


def fused_numpy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    return np.exp(x) * y + np.log1p(x**2) + np.tanh(x * y)


def start_up(seconds: float) -> Iterator[Result]:
    repeats = 3 if seconds < 0.5 else 7
    with tempfile.TemporaryDirectory() as cache:
        # The first import writes bytecode.
        in_fresh_process(IMPORT.format("aesara"), cache)

        def median(code: str) -> float:
            return float(np.median([in_fresh_process(code, cache) for _ in range(repeats)]))

        yield Result("import (NumPy: import numpy)", median(IMPORT.format("aesara")), median(IMPORT.format("numpy")))
    code = COMPILE.format(path=[str(ROOT), str(ROOT / "benchmarks")])
    colds, cached = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            colds.append(in_fresh_process(code, cache))
            cached.append(in_fresh_process(code, cache))
    yield Result("compile an expression and its gradients, cold", float(np.median(colds)))
    yield Result("compile the same, cached", float(np.median(cached)))


def calls(seconds: float) -> Iterator[Result]:
    import aesara
    import aesara.tensor as at

    x, y = at.dvectors("x", "y")
    a, b = np.ones(3), np.ones(3)
    f = aesara.function([x, y], x + y)
    yield Result("call: x + y, 3 elements", median_time(lambda: f(a, b), seconds), median_time(lambda: a + b, seconds))
    s = at.dscalar("s")
    g = aesara.function([s], s * 2.0)
    value = np.float64(3.0)
    yield Result(
        "call: 2 * s, a scalar",
        median_time(lambda: g(value), seconds),
        median_time(lambda: value * 2.0, seconds),
    )


def throughput(seconds: float) -> Iterator[Result]:
    import aesara

    inputs, output = fused_expression()
    f = aesara.function(inputs, output)
    rng = np.random.default_rng(0)
    for size in (1_000, 100_000, 10_000_000):
        x, y = rng.normal(size=size), rng.normal(size=size)
        np.testing.assert_allclose(f(x, y), fused_numpy(x, y), rtol=1e-12, atol=1e-12)
        yield Result(
            f"exp(x)*y + log1p(x**2) + tanh(x*y), {size:.0e} elements".replace("e+0", "e"),
            median_time(lambda: f(x, y), seconds),
            median_time(lambda: fused_numpy(x, y), seconds),
        )


def digits_step(seconds: float) -> Iterator[Result]:
    import digits

    rng = np.random.default_rng(0)
    parameters = digits.initial_parameters(100, rng)
    step, _, _ = digits.build(parameters, 1e-5)
    images, labels = rng.random((32, digits.PIXELS)), rng.integers(0, digits.CLASSES, 32)
    yield Result(
        "one training step of examples/digits.py",
        median_time(lambda: step(images, labels, 0.0), seconds),
        median_time(lambda: digits.numpy_step(parameters, images, labels, 0.0, 1e-5), seconds),
    )


def radon_gradient(seconds: float) -> Iterator[Result]:
    import radon

    houses = radon.simulate(np.random.default_rng(0))
    model = radon.compile_model(houses)
    position = 0.1 * np.random.default_rng(1).normal(size=radon.SIZE)
    value, gradient = model(position)
    other_value, other_gradient = radon_numpy(position, houses)
    np.testing.assert_allclose(value, other_value)
    np.testing.assert_allclose(gradient, other_gradient)
    yield Result(
        "log-density and gradient of examples/radon.py",
        median_time(lambda: model(position), seconds),
        median_time(lambda: radon_numpy(position, houses), seconds),
    )


def radon_numpy(position: np.ndarray, houses) -> tuple[float, np.ndarray]:
    """The log-density of examples/radon.py and its gradient, by hand."""
    n = (len(position) - 5) // 2
    mu_a, mu_b, log_a, log_b, log_y = position[:5]
    a, b = position[5 : 5 + n], position[5 + n :]
    sa, sb, sy = np.exp(log_a), np.exp(log_b), np.exp(log_y)
    residual = houses.radon - (mu_a + sa * a)[houses.county] - (mu_b + sb * b)[houses.county] * houses.floor
    value = -0.5 * (residual @ residual) / sy**2 - len(residual) * log_y - 0.5 * (a @ a) - 0.5 * (b @ b)
    value += log_a + log_b + log_y - 0.5 * (sa**2 + sb**2 + sy**2) - 0.005 * (mu_a**2 + mu_b**2)
    d = residual / sy**2
    da = np.bincount(houses.county, d, n)
    db = np.bincount(houses.county, d * houses.floor, n)
    common = (
        da.sum() - mu_a / 100,
        db.sum() - mu_b / 100,
        sa * (a @ da) + 1 - sa**2,
        sb * (b @ db) + 1 - sb**2,
        residual @ d - len(residual) + 1 - sy**2,
    )
    return value, np.concatenate([common, sa * da - a, sb * db - b])


def graph_size(seconds: float) -> Iterator[Result]:
    import aesara
    import aesara.tensor as at
    from aesara.compile.mode import get_mode
    from aesara.graph.fg import FunctionGraph

    rewriter = get_mode("FAST_RUN").optimizer
    for length in (100, 1_000, 10_000):
        x = at.dvector("x")
        z = x
        for k in range(length // 2):
            z = at.tanh(z) * (1.0 + 1.0 / (k + 1))
        cost = z.sum()
        start = time.perf_counter()
        gradient = aesara.grad(cost, x)
        yield Result(f"differentiate a chain of {length} nodes", time.perf_counter() - start)
        graph = FunctionGraph([x], [cost, gradient], clone=True)
        count = len(graph.apply_nodes)
        start = time.perf_counter()
        rewriter.rewrite(graph)
        yield Result(f"rewrite value and gradient, {count} nodes", time.perf_counter() - start)


GROUPS = (start_up, calls, throughput, digits_step, radon_gradient, graph_size)


def readable(seconds: float | None) -> str:
    """A time with three digits and a unit."""
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            return f"{seconds / size:.3g} {unit}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="shorter measurements")
    parser.add_argument("--only", default="", help="measure groups whose name has this in it")
    parser.add_argument("--json", help="also write the numbers here")
    options = parser.parse_args()

    results = []
    print("| what | aesara | NumPy | ratio |\n|---|---:|---:|---:|")
    for group in GROUPS:
        if options.only not in group.__name__:
            continue
        for result in group(0.2 if options.quick else 1.0):
            results.append(result)
            ratio = f"{result.numpy / result.ours:.2f}×" if result.numpy else ""
            print(
                f"| {result.name} | {readable(result.ours)} | {readable(result.numpy)} | {ratio} |",
                flush=True,
            )
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(result) for result in results], indent=1))


if __name__ == "__main__":
    main()
