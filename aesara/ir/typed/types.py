"""Types of typed Python: numbers of fixed width, pointers, structures and tuples.

ValueType checkers take numbers for Python's `int`, `float` and `bool`.  At run time a number type called with a number
converts it, in typed functions and outside of them:

>>> i32(2**31), u32(-1), i1(1)
(-2147483648, 4294967295, True)
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from aesara.records import dataclass

__all__ = [
    "ArrayPointer", "BOOL", "FLOAT32", "FLOAT64", "Field", "FloatType", "FunctionField", "FunctionType", "INT32",
    "INT64", "Inline", "InlineType", "IntType", "Pointer", "PointerType", "Struct", "StructType", "TupleType",
    "UINT64", "ValueType", "VectorType", "f16", "f32", "f64", "field", "function_field", "function_type", "i1",
    "i128", "i32", "i64", "i8", "llvm_type", "null", "ptr", "type_of_annotation", "u128", "u16", "u32", "u64", "u8",
]  # fmt: skip


class ValueType:
    """A type of values; `llvm` is the type in LLVM IR."""

    if TYPE_CHECKING:

        @property
        def llvm(self) -> str: ...

    def __repr__(self) -> str:
        return self.llvm


@dataclass(frozen=True, repr=False)
class IntType(ValueType):
    """An integer type, which wraps around; `i1` is the type of truth values."""

    bits: int
    signed: bool

    @property
    def llvm(self) -> str:
        return f"i{self.bits}"

    def __repr__(self) -> str:
        return f"{'i' if self.signed else 'u'}{self.bits}"

    def __call__(self, value: Any) -> int | bool:
        number = int(value) & (1 << self.bits) - 1
        if self.bits == 1:
            return bool(number)
        return number - (1 << self.bits) if self.signed and number >> (self.bits - 1) else number


@dataclass(frozen=True, repr=False)
class FloatType(ValueType):
    """A binary floating-point type."""

    llvm: str
    dtype: str

    def __repr__(self) -> str:
        return f"f{self.bits}"

    @property
    def bits(self) -> int:
        return 8 * np.dtype(self.dtype).itemsize

    def __call__(self, value: Any) -> Any:
        return np.dtype(self.dtype).type(value)


@dataclass(frozen=True, repr=False)
class VectorType(ValueType):
    """A vector of numbers; numbers are converted to vectors of equal elements."""

    element: IntType | FloatType
    lanes: int

    @property
    def llvm(self) -> str:
        return f"<{self.lanes} x {self.element.llvm}>"


@dataclass(frozen=True, repr=False)
class TupleType(ValueType):
    """Several values, as a function returns them."""

    elements: tuple[ValueType, ...]

    @property
    def llvm(self) -> str:
        return "{" + ", ".join(element.llvm for element in self.elements) + "}"


@dataclass(frozen=True, repr=False)
class PointerType(ValueType):
    """A pointer to an element of an array; without a target, to any memory."""

    target: ValueType | None = None
    llvm = "ptr"


@dataclass(frozen=True, repr=False)
class InlineType(ValueType):
    """The type of a field that is an array within a structure; its value is a pointer to the first element."""

    target: ValueType
    llvm = "ptr"


@dataclass(frozen=True, repr=False)
class StructType(ValueType):
    """A pointer to a structure; `cls` is the class that declares its fields."""

    cls: type[Struct]
    llvm = "ptr"


#: the types by their names in typed Python; type checkers take the latter for Python's types
BOOL = IntType(1, False)
INT32, INT64, UINT64 = IntType(32, True), IntType(64, True), IntType(64, False)
FLOAT32, FLOAT64 = FloatType("float", "float32"), FloatType("double", "float64")
_T = TypeVar("_T")

if TYPE_CHECKING:
    i1: TypeAlias = bool
    i8: TypeAlias = int
    i32: TypeAlias = int
    i64: TypeAlias = int
    i128: TypeAlias = int
    u8: TypeAlias = int
    u16: TypeAlias = int
    u32: TypeAlias = int
    u64: TypeAlias = int
    u128: TypeAlias = int
    f16: TypeAlias = float
    f32: TypeAlias = float
    f64: TypeAlias = float

    class Pointer(Generic[_T]):
        def __getitem__(self, index: int) -> _T: ...
        def __setitem__(self, index: int, value: _T) -> None: ...
        def __add__(self, count: int) -> Pointer[_T]: ...

    Inline = Pointer
    ptr: TypeAlias = Any
    null: Any = None
else:
    i1, i8, i32, i64, i128 = BOOL, IntType(8, True), INT32, INT64, IntType(128, True)
    u8, u16, u32 = IntType(8, False), IntType(16, False), IntType(32, False)
    u64, u128 = UINT64, IntType(128, False)
    f16, f32, f64 = FloatType("half", "float16"), FLOAT32, FLOAT64
    ptr = PointerType()
    #: the null pointer
    null = None

    class Pointer:
        """Pointer to elements of a type: ``Pointer[f64]``."""

        def __class_getitem__(cls, target: Any) -> PointerType:
            return PointerType(type_of_annotation(target))

    class Inline:
        """Array within a structure: ``places: Inline[ptr] = field(8)``."""

        def __class_getitem__(cls, target: Any) -> InlineType:
            return InlineType(type_of_annotation(target))


class ArrayPointer:
    """Memory that a typed function reads or writes when it runs as Python: elements of an ndarray from a first one.

    Examples
    --------
    >>> a = ArrayPointer(np.arange(5.0))
    >>> float((a + 2)[1])
    3.0
    """

    def __init__(self, values: np.ndarray, first: int = 0) -> None:
        self.values, self.first = values, first

    def __getitem__(self, index: int) -> Any:
        if self.first + index < 0:
            raise IndexError(f"index {self.first + index} is before the first element")
        return self.values[self.first + index]

    def __setitem__(self, index: int, value: Any) -> None:
        if self.first + index < 0:
            raise IndexError(f"index {self.first + index} is before the first element")
        self.values[self.first + index] = value

    def __add__(self, count: int) -> ArrayPointer:
        return ArrayPointer(self.values, self.first + count)


@dataclass(frozen=True)
class Field:
    """A field of a structure, at a byte offset."""

    offset: int


def function_type(result: Any, *parameters: Any) -> FunctionType:
    """Return the type of a function by those of its result, None for no result, and parameters."""
    kind = None if result is None else type_of_annotation(result)
    return FunctionType(kind, tuple(map(type_of_annotation, parameters)))


def function_field(offset: int, result: Any, *parameters: Any) -> Any:
    """Declare a field that holds a pointer to a function, to be called: ``free = function_field(8, None, ptr)``."""
    return FunctionField(offset, function_type(result, *parameters))


def field(offset: int) -> Any:
    """Declare a field of a structure: ``size: i64 = field(8)``."""
    return Field(offset)


@dataclass(frozen=True)
class FunctionType:
    """The type of a pointer to a function, which a structure may hold as a field."""

    result: ValueType | None
    parameters: tuple[ValueType, ...]


@dataclass(frozen=True)
class FunctionField(Field):
    """A field that holds a pointer to a function."""

    function: FunctionType


class Struct:
    """Base class of structures: memory with fields at byte offsets, accessed by pointer.

    ::

        class Pair(Struct):
            first: i64 = field(0)
            second: f64 = field(8)
            next: "Pair" = field(16)
    """

    @classmethod
    @functools.cache
    def field_named(cls, name: str) -> tuple[Field, ValueType | None]:
        """Return a field and its type, None for a pointer to a function.

        Raises
        ------
        AttributeError
            If there is none of this name.
        """
        found = getattr(cls, name, None)
        if not isinstance(found, Field):
            raise AttributeError(f"{cls.__name__} has no field {name}")
        if isinstance(found, FunctionField):
            return found, None
        owner = next(c for c in cls.__mro__ if name in c.__dict__)
        # A string names a class that is defined later, such as this one.
        return found, type_of_annotation(_annotations(owner)[name])


@functools.cache
def _annotations(cls: type) -> dict[str, Any]:
    """Return the annotations of the fields that a class declares itself."""
    return inspect.get_annotations(cls, eval_str=True)


def type_of_annotation(annotation: Any) -> ValueType:
    """Return the type that an annotation, or the target of a pointer, means."""
    if isinstance(annotation, ValueType):
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return StructType(annotation)
    if annotation in (int, float, bool):
        return {int: INT64, float: FLOAT64, bool: BOOL}[annotation]
    elements = getattr(annotation, "__args__", None)
    if getattr(annotation, "__origin__", None) is tuple and elements:
        return TupleType(tuple(map(type_of_annotation, elements)))
    raise TypeError(f"{annotation!r} is no type of typed Python")


def llvm_type(result: ValueType | None) -> str:
    """Return a result type in LLVM IR, ``void`` for None."""
    return "void" if result is None else result.llvm
