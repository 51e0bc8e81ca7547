"""Sample a hierarchical model with Hamiltonian Monte Carlo.

Radon was measured in 919 houses of 85 counties, on the ground floor or in the basement (simulated here, so
that the true values are known). Each county has an intercept and a slope of its own, drawn from common
distributions:

    intercept[c] = mu_a + sigma_a * a[c]      slope[c] = mu_b + sigma_b * b[c]      a, b ~ Normal(0, 1)
    measurement[i] ~ Normal(intercept[county[i]] + slope[county[i]] * floor[i], sigma_y)

The log-density is written as an expression; its gradient, which scatters the residuals of the houses back to
their counties, comes from `aesara.grad`. Both are compiled into one function, which the sampler calls some
ten thousand times. Writes the traces to radon.png.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import aesara
import aesara.tensor as at

COUNTIES, HOUSES = 85, 919
TRUTH = {"mu_a": 1.4, "mu_b": -0.7, "sigma_a": 0.35, "sigma_b": 0.4, "sigma_y": 0.75}
DIVERGED = 1000.0
SIZE = 5 + 2 * COUNTIES  # mu_a, mu_b, log sigma_a, log sigma_b, log sigma_y, a[85], b[85]


@dataclass(frozen=True)
class Houses:
    """Measurements: county, floor and radon level of each house."""

    county: np.ndarray
    floor: np.ndarray
    radon: np.ndarray


def simulate(rng: np.random.Generator) -> Houses:
    """Draw counties of uneven size, and measurements from the model with the values of `TRUTH`."""
    weights = rng.gamma(1.0, size=COUNTIES) + 0.1
    county = np.concatenate([np.arange(COUNTIES), rng.choice(COUNTIES, HOUSES - COUNTIES, p=weights / weights.sum())])
    floor = (rng.random(HOUSES) < 0.3).astype(float)
    intercept = TRUTH["mu_a"] + TRUTH["sigma_a"] * rng.normal(size=COUNTIES)
    slope = TRUTH["mu_b"] + TRUTH["sigma_b"] * rng.normal(size=COUNTIES)
    radon = intercept[county] + slope[county] * floor + TRUTH["sigma_y"] * rng.normal(size=HOUSES)
    return Houses(county.astype("int64"), floor, radon)


def normal(z, log_scale):
    """Log-density of a normal distribution, up to a constant."""
    return -0.5 * (z / at.exp(log_scale)) ** 2 - log_scale


def log_density(position, houses: Houses):
    """Log-density of the model at a vector of all its parameters, up to a constant."""
    mu_a, mu_b, log_a, log_b, log_y = (position[k] for k in range(5))
    a, b = position[5 : 5 + COUNTIES], position[5 + COUNTIES :]
    intercept, slope = mu_a + at.exp(log_a) * a, mu_b + at.exp(log_b) * b
    residual = houses.radon - intercept[houses.county] - slope[houses.county] * houses.floor
    # Half-normal priors for the scales; + log_*: they are sampled as logarithms.
    scales = sum(log_s - 0.5 * at.exp(2 * log_s) for log_s in (log_a, log_b, log_y))
    means = -0.5 * (mu_a / 10) ** 2 - 0.5 * (mu_b / 10) ** 2
    return normal(residual, log_y).sum() - 0.5 * (a**2).sum() - 0.5 * (b**2).sum() + means + scales


def compile_model(houses: Houses) -> Callable:
    """Compile a function from a position to the log-density and its gradient there."""
    position = at.dvector("position")
    value = log_density(position, houses)
    return aesara.function([position], [value, aesara.grad(value, position)], name="log_density_and_gradient")


class Adaptation:
    """Choose the step size so that proposals are accepted at a wanted rate (dual averaging)."""

    def __init__(self, step: float, wanted: float = 0.8) -> None:
        self.wanted, self.centre = wanted, np.log(10 * step)
        self.step, self.error, self.log_average, self.count = step, 0.0, 0.0, 0

    def update(self, accepted: float) -> None:
        """Take notice of the probability with which one proposal was accepted."""
        self.count += 1
        weight = 1 / (self.count + 10)
        self.error = (1 - weight) * self.error + weight * (self.wanted - accepted)
        log_step = self.centre - np.sqrt(self.count) / 0.05 * self.error
        forget = self.count**-0.75
        self.log_average = forget * log_step + (1 - forget) * self.log_average
        self.step = float(np.exp(log_step))

    def finish(self) -> None:
        """Keep to the average."""
        self.step = float(np.exp(self.log_average))


def sample(model: Callable, draws: int, warmup: int, leapfrogs: int, rng: np.random.Generator, label: str):
    """Run one chain. Return the positions after the warm-up, the acceptance rate, and the calls of `model`."""
    position = 0.1 * rng.normal(size=SIZE)
    value, gradient = model(position)
    scale = np.ones(SIZE)
    adaptation = Adaptation(0.1)
    kept, accepted, calls, moments = np.empty((draws, SIZE)), [], 1, []
    for k in track(range(warmup + draws), description=label):
        momentum = rng.normal(size=SIZE)
        start = value - 0.5 * momentum @ momentum
        new, new_value, new_gradient = position, value, gradient
        # A random length, lest the trajectory close in itself.
        step, count = adaptation.step, int(rng.integers(leapfrogs // 2, leapfrogs + 1))
        for _ in range(count):
            momentum = momentum + 0.5 * step * scale * new_gradient
            new = new + step * scale * momentum
            new_value, new_gradient = model(new)
            calls += 1
            momentum = momentum + 0.5 * step * scale * new_gradient
            if not new_value - 0.5 * momentum @ momentum > start - DIVERGED:
                break  # the step was so large that the trajectory left the distribution: will be rejected
        log_ratio = new_value - 0.5 * momentum @ momentum - start
        probability = float(np.exp(min(0.0, log_ratio))) if np.isfinite(log_ratio) else 0.0
        if rng.random() < probability:
            position, value, gradient = new, new_value, new_gradient
        if k < warmup:
            adaptation.update(probability)
            if warmup // 4 <= k < warmup // 2:
                moments.append(position)
            elif k == warmup // 2:
                # From here on each coordinate is measured in its own standard deviation.
                scale = np.std(moments, axis=0) + 1e-3
                adaptation = Adaptation(min(1.0, adaptation.step / scale.mean()))
            elif k == warmup - 1:
                adaptation.finish()
        else:
            kept[k - warmup] = position
            accepted.append(probability)
    return kept, float(np.mean(accepted)), calls


def split_r_hat(chains: np.ndarray) -> float:
    """Compare the variance between half chains with that within them: 1 when they agree."""
    half = chains.shape[1] // 2
    parts = np.concatenate([chains[:, :half], chains[:, half : 2 * half]])
    within = parts.var(axis=1, ddof=1).mean()
    between = half * parts.mean(axis=1).var(ddof=1)
    return float(np.sqrt((half - 1) / half + between / within / half))


def draw(path: str, chains: dict[str, np.ndarray]) -> None:
    """Write the traces and histograms of the common parameters."""
    figure, axes = plt.subplots(
        len(chains), 2, figsize=(10, 1.7 * len(chains)), width_ratios=(3, 1), layout="constrained"
    )
    for (name, values), (trace, histogram) in zip(chains.items(), axes):
        for chain in values:
            trace.plot(chain, linewidth=0.6, alpha=0.8)
        histogram.hist(values.ravel(), bins=40, color="0.6")
        histogram.axvline(TRUTH[name], color="tab:red", linewidth=1.5)
        trace.axhline(TRUTH[name], color="tab:red", linewidth=1)
        trace.set_ylabel(name)
        histogram.set_yticks([])
    axes[0, 0].set_title("traces (red: value of the simulation)")
    axes[-1, 0].set_xlabel("draw")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--draws", type=int, default=1000, help="draws of each chain after the warm-up")
    parser.add_argument("--warmup", type=int, default=600)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--leapfrogs", type=int, default=16, help="longest trajectory, in steps")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--output", default="radon.png", help="file for the figure")
    options = parser.parse_args()
    console = Console()

    rng = np.random.default_rng(options.seed)
    houses = simulate(rng)
    start = time.perf_counter()
    model = compile_model(houses)
    compile_time = time.perf_counter() - start

    start = time.perf_counter()
    runs = [
        sample(model, options.draws, options.warmup, options.leapfrogs, rng, f"chain {k + 1}")
        for k in range(options.chains)
    ]
    sampling_time = time.perf_counter() - start
    positions = np.array([run[0] for run in runs])
    calls = sum(run[2] for run in runs)

    chains = {"mu_a": positions[..., 0], "mu_b": positions[..., 1]}
    chains |= {name: np.exp(positions[..., k]) for k, name in enumerate(("sigma_a", "sigma_b", "sigma_y"), start=2)}
    table = Table("parameter", "true", "mean", "sd", "5%", "95%", "R-hat")
    worst = 0.0
    for name, values in chains.items():
        r_hat = split_r_hat(values)
        worst = max(worst, r_hat)
        low, high = np.quantile(values, (0.05, 0.95))
        numbers = (TRUTH[name], values.mean(), values.std(), low, high, r_hat)
        table.add_row(name, *(f"{number:.3f}" for number in numbers))
    draw(options.output, chains)
    console.print(table)
    console.print(
        f"built and compiled in {1e3 * compile_time:.0f} ms; {calls} gradients in {sampling_time:.1f} s"
        f" ({1e6 * sampling_time / calls:.0f} µs each, sampler included);"
        f" acceptance {np.mean([run[1] for run in runs]):.2f}; figure in {options.output}"
    )
    if not worst < 1.1:
        console.print(f"[red]The chains do not agree (R-hat {worst:.2f}): take more draws.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
