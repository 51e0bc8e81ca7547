"""A series that remembers: its level follows what came before, and so does its variance, GARCH(1, 1), by a scan."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from sampling import main

STEPS = 300


def simulate(rng):
    """The series."""
    y, variance = np.zeros(STEPS), 1.0
    for t in range(1, STEPS):
        variance = 0.2 + 0.3 * (y[t - 1] - 0.6 * y[t - 2]) ** 2 * (t > 1) + 0.5 * variance
        y[t] = 0.6 * y[t - 1] + rng.normal(0, np.sqrt(variance))
    return y


def build():
    """The model."""
    y = simulate(np.random.default_rng(3))
    with pm.Model() as model:
        memory = pm.Uniform("memory", -1, 1)
        base = pm.HalfNormal("base", 1)
        share = pm.Dirichlet("share", np.ones(3))  # of the last shock, of the last variance, and of neither
        shock = y[1:] - memory * y[:-1]

        def step(last, variance, base, share):
            return base + share[0] * last**2 + share[1] * variance

        start, others = [pt.var(shock)], [base, share]
        variance = pytensor.scan(step, [shock[:-1]], start, others, return_updates=False)
        pm.Normal("first", memory * y[0], pt.std(shock), observed=y[1])
        pm.Normal("rest", memory * y[1:-1], pt.sqrt(variance), observed=y[2:])
    return model


if __name__ == "__main__":
    main(build, ["memory", "base", "share"])
