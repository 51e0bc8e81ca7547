"""The leaves of examples: of which types they are tried, and the data that go in."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import aesara.tensor as at
from aesara.graph.nodes import Constant, Variable

DTYPES = ("float64", "float32", "float16", "int8", "int64", "uint8", "bool", "complex128")
#: Dtypes of leaves that are not all of the same dtype, in turn.
MIXED = (
    ("float32", "float64", "int8"),
    ("float64", "float32", "float64"),
    ("int8", "float32", "int8"),
    ("float64", "int8", "bool"),
    ("bool", "float16", "float16"),
    ("int64", "float32", "int64"),
    ("uint8", "int8", "uint8"),
    ("float32", "complex128", "float64"),
)
Shape = tuple[int | None, ...]
#: Static shapes of leaves that fit together by broadcasting, in turn.
SHAPES: tuple[tuple[Shape, ...], ...] = (
    ((), ()),
    ((3,), (None,)),
    ((1,), (None,)),
    ((None,), ()),
    ((), (3,)),
    ((None, None), (None,)),
    ((1, None), (None, 1)),
    ((None, 1), (1, 1)),
    ((None, 1), (None, 4)),
    ((2, 1, None), (None, 4)),
)
#: Kinds of leaves with a number of dimensions: the lengths, and static shapes to try.
RANKED: dict[str, tuple[tuple[int, ...], tuple[Shape, ...]]] = {
    "s": ((), ((),)),
    "v": ((5,), ((None,), (5,), (1,))),
    "m": ((4, 5), ((None, None), (4, 5), (1, None), (None, 1), (None, 5), (1, 1))),
    "t": ((3, 4, 5), ((None, None, None), (3, 4, 5), (1, None, 5), (None, 1, None))),
}
ELEMENTWISE = "xyzw"
CONSTANTS = (
    *(np.float64(c) for c in (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.nan, np.inf, -np.inf)),
    *(np.int8(c) for c in (0, 1, -1, 2)),
    np.float32(1),
    np.array([0.5, 1.0, -2.0]),
)
MODERATE = (1.0, 2.0, 0.5, 3.0, 0.75, 1.25, 7.0, 0.1, -1.0, -0.5, -2.5, -3.0)


@dataclass
class Variation:
    """Leaves of certain types, and data for them."""

    names: tuple[str, ...]
    leaves: tuple[Variable, ...]
    domain: tuple[float, float] | None
    moderate: bool
    #: ``"full"``, ``"empty"`` or ``"mismatch"``
    kinds: tuple[str, ...] = ("full",)
    seed: int = field(default=0)

    def __str__(self) -> str:
        return ", ".join(f"{name}: {leaf!r} {leaf.type}" for name, leaf in zip(self.names, self.leaves))

    def data(self, may_be_empty: bool = True) -> Iterator[dict[Variable, Any]]:
        """Values of all leaves."""
        for kind in self.kinds:
            if kind == "empty" and not may_be_empty:
                continue
            for special in (False, True) if self._has_ranked() and kind == "full" and not self.moderate else (True,):
                rng = np.random.default_rng([self.seed, zlib.crc32(kind.encode()), special])
                lengths = self._lengths(kind)
                yield {
                    leaf: leaf.data
                    if isinstance(leaf, Constant)
                    else self._values(name, leaf, position, kind, lengths, special, rng)
                    for position, (name, leaf) in enumerate(zip(self.names, self.leaves))
                }

    def _has_ranked(self) -> bool:
        return any(name[0] in RANKED for name in self.names)

    def _lengths(self, kind: str) -> tuple[int, ...]:
        """Lengths of unknown dimensions of elementwise leaves, from the last."""
        fixed = any(n not in (None, 1) for leaf in self.leaves for n in getattr(leaf.type, "shape", ()))
        if fixed or max((len(getattr(leaf.type, "shape", ())) for leaf in self.leaves), default=0) > 1:
            for_last = next((n for leaf in self.leaves for n in leaf.type.shape[-1:] if n not in (None, 1)), 3)
            return (for_last, 2, 2)
        return (40 if len(self.leaves) == 1 else 160,)

    def _values(
        self, name: str, leaf: Variable, position: int, kind: str, lengths: tuple[int, ...], special: bool, rng: Any
    ) -> Any:
        first = name[0]
        if first == "k":
            return np.array(rng.integers(0, 3), dtype="int64")
        if first == "n":
            return np.array(rng.integers(3, 6), dtype="int64")
        if first == "i":
            return rng.integers(0, 3, size=4)
        static = leaf.type.shape
        shape = []
        for axis, n in enumerate(static):
            if n is not None:
                shape.append(n)
            elif kind == "empty":
                shape.append(0)
            else:
                length = RANKED[first][0][axis] if first in RANKED else lengths[len(static) - 1 - axis]
                shape.append(length + (kind == "mismatch" and position == 0))
        dtype = leaf.type.dtype
        if first in RANKED and not special:
            return np.asarray(ordinary(dtype, tuple(shape), rng, self.domain))
        pool = values_of(dtype, self.domain, self.moderate)
        size = int(np.prod(shape))
        if size >= len(pool):
            chosen = np.concatenate([pool, rng.choice(pool, size=size - len(pool))])
            if position:
                chosen = rng.permutation(chosen)
        else:
            chosen = rng.choice(pool, size=size, replace=False)
        if first in RANKED:
            chosen = np.where(rng.random(size) < 0.25, chosen, ordinary(dtype, (size,), rng, self.domain))
        return chosen.reshape(shape).astype(dtype)


def ordinary(dtype: str, shape: tuple[int, ...], rng: Any, domain: tuple[float, float] | None) -> Any:
    """Numbers of usual size."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if domain is not None:
        return rng.uniform(*domain, size=shape).astype(dtype)
    if kind == "i":
        return rng.integers(-4, 5, size=shape).astype(dtype)
    if kind == "u":
        return rng.integers(0, 9, size=shape).astype(dtype)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if kind == "c" else values).astype(dtype)


@cache
def values_of(dtype: str, domain: tuple[float, float] | None = None, moderate: bool = False) -> np.ndarray:
    """All kinds of values of a dtype: zeros, NaN, infinity, the ends of its range, and usual ones."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        limits = np.iinfo(dtype)
        found = [0, 1, 2, 3, 5, 7] if moderate else [0, 1, 2, 3, 5, 100, limits.max, limits.max - 1, limits.min]
        if kind == "i":
            found += [-1, -2, -3] if moderate else [-1, -2, -7, limits.min + 1]
        values = np.array(found, dtype=dtype)
    elif kind == "c":
        parts = [0.0, 1.0, -1.0, 0.5, -2.5, 3.0]
        values = np.array([complex(a, b) for a, b in product(parts, parts)], dtype=dtype)
        if not moderate:
            values = np.append(values, [complex(np.nan, 1)])
    else:
        found = list(MODERATE)
        if not moderate:
            info = np.finfo(dtype)
            tiny, huge, eps = float(info.tiny), float(info.max), float(info.eps)
            least = float(info.smallest_subnormal)
            found += [0.0, -0.0, np.nan, np.inf, -np.inf, huge, -huge, tiny, -tiny, least, -least, eps, -eps]
            found += [1 - eps, 1 + eps, huge**0.5, tiny**0.5, 10.0, -12.0, 88.0, -95.0, 700.0, -740.0, 1e4, -1e-4]
        with np.errstate(all="ignore"):
            values = np.array(found).astype(dtype)
    if domain is not None:
        inside = values[(values >= domain[0]) & (values <= domain[1])] if kind != "c" else values
        more = np.linspace(*domain, 15).astype(dtype)
        values = np.concatenate([inside, more, values[values != values]])
    return values


def variations(
    names: Sequence[str],
    dtypes: tuple[str, ...] | None = None,
    domain: tuple[float, float] | None = None,
    moderate: bool = False,
) -> Iterator[Variation]:
    """The types of leaves on which an example is tried."""
    names = tuple(names)
    seed = zlib.crc32("".join(names).encode())
    allowed = dtypes or DTYPES
    varying = [i for i, name in enumerate(names) if name[0] in ELEMENTWISE or name[0] in RANKED]
    elementwise = [i for i in varying if names[i][0] in ELEMENTWISE]
    combinations = [(dtype,) * len(names) for dtype in allowed]
    if len(varying) > 1:
        for mixed in MIXED:
            if all(dtype in allowed for dtype in mixed):
                combinations.append(tuple(mixed[i % 3] for i in range(len(names))))

    def made(types: Sequence[str], shapes: Sequence[Shape], constants: dict[int, Any], kinds=("full",)) -> Variation:
        leaves = []
        for i, name in enumerate(names):
            if i in constants:
                leaves.append(at.constant(constants[i], name=name))
            else:
                leaves.append(leaf(name, types[i], shapes[i]))
        return Variation(names, tuple(leaves), domain, moderate, kinds, seed)

    plain = [default_shape(name) for name in names]
    for position, types in enumerate(combinations):
        kinds = ("full", "empty") if position == 0 else ("full",)
        if position == 0 and len(varying) > 1:
            kinds = ("full", "empty", "mismatch")
        yield made(types, plain, {}, kinds)
    first = combinations[0]
    if elementwise:
        for shapes in SHAPES:
            yield made(first, _in_turn(names, elementwise, shapes, plain), {})
            if len(elementwise) > 1 and shapes[0] != shapes[1]:
                yield made(first, _in_turn(names, elementwise, shapes[::-1], plain), {})
        for i in elementwise:
            for value in CONSTANTS:
                if dtypes is None or value.dtype.name in dtypes:
                    yield made(first, plain if value.ndim == 0 else [(3,)] * len(names), {i: value})
        if dtypes is None or "int8" in dtypes:
            for i in elementwise:
                for value in (np.int8(-1), np.int8(2), np.float32(1)):
                    yield made(("int8",) * len(names), plain, {i: value})
    ranked = [i for i in varying if names[i][0] in RANKED]
    if ranked:
        most = max(len(RANKED[names[i][0]][1]) for i in ranked)
        for turn in range(1, most):
            shapes = list(plain)
            for i in ranked:
                patterns = RANKED[names[i][0]][1]
                shapes[i] = patterns[turn % len(patterns)]
            yield made(first, shapes, {})


def _in_turn(names: Sequence[str], elementwise: Sequence[int], shapes: tuple[Shape, ...], plain: list) -> list:
    chosen = [shapes[-1] if name[0] == "b" else shape for name, shape in zip(names, plain)]
    for count, i in enumerate(elementwise):
        chosen[i] = shapes[count % len(shapes)]
    return chosen


def default_shape(name: str) -> Shape:
    if name[0] in RANKED:
        return RANKED[name[0]][1][0]
    return () if name[0] in "kn" else (None,)


def leaf(name: str, dtype: str, shape: Shape) -> Variable:
    """A variable for a parameter of this name."""
    if name[0] in "kni":
        dtype = "int64"
    elif name[0] == "b":
        dtype = "bool"
    elif name[0] not in ELEMENTWISE and name[0] not in RANKED:
        raise ValueError(f"no kind of leaf has a name that starts with {name[0]!r}")
    return at.tensor(dtype, shape=shape, name=name)
