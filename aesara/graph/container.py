"""A typed cell: where one value of a graph lives between and during calls."""

from __future__ import annotations

from typing import Any, TypeAlias

from aesara.graph import hooks
from aesara.graph.nodes import Variable
from aesara.graph.type import Type
from aesara.records import dataclass
from aesara.tracebacks import mark_on_purpose

#: A list of one element, the value of a variable; thunks read and write it.
StorageCell: TypeAlias = list[Any]
#: The cells of the variables of a graph.
StorageMap: TypeAlias = dict[Variable, StorageCell]


class Container:
    """A one-element storage cell together with the type that guards it.

    Parameters
    ----------
    r
        The variable, or the type, whose values the container holds.
    storage
        A list with one element.  It may be shared with other code: compiled functions read and
        write the element directly, everybody else goes through `value`, which checks the type.
    readonly
        Refuse assignments.
    strict
        Accept only values that need no conversion.
    allow_downcast
        What to do with values that lose precision: True converts, False refuses, None allows
        Python floats for floats of ``config.floatX`` only.
    name
        Used in error messages.  Default: the name of `r`.

    Examples
    --------
    >>> cell = [None]
    >>> container = Container(aesara.tensor.dvector("x"), cell)
    >>> container.value = [1, 2]
    >>> cell
    [array([1., 2.])]
    """

    __slots__ = ("storage", "type", "name", "readonly", "strict", "allow_downcast", "__weakref__")

    def __init__(
        self,
        r: Variable | Type,
        storage: StorageCell,
        *,
        readonly: bool = False,
        strict: bool = False,
        allow_downcast: bool | None = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(storage, list) or not storage:
            raise TypeError(f"`storage` must be a list with one element, got {storage!r}")
        self.storage = storage
        self.type = r if isinstance(r, Type) else r.type
        self.name = getattr(r, "name", None) if name is None else name
        self.readonly = readonly
        self.strict = strict
        self.allow_downcast = allow_downcast

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "__weakref__"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    @property
    def value(self) -> Any:
        """The content of the cell; assigning to it checks and converts the new value.

        Calls that are updating the cell in other threads come first.
        """
        return self.storage[0]

    @value.setter
    def value(self, new_value: Any) -> None:
        if self.readonly:
            raise Exception(f"Cannot set a read-only storage: {self.name}")
        hooks.store(self.storage, None if new_value is None else self.filter(new_value))

    data = value

    def filter(self, value: Any) -> Any:
        """Return `value` as the container's type demands it, or raise an error that names the container."""
        try:
            if self.strict:
                return self.type.filter(value, strict=True)
            if self.allow_downcast is not None:
                return self.type.filter(value, allow_downcast=self.allow_downcast)
            return self.type.filter(value)
        except Exception as error:
            mark_on_purpose(error)
            name = f'Container name "{self.name}"'
            one_text = len(error.args) == 1 and isinstance(error.args[0], str)
            error.args = (f"{error.args[0]} {name}",) if one_text else (*error.args, name)
            raise

    def __repr__(self) -> str:
        return f"<{self.storage[0]!r}>"


@dataclass(frozen=True)
class OwnContainer:
    """The container of a function's argument, handed on to a copy of the function.

    What a `Container` alone stands for is one that a function shares: its value is no default, and never put back.
    """

    container: Container
