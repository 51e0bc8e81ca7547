"""Random graphs of one family of operations each, for `tests.rules.campaign`; they need not be computed.

All tensors are of the same length in all their dimensions, or of length one, so that everything fits; how much of that
their types say is drawn. Half of the graphs have gradients among their results.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable

import numpy as np

import aesara
import aesara.tensor as at
from aesara.graph.nodes import Variable
from aesara.graph.null_type import NullType
from aesara.tensor import nnet
from aesara.tensor.special import log_softmax, softmax
from tests.fuzz.campaign import program_of
from tests.fuzz.programs import Program

Graph = tuple[list[Variable], list[Variable]]

LENGTH = 3
FLOATS = ("float64", "float64", "float32")


class Graphs:
    """Variables to choose from, and how to choose."""

    def __init__(self, seed: int, ranks: tuple[int, ...]):
        self.random = random.Random(seed)
        self.inputs = [self.tensor(rank, k) for k, rank in enumerate(ranks)]
        self.variables = list(self.inputs)

    def tensor(self, rank: int, k: int) -> Variable:
        shape = tuple(self.random.choice([LENGTH, None, None, None, 1]) for _ in range(rank))
        return at.tensor(self.random.choice(FLOATS), shape=shape, name=f"x{k}")

    def choice(self, options):
        return self.random.choice(list(options))

    def flag(self) -> bool:
        return self.random.random() < 0.5

    def pick(self, rank: int | None = None) -> Variable:
        """A variable (of some rank), more often a late one."""
        found = [x for x in self.variables if rank is None or x.type.ndim == rank]
        return found[max(self.random.randrange(len(found)), self.random.randrange(len(found)))]

    def full(self, rank: int) -> Variable:
        """A variable of some rank without dimensions that are known to be of length one."""
        return self.choice([x for x in self.variables if x.type.ndim == rank and 1 not in x.type.shape])

    def number(self) -> Variable | float:
        """A scalar, or a constant."""
        scalars = [x for x in self.variables if x.type.ndim == 0]
        return self.choice(scalars) if scalars and self.flag() else self.choice([0.5, 1, 2, -1, 0, -0.0, 3])


def elementwise(g: Graphs) -> Variable:
    """Some arithmetic."""
    x = g.pick()
    kind = g.random.randrange(6)
    if kind == 0:
        return g.choice([at.exp, at.tanh, at.neg, at.sqr, at.log1p, abs, at.sigmoid, at.sqrt])(x)
    if kind == 1:
        return g.choice([at.mul, at.add, at.sub, at.true_div])(x, g.number())
    return g.choice([at.mul, at.add, at.sub, at.true_div, at.maximum])(x, g.pick(x.type.ndim))


def rearranged(g: Graphs) -> Variable:
    """The same elements in another order or shape."""
    x = g.pick()
    kind = g.random.randrange(5)
    if kind == 0:
        return x.T
    if kind == 1:
        return x.dimshuffle(*range(x.type.ndim), "x") if g.flag() else x.dimshuffle("x", *range(x.type.ndim))
    if kind == 2:
        return x.flatten().reshape(x.shape) if g.flag() else x.reshape((-1,))
    if kind == 3:
        return at.alloc(x, LENGTH, *x.shape)
    return at.zeros_like(x) + x if g.flag() else at.second(x, g.number())


def reduced(g: Graphs) -> Variable:
    """A sum, and the like."""
    x = g.pick()
    axis = g.choice([None, *range(x.type.ndim)])
    return g.choice([at.sum, at.sum, at.mean, at.max, at.prod])(x, axis=axis, keepdims=g.flag())


def product(g: Graphs) -> Variable:
    """A product of matrices or vectors, scaled and added to something."""
    kind = g.random.randrange(8)
    if kind == 0:
        return at.dot(g.full(1), g.full(2)) if g.flag() else at.dot(g.full(2), g.full(1))
    if kind == 1:
        return at.outer(g.full(1), g.full(1))
    if kind == 2:
        return at.batched_dot(g.full(3), g.full(3))
    if kind == 3:
        return at.tensordot(g.full(3), g.full(g.choice([2, 3])), axes=g.choice([1, [[0], [1]], [[1], [0]]]))
    if kind == 4:
        return at.dot(g.full(1), g.full(1))
    x, y = g.full(2), g.full(2)
    out = at.dot(x.T if g.flag() else x, y.T if g.flag() else y)
    if g.flag():
        out = out * g.number()
    return out + g.number() * g.pick(2) if g.flag() else out


def index_of(g: Graphs, x: Variable, basic: bool) -> tuple:
    """An index for some of the dimensions of a tensor."""
    vector = g.pick(1)
    options = [
        lambda axis: slice(None),
        lambda axis: slice(g.choice([None, 0, 1, -1]), g.choice([None, 2, 100, -1]), g.choice([None, 1, 2, -1])),
        lambda axis: g.choice([0, -1]),
        lambda axis: slice(None, vector.shape[0]),
        lambda axis: at.constant(np.int64(g.choice([0, -1]))),
    ]
    if not basic:
        options += [lambda axis: np.array([0, -1, 0]), lambda axis: at.arange(x.shape[axis])]
        options += [lambda axis: g.full(1).argsort()]
    return tuple(g.choice(options)(axis) for axis in range(g.random.randint(1, x.type.ndim)))


def indexed(g: Graphs) -> Variable:
    """A part of a tensor, or a tensor with something written to it."""
    x = g.pick(g.random.randint(1, 3))
    index = index_of(g, x, g.flag())
    part = x[index]
    if g.flag():
        return part
    values = [g.number, lambda: part * 2, lambda: part[::-1], lambda: at.zeros_like(part), lambda: at.exp(part)]
    write = g.choice([at.set_subtensor, at.inc_subtensor])
    return write((at.zeros_like(x) if g.flag() else x)[index], g.choice(values)())


def joined(g: Graphs) -> Variable:
    """Tensors one after another."""
    x = g.pick()
    return g.choice([at.concatenate, at.stack])([x, g.pick(x.type.ndim)], axis=0)


def layer(g: Graphs) -> Variable:
    """An affine function, and one that is not."""
    function = g.choice([at.tanh, at.sigmoid, at.softplus, nnet.relu, softmax, log_softmax, lambda x: x])
    return function(at.dot(g.full(2), g.full(2)) + g.full(1))


def normalised(g: Graphs) -> Variable:
    """A softmax or the logarithm of a sum of exponentials, in many ways to write it."""
    x = g.pick(2)
    axis = g.choice([0, 1, -1])
    largest = at.max(x, axis=axis, keepdims=True)
    kind = g.random.randrange(8)
    if kind == 0:
        return g.choice([softmax, log_softmax])(x, axis=axis)
    if kind == 1:
        return at.exp(x) / at.exp(x).sum(axis=axis, keepdims=True)
    if kind == 2:
        return at.exp(x - largest) / at.exp(x - largest).sum(axis=axis, keepdims=True)
    if kind == 3:
        return at.log(at.exp(x).sum(axis=axis, keepdims=g.flag()))
    if kind == 4:
        return at.logsumexp(x, axis=axis, keepdims=g.flag())
    if kind == 5:
        return x - at.logsumexp(x, axis=axis, keepdims=True)
    if kind == 6:
        return at.log(softmax(x, axis=axis))
    return at.log(at.exp(x - largest).sum(axis=axis, keepdims=True)) + largest


def loss(g: Graphs) -> Variable:
    """Build a random loss."""
    x = g.full(2)
    p = softmax(x, axis=-1)
    labels = g.full(1).argsort()
    kind = g.random.randrange(7)
    if kind == 0:
        return nnet.categorical_crossentropy(p, labels).mean()
    if kind == 1:
        return nnet.categorical_crossentropy(p, softmax(g.pick(2), axis=-1)).sum()
    if kind == 2:
        return -at.log(p)[at.arange(labels.shape[0]), labels].mean()
    if kind == 3:
        return -log_softmax(x, axis=-1)[at.arange(labels.shape[0]), labels]
    if kind == 4:
        return nnet.binary_crossentropy(at.sigmoid(x), at.sigmoid(g.pick(2))).mean()
    if kind == 5:
        return nnet.crossentropy_softmax_1hot(x, labels)[0].mean()
    return nnet.sigmoid_binary_crossentropy(x, at.sigmoid(g.pick(2))).sum(axis=g.choice([None, 0, 1]))


FAMILIES: dict[str, tuple[tuple[int, ...], list[Callable[[Graphs], Variable]]]] = {
    "products": ((2, 2, 1, 3, 3, 0), [product, product, product, elementwise, rearranged, reduced]),
    "indexes": ((1, 2, 3, 1, 0), [indexed, indexed, indexed, elementwise, rearranged, reduced, joined]),
    "networks": ((2, 2, 1, 1, 0), [layer, normalised, normalised, loss, loss, elementwise, reduced]),
}


def graph_of(family: str, seed: int) -> Graph | None:
    """The inputs and results of the graph of a seed; None if there is none."""
    if family == "gradients":
        return gradients_of(*parts_of(program_of(seed)))
    if family == "programs":
        return parts_of(program_of(seed))
    ranks, steps = FAMILIES[family]
    g = Graphs(seed, ranks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(g.random.randint(2, 8)):
            try:
                g.variables.append(g.choice(steps)(g))
            except (TypeError, ValueError, IndexError, NotImplementedError):
                continue  # it does not fit
    results = g.variables[len(g.inputs) :][-3:]
    if not results:
        return None
    return gradients_of(g.inputs, results) or (g.inputs, results) if g.flag() else (g.inputs, results)


def parts_of(program: Program) -> Graph:
    """The inputs of a program, shared variables among them, and all that it computes."""
    inputs = [program.variables[i.name] for i in program.inputs]
    return inputs, [program.variables[name] for name in [*program.outputs, *program.updates.values()]]


def gradients_of(inputs: list[Variable], results: list[Variable]) -> Graph | None:
    """The results that have gradients, and the gradients of their sum; None if there are none."""
    results = [y for y in results if y.type.dtype.startswith("float")]
    wanted = [x for x in inputs if x.type.dtype.startswith("float")]
    if not results or not wanted:
        return None
    try:
        found = aesara.grad(
            at.add(*[y.sum() for y in results]), wanted, disconnected_inputs="ignore", null_gradients="return"
        )
    except (NotImplementedError, ValueError, TypeError):
        return None  # an operation without a gradient
    return inputs, [*results, *(x for x in found if not isinstance(x.type, NullType))]
