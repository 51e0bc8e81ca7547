"""Data classes that are made quickly: the package has a hundred of them, which were a fifth of its import time."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # as itself: this is offered here
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, repr: bool = True) -> Any:
        """Replace `dataclasses.dataclass` at a quarter of its time or less: most classes need no generated code.

        Type checkers take it for the one of the standard library.  That objects are `frozen` is for them to hold:
        assignments are not refused at run time, which makes objects cheaper, too.

        Examples
        --------
        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1) == Point(1, 0), len({Point(1), Point(1, 0)})
        (Point(x=1, y=0), True, 1)
        >>> dataclasses.replace(Point(1), y=2)
        Point(x=1, y=2)
        """
        if cls is None:
            return lambda cls: _build_class(cls, frozen, eq, repr)
        return _build_class(cls, frozen, eq, repr)


def _build_class(cls: type, frozen: bool, eq: bool, repr: bool) -> type:
    if cls.__doc__ is None:  # the standard library would read and print a signature, which takes as long as the rest
        cls.__doc__ = f"{cls.__name__}({', '.join(cls.__annotations__)})"
    plain = _has_plain_fields(cls)
    cls = dataclasses.dataclass(init=not plain, repr=False, eq=False)(cls)
    fields = dataclasses.fields(cls)
    names = tuple(field.name for field in fields)
    own = cls.__dict__
    methods: dict[str, Callable | None] = {}
    if plain and "__init__" not in own:
        if _takes_positional(fields):
            methods["__init__"] = _initializer(cls, fields)
        else:
            cls = dataclasses.dataclass(repr=False, eq=False)(cls)
    if repr and "__repr__" not in own:
        methods["__repr__"] = _representation(names)
    if eq:
        values = _field_getter(names)
        if "__eq__" not in own:
            methods["__eq__"] = _equality(values)
        if "__hash__" not in own:
            methods["__hash__"] = _hash_method(values) if frozen else None
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


def _has_plain_fields(cls: type) -> bool:
    """Return whether a class declares its own fields by types and plain default values only."""
    own = cls.__dict__
    return not any(
        isinstance(own.get(name), dataclasses.Field) or _NO_FIELD.search(str(kind))
        for name, kind in cls.__annotations__.items()
    )


_NO_FIELD = re.compile("ClassVar|InitVar|KW_ONLY")


def _takes_positional(fields: Sequence[dataclasses.Field]) -> bool:
    """Return whether all fields, inherited ones included, are positional parameters, required ones first."""
    required = [field.default is dataclasses.MISSING for field in fields]
    return required == sorted(required, reverse=True) and all(
        field.init and not field.kw_only and field.default_factory is dataclasses.MISSING for field in fields
    )


def _initializer(cls: type, fields: Sequence[dataclasses.Field]) -> Callable[..., None]:
    """An ``__init__`` that sets fields: the code of another one with as many of them, by other names."""
    names = tuple(field.name for field in fields)
    ends = hasattr(cls, "__post_init__")
    code = _template(len(names), ends)
    made = types.FunctionType(
        code.replace(
            co_names=(*names, "__post_init__") if ends else names,
            co_varnames=("self", *names),
            co_name="__init__",
            co_qualname=f"{cls.__qualname__}.__init__",
        ),
        {},
        "__init__",
        tuple(field.default for field in fields if field.default is not dataclasses.MISSING),
    )
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    made.__annotations__ = {**{field.name: field.type for field in fields}, "return": None}
    return made


@functools.cache
def _template(count: int, ends: bool) -> types.CodeType:
    """The code of an ``__init__`` that sets so many attributes, and may call ``__post_init__`` at the end."""
    names = [f"field_{k}" for k in range(count)]
    lines = [f"self.{name} = {name}" for name in names] + ["self.__post_init__()"] * ends
    source = f"def __init__({', '.join(['self', *names])}):\n    " + ("\n    ".join(lines) or "pass")
    scope: dict[str, Any] = {}
    exec(source, scope)
    found: types.CodeType = scope["__init__"].__code__
    return found


def _field_getter(names: tuple[str, ...]) -> Callable[[Any], tuple]:
    """Return a function that reads the named fields of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _representation(names: tuple[str, ...]) -> Callable[[Any], str]:
    def __repr__(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _equality(values: Callable[[object], tuple]) -> Callable[[Any, Any], bool]:
    def __eq__(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash_method(values: Callable[[object], tuple]) -> Callable[[Any], int]:
    def __hash__(self: object) -> int:
        return hash(values(self))

    return __hash__
