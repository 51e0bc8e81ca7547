"""Random differentiable programs: rows of the op table that have gradients, within their domains."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import aesara.tensor as at
from aesara.configdefaults import config
from aesara.gradient import verify_grad
from aesara.graph.nodes import Variable
from tests.fuzz.programs import make_values
from tests.fuzz.table import USABLE, bounded
from tests.optable.inputs import Arg
from tests.optable.table import Row

DIFFERENTIABLE: list[tuple[Row, int]] = [
    (row, k)
    for row in USABLE
    if row.gradient
    for k, c in enumerate(row.cases)
    if c.smooth and any(a.gradient_wanted for a in c.args)
]
SHAPES = ((), (3,), (5,), (2, 3), (3, 4), (4,), (3, 3), (2, 3, 4), (1, 4))


@dataclass(frozen=True)
class Line:
    """A row, a case of it, and for each input either the position of an earlier value or a fixed array."""

    row: Row
    index: int
    operands: tuple[Any, ...]

    def apply(self, values: list[Variable]) -> list[Variable]:
        case = self.row.cases[self.index]
        inputs = [fit(values[o], a) if isinstance(o, int) else at.constant(o) for o, a in zip(self.operands, case.args)]
        outputs = self.row.apply(case, inputs)
        return [o for o in outputs if o.type.dtype == "float64"]

    def __str__(self) -> str:
        inputs = [f"v{o}" if isinstance(o, int) else repr(o) for o in self.operands]
        return f"{self.row}{self.row.cases[self.index]} of {', '.join(inputs)}"


def fit(x: Variable, arg: Arg) -> Variable:
    """The elements of `x`, in the shape and the domain of an input, off places where functions have corners."""
    size = int(np.prod(arg.shape))
    y = at.concatenate([x.flatten()] * 3)[:size] if x.type.ndim else at.alloc(x, size)
    y = at.concatenate([y, at.zeros((size,))])[:size].reshape(arg.shape)
    # Elements that were equal, or are repeated, must not stay so: the largest of equal ones has no gradient.
    y = y + np.linspace(0.1, 1.3, max(size, 1))[:size].reshape(arg.shape)
    return bounded(at.tanh(y / 4) * 2, arg.low, arg.high)


@dataclass
class SmoothProgram:
    """Values of float64 inputs, and lines; the result is a weighted sum of what no line uses."""

    inputs: list[np.ndarray]
    lines: list[Line]
    seed: int

    def results(self, *inputs: Variable) -> Variable:
        values, used = list(inputs), set()
        for line in self.lines:
            values += line.apply(values)
            used |= {o for o in line.operands if isinstance(o, int)}
        rng = np.random.default_rng(self.seed)
        total = at.constant(0.0)
        for k, value in enumerate(values):
            if k not in used:
                weight = rng.uniform(0.5, 1.5)
                total = total + weight * (at.tanh(value / 8) * 8).sum() / at.maximum(value.size, 1)
        return total

    def check(self, mode: Any = None) -> None:
        """Raise `GradientError` if the gradient is not what differences say."""
        with warnings.catch_warnings(), config.change_flags(native_cache=False, native_verify=True):
            warnings.simplefilter("ignore")
            verify_grad(self.results, self.inputs, rng=np.random.default_rng(0), mode=mode)

    def __str__(self) -> str:
        inputs = [f"v{k} = {x.tolist()}" for k, x in enumerate(self.inputs)]
        return "\n".join([*inputs, *map(str, self.lines), f"seed {self.seed}"])


def draw_smooth(integer: Any, max_lines: int = 4) -> SmoothProgram:
    """A program, from a function that draws integers."""
    choice = lambda options: options[integer(0, len(options) - 1)]
    inputs = [make_values(integer(0, 1000), 1, "float64", choice(SHAPES)) for _ in range(integer(1, 3))]
    lines: list[Line] = []
    count = len(inputs)
    for _ in range(integer(1, max_lines)):
        row, index = choice(DIFFERENTIABLE)
        case, operands = row.cases[index], []
        for arg in case.args:
            if arg.gradient_wanted and arg.values is None:
                operands.append(integer(0, count - 1))
            else:
                operands.append(arg.draw(np.random.default_rng(integer(0, 1000))))
        line = Line(row, index, tuple(operands))
        lines.append(line)
        count += sum(
            np.asarray(w).dtype == "float64"
            for w in row.expect(case, [a.draw(np.random.default_rng(0)) for a in case.args])
        )
    return SmoothProgram(inputs, lines, integer(0, 1000))
