"""Nests of many loops with fewer loops: LLVM's time grows with the cube of their number.

Loops that stand directly inside of each other become one over the product of their lengths, in the same order, so that
results are the same to the last bit.  The variables of the loops are quotients and remainders of the new one.  The
outermost loops are merged, where that is computed least often.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from aesara.ir.expr import Expr, substitute, var, walk
from aesara.ir.kernel import Assign, Declare, For, If, Statement, Store, While, map_expressions, walk_statements

__all__ = ["with_fewer_loops"]

#: so many loops inside of each other are left as they are; more become so few
_DEPTH, _FEW = 8, 5


def with_fewer_loops(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """The statements without more than `_DEPTH` loops inside of each other, where that can be had."""
    return body if _depth(body) <= _DEPTH else _within(body, _FEW)


def _depth(body: Sequence[Statement]) -> int:
    """Return the depth of a nest of loops."""
    inside = (_depth(s.body) + (0 if isinstance(s, If) else 1) for s in body if isinstance(s, (For, If, While)))
    return max(inside, default=0)


def _within(body: tuple[Statement, ...], depth: int) -> tuple[Statement, ...]:
    return tuple(_shallow(s, depth) if isinstance(s, For) else s for s in body)


def _shallow(loop: For, depth: int) -> For:
    """The loop with so many loops inside of each other, itself included, if those that can be merged are enough."""
    whole = _depth([loop])
    if whole <= depth:
        return loop
    merged = _can_be_merged(loop)[: whole - depth + 1]
    if len(merged) > 1:
        loop = _merged(merged)
    (first, *_), left = merged or [loop], depth - 1
    return dataclasses.replace(loop, var=first.var, body=_within(loop.body, left))


def _can_be_merged(loop: For) -> list[For]:
    """Loops directly inside of each other, from this one on, whose lengths are the same in all rounds.

    The innermost loop of all stays: it runs along memory.
    """
    changed = {s.name for s in walk_statements((loop,)) if isinstance(s, (Assign, Declare))}
    written = {s.buffer for s in walk_statements((loop,)) if isinstance(s, Store)}
    found: list[For] = []
    while not (loop.parallel or loop.lanes or loop.until):
        moving = changed | {outer.var for outer in found}
        if any(
            (e.op == "var" and e.attr in moving) or (e.op == "load" and e.attr in written) for e in walk([loop.extent])
        ):
            break
        if _depth(loop.body) == 0:
            break
        found.append(loop)
        if len(loop.body) != 1 or not isinstance(loop.body[0], For):
            break
        loop = loop.body[0]
    return found


def _merged(loops: Sequence[For]) -> For:
    """One loop in place of several."""
    first, last = loops[0], loops[-1]
    number, values = var(first.var), dict[Expr, Expr]()
    rest: Expr = number
    for loop in reversed(loops[1:]):
        above = rest // loop.extent
        values[var(loop.var)] = rest - above * loop.extent
        rest = above
    values[number] = rest
    extent = first.extent
    for loop in loops[1:]:
        extent = extent * loop.extent
    memo: dict[Expr, Expr] = {}
    body = tuple(map_expressions(s, lambda e: substitute([e], values.get, memo)[0]) for s in last.body)
    return For(first.var, extent, body, interleave=min(loop.interleave for loop in loops))
