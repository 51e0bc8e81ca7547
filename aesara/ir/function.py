"""Functions of numbers that expressions call: of our own, with loops and branches, and those of libraries.

A `ScalarFunction` is to `Expr` what a C function is to a formula: parameters, statements on mutable scalars, and an
expression for the result.  It reads no memory and has no effect, so calls with equal arguments are one value.  It
must end for all arguments, since a call may be evaluated although nobody asks for its value (both sides of a
``select`` are).  Functions may call functions, but not themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from aesara.ir.expr import Expr, call, walk
from aesara.ir.kernel import ScalarParam, Statement, expressions_of, walk_statements
from aesara.records import dataclass

__all__ = ["ExternalFunction", "ScalarFunction", "functions_below"]


@dataclass(frozen=True)
class ScalarFunction:
    """A pure function of scalars.

    Examples
    --------
    >>> from aesara.ir.expr import const, op, var
    >>> x = var("x", "float64")
    >>> square = ScalarFunction("square", (ScalarParam("x", "float64"),), (), op("mul", x, x))
    >>> square(const(3.0, "float64")).dtype
    'float64'
    """

    name: str
    parameters: tuple[ScalarParam, ...]
    body: tuple[Statement, ...]
    result: Expr

    #: relative cost of a call, which may loop, and its time in nanoseconds: between a logarithm and a series
    cost = 500
    time = 300.0

    def __hash__(self) -> int:
        return hash((self.name, self.parameters, self.result))

    def __str__(self) -> str:
        return self.name

    def __call__(self, *arguments: Expr) -> Expr:
        """The expression that is the value of this function; arguments have the dtypes of the parameters."""
        return call(self, self.result.dtype, arguments)

    def expressions(self) -> Iterator[Expr]:
        """The expressions that stand directly in its statements, and its result."""
        for statement in walk_statements(self.body):
            yield from expressions_of(statement)
        yield self.result


@dataclass(frozen=True, eq=False)
class ExternalFunction:
    """A pure C function of numbers that a library has: it may be called as often as one likes, or not at all.

    Parameters
    ----------
    symbol
        Says where it is; `link.llvm.symbols` finds its address.
    operands, result
        The dtypes that it takes and gives.
    zeros
        How many 32-bit integers come behind the operands, all zero.
    reference
        Computes the same in Python.
    """

    symbol: str
    operands: tuple[str, ...]
    result: str
    zeros: int
    reference: Callable[..., Any]

    #: relative cost of a call, next to those of primitives, and its time in nanoseconds
    cost = 60
    time = 100.0

    def __str__(self) -> str:
        return self.symbol

    def __call__(self, *arguments: Expr) -> Expr:
        """The expression that is the value of this function."""
        return call(self, self.result, arguments)


def functions_below(roots: Iterable[Expr]) -> list[ScalarFunction]:
    """The scalar functions that evaluating `roots` may call, each once, callers before what they call."""
    found: dict[ScalarFunction, None] = {}  # in the order in which they are left: callees first
    stack = [(function, False) for function in _called(roots)]
    while stack:
        function, left = stack.pop()
        if function in found:
            continue
        if left:
            found[function] = None
            continue
        stack.append((function, True))
        stack += [(callee, False) for callee in _called(function.expressions())]
    return list(reversed(found))


def _called(roots: Iterable[Expr]) -> list[ScalarFunction]:
    return [e.attr for e in walk(roots) if e.op == "call" and isinstance(e.attr, ScalarFunction)]
