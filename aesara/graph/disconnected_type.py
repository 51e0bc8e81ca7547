"""The type of gradients with respect to what a result does not depend on."""

from __future__ import annotations

from typing import Any, NoReturn

from aesara.graph.type import Type


class DisconnectedType(Type):
    """Stands in place of a gradient where there is no path to differentiate along.

    Unlike a gradient of zeros it has no values; Ops may skip the work of following it.
    """

    __props__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> NoReturn:
        """Raise `AssertionError`: there are no values."""
        raise AssertionError(
            f"A disconnected gradient has no value, but {data!r} was given. It says that an output does not depend on "
            "an input."
        )

    def filter_variable(self, other: object, allow_convert: bool = True) -> NoReturn:
        """Raise `AssertionError`: nothing converts to this type."""
        raise AssertionError(
            "Nothing can be converted to a disconnected gradient. It says that an output does not depend on an input."
        )

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        """Return False: there are no values."""
        return False

    @classmethod
    def values_eq(cls, a: Any, b: Any) -> bool:
        """Raise `AssertionError`: there are no values to compare."""
        raise AssertionError("Disconnected gradients have no values to compare.")

    def __str__(self) -> str:
        return "DisconnectedType"


disconnected_type = DisconnectedType()
