"""The type of lists of elements of the same type."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.type import CType, Type

__all__ = ["TypedListType"]


class TypedListType(CType):
    """The type of lists of elements of one type.

    Parameters
    ----------
    ttype
        The type of the elements, which may be lists themselves.
    depth
        The number of additional levels of nesting.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> TypedListType(at.dvector)
    TypedList <TensorType(float64, (?,))>
    >>> TypedListType(at.dvector, depth=1) == TypedListType(TypedListType(at.dvector))
    True
    """

    def __init__(self, ttype: Type, depth: int = 0):
        if not isinstance(ttype, Type):
            raise TypeError(f"Expected an Aesara Type; got {ttype!r}.")
        if not isinstance(depth, int) or depth < 0:
            raise ValueError(f"Please specify a depth superior or equal to 0; got {depth!r}.")
        self.ttype: Type = TypedListType(ttype, depth - 1) if depth else ttype

    def clone(self, ttype: Type | None = None, depth: int = 0, **kwargs: object) -> TypedListType:
        """Return the same type, or the type of lists of other elements."""
        return type(self)(self.ttype if ttype is None else ttype, depth)

    def filter(self, x: object, strict: bool = False, allow_downcast: bool | None = None) -> list:
        """Return a list of the elements, converted by the type of the elements.

        Raises
        ------
        TypeError
            If an element cannot be converted, or, with ``strict=True``, if `x` is not a list.
        """
        if strict and not isinstance(x, list):
            raise TypeError(f"Expected a list; got {x!r} of type {type(x).__name__}.")
        if isinstance(x, (str, bytes)) or not hasattr(x, "__iter__"):
            raise TypeError(f"Expected a sequence of values of type {self.ttype}; got {x!r}.")
        return [self.ttype.filter(element, strict, allow_downcast) for element in x]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedListType) and type(self) is type(other) and self.ttype == other.ttype

    def __hash__(self) -> int:
        return hash((type(self), self.ttype))

    def __str__(self) -> str:
        return f"TypedList <{self.ttype}>"

    __repr__ = __str__

    def is_super(self, otype: Type) -> bool | None:
        """Return whether every list of `otype` is one of this type."""
        return isinstance(otype, TypedListType) and bool(self.ttype.is_super(otype.ttype))

    def get_depth(self) -> int:
        """Return the number of levels of nesting."""
        return 1 + self.ttype.get_depth() if isinstance(self.ttype, TypedListType) else 0

    def values_eq(self, a: Sequence[object], b: Sequence[object]) -> bool:  # type: ignore[override]
        """Return whether two lists have equal elements."""
        return len(a) == len(b) and all(map(self.ttype.values_eq, a, b))

    def values_eq_approx(self, a: Sequence[object], b: Sequence[object], **options: object) -> bool:  # type: ignore[override]
        """Return whether two lists have elements that are equal up to rounding errors."""
        return len(a) == len(b) and all(self.ttype.values_eq_approx(x, y, **options) for x, y in zip(a, b))

    def may_share_memory(self, a: object, b: object) -> bool:
        """Return whether two values are the same list, or have elements that may share memory."""
        if a is b:
            return True
        shares = getattr(self.ttype, "may_share_memory", None)
        if not isinstance(a, list) or shares is None:
            return False
        others = b if isinstance(b, list) else [b]
        return any(shares(x, y) for x in a for y in others)

    @property
    def dtype(self) -> Type:
        """The type of the elements."""
        return self.ttype

    @property
    def ndim(self) -> int:
        """The number of dimensions of the elements, plus one."""
        return self.ttype.ndim + 1  # type: ignore[attr-defined]

    @property
    def shape(self) -> tuple[None, ...]:
        """The static shape, in which all lengths are unknown."""
        return (None,) * self.ndim
