"""Every row of the op table: gradients against differences of the oracle, and forward mode against reverse mode."""

import functools
import warnings
import zlib

import numpy as np
import pytest

import aesara
import tests.optable.rows  # noqa: F401
from aesara.gradient import Rop
from aesara.tensor.conversion import constant
from tests.optable.differences import real_parts, slopes, weighted
from tests.optable.faults import rows_for
from tests.optable.running import MODES, Graphs, called, compiled, flat, rng_of
from tests.optable.table import ROWS


def differentiable(row, second=False):
    cases = [*row.cases, *([] if second and row.second == "real" else row.complex_cases)]
    return [c for c in cases if c.smooth and any(a.gradient_wanted for a in c.args)] if row.gradient else []


def direction(rng, value):
    drawn = rng.uniform(-1, 1, np.shape(value))
    return drawn + 1j * rng.uniform(-1, 1, np.shape(value)) if np.iscomplexobj(value) else drawn


def off_kinks(value, arg):
    """Values away from multiples of 1/2, where functions have jumps and corners."""
    if arg.values is not None or value.dtype.kind != "f":
        return value
    near = np.abs(value * 2 - np.round(value * 2)) < 4e-3
    return np.asarray(np.where(near, value + 4e-3, value))


class Derivatives:
    """Gradients and directional derivatives of the cases of a row, in one graph."""

    def __init__(self, row, second=False):
        self.row, self.cases = row, differentiable(row, second)
        self.graphs = Graphs.of(row, self.cases)
        rng = rng_of(row, 7)
        self.values = [[off_kinks(a.draw(rng), a) for a in c.args] for c in self.cases]
        self.weights = [
            [rng.uniform(0.5, 1.5, w.shape) * rng.choice([-1.0, 1.0], w.shape) for w in real_parts(row.expect(c, v))]
            for c, v in zip(self.cases, self.values)
        ]
        self.directions = [[direction(rng, v) for v in given] for given in self.values]
        self.outputs, self.wanted = [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i in range(len(self.cases)):
                self._add(i)

    def _add(self, i):
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

    def expected(self):
        for i, k in self.wanted:
            if k is None:
                yield None
            else:
                yield self._slopes(i, k)

    @functools.cache  # noqa: B019 - one object for each test
    def _slopes(self, i, k):
        return slopes(lambda v: weighted(self.row.expect(self.cases[i], v), self.weights[i]), self.values[i], k)

    def complaints(self):
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


@rows_for("gradients", [r for r in ROWS.values() if differentiable(r)])
def test_gradients(row):
    """Symbolic gradients are the oracle's slopes; the derivative along a direction is what they say."""
    complaints = list(Derivatives(row).complaints())
    if complaints:
        pytest.fail("\n".join(complaints[:6]), pytrace=False)


@rows_for("curvature", [r for r in ROWS.values() if differentiable(r) and r.second])
def test_second_derivatives(row):
    """The gradient of a weighted gradient is what differences of the gradient say."""
    first = Derivatives(row, second=True)
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    outputs, expected = [], []
    start = 0
    gradient = compiled(first.graphs.flat_inputs(), first.outputs, MODES["native"])
    flat_values = flat(first.values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, case in enumerate(first.cases):
            places = [k for k, a in enumerate(case.args) if a.gradient_wanted]
            taken = [j for j, (n, k) in enumerate(first.wanted) if n == i and k is not None][: len(places)]
            weights = real_parts([direction(rng, first.values[i][k]) for k in places])
            parts = real_parts([first.outputs[j] for j in taken])
            cost = sum((part * constant(w)).sum() for part, w in zip(parts, weights, strict=True))
            outputs += aesara.grad(cost, [first.graphs.inputs[i][k] for k in places], disconnected_inputs="ignore")

            def along(moved, start=start, taken=taken, weights=weights):
                given = [*flat_values[:start], *moved, *flat_values[start + len(moved) :]]
                results = called(gradient, given)
                return weighted([results[j] for j in taken], weights)

            expected += [(case, k, slopes(along, first.values[i], k)) for k in places]
            start += len(case.args)
    complaints = []
    got = called(compiled(first.graphs.flat_inputs(), outputs, MODES["native"]), flat_values)
    for (case, k, want), result in zip(expected, got):
        if not np.allclose(result, want, rtol=1e-6, atol=1e-7):
            complaints.append(f"{case}, input {k}: got\n{result}\nexpected\n{want}")
    if complaints:
        pytest.fail("\n".join(complaints[:6]), pytrace=False)
