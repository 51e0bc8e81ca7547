"""Follow the flow of the Nile with a particle filter.

The river's annual flow at Aswan from 1871 to 1970 (in 10^8 cubic metres; Durbin and Koopman, "Time Series Analysis by
State Space Methods", 2001) is modelled as a level that wanders, measured with noise:

    level[t] ~ Normal(level[t - 1], sigma_level)        flow[t] ~ Normal(level[t], sigma_flow)

The filter is one `scan`. Each step moves all particles at random, weighs them by the density of the year's flow, and
draws as many again from them by their weights. The mean weights give the likelihood, which for this model is known
exactly: a Kalman filter in NumPy computes it beside. Writes the level and its spread to nile.png.
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
from aesara.tensor.random import RandomStream

FIRST_YEAR = 1871
FLOW = np.array(
    """1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100 1210 1150 1250
    1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821 768
    845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 874 848
    890 744 749 838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740""".split(),
    dtype="float64",
)
SIGMA_LEVEL, SIGMA_FLOW = 38.3, 122.9  # the estimates of the book
START, SPREAD = 1000.0, 300.0  # what is known of the level before the first year


def compile_filter(particles: int, srng: RandomStream):
    """A function from flows and the two standard deviations to the log-likelihood, and mean and spread of the level."""
    flow = at.dvector("flow")
    sigma_level, sigma_flow = at.dscalar("sigma_level"), at.dscalar("sigma_flow")

    def step(measured, level, sigma_level, sigma_flow):
        moved = level + sigma_level * srng.normal(size=particles)
        log_weight = -0.5 * ((measured - moved) / sigma_flow) ** 2 - at.log(sigma_flow) - 0.5 * np.log(2 * np.pi)
        weight = at.special.softmax(log_weight)
        chosen = moved[srng.categorical(weight, size=particles)]
        mean = (weight * moved).sum()
        spread = at.sqrt((weight * (moved - mean) ** 2).sum())
        return chosen, at.logsumexp(log_weight) - np.log(particles), mean, spread

    first = START + SPREAD * srng.normal(size=particles)
    (_, terms, means, spreads), updates = aesara.scan(
        step,
        sequences=flow,
        outputs_info=[first, None, None, None],
        non_sequences=[sigma_level, sigma_flow],
    )
    return aesara.function([flow, sigma_level, sigma_flow], [terms.sum(), means, spreads], updates=updates)


def kalman_filter(flow: np.ndarray, sigma_level: float, sigma_flow: float):
    """The exact log-likelihood, and mean and standard deviation of the level in each year."""
    mean, variance, total, means, deviations = START, SPREAD**2, 0.0, [], []
    for measured in flow:
        variance += sigma_level**2
        predicted = variance + sigma_flow**2
        total -= 0.5 * (np.log(2 * np.pi * predicted) + (measured - mean) ** 2 / predicted)
        gain = variance / predicted
        mean, variance = mean + gain * (measured - mean), variance * (1 - gain)
        means.append(mean)
        deviations.append(np.sqrt(variance))
    return total, np.array(means), np.array(deviations)


def draw(path: str, means: np.ndarray, spreads: np.ndarray, exact: np.ndarray) -> None:
    years = FIRST_YEAR + np.arange(len(FLOW))
    figure, axes = plt.subplots(figsize=(9, 4))
    axes.plot(years, FLOW, ".", color="0.5", label="measured")
    axes.fill_between(years, means - 2 * spreads, means + 2 * spreads, alpha=0.3, label="particles, two deviations")
    axes.plot(years, means, label="particles")
    axes.plot(years, exact, "--", color="black", linewidth=1, label="exact")
    axes.set_ylabel("annual flow of the Nile, 10$^8$ m$^3$")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--particles", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=20, help="how often the likelihood is estimated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="nile.png", help="file for the figure")
    options = parser.parse_args()

    run = compile_filter(options.particles, RandomStream(options.seed))
    start = time.perf_counter()
    estimates = [run(FLOW, SIGMA_LEVEL, SIGMA_FLOW) for _ in range(options.runs)]
    seconds = (time.perf_counter() - start) / options.runs
    exact, exact_means, _ = kalman_filter(FLOW, SIGMA_LEVEL, SIGMA_FLOW)
    totals = np.array([total for total, _, _ in estimates])
    _, means, spreads = estimates[-1]
    draw(options.output, means, spreads, exact_means)
    print(f"log-likelihood {totals.mean():.2f} ± {totals.std(ddof=1):.2f} in {options.runs} runs, exactly {exact:.2f}")
    print(f"level: {abs(means - exact_means).max():.1f} from the exact mean at most; {1e3 * seconds:.0f} ms a run")
    print(f"figure: {options.output}")
    return 0 if abs(totals.mean() - exact) < 1 else 1


if __name__ == "__main__":
    sys.exit(main())
