"""Objects compared by their properties, scratchpads, and the exceptions of graphs."""

from __future__ import annotations

import sys
import traceback
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from aesara.configdefaults import config
from aesara.user_code import warn_user


class InconsistencyError(Exception):
    """A change would make a graph contradict itself, for example by destroying a value that is still
    needed."""


class MissingInputError(Exception):
    """A graph depends on a variable that is neither an input, nor computed, nor a constant."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.variable = kwargs.pop("variable", None)
        if kwargs:
            raise TypeError(f"MissingInputError does not take {sorted(kwargs)}.")
        source = getattr(getattr(self.variable, "tag", None), "trace", None)
        if source and args:
            lines = "\n".join(f"  {entry}" for trace in source for entry in trace)
            args = (f"{args[0]}\n\nThe variable was created here:\n{lines}", *args[1:])
        super().__init__(*args)


class TestValueError(ValueError):
    """A variable's test value is missing or unsuitable."""

    __test__ = False  # the name looks like a test class


class MethodNotDefined(Exception):
    """An object does not provide an optional method.

    Examples
    --------
    >>> str(MethodNotDefined("perform", int, "int"))
    "perform (class 'int' has no such method)"
    """

    def __init__(self, *args: Any) -> None:
        if len(args) == 3 and isinstance(args[1], type):
            args = (f"{args[0]} (class '{args[2]}' has no such method)",)
        super().__init__(*args)


def _properties_of(cls: Any) -> tuple[str, ...]:
    props = cls.__props__
    if isinstance(props, str):
        props = (props,)
    return tuple(props)


def add_property_methods(cls: Any, namespace: dict[str, Any]) -> None:
    """Derive comparison, hash and text of `cls` from its ``__props__``, where `namespace` does not define
    them.

    Two objects are equal when they have the same class and equal properties.
    """
    props = _properties_of(cls)
    get_props: Callable[[Any], tuple[Any, ...]]
    if not props:
        get_props = _no_props
    elif len(props) == 1:
        get_one = attrgetter(props[0])

        def get_props(self: Any) -> Any:
            return (get_one(self),)

    else:
        get_props = attrgetter(*props)

    def _props(self: Any) -> Any:
        """Return the values of the properties."""
        return get_props(self)

    def _props_dict(self: Any) -> Any:
        """Return the properties as a dictionary."""
        return dict(zip(props, get_props(self)))

    def __hash__(self: Any) -> int:
        try:
            return hash((type(self), get_props(self)))
        except TypeError as error:
            raise TypeError(f"{error}: the properties of {type(self).__name__} are {_props_dict(self)}") from None

    def __eq__(self: Any, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and get_props(self) == get_props(other)

    def __str__(self: Any) -> str:
        if not props:
            return type(self).__name__
        values = ", ".join(f"{name}={value!r}" for name, value in zip(props, get_props(self)))
        return f"{type(self).__name__}{{{values}}}"

    cls._props = _props
    cls._props_dict = _props_dict
    if "__eq__" not in namespace:
        cls.__eq__ = __eq__
    # Python sets __hash__ to None in a class that defines __eq__ alone.
    if namespace.get("__hash__") is None:
        cls.__hash__ = __hash__
    if "__str__" not in namespace:
        cls.__str__ = __str__


def _no_props(_self: Any) -> tuple[Any, ...]:
    return ()


class MetaObject:
    """Base of objects that are compared by the attributes named in ``__props__``.

    Without ``__props__`` objects are compared by identity.

    Examples
    --------
    >>> class Scale(MetaObject):
    ...     __props__ = ("factor",)
    ...     def __init__(self, factor):
    ...         self.factor = factor
    >>> Scale(2) == Scale(2), str(Scale(2))
    (True, 'Scale{factor=2}')
    """

    if TYPE_CHECKING:

        def _props(self) -> tuple[Any, ...]: ...

        def _props_dict(self) -> dict[str, Any]: ...

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.get("__props__") is not None:
            add_property_methods(cls, dict(cls.__dict__))


class MetaType(ABCMeta):
    """Metaclass that gives classes the methods derived from ``__props__``, as `MetaObject` does."""

    def __new__(mcs, name: str, bases: Any, namespace: Any, **kwargs: Any) -> Any:
        cls = super().__new__(mcs, name, bases, namespace, **kwargs)
        if namespace.get("__props__") is not None:
            add_property_methods(cls, namespace)
        return cls


class Scratchpad:
    """A bag of attributes, used for the ``tag`` of variables and nodes.

    Examples
    --------
    >>> pad = Scratchpad()
    >>> pad.note = "seen"
    >>> pad
    scratchpad{'note': 'seen'}
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def clear(self) -> None:
        """Remove all attributes."""
        self.__dict__.clear()

    def __update__(self, other: object) -> Any:
        self.__dict__.update(other.__dict__)
        return self

    def __str__(self) -> str:
        return f"scratchpad{self.__dict__}"

    __repr__ = __str__

    def info(self) -> None:
        """Print the attributes."""
        print(f"<aesara.graph.utils.scratchpad instance at {id(self)}>")
        for name, value in self.__dict__.items():
            print(f"  {name}: {value}")


class ValidatingScratchpad(Scratchpad):
    """A scratchpad that passes values of one attribute through a function.

    Parameters
    ----------
    attr
        Name of the attribute.
    attr_filter
        Called with each value assigned to it; its result is stored.
    """

    def __init__(self, attr: str, attr_filter: Any) -> None:
        object.__setattr__(self, "attr", attr)
        object.__setattr__(self, "attr_filter", attr_filter)

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "attr", None) == name:
            value = self.__dict__["attr_filter"](value)
        object.__setattr__(self, name, value)


class AssocList:
    """An associative list whose keys may be unhashable; `None` stands for missing values.

    Examples
    --------
    >>> pairs = AssocList()
    >>> pairs[[1]] = "one"
    >>> pairs[[1]]
    'one'
    """

    def __init__(self) -> None:
        self._dict: dict[Any, Any] = {}
        self._list: list[tuple[Any, ...]] = []

    def __getitem__(self, item: Any) -> Any:
        return self.get(item, None)

    def __setitem__(self, item: Any, value: Any) -> None:
        try:
            self._dict[item] = value
        except TypeError:
            for position, (key, _) in enumerate(self._list):
                if key == item:
                    self._list[position] = (item, value)
                    return
            self._list.append((item, value))

    def __delitem__(self, item: Any) -> None:
        try:
            if item in self._dict:
                del self._dict[item]
                return
        except TypeError:
            for position, (key, _) in enumerate(self._list):
                if key == item:
                    del self._list[position]
                    return
        raise KeyError(item)

    def discard(self, item: Any) -> None:
        """Remove `item` if it is there."""
        try:
            del self[item]
        except KeyError:
            pass

    def get(self, item: Any, default: Any = None) -> Any:
        """Return the value of `item`, or `default`."""
        try:
            return self._dict.get(item, default)
        except TypeError:
            for key, value in self._list:
                if key == item:
                    return value
            return default

    def clear(self) -> None:
        """Remove everything."""
        self._dict = {}
        self._list = []

    def __contains__(self, item: Any) -> bool:
        missing = object()
        return self.get(item, missing) is not missing

    def __len__(self) -> int:
        return len(self._dict) + len(self._list)

    def __iter__(self) -> Iterator[Any]:
        yield from self._dict
        for key, _ in self._list:
            yield key

    def __repr__(self) -> str:
        return f"AssocList({self._dict}, {self._list})"


class _NoParams:
    """Says that an Op passes no parameters to ``perform``; there is a single instance."""

    def __repr__(self) -> str:
        return "NoParams"

    def __reduce__(self) -> Any:
        return "NoParams"

    def __bool__(self) -> bool:
        return False


NoParams = _NoParams()


def simple_extract_stack(f: Any = None, limit: int | None = None, skips: Sequence[str] = ()) -> list[tuple[Any, ...]]:
    """Return ``(filename, line number, function, text)`` of the calling frames, outermost first.

    Frames of files whose name contains a part of `skips` are left out until the first other frame.
    """
    frame = sys._getframe(1) if f is None else f
    entries = traceback.extract_stack(frame)
    kept = [(entry.filename, entry.lineno, entry.name, entry.line) for entry in entries]
    while kept and any(part in kept[-1][0] for part in skips):
        kept.pop()
    return kept if limit is None else kept[-limit:] if limit > 0 else []


def add_tag_trace(thing: Any, user_line: int | None = None) -> Any:
    """Store the current call stack in ``thing.tag.trace`` and return `thing`.

    Every Apply node knows the user's line that made it without this (`Apply.source`); the call remains for
    code that wants whole traces. `user_line` overrides the option ``traceback__limit``.
    """
    limit = config.traceback__limit if user_line is None else user_line
    thing.tag.trace = [simple_extract_stack(sys._getframe(1), limit)] if limit > 0 else []
    return thing


def get_variable_trace_string(v: Any) -> str:
    """Return the stored trace of a variable, or the line that made it, as text."""
    trace = getattr(v.tag, "trace", None)
    if trace:
        lines = ["", "Backtrace when that variable is created:", ""]
        for part in trace if isinstance(trace[0], list) else [trace]:
            for filename, line, function, text in part:
                lines.append(f'  File "{filename}", line {line}, in {function}')
                if text:
                    lines.append(f"    {text}")
        return "\n".join(lines) + "\n"
    source = getattr(getattr(v, "owner", None), "source", None)
    return f"\nThe variable was created at {source}.\n" if source is not None else ""


def toposort(prereqs_d: dict[Any, Any]) -> list[Any]:
    """Sort the keys of ``{item: prerequisites}`` so that prerequisites come first.

    Raises `ValueError` where that is impossible.

    Examples
    --------
    >>> toposort({"b": ["a"], "a": []})
    ['a', 'b']
    """
    waiting = {item: set(prereqs) for item, prereqs in prereqs_d.items()}
    dependents: dict[Any, Any] = {}
    for item, prereqs in waiting.items():
        for prereq in prereqs:
            if prereq not in waiting:
                raise ValueError(f"{prereq!r} is a prerequisite of {item!r} but no key of the dictionary.")
            dependents.setdefault(prereq, []).append(item)
    order = [item for item, prereqs in waiting.items() if not prereqs]
    for item in order:
        for dependent in dependents.get(item, ()):
            waiting[dependent].discard(item)
            if not waiting[dependent]:
                order.append(dependent)
    if len(order) != len(waiting):
        raise ValueError("The prerequisites form a cycle.")
    return order


def deprecated(message: str) -> Any:
    """Make a function warn `message` when it is called."""

    def decorate(function: Any) -> Any:
        @wraps(function)
        def warning(*args: Any, **kwargs: Any) -> Any:
            warn_user(message, DeprecationWarning)
            return function(*args, **kwargs)

        return warning

    return decorate


def remove(predicate: Any, items: Iterable[Any]) -> list[Any]:
    """Return the items for which `predicate` is false.

    Examples
    --------
    >>> remove(lambda n: n % 2 == 0, range(5))
    [1, 3]
    """
    return [item for item in items if not predicate(item)]
