"""Train a small network on handwritten digits.

The network, its loss and their gradient are written as expressions; one function, compiled once, does a whole
step of stochastic gradient descent on parameters that it keeps in shared variables. The data are the 1,797
scanned digits that come with scikit-learn. Prints times beside those of the same step in NumPy, and writes
curves and predictions to digits.png.
"""

import argparse
import sys
import time
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import aesara
import aesara.tensor as at

PIXELS, CLASSES = 64, 10
GOAL = 0.97


def initial_parameters(hidden: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Weights and biases of the two layers."""
    return [
        rng.normal(0, PIXELS**-0.5, (PIXELS, hidden)),
        np.zeros(hidden),
        rng.normal(0, hidden**-0.5, (hidden, CLASSES)),
        np.zeros(CLASSES),
    ]


def build(parameters: list[np.ndarray], decay: float) -> tuple[Callable, Callable, list]:
    """Build the graph, differentiate it, and compile a training step and a predictor."""
    images, labels, rate = at.dmatrix("images"), at.lvector("labels"), at.dscalar("rate")
    w1, b1, w2, b2 = shared = [aesara.shared(p, name) for p, name in zip(parameters, ("w1", "b1", "w2", "b2"))]

    hidden = at.tanh(images @ w1 + b1)
    probabilities = at.special.softmax(hidden @ w2 + b2, axis=1)
    likelihood = at.log(probabilities)[at.arange(labels.shape[0]), labels]
    loss = -likelihood.mean() + decay * ((w1**2).sum() + (w2**2).sum())

    gradients = aesara.grad(loss, shared)
    updates = [(p, p - rate * g) for p, g in zip(shared, gradients)]
    step = aesara.function([images, labels, rate], loss, updates=updates, name="step")
    predict = aesara.function([images], probabilities, name="predict")
    return step, predict, shared


def numpy_step(parameters: list[np.ndarray], images, labels, rate: float, decay: float) -> float:
    """Do the same step by hand, in place."""
    w1, b1, w2, b2 = parameters
    n, rows = len(labels), np.arange(len(labels))
    hidden = np.tanh(images @ w1 + b1)
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)
    exponentials = np.exp(scores)
    probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
    loss = -np.log(probabilities[rows, labels]).mean() + decay * ((w1**2).sum() + (w2**2).sum())

    d_scores = probabilities
    d_scores[rows, labels] -= 1
    d_scores /= n
    d_hidden = (d_scores @ w2.T) * (1 - hidden**2)
    d_w2 = hidden.T @ d_scores + 2 * decay * w2
    d_w1 = images.T @ d_hidden + 2 * decay * w1
    w1 -= rate * d_w1
    b1 -= rate * d_hidden.sum(axis=0)
    w2 -= rate * d_w2
    b2 -= rate * d_scores.sum(axis=0)
    return loss


def median_time(call: Callable, seconds: float = 0.3) -> float:
    """Median time of one call, in seconds."""
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def draw(path: str, losses: list, accuracies: list, images, labels, predicted) -> None:
    """Write the curves and some predictions, the wrong ones first."""
    figure = plt.figure(figsize=(10, 6.5), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.1, 1))
    left, right = top.subplots(1, 2)
    left.semilogy(losses)
    left.set(title="Training loss", xlabel="epoch")
    right.plot(np.array(accuracies) * 100, color="tab:green")
    right.axhline(100 * GOAL, color="0.7", linewidth=1)
    right.set(title="Test accuracy, %", xlabel="epoch", ylim=(80, 100.5))
    order = np.argsort(predicted == labels, kind="stable")[:20]
    for axis, k in zip(bottom.subplots(2, 10).flat, order):
        axis.imshow(images[k].reshape(8, 8), cmap="gray_r")
        right_answer = predicted[k] == labels[k]
        title = f"{predicted[k]}" if right_answer else f"{predicted[k]} (is {labels[k]})"
        axis.set_title(title, color="tab:green" if right_answer else "tab:red", fontsize=10)
        axis.axis("off")
    bottom.suptitle("Predictions on unseen digits, wrong ones first", fontsize=11)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32, help="images in a step")
    parser.add_argument("--hidden", type=int, default=100, help="units of the hidden layer")
    parser.add_argument("--rate", type=float, default=0.2, help="learning rate at the start")
    parser.add_argument("--noise", type=float, default=0.3, help="added to the images of each epoch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="digits.png", help="file for the figure")
    options = parser.parse_args()
    console = Console()

    data = load_digits()
    train_x, test_x, train_y, test_y = train_test_split(
        data.data / 16.0, data.target.astype("int64"), test_size=0.25, random_state=0, stratify=data.target
    )
    console.print(f"{len(train_x)} digits to learn from, {len(test_x)} to test on")

    rng = np.random.default_rng(options.seed)
    start_values, decay = initial_parameters(options.hidden, rng), 1e-5
    start = time.perf_counter()
    step, predict, shared = build(start_values, decay)
    compile_time = time.perf_counter() - start

    images, labels = train_x[: options.batch], train_y[: options.batch]
    by_hand = [p.copy() for p in start_values]
    difference = abs(step(images, labels, options.rate) - numpy_step(by_hand, images, labels, options.rate, decay))
    difference += sum(abs(p.get_value() - q).max() for p, q in zip(shared, by_hand))
    step_time = median_time(lambda: step(images, labels, options.rate))
    numpy_time = median_time(lambda: numpy_step(by_hand, images, labels, options.rate, decay))
    for variable, value in zip(shared, start_values):
        variable.set_value(value)

    losses, accuracies = [], []
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
            # Fresh noise, lest the network learn the images by heart.
            noisy = train_x + options.noise * rng.normal(size=train_x.shape)
            order = rng.permutation(len(train_x))
            batches = [order[k : k + options.batch] for k in range(0, len(order), options.batch)]
            losses.append(float(np.mean([step(noisy[b], train_y[b], rate) for b in batches])))
            accuracies.append(float((predict(test_x).argmax(axis=1) == test_y).mean()))
            progress.update(task, advance=1, description=f"loss {losses[-1]:.4f}, accuracy {accuracies[-1]:.4f}")
    training_time = time.perf_counter() - start

    accuracy = accuracies[-1]
    draw(options.output, losses, accuracies, test_x, test_y, predict(test_x).argmax(axis=1))
    table = Table(show_header=False)
    table.add_row("building and compiling", f"{1e3 * compile_time:.0f} ms")
    table.add_row(f"one step ({options.batch} digits)", f"{1e6 * step_time:.0f} µs")
    table.add_row("the same step in NumPy", f"{1e6 * numpy_time:.0f} µs")
    table.add_row("difference of the two after one step", f"{difference:.1e}")
    table.add_row(f"training, {options.epochs} epochs", f"{training_time:.1f} s")
    table.add_row("test accuracy", f"{accuracy:.4f}")
    table.add_row("figure", options.output)
    console.print(table)
    if not accuracy >= GOAL:
        console.print(f"[red]The accuracy is below {GOAL}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
