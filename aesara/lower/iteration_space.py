"""The loop variables of a nest, and the offset of the element of an iteration."""

from __future__ import annotations

from aesara.ir.expr import Expr, linear_offset, var

__all__ = ["LOOP", "own_element"]

#: loop variables of a nest, from the outermost loop
LOOP = tuple(var(f"v{d}") for d in range(64))


def own_element(domain: tuple[Expr, ...]) -> Expr:
    """Return the offset of the element of the current iteration over `domain`."""
    return linear_offset(LOOP[: len(domain)], domain)
