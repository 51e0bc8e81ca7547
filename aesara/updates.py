"""An ordered dictionary of updates to shared variables."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from aesara.graph.shared import SharedVariable


class OrderedUpdates(OrderedDict):
    """An ordered mapping from shared variables to the expressions of their next values.

    It refuses keys that are not shared variables, and refuses to give one variable two different
    expressions when two collections of updates are joined with `update` or ``+``.

    Examples
    --------
    >>> counter = aesara.shared(0)
    >>> updates = OrderedUpdates({counter: counter + 1})
    >>> step = aesara.function([], counter, updates=updates)
    """

    def __init__(self, *key: Any, **kwargs: Any) -> None:
        super().__init__()
        for variable, expression in OrderedDict(*key, **kwargs).items():
            self[variable] = expression

    def __setitem__(self, key: SharedVariable, value: object) -> None:
        if not isinstance(key, SharedVariable):
            raise TypeError("OrderedUpdates keys must inherit from SharedVariable", key)
        super().__setitem__(key, value)

    def update(self, other: Any = None) -> None:  # type: ignore[override]
        """Add the updates of another mapping or list of pairs; KeyError if a variable has two expressions."""
        if other is None:
            return
        for key, value in OrderedDict(other).items():
            if key in self and self[key] is not value:
                raise KeyError("Collision", key)
            self[key] = value

    def __add__(self, other: object) -> OrderedUpdates:
        combined = OrderedUpdates(self)
        combined.update(other)
        return combined

    def __radd__(self, other: object) -> OrderedUpdates:
        combined = OrderedUpdates(other)
        combined.update(self)
        return combined


__all__ = ["OrderedUpdates"]
