"""Library routines: descriptions of C functions that work on whole arrays.

A `Routine` states where its function is found, its arguments in order, the layout of its arrays and which of them are
overwritten, an estimate of its time, and its reference in terms of NumPy and SciPy. The step `Call` of a program runs
one; `lower.arrays.RoutineCall` is such a call among arrays.

The C function is described by a list of `CArgument`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from aesara.ir.expr import Expr, substitute, var
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.work import Work

__all__ = [
    "CArgument",
    "Bits",
    "Character",
    "Column",
    "ConstantPointer",
    "ElementCount",
    "FAMILIES",
    "family",
    "Data",
    "Element",
    "Integer",
    "Leading",
    "Int64",
    "Int64Array",
    "Null",
    "Number",
    "Parameter",
    "Place",
    "Pointers",
    "Routine",
    "RowPointer",
    "Scalar",
    "Scratch",
    "Status",
    "Stride",
    "Table",
    "SignalWatch",
    "size",
]


@dataclass(frozen=True)
class Parameter:
    """An array that a routine reads or writes, with a shape in the routine's sizes.

    Attributes
    ----------
    name, dtype, shape
        Complex numbers are pairs: a last dimension of length 2.
    is_complex
        Whether it holds such pairs.
    is_read, is_written
        An array with both is overwritten.
    strides
        Number of leading dimensions whose strides a call passes; the array is row-major and contiguous over the others.
    is_workspace
        Whether its content is not used after the call: all calls of a batch share one.
    """

    name: str
    dtype: str
    shape: tuple[Expr, ...]
    is_read: bool = True
    is_written: bool = False
    strides: int = 0
    is_workspace: bool = False
    is_complex: bool = False


class CArgument:
    """An argument of a C function: `value` is an expression, or the name of an operand."""

    __slots__ = ("dimension", "value")

    def __init__(self, value: Any = None, dimension: int = 0) -> None:
        self.value, self.dimension = value, dimension


class Character(CArgument):
    """Pointer to a character (a flag of Fortran)."""


class Integer(CArgument):
    """Pointer to a 32-bit integer, an expression in the sizes."""


class Leading(CArgument):
    """Pointer to a leading dimension: an integer, at least 1."""


class ConstantPointer(CArgument):
    """Pointer to constants of one dtype."""

    def __init__(self, *values: Expr) -> None:
        super().__init__(values)


class Int64(CArgument):
    """64-bit integer by value, an expression in the sizes."""


class Data(CArgument):
    """Pointer to the first element of the operand of this name."""


class Stride(CArgument):
    """Stride of an operand along `dimension` in elements, as a 64-bit integer."""


class Status(CArgument):
    """Pointer to a 32-bit integer that is stored to the operand of this name after the call."""


class Scalar(CArgument):
    """A scalar operand of the call."""


class Number(CArgument):
    """A constant by value."""


class Null(CArgument):
    """A null pointer."""


class Bits(CArgument):
    """Pointer to the ``bitgen_t`` at the start of a generator's words (`ir.generators`)."""


class Element(CArgument):
    """Element of an operand by value: its only one, or the one with the number of the result."""


class Column(CArgument):
    """Pointer to an element of an operand, and the stride to the next (0 if there is one element)."""


class RowPointer(CArgument):
    """Pointer to a row of an operand: its only one, or the one with the number of the call."""


class ElementCount(CArgument):
    """Number of elements to write."""


class Place(CArgument):
    """Pointer to the first element to write."""


class Scratch(CArgument):
    """Pointer to memory of this many bytes that is zeroed before the first of many results."""


class Pointers(CArgument):
    """Pointer to an array of these arguments, which are pointers."""

    def __init__(self, *arguments: CArgument) -> None:
        super().__init__(arguments)


class Int64Array(CArgument):
    """Pointer to an array of 64-bit integers, expressions in the sizes."""

    def __init__(self, *values: Expr) -> None:
        super().__init__(values)


class Table(CArgument):
    """The function's table; for our own routines."""


class SignalWatch(CArgument):
    """The function's check for signals; for our own routines."""


@dataclass(frozen=True, eq=False)
class Routine:
    """A library routine.

    Attributes
    ----------
    name
        Unique name, by which programs refer to it.
    title
        Name in `explain`.
    sizes, scalars
        Names of the sizes, and names and dtypes of the scalars, that a call passes.
    parameters
        The arrays that a call passes, in order.
    arguments
        The arguments of the C function, in order.
    work
        Estimated time in nanoseconds.
    reference
        Python function of a dict of sizes and scalars, and one ndarray for each parameter; it stores to those that are
        written.
    symbol
        Symbol of the C function; see `link.llvm.symbols`.
    one_thread
        Range of the work, in nanoseconds, in which the library is limited to one thread: below it uses one anyway,
        above two are faster. None: never.
    other
        An expression in the sizes, and the symbol of the function to call instead where it is not zero.
    word
        Word of the table with the address of one of our own routines, which returns whether a signal has stopped it.
    kind
        Category in explanations and profiles.
    returns
        The parameter to store the function's 32-bit result to; None if it returns nothing.
    each, gives
        For a function that is called once for each element: the size with the number of calls, and the parameter that
        its results are stored to. One that takes an `ElementCount` is called for many elements at once.
    """

    name: str
    title: str
    sizes: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    arguments: tuple[CArgument, ...]
    work: Work
    reference: Callable[..., Any]
    symbol: str = ""
    word: str | None = None
    scalars: tuple[tuple[str, str], ...] = ()
    kind: str = "routine"
    returns: str | None = None
    each: str = ""
    gives: str = ""
    other: tuple[Expr, str] | None = None
    one_thread: tuple[float, float] | None = None

    def __repr__(self) -> str:
        return f"<routine {self.name}>"

    def narrow(self, sizes: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """Return the expressions that the function takes as 32-bit integers, for checks that they fit.

        Sizes come before expressions computed from them.
        """
        values = {in_sizes(a.value, sizes): None for a in self.arguments if isinstance(a, Integer)}
        return tuple(sorted(values, key=lambda e: e.op != "var"))

    def shape_of(self, parameter: Parameter, sizes: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """Return the shape of a parameter for these sizes."""
        return tuple(in_sizes(n, sizes) for n in parameter.shape)

    def work_for(self, sizes: Mapping[str, Expr]) -> Work:
        """Return the estimated time for these sizes."""
        return self.work.replace(lambda n: in_sizes(n, sizes))


#: factories of routines by the first word of the routine's name; the other words are the arguments
FAMILIES: dict[str, Callable[..., Routine]] = {}

Factory = TypeVar("Factory", bound=Callable[..., Routine])


def family(name: str) -> Callable[[Factory], Factory]:
    """Register a factory of routines whose names begin with `name`; each routine is built once."""

    def register(factory: Factory) -> Factory:
        cached = cast(Factory, functools.cache(factory))
        if FAMILIES.setdefault(name, cached) is not cached:
            raise ValueError(f"There are two families of routines with the name {name!r}.")
        return cached

    return register


def size(name: str) -> Expr:
    """Return a size of a routine, for its shapes and arguments."""
    return var(name)


def in_sizes(e: Expr, sizes: Mapping[str, Expr]) -> Expr:
    """Substitute values for the sizes of a routine."""
    return substitute([e], lambda size: sizes.get(size.attr), {})[0]
