"""Measure loops beside the same loops written by hand for Numba, in turns, in one process.

    python benchmarks/loops.py [--only WORD] [--rounds 60]

Each line has the time of a call of both (the median over rounds), and the median of their ratios, each of one round.
Results are compared before anything is measured.  Without Numba, times of the compiled functions alone are shown.
"""

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.scan import until

try:
    import numba
except ImportError:
    numba = None

RNG = np.random.default_rng(0)
#: seconds that a round of one loop takes, about
ROUND = 0.004


@dataclass(frozen=True)
class Case:
    """A compiled function, a function for Numba that gives the same, and what both are called with."""

    name: str
    compiled: Callable[..., Any]
    by_hand: Callable[..., Any]
    arguments: tuple[Any, ...]


def autoregression(steps: int = 1000) -> Case:
    """The log-likelihood of a latent process with two taps, and its gradient in four parameters."""
    noise, seen = RNG.normal(size=steps), RNG.normal(size=steps)
    p, q, c, log_s = at.dscalars("p", "q", "c", "log_s")

    def step(e: Any, older: Any, newer: Any, p: Any, q: Any, c: Any, s: Any) -> Any:
        return c + p * newer + q * older + s * e

    first = {"initial": at.zeros(2), "taps": [-2, -1]}
    states, _ = aesara.scan(step, at.constant(noise), [first], [p, q, c, at.exp(log_s)])
    value = -0.5 * ((at.constant(seen) - states) ** 2).sum()
    wrt = [p, q, c, log_s]

    def by_hand(p: float, q: float, c: float, log_s: float) -> Any:
        s, h1, h2, value = math.exp(log_s), 0.0, 0.0, 0.0
        p1 = p2 = q1 = q2 = c1 = c2 = s1 = s2 = 0.0
        by_p = by_q = by_c = by_s = 0.0
        for t in range(steps):
            h = c + p * h1 + q * h2 + s * noise[t]
            p1, p2 = p * p1 + q * p2 + h1, p1
            q1, q2 = p * q1 + q * q2 + h2, q1
            c1, c2 = p * c1 + q * c2 + 1.0, c1
            s1, s2 = p * s1 + q * s2 + s * noise[t], s1
            h1, h2 = h, h1
            rest = seen[t] - h
            value -= 0.5 * rest * rest
            by_p += rest * p1
            by_q += rest * q1
            by_c += rest * c1
            by_s += rest * s1
        return value, by_p, by_q, by_c, by_s

    f = aesara.function(wrt, [value, *aesara.grad(value, wrt)])
    return Case("two taps, with gradient", f, by_hand, (0.6, -0.2, 0.1, -0.5))


def recurrence(steps: int = 100_000) -> Case:
    """A number that each step makes a new one of."""
    x, s = at.dvector("x"), at.dscalar("s")
    states, _ = aesara.scan(lambda e, s: 0.9 * s + 0.1 * at.sin(s + e), x, [s])

    def by_hand(x: Any, s: float) -> Any:
        for e in x:
            s = 0.9 * s + 0.1 * math.sin(s + e)
        return s

    return Case("a number", aesara.function([x, s], states[-1]), by_hand, (RNG.normal(size=steps), 0.5))


def row(size: int = 1000, steps: int = 1000) -> Case:
    """Heat in a rod: each number of a row and its two neighbours."""
    u, k = at.dvector("u"), at.dscalar("k")

    def step(u: Any, k: Any) -> Any:
        return at.set_subtensor(u[1:-1], u[1:-1] + k * (u[:-2] - 2.0 * u[1:-1] + u[2:]))

    states, _ = aesara.scan(step, None, [u], [k], n_steps=steps)

    def by_hand(u: Any, k: float) -> Any:
        u, other = u.copy(), u.copy()
        for _ in range(steps):
            for i in range(1, u.size - 1):
                other[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])
            u, other = other, u
        return u

    return Case("a row and neighbours", aesara.function([u, k], states[-1]), by_hand, (RNG.normal(size=size), 0.1))


def plane(size: int = 100, steps: int = 100) -> Case:
    """Heat in a plate: each number of a plane and its four neighbours."""
    u, k = at.dmatrix("u"), at.dscalar("k")

    def step(u: Any, k: Any) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return at.set_subtensor(u[1:-1, 1:-1], u[1:-1, 1:-1] + k * (around - 4.0 * u[1:-1, 1:-1]))

    states, _ = aesara.scan(step, None, [u], [k], n_steps=steps)

    def by_hand(u: Any, k: float) -> Any:
        u, other = u.copy(), u.copy()
        for _ in range(steps):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                    other[i, j] = u[i, j] + k * (around - 4.0 * u[i, j])
            u, other = other, u
        return u

    start = RNG.normal(size=(size, size))
    return Case("a plane and neighbours", aesara.function([u, k], states[-1]), by_hand, (start, 0.1))


def oscillator(steps: int = 10_000) -> Case:
    """Two numbers, in steps of Runge and Kutta's method."""
    x, v, k = at.dscalars("x", "v", "k")

    def step(x: Any, v: Any, k: Any) -> Any:
        h = 0.01
        x1, v1 = v, -k * x
        x2, v2 = v + 0.5 * h * v1, -k * (x + 0.5 * h * x1)
        x3, v3 = v + 0.5 * h * v2, -k * (x + 0.5 * h * x2)
        x4, v4 = v + h * v3, -k * (x + h * x3)
        return x + h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4), v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)

    (xs, vs), _ = aesara.scan(step, None, [x, v], [k], n_steps=steps)

    def by_hand(x: float, v: float, k: float) -> Any:
        h = 0.01
        for _ in range(steps):
            x1, v1 = v, -k * x
            x2, v2 = v + 0.5 * h * v1, -k * (x + 0.5 * h * x1)
            x3, v3 = v + 0.5 * h * v2, -k * (x + 0.5 * h * x2)
            x4, v4 = v + h * v3, -k * (x + h * x3)
            x, v = x + h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4), v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
        return x, v

    return Case("two numbers", aesara.function([x, v, k], [xs[-1], vs[-1]]), by_hand, (1.0, 0.0, 2.0))


def until_small() -> Case:
    """Steps until a number is small, at most a million."""
    s, a = at.dscalars("s", "a")
    states, _ = aesara.scan(lambda s, a: (s * a, until(s * a < 1e-9)), None, [s], [a], n_steps=1_000_000)

    def by_hand(s: float, a: float) -> Any:
        for _ in range(1_000_000):
            s = s * a
            if s < 1e-9:
                break
        return s

    return Case("until a number is small", aesara.function([s, a], states[-1]), by_hand, (1.0, 0.998))


CASES = (autoregression, recurrence, row, plane, oscillator, until_small)


def same(one: Any, two: Any) -> bool:
    """Return whether both give the same results."""
    pairs = zip(*(r if isinstance(r, (list, tuple)) else [r] for r in (one, two)), strict=True)
    return all(np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in pairs)


def seconds(f: Callable[..., Any], arguments: tuple[Any, ...], calls: int) -> float:
    """The time of a call, over so many: that of the processor, since other programs may have it in between."""
    start = time.thread_time()
    for _ in range(calls):
        f(*arguments)
    return (time.thread_time() - start) / calls


def measured(functions: list[Callable[..., Any]], arguments: tuple[Any, ...], rounds: int) -> np.ndarray:
    """The times of calls, a row for each round, in which all functions have their turn."""
    calls = [max(1, round(ROUND / max(seconds(f, arguments, 1), 1e-7))) for f in functions]
    return np.array([[seconds(f, arguments, n) for f, n in zip(functions, calls)] for _ in range(rounds)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose names have this word")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    print(f"{'loop':26}{'compiled':>12}{'by hand':>12}{'ratio':>8}")
    for build in CASES:
        case = build()
        if options.only not in case.name:
            continue
        functions = [case.compiled]
        if numba is not None:
            functions.append(numba.njit(case.by_hand))
            assert same(*(f(*case.arguments) for f in functions)), case.name
        times = measured(functions, case.arguments, options.rounds)
        shown = "".join(f"{1e6 * t:9.1f} us" for t in np.median(times, axis=0))
        ratio = f"{np.median(times[:, 0] / times[:, 1]):8.2f}" if numba is not None else ""
        print(f"{case.name:26}{shown}{ratio}", flush=True)


if __name__ == "__main__":
    main()
