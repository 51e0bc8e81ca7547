"""Interval analysis of index expressions, and comparisons that it decides.

The value of an index lies in `least` to `most`. Index arithmetic wraps: a result that might wrap gets the limits of its
dtype, so a result with narrower bounds has not wrapped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

from aesara.ir.symbols import InputSize

__all__ = ["ANY", "ON_NUMBERS", "Term", "bounds_of", "decide_comparison", "holds", "split_constant"]

#: smallest and largest value of a dtype
_LIMITS: dict[str, tuple[int, int]] = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
#: bounds of an unknown index
ANY = _LIMITS["int64"]

#: primitives on integers of unlimited precision
ON_NUMBERS: dict[str, Callable[[int, int], int | bool]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "minimum": min,
    "maximum": max,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


def holds(dtype: str, value: int) -> bool:
    """Return whether `dtype` is an integer dtype that can represent `value`."""
    if dtype not in _LIMITS:
        return False
    least, most = _LIMITS[dtype]
    return least <= value <= most


class Term:
    """Fields of expressions that bounds depend on (see `aesara.ir.expr.Expr`)."""

    __slots__ = ("op", "dtype", "attr", "args", "least", "most")

    op: str
    dtype: str
    attr: Any
    args: tuple[Self, ...]
    least: int
    most: int

    @property
    def is_bounded(self) -> bool:
        """True if the index has bounds narrower than its dtype, and therefore has not wrapped."""
        return (self.least, self.most) != ANY


AnyTerm = TypeVar("AnyTerm", bound=Term)


def bounds_of(e: Term) -> tuple[int, int]:
    """Return the smallest and largest value of an index; the limits of its dtype if it may wrap."""
    if e.op == "const":
        return e.attr, e.attr
    if e.op == "var":
        return (0, e.attr.most) if isinstance(e.attr, InputSize) else ANY
    if e.op == "cast":
        return (0, 1) if e.args[0].dtype == "bool" else ANY
    if e.op == "select":
        _, yes, no = e.args
        return min(yes.least, no.least), max(yes.most, no.most)
    if e.op not in _BOUNDS:
        return ANY
    a, b = e.args
    least, most = _BOUNDS[e.op](a, b)
    return (least, most) if ANY[0] <= least and most <= ANY[1] else ANY


def _bounds_of_product(a: Term, b: Term) -> tuple[int, int]:
    corners = [x * y for x in (a.least, a.most) for y in (b.least, b.most)]
    return min(corners), max(corners)


def _bounds_of_quotient(a: Term, b: Term) -> tuple[int, int]:
    return (a.least // b.attr, a.most // b.attr) if b.op == "const" and b.attr > 0 else ANY


def _bounds_of_remainder(a: Term, b: Term) -> tuple[int, int]:
    return (0, b.most - 1) if b.least > 0 else ANY


_BOUNDS: dict[str, Callable[[Term, Term], tuple[int, int]]] = {
    "add": lambda a, b: (a.least + b.least, a.most + b.most),
    "sub": lambda a, b: (a.least - b.most, a.most - b.least),
    "mul": _bounds_of_product,
    "minimum": lambda a, b: (min(a.least, b.least), min(a.most, b.most)),
    "maximum": lambda a, b: (max(a.least, b.least), max(a.most, b.most)),
    "intdiv": _bounds_of_quotient,
    "mod": _bounds_of_remainder,
}


def decide_comparison(name: str, a: Term, b: Term) -> bool | None:
    """Return the result of a comparison if it is the same for all values, otherwise None."""
    (x, a_offset), (y, b_offset) = split_constant(a), split_constant(b)
    known = _decide_sums(name, x, a_offset, y, b_offset)
    if known is not None or name not in ("le", "ge"):
        return known
    # max(a, b) <= c needs all of the operands to be at most c, min(a, b) <= c needs any; for >= the other way round.
    of_x = {"maximum": all, "minimum": any} if name == "le" else {"maximum": any, "minimum": all}
    of_y = {"minimum": of_x["maximum"], "maximum": of_x["minimum"]}
    decided = (x.op in of_x and of_x[x.op](_decide_sums(name, e, a_offset, y, b_offset) for e in x.args)) or (
        y.op in of_y and of_y[y.op](_decide_sums(name, x, a_offset, e, b_offset) for e in y.args)
    )
    return decided or None


def _decide_sums(name: str, a: Term, a_offset: int, b: Term, b_offset: int) -> bool | None:
    """Return the result of comparing ``a + a_offset`` with ``b + b_offset``, which do not wrap; None if it varies."""
    (x, a_constant), (y, b_constant) = split_constant(a), split_constant(b)
    evaluate = ON_NUMBERS[name]
    if x is y:
        return bool(evaluate(a_constant + a_offset, b_constant + b_offset))
    if name in ("eq", "ne"):
        disjoint = a.most + a_offset < b.least + b_offset or b.most + b_offset < a.least + a_offset
        return name == "ne" if disjoint else None
    first = evaluate(a.most + a_offset, b.least + b_offset)
    second = evaluate(a.least + a_offset, b.most + b_offset)
    return bool(first) if first == second else None  # comparisons are monotone in both operands


def split_constant(e: AnyTerm) -> tuple[AnyTerm, int]:
    """Split an index into a base and a constant: ``e == base + constant`` without wrapping."""
    if e.op == "add" and e.args[1].op == "const" and e.is_bounded:
        return e.args[0], e.args[1].attr
    return e, 0
