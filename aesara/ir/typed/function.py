"""Typed functions, and the C functions and constants that they use.

A typed function is a Python function with annotations of types (`types`).  Called, it runs as Python; `translate`
translates its source to LLVM IR.  It may hold

* assignments, also to several names, elements ``p[k]`` and fields ``frame.error``; ``if``, ``while``, ``for`` over
  ``range``, ``break``, ``continue``, ``return``;
* arithmetic, comparisons, ``and``, ``or``, ``not``, conditional expressions, `min`, `max` and `abs`;
* calls of typed functions, of C functions (`CFunction`), of operations (`operations`), and conversions ``i64(x)``;
* names of constants: numbers, `ConstantArray`, `GlobalVariable`.

Integers wrap around and ``//`` and ``%`` round down, as in Python; signs of types decide about ``>>``, ``<`` and
conversions.  Arithmetic of floats never raises.  Operands have equal types, but for Python's numbers, which take the
type of the other operand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from aesara.ir.instructions import literal
from aesara.ir.typed.types import (
    FloatType,
    IntType,
    PointerType,
    StructType,
    ValueType,
    llvm_type,
    type_of_annotation,
)
from aesara.records import dataclass

__all__ = ["CFunction", "GlobalVariable", "ConstantArray", "TypedFunction", "typed_function"]


class TypedFunction:
    """A function in typed Python.

    Attributes
    ----------
    function
        The Python function.
    symbol
        Name in LLVM IR.
    linkage
        Linkage in LLVM IR; empty for a function that other modules call.
    attributes
        Attributes of the function in LLVM IR.
    parameter_attributes
        Attributes of parameters, by name.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        symbol: str,
        linkage: str,
        attributes: str,
        parameter_attributes: Mapping[str, str],
    ) -> None:
        self.function, self.symbol, self.linkage, self.attributes = function, symbol, linkage, attributes
        self.parameter_attributes = parameter_attributes
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __repr__(self) -> str:
        return f"<typed function {self.symbol}>"

    @cached_property
    def parameters(self) -> dict[str, ValueType]:
        """Types by the names of parameters."""
        code = self.function.__code__
        annotations = self.function.__annotations__
        return {name: type_of_annotation(annotations[name]) for name in code.co_varnames[: code.co_argcount]}

    @property
    def llvm_parameters(self) -> str:
        """The list of parameters in LLVM IR."""
        return ", ".join(
            " ".join(filter(None, (kind.llvm, self.parameter_attributes.get(name, ""), f"%{name}")))
            for name, kind in self.parameters.items()
        )

    @cached_property
    def result(self) -> ValueType | None:
        """The result type, None if nothing is returned."""
        annotation = self.function.__annotations__["return"]
        return None if annotation is None else type_of_annotation(annotation)

    @cached_property
    def names(self) -> dict[str, Any]:
        """The global names of the function's module, and those of functions around it."""
        cells = zip(self.function.__code__.co_freevars, self.function.__closure__ or ())
        return {**self.function.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def typed_function(
    symbol: str = "", linkage: str = "internal", attributes: str = "nounwind", **parameter_attributes: str
) -> Callable[[Callable[..., Any]], TypedFunction]:
    """Make a Python function a `TypedFunction`, by default with the function's name as symbol.

    ::

        @typed_function()
        def gcd(a: i64, b: i64) -> i64:
            while b != 0:
                a, b = b, a % b
            return a

    Examples
    --------
    >>> from aesara.ir.draws.pcg64 import integer
    >>> integer(1 << 64), integer.parameters, integer.result
    (1, {'state': u128}, u64)
    """

    def decorate(function: Callable[..., Any]) -> TypedFunction:
        return TypedFunction(function, symbol or function.__name__, linkage, attributes, parameter_attributes)

    return decorate


#: attributes of functions that depend on their arguments alone
PURE = "nounwind willreturn memory(none)"


class CFunction:
    """A C function that typed functions call.

    Parameters
    ----------
    symbol
        Its symbol, see `link.llvm.symbols`.
    result, parameters
        Its types; None for no result.
    attributes
        Attributes in LLVM IR.
    reference
        Python function that does the same.
    """

    def __init__(
        self,
        symbol: str,
        result: Any,
        *parameters: Any,
        attributes: str = "",
        reference: Callable[..., Any] | None = None,
    ) -> None:
        self.symbol, self.attributes, self.reference = symbol, attributes, reference
        self.result = None if result is None else type_of_annotation(result)
        self.parameters = tuple(map(type_of_annotation, parameters))

    def __call__(self, *arguments: Any) -> Any:
        if self.reference is None:
            raise NotImplementedError(f"{self.symbol} has no Python equivalent")
        return self.reference(*arguments)

    @property
    def declaration(self) -> str:
        """Declaration in LLVM IR."""
        parameters = ", ".join(p.llvm for p in self.parameters)
        attributes = self.attributes and f" {self.attributes}"
        return f"declare {llvm_type(self.result)} @{self.symbol}({parameters}){attributes}"


@dataclass(frozen=True, eq=False)
class GlobalVariable:
    """A variable of another module, a number or a structure; its value is its address.

    Attributes
    ----------
    symbol
        Its name in LLVM IR.
    type
        Its type.
    """

    symbol: str
    type: Any

    @property
    def pointer(self) -> ValueType:
        """The type of its address."""
        kind = type_of_annotation(self.type)
        return kind if isinstance(kind, StructType) else PointerType(kind)

    @property
    def declaration(self) -> str:
        """Declaration in LLVM IR."""
        kind = type_of_annotation(self.type)
        return f"@{self.symbol} = external global {'i8' if isinstance(kind, StructType) else kind.llvm}"


class ConstantArray:
    """A constant array.

    Parameters
    ----------
    symbol
        Its name in LLVM IR.
    type
        Type of its elements.
    values
        Function that returns the elements; called once.
    """

    def __init__(self, symbol: str, type: Any, values: Callable[[], Sequence[float]]) -> None:
        self.symbol, self.function = symbol, values
        element = type_of_annotation(type)
        assert isinstance(element, (IntType, FloatType))
        self.type = element

    @cached_property
    def values(self) -> Sequence[float]:
        return self.function()

    def __getitem__(self, index: int) -> Any:
        return self.type(self.values[index])

    @property
    def pointer(self) -> PointerType:
        return PointerType(self.type)

    @property
    def definition(self) -> str:
        """Definition in LLVM IR."""
        kind = self.type.llvm
        elements = ", ".join(f"{kind} {literal(kind, value)}" for value in self.values)
        return f"@{self.symbol} = private constant [{len(self.values)} x {kind}] [{elements}]"
