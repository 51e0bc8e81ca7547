"""Library routines: descriptions of C functions that work on whole arrays.

A `Routine` states where its function is found, its arguments in order, the layout of its arrays and which of them are
overwritten, an estimate of its time, and its reference in terms of NumPy and SciPy. The step `Call` of a program runs
one; `lower.arrays.RoutineCall` is such a call among arrays.

The C function is described by a list of arguments:

======================== ===============================================================================================
``Character(c)``         pointer to a character (a flag of Fortran)
``Integer(e)``           pointer to a 32-bit integer, an expression in the sizes
``Leading(e)``           pointer to a leading dimension: an integer, at least 1
``Int64(e)``             64-bit integer by value, an expression in the sizes
``ConstantPointer(...)`` pointer to constants of one dtype
``Data(name)``           pointer to the first element of an operand
``Stride(name, d)``      stride of an operand along dimension d in elements, as a 64-bit integer
``Status(name)``         pointer to a 32-bit integer that is stored to the operand after the call
``Scalar(name)``         a scalar operand of the call; ``Number(e)`` is a constant
``Null()``               a null pointer
``Bits(name)``           pointer to the ``bitgen_t`` at the start of a generator's words (`ir.generators`)
``Element(name)``        element of an operand by value: its only one, or the one with the number of the result
``Column(name)``         pointer to an element of an operand, and the stride to the next (0 if there is one element)
``RowPointer(name)``     pointer to a row of an operand: its only one, or the one with the number of the call
``ElementCount()``       number of elements to write; ``Place(name)`` is a pointer to the first
``Scratch(bytes)``       pointer to memory that is zeroed before the first of many results
``Pointers(...)``        pointer to an array of these arguments, which are pointers
``Int64Array(...)``      pointer to an array of 64-bit integers, expressions in the sizes
``Table()``              the function's table, and ``SignalWatch()`` its check for signals; for our own routines
======================== ===============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

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
    "Families",
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
    """An argument of a C function; see the table of the module."""

    __slots__ = ("dimension", "value")

    def __init__(self, value: Any = None, dimension: int = 0) -> None:
        self.value, self.dimension = value, dimension


class Character(CArgument):
    pass


class Integer(CArgument):
    pass


class Leading(CArgument):
    pass


class ConstantPointer(CArgument):
    def __init__(self, *values: Expr) -> None:
        super().__init__(values)


class Int64(CArgument):
    pass


class Data(CArgument):
    pass


class Stride(CArgument):
    pass


class Status(CArgument):
    pass


class Scalar(CArgument):
    pass


class Number(CArgument):
    pass


class Null(CArgument):
    pass


class Bits(CArgument):
    pass


class Element(CArgument):
    pass


class Column(CArgument):
    pass


class RowPointer(CArgument):
    pass


class ElementCount(CArgument):
    pass


class Place(CArgument):
    pass


class Scratch(CArgument):
    pass


class Pointers(CArgument):
    def __init__(self, *arguments: CArgument) -> None:
        super().__init__(arguments)


class Int64Array(CArgument):
    def __init__(self, *values: Expr) -> None:
        super().__init__(values)


class Table(CArgument):
    pass


class SignalWatch(CArgument):
    pass


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
Families = dict[str, Callable[..., Routine]]


def size(name: str) -> Expr:
    """Return a size of a routine, for its shapes and arguments."""
    return var(name)


def in_sizes(e: Expr, sizes: Mapping[str, Expr]) -> Expr:
    """Substitute values for the sizes of a routine."""
    return substitute([e], lambda size: sizes.get(size.attr), {})[0]
