"""Library routines: C functions that work on whole arrays, as records that say all that others ask about them.

A `Routine` says where its function is found, what the function takes and in which order, how the arrays must lie in
memory and which of them are overwritten, how long it takes, and what it computes in terms of NumPy and SciPy.  The
step `Call` of a program runs one; `lower.arrays.RoutineCall` is such a call among arrays.

The C function is described by a list of arguments:

======================== ===============================================================================================
``Character(c)``         pointer to a character, as Fortran takes flags
``Integer(e)``           pointer to a 32-bit integer whose value is an expression in the sizes, as Fortran takes numbers
``Leading(e)``           the same for a leading dimension, which is 1 where the expression is zero
``Int64(e)``             an expression in the sizes by value, as a 64-bit integer
``ConstantPointer(...)`` pointer to a number that is always the same, or to several of one dtype, one after another
``Data(name)``           pointer to the first element of an operand
``Stride(name, d)``      how far apart neighbours of an operand are along dimension d, in elements, as a 64-bit integer
``Status(name)``         pointer to a 32-bit integer, which goes to the operand of that name after the call
``Scalar(name)``         a number that a call gives, and ``Number(e)`` one that is always the same
``Null()``               a null pointer
``Bits(name)``           pointer to the ``bitgen_t`` that the words of a generator begin with (`ir.generators`)
``Element(name)``        an element of an operand, by value: its only one, or that of the same number as the result
``Column(name)``         pointer to an element of an operand, and how far it is to the next in elements, or 0
``RowPointer(name)``     pointer to a row of an operand: its only one, or the one with the number of the call
``ElementCount()``       how many elements are to be written, and ``Place(name)`` a pointer to the first of them
``Scratch(bytes)``       pointer to memory that is zero before the first of many results
``Pointers(...)``        pointer to an array of pointers, which are these arguments
``Int64Array(...)``      pointer to an array of 64-bit integers, which are expressions in the sizes
``Table()``              the table of the function, and ``SignalWatch()`` what looks for signals; for our own routines
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
    """An array that a routine reads or writes, of a shape in the routine's sizes.

    Attributes
    ----------
    name, dtype, shape
        What it is called, and what it holds.  Complex numbers are pairs: a last dimension of length 2.
    is_complex
        Whether it holds such pairs.
    is_read, is_written
        What the routine does with it.  What is read and written is overwritten.
    strides
        For how many leading dimensions a call says how far apart neighbours are; over the others, here all, the array
        is row-major and contiguous.
    is_workspace
        Whether nobody reads afterwards what the routine writes there: all calls of a batch share one.
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
    """An argument of the function, made of what the table above says."""

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
        Unique; programs refer to it.
    title
        What `explain` calls it.
    sizes, scalars
        The names of the sizes that a call gives, and names and dtypes of other numbers.
    parameters
        The arrays that a call gives, in order.
    arguments
        What the C function takes, in order.
    work
        How long it takes, in nanoseconds.
    reference
        What it computes: called with a dict of sizes and scalars, and one ndarray for each parameter, of the
        parameter's shape; it writes to those that are written.
    symbol
        Where the C function is found; see `link.llvm.symbols`.
    one_thread
        From which work to which, in nanoseconds, the library is told to use one thread: below it uses one anyway, and
        above two are faster.  None: never.
    other
        An expression in the sizes, and the symbol of the function that is called instead where this is not zero.
    word
        The word of the table that has the address of our own routine, if it is one: such a routine returns whether a
        signal has stopped it.
    kind
        What explanations and profiles count it as.
    returns
        The parameter that gets the 32-bit integer that the function returns; None if it returns nothing.
    each, gives
        The size that says how often the function is called, and the parameter whose elements it returns, one after
        another, if it returns something; empty for a function that is called once.  One that takes an `ElementCount` is
        called for many elements at once.
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
        """What the function takes as 32-bit integers where the sizes have these values: more must not get there.

        Sizes come before what is computed from them.
        """
        values = {in_sizes(a.value, sizes): None for a in self.arguments if isinstance(a, Integer)}
        return tuple(sorted(values, key=lambda e: e.op != "var"))

    def shape_of(self, parameter: Parameter, sizes: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """The shape of a parameter where the sizes have these values."""
        return tuple(in_sizes(n, sizes) for n in parameter.shape)

    def work_for(self, sizes: Mapping[str, Expr]) -> Work:
        """How long it takes where the sizes have these values."""
        return self.work.replace(lambda n: in_sizes(n, sizes))


#: Functions that make routines, by the first word of the routines' names; the arguments are the other words.
Families = dict[str, Callable[..., Routine]]


def size(name: str) -> Expr:
    """A size of a routine, in expressions for shapes and arguments."""
    return var(name)


def in_sizes(e: Expr, sizes: Mapping[str, Expr]) -> Expr:
    """An expression in sizes of a routine, with values for them."""
    return substitute([e], lambda size: sizes.get(size.attr), {})[0]
