"""Gradients of the cases of a row, in one graph, and what they are by differences of the oracle."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import aesara
from aesara.gradient import Rop
from aesara.tensor.core.conversion import constant
from tests.optable.differences import real_parts, slopes, weighted
from tests.optable.inputs import Arg
from tests.optable.running import MODES, Graphs, called, compiled, flat, rng_of
from tests.optable.table import Case, Row


def differentiable(row: Row, second: bool = False) -> list[Case]:
    """The cases whose gradients are checked."""
    cases = [*row.cases, *([] if second and row.second == "real" else row.complex_cases)]
    return [c for c in cases if c.smooth and any(a.gradient_wanted for a in c.args)] if row.gradient else []


def direction(rng: np.random.Generator, value: np.ndarray) -> np.ndarray:
    """Random numbers in the shape of a value, complex where it is."""
    drawn = rng.uniform(-1, 1, np.shape(value))
    return drawn + 1j * rng.uniform(-1, 1, np.shape(value)) if np.iscomplexobj(value) else drawn


def off_kinks(value: np.ndarray, arg: Arg) -> np.ndarray:
    """Values away from multiples of 1/2, where functions have jumps and corners."""
    if arg.values is not None or arg.low == arg.high or value.dtype.kind != "f":
        return value
    near = np.abs(value * 2 - np.round(value * 2)) < 4e-3
    return np.where(near, value + 4e-3, value).astype(value.dtype)  # for NumPy 1, a number of no dimension is wider


class Derivatives:
    """Gradients and directional derivatives of the cases of a row, in one graph."""

    def __init__(self, row: Row, second: bool = False) -> None:
        self.row, self.cases = row, differentiable(row, second)
        self.graphs = Graphs.of(row, self.cases)
        rng = rng_of(row, 7)
        self.values = [[off_kinks(a.draw(rng), a) for a in c.args] for c in self.cases]
        self.weights = [
            [rng.uniform(0.5, 1.5, w.shape) * rng.choice([-1.0, 1.0], w.shape) for w in real_parts(row.expect(c, v))]
            for c, v in zip(self.cases, self.values)
        ]
        self.directions = [[direction(rng, v) for v in given] for given in self.values]
        self.outputs: list[Any] = []
        self.wanted: list[tuple[int, int | None]] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i in range(len(self.cases)):
                self._add(i)

    def _add(self, i: int) -> None:
        """Gradients of the weighted results of a case, and their derivative along a direction."""
        parts = real_parts(self.graphs.outputs[i])
        cost = sum(((o * constant(w)).sum() for o, w in zip(parts, self.weights[i], strict=True)), start=constant(0.0))
        places = [k for k, a in enumerate(self.cases[i].args) if a.gradient_wanted]
        inputs = [self.graphs.inputs[i][k] for k in places]
        gradients = aesara.grad(cost, inputs, disconnected_inputs="ignore")  # zeros, which the slopes must be then
        for variable, gradient in zip(inputs, gradients):
            assert gradient.type.dtype == variable.type.dtype and gradient.type.ndim == variable.type.ndim
        along = Rop(cost, inputs, [constant(self.directions[i][k]) for k in places], disconnected_outputs="ignore")
        self.wanted += [(i, k) for k in places] + [(i, None)]
        self.outputs += [*gradients, along]
        if len(places) > 1:  # where only one input moves
            one = Rop(cost, inputs[0], constant(self.directions[i][places[0]]), disconnected_outputs="ignore")
            self.wanted += [(i, places[0]), (i, None)]
            self.outputs += [gradients[0], one]

    def expected(self) -> Iterator[Any]:
        for i, k in self.wanted:
            if k is None:
                yield None
            else:
                yield self._slopes(i, k)

    @functools.cache
    def _slopes(self, i: int, k: int) -> np.ndarray:
        return slopes(lambda v: weighted(self.row.expect(self.cases[i], v), self.weights[i]), self.values[i], k)

    def complaints(self) -> Iterator[str]:
        expected = list(self.expected())
        for mode in MODES:
            function = compiled(self.graphs.flat_inputs(), self.outputs, MODES[mode])
            results = called(function, flat(self.values))
            along = 0.0
            for (i, k), want, got in zip(self.wanted, expected, results):
                if k is None:
                    if not abs(got - along) <= 1e-10 * (1 + abs(along)):
                        yield f"{mode}: {self.cases[i]}: Rop {got}, Lop {along}"
                    along = 0.0
                    continue
                along += float((got * self.directions[i][k].conj()).real.sum())
                if got.shape != want.shape or not np.allclose(got, want, rtol=1e-7, atol=1e-8):
                    yield f"{mode}: {self.cases[i]}, input {k}: got\n{got}\nexpected\n{want}"
