"""Collapsing of deep loop nests: LLVM's compile time grows with the cube of the depth.

Perfectly nested loops become one loop over the product of their trip counts, in the same order, so that results are
the same to the last bit.  The old loop variables are quotients and remainders of the new one.  The outermost loops are
collapsed, where these are computed least often.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from aesara.ir.expr import Expr, substitute, var, walk
from aesara.ir.kernel import Assign, Declare, For, If, Statement, Store, While, map_expressions, walk_statements

__all__ = ["collapse_deep_nests"]

#: nests of up to `_DEPTH` loops are kept, deeper ones are collapsed to `_COLLAPSED_DEPTH`
_DEPTH, _COLLAPSED_DEPTH = 8, 5


def collapse_deep_nests(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Collapse nests deeper than `_DEPTH`, as far as loops are perfectly nested."""
    return body if _depth(body) <= _DEPTH else _limit_depth(body, _COLLAPSED_DEPTH)


def _depth(body: Sequence[Statement]) -> int:
    """Return the depth of a nest of loops."""
    inside = (_depth(s.body) + (0 if isinstance(s, If) else 1) for s in body if isinstance(s, (For, If, While)))
    return max(inside, default=0)


def _limit_depth(body: tuple[Statement, ...], depth: int) -> tuple[Statement, ...]:
    return tuple(_collapse(s, depth) if isinstance(s, For) else s for s in body)


def _collapse(loop: For, depth: int) -> For:
    """Collapse outer loops until the nest has at most this depth, if enough loops can be collapsed."""
    total = _depth([loop])
    if total <= depth:
        return loop
    merged = _collapsible(loop)[: total - depth + 1]
    if len(merged) > 1:
        loop = _merge(merged)
    first = merged[0] if merged else loop
    return dataclasses.replace(loop, var=first.var, body=_limit_depth(loop.body, depth - 1))


def _collapsible(loop: For) -> list[For]:
    """Return the perfectly nested loops from this one on with invariant trip counts.

    The innermost loop of the nest is kept: it runs along contiguous memory.
    """
    changed = {s.name for s in walk_statements((loop,)) if isinstance(s, (Assign, Declare))}
    written = {s.buffer for s in walk_statements((loop,)) if isinstance(s, Store)}
    loops: list[For] = []
    while not (loop.parallel or loop.lanes or loop.until):
        varying = changed | {outer.var for outer in loops}
        if any(
            (e.op == "var" and e.attr in varying) or (e.op == "load" and e.attr in written) for e in walk([loop.extent])
        ):
            break
        if _depth(loop.body) == 0:
            break
        loops.append(loop)
        if len(loop.body) != 1 or not isinstance(loop.body[0], For):
            break
        loop = loop.body[0]
    return loops


def _merge(loops: Sequence[For]) -> For:
    """Replace perfectly nested loops with one."""
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
