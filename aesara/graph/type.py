"""Static information about the values of variables."""

from __future__ import annotations

import copy
from abc import ABC
from collections.abc import Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.graph.utils import MetaObject


class Type(MetaObject):
    """The set of values that a variable may take.

    A subclass defines at least `filter`, and ``__props__`` (or ``__eq__`` and ``__hash__``).

    Examples
    --------
    >>> class Double(Type):
    ...     __props__ = ()
    ...     def filter(self, value, strict=False, allow_downcast=None):
    ...         if strict and not isinstance(value, float):
    ...             raise TypeError("expected a float")
    ...         return float(value)
    >>> x = Double()("x")
    >>> x.type.is_valid_value(1.0), x.type.is_valid_value("one")
    (True, False)
    """

    #: Class of the variables that `make_variable` makes.
    variable_type: type = Variable
    #: Class of the constants that `make_constant` makes.
    constant_type: type = Constant
    #: Whether values are objects with a state that operations may change, and that a call that fails puts back.
    restorable: bool = False
    #: Whether native code has values of this type as vectors of 64-bit words; see `aesara.ir.generators`.
    in_words: bool = False

    __class_getitem__: Any = classmethod(GenericAlias)

    def in_same_class(self, otype: Type) -> bool | None:
        """Tell whether `otype` belongs to the same class of types; by default, whether it is equal."""
        return self == otype

    def is_super(self, otype: Type) -> bool | None:
        """Tell whether every value of `otype` is a value of this type; None where that cannot be told.

        ``t1.is_super(t2)`` means that a variable of type ``t2`` may take the place of one of type ``t1``.
        """
        if self.in_same_class(otype):
            return True
        return None

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return `data`, or a converted value, that is a value of this type; raise `TypeError` where that
        fails.

        Parameters
        ----------
        data
            A value.
        strict
            Accept only values that need no conversion.
        allow_downcast
            Whether conversions may lose precision; None leaves exceptions to the type.
        """
        raise NotImplementedError(f"{self.__class__.__name__} does not define filter.")

    def filter_inplace(self, value: Any, storage: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Filter `value` into the memory of the old value `storage`; optional."""
        raise NotImplementedError(f"{self.__class__.__name__} does not define filter_inplace.")

    def filter_variable(self, other: Variable | Any, allow_convert: bool = True) -> Variable:
        """Return `other`, or a variable made from it, that fits this type; raise `TypeError` where there is
        none.

        Parameters
        ----------
        other
            A variable, or a value, which becomes a constant.
        allow_convert
            Whether `convert_variable` may be used.
        """
        if not isinstance(other, Variable):
            other = self.make_constant(other)
        if other.type is self or other.type == self:
            return other
        try:
            converted = self.convert_variable(other) if allow_convert else None
        except NotImplementedError:
            converted = None
        if converted is None:
            raise TypeError(
                f"Cannot convert Type {other.type} (of Variable {describe(other)}) into Type {self}. "
                "You can try to manually convert the variable into a " + f"{self}."
            )
        return converted

    def convert_variable(self, var: Variable) -> Variable | None:
        """Return a variable of this type, or of a narrower one, with the value of `var`; None where there is
        none.

        Types that can narrow a variable of a wider type override this; for others it is a NotImplementedError.
        """
        if self.is_super(var.type):
            return var
        if var.type.is_super(self):
            raise NotImplementedError(f"{self} does not say how to convert a variable of the wider type {var.type}.")
        return None

    def is_valid_value(self, data: Any, strict: bool = True) -> bool:
        """Tell whether `data` is a value of this type."""
        try:
            self.filter(data, strict=strict)
            return True
        except (TypeError, ValueError):
            return False

    def external_value(self, value: Any) -> Any:
        """Return a value as users get it; a linker may keep values in cells that are elsewhere than in memory."""
        return value

    def copy_value(self, value: Any) -> Any:
        """Return a value equal to the given one that shares nothing with it."""
        return copy.deepcopy(value)

    def state_of_value(self, value: Any) -> Any:
        """Return what `restore_value` needs; only where values are `restorable`."""
        raise NotImplementedError(f"{self.__class__.__name__} does not define state_of_value.")

    def restore_value(self, value: Any, state: Any) -> None:
        """Put a value back into the state in which it was; only where values are `restorable`."""
        raise NotImplementedError(f"{self.__class__.__name__} does not define restore_value.")

    def seeds_of_value(self, value: Any) -> Any:
        """Return what makes the generators that are spawned from a value; only where values are `in_words`."""
        raise NotImplementedError(f"{self.__class__.__name__} does not define seeds_of_value.")

    def part_types(self) -> Sequence[Type] | None:
        """Return the types of the arrays that a value consists of; None where values do not consist of arrays.

        Native code computes with the parts of such values.  `take_apart` and `put_together` convert.
        """
        return None

    def take_apart(self, value: Any) -> list[Any]:
        """Return the parts of a value, of the `part_types`."""
        raise NotImplementedError(f"{self.__class__.__name__} does not define take_apart.")

    def put_together(self, parts: Sequence[Any]) -> Any:
        """Return the value that consists of the given parts."""
        raise NotImplementedError(f"{self.__class__.__name__} does not define put_together.")

    def make_variable(self, name: str | None = None) -> Variable:
        """Return a new variable of this type."""
        return self.variable_type(self, None, name=name)

    def make_constant(self, value: Any, name: str | None = None) -> Constant:
        """Return a new constant of this type."""
        return self.constant_type(type=self, data=value, name=name)

    def clone(self, *args: Any, **kwargs: Any) -> Type:
        """Return a type of the same Python class with the given parameters."""
        return type(self)(*args, **kwargs)

    def __call__(self, name: str | None = None) -> Variable:
        """Return a new variable of this type."""
        return self.make_variable(name)

    @classmethod
    def values_eq(cls, a: Any, b: Any) -> bool:
        """Tell whether two values are equal."""
        return a == b

    @classmethod
    def values_eq_approx(cls, a: Any, b: Any) -> bool:
        """Tell whether two values are equal but for rounding."""
        return cls.values_eq(a, b)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        # A class may define either of them.
        return self.__class__.__name__ if type(self).__repr__ is Type.__repr__ else repr(self)


class CType(Type):
    """The types that Aesara has in C: numbers, tensors, typed lists, any object.

    For programs that tell these from others (slices, generators). No C code is used here; a type of your own needs
    `Type` only.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara.tensor.type_other import slicetype
    >>> isinstance(at.lscalar().type, CType), isinstance(slicetype, CType)
    (True, False)
    """


class HasDataType(ABC):
    """Types that have a ``dtype``."""

    dtype: str


class HasShape(ABC):
    """Types that have an ``ndim`` and a static ``shape``."""

    shape: tuple[int | None, ...]
    if TYPE_CHECKING:

        @property
        def ndim(self) -> int: ...


__all__ = ["CType", "HasDataType", "HasShape", "Type"]
