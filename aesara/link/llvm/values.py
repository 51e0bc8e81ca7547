"""Values of the function that is being emitted: which are known at the current point, and where others are computed.

Expressions are hash-consed, so a dictionary from expressions to names numbers their values. An expression is computed
in the outermost scope in which its operands are known, which hoists invariants out of loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from aesara.ir.definitions import FunctionParameter
from aesara.ir.expr import Expr
from aesara.ir.instructions import InstructionWriter, Names, Value
from aesara.link.llvm.spills import Spilled
from aesara.link.llvm.types import LLVM_TYPES, literal

__all__ = ["Scope", "Values"]

Result = TypeVar("Result")


class Scope(InstructionWriter):
    """Writes one loop body (or the function's top level); has the values computed in it.

    Attributes
    ----------
    depth
        The nesting depth.
    values
        Names of the values of expressions.
    group
        The access group of its loads and stores, if iterations are independent.
    """

    def __init__(self, names: Names, depth: int, block: str) -> None:
        super().__init__(names, block)
        self.depth = depth
        self.values: dict[Expr, str] = {}
        self.group: str | None = None


class Values:
    """The values that are known at the current point of a function.

    An expression is *volatile* if it depends on a mutable scalar or reads a buffer that the function writes. Its value
    is known until the next assignment or store, or until a scope begins or ends.

    Attributes
    ----------
    scopes
        The open scopes, outermost first.
    variables
        Name and depth of each variable: parameters, sizes and loop indices.
    mutable
        The current value of each mutable scalar.
    kept
        Values that remain known when those of the top level are forgotten.
    """

    def __init__(self, written: frozenset[str]) -> None:
        self.names = Names()
        self.scopes = [Scope(self.names, 0, "entry")]
        self.variables: dict[str, tuple[str, int]] = {}
        self.mutable: dict[str, Value] = {}
        self.kept: dict[Expr, str] = {}
        self._written = written
        self._volatile: dict[Expr, str] = {}
        #: depths of expressions; see `depth_of`
        self._depths: dict[Expr, int] = {}
        #: depth of the scope out of which nothing may be hoisted
        self._pinned = 0

    # -- expressions -----------------------------------------------------------------------------------------

    def find(self, e: Expr) -> str | None:
        """Return the name (or literal) of the value of an expression, if it is known; it may be `Spilled`."""
        if e.op == "const":
            return literal(e.attr, e.dtype)
        if e.op == "var":
            if e.attr in self.mutable:
                return self.mutable[e.attr].name
            return self.variables[e.attr][0]
        found = self._volatile.get(e)
        if found is not None:
            return found
        for scope in self.scopes:
            found = scope.values.get(e)
            if found is not None:
                return found
        return self.kept.get(e)

    def depth_of(self, e: Expr) -> int:
        """Return the depth of the outermost scope where an expression can be computed; -1 if it is volatile."""
        if e.op == "const":
            return 0
        if e.op == "var":
            return -1 if e.attr in self.mutable else self.variables[e.attr][1]
        if e.op == "load" and e.attr in self._written:
            return -1
        found = self._depths.get(e)
        if found is None:
            depths = [self.depth_of(a) for a in e.args]
            found = -1 if -1 in depths else max(depths, default=0)
            self._depths[e] = found
        return found

    def scope_at(self, depth: int) -> Scope:
        """Return the scope in which to compute an expression of this depth."""
        return self.scopes[-1] if depth < 0 else self.scopes[max(depth, self._pinned)]

    def record(self, e: Expr, name: str, depth: int) -> None:
        """Record the value of an expression of this depth."""
        if depth < 0:
            self._volatile[e] = name
        else:
            self.scope_at(depth).values[e] = name

    def forget_volatile(self) -> None:
        """Forget the values of volatile expressions."""
        self._volatile.clear()

    # -- scopes ----------------------------------------------------------------------------------------------

    @property
    def innermost(self) -> Scope:
        return self.scopes[-1]

    @property
    def is_pinned(self) -> bool:
        """True if something may not be hoisted to the top level here."""
        return self._pinned > 0

    def new_scope(self, block: str) -> Scope:
        """Return the scope of a block inside of the innermost scope, before it is entered."""
        return Scope(self.names, len(self.scopes), block)

    def define_index(self, variable: str, name: str, depth: int) -> None:
        """Define the index of a loop, whose variable may have been that of a loop of another depth."""
        if self.variables.get(variable, ("", depth))[1] != depth:
            self._depths.clear()
        self.variables[variable] = (name, depth)

    def inside(self, scope: Scope, emit: Callable[[], Result], pinned: bool = False) -> Result:
        """Emit code in a scope and return the result of `emit`; if it is `pinned`, nothing is hoisted out of it."""
        self._volatile.clear()
        before = self._pinned
        self.scopes.append(scope)
        if pinned:
            self._pinned = scope.depth
        result = emit()
        self.scopes.pop()
        self._pinned = before
        self._volatile.clear()
        return result

    def aside(self, emit: Callable[[], Result]) -> tuple[list[str], Result]:
        """Return the lines that `emit` writes for a block that is rarely executed, and its result."""
        pinned, volatile, scope = self._pinned, dict(self._volatile), self.new_scope("")
        self.scopes.append(scope)
        self._pinned = scope.depth
        result = emit()
        self.scopes.pop()
        self._pinned, self._volatile = pinned, volatile
        return scope.lines, result

    # -- names -----------------------------------------------------------------------------------------------

    def define_parameter(self, name: str, dtype: str) -> FunctionParameter:
        """Define a variable as a parameter of the function, and return the parameter."""
        value = self.names.fresh("n")
        self.variables[name] = (value, 0)
        return FunctionParameter(LLVM_TYPES[dtype], value)

    def here(self, value: str, scope: Scope | None = None) -> str:
        """Return the name of a value; a spilled value is loaded in the scope (the innermost one)."""
        if not isinstance(value, Spilled):
            return value
        w = scope or self.scopes[-1]
        return w.load(value.kind, w.at("%frame", value.offset)).name
