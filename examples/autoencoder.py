"""Train a variational autoencoder on handwritten digits.

The data are the 1,797 scanned digits that come with scikit-learn: 64 pixels, each of which has 0 to 16 of its points
blackened. A digit is thought to come from a few standard normal numbers, its *code*, by a network that gives the
probability of a black point in each pixel (Kingma and Welling, "Auto-Encoding Variational Bayes", 2014):

    code ~ Normal(0, 1)        pixel[k] ~ Binomial(16, decoder(code)[k])

Another network, the encoder, gives the mean and the deviation of a normal distribution over the codes of a digit. Both
are trained by gradients through its draws, in one function: a step of Adam, which draws the codes, natively. Prints
bounds of the log-likelihood of unseen digits, and writes digits that the model draws to autoencoder.png.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from scipy.special import gammaln
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import aesara
import aesara.tensor as at
from aesara.tensor.random import RandomStream

PIXELS, POINTS = 64, 16
#: mean log-likelihood of an unseen digit, at least; pixels that know nothing of one another have -253
GOAL = -110.0


@dataclass
class Model:
    """Compiled functions that share the parameters of both networks.

    ``step(images, rate)`` is a step of Adam and gives the bound, ``bound(images)`` the bound alone.
    ``likelihood(images, draws)`` gives the log-likelihoods of images, estimated with many draws of each code;
    ``encode(images)`` means and deviations of codes, ``decode(codes)`` probabilities.
    """

    parameters: list
    step: aesara.compile.Function
    bound: aesara.compile.Function
    likelihood: aesara.compile.Function
    encode: aesara.compile.Function
    decode: aesara.compile.Function


def initial_parameters(code: int, hidden: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Weights and biases of the encoder and of the decoder, two layers each."""
    layers = [(PIXELS, hidden), (hidden, 2 * code), (code, hidden), (hidden, PIXELS)]
    return [p for n, m in layers for p in (rng.normal(0, n**-0.5, (n, m)), np.zeros(m))]


def compile_model(start: Sequence[np.ndarray], srng: RandomStream) -> Model:
    """Build the graph, differentiate it, and compile."""
    parameters = [aesara.shared(p) for p in start]
    w1, b1, w2, b2, w3, b3, w4, b4 = parameters
    images, codes, rate, draws = at.dmatrix("images"), at.dmatrix("codes"), at.dscalar("rate"), at.lscalar("draws")
    size = len(start[3]) // 2

    def logits_of(codes):
        return at.maximum(codes @ w3 + b3, 0) @ w4 + b4

    def log_density(images, logits):
        """Up to a number that the images alone decide; see `log_ways`."""
        return (images * logits - POINTS * at.softplus(logits)).sum(axis=-1)

    encoded = at.maximum(images / POINTS @ w1 + b1, 0) @ w2 + b2
    mean, log_deviation = encoded[:, :size], encoded[:, size:]
    deviation = at.exp(log_deviation)

    # The bound: its second part is the divergence of the encoder's distribution from the standard normal one.
    code = srng.normal(mean, deviation)
    divergence = 0.5 * (mean**2 + deviation**2 - 1).sum(axis=1) - log_deviation.sum(axis=1)
    bound = (log_density(images, logits_of(code)) - divergence).mean()

    # The mean of density times prior by the encoder's density is the likelihood.
    many = srng.normal(mean, deviation, size=(draws, *mean.shape))
    ratio = ((many - mean) / deviation) ** 2 / 2 + log_deviation - many**2 / 2
    weights = log_density(images, logits_of(many)) + ratio.sum(axis=-1)
    likelihood = at.logsumexp(weights, axis=0) - at.log(draws)

    return Model(
        parameters,
        aesara.function([images, rate], bound, updates=adam(-bound, parameters, rate), name="step"),
        aesara.function([images], bound),
        aesara.function([images, draws], likelihood),
        aesara.function([images], [mean, deviation]),
        aesara.function([codes], at.sigmoid(logits_of(codes))),
    )


def adam(loss, parameters, rate, first=0.9, second=0.999):
    """The updates of a step of Adam (Kingma and Ba, 2015)."""
    count = aesara.shared(0.0)
    now = count + 1
    updates = [(count, now)]
    for parameter, gradient in zip(parameters, aesara.grad(loss, parameters)):
        mean, square = (aesara.shared(np.zeros_like(parameter.get_value())) for _ in range(2))
        new_mean = first * mean + (1 - first) * gradient
        new_square = second * square + (1 - second) * gradient**2
        change = new_mean / (1 - first**now) / (at.sqrt(new_square / (1 - second**now)) + 1e-8)
        updates += [(mean, new_mean), (square, new_square), (parameter, parameter - rate * change)]
    return updates


def log_ways(images: np.ndarray) -> np.ndarray:
    """For each image, the logarithm of the number of ways in which so many points can be blackened."""
    return (gammaln(POINTS + 1) - gammaln(images + 1) - gammaln(POINTS - images + 1)).sum(axis=1)


def independent_pixels(train: np.ndarray, test: np.ndarray) -> float:
    """Mean log-likelihood where each pixel has a probability of its own, and knows nothing of the others."""
    p = (train.sum(axis=0) + 0.5) / (POINTS * len(train) + 1)
    return float((test @ np.log(p) + (POINTS - test) @ np.log1p(-p) + log_ways(test)).mean())


def draw(path: str, model: Model, images: np.ndarray, bounds: list, rng: np.random.Generator) -> None:
    """Write the bounds, some digits beside what their codes give, and digits that the model draws."""
    figure = plt.figure(figsize=(10, 7), layout="constrained")
    top, middle, bottom = figure.subfigures(3, 1, height_ratios=(1.2, 1, 1))
    axes = top.subplots()
    axes.plot(bounds)
    axes.set(xlabel="epoch", ylabel="bound of the log-likelihood", ylim=(np.quantile(bounds, 0.05), None))
    means, _ = model.encode(images[:12])
    again = model.decode(means)
    new = model.decode(rng.normal(size=(24, means.shape[1])))
    for part, title, shown in (
        (middle, "Unseen digits, and what their codes give", np.concatenate([images[:12] / POINTS, again])),
        (bottom, "Digits that the model draws", new),
    ):
        part.suptitle(title, fontsize=11)
        for axis, pixels in zip(part.subplots(2, 12).flat, shown):
            axis.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            axis.axis("off")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32, help="images in a step")
    parser.add_argument("--code", type=int, default=8, help="numbers in a code")
    parser.add_argument("--hidden", type=int, default=100, help="units of the hidden layers")
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate at the start")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="autoencoder.png", help="file for the figure")
    options = parser.parse_args()
    console = Console()

    train, test = train_test_split(load_digits().data, test_size=0.25, random_state=0)
    console.print(f"{len(train)} digits to learn from, {len(test)} to test on")
    rng = np.random.default_rng(options.seed)
    start = time.perf_counter()
    model = compile_model(initial_parameters(options.code, options.hidden, rng), RandomStream(options.seed))
    compile_time = time.perf_counter() - start

    bounds = []
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    start = time.perf_counter()
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=options.epochs)
        for epoch in range(options.epochs):
            rate = options.rate * (1 - epoch / options.epochs)
            order = rng.permutation(len(train))
            for k in range(0, len(order), options.batch):
                model.step(train[order[k : k + options.batch]], rate)
            bounds.append(float(model.bound(test) + log_ways(test).mean()))
            progress.update(task, advance=1, description=f"bound {bounds[-1]:.1f}")
    training_time = time.perf_counter() - start

    likelihood = float((model.likelihood(test, 200) + log_ways(test)).mean())
    draw(options.output, model, test, bounds, rng)
    table = Table(show_header=False)
    table.add_row("building and compiling", f"{compile_time:.1f} s")
    table.add_row(f"training, {options.epochs} epochs", f"{training_time:.1f} s")
    table.add_row("log-likelihood of an unseen digit, bound", f"{bounds[-1]:.1f}")
    table.add_row("the same by 200 draws of each code", f"{likelihood:.1f}")
    table.add_row("with pixels that know nothing of one another", f"{independent_pixels(train, test):.1f}")
    table.add_row("figure", options.output)
    console.print(table)
    if not likelihood >= GOAL:
        console.print(f"[red]The log-likelihood is below {GOAL}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
