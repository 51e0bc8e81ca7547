"""The explicit inputs of a compiled function: the values that calls give, and access to them between calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from aesara.compile.io import SymbolicInput
from aesara.graph.container import Container
from aesara.graph.type import Type
from aesara.tensor.core.quick_conversions import Conversion, conversions
from aesara.tensor.core.tensor_type import TensorType


class _Duplicate:
    """Marker of an ambiguous name, which more than one input has."""

    def __repr__(self) -> str:
        return "DUPLICATE"


DUPLICATE = _Duplicate()


def _unwrap_scalar(value: object, type: Type) -> Any:
    """The only element of an array or a list, where a number is wanted; anything else as it is."""
    if isinstance(type, TensorType) and not type.shape:
        while isinstance(value, (list, tuple)) and len(value) == 1:
            value = value[0]
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.reshape(())
    return value


class Argument:
    """One explicit input, as calls need it."""

    __slots__ = ("container", "cell", "name", "variable", "required", "on_devices")

    def __init__(
        self,
        container: Container,
        spec: SymbolicInput,
        required: bool,
        on_devices: Callable[[Type, Any, bool], Any] | None = None,
    ) -> None:
        self.container = container
        self.cell = container.storage
        self.name = spec.name
        self.variable = spec.variable
        self.required = required
        #: gives values that the linker takes and that are no values of the type, or None
        self.on_devices = on_devices

    def convert(self, value: object, index: int, function_name: str | None) -> Any:
        """Convert a value to the input's type; `index` is its position among the arguments, for messages."""
        container = self.container
        if self.on_devices is not None:
            taken = self.on_devices(container.type, value, container.strict)
            if taken is not None:
                return taken
        try:
            if container.strict:
                return container.type.filter(value, strict=True)
            return container.type.filter(_unwrap_scalar(value, container.type), allow_downcast=container.allow_downcast)
        except Exception as error:
            name = f' with name "{function_name}"' if function_name else ""
            label = f"`{self.name}` " if self.name else ""
            text = (
                f"Bad input argument to aesara function{name} at index {index} (0-based), "
                f"input {label}of type {container.type}: {error}"
            )
            try:
                described = type(error)(text)
            except Exception:
                described = TypeError(text)
            raise described from None


#: returns the values of a call with those converted that native code does not take; None if there are none, or if one
#: of these is for `Argument.convert` to convert or to refuse
QuickConversion = Callable[[Sequence[Any]], Sequence[Any] | None]


class _Quick:
    """The quick conversions of an argument, and the settings that they are for."""

    __slots__ = ("conversions", "_container", "_type", "_strict", "_allow_downcast")

    def __init__(self, container: Container) -> None:
        self._container = container
        self._type: Any = container.type
        self._strict, self._allow_downcast = container.strict, container.allow_downcast
        self.conversions: dict[type, Conversion] | None = None
        if type(self._type) is TensorType:
            is_scalar = not self._type.shape
            self.conversions = conversions(self._type.dtype, is_scalar, bool(self._strict), self._allow_downcast)

    def is_outdated(self) -> bool:
        """Return True if settings have changed since, or if values have to be finite."""
        container = self._container
        return (
            container.strict is not self._strict
            or container.allow_downcast is not self._allow_downcast
            or self._type.filter_checks_isfinite
        )


def quick_conversion(arguments: Sequence[Argument]) -> QuickConversion | None:
    """Return a function that converts frequent values as `Argument.convert` does; None if no argument has such values.

    A converted value is an array that is not converted again.
    """
    rows = [_Quick(argument.container) for argument in arguments]
    if all(row.conversions is None for row in rows):
        return None
    return _conversion_of_one(rows[0]) if len(rows) == 1 else _conversion_of_several(rows)


def _conversion_of_one(quick: _Quick) -> QuickConversion:
    found = quick.conversions or {}

    def convert(values: Sequence[object]) -> Sequence[Any] | None:
        if len(values) != 1:
            return None
        (value,) = values
        try:
            result = found[type(value)](value)
        except Exception:  # `Argument.convert` says what is wrong
            return None
        if result is value or result is None or quick.is_outdated():
            return None
        return (result,)

    return convert


def _conversion_of_several(arguments: Sequence[_Quick]) -> QuickConversion:
    rows = [(quick.conversions, quick) for quick in arguments]

    def convert(values: Sequence[object]) -> Sequence[Any] | None:
        if len(values) != len(rows):
            return None
        results = None
        position = 0
        try:
            for found, quick in rows:
                if found is not None:  # native code looks at other values itself
                    value = values[position]
                    result = found[type(value)](value)
                    if result is not value:
                        if result is None or quick.is_outdated():
                            return None
                        if results is None:
                            results = list(values)
                        results[position] = result
                position += 1
        except Exception:  # `Argument.convert` says what is wrong
            return None
        return results

    return convert


def overwritable(arguments: Sequence[Argument], specs: Sequence[SymbolicInput]) -> list[int]:
    """Positions of the arguments whose values the graph may overwrite, by the descriptions of the inputs."""
    mutable = {spec.variable for spec in specs if spec.mutable}
    return [position for position, argument in enumerate(arguments) if argument.variable in mutable]


class HasInputs(Protocol):
    """Interface of a function that the views below need."""

    finder: dict[Any, Any]

    @property
    def input_storage(self) -> Sequence[Container]: ...

    @property
    def _arguments(self) -> Sequence[Argument]: ...

    def _describe_inputs(self) -> str: ...


class _View:
    """Access to a function's inputs by position, name or variable."""

    __slots__ = ("_function",)

    def __init__(self, function: HasInputs) -> None:
        self._function = function

    def _find(self, item: Any) -> Container:
        try:
            found = self._function.finder[item]
        except (KeyError, TypeError):
            raise TypeError(f"Unknown input or state: {item}. {self._function._describe_inputs()}") from None
        if found is DUPLICATE:
            raise TypeError(
                f"Ambiguous name: {item}: more than one input of the function has it. Use the variable or the position."
            )
        return found

    def __contains__(self, item: object) -> bool:
        try:
            return item in self._function.finder
        except TypeError:
            return False

    def __len__(self) -> int:
        return len(self._function.input_storage)


class ValueAttribute(_View):
    """``f.value[x]``: the values that inputs have between calls."""

    __slots__ = ()

    def __getitem__(self, item: object) -> Any:
        return self._find(item).value

    def __setitem__(self, item: object, value: object) -> None:
        container = self._find(item)
        container.value = value
        for argument in self._function._arguments:
            if argument.container is container:
                argument.required = container.value is None


class ContainerAttribute(_View):
    """``f.container[x]``: the containers of inputs."""

    __slots__ = ()

    def __getitem__(self, item: object) -> Container:
        return self._find(item)


def make_finder(
    specs: Sequence[SymbolicInput], containers: Sequence[Container]
) -> tuple[dict[Any, Any], dict[Container, SymbolicInput]]:
    """Map positions, variables and names of inputs to their containers."""
    finder: dict[Any, Any] = {}
    by_container: dict[Container, SymbolicInput] = {}
    for index, (spec, container) in enumerate(zip(specs, containers)):
        finder[index] = container
        finder[spec.variable] = container
        if spec.name is not None:
            finder[spec.name] = DUPLICATE if spec.name in finder else container
        by_container[container] = spec
    return finder, by_container
