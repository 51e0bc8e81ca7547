"""Measure draws beside those of NumPy, and of JAX and PyTensor where these are installed.

    python benchmarks/random_draws.py [--count 10000000] [--steps 100000] [--repeat 7]

Plain draws; ``x + sigma * normal(size=x.shape)``; a random walk by `scan`, of one number and a draw in each
step. Each line has median milliseconds here and of the others, measured in turns, and ratios of time here to theirs.
The time is that of the process (all its threads) where the machine is shared, with ``--cpu``.
"""

import argparse
import statistics
import time

import numpy as np

import aesara
import aesara.tensor as at

try:
    import jax
except ImportError:
    jax = None
try:
    import pytensor
except ImportError:
    pytensor = None

#: names, their parameters here, and NumPy's
PLAIN = (
    ("standard normal", at.random.normal, (), "standard_normal", ()),
    ("normal", at.random.normal, (2.0, 3.0), "normal", (2.0, 3.0)),
    ("standard exponential", at.random.exponential, (), "standard_exponential", ()),
    ("exponential", at.random.exponential, (2.5,), "exponential", (2.5,)),
    ("gamma, shape 2.5", at.random.gamma, (2.5, 1.0), "gamma", (2.5, 1.0)),
    ("gamma, shape 0.5", at.random.gamma, (0.5, 1.0), "gamma", (0.5, 1.0)),
    ("Poisson, mean 3", at.random.poisson, (3.0,), "poisson", (3.0,)),
    ("Poisson, mean 50", at.random.poisson, (50.0,), "poisson", (50.0,)),
    ("uniform", at.random.uniform, (), "random", ()),
    ("uniform between bounds", at.random.uniform, (-1.0, 2.0), "uniform", (-1.0, 2.0)),
    ("beta", at.random.beta, (2.0, 3.0), "beta", (2.0, 3.0)),
    ("integers", at.random.integers, (0, 1000), "integers", (0, 1000)),
    ("binomial", at.random.binomial, (20, 0.3), "binomial", (20, 0.3)),
)


def medians(functions, repeat, clock):
    """The median time of each function, in milliseconds, called in turns."""
    times = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(repeat):
        for function, found in zip(functions, times, strict=True):
            started = clock()
            function()
            found.append(1e3 * (clock() - started))
    return [statistics.median(found) for found in times]


def line(what, others, repeat, clock):
    """Measure, and print a line; `others` are functions by name, the first of them ours."""
    ours, *theirs = medians(list(others.values()), repeat, clock)
    shown = [f"{name} {t:9.2f} ({ours / t:5.3f})" for name, t in zip(list(others)[1:], theirs, strict=True)]
    print(f"{what:24} here {ours:9.2f}   " + "   ".join(shown), flush=True)


def drawn(distribution, parameters, **options):
    """A compiled function that draws and advances its generator, and lends its result."""
    rng = aesara.shared(np.random.default_rng(1))
    x = distribution(*parameters, rng=rng, **options)
    return aesara.function([], aesara.Out(x, borrow=True), updates=[(rng, x.owner.outputs[0])])


def fused(count):
    """``x + sigma * normal(size=x.shape)``, here and elsewhere."""
    numbers, rng = np.random.default_rng(0).random(count), np.random.default_rng(1)
    state, x, sigma = aesara.shared(np.random.default_rng(1)), at.dvector("x"), at.dscalar("sigma")
    noise = at.random.normal(size=x.shape, rng=state)
    updates = [(state, noise.owner.outputs[0])]
    f = aesara.function([x, sigma], aesara.Out(x + sigma * noise, borrow=True), updates=updates)
    found = {
        "here": lambda: f(numbers, 2.0),
        "numpy": lambda: numbers + 2.0 * rng.standard_normal(size=numbers.shape),
    }
    if jax is not None:
        jax.config.update("jax_enable_x64", True)
        step = jax.jit(lambda key, x, sigma: x + sigma * jax.random.normal(key, x.shape))
        key, there = jax.random.key(1), jax.numpy.asarray(numbers)
        found["jax"] = lambda: step(key, there, 2.0).block_until_ready()
    if pytensor is not None:
        pt = pytensor.tensor
        state, x, sigma = pytensor.shared(np.random.default_rng(1)), pt.dvector("x"), pt.dscalar("sigma")
        following, noise = pt.random.normal(size=x.shape, rng=state).owner.outputs
        g = pytensor.function([x, sigma], x + sigma * noise, updates={state: following})
        found["pytensor"] = lambda: g(numbers, 2.0)
    return found


def walks(steps):
    """Sums of normal numbers, one after another, here and elsewhere."""
    stream = at.random.RandomStream(1)
    path, updates = aesara.scan(lambda x: x + stream.normal(), outputs_info=[at.zeros(())], n_steps=steps)
    f = aesara.function([], aesara.Out(path, borrow=True), updates=updates)
    found = {"here": f}
    if jax is not None:

        def jax_step(carried, _):
            x, key = carried
            key, used = jax.random.split(key)
            x = x + jax.random.normal(used)
            return (x, key), x

        run = jax.jit(lambda key: jax.lax.scan(jax_step, (0.0, key), None, length=steps)[1])
        found["jax"] = lambda: run(jax.random.key(1)).block_until_ready()
    if pytensor is not None:
        pt = pytensor.tensor
        for mode in ("FAST_RUN", "NUMBA"):
            state = pytensor.shared(np.random.default_rng(1))

            def pytensor_step(x, state):
                following, noise = pt.random.normal(rng=state).owner.outputs
                return x + noise, following

            path, states = pytensor.scan(
                pytensor_step, outputs_info=[pt.zeros(()), state], n_steps=steps, return_updates=False
            )
            found[f"pytensor {mode}"] = pytensor.function([], path, updates={state: states}, mode=mode)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, default in (("count", 10_000_000), ("steps", 100_000), ("repeat", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--cpu", action="store_true", help="measure the time of the process, not that of a clock")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    print(f"{options.count} numbers: milliseconds, and ratios of time here to that of others")
    rng = np.random.default_rng(1)
    for what, distribution, parameters, method, theirs in PLAIN:
        f = drawn(distribution, parameters, size=options.count)
        others = {"here": f, "numpy": lambda: getattr(rng, method)(*theirs, size=options.count)}
        line(what, others, options.repeat, clock)
    line("x + sigma * normal", fused(options.count), options.repeat, clock)
    line(f"walk of {options.steps} steps", walks(options.steps), min(options.repeat, 3), clock)


if __name__ == "__main__":
    main()
