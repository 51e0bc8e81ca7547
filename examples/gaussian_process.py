"""Predict the course of diabetes with a Gaussian process.

Of 442 patients ten measurements are known (age, sex, body mass index, blood pressure and six values of blood serum),
and how far the disease had come a year later (Efron, Hastie, Johnstone and Tibshirani, "Least angle regression", 2004;
the set comes with scikit-learn). The process has a kernel with one length scale for each measurement:

    k(x, x') = amplitude^2 exp(-1/2 sum_d (x_d - x'_d)^2 / length_d^2),        target ~ Normal(f(x), noise^2)

SciPy maximises the marginal likelihood over the logarithms of all twelve numbers, with gradients by aesara. The
function that computes both factors its matrix once. What was not seen is then predicted with its spread, and compared
with least squares. Writes predictions and length scales to diabetes.png.
"""

import argparse
import sys
import time

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import scipy.optimize
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_diabetes

import aesara
import aesara.tensor as at

NAMES = "age sex bmi pressure tc ldl hdl tch ltg glucose".split()


def kernel(x, other, parameters):
    """The covariances of the process between two sets of points."""
    lengths, amplitude = at.exp(parameters[:-2]), at.exp(parameters[-2])
    x, other = x / lengths, other / lengths
    squares = at.square(x).sum(axis=1)[:, None] + at.square(other).sum(axis=1)[None, :] - 2 * at.dot(x, other.T)
    return amplitude**2 * at.exp(-0.5 * at.maximum(squares, 0))


def covariance(x, parameters):
    """The covariances of what is measured."""
    noise = at.exp(parameters[-1])
    return at.assume(kernel(x, x, parameters) + noise**2 * at.eye(x.shape[0]), positive_definite=True)


def compile_model():
    """Two functions: minus the marginal log-likelihood with its gradient, and predictions with their variances."""
    x, y, new, parameters = at.dmatrix("x"), at.dvector("y"), at.dmatrix("new"), at.dvector("parameters")
    matrix = covariance(x, parameters)
    fit = at.dot(y, at.linalg.solve(matrix, y))
    loss = 0.5 * (fit + at.linalg.slogdet(matrix)[1] + x.shape[0] * np.log(2 * np.pi))
    objective = aesara.function([parameters, x, y], [loss, aesara.grad(loss, parameters)])

    across = kernel(x, new, parameters)
    mean = at.dot(across.T, at.linalg.solve(matrix, y))
    explained = (across * at.linalg.solve(matrix, across)).sum(axis=0)
    variance = at.exp(2 * parameters[-2]) + at.exp(2 * parameters[-1]) - explained
    return objective, aesara.function([parameters, x, y, new], [mean, variance])


def data(seed: int):
    """Measurements and targets, standardised, of patients to learn from and of others."""
    x, y = load_diabetes(return_X_y=True)
    x, y = (x - x.mean(axis=0)) / x.std(axis=0), (y - y.mean()) / y.std()
    order = np.random.default_rng(seed).permutation(len(y))
    seen, unseen = order[:342], order[342:]
    return x[seen], y[seen], x[unseen], y[unseen]


def maximise(objective, x, y, console: Console):
    """The best parameters, and how often the function was called."""
    start = np.concatenate([np.full(x.shape[1], np.log(3.0)), [0.0, np.log(0.7)]])
    columns = (TextColumn("fitting"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=None)

        def shown(intermediate_result):
            progress.update(task, advance=1, description=f"log-likelihood {-intermediate_result.fun:.3f}")

        found = scipy.optimize.minimize(
            objective, start, args=(x, y), jac=True, method="L-BFGS-B", bounds=[(-5, 7)] * len(start), callback=shown
        )
    return found


def draw(path: str, target, mean, variance, lengths) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    order = np.argsort(mean)
    left.errorbar(
        np.arange(len(mean)), mean[order], 2 * np.sqrt(variance[order]), fmt="-", elinewidth=0.5, label="predicted"
    )
    left.plot(target[order], ".", color="black", label="measured")
    left.set(xlabel="patient not seen before", ylabel="progression, standardised")
    left.legend(frameon=False)
    right.bar(NAMES, 1 / lengths)
    right.set_ylabel("1 / length scale: what matters")
    right.tick_params(axis="x", rotation=60)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="which patients are left out")
    parser.add_argument("--output", default="diabetes.png", help="file for the figure")
    options = parser.parse_args()
    console = Console()

    x, y, new, target = data(options.seed)
    start = time.perf_counter()
    objective, predict = compile_model()
    compile_time = time.perf_counter() - start
    start = time.perf_counter()
    found = maximise(objective, x, y, console)
    fit_time = time.perf_counter() - start

    mean, variance = predict(found.x, x, y, new)
    coefficients, *_ = np.linalg.lstsq(x, y, rcond=None)
    error = np.sqrt(np.mean((target - mean) ** 2))
    error_of_lines = np.sqrt(np.mean((target - new @ coefficients) ** 2))
    inside = np.mean(abs(target - mean) < 2 * np.sqrt(variance))
    draw(options.output, target, mean, variance, np.exp(found.x[:-2]))
    factorizations = str(aesara.explain(objective)).count("factorization of size")
    table = Table(show_header=False)
    table.add_row("building and compiling", f"{1e3 * compile_time:.0f} ms")
    table.add_row("factorizations for likelihood and gradient", f"{factorizations}")
    table.add_row(f"fit, {found.nfev} likelihoods with gradient", f"{fit_time:.2f} s")
    table.add_row("log-likelihood", f"{-found.fun:.2f}")
    table.add_row("error of patients not seen, least squares", f"{error_of_lines:.3f}")
    table.add_row("error of patients not seen, Gaussian process", f"{error:.3f}")
    table.add_row("within two standard deviations", f"{inside:.0%}")
    table.add_row("figure", options.output)
    console.print(table)
    return 0 if found.success and factorizations == 1 and error < 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
