"""The type of values that do not exist, such as undefined gradients."""

from __future__ import annotations

from typing import Any, NoReturn

from aesara.graph.nodes import Variable
from aesara.graph.type import Type


class NullType(Type):
    """A type without values.

    Parameters
    ----------
    why_null
        Why there is no value; shown in errors.
    """

    __props__ = ("why_null",)

    def __init__(self, why_null: str = "(no explanation given)"):
        self.why_null = why_null

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> NoReturn:
        """Raise `ValueError`: there are no values."""
        raise ValueError(f"A NullType has no values, but {data!r} was given. Reason: {self.why_null}")

    def filter_variable(self, other: Variable, allow_convert: bool = True) -> Variable:
        """Raise `ValueError`: nothing converts to this type."""
        raise ValueError(f"Nothing can be converted to a NullType. Reason: {self.why_null}")

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        """Return False: there are no values."""
        return False

    @classmethod
    def values_eq(cls, a: Any, b: Any) -> bool:
        """Raise `ValueError`: there are no values to compare."""
        raise ValueError("NullType has no values to compare.")

    def __str__(self) -> str:
        return "NullType"


null_type = NullType()
