"""Find the level of the Nile with a Kalman smoother whose variances are fitted.

The flow is that of `particle_filter`: measurements of a state that moves, both with noise.

    state[t] ~ Normal(move @ state[t - 1], moved)        flow[t] ~ Normal(read @ state[t], read_noise)

The filter is a `scan` over the years, with means and covariances as matrices; the smoother is another one, backwards.
SciPy maximises the likelihood over the two standard deviations of the model of the level that wanders, with the
gradient of the filter's loop. They come out as in the book that the data are from (15099 and 1469, as variances).
Writes the smoothed level to nile_smoothed.png.
"""

import argparse
import sys
import time

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import scipy.optimize
from particle_filter import FIRST_YEAR, FLOW, SIGMA_FLOW, SIGMA_LEVEL
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import aesara
import aesara.tensor as at

START, SPREAD = 1000.0, 1e4  # hardly anything is known of the level before the first year


def filtered(flow, move, moved, read, read_noise, mean, variance):
    """Terms of the log-likelihood, and the state before and after the measurement of each year."""

    def step(measured, mean, variance, move, moved, read, read_noise):
        predicted = at.dot(move, mean)
        spread = at.dot(at.dot(move, variance), move.T) + moved
        error = measured - at.dot(read, predicted)
        of_error = at.dot(at.dot(read, spread), read.T) + read_noise
        gain = at.linalg.solve(of_error, at.dot(read, spread)).T
        term = -0.5 * (
            at.dot(error, at.linalg.solve(of_error, error))
            + at.linalg.slogdet(of_error)[1]
            + error.shape[0] * np.log(2 * np.pi)
        )
        return predicted + at.dot(gain, error), spread - at.dot(at.dot(gain, read), spread), predicted, spread, term

    (means, variances, predictions, spreads, terms), _ = aesara.scan(
        step,
        sequences=flow[:, None],
        outputs_info=[mean, variance, None, None, None],
        non_sequences=[move, moved, read, read_noise],
    )
    return terms.sum(), means, variances, predictions, spreads


def smoothed(means, variances, predictions, spreads, move):
    """Means and variances of the state, from all years (Rauch, Tung and Striebel, 1965)."""

    def step(mean, variance, prediction, spread, later_mean, later_variance, move):
        gain = at.linalg.solve(spread, at.dot(move, variance)).T
        mean = mean + at.dot(gain, later_mean - prediction)
        variance = variance + at.dot(at.dot(gain, later_variance - spread), gain.T)
        return mean, variance

    (back_means, back_variances), _ = aesara.scan(
        step,
        sequences=[means[:-1], variances[:-1], predictions[1:], spreads[1:]],
        outputs_info=[means[-1], variances[-1]],
        non_sequences=[move],
        go_backwards=True,
    )
    return (
        at.concatenate([back_means[::-1], means[-1:]]),
        at.concatenate([back_variances[::-1], variances[-1:]]),
    )


def compile_level():
    """For the level that wanders: minus the log-likelihood with its gradient by the logarithms of both standard
    deviations, and the level of each year with its variance."""
    flow, logarithms = at.dvector("flow"), at.dvector("logarithms")
    of_level, of_flow = at.exp(2 * logarithms[0]), at.exp(2 * logarithms[1])
    one = at.ones((1, 1))
    start = at.as_tensor(np.array([START])), at.as_tensor(np.array([[SPREAD**2]]))
    likelihood, *states = filtered(flow, one, of_level * one, one, of_flow * one, *start)
    objective = aesara.function([logarithms, flow], [-likelihood, aesara.grad(-likelihood, logarithms)])
    level, variance = smoothed(*states, one)
    return objective, aesara.function([logarithms, flow], [level[:, 0], variance[:, 0, 0], states[0][:, 0]])


def draw(path: str, level, variance, means) -> None:
    years = FIRST_YEAR + np.arange(len(FLOW))
    figure, axes = plt.subplots(figsize=(9, 4))
    axes.plot(years, FLOW, ".", color="0.5", label="measured")
    deviation = 2 * np.sqrt(variance)
    axes.fill_between(years, level - deviation, level + deviation, alpha=0.3, label="two deviations")
    axes.plot(years, level, label="smoothed")
    axes.plot(years, means, "--", color="black", linewidth=1, label="filtered")
    axes.set_ylabel("annual flow of the Nile, 10$^8$ m$^3$")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--output", default="nile_smoothed.png", help="file for the figure")
    options = parser.parse_args()
    console = Console()

    start = time.perf_counter()
    objective, smooth = compile_level()
    compile_time = time.perf_counter() - start
    columns = (TextColumn("fitting"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    start = time.perf_counter()
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=None)

        def shown(intermediate_result):
            progress.update(task, advance=1, description=f"log-likelihood {-intermediate_result.fun:.3f}")

        found = scipy.optimize.minimize(
            objective, np.log([100.0, 100.0]), args=(FLOW,), jac=True, method="L-BFGS-B", callback=shown
        )
    fit_time = time.perf_counter() - start
    level, variance, means = smooth(found.x, FLOW)
    draw(options.output, level, variance, means)
    deviations = np.exp(found.x)
    table = Table(show_header=False)
    table.add_row("building and compiling", f"{1e3 * compile_time:.0f} ms")
    table.add_row(f"fit, {found.nfev} likelihoods with gradient", f"{1e3 * fit_time:.0f} ms")
    table.add_row("log-likelihood", f"{-found.fun:.2f}")
    table.add_row("standard deviation of the level, of a measurement", "{:.1f}, {:.1f}".format(*deviations))
    table.add_row("the same in the book", f"{SIGMA_LEVEL}, {SIGMA_FLOW}")
    table.add_row("figure", options.output)
    console.print(table)
    return 0 if found.success and np.allclose(deviations, [SIGMA_LEVEL, SIGMA_FLOW], rtol=0.02) else 1


if __name__ == "__main__":
    sys.exit(main())
