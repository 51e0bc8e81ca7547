"""Measure long loops on one thread and on all cores, in turns.

    python benchmarks/threads.py [--calls 21] [NAME ...]

Each line is a graph whose name contains one of the arguments (by default each), with the medians in microseconds on one
thread and on all, and their ratio. The machine should be quiet.
"""

import argparse
import statistics
import time

import numpy as np

import aesara
import aesara.tensor as at
from aesara.link.llvm import workers
from aesara.tensor.slinalg import cholesky

X, A, B = at.dmatrix("X"), at.dtensor3("A"), at.dtensor3("B")
x, i = at.dvector("x"), at.lvector("i")
rng = np.random.default_rng(1)
VECTOR, MATRIX, PLACES = rng.random(2_000_000), rng.random((2000, 1000)), rng.integers(0, 2_000_000, 1_000_000)
MEMBERS = rng.random((2000, 20, 20))
DEFINITE = MEMBERS @ MEMBERS.transpose(0, 2, 1) + 20 * np.eye(20)

#: inputs, result and arguments by name
CASES = {
    "exp(-x**2) * tanh(x)": ([x], at.exp(-(x**2)) * at.tanh(x), [VECTOR]),
    "x + 1": ([x], x + 1, [VECTOR]),
    "sum of sin(x) * x": ([x], (at.sin(x) * x).sum(), [VECTOR]),
    "sum of squares": ([x], (x**2).sum(), [VECTOR]),
    "largest": ([x], x.max(), [VECTOR]),
    "sums of rows": ([X], X.sum(axis=1), [MATRIX]),
    "sums of columns": ([X], X.sum(axis=0), [MATRIX]),
    "logsumexp of rows": ([X], at.logsumexp(X, axis=1), [MATRIX]),
    "logsumexp of columns": ([X], at.logsumexp(X, axis=0), [MATRIX]),
    "softmax of rows": ([X], at.special.softmax(X, axis=1), [MATRIX]),
    "running sums of rows": ([X], at.cumsum(X, axis=1), [MATRIX]),
    "X.T + 1": ([X], X.T + 1, [MATRIX]),
    "gather": ([x, i], x[i], [VECTOR, PLACES]),
    "sort of rows": ([X], at.sort(X, axis=1), [MATRIX[:400]]),
    "Cholesky factors of order 20": ([A], cholesky(A), [DEFINITE]),
    "products of order 100": ([A, B], at.matmul(A, B), [rng.random((60, 100, 100))] * 2),
}


def measure(f, arguments, calls):
    """Return the median seconds of a call on one thread and on all, in turns."""
    times = {1: [], workers.MOST_THREADS: []}
    for _ in range(calls):
        for number, seconds in times.items():
            workers.limit_threads(number)
            f(*arguments)
            start = time.perf_counter()
            f(*arguments)
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in times.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=21)
    parser.add_argument("names", nargs="*", default=[""])
    options = parser.parse_args()
    print(f"{workers.number_of_threads()} threads")
    for name, (inputs, result, arguments) in CASES.items():
        if any(part in name for part in options.names):
            alone, together = measure(aesara.function(inputs, result), arguments, options.calls)
            print(f"{name:30} {alone * 1e6:9.0f} {together * 1e6:9.0f} us  {alone / together:5.2f}")


if __name__ == "__main__":
    main()
