"""Functions of scalars that expressions call: `ScalarFunction` with loops and branches, and C functions of libraries.

A `ScalarFunction` has parameters, statements on mutable scalars, and a result expression. It reads no memory and has no
side effects, so calls with equal arguments are one value. It terminates for all arguments, since both branches of a
``select`` are evaluated. Functions may call each other, but not recursively.
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

    #: relative cost of a call and its time in nanoseconds: between those of a logarithm and of a series
    cost = 500
    time = 300.0

    def __hash__(self) -> int:
        return hash((self.name, self.parameters, self.result))

    def __str__(self) -> str:
        return self.name

    def __call__(self, *arguments: Expr) -> Expr:
        """Return a call of this function; arguments have the dtypes of the parameters."""
        return call(self, self.result.dtype, arguments)

    def expressions(self) -> Iterator[Expr]:
        """Iterate over the expressions of its statements, and its result."""
        for statement in walk_statements(self.body):
            yield from expressions_of(statement)
        yield self.result


@dataclass(frozen=True, eq=False)
class ExternalFunction:
    """A pure C function of scalars in a library; calls of it may be duplicated or removed.

    Attributes
    ----------
    symbol
        Name that `link.llvm.symbols` resolves to an address.
    operands, result
        Dtypes of the arguments and of the result.
    zeros
        Number of 32-bit integer arguments, all zero, after the operands.
    reference
        The same function in Python.
    """

    symbol: str
    operands: tuple[str, ...]
    result: str
    zeros: int
    reference: Callable[..., Any]

    #: relative cost of a call (see `Primitive.cost`) and its time in nanoseconds
    cost = 60
    time = 100.0

    def __str__(self) -> str:
        return self.symbol

    def __call__(self, *arguments: Expr) -> Expr:
        """Return a call of this function."""
        return call(self, self.result, arguments)


def functions_below(roots: Iterable[Expr]) -> list[ScalarFunction]:
    """Return the scalar functions that `roots` call, directly or not, each once and callers before callees."""
    found: dict[ScalarFunction, None] = {}  # in postorder: callees first
    stack = [(function, False) for function in _called_functions(roots)]
    while stack:
        function, visited = stack.pop()
        if function in found:
            continue
        if visited:
            found[function] = None
            continue
        stack.append((function, True))
        stack += [(callee, False) for callee in _called_functions(function.expressions())]
    return list(reversed(found))


def _called_functions(roots: Iterable[Expr]) -> list[ScalarFunction]:
    return [e.attr for e in walk(roots) if e.op == "call" and isinstance(e.attr, ScalarFunction)]
