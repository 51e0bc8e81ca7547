"""Draws from random distributions: NumPy's C functions for one number, called once for each element.

These are the functions behind the methods of `numpy.random.Generator`, so that the numbers are those of a generator
in the same state.  The generator is a vector of words; see `ir.generators`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.ir.expr import const
from aesara.ir.generators import generator_of, words_of
from aesara.ir.routine import (
    Bits,
    CArgument,
    Column,
    Element,
    ElementCount,
    Int64,
    Null,
    Number,
    Parameter,
    Place,
    Routine,
    RowPointer,
    Scratch,
    family,
    size,
)
from aesara.ir.work import Work
from aesara.records import dataclass

__all__ = [
    "Draw",
    "dirichlet",
    "draw",
    "draw_named",
    "fill",
    "is_draw_of_numbers",
    "multinomial",
    "multivariate_hypergeometric",
    "subset",
    "weighted_subset",
]

_N, _WORDS = size("n"), size("words")
#: nanoseconds of a call
_CALL = 20.0
#: bytes of what NumPy's ``binomial_t`` keeps from one number to the next
_BINOMIAL = 256


@dataclass(frozen=True)
class Draw:
    """The C function and the method that draw from a distribution.

    Attributes
    ----------
    parameters
        Names of its parameters, with their dtypes, in the order of the C function.
    method
        Draws the same with a generator: called with it, the parameters and a size.  By default it is the generator's
        method of the same name.
    dtype
        What is drawn.
    nanoseconds
        How long one number takes.
    scratch
        Bytes of memory of its own that the function wants, behind the parameters.
    more
        Further arguments, which are always the same.
    function
        The name of the C function, if it is not that of the distribution.
    fills
        The symbol of a function for many numbers at once: one of our own, or one of NumPy's, which takes parameters
        that are the same for all.
    """

    parameters: tuple[tuple[str, str], ...]
    method: Callable[..., Any] | None = None
    dtype: str = "float64"
    nanoseconds: float = 20.0
    scratch: int = 0
    more: tuple[Number, ...] = ()
    function: str = ""
    fills: str = ""

    @property
    def fills_any(self) -> bool:
        """Return whether there is a function for many numbers at once, with parameters of their own."""
        return self.fills.startswith("draw.")


def _floats(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "float64") for name in names)


def _integers(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "int64") for name in names)


def _interval(rng: Any, last: int, size: None) -> int:
    """An integer from 0 to `last`, drawn as NumPy does it where it puts elements into another order."""
    mask = (1 << int(last).bit_length()) - 1
    kind = np.uint32 if last < 2**32 else np.uint64
    while last:
        found = int(rng.integers(0, np.iinfo(kind).max, endpoint=True, dtype=kind)) & mask
        if found <= last:
            return found
    return 0


_DRAWS = {
    "normal": Draw(_floats("loc", "scale"), nanoseconds=8.0, fills="draw.normal"),
    "standard_normal": Draw((), nanoseconds=6.0, fills="draw.standard_normal"),
    "standard_uniform": Draw((), lambda rng, n: rng.random(n), nanoseconds=3.0, fills="draw.standard_uniform"),
    "standard_exponential": Draw((), nanoseconds=5.0, fills="draw.standard_exponential"),
    "uniform": Draw(
        _floats("low", "range"),
        lambda rng, low, length, n: low + length * rng.random(n),
        nanoseconds=4.0,
        fills="draw.uniform",
    ),
    "exponential": Draw(_floats("scale"), nanoseconds=6.0, fills="draw.exponential"),
    "standard_gamma": Draw(_floats("shape"), fills="draw.standard_gamma"),
    "gamma": Draw(_floats("shape", "scale"), fills="draw.gamma"),
    "beta": Draw(_floats("a", "b"), nanoseconds=60.0),
    "chisquare": Draw(_floats("df")),
    "f": Draw(_floats("dfnum", "dfden"), nanoseconds=40.0),
    "noncentral_chisquare": Draw(_floats("df", "nonc"), nanoseconds=40.0),
    "noncentral_f": Draw(_floats("dfnum", "dfden", "nonc"), nanoseconds=60.0),
    "standard_t": Draw(_floats("df"), nanoseconds=30.0),
    "vonmises": Draw(_floats("mu", "kappa"), nanoseconds=60.0),
    "weibull": Draw(_floats("a"), nanoseconds=40.0),
    "power": Draw(_floats("a"), nanoseconds=40.0),
    "laplace": Draw(_floats("loc", "scale")),
    "logistic": Draw(_floats("loc", "scale")),
    "lognormal": Draw(_floats("mean", "sigma")),
    "rayleigh": Draw(_floats("scale")),
    "wald": Draw(_floats("mean", "scale"), nanoseconds=30.0),
    "triangular": Draw(_floats("left", "mode", "right")),
    "binomial": Draw(
        (*_floats("p"), *_integers("n")),
        lambda rng, p, n, count: rng.binomial(n, p, count),
        dtype="int64",
        nanoseconds=60.0,
        scratch=_BINOMIAL,
    ),
    "negative_binomial": Draw(_floats("n", "p"), dtype="int64", nanoseconds=80.0),
    "poisson": Draw(_floats("lam"), dtype="int64", nanoseconds=40.0, fills="draw.poisson"),
    "geometric": Draw(_floats("p"), dtype="int64"),
    "logseries": Draw(_floats("p"), dtype="int64", nanoseconds=40.0),
    "zipf": Draw(_floats("a"), dtype="int64", nanoseconds=80.0),
    "hypergeometric": Draw(_integers("ngood", "nbad", "nsample"), dtype="int64", nanoseconds=80.0),
    "integers": Draw(
        _integers("low", "range"),
        lambda rng, low, length, n: rng.integers(low, low + length, n, endpoint=True),
        dtype="int64",
        nanoseconds=6.0,
        more=(Number(const(0, "uint64")), Number(const(0, "int32"))),
        function="bounded_uint64",
        fills="random.random_bounded_uint64_fill",
    ),
    "interval": Draw(_integers("last"), _interval, dtype="int64", nanoseconds=6.0),
}


def draw_named(name: str) -> Draw:
    """Return the record of the distribution of this name."""
    return _DRAWS[name]


@family("draw")
def draw(name: str) -> Routine:
    """Draw ``n`` numbers and advance the generator; parameters have one element, or one for each number."""
    row = _DRAWS[name]

    arguments: list[CArgument] = [Bits("state"), *(Element(one) for one, _ in row.parameters)]
    if row.scratch:
        arguments.append(Scratch(row.scratch))
    return _routine(
        name, "draw", row, f"random.random_{row.function or name}", (*arguments, *row.more), gives="out"
    )  # fmt: skip


@family("fill")
def fill(name: str) -> Routine:
    """The same by a function for many numbers at once."""
    row = _DRAWS[name]
    taken: tuple[CArgument, ...]
    if row.fills_any:
        missing = [Null(), Number(const(0))] * (2 - len(row.parameters))
        taken = (Bits("state"), ElementCount(), Place("out"), *(Column(one) for one, _ in row.parameters), *missing)
    else:
        how_to_reject = Number(const(0, "int32"))
        values = (Element(one) for one, _ in row.parameters)
        taken = (Bits("state"), *values, ElementCount(), how_to_reject, Place("out"))
    return _routine(name, "fill", row, row.fills, taken)


def _routine(
    name: str, family: str, row: Draw, symbol: str, arguments: tuple[CArgument, ...], gives: str = ""
) -> Routine:  # fmt: skip
    def reference(values: dict[str, Any], state: np.ndarray, *arrays: np.ndarray) -> None:
        *parameters, out = arrays
        rng = generator_of(state)
        # One by one: the range of integers, say, is known to NumPy for each of them.
        for k in range(len(out)):
            here = [p[k if len(p) > 1 else 0] for p in parameters]
            out[k] = row.method(rng, *here, None) if row.method else getattr(rng, name)(*here)
        state[:] = words_of(rng)

    return Routine(
        name=f"{family}.{name}",
        title=f"draws ({name})",
        symbol=symbol,
        sizes=("n", "words", *(_count(one) for one, _ in row.parameters)),
        parameters=(
            Parameter("state", "uint64", (_WORDS,), is_written=True),
            *(Parameter(one, dtype, (size(_count(one)),)) for one, dtype in row.parameters),
            Parameter("out", row.dtype, (_N,), is_read=False, is_written=True),
        ),
        arguments=arguments,
        work=Work({(_N,): row.nanoseconds, (): _CALL}),
        reference=reference,
        each="n",
        gives=gives,
    )


@functools.cache
def _of_numbers() -> frozenset[str]:
    return frozenset(f"{family}.{name}" for family in ("draw", "fill") for name in _DRAWS)


def is_draw_of_numbers(routine: Routine) -> bool:
    """Return whether a routine is one of these two: it draws ``n`` numbers to ``out``."""
    return routine.name in _of_numbers()


def counts_of(routine: Routine) -> tuple[str, ...]:
    """The sizes of such a routine that say how many numbers it draws, and how many values each parameter has."""
    return tuple(name for name in routine.sizes if size(name) is not _WORDS)


@family("multinomial")
def multinomial() -> Routine:
    """Draw how often each of ``d`` outcomes occurs, ``count`` times; to be called with zeros where they go."""
    d = size("d")

    def reference(values: dict[str, Any], state: np.ndarray, n: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        rng = generator_of(state)
        for k in range(len(out)):
            out[k] = rng.multinomial(n[k if len(n) > 1 else 0], p[k if len(p) > 1 else 0])
        state[:] = words_of(rng)

    return Routine(
        name="multinomial",
        title="draws (multinomial)",
        symbol="random.random_multinomial",
        sizes=("n", "words", "d", "n.n", "n.p"),
        parameters=(
            Parameter("state", "uint64", (_WORDS,), is_written=True),
            Parameter("n", "int64", (size("n.n"),)),
            Parameter("p", "float64", (size("n.p"), d)),
            Parameter("out", "int64", (_N, d), is_written=True),
        ),
        arguments=(Bits("state"), Element("n"), RowPointer("out"), RowPointer("p"), Int64(d), Scratch(_BINOMIAL)),
        work=Work({(_N, d): 60.0, (): _CALL}),
        reference=reference,
        each="n",
    )


@family("dirichlet")
def dirichlet() -> Routine:
    """Draw vectors of ``d`` numbers whose sum is one; by a function of our own around NumPy's."""
    d = size("d")

    def reference(values: dict[str, Any], state: np.ndarray, alpha: np.ndarray, out: np.ndarray) -> None:
        rng = generator_of(state)
        for k in range(len(out)):
            out[k] = rng.dirichlet(alpha[k if len(alpha) > 1 else 0])
        state[:] = words_of(rng)

    return Routine(
        name="dirichlet",
        title="draws (dirichlet)",
        symbol="draw.dirichlet",
        sizes=("n", "words", "d", "n.alpha"),
        parameters=(
            Parameter("state", "uint64", (_WORDS,), is_written=True),
            Parameter("alpha", "float64", (size("n.alpha"), d)),
            Parameter("out", "float64", (_N, d), is_read=False, is_written=True),
        ),
        arguments=(Bits("state"), RowPointer("alpha"), RowPointer("out"), Int64(d)),
        work=Work({(_N, d): 25.0, (): _CALL}),
        reference=reference,
        each="n",
    )


@family("multivariate_hypergeometric")
def multivariate_hypergeometric() -> Routine:
    """Draw how many of ``d`` colours are in samples; to be called with zeros where they go, and sums of the colours."""
    d = size("d")

    def reference(
        values: dict[str, Any], state: np.ndarray, colors: np.ndarray, total: np.ndarray, sample: np.ndarray,
        out: np.ndarray,
    ) -> None:  # fmt: skip
        rng = generator_of(state)
        for k in range(len(out)):
            row, count = colors[k if len(colors) > 1 else 0], sample[k if len(sample) > 1 else 0]
            out[k] = rng.multivariate_hypergeometric(row, int(count))
        state[:] = words_of(rng)

    return Routine(
        name="multivariate_hypergeometric",
        title="draws (multivariate_hypergeometric)",
        symbol="random.random_multivariate_hypergeometric_marginals",
        sizes=("n", "words", "d", "n.colors", "n.total", "n.sample"),
        parameters=(
            Parameter("state", "uint64", (_WORDS,), is_written=True),
            Parameter("colors", "int64", (size("n.colors"), d)),
            Parameter("total", "int64", (size("n.total"),)),
            Parameter("sample", "int64", (size("n.sample"),)),
            Parameter("out", "int64", (_N, d), is_written=True),
        ),
        arguments=(
            Bits("state"), Element("total"), Int64(d), RowPointer("colors"), Element("sample"), Number(const(1)),
            RowPointer("out"),
        ),
        work=Work({(_N, d): 80.0, (): _CALL}),
        reference=reference,
        each="n",
    )  # fmt: skip


@family("subset")
def subset() -> Routine:
    """Choose ``count`` of the numbers up to ``of``, each at most once; by a function of our own around NumPy's."""
    return _subset("subset", (), Parameter("room", "int64", (_N, size("room")), False, True, is_workspace=True))


@family("weighted_subset")
def weighted_subset() -> Routine:
    """The same by probabilities ``p``."""
    p = Parameter("p", "float64", (_N, size("of")), is_written=True, is_workspace=True)
    return _subset(
        "weighted_subset", (p,), Parameter("room", "float64", (_N, size("of")), False, True, is_workspace=True)
    )


def _subset(name: str, weights: tuple[Parameter, ...], room: Parameter) -> Routine:
    def reference(values: dict[str, Any], state: np.ndarray, *arrays: np.ndarray) -> None:
        rng, out = generator_of(state), arrays[-2]
        for k in range(len(out)):
            p = arrays[0][k] if weights else None
            out[k] = rng.choice(values["of"], values["count"], False, p)
        state[:] = words_of(rng)

    more = ("room",) if not weights else ()
    return Routine(
        name=name,
        title=f"draws ({name})",
        symbol=f"draw.{name}",
        sizes=("n", "words", "count", "of", *more),
        parameters=(
            Parameter("state", "uint64", (_WORDS,), is_written=True),
            *weights,
            Parameter("out", "int64", (_N, size("count")), is_read=False, is_written=True),
            room,
        ),
        arguments=(
            Bits("state"), *(RowPointer(one.name) for one in weights), RowPointer("out"), RowPointer("room"),
            Int64(size("count")), Int64(size("of")), *(Int64(size(one)) for one in more),
        ),
        work=Work({(_N, size("count")): 20.0, (): _CALL}),
        reference=reference,
        each="n",
    )  # fmt: skip


def _count(parameter: str) -> str:
    """The size that says how many elements a parameter has."""
    return f"n.{parameter}"
