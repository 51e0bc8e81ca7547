"""Random programs of parts, shapes and repetitions, with lengths and indices at their limits.

``python -m tests.fuzz.index_programs SECONDS [SEED]`` prints what is found. Each program is rewritten with and without
the rules that may lose errors, and run on several data by the `perform` of each op, before and after; some programs
also run natively.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.configdefaults import config
from aesara.graph.cloning import clone
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Variable
from tests.rules.framework import evaluated
from tests.tensor.rewriting.passes import rewrite_fgraph

LENGTHS = (0, 1, 1, 2, 3, 3, 5)
INDICES = (-7, -4, -3, -2, -1, 0, 0, 1, 2, 3, 4, 6)
LIMITS = (2**63 - 1, -(2**63), 2**31, -129, 127)
DTYPES = ("float64", "int64", "int8", "uint8", "bool", "float32")
PASSES = ("canonicalize", "stabilize", "specialize", "uncanonicalize")
#: What a step may raise that does not fit the variables that there are.
UNFIT = (TypeError, ValueError, IndexError, NotImplementedError, ZeroDivisionError)


class Draw:
    """A program in the making: the random choices, the inputs, and the variables that there are."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.inputs: list[Variable] = []
        self.pool: list[Variable] = []
        for _ in range(self.random.randint(1, 3)):
            shape = tuple(self.pick((None, None, None, 1, 3)) for _ in range(self.pick((0, 1, 1, 2, 2, 3))))
            self.pool.append(self.given(self.pick(DTYPES), shape, "x"))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, options: Sequence[Any]) -> Any:
        return self.random.choice(options)

    def one_of(self, *options: Callable[[], Any]) -> Any:
        return self.pick(options)()

    def given(self, dtype: str, shape: tuple[int | None, ...], name: str) -> Variable:
        """A new input."""
        self.inputs.append(at.tensor(dtype, shape=shape, name=f"{name}{len(self.inputs)}"))
        return self.inputs[-1]

    def any(self, ndim: int | None = None, least: int = 0) -> Variable:
        """A variable that there is, or a new one."""
        fitting = [x for x in self.pool if x.ndim >= least and ndim in (None, x.ndim)]
        if fitting and self.chance(0.9):
            return self.pick(fitting[-4:])
        return self.given(self.pick(DTYPES), (None,) * (max(least, 1) if ndim is None else ndim), "x")

    def axis(self, x: Variable) -> int:
        return self.random.randrange(-x.ndim, x.ndim)

    def number(self, x: Variable, axis: int = 0) -> Any:
        """A position or bound: known, given, or from the length of a tensor."""
        kind = self.random.random()
        if kind < 0.5:
            return self.pick(INDICES if kind < 0.45 else LIMITS[:3])
        if kind < 0.75 or not x.ndim:
            return self.given(self.pick(("int64", "int64", "int8", "uint64")), (), "k")
        length = x.shape[axis]
        return self.pick((length, length - 1, -length, length // 2, length + 1, length.astype("int8")))

    def count(self, x: Variable) -> Any:
        """A length: of moderate size, or less than nothing."""
        if x.ndim and self.chance(0.4):
            return x.shape[self.axis(x)]
        return self.given("int64", (), "n") if self.chance(0.5) else self.pick((0, 1, 1, 2, 3, 3, 5))

    def positions(self, x: Variable, axis: int) -> Any:
        """An index of several positions."""
        return self.one_of(
            lambda: self.given(self.pick(("int64", "uint8", "int8")), (self.pick((None, None, 1, 2)),), "i"),
            lambda: np.array([self.pick(INDICES[2:-1]) for _ in range(self.pick((0, 1, 2, 3)))], dtype="int64"),
            lambda: at.arange(self.pick((0, 0, 1, -1)), self.one_of(lambda: x.shape[axis], lambda: self.count(x))),
            lambda: at.arange(self.pick((0, 2)), self.count(x), self.pick((2, -1))),
            lambda: np.array([[0, 1], [1, 0]]),
        )

    def mask(self, x: Variable) -> tuple[Any, ...]:
        """A mask over some dimensions, or none, of which others may be left out before it."""
        rank = self.random.randint(0, x.ndim)
        first = self.random.randint(0, x.ndim - rank)
        kept = (slice(None),) * first
        if self.chance(0.5):
            return (*kept, self.given("bool", (None,) * rank, "m"))
        return (*kept, x[(0,) * first + (Ellipsis,) + (0,) * (x.ndim - rank - first)] > 0)

    def index(self, x: Variable) -> tuple[Any, ...]:
        entries: list[Any] = []
        for axis in range(self.random.randint(0, x.ndim)):
            kind = self.random.random()
            if kind < 0.08:
                entries.append(None)
            if kind < 0.3:
                entries.append(self.number(x, axis))
            elif kind < 0.75:
                parts = [self.number(x, axis) if self.chance(0.55) else None for _ in range(2)]
                entries.append(slice(*parts, self.pick((None, None, None, 1, 2, -1, -2, 2**40))))
            else:
                entries.append(self.positions(x, axis))
        if entries and self.chance(0.1):
            entries.insert(self.random.randrange(len(entries) + 1), Ellipsis)
        if self.chance(0.08 if x.ndim else 0.4):
            return self.mask(x)
        return tuple(entries) or (Ellipsis,)


# Steps


def part(d: Draw) -> Variable:
    x = d.any()
    for _ in range(d.pick((1, 2, 2))):
        x = x[d.index(x)]
    return x


def written(d: Draw) -> Variable:
    x = d.any(least=d.pick((0, 1, 1)))
    index, write = d.index(x), d.pick((at.set_subtensor, at.inc_subtensor))
    taken = x[index]
    value = d.one_of(
        d.any, lambda: taken + d.any(), lambda: d.pick((0, 1, -1)), lambda: taken * 2,
        lambda: at.alloc(d.any(), *(d.count(x) for _ in range(d.pick((1, 2))))), lambda: at.zeros_like(taken),
    )  # fmt: skip
    made = write(taken, at.cast(value, x.dtype))
    return d.one_of(
        lambda: made, lambda: made[index], lambda: made[d.index(x)],
        lambda: at.set_subtensor(made[index], at.cast(d.any(), x.dtype)),
        lambda: at.inc_subtensor(made[index], at.cast(d.any(), x.dtype)), lambda: write(made[d.index(x)], 1),
    )  # fmt: skip


def repeated(d: Draw) -> Variable:
    x = d.any()
    lengths = [d.count(x) for _ in range(d.pick((0, 1, 1, 2)))]
    lengths += [d.one_of(lambda a=axis: x.shape[a], lambda: d.count(x)) for axis in range(x.ndim)]
    return d.pick((at.alloc, lambda x, *shape: at.broadcast_to(x, shape)))(x, *lengths)


def reduced(d: Draw) -> Variable:
    x = d.one_of(lambda: repeated(d), lambda: d.any(least=1))
    axis = d.axis(x) if x.ndim and d.chance(0.5) else None
    return d.one_of(
        lambda: d.pick((at.sum, at.prod, at.max, at.min, at.argmax))(x, axis=axis),
        lambda: d.pick((at.any, at.all))(x > 0, axis=axis),
    )


def elementwise(d: Draw) -> Variable:
    x = d.any()
    y = d.one_of(
        lambda: d.any(ndim=x.ndim), lambda: d.any(ndim=x.ndim), lambda: x, lambda: at.zeros_like(x),
        lambda: repeated(d), lambda: at.as_tensor(d.pick((0, 1, 2))),
    )  # fmt: skip
    return d.one_of(
        lambda: x + y, lambda: x * y, lambda: -(x.astype("int64")), lambda: at.maximum(x, y), lambda: at.eq(x, y),
        lambda: at.switch(x > 0, x, y), lambda: at.second(x, y), lambda: at.and_(x > 0, y > 0),
        lambda: at.or_(x > 0, at.ones_like(y, dtype="bool")), lambda: at.abs(x.astype("float64")),
        lambda: at.switch(x > 0, at.switch(x > 0, x, y), y), lambda: x.astype(d.pick(DTYPES)),
        lambda: at.xor(x > 0, x > 0),
    )  # fmt: skip


def joined(d: Draw) -> Variable:
    x = d.any(least=1)
    axis = d.axis(x)

    def piece(start: Any, stop: Any) -> Variable:
        return x[(*[slice(None)] * (axis % x.ndim), slice(start, stop))]

    if d.chance(0.4):
        cuts = [d.number(x, axis)] if d.chance(0.5) else sorted(d.random.sample(range(6), 2))
        parts = [piece(start, stop) for start, stop in zip([None, *cuts], [*cuts, None])]
    else:
        parts = [x, *(d.any(ndim=x.ndim) for _ in range(d.random.randint(0, 2)))]
        if d.chance(0.3):
            parts.append(piece(0, 0))
    made = at.join(axis, *parts)
    return made[d.index(made)] if d.chance(0.5) else made


def reshaped(d: Draw) -> Variable:
    x = d.any(least=1)
    lengths = [x.shape[axis] for axis in range(x.ndim)]
    return x.reshape(
        d.one_of(
            lambda: (-1,), lambda: lengths, lambda: [*lengths[:-1], -1], lambda: lengths[::-1], lambda: (1, *lengths),
            lambda: (d.count(x), -1), lambda: (x.size,), lambda: (lengths[0], x.size // at.maximum(lengths[0], 1)),
        )
    )  # fmt: skip


def shapes(d: Draw) -> Variable:
    x = d.any(least=1)
    return d.one_of(
        lambda: x.shape, lambda: x.shape[d.axis(x)], lambda: x.shape[d.random.randint(0, x.ndim) :], lambda: x.size,
        lambda: at.specify_shape(x, [d.pick((None, x.shape[axis], d.count(x))) for axis in range(x.ndim)]),
        lambda: at.stack([x.shape[0], at.as_tensor(d.count(x))])[d.number(x) :],
    )  # fmt: skip


def moved(d: Draw) -> Variable:
    x = d.any(least=1)
    axis = d.axis(x)
    return d.one_of(
        lambda: x.dimshuffle(*d.random.sample(range(x.ndim), x.ndim)), lambda: x.dimshuffle("x", *range(x.ndim)),
        lambda: at.roll(x, d.pick(INDICES), axis), lambda: at.flip(x, axis), lambda: x.flatten(),
        lambda: at.repeat(x, d.count(x), axis), lambda: at.tile(x, d.pick((0, 1, 2))), lambda: at.cumsum(x, axis),
        lambda: at.diff(x.astype("int64"), axis=axis), lambda: at.sort(x, axis), lambda: x.argsort(axis),
        lambda: at.take(x, d.positions(x, axis), axis, d.pick(("raise", "clip", "wrap"))),
        lambda: at.diag(d.any(ndim=d.pick((1, 2))), d.pick((-1, 0, 1))), lambda: at.pad(x, 1, mode="constant"),
        lambda: at.eye(d.count(x), d.count(x), d.pick((-1, 0, 1))), lambda: at.stack([x, d.any(ndim=x.ndim)]),
        lambda: at.split(x, [1, d.count(x)], 2, axis)[d.pick((0, 1))], lambda: at.unique(repeated(d)),
        lambda: at.unique(at.repeat(x, d.count(x))), lambda: at.nonzero(x)[0],
        lambda: at.searchsorted(at.sort(d.any(ndim=1)), x), lambda: at.dot(x, d.any(least=1))[d.index(x)],
    )  # fmt: skip


STEPS = (part, part, written, written, reduced, repeated, elementwise, joined, reshaped, shapes, moved, moved)


def program(seed: int) -> tuple[list[Variable], list[Variable]]:
    """Inputs and results; maybe none."""
    d = Draw(seed)
    made = []
    for _ in range(d.pick((1, 2, 2, 3, 4))):
        try:
            made.append(d.pick(STEPS)(d))
        except UNFIT:
            continue
        d.pool.append(made[-1])
    return d.inputs, made[-2:]


# Data


def data(inputs: Sequence[Variable], random: Random) -> dict[Variable, Any]:
    """Values for the inputs; lengths agree with one another more often than not."""
    usual = random.choice((1, 2, 3, 3, 3))
    return {x: _value(x, usual, random) for x in inputs}


def _value(x: Variable, usual: int, random: Random) -> Any:
    name, dtype = x.name[0], x.dtype
    is_unsigned = dtype[0] == "u"
    if name == "n":
        return np.array(random.choice((-1, 0, 1, usual, usual, 2, 5)), dtype)
    if name == "k":
        bounds = np.iinfo(dtype)
        pool = [*INDICES, *(LIMITS if random.random() < 0.2 else ()), *([int(bounds.max)] if is_unsigned else ())]
        return np.array(random.choice([k for k in pool if bounds.min <= k <= bounds.max]), dtype)
    shape = [random.choice((usual, usual, usual, random.choice(LENGTHS))) if n is None else n for n in x.type.shape]
    if name == "i":
        limits = (-usual, usual - 1) if random.random() < 0.7 else (-9, 9)
        pool = [k for k in INDICES if max(limits[0], 0 if is_unsigned else -9) <= k <= limits[1]]
    else:
        pool = [0, 1] if dtype == "bool" else [0, 1, 1, 2, 3, 5] if is_unsigned else [-3, -1, 0, 1, 1, 2, 4]
    return np.array([random.choice(pool) for _ in range(int(np.prod(shape)))], dtype=dtype).reshape(shape)


# Comparison


class Disagreement(AssertionError):
    """A program does not give what it gives as written."""


def rewritten(inputs: list[Variable], outputs: list[Variable], exclude: Sequence[str] = ()) -> list[Variable]:
    """The results after the passes; with errors of rules raised."""
    fgraph = FunctionGraph(inputs, clone(inputs, outputs, copy_inputs=False)[1], clone=False)
    rewrite_fgraph(fgraph, PASSES, exclude)
    return list(fgraph.outputs)


def outcome(compute: Callable[[], Any]) -> list[Any] | Exception:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return [np.asarray(value) for value in compute()]
        except Exception as error:
            return error


def same(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def check(
    seed: int,
    native: bool = False,
    runs: int = 5,
    program: Callable[..., Any] = program,
    data: Callable[..., Any] = data,
    same: Callable[[Any, Any], bool] = same,
    errors: bool = True,
) -> int:
    """Raise `Disagreement` if a program gives something else once it is rewritten; return how often it gave values.

    Errors of a program have to be those of the rewritten program if `errors`, values in any case.
    """
    inputs, outputs = program(seed)
    if not outputs:
        return 0
    checked = rewritten(inputs, outputs, ["shape_unsafe"])
    after = rewritten(inputs, outputs)
    ways = {"checked": lambda given: evaluated(checked, given), "rewritten": lambda given: evaluated(after, given)}
    if native:
        with config.change_flags(native_cache=False, native_verify=True):
            function = aesara.function(inputs, outputs, mode=Mode("llvm", "fast_run"), on_unused_input="ignore")
        ways["native"] = lambda given: function(*(np.array(value) for value in given.values()))
    random, valued = Random(seed), 0
    for _ in range(runs):
        given = data(inputs, random)
        wanted = outcome(lambda: evaluated(outputs, given))
        valued += isinstance(wanted, list)
        found = {name: outcome(lambda: compute(given)) for name, compute in ways.items()}
        for name, got in found.items():
            if isinstance(wanted, Exception) and not errors:
                is_right = True
            elif isinstance(wanted, list):
                is_right = isinstance(got, list) and all(map(same, got, wanted))
            elif name == "checked":
                # Dimensions may become known to be of length one, by which they are broadcast.
                is_right = isinstance(got, Exception) or "dimension mismatch" in str(wanted)
            else:
                is_right = isinstance(got, Exception) or name == "rewritten" or isinstance(found["rewritten"], list)
            if not is_right:
                shown = {x.name: value.tolist() for x, value in given.items()}
                raise Disagreement(f"{name}: {got!r:.300} instead of {wanted!r:.300} for {shown}")
    return valued


def search(check: Callable[..., int], program: Callable[..., Any], seconds: float, seed: int = 0) -> None:
    """Check programs for some time, and print those that are wrong."""
    end, count, valued, wrong = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < end:
        number = seed * 10**6 + count
        count += 1
        try:
            valued += check(number, native=count % 20 == 0)
        except Exception as error:
            wrong += 1
            print(f"--- {number}: {type(error).__name__}: {error}", flush=True)
            aesara.dprint(program(number)[1])
    print(f"{count} programs, {valued} calls with values, {wrong} complaints")


if __name__ == "__main__":
    search(check, program, *map(float, sys.argv[1:2]), *map(int, sys.argv[2:]))
