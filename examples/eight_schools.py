"""Sample the effects of coaching in eight schools by Hamiltonian Monte Carlo.

In eight schools the effect of coaching on a test was estimated, each with its own standard error (Rubin, "Estimation
in parallel randomized experiments", 1981). How far can the schools be told apart?

    mu ~ Normal(0, 5)               log tau ~ Normal(1, 1)
    effect[k] ~ Normal(mu, tau)     estimate[k] ~ Normal(effect[k], error[k])

A chain is one `scan`: each step draws momenta, follows the leapfrog integrator in a loop of its own, and goes where
that has led to or stays. Gradients are those of the density's expression. Draws are functions of a key and the number
of the step (`aesara.tensor.random.threefry`), so that a key is all that has to be known to repeat a chain. Prints what
is known of the schools, with the means by numerical integration beside, and writes the effects to eight_schools.png.
"""

import argparse
import sys
import time

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import aesara
import aesara.tensor as at
from aesara.tensor.random import threefry

SCHOOLS = "ABCDEFGH"
ESTIMATE = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERROR = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
SIZE = 2 + len(ESTIMATE)
LEAPS = 12


def log_density(position):
    """Of a vector: mu, the logarithm of tau, and each school's effect as ``mu + tau * z``."""
    mu, log_tau, z = position[0], position[1], position[2:]
    effects = mu + at.exp(log_tau) * z
    prior = (mu / 5.0) ** 2 + (log_tau - 1.0) ** 2 + (z**2).sum()
    return -0.5 * (prior + (((ESTIMATE - effects) / ERROR) ** 2).sum())


def leap(position, momentum, step_size):
    """One step of the leapfrog integrator."""
    momentum = momentum + 0.5 * step_size * aesara.grad(log_density(position), position)
    position = position + step_size * momentum
    momentum = momentum + 0.5 * step_size * aesara.grad(log_density(position), position)
    return position, momentum


def transition(number, position, key, step_size):
    """The next position of a chain, and whether it is a new one."""
    keys = threefry.split(threefry.fold_in(key, number), 2)
    momentum = threefry.normal(keys[0], size=SIZE)
    path, _ = aesara.scan(leap, outputs_info=[position, momentum], non_sequences=step_size, n_steps=LEAPS)
    end, last = path[0][-1], path[1][-1]
    gain = log_density(end) - 0.5 * (last**2).sum() - log_density(position) + 0.5 * (momentum**2).sum()
    accepted = at.log(threefry.uniform(keys[1])) < gain
    return at.switch(accepted, end, position), accepted


def compile_chain():
    """A function of a key, a start, a step size and a number of steps: the positions, and which were accepted."""
    key, start = at.tensor("uint32", shape=(2,), name="key"), at.tensor("float64", shape=(SIZE,), name="start")
    step_size, steps = at.dscalar("step_size"), at.lscalar("steps")
    (positions, accepted), _ = aesara.scan(
        transition, sequences=at.arange(steps), outputs_info=[start, None], non_sequences=[key, step_size]
    )
    return aesara.function([key, start, step_size, steps], [positions, accepted], name="chain")


def effects_of(positions: np.ndarray) -> np.ndarray:
    """The effects of the schools."""
    return positions[..., :1] + np.exp(positions[..., 1:2]) * positions[..., 2:]


def exact_means() -> np.ndarray:
    """The means of the effects: given tau all is normal, and over tau there is a sum."""
    log_tau = np.linspace(-6.0, 6.0, 2001)
    variance = ERROR**2 + np.exp(2 * log_tau)[:, None]
    precision = 1 / 25 + (1 / variance).sum(axis=1)
    mu = (ESTIMATE / variance).sum(axis=1) / precision
    fit = 0.5 * (precision * mu**2 - (ESTIMATE**2 / variance).sum(axis=1) - np.log(variance).sum(axis=1))
    weight = fit - 0.5 * np.log(precision) - 0.5 * (log_tau - 1.0) ** 2
    weight = np.exp(weight - weight.max())
    share = np.exp(2 * log_tau)[:, None] / variance
    return weight @ (mu[:, None] + share * (ESTIMATE - mu[:, None])) / weight.sum()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--steps", type=int, default=5000, help="of each chain, of which a tenth is not used")
    parser.add_argument("--step-size", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", default="eight_schools.png", metavar="FILE")
    options = parser.parse_args(argv)

    started = time.perf_counter()
    chain = compile_chain()
    compiled = time.perf_counter()
    keys = threefry.split(threefry.key(options.seed), options.chains).eval()
    runs = [chain(key, np.zeros(SIZE), options.step_size, options.steps) for key in keys]
    finished = time.perf_counter()
    kept = options.steps // 10
    effects = np.array([effects_of(positions[kept:]) for positions, _ in runs])
    accepted = np.mean([accepted for _, accepted in runs])
    leaps = options.chains * options.steps * LEAPS
    print(
        f"compiled in {compiled - started:.2f} s, {leaps} leaps in {finished - compiled:.2f} s, accepted {accepted:.0%}"
    )

    exact, error = exact_means(), effects.mean(axis=1).std(axis=0) / options.chains**0.5
    mean, low, high = effects.mean(axis=(0, 1)), *np.quantile(effects, (0.05, 0.95), axis=(0, 1))
    print("school  estimate  mean of effect (exact)   nine of ten")
    for k, name in enumerate(SCHOOLS):
        print(f"{name:>6}  {ESTIMATE[k]:8.1f}  {mean[k]:14.2f} ({exact[k]:5.2f})   {low[k]:5.1f} to {high[k]:4.1f}")

    figure, axes = plt.subplots(figsize=(7, 4))
    places = np.arange(len(SCHOOLS))
    axes.errorbar(places - 0.1, ESTIMATE, 1.64 * ERROR, fmt="o", color="0.6", label="estimate and nine of ten")
    axes.errorbar(places + 0.1, mean, [mean - low, high - mean], fmt="o", label="effect given all schools")
    axes.set_xticks(places, SCHOOLS)
    axes.set_xlabel("school")
    axes.set_ylabel("effect of coaching (points)")
    axes.legend()
    figure.savefig(options.plot, dpi=120, bbox_inches="tight")
    return int(np.any(abs(mean - exact) > 6 * error + 0.2))


if __name__ == "__main__":
    sys.exit(main())
