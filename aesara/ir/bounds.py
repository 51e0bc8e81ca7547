"""What is known of the values of indices, and of comparisons of them, whatever the sizes of inputs are.

The value of an index is from its `least` to its `most`.  Its arithmetic wraps, so these are the limits of its dtype
where a result might; no result within narrower bounds has wrapped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aesara.ir.symbols import InputSize

if TYPE_CHECKING:
    from aesara.ir.expr import Expr

__all__ = ["ANY", "ON_NUMBERS", "base_and_rest", "bounds_of", "compared", "holds"]

#: the least and the greatest number of a dtype
_LIMITS: dict[str, tuple[int, int]] = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
#: what an index can be; in arithmetic with it nothing is known of the result
ANY = _LIMITS["int64"]

#: primitives on integers that do not wrap
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
    """Whether a dtype is one of integers that has this one."""
    if dtype not in _LIMITS:
        return False
    least, most = _LIMITS[dtype]
    return least <= value <= most


def bounds_of(e: Expr) -> tuple[int, int]:
    """The least and the greatest value of an index: those of its dtype if it may wrap."""
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


def _bounds_of_product(a: Expr, b: Expr) -> tuple[int, int]:
    corners = [x * y for x in (a.least, a.most) for y in (b.least, b.most)]
    return min(corners), max(corners)


def _bounds_of_quotient(a: Expr, b: Expr) -> tuple[int, int]:
    return (a.least // b.attr, a.most // b.attr) if b.op == "const" and b.attr > 0 else ANY


def _bounds_of_remainder(a: Expr, b: Expr) -> tuple[int, int]:
    return (0, b.most - 1) if b.least > 0 else ANY


_BOUNDS: dict[str, Callable[[Expr, Expr], tuple[int, int]]] = {
    "add": lambda a, b: (a.least + b.least, a.most + b.most),
    "sub": lambda a, b: (a.least - b.most, a.most - b.least),
    "mul": _bounds_of_product,
    "minimum": lambda a, b: (min(a.least, b.least), min(a.most, b.most)),
    "maximum": lambda a, b: (max(a.least, b.least), max(a.most, b.most)),
    "intdiv": _bounds_of_quotient,
    "mod": _bounds_of_remainder,
}


def compared(name: str, a: Expr, b: Expr) -> bool | None:
    """The result of a comparison that is the same for all values."""
    (x, more), (y, also) = base_and_rest(a), base_and_rest(b)
    known = _sums_compared(name, x, more, y, also)
    if known is not None or name not in ("le", "ge"):
        return known
    # A maximum is at most what all of its operands are, a minimum what any of them is; and the mirrored.
    of_x = {"maximum": all, "minimum": any} if name == "le" else {"maximum": any, "minimum": all}
    of_y = {"minimum": of_x["maximum"], "maximum": of_x["minimum"]}
    is_so = (x.op in of_x and of_x[x.op](_sums_compared(name, e, more, y, also) for e in x.args)) or (
        y.op in of_y and of_y[y.op](_sums_compared(name, x, more, e, also) for e in y.args)
    )
    return is_so or None


def _sums_compared(name: str, a: Expr, more: int, b: Expr, also: int) -> bool | None:
    """The result of comparing ``a + more`` and ``b + also``, which do not wrap."""
    (x, rest), (y, other_rest) = base_and_rest(a), base_and_rest(b)
    holds_for = ON_NUMBERS[name]
    if x is y:
        return bool(holds_for(rest + more, other_rest + also))
    if name in ("eq", "ne"):
        apart = a.most + more < b.least + also or b.most + also < a.least + more
        return name == "ne" if apart else None
    first, second = holds_for(a.most + more, b.least + also), holds_for(a.least + more, b.most + also)
    return bool(first) if first == second else None  # both orders are monotone


def base_and_rest(e: Expr) -> tuple[Expr, int]:
    """An index as a sum of another and a constant that does not wrap."""
    if e.op == "add" and e.args[1].op == "const" and e.is_bounded:
        return e.args[0], e.args[1].attr
    return e, 0
