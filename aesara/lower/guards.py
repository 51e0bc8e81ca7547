"""The run-time checks of a program, with their errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, op
from aesara.lower.arrays import Guard
from aesara.lower.errors import ErrorInfo, Exemption, Message
from aesara.lower.items import ItemList
from aesara.lower.sizes import SizeFacts

__all__ = ["GuardTable"]


class GuardTable:
    """Run-time checks, as items, and their errors by number.

    Checks that two sizes are equal become facts about sizes.
    """

    def __init__(self, items: ItemList, sizes: SizeFacts, errors: list[ErrorInfo]) -> None:
        self.errors = errors
        self._items, self._sizes = items, sizes
        self._guards: dict[tuple[Any, ...], Guard] = {}

    def guard(
        self, condition: Expr, kind: type[Exception], message: Message, node: Apply | None,
        values: Sequence[Expr] = (), requires: Sequence[object] = (), exemption: Exemption | None = None,
    ) -> tuple[Guard, ...]:  # fmt: skip
        """Add a check; return the `requires` of arrays that rely on it, empty if it always holds."""
        if condition.is_const and condition.attr:
            return ()
        key = condition, tuple(requires)  # of two equal checks only the first can fail
        guard = self._guards.get(key)
        if guard is None:
            self.errors.append(ErrorInfo(kind, message, node, exemption))
            guard = self._items.add(Guard(condition, len(self.errors) - 1, tuple(values), tuple(requires)))
            self._guards[key] = guard
        return (guard,)

    def require_equal(
        self, a: Expr, b: Expr, kind: type[Exception], message: Message, node: Apply | None,
        exemption: Exemption | None = None,
    ) -> tuple[Guard, ...]:  # fmt: skip
        """Check that two sizes are equal, and record it."""
        if self._sizes.same_size(a, b):
            return ()
        guards = self.guard(op("eq", a, b), kind, message, node, (a, b), exemption=exemption)
        self._sizes.equate(a, b)
        return guards
