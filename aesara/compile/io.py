"""Specifications of the inputs and outputs of a compiled function."""

from __future__ import annotations

from typing import Any

from aesara.graph.container import Container
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.graph.shared import SharedVariable


class SymbolicInput:
    """One input of a function.

    Parameters
    ----------
    variable
        The graph variable that the input gives a value to.
    name
        Name of the keyword argument.  Default: the variable's name.
    update
        Expression for the input's value in the next call; the input then is a state of the function.
    mutable
        The function may overwrite the value that is passed.
    strict
        Accept only values that need no conversion.
    allow_downcast
        What to do with values that lose precision: True converts, False refuses, None (default)
        allows Python floats for floats of ``config.floatX`` only.
    autoname
        Use the variable's name when `name` is None.
    implicit
        The value is not an argument of the function, it comes from the container.
    """

    # What `In` can set.
    value: Any = None
    borrow: bool = False
    shared: bool = False

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        update: Variable | None = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        implicit: bool | None = False,
    ) -> None:
        if not isinstance(variable, Variable):
            raise TypeError(
                f"The input of a function must be a graph variable, got {describe(variable)} ({type(variable)})."
            )
        if implicit is None:
            raise ValueError("`implicit` must be True or False.")
        self.variable = variable
        self.name = variable.name if autoname and name is None else name
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"The name of an input must be a string, got {self.name!r} ({type(self.name)}).")
        self.update = update
        if update is not None and not variable.type.is_super(update.type):
            raise TypeError(
                f"Variable '{variable}' has type {variable.type} but an update of type {update.type}. "
                "The type of the update should be compatible with the type of the variable."
            )
        self.mutable = mutable if mutable is not None else update is not None
        self.strict = strict
        self.allow_downcast = allow_downcast
        self.implicit = implicit

    def __str__(self) -> str:
        return f"In({self.variable})" if self.update is None else f"In({self.variable} -> {self.update})"

    __repr__ = __str__


class In(SymbolicInput):
    """One input of a function, with a default value or lent memory.

    Parameters
    ----------
    variable, name, update, strict, allow_downcast, autoname
        See `SymbolicInput`.
    value
        Default value, or a container, or a shared variable that holds it.
    mutable
        The function may overwrite the value that is passed.  Implies `borrow`.
    borrow
        The function may keep using the memory of the value that is passed: an output may be a view
        of it.  Default: the same as `mutable`.
    implicit
        The value is not an argument of the function.  Default: True for containers and shared
        variables.
    shared
        The input is a shared variable; set by the library.

    Examples
    --------
    >>> x, rate = aesara.tensor.dvectors("x", "rate")
    >>> f = aesara.function([x, In(rate, value=[0.1])], rate * x)
    >>> f([1.0])
    array([0.1])
    """

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        value: Any = None,
        update: Variable | None = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        implicit: bool | None = None,
        borrow: bool | None = None,
        shared: bool = False,
    ) -> None:
        if mutable and borrow is False:
            raise ValueError(
                f"Symbolic input for variable {describe(variable)} (name={name}) has flags mutable=True, "
                "borrow=False. "
                "This combination is incompatible since mutable=True implies that the input variable may be "
                "both aliased (borrow=True) and overwritten."
            )
        self.shared = shared
        if implicit is None:
            implicit = isinstance(value, (Container, SharedVariable))
        super().__init__(
            variable=variable,
            name=name,
            update=update,
            mutable=mutable,
            strict=strict,
            allow_downcast=allow_downcast,
            autoname=autoname,
            implicit=implicit,
        )
        self.borrow = bool(mutable) if borrow is None else borrow
        self.value = value.container if isinstance(value, SharedVariable) else value


class SymbolicOutput:
    """One output of a function.

    Parameters
    ----------
    variable
        The expression to compute.
    borrow
        The function may return memory that it keeps using, such as the buffer of a shared variable, or an array that
        it returns again in a later call.  Native code does so only as soon as nobody else holds the array.
    """

    def __init__(self, variable: Variable, borrow: bool = False) -> None:
        self.variable = variable
        self.borrow = borrow

    def __str__(self) -> str:
        return f"Out({self.variable},{self.borrow})"

    __repr__ = __str__


class Out(SymbolicOutput):
    """One output of a function; ``Out(y, borrow=True)`` may return memory that the function keeps using."""


__all__ = ["In", "Out", "SymbolicInput", "SymbolicOutput"]
