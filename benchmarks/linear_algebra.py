"""Measure linear algebra of statistics beside SciPy, and beside JAX and PyTensor where those are installed.

    OMP_NUM_THREADS=1 python benchmarks/linear_algebra.py [--cases gp-100,kalman-4] [--rounds 15] [--cpu]

All run in one process with one thread each: set the variable, as above, before NumPy loads its BLAS. Each line is a
case: microseconds of a call, the median over rounds in which the libraries take turns, and how many times as long the
fastest of the others takes. Results are compared with SciPy's before. First calls are compiled with empty caches if
`XDG_CACHE_HOME` and the compile folder of PyTensor are new.

With ``--cpu`` the time is that of the process on its processors, not that of the clock: on a machine that does other
work too, that changes less.
"""

import argparse
import importlib.util
import math
import os
import statistics
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np
import scipy.linalg

import aesara
import aesara.tensor as at

RNG = np.random.default_rng(0)
TWO_PI = math.log(2 * math.pi)


# -- formulas, for a namespace `xp` with `cholesky`, `solve_lower`, `qr` and `scan` ----------------------------------


def gp(xp, parameters, d2, y):
    """The log marginal likelihood of a Gaussian process."""
    length, size, noise = parameters[0], parameters[1], parameters[2]
    n = y.shape[0]
    covariance = xp.exp(2 * size - 0.5 * d2 * xp.exp(-2 * length)) + xp.exp(2 * noise) * xp.eye(n)
    factor = xp.cholesky(covariance)
    half = xp.solve_lower(factor, y)
    return -0.5 * (half**2).sum() - xp.log(xp.diag(factor)).sum() - 0.5 * n * TWO_PI


def normal(xp, a, mean, x):
    """The log density of rows under a multivariate normal distribution with the covariance ``a @ a.T + 1``."""
    factor = xp.cholesky(xp.dot(a, a.T) + xp.eye(8))
    half = xp.solve_lower(factor, (x - mean).T)
    return -0.5 * (half**2).sum() - x.shape[0] * (xp.log(xp.diag(factor)).sum() + 4 * TWO_PI)


def kalman(xp, change, noise, look, y):
    """The log likelihood of observations of two numbers."""
    n = change.shape[0]

    def step(seen, mean, covariance, total):
        mean, covariance = xp.dot(change, mean), xp.dot(xp.dot(change, covariance), change.T) + noise
        error = seen - xp.dot(look, mean)
        factor = xp.cholesky(xp.dot(xp.dot(look, covariance), look.T) + 0.1 * xp.eye(2))
        half, gain = xp.solve_lower(factor, error), xp.solve_lower(factor, xp.dot(look, covariance))
        total = total - 0.5 * (half**2).sum() - xp.log(xp.diag(factor)).sum() - TWO_PI
        return mean + xp.dot(gain.T, half), covariance - xp.dot(gain.T, gain), total

    return xp.scan(step, y, (xp.zeros(n), xp.eye(n), xp.zeros(())))


def small(xp, a, b):
    """Solutions for many definite matrices of order 4."""
    factor = xp.cholesky(a)
    half = xp.solve_lower(factor, b)
    return xp.solve_lower_transposed(factor, half)


def least_squares(xp, x, y):
    q, r = xp.qr(x)
    return xp.solve_upper(r, xp.dot(q.T, y))


def _definite(n):
    a = RNG.normal(size=(n, n))
    return a @ a.T / n + np.eye(n)


def _of_gp(n):
    x = np.sort(RNG.uniform(0, 10, n))
    return np.array([0.1, 0.2, -1.0]), (x[:, None] - x) ** 2, np.sin(x) + 0.3 * RNG.normal(size=n)


def _of_kalman(n):
    change = 0.9 * np.linalg.qr(RNG.normal(size=(n, n)))[0]
    return change, 0.1 * _definite(n), RNG.normal(size=(2, n)), RNG.normal(size=(200, 2))


def _of_small():
    a = RNG.normal(size=(100_000, 4, 4))
    return a @ a.swapaxes(1, 2) + 4 * np.eye(4), RNG.normal(size=(100_000, 4, 1))


#: the formula, its inputs, and of how many of them the gradient is wanted
CASES = {
    "gp-100": (gp, lambda: _of_gp(100), 1),
    "gp-500": (gp, lambda: _of_gp(500), 1),
    "normal": (normal, lambda: (RNG.normal(size=(8, 8)), RNG.normal(size=8), RNG.normal(size=(1000, 8))), 2),
    "kalman-4": (kalman, lambda: _of_kalman(4), 0),
    "kalman-20": (kalman, lambda: _of_kalman(20), 0),
    "cholesky-4x4": (small, _of_small, 0),
    "qr": (least_squares, lambda: (RNG.normal(size=(1000, 20)), RNG.normal(size=1000)), 0),
}


# -- libraries -------------------------------------------------------------------------------------------------------


class Ours:
    exp, log, dot, diag, eye, zeros, cholesky, qr = map(
        staticmethod, (at.exp, at.log, at.dot, at.diag, at.eye, at.zeros, at.linalg.cholesky, at.linalg.qr)
    )

    def solve_lower(self, a, b):
        return at.linalg.solve_triangular(a, b, lower=True)

    def solve_upper(self, a, b):
        return at.linalg.solve_triangular(a, b)

    def solve_lower_transposed(self, a, b):
        return at.linalg.solve_triangular(a, b, lower=True, trans=1)

    def scan(self, step, sequence, states):
        made, _ = aesara.scan(step, sequences=sequence, outputs_info=list(states))
        return made[-1][-1]

    def compiled(self, formula, inputs, gradients):
        variables = [at.tensor("float64", x.shape) for x in inputs]
        result = formula(self, *variables)
        outputs = [result, *aesara.grad(result, variables[:gradients])] if gradients else [result]
        function = aesara.function(variables, outputs)
        return lambda: function(*inputs)


class Jax:
    def __init__(self):
        import jax
        import jax.numpy as jnp
        from jax.scipy.linalg import solve_triangular

        jax.config.update("jax_enable_x64", True)
        self.jax, self.jnp = jax, jnp
        self.cholesky, self.qr = jnp.linalg.cholesky, jnp.linalg.qr
        self.solve_lower = lambda a, b: solve_triangular(a, b, lower=True)
        self.solve_upper = lambda a, b: solve_triangular(a, b)
        self.solve_lower_transposed = lambda a, b: solve_triangular(a, b, lower=True, trans=1)
        for name in ("exp", "log", "dot", "diag", "eye", "zeros"):
            setattr(self, name, getattr(jnp, name))

    def scan(self, step, sequence, states):
        return self.jax.lax.scan(lambda state, seen: (step(seen, *state), None), states, sequence)[0][-1]

    def compiled(self, formula, inputs, gradients):
        arrays = [self.jnp.asarray(x) for x in inputs]

        def whole(*given):
            if not gradients:
                return [formula(self, *given)]
            value, slopes = self.jax.value_and_grad(lambda *g: formula(self, *g), tuple(range(gradients)))(*given)
            return [value, *slopes]

        function = self.jax.jit(whole)
        return lambda: self.jax.block_until_ready(function(*arrays))


class Pytensor:
    """In one of its modes, without checks of arguments."""

    def __init__(self, mode):
        import pytensor
        import pytensor.tensor as pt

        self.pytensor, self.pt, self.mode = pytensor, pt, mode
        self.cholesky = pt.linalg.cholesky
        for name in ("exp", "log", "dot", "diag", "eye", "zeros"):
            setattr(self, name, getattr(pt, name))

    def qr(self, x):
        return self.pt.linalg.qr(x, mode="economic")

    def solve_lower(self, a, b, **options):
        return self.pt.linalg.solve_triangular(a, b, lower=True, **options)

    def solve_upper(self, a, b):
        return self.pt.linalg.solve_triangular(a, b)

    def solve_lower_transposed(self, a, b):
        return self.solve_lower(a, b, trans=1)

    def scan(self, step, sequence, states):
        made, _ = self.pytensor.scan(step, sequences=sequence, outputs_info=list(states))
        return made[-1][-1]

    def compiled(self, formula, inputs, gradients):
        variables = [self.pt.tensor(dtype="float64", shape=x.shape) for x in inputs]
        result = formula(self, *variables)
        outputs = [result]
        if gradients:
            outputs += self.pytensor.grad(result, variables[:gradients])
        function = self.pytensor.function(variables, outputs, mode=self.mode, trust_input=True)
        return lambda: function(*inputs)


class Scipy:
    """Called directly, with gradients by hand."""

    exp, log = np.exp, np.log
    dot, diag, eye, zeros = map(staticmethod, (np.dot, np.diag, np.eye, np.zeros))

    def cholesky(self, a):
        return np.linalg.cholesky(a) if a.ndim > 2 else scipy.linalg.cholesky(a, lower=True, check_finite=False)

    def solve_lower(self, a, b):
        return scipy.linalg.solve_triangular(a, b, lower=True, check_finite=False)

    def scan(self, step, sequence, states):
        for seen in sequence:
            states = step(seen, *states)
        return states[-1]

    def compiled(self, formula, inputs, gradients):
        function = getattr(self, f"_{formula.__name__}")
        return lambda: function(*inputs)

    def _gp(self, parameters, d2, y):
        length, size, noise = parameters
        smooth = np.exp(2 * size - 0.5 * d2 * np.exp(-2 * length))
        factor = self.cholesky(smooth + np.exp(2 * noise) * np.eye(len(y)))
        weights = scipy.linalg.cho_solve((factor, True), y, check_finite=False)
        value = -0.5 * y @ weights - np.log(np.diag(factor)).sum() - 0.5 * len(y) * TWO_PI
        inverse = scipy.linalg.cho_solve((factor, True), np.eye(len(y)), check_finite=False)
        slope = 0.5 * (np.outer(weights, weights) - inverse)
        of_smooth = slope * smooth
        of_all = (
            (of_smooth * d2).sum() * np.exp(-2 * length),
            2 * of_smooth.sum(),
            2 * np.exp(2 * noise) * slope.trace(),
        )
        return [value, np.array(of_all)]

    def _normal(self, a, mean, x):
        factor = self.cholesky(a @ a.T + np.eye(8))
        apart = (x - mean).T
        half = self.solve_lower(factor, apart)
        value = -0.5 * (half**2).sum() - len(x) * (np.log(np.diag(factor)).sum() + 4 * TWO_PI)
        weights = scipy.linalg.solve_triangular(factor, half, lower=True, trans=1, check_finite=False)
        inverse = scipy.linalg.cho_solve((factor, True), np.eye(8), check_finite=False)
        slope = 0.5 * (weights @ weights.T - len(x) * inverse)
        return [value, 2 * slope @ a, weights.sum(axis=1)]

    def _kalman(self, *inputs):
        return [kalman(self, *inputs)]

    def _small(self, a, b):
        factor = np.linalg.cholesky(a)
        return [np.linalg.solve(factor.swapaxes(1, 2), np.linalg.solve(factor, b))]

    def _least_squares(self, x, y):
        q, r = scipy.linalg.qr(x, mode="economic", check_finite=False)
        return [scipy.linalg.solve_triangular(r, q.T @ y, check_finite=False)]


def libraries():
    found = {"ours": Ours(), "scipy": Scipy()}
    if importlib.util.find_spec("jax"):
        found["jax"] = Jax()
    if importlib.util.find_spec("pytensor"):
        found |= {"pytensor": Pytensor("FAST_RUN"), "numba": Pytensor("NUMBA")}
    return found


# -- measuring -------------------------------------------------------------------------------------------------------


def _seconds(function, count, clock):
    start = clock()
    for _ in range(count):
        function()
    return (clock() - start) / count


def measure(functions, rounds, clock):
    """Median seconds of a call, by library, which take turns."""
    counts = {}
    for name, function in functions.items():
        seconds = max(1e-6, min(_seconds(function, 1, clock) for _ in range(3)))
        counts[name] = max(2, int(0.05 / seconds))
    found = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            found[name].append(_seconds(function, counts[name], clock))
    return {name: statistics.median(times) for name, times in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cpu", action="store_true", help="measure the time on processors, not that of the clock")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    found = libraries()
    print(f"{'':14}" + "".join(f"{name:>12}" for name in found) + f"{'fastest/ours':>14}   first call [s]")
    for case in options.cases.split(","):
        formula, make, gradients = CASES[case]
        inputs = make()
        functions, first = {}, {}
        for name, library in found.items():
            start = clock()
            functions[name] = library.compiled(formula, inputs, gradients)
            results = functions[name]()
            first[name] = clock() - start
            if name == "ours":
                wanted = results
            for one, other in zip(results, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7 * np.abs(other).max())
        times = measure(functions, options.rounds, clock)
        others = min(seconds for name, seconds in times.items() if name != "ours")
        line = "".join(f"{times[name] * 1e6:12.1f}" for name in found)
        started = " ".join(f"{name} {first[name]:.2f}" for name in found if name != "scipy")
        print(f"{case:14}{line}{others / times['ours']:14.2f}   {started}", flush=True)


if __name__ == "__main__":
    main()
