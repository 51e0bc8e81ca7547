"""Random expressions whose values are whole numbers, with what NumPy says that they are.

All arithmetic on whole numbers that are not too large is exact, whatever the dtype and the order, so that results can
be compared bit by bit.  Each operation knows how far from zero its results may lie; what may become too large is
clipped.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.builders import OpFromGraph
from aesara.graph.nodes import Variable
from aesara.ifelse import ifelse
from aesara.raise_op import Assert

#: what values may grow to before they are clipped, and to what
LIMIT, SMALL = 2**20, 40
#: the largest length of a dimension, which bounds sums
LONGEST = 600


class Refused(Exception):
    """The model says that a call must fail, or may."""


@dataclass(frozen=True)
class Operation:
    """One way to make an array from others.

    Attributes
    ----------
    rank, ranks
        Number of dimensions of the result and of the operands.
    symbolic, numeric
        What it is on variables, and on arrays.
    bound
        How large the results are at most, from the bounds of the operands.
    elementwise
        Operands must have equal lengths, but for lengths known to be 1.
    """

    name: str
    rank: int
    ranks: tuple[int, ...]
    symbolic: Callable[..., Variable]
    numeric: Callable[..., np.ndarray]
    bound: Callable[..., int]
    elementwise: bool = False


@dataclass(eq=False)
class Expression:
    """An operation on expressions, or a leaf, which has a name or is a constant."""

    rank: int
    bound: int
    operation: Operation | None = None
    operands: tuple[Expression, ...] = ()
    name: str = ""
    constant: np.ndarray | None = None
    #: of the variable that stands for it
    dtype: str = ""
    broadcastable: tuple[bool, ...] = field(default=())

    def __str__(self) -> str:
        if self.operation is None:
            if self.name:
                return self.name
            values = self.constant.tolist() if self.constant.size <= 20 else self.constant.shape
            return f"const({self.constant.dtype}{values})"
        return f"{self.operation.name}({', '.join(map(str, self.operands))})"

    def variable(self, leaves: dict[str, Variable], made: dict[Expression, Variable]) -> Variable:
        """The symbolic expression."""
        if self not in made:
            if self.operation is not None:
                made[self] = self.operation.symbolic(*[e.variable(leaves, made) for e in self.operands])
            else:
                made[self] = leaves[self.name] if self.name else at.as_tensor_variable(self.constant)
            self.dtype = made[self].type.dtype
            self.broadcastable = made[self].type.broadcastable
        return made[self]

    def value(self, leaves: dict[str, np.ndarray], known: dict[Expression, np.ndarray]) -> np.ndarray:
        """Its value, which is computed in the widest dtype; raises `Refused` where NumPy does."""
        if self not in known:
            if self.operation is None:
                known[self] = leaves[self.name] if self.name else self.constant
            else:
                operands = [e.value(leaves, known) for e in self.operands]
                if self.operation.elementwise:
                    _check_lengths(self.operands, operands)
                wide = [x.astype("float64" if x.dtype.kind == "f" else "int64") for x in operands]
                try:
                    result = self.operation.numeric(*wide)
                except (ValueError, IndexError) as error:
                    raise Refused(str(error)) from None
                known[self] = np.array(result).astype(self.dtype)
        return known[self]


def _check_lengths(operands: tuple[Expression, ...], values: list[np.ndarray]) -> None:
    rank = max(v.ndim for v in values)
    for axis in range(-rank, 0):
        lengths = {v.shape[axis] for e, v in zip(operands, values) if v.ndim >= -axis and not e.broadcastable[axis]}
        if len(lengths) > 1:
            raise Refused(f"lengths {lengths}")


def _largest(*bounds: int) -> int:
    return max(bounds)


def _sum(bound: int) -> int:
    return bound * LONGEST


def _add(*bounds: int) -> int:
    return sum(bounds)


def _mul(a: int, b: int) -> int:
    return a * b


def _dot(a: int, b: int) -> int:
    return a * b * LONGEST


def _same_dtype(write: Callable[[Variable, Variable], Variable]) -> Callable[[Variable, Variable], Variable]:
    return lambda x, y: write(x, at.cast(y, x.type.dtype))


def _written(x: np.ndarray, index: Any, y: np.ndarray, add: bool = False) -> np.ndarray:
    """`y` set, or added, in a part of `x`; positions may be repeated."""
    x = x.copy()
    if x[index].shape != y.shape and y.ndim and not (y.ndim <= x[index].ndim):
        raise ValueError("shapes")
    if add:
        np.add.at(x, index, y)
    else:
        x[index] = y
    return x


def _entries(x: np.ndarray, at_most: int) -> np.ndarray:
    if len(x) < at_most:
        raise IndexError
    return x


def _scan_rows(x: Variable, s: Variable) -> Variable:
    x, s = at.cast(x, "float64"), at.cast(s, "float64")
    return aesara.scan(lambda row, state: state + row, sequences=[x], outputs_info=[s])[0]


def _rows_added(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    if x.shape[1:] != s.shape:
        raise ValueError("lengths")
    return s + np.cumsum(x, axis=0)


def _wide(x: Variable) -> Variable:
    """Cast narrow integers to int64: the model does not follow wrap-around inside ops of several steps."""
    return at.cast(x, "int64") if x.type.dtype in ("int8", "int32") else x


def _subgraph(x: Variable, y: Variable) -> Variable:
    x, y = _wide(x), _wide(y)
    a, b = x.type(), y.type()
    return OpFromGraph([a, b], [a[::-1] * 2 + b], inline=False)(x, y)


def _chosen(x: Variable, y: Variable) -> Variable:
    y = at.cast(y, x.type.dtype)
    if y.type != x.type:
        x, y = (v[: at.maximum(v.shape[0], 0)] for v in (x, y))
    return ifelse(at.gt(x.sum(), y.sum()), x, y)


def _checked(x: Variable) -> Variable:
    return Assert("an entry is 7")(x, at.all(at.neq(x, 7)))


def _without_sevens(x: np.ndarray) -> np.ndarray:
    if (x == 7).any():
        raise ValueError("an entry is 7")
    return x


def _square(x: np.ndarray) -> np.ndarray:
    return x.reshape((-1, 2))


def _operations() -> list[Operation]:
    rows: list[Operation] = []

    def row(
        name: str, rank: int, ranks: Any, symbolic: Any, numeric: Any, bound: Any = _largest, elementwise=False
    ) -> None:
        rows.append(Operation(name, rank, tuple(ranks), symbolic, numeric, bound, elementwise))

    for r in (0, 1, 2):
        for other in {r, max(r - 1, 0), 0}:
            ranks = (r, other)
            row("add", r, ranks, lambda x, y: x + y, np.add, _add, True)
            row("sub", r, ranks, lambda x, y: x - y, np.subtract, _add, True)
            row("mul", r, ranks, lambda x, y: x * y, np.multiply, _mul, True)
            row("maximum", r, ranks, at.maximum, np.maximum, _largest, True)
        row("neg", r, (r,), lambda x: -x, np.negative)
        row("abs", r, (r,), abs, np.abs)
        row("double", r, (r,), lambda x: x * 2, lambda x: x * 2, lambda b: 2 * b)
        row("square", r, (r,), at.square, np.square, lambda b: b * b)
        row("where", r, (r, r), lambda x, y: at.switch(x < y, x, 3), lambda x, y: np.where(x < y, x, 3),
            lambda a, b: max(a, 3), True)  # fmt: skip
        row("clip", r, (r,), lambda x: at.clip(x, -9, 9), lambda x: np.clip(x, -9, 9), lambda b: 9)
        for dtype in ("float32", "int64", "float64", "int32"):
            row(f"as_{dtype}", r, (r,), lambda x, d=dtype: at.cast(x, d), lambda x: x)
        row("identity", r, (r,), at.tensor_copy, lambda x: x)
        row("zeros", r, (r,), at.zeros_like, np.zeros_like, lambda b: 0)
        row("checked", r, (r,), _checked, _without_sevens)
        row("sum", 0, (r,), lambda x: x.sum(), np.sum, lambda b, r=r: b * LONGEST**r)
    for r in (1, 2):
        row("reverse", r, (r,), lambda x: x[::-1], lambda x: x[::-1])
        row("tail", r, (r,), lambda x: x[1:], lambda x: x[1:])
        row("init", r, (r,), lambda x: x[:-1], lambda x: x[:-1])
        row("every_second", r, (r,), lambda x: x[::2], lambda x: x[::2])
        row("cumsum", r, (r,), lambda x: at.cumsum(x, axis=0), lambda x: np.cumsum(x, axis=0), _sum)
        row("sort", r, (r,), lambda x: at.sort(x, axis=-1), lambda x: np.sort(x, axis=-1))
        row("join", r, (r, r), lambda x, y: at.join(0, x, y), lambda x, y: np.concatenate([x, y]))
        row("first", r - 1, (r,), lambda x: x[0], lambda x: x[0])
        row("last", r - 1, (r,), lambda x: x[-1], lambda x: x[-1])
        row("third", r - 1, (r,), lambda x: x[2], lambda x: x[2])
        row("max", r - 1, (r,), lambda x: x.max(axis=0), lambda x: x.max(axis=0))
        row("sum_last", r - 1, (r,), lambda x: x.sum(axis=-1), lambda x: x.sum(axis=-1), _sum)
        row("set_tail", r, (r, r - 1), _same_dtype(lambda x, y: at.set_subtensor(x[1:], y)),
            lambda x, y: _written(x, slice(1, None), y))  # fmt: skip
        row("inc_tail", r, (r, r), _same_dtype(lambda x, y: at.inc_subtensor(x[1:], y[1:])),
            lambda x, y: _written(x, slice(1, None), y[1:], True), _add)  # fmt: skip
        row("inc_reversed", r, (r, r), _same_dtype(lambda x, y: at.inc_subtensor(x[::-1], y)),
            lambda x, y: _written(x[::-1], ..., y, True)[::-1], _add)  # fmt: skip
        row("set_first", r, (r, r - 1), _same_dtype(lambda x, y: at.set_subtensor(x[0], y)),
            lambda x, y: _written(x, 0, y))  # fmt: skip
        row("gather", r, (r,), lambda x: x[[0, -1, 0]], lambda x: x[[0, -1, 0]])
        row("scatter", r, (r, r - 1), _same_dtype(lambda x, y: at.inc_subtensor(x[[0, -1, 0]], y)),
            lambda x, y: _written(x, [0, -1, 0], y, True), lambda a, b: a + 2 * b)  # fmt: skip
        row("repeat", r, (r,), lambda x: at.repeat(x, 2, axis=0), lambda x: np.repeat(x, 2, axis=0))
    row("transpose", 2, (2,), lambda x: x.T, lambda x: x.T)
    row("columns", 2, (2,), lambda x: x[:, ::-1], lambda x: x[:, ::-1])
    row("column", 1, (2,), lambda x: x[:, 0], lambda x: x[:, 0])
    row("ravel", 1, (2,), lambda x: x.ravel()[:500], lambda x: x.ravel()[:500])  # products must not grow too large
    row("pairs", 2, (1,), lambda x: x.reshape((-1, 2)), _square)
    row("pairs_of", 2, (2,), lambda x: x[:4].reshape((x[:4].size // 2, 2)), lambda x: _square(x[:4]))
    row("diagonal", 1, (2,), lambda x: at.diagonal(x), np.diagonal)
    row("new_row", 2, (1,), lambda x: x[None, :], lambda x: x[None, :])
    row("new_column", 2, (1,), lambda x: x.dimshuffle(0, "x"), lambda x: x[:, None])
    row("outer", 2, (1, 1), at.outer, np.outer, _mul)
    row("stack", 2, (1, 1), lambda x, y: at.stack([x, y]), lambda x, y: np.stack([x, y]))
    row("dot", 2, (2, 2), at.dot, np.dot, _dot)
    row("dot", 1, (2, 1), at.dot, np.dot, _dot)
    row("dot", 0, (1, 1), at.dot, np.dot, _dot)
    row("gemm", 2, (2, 2, 2), lambda c, a, b: c - 2 * at.dot(_wide(a), _wide(b)), _with_product,
        lambda c, a, b: c + 2 * a * b * LONGEST)  # fmt: skip
    row("alloc", 1, (0, 1), lambda s, x: at.alloc(s, x.shape[0]), lambda s, x: np.full(len(x), s), lambda a, b: a)
    row("fill", 2, (0, 2), lambda s, x: at.fill(x, at.cast(s, x.type.dtype)), lambda s, x: np.full(x.shape, s))
    row("broadcast_to", 2, (1,), lambda x: at.broadcast_to(x, (2, x.shape[0])), lambda x: np.stack([x, x]))
    row("length", 0, (1,), lambda x: x.shape[0], len, lambda b: 2 * LONGEST)
    row("pick", 0, (1, 0), lambda x, i: x[at.cast(i, "int64")], lambda x, i: x[int(i)])
    row("upto", 1, (1, 0), lambda x, i: x[: at.cast(i, "int64")], lambda x, i: x[: int(i)])
    row("tril", 2, (2,), at.tril, np.tril)
    row("scan", 2, (2, 1), _scan_rows, _rows_added, lambda a, b: a * LONGEST + b)
    row("scan_last", 1, (2, 1), lambda x, s: _scan_rows(x, s)[-1], lambda x, s: _rows_added(x, s)[-1],
        lambda a, b: a * LONGEST + b)  # fmt: skip
    row("subgraph", 1, (1, 1), _subgraph, lambda x, y: x[::-1] * 2 + y, lambda a, b: 2 * a + b, True)
    row("ifelse", 1, (1, 1), _chosen, lambda x, y: x if x.sum() > y.sum() else y)
    return rows


def _with_product(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    product = np.dot(a, b)
    if product.shape != c.shape:
        raise ValueError("lengths")
    return c - 2 * product


OPERATIONS = _operations()
OF_RANK = {rank: [o for o in OPERATIONS if o.rank == rank] for rank in (0, 1, 2)}


def clipped(e: Expression, most: int = LIMIT) -> Expression:
    """The expression, clipped if it may be large."""
    if e.bound <= most:
        return e
    operation = Operation(
        "small", e.rank, (e.rank,), lambda x: at.clip(x, -SMALL, SMALL), lambda x: np.clip(x, -SMALL, SMALL), _largest
    )
    return Expression(e.rank, SMALL, operation, (e,))


def draw_expression(rng: random.Random, rank: int, leaves: list[Expression], depth: int) -> Expression:
    """An expression of this rank; the leaves must hold one of each rank."""
    if depth <= 0 or rng.random() < 0.12:
        return rng.choice([e for e in leaves if e.rank == rank])
    operation = rng.choice(OF_RANK[rank])
    operands = [draw_expression(rng, r, leaves, depth - rng.randint(1, 2)) for r in operation.ranks]
    if operation.bound(*[e.bound for e in operands]) > LIMIT:
        operands = [clipped(e, SMALL) for e in operands]
    bound = operation.bound(*[e.bound for e in operands])
    e = Expression(rank, bound, operation, tuple(operands))
    leaves.append(e)  # to be used again
    return clipped(e)
