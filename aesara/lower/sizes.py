"""Equalities of sizes, and the inputs that sizes depend on."""

from __future__ import annotations

from collections.abc import Iterable

from aesara.ir.expr import Expr, substitute, walk
from aesara.ir.symbols import ArgumentName, ConstantName, DefinedSize

__all__ = ["SizeFacts", "is_known_at_entry", "reads_only_inputs"]


class SizeFacts:
    """Equalities of sizes, which checks have established; equal sizes have one representative."""

    def __init__(self, outer: SizeFacts | None = None) -> None:
        self._equal: dict[Expr, Expr] = {} if outer is None else dict(outer._equal)
        self._representatives: dict[Expr, Expr] = {}

    def same_size(self, a: Expr, b: Expr) -> bool:
        """Return whether two sizes are known to be equal."""
        return self.canonical(a) is self.canonical(b)

    def equate(self, a: Expr, b: Expr) -> None:
        """Record that two sizes are equal, as a check at the start of the program ensures."""
        a, b = self.canonical(a), self.canonical(b)
        if a is b or (a.is_const and b.is_const):
            return
        if b.is_const or (b.op == "var" and a.op not in ("var", "const")):
            a, b = b, a  # the representative is a constant if possible, else a variable
        if not is_known_at_entry((a, b)):
            return
        self._equal[b] = a
        self._representatives.clear()

    def canonical(self, e: Expr) -> Expr:
        """Return the representative of a size expression under the known equalities."""
        representative = self._representatives.get(e)
        if representative is None:
            representative = substitute([e], self._equal.get, {})[0]
            rounds = 0
            while representative in self._equal or (
                rounds < 8 and any(x in self._equal for x in walk([representative]))
            ):
                representative = substitute([representative], self._equal.get, {})[0]
                rounds += 1
            self._representatives[e] = representative
        return representative


def reads_only_inputs(e: Expr) -> bool:
    """Return whether an expression depends only on inputs and constants, and their sizes."""
    return not any(
        (x.op == "var" and isinstance(x.attr, DefinedSize))
        or (x.op == "load" and not isinstance(x.attr, (ArgumentName, ConstantName)))
        for x in walk([e])
    )


def is_known_at_entry(expressions: Iterable[Expr]) -> bool:
    """Return whether expressions depend only on sizes of inputs."""
    return not any(e.op == "load" or isinstance(e.attr, DefinedSize) for e in walk(expressions))
