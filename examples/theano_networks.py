"""Networks of Theano's time, in programs as they were written for it, trained on handwritten digits.

`import aesara.theano_compat` makes `import theano` mean this package. What follows are the networks that people learned
deep learning with: logistic regression, a perceptron with a hidden layer, a convolutional network, denoising
autoencoders, alone and stacked, a restricted Boltzmann machine, and an LSTM that reads an image row by row. Each is a
function that builds a graph, compiles its training and trains; the last two lines of a network say what it has learned
on digits that it has not seen. The data are the 1,797 digits of 8 x 8 pixels that come with scikit-learn.
"""

import argparse
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from sklearn.datasets import load_digits

# isort: off
import aesara.theano_compat  # noqa: F401  (makes what follows this package)
import theano
import theano.tensor as T
from theano.tensor.nnet import conv2d
from theano.tensor.shared_randomstreams import RandomStreams
from theano.tensor.signal.pool import pool_2d
# isort: on

SIDE, CLASSES, BATCH = 8, 10, 20
PIXELS = SIDE * SIDE
FLOAT = "float64"


class Digits:
    """Images with values from 0 to 1 and their labels: those to learn from in shared variables, and those to test."""

    def __init__(self, seed: int = 0) -> None:
        images, labels = load_digits(return_X_y=True)
        order = np.random.default_rng(seed).permutation(len(images))
        images, labels = images[order] / 16, labels[order].astype("int32")
        self.images, self.labels = theano.shared(images[:1400], "images"), theano.shared(labels[:1400], "labels")
        self.batches = 1400 // BATCH
        self.new_images, self.new_labels = images[1400:], labels[1400:]


def weights(rng: np.random.Generator, *shape: int, name: str) -> "theano.compile.SharedVariable":
    """Weights that keep the variance of what goes through them about the same."""
    fan = np.prod(shape[1:]) + shape[0] if len(shape) > 2 else sum(shape)
    bound = np.sqrt(6.0 / fan)
    return theano.shared(rng.uniform(-bound, bound, shape).astype(FLOAT), name)


def zeros(*shape: int, name: str) -> "theano.compile.SharedVariable":
    return theano.shared(np.zeros(shape, FLOAT), name)


class Softmax:
    """The last layer of a classifier: logistic regression with ten classes."""

    def __init__(self, inputs, size: int) -> None:
        self.w, self.b = zeros(size, CLASSES, name="w"), zeros(CLASSES, name="b")
        self.params = [self.w, self.b]
        self.probabilities = T.nnet.softmax(T.dot(inputs, self.w) + self.b)

    def cost(self, labels):
        return -T.mean(T.log(self.probabilities)[T.arange(labels.shape[0]), labels])


class Hidden:
    """A layer of units with an activation."""

    def __init__(self, rng: np.random.Generator, inputs, n_in: int, n_out: int, activation: Callable = T.tanh) -> None:
        self.w, self.b = weights(rng, n_in, n_out, name="w"), zeros(n_out, name="b")
        self.params = [self.w, self.b]
        self.output = activation(T.dot(inputs, self.w) + self.b)


def descend(cost, params: list, rate: float) -> list:
    """Updates of gradient descent."""
    return [(p, p - rate * g) for p, g in zip(params, T.grad(cost, params))]


def remember(cost, params: list, rate: float) -> list:
    """Updates that divide each gradient by a running mean of its size."""
    updates = []
    for p, g in zip(params, T.grad(cost, params)):
        mean = theano.shared(np.zeros_like(p.get_value()))
        new = 0.9 * mean + 0.1 * T.sqr(g)
        updates += [(mean, new), (p, p - rate * g / T.sqrt(new + 1e-6))]
    return updates


def fit(data: Digits, images, labels, top: Softmax, updates: list, epochs: int) -> float:
    """Train on batches of the shared images; returns the share of new images that are recognized."""
    k = T.lscalar("k")
    part = slice(k * BATCH, (k + 1) * BATCH)
    step = theano.function(
        [k], top.cost(labels), updates=updates, givens={images: data.images[part], labels: data.labels[part]}
    )
    predict = theano.function([images], T.argmax(top.probabilities, axis=1))
    for _ in range(epochs):
        for batch in range(data.batches):
            step(batch)
    return float(np.mean(predict(data.new_images) == data.new_labels))


def logistic_regression(data: Digits, epochs: int = 20) -> float:
    images, labels = T.matrix("images", FLOAT), T.ivector("labels")
    top = Softmax(images, PIXELS)
    return fit(data, images, labels, top, descend(top.cost(labels), top.params, 0.5), epochs)


def perceptron(data: Digits, epochs: int = 20, size: int = 64) -> float:
    """One hidden layer, with a penalty on its weights."""
    images, labels = T.matrix("images", FLOAT), T.ivector("labels")
    hidden = Hidden(np.random.default_rng(1), images, PIXELS, size)
    top = Softmax(hidden.output, size)
    cost = top.cost(labels) + 1e-4 * (T.sum(hidden.w**2) + T.sum(top.w**2))
    return fit(data, images, labels, top, descend(cost, hidden.params + top.params, 0.3), epochs)


def convolutional(data: Digits, epochs: int = 12) -> float:
    """Two layers of filters with pooling, and a perceptron on top, after LeNet."""
    rng = np.random.default_rng(2)
    images, labels = T.matrix("images", FLOAT), T.ivector("labels")
    params, shown = [], images.reshape((images.shape[0], 1, SIDE, SIDE))
    for n_in, n_out, size in ((1, 8, 3), (8, 16, 2)):
        w, b = weights(rng, n_out, n_in, size, size, name="filters"), zeros(n_out, name="b")
        found = pool_2d(conv2d(shown, w), (2, 2), ignore_border=True)
        shown = T.tanh(found + b.dimshuffle("x", 0, "x", "x"))
        params += [w, b]
    hidden = Hidden(rng, shown.flatten(2), 16, 48)  # 8 pixels: 6 after the filters, 3 after pooling, then 2, then 1
    top = Softmax(hidden.output, 48)
    return fit(data, images, labels, top, descend(top.cost(labels), params + hidden.params + top.params, 0.2), epochs)


class Denoising:
    """An autoencoder that learns to repair images; the weights that encode also decode."""

    def __init__(self, inputs, layer: Hidden, n_in: int, streams: RandomStreams, noise: float) -> None:
        self.back = zeros(n_in, name="back")
        kept = streams.binomial(size=inputs.shape, n=1, p=1 - noise, dtype=FLOAT)
        code = T.nnet.sigmoid(T.dot(inputs * kept, layer.w) + layer.b)
        again = T.nnet.sigmoid(T.dot(code, layer.w.T) + self.back)
        self.cost = T.mean(T.sum(T.nnet.binary_crossentropy(again, inputs), axis=1))
        self.params = [*layer.params, self.back]


def stacked(data: Digits, epochs: int = 12, sizes: tuple[int, ...] = (96, 48), before: int = 6) -> float:
    """Layers that are trained one after the other as denoising autoencoders, and then together with the labels."""
    rng, streams = np.random.default_rng(3), RandomStreams(3)
    images, labels, k = T.matrix("images", FLOAT), T.ivector("labels"), T.lscalar("k")
    given = {images: data.images[k * BATCH : (k + 1) * BATCH]}
    params, shown = [], images
    for n_in, n_out in pairwise((PIXELS, *sizes)):
        layer = Hidden(rng, shown, n_in, n_out, T.nnet.sigmoid)
        repair = Denoising(shown, layer, n_in, streams, 0.2)
        learn = theano.function([k], repair.cost, updates=descend(repair.cost, repair.params, 0.1), givens=given)
        for _ in range(before):
            for batch in range(data.batches):
                learn(batch)
        params, shown = params + layer.params, layer.output
    top = Softmax(shown, sizes[-1])
    return fit(data, images, labels, top, descend(top.cost(labels), params + top.params, 0.5), epochs)


def denoising(data: Digits, epochs: int = 12) -> float:
    """One denoising autoencoder, and a classifier that starts with what it has found."""
    return stacked(data, epochs, (96,))


def boltzmann(data: Digits, epochs: int = 20, size: int = 96) -> float:
    """A restricted Boltzmann machine, by contrastive divergence; its hidden units are read by logistic regression."""
    rng, streams = np.random.default_rng(4), RandomStreams(4)
    images, labels, k = T.matrix("images", FLOAT), T.ivector("labels"), T.lscalar("k")
    w, seen, hidden = weights(rng, PIXELS, size, name="w"), zeros(PIXELS, name="seen"), zeros(size, name="hidden")

    def energy(visible):
        """Free energy: minus the logarithm of the sum over all states of the hidden units."""
        return -T.dot(visible, seen) - T.sum(T.nnet.softplus(T.dot(visible, w) + hidden), axis=1)

    def sample(p):
        return streams.binomial(size=p.shape, n=1, p=p, dtype=FLOAT)

    def gibbs(visible):
        up = sample(T.nnet.sigmoid(T.dot(visible, w) + hidden))
        return sample(T.nnet.sigmoid(T.dot(up, w.T) + seen))

    chain, drawn = theano.scan(gibbs, outputs_info=images, n_steps=2)
    imagined = chain[-1]
    cost = T.mean(energy(images)) - T.mean(energy(imagined))
    gradients = T.grad(cost, [w, seen, hidden], consider_constant=[imagined])
    updates = [*drawn.items(), *((p, p - 0.1 * g) for p, g in zip((w, seen, hidden), gradients))]
    learn = theano.function([k], cost, updates=updates, givens={images: data.images[k * BATCH : (k + 1) * BATCH]})
    for _ in range(epochs):
        for batch in range(data.batches):
            learn(batch)
    top = Softmax(T.nnet.sigmoid(T.dot(images, w) + hidden), size)
    return fit(data, images, labels, top, descend(top.cost(labels), top.params, 0.5), epochs)


def lstm(data: Digits, epochs: int = 15, size: int = 32) -> float:
    """Units with a memory read the rows of an image; their mean state says which digit it was."""
    rng = np.random.default_rng(5)
    images, labels = T.matrix("images", FLOAT), T.ivector("labels")
    rows = images.reshape((images.shape[0], SIDE, SIDE)).dimshuffle(1, 0, 2)
    w, u = weights(rng, SIDE, 4 * size, name="w"), weights(rng, size, 4 * size, name="u")
    b = theano.shared(np.repeat([0.0, 1.0, 0.0, 0.0], size), "b")  # gates that forget are open at first

    def step(row, state, memory, w, u, b):
        mixed = T.dot(row, w) + T.dot(state, u) + b
        take, keep, show = (T.nnet.sigmoid(mixed[:, i * size : (i + 1) * size]) for i in range(3))
        memory = keep * memory + take * T.tanh(mixed[:, 3 * size :])
        return show * T.tanh(memory), memory

    start = T.zeros((images.shape[0], size), dtype=FLOAT)
    (states, _), _ = theano.scan(step, sequences=rows, outputs_info=[start, start], non_sequences=[w, u, b])
    top = Softmax(states.mean(axis=0), size)
    return fit(data, images, labels, top, remember(top.cost(labels), [w, u, b, *top.params], 0.01), epochs)


NETWORKS: dict[str, Callable[..., float]] = {
    "logistic regression": logistic_regression,
    "perceptron": perceptron,
    "convolutional network": convolutional,
    "denoising autoencoder": denoising,
    "stacked autoencoders": stacked,
    "restricted Boltzmann machine": boltzmann,
    "LSTM": lstm,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(NETWORKS), metavar="NETWORK", help="one of: " + ", ".join(NETWORKS))
    chosen = parser.parse_args().only
    data = Digits()
    print(f"{'network':<30}{'recognized':>12}{'seconds':>10}")
    for name, network in NETWORKS.items():
        if chosen in (None, name):
            start = time.perf_counter()
            share = network(data)
            print(f"{name:<30}{100 * share:>10.1f} %{time.perf_counter() - start:>10.1f}", flush=True)


if __name__ == "__main__":
    main()
