"""Random programs whose operands are broadcast, in every position of elementwise operations.

``python -m tests.fuzz.broadcast_programs SECONDS [SEED]`` prints what is found. The tensors of a program have the same
dimensions, each of which is there or of length one; types state lengths or do not. They are combined elementwise,
written to, read, repeated, joined, reduced and rearranged; half of the programs have gradients among their results.
Programs are compared as those of `index_programs` are, for several lengths, of which some are one or zero. A term that
is zero is left out of a sum with its errors; so only values are compared.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.graph.nodes import Variable
from tests.fuzz.index_programs import UNFIT, Draw, check, search

LENGTHS = (1, 2, 3, 3, 4, 0)
PATTERNS = ((False, False), (False, False), (True, False), (False, True), (True, True))


class BroadcastDraw(Draw):
    """A program in the making, all of whose tensors broadcast to the same two dimensions."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.inputs: list[Variable] = []
        self.lengths = tuple(self.pick(LENGTHS) for _ in range(2))
        self.pool: list[Variable] = []
        for pattern in self.random.sample(PATTERNS, self.random.randint(2, 4)):
            self.pool.append(self.matrix(pattern))

    def matrix(self, pattern: tuple[bool, bool]) -> Variable:
        """A new input, of length one in some dimensions; the other lengths are known, or not."""
        knows = self.chance(0.25)
        shape = tuple(1 if single else n if knows else None for single, n in zip(pattern, self.lengths))
        return self.given("float64", shape, "x")

    def operand(self) -> Variable:
        if self.chance(0.2):
            self.pool.insert(0, self.matrix(self.pick(PATTERNS)))
            return self.pool[0]
        return self.pick(self.pool[-4:] if self.chance(0.6) else self.pool)

    def full(self) -> Variable:
        """A tensor without dimensions that are known to be of length one."""
        fitting = [x for x in self.pool if 1 not in x.type.shape]
        return self.pick(fitting) if fitting else self.matrix((False, False))

    def position(self) -> Any:
        return self.pick((0, 0, -1, 1)) if self.chance(0.6) else self.given("int64", (), "k")

    def entry(self) -> Any:
        """Draw the index of one dimension: repeated positions most often."""
        return self.one_of(
            self.position,
            lambda: slice(None),
            lambda: slice(*self.pick(((1, None), (None, -1), (0, 1), (None, None, -1), (None, 2), (-1, None)))),
            lambda: self.given("int64", (None,), "i"),
            lambda: np.array(self.pick(([0], [0, 0], [-1, 0, 0], [0, -1, -1]))),
            lambda: at.arange(self.lengths[0]),
        )

    def place(self) -> tuple[Any, ...]:
        return tuple(self.entry() for _ in range(self.pick((1, 1, 2))))


def arithmetic(d: BroadcastDraw) -> Variable:
    x, y, z = (d.operand() for _ in range(3))
    return d.one_of(
        lambda: x + y, lambda: x - y, lambda: x * y, lambda: x / (1 + y * y), lambda: at.add(x, y, z),
        lambda: at.mul(x, y, z), lambda: x + y * z, lambda: at.maximum(x, y), lambda: at.second(x, y),
        lambda: at.switch(x > y, z, 0), lambda: at.switch(x > 0, y, z), lambda: -x + y, lambda: 2 * x - 3 * y,
        lambda: x * x - y * y, lambda: at.exp(x - y), lambda: at.clip(x, y, y + 1), lambda: x * 0 + y, lambda: x - x,
        lambda: at.zeros_like(x) + y, lambda: at.ones_like(x) * y, lambda: (x + y) * (x + z),
    )  # fmt: skip


def written(d: BroadcastDraw) -> Variable:
    """A tensor, often of zeros, with a part written to, in a sum with others."""
    like = d.operand()
    base = d.one_of(lambda: at.zeros_like(like), lambda: at.zeros_like(like), lambda: like, lambda: like * d.operand())
    place = d.place()
    taken = base[place]
    value = d.one_of(
        lambda: d.given("float64", (), "x"), lambda: d.operand()[place], lambda: like[place] * d.operand()[place],
        lambda: taken + d.operand()[place], lambda: d.operand(), lambda: 1.0, lambda: d.operand().sum(),
        lambda: at.zeros_like(taken), lambda: d.operand()[d.position()],
    )  # fmt: skip
    made = d.pick((at.set_subtensor, at.inc_subtensor, at.inc_subtensor))(taken, value)
    x, c = d.operand(), d.one_of(lambda: 2.0, lambda: d.given("float64", (), "x"), d.operand)
    return d.one_of(
        lambda: made, lambda: made + x, lambda: x + d.operand() + made, lambda: x - made, lambda: made - x,
        lambda: c * made + x, lambda: x - c * made, lambda: -made + x, lambda: made * x, lambda: made + 0 * x,
        lambda: at.inc_subtensor(made[place], value), lambda: made + made, lambda: at.add(made, x, d.full()),
    )  # fmt: skip


def read(d: BroadcastDraw) -> Variable:
    x = d.operand()
    axis = d.pick((0, 1))
    whole = d.one_of(
        lambda: slice(None, None, -1), lambda: at.arange(x.shape[axis]), lambda: slice(0, 1), lambda: [0],
        lambda: slice(-1, None), lambda: [d.position()], lambda: slice(0, x.shape[axis]),
    )  # fmt: skip
    part = (d.one_of(lambda: x, lambda: arithmetic(d)))[(*[slice(None)] * axis, whole)]
    return part if d.chance(0.5) else at.sum(part, axis=axis, keepdims=True)


def repeated(d: BroadcastDraw) -> Variable:
    x, full, z = d.operand(), d.full(), d.operand()
    made = d.one_of(
        lambda: at.alloc(x, *full.shape), lambda: at.broadcast_to(x, full.shape), lambda: at.alloc(x[0], *full.shape),
        lambda: at.fill(full, x), lambda: at.alloc(d.given("float64", (), "x"), *full.shape),
        lambda: at.alloc(x, full.shape[0], x.shape[1]), lambda: at.repeat(x.sum(0, keepdims=True), full.shape[0], 0),
        lambda: at.alloc(np.float64(1), *z.shape), lambda: at.unbroadcast(at.alloc(z[:1], 1, z.shape[1]), 0),
    )  # fmt: skip
    return d.one_of(lambda: made, lambda: made + z, lambda: made * z, lambda: z - made, lambda: at.exp(made) + z)


def joined(d: BroadcastDraw) -> Variable:
    x, y, axis = d.operand(), d.operand(), d.pick((0, 1))
    stacked = at.join(axis, x, y)
    start, end = (0, x.shape[axis]) if d.chance(0.5) else (x.shape[axis], None)
    return d.one_of(
        lambda: stacked[(*[slice(None)] * axis, slice(start, end))],
        lambda: at.stack([x, y])[d.pick((0, 1))] + d.operand(),
        lambda: (at.stack([x, y], axis=2) * d.operand()[:, :, None]).sum(axis=2),
        lambda: at.sum(stacked, axis=axis, keepdims=True),
        lambda: (at.join(0, x.dimshuffle("x", 0, 1), y.dimshuffle("x", 0, 1)) + d.operand()).sum(axis=0),
    )


def reduced(d: BroadcastDraw) -> Variable:
    x, y, axis = d.operand(), d.operand(), d.pick((0, 1, (0, 1), None))
    inner = d.one_of(
        lambda: x, lambda: x * y, lambda: x / (1 + y * y), lambda: -x, lambda: x + y, lambda: x * y * d.operand(),
        lambda: at.exp(x), lambda: x - y, lambda: at.switch(x > 0, y, 0),
    )  # fmt: skip
    total = d.pick((at.sum, at.sum, at.prod, at.mean, at.max, at.min))(inner, axis=axis, keepdims=True)
    return d.one_of(lambda: total, lambda: total * d.operand(), lambda: at.add(total, d.operand(), d.operand()))


def rearranged(d: BroadcastDraw) -> Variable:
    x, y = d.operand(), d.operand()
    return d.one_of(
        lambda: (x[:, :, None] * y[:, None, :]).sum(axis=2), lambda: (x[:, None] + y[None, :]).mean(axis=0),
        lambda: (x.T * y.T).T, lambda: (x.T + 1).T - y, lambda: x.dimshuffle("x", 0, 1)[0] + y,
        lambda: at.dot(x, y.T).sum(axis=1, keepdims=True), lambda: x.reshape((x.shape[0], -1)) * y,
        lambda: at.diff(x.sum(axis=0, keepdims=True), axis=0).sum() + y, lambda: at.cumsum(x, 0) + y,
        lambda: at.sort(x + y, axis=0), lambda: at.softmax(x + y, axis=1), lambda: at.dot(x.T, y),
        lambda: at.logsumexp(x + y, axis=1, keepdims=True),
    )  # fmt: skip


STEPS = (arithmetic, arithmetic, written, written, written, read, repeated, joined, reduced, reduced, rearranged)


def program(seed: int) -> tuple[list[Variable], list[Variable]]:
    """Inputs and results; maybe none."""
    d = BroadcastDraw(seed)
    made: list[Variable] = []
    for _ in range(d.pick((2, 3, 4, 5))):
        try:
            made.append(d.pick(STEPS)(d))
        except UNFIT:
            continue
        if made[-1].type.ndim == 2:
            d.pool.append(made[-1])
    outputs = made[-2:]
    if outputs and d.chance(0.5):
        wrt = [x for x in d.inputs if x.dtype == "float64"]
        cost = at.sum(outputs[-1] * (outputs[-1] if d.chance(0.5) else 1))
        # What is stated not to be broadcast may be of another length than its gradient.
        with warnings.catch_warnings(), contextlib.suppress(*UNFIT):
            warnings.simplefilter("ignore")
            outputs += aesara.grad(cost, d.random.sample(wrt, min(2, len(wrt))), disconnected_inputs="ignore")
    return d.inputs, outputs


def data(inputs: Sequence[Variable], random: Random) -> dict[Variable, Any]:
    """Values for the inputs: of one pair of lengths, which those that are known decide."""
    lengths = [random.choice(LENGTHS[:-1] if random.random() < 0.9 else LENGTHS) for _ in range(2)]
    for x in inputs:
        for axis, n in enumerate(x.type.shape):
            if x.type.ndim == 2 and n not in (None, 1):
                lengths[axis] = n
    values: dict[Variable, Any] = {}
    for x in inputs:
        if x.name[0] == "k":
            values[x] = np.array(random.choice((0, 0, -1, 1)))
        elif x.name[0] == "i":
            values[x] = np.array([random.choice((0, 0, -1, 1)) for _ in range(random.choice((0, 1, 2, 3, 4)))], "int64")
        else:
            shape = [1 if n == 1 else lengths[axis] for axis, n in enumerate(x.type.shape)]
            values[x] = np.array([random.choice((-2.0, -1.0, 0.5, 1.0, 3.0)) for _ in range(int(np.prod(shape)))])
            values[x] = values[x].reshape(shape)
    return values


def close(a: Any, b: Any) -> bool:
    """Return whether two results are equal within rounding errors."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    size = np.max(np.abs(b), initial=1, where=np.isfinite(b))
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-11 * size, equal_nan=True))


def check_seed(seed: int, native: bool = False, runs: int = 3) -> int:
    return check(seed, native, runs, program=program, data=data, same=close, errors=False)


if __name__ == "__main__":
    search(check_seed, program, *map(float, sys.argv[1:2]), *map(int, sys.argv[2:]))
