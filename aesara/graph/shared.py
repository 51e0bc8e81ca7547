"""Shared variables: graph inputs that carry their value with them.

They know only types and containers; what makes an array's shared variable is registered by the
module of that type with `shared_constructor.register`.  Modules of types that few programs use are
imported with the first value of such a type.
"""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import singledispatch
from typing import Any

import numpy as np

from aesara.graph.container import Container
from aesara.graph.generic import generic
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.graph.type import Type

_collectors: list[list[SharedVariable]] = []

#: Packages with classes of values -> the module that registers how their shared variables are made.
CONSTRUCTORS_ON_DEMAND = {"numpy.random": "aesara.tensor.random.var", "scipy.sparse": "aesara.sparse.sharedvar"}


@contextmanager
def collect_new_shareds() -> Iterator[list[SharedVariable]]:
    """Gather the shared variables that are created while the context is active."""
    created: list[SharedVariable] = []
    _collectors.append(created)
    try:
        yield created
    finally:
        _collectors[:] = [other for other in _collectors if other is not created]  # others may be equal


class SharedVariable(Variable):
    """A variable with a value that persists between calls and is shared by all compiled functions.

    Made by `shared`; functions read the value implicitly and change it through ``updates``.

    Parameters
    ----------
    type
        The type of the variable.
    value
        Its first value, stored without a copy.
    strict
        Accept only values that need no conversion.
    allow_downcast
        See `Container`.
    container
        An existing container, instead of `value` and `strict`: the new variable is then another
        name for the same value.
    name
        The variable's name.
    """

    def __init__(
        self,
        type: Type,
        value: Any,
        strict: bool | None,
        allow_downcast: bool | None = None,
        container: Container | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(type, None, None, name)
        if container is not None:
            if value is not None or strict is not None:
                raise TypeError("A shared variable takes either a container, or a value and strict, not both.")
            self.container = container
        else:
            self.container = Container(
                self,
                [type.filter(value, strict=bool(strict), allow_downcast=allow_downcast)],
                strict=bool(strict),
                allow_downcast=allow_downcast,
            )
        self._default_update: Variable | None = None
        for created in _collectors:
            created.append(self)

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """Return the current value.

        Parameters
        ----------
        borrow
            True may return the internal buffer itself: fast, but the value may change with the next
            function call, and writing to it is not supported.  False always returns a copy.
        return_internal_type
            Return the value as it is stored, even where `get_value` would convert it.
        """
        value = self.container.value
        if not return_internal_type:
            value = self.type.external_value(value)
        return value if borrow else copy.deepcopy(value)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Replace the value, for all functions that use this variable.

        Parameters
        ----------
        new_value
            A value of the variable's type.
        borrow
            True may keep `new_value` itself as internal buffer; False keeps a copy.
        """
        self.container.value = new_value if borrow else copy.deepcopy(new_value)

    def get_test_value(self) -> Any:
        """Return the current value, without copying it."""
        return self.get_value(borrow=True, return_internal_type=True)

    @property
    def default_update(self) -> Variable | None:
        """Expression that becomes the value after each call of a function that reads the variable."""
        return self._default_update

    @default_update.setter
    def default_update(self, expression: Any) -> None:
        self._set_default_update(expression)

    def _set_default_update(self, expression: Any) -> None:
        self._default_update = None if expression is None else self.type.filter_variable(expression, allow_convert=True)

    def clone(self, **kwargs: Any) -> SharedVariable:
        """Return another variable for the same value."""
        duplicate = type(self)(
            type=kwargs.get("type", self.type),
            value=None,
            strict=None,
            container=self.container,
            name=kwargs.get("name", self.name),
        )
        duplicate.tag = copy.copy(self.tag)
        return duplicate

    def __getitem__(self, *args: Any) -> Any:
        # Arrays' shared variables take their indexing from the tensor operators.
        raise TypeError(
            f"The shared variable {self} holds a generic Python object of type "
            f"{type(self.container.value).__name__} and cannot be indexed. "
            "Shared variables of arrays can: make it with a numpy.ndarray."
        )


def expression_of_shared(given: Any) -> str | None:
    """Say how to change a shared variable, where its name was given to an expression, as ``w += 1`` does.

    Parameters
    ----------
    given
        What was taken for a shared variable.

    Returns
    -------
    The rest of a sentence that begins with what was given, and more; None if no shared variable is an operand of it.

    Examples
    --------
    >>> w = aesara.shared(0.0, name="w")
    >>> expression_of_shared(w + 1)[:44]
    'is an expression, not the shared variable w:'
    """
    owner = getattr(given, "owner", None)
    read = None if owner is None else next((v for v in owner.inputs if isinstance(v, SharedVariable)), None)
    if read is None:
        return None
    name = read.name or "w"
    return (
        f"is an expression, not the shared variable {name}: `{name} = {name} + 1` and `{name} += 1` "
        f"give the name to an expression, and no value changes. Keep the variable, and use {name}.set_value(value), or "
        f"let a function change it: `updates=[({name}, {name} + 1)]`."
    )


@singledispatch
def shared_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    **kwargs: Any,
) -> SharedVariable:
    """Make the shared variable for a value; register a class with ``shared_constructor.register``."""
    if _load_constructors(type(value)):
        return shared_constructor(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
    if callable(getattr(type(value), "to_numpy", None)):
        value = _as_array(value)
        return shared_constructor(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
    borrow = kwargs.pop("borrow", False)
    if kwargs:
        raise TypeError(
            f"shared() does not understand {', '.join(map(repr, kwargs))} for a value of type {type(value).__name__}"
        )
    return SharedVariable(
        type=generic,
        value=value if borrow else copy.deepcopy(value),
        strict=strict,
        allow_downcast=allow_downcast,
        name=name,
    )


def _as_array(table: Any) -> np.ndarray:
    """Return the array of numbers that a table, such as one of pandas, holds; its memory may be written to."""
    array = table.to_numpy()
    if array.dtype.kind not in "biufc":
        kind = type(table).__name__
        raise TypeError(
            f"shared() takes arrays of numbers, and the {kind} has the dtype {array.dtype} as an array. Give its "
            "numbers, as in df.to_numpy(dtype='float64'), or SharedVariable(generic, value, strict=False) for the "
            f"{kind} as the Python object that it is."
        )
    return array if array.flags.writeable else array.copy()


def _load_constructors(kind: type) -> bool:
    """Import the modules that know a class and were not imported; whether there were some."""
    modules = [
        module
        for package, module in CONSTRUCTORS_ON_DEMAND.items()
        if module not in sys.modules and any(f"{base.__module__}.".startswith(f"{package}.") for base in kind.__mro__)
    ]
    for module in modules:
        importlib.import_module(module)
    return bool(modules)


def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    **kwargs: Any,
) -> SharedVariable:
    """Make a variable with a value that compiled functions share, read implicitly and may update.

    Parameters
    ----------
    value
        A NumPy array, a number, or a nested list or tuple of numbers, which becomes an array, as does a table with
        a method `to_numpy`, such as a ``DataFrame`` of pandas; or any other Python object.
        ``SharedVariable(generic, value, strict=False)`` holds a list of numbers as the Python object that it is.
    name
        The variable's name.
    strict
        Let `SharedVariable.set_value` accept only values of exactly the variable's type.
    allow_downcast
        Let it convert values to a type of lower precision.
    **kwargs
        Options of the constructor for the value's type.  For arrays: ``borrow`` (False: copy the
        value), ``shape`` (static shape; default: nothing is known but the number of dimensions).

    Raises
    ------
    TypeError
        If `value` is symbolic, or of a dtype that no type supports, or a table of other things than numbers.

    Examples
    --------
    >>> counter = aesara.shared(0, name="counter")
    >>> step = aesara.function([], counter, updates={counter: counter + 1})
    >>> step(), step(), counter.get_value()
    (array(0), array(1), array(2))
    """
    if isinstance(value, Variable):
        raise TypeError(
            f"Shared variable values can not be symbolic, got {describe(value)}. "
            "Pass a number or an array (for example the result of its .eval())."
        )
    return shared_constructor(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
