"""The type of values about which nothing is known: any Python object."""

from __future__ import annotations

from typing import Any

from aesara.graph.type import CType


class Generic(CType):
    """A type that accepts every Python object."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data

    def is_valid_value(self, data: Any, strict: bool = True) -> bool:
        return True

    @classmethod
    def values_eq(cls, a: Any, b: Any) -> bool:
        return a is b or bool(a == b)

    def digest_facts(self) -> tuple[Any, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return "Generic"


generic = Generic()
