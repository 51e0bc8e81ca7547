"""Search for rewritten formulas that are worse than as written; run by ``python -m tests.accuracy.campaign``.

``python -m tests.accuracy.campaign [COUNT [FIRST]]`` compares the written formulas of ``tests.accuracy.formulas``, and
then as many random ones as given, from a seed: the value, the slope and the second derivative with all rules, and as
written, with neither rules nor other forms to differentiate, each with what mpmath finds. A rule may replace a formula
only by one that is at least as good at every point of its domain. Formulas of which mpmath does not find the truth
within `LIMIT` are left out, and counted.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph import pullback
from aesara.graph.nodes import Variable
from tests.accuracy.formulas import WRITTEN, random_formula
from tests.accuracy.written import truth

AS_WRITTEN = Mode(linker="py", optimizer=None)
RULES = Mode(linker="py", optimizer="fast_run")

SIZES = (1e-300, 1e-40, 1e-8, 0.3, 1.0, 5.0, 12.0, 26.0, 40.0, 88.0, 300.0, 600.0, 709.0, 710.0, 745.0, 1e4, 1e8)
POINTS = np.array([0.0, *SIZES, *[-size for size in SIZES]])
INFINITE = np.array([np.inf, -np.inf])
#: As many times further from the truth counts as worse: than the result as written,
TIMES = 100
#: and than that of a machine with its digits and no limits of range,
TIMES_ROUNDING = 1e4
#: and than the truth itself.
TOLERANCE = 1e-12
#: Differences of results below the normal numbers do not count.
SMALLEST = 1e-300
#: What is beyond counts as infinite.
LARGEST = 1e307
#: Seconds for a formula.
LIMIT = 20.0
ORDERS = ("value", "slope", "second derivative")


@dataclass(frozen=True)
class Finding:
    """A result with all rules that is worse than as written; `wanted` is NaN where the truth is not known."""

    name: str
    order: str
    x: float
    y: float
    wanted: float
    written: float
    rewritten: float

    def __str__(self) -> str:
        point = f"x={self.x:g}, y={self.y:g}"
        results = f"{self.wanted:.17g}, as written {self.written:.17g}, rewritten {self.rewritten:.17g}"
        return f"{self.name}: {self.order} at {point}: {results}"


@contextmanager
def differentiated_as_written() -> Iterator[None]:
    """Nodes are differentiated as they are, with no other form in the place of any."""
    found = pullback.as_differentiated
    pullback.as_differentiated = lambda node, kept: node
    try:
        yield
    finally:
        pullback.as_differentiated = found


def with_derivatives(x: Variable, out: Variable) -> list[Variable]:
    slope = aesara.grad(out.sum(), x, disconnected_inputs="ignore")
    return [out, slope, aesara.grad(slope.sum(), x, disconnected_inputs="ignore")]


def computed(x: Variable, y: Variable, out: Variable, points: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results as written, those with all rules, and the values of a function that has no derivatives."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with differentiated_as_written():
            written = aesara.function([x, y], with_derivatives(x, out), mode=AS_WRITTEN, on_unused_input="ignore")
        rewritten = aesara.function([x, y], with_derivatives(x, out), mode=RULES, on_unused_input="ignore")
        alone = aesara.function([x, y], out, mode=RULES, on_unused_input="ignore")
        return [np.array(written(*points)), np.array(rewritten(*points)), np.array([alone(*points)])]


def errors(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the distances of results from the truth; infinite for NaN, very large for the wrong infinity."""
    with np.errstate(all="ignore"):
        far = np.abs(np.clip(found, -LARGEST, LARGEST) - np.clip(wanted, -LARGEST, LARGEST))
        return np.where(np.isnan(far), np.inf, far)


def worse(
    name: str, x: Variable, y: Variable, out: Variable, points: Sequence[np.ndarray]
) -> tuple[int, list[Finding]]:
    """The number of results that were compared, and those that are worse than as written."""
    written, rewritten, alone = computed(x, y, out, points)
    with np.errstate(all="ignore"):
        wanted, rounding = truth([x, y], out, points)
    found, compared = [], 0
    afters = [rewritten[0], alone[0]], rewritten[1:2], rewritten[2:]
    for order, wants, noise, before, others in zip(ORDERS, wanted, rounding, written, afters, strict=True):
        is_known = ~np.isnan(wants)
        compared += int(is_known.sum())
        for after in others:
            with np.errstate(all="ignore"):
                limit = np.maximum(TIMES * errors(before, wants), TIMES_ROUNDING * noise)
                bad = is_known & (errors(after, wants) > np.maximum(limit, TOLERANCE * np.abs(wants) + SMALLEST))
            # Where the truth is not known, at poles and at infinity, at least no number gets lost; but what the
            # logarithm or root of a negative number gives only because that is rounded to zero is none.
            lacks_value = np.isnan(noise) & ~np.isnan(written[0])
            bad |= ~is_known & ~lacks_value & np.isnan(after) & np.isfinite(before)
            found += [Finding(name, order, *row) for row in zip(*(v[bad] for v in (*points, wants, before, after)))]
    return compared, found


def points(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ordinary points and extremes for `x`, and others for `y`."""
    rng = np.random.default_rng(seed)
    ordinary = rng.normal(size=4) * 3
    x = np.concatenate([POINTS, ordinary])
    kinds = rng.integers(0, 4, x.size)
    y = np.select(
        [kinds == 0, kinds == 1], [rng.choice(POINTS, x.size), x + rng.normal(size=x.size)], rng.normal(size=x.size) * 3
    )
    return x, y


def formulas(count: int, first: int) -> Iterator[tuple[str, int]]:
    """Those that are written in a list, by number, and random ones of some seeds."""
    yield from ((name, k) for k, name in enumerate(WRITTEN))
    seen = set()
    for seed in range(first, first + count):
        name, _ = random_formula(seed, *at.dvectors("xy"))
        if name not in seen and ("x" in name.replace("exp", "")):
            seen.add(name)
            yield f"[{seed}] {name}", seed


def work(tasks: Connection) -> None:
    """Compare formulas, as long as there are any, and answer with what `worse` finds, or with an error."""
    x, y = at.dvectors("xy")
    while True:
        name, seed = tasks.recv()
        out = WRITTEN[name](x, y) if name in WRITTEN else random_formula(seed, x, y)[1]
        try:
            tasks.send(worse(name, x, y, out, points(seed)))
        except Exception as error:
            tasks.send(f"{type(error).__name__}: {str(error)[:200]}")


class Worker:
    """Another process that compares formulas: a long computation in mpmath can only be ended with its process."""

    def __init__(self, target: Callable[[Connection], None] = work) -> None:
        self.target = target
        self.process: Any = None

    def compare(
        self, name: str, seed: int, limit: float = LIMIT, start: float = LIMIT
    ) -> tuple[int, list[Finding]] | str | None:
        """Run `worse` in the process; return its findings, the text of an error, or None after `limit` seconds.

        A process that has to be started has so many seconds more for that.
        """
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.tasks, other = context.Pipe()
            self.process = context.Process(target=self.target, args=(other,), daemon=True)
            self.process.start()
            other.close()
            limit += start
        self.tasks.send((name, seed))
        if not self.tasks.poll(limit):
            self.close()
            return None
        try:
            return self.tasks.recv()
        except EOFError:
            self.close()
            return "the process that computes it has ended"

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def main(count: int = 300, first: int = 0, examples: int = 3) -> int:
    start = time.monotonic()
    worker, total, compared, bad = Worker(), 0, 0, Counter()
    left_out = 0
    for name, seed in formulas(count, first):
        total += 1
        answer = worker.compare(name, seed)
        if answer is None:
            print(f"{name}: left out, it takes more than {LIMIT:g} s", flush=True)
            left_out += 1
            continue
        if isinstance(answer, str):
            print(f"{name}: {answer}", flush=True)
            bad["failures"] += 1
            continue
        number, found = answer
        compared += number
        if found:
            bad["formulas"] += 1
        for k, finding in enumerate(found):
            bad[finding.order] += 1
            if k < examples:
                print(finding, flush=True)
    worker.close()
    seconds = time.monotonic() - start
    print(f"{total} formulas ({left_out} left out), {compared} results compared in {seconds:.0f} s", end="; ")
    print(f"worse than written: {dict(bad)}")
    return sum(bad.values())


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:3]))))
