"""Supports of cotangents: the entries that may be other than zero, because of the structure of a graph.

The cotangent of ``sqrt(m)`` in ``sqrt(m)[0, 0]`` is zero outside of one entry, whatever `m` is.  Zero times the slope
there, which may be infinite, has to stay zero.  `pull_back` carries with each cotangent its support: `FULL`, `EMPTY`,
or an expression of conditions, of which the mask (a Boolean array) is built only where it is needed.

Nothing here knows tensors.  Types say by `select` how entries outside of a support become zero, and by `structure_of`
which support a term of a gradient has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import singledispatch
from itertools import product
from typing import Any

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Variable
from aesara.graph.null_type import NullType
from aesara.graph.type import Type
from aesara.records import dataclass

#: Conditions up to which unions and intersections are simplified.
MOST_CONDITIONS = 6


class Support:
    """A set of entries; two of the same key are equal."""

    __slots__ = ("_mask", "key")

    def __init__(self, key: Any):
        self.key = key
        self._mask: Any = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Support) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Support({self.key})"

    @property
    def is_partial(self) -> bool:
        """True if entries may be outside, so that a mask says which."""
        return self is not FULL and self is not EMPTY

    def mask(self) -> Any:
        """Return the Boolean variable that is true at the entries; it broadcasts to the cotangent."""
        if self._mask is None:
            self._mask = self._build()
        return self._mask

    def _build(self) -> Any:
        raise ValueError("A support that holds all entries, or none, has no mask.")

    @property
    def is_of_row(self) -> bool:
        """True if the entries are others for each row of a Jacobian."""
        return any(condition.is_of_row for condition in self.atoms())

    def atoms(self) -> frozenset[Condition]:
        """Return the conditions that the set is an expression of."""
        return frozenset()

    def holds(self, values: Mapping[Condition, bool]) -> bool:
        """Evaluate the expression for an entry at which the conditions have these values."""
        return self is FULL

    def map_conditions(self, change: Callable[[Condition], Support]) -> Support:
        """Return the same expression of other conditions.

        `change` has to commute with complements, unions and intersections, as moving entries does.
        """
        return self


FULL = Support("full")
EMPTY = Support("empty")


class Condition(Support):
    """The entries at which a condition holds.

    Parameters
    ----------
    key
        Equal for conditions that hold at the same entries.
    build
        Makes the mask.
    is_of_row
        Whether the mask is another one for each row of a Jacobian.
    """

    __slots__ = ("_is_of_row", "build")

    def __init__(self, key: Any, build: Callable[[], Any], is_of_row: bool = False):
        super().__init__(key)
        self.build = build
        self._is_of_row = is_of_row

    @property
    def is_of_row(self) -> bool:
        return self._is_of_row

    def _build(self) -> Any:
        return self.build()

    def atoms(self) -> frozenset[Condition]:
        return frozenset((self,))

    def holds(self, values: Mapping[Condition, bool]) -> bool:
        return values[self]

    def map_conditions(self, change: Callable[[Condition], Support]) -> Support:
        return change(self)


class Outside(Support):
    """The entries at which a condition does not hold."""

    __slots__ = ("condition",)

    def __init__(self, condition: Condition):
        super().__init__(("not", condition.key))
        self.condition = condition

    def _build(self) -> Any:
        return ~self.condition.mask()

    def atoms(self) -> frozenset[Condition]:
        return frozenset((self.condition,))

    def holds(self, values: Mapping[Condition, bool]) -> bool:
        return not values[self.condition]

    def map_conditions(self, change: Callable[[Condition], Support]) -> Support:
        return complement(change(self.condition))


class Junction(Support):
    """A union or an intersection of supports."""

    __slots__ = ("is_union", "parts")

    def __init__(self, is_union: bool, parts: tuple[Support, ...]):
        super().__init__(("or" if is_union else "and", frozenset(part.key for part in parts)))
        self.is_union = is_union
        self.parts = parts

    def _build(self) -> Any:
        mask, *others = (part.mask() for part in self.parts)
        for other in others:
            mask = mask | other if self.is_union else mask & other
        return mask

    def atoms(self) -> frozenset[Condition]:
        return frozenset[Condition]().union(*(part.atoms() for part in self.parts))

    def holds(self, values: Mapping[Condition, bool]) -> bool:
        return (any if self.is_union else all)(part.holds(values) for part in self.parts)

    def map_conditions(self, change: Callable[[Condition], Support]) -> Support:
        return _join(self.is_union, [part.map_conditions(change) for part in self.parts])


def union(*supports: Support) -> Support:
    """Return the entries of any of the supports.

    Examples
    --------
    >>> c = Condition("c", lambda: None)
    >>> union(c, EMPTY) is c, union(c, complement(c)) is FULL
    (True, True)
    """
    return _join(True, supports)


def intersection(*supports: Support) -> Support:
    """Return the entries that all supports have in common.

    Examples
    --------
    >>> c = Condition("c", lambda: None)
    >>> intersection(c, FULL) is c, intersection(c, complement(c)) is EMPTY
    (True, True)
    """
    return _join(False, supports)


def _join(is_union: bool, supports: Iterable[Support]) -> Support:
    absorbing, neutral = (FULL, EMPTY) if is_union else (EMPTY, FULL)
    parts: dict[Support, None] = {}
    for support in supports:
        if support is absorbing:
            return absorbing
        if isinstance(support, Junction) and support.is_union == is_union:
            parts.update(dict.fromkeys(support.parts))
        elif support is not neutral:
            parts[support] = None
    if not parts:
        return neutral
    if len(parts) == 1:
        return next(iter(parts))
    return _without_idle_conditions(Junction(is_union, tuple(parts)))


def _without_idle_conditions(support: Support) -> Support:
    """Return an expression without the conditions that it does not depend on, as ``c`` in ``c & d | ~c & d``.

    Expressions of many conditions are left as they are.
    """
    atoms = tuple(support.atoms())
    if len(atoms) > MOST_CONDITIONS:
        return support
    rows = list(product((False, True), repeat=len(atoms)))
    table = {row: support.holds(dict(zip(atoms, row))) for row in rows}
    if len(set(table.values())) == 1:
        return FULL if table[rows[0]] else EMPTY
    for k, atom in enumerate(atoms):
        if all(table[row] == table[(*row[:k], not row[k], *row[k + 1 :])] for row in rows):
            return _with_full_condition(support, atom)
    return support


def _with_full_condition(support: Support, full: Condition) -> Support:
    """Return an expression with one condition replaced by `FULL`."""
    return support.map_conditions(lambda atom: FULL if atom == full else atom)


def complement(support: Support) -> Support:
    """Return the entries that are outside of a support.

    Examples
    --------
    >>> c = Condition("c", lambda: None)
    >>> complement(complement(c)) is c
    True
    """
    if support is FULL or support is EMPTY:
        return EMPTY if support is FULL else FULL
    if isinstance(support, Outside):
        return support.condition
    if isinstance(support, Junction):
        return _join(not support.is_union, [complement(part) for part in support.parts])
    assert isinstance(support, Condition)
    return Outside(support)


@singledispatch
def select(variable_type: Type, value: Any, support: Support) -> Any:
    """Return `value` with zeros outside of a partial or empty support.

    Dispatches on the type of the value.
    """
    raise NotImplementedError(f"Variables of type {variable_type} have no supports.")


@dataclass(frozen=True, eq=False)
class Supported:
    """A cotangent or tangent, with its support.

    Attributes
    ----------
    value
        The variable.
    support
        The entries that may be other than zero.
    is_clean
        Whether the others are zero in `value`; else they may be anything, NaN for example.
    """

    value: Any
    support: Support = FULL
    is_clean: bool = True

    def apply_support(self) -> Any:
        """Return the value with zeros outside of the support."""
        if self.is_clean or self.support is FULL:
            return self.value
        return select(self.value.type, self.value, self.support)


@singledispatch
def structure_of(term_type: Type, term: Variable, known: Mapping[Variable, Supported]) -> Supported:
    """Return a term that an op's pullback has made, with the support that it has by its structure.

    Dispatches on the type of the term.

    Parameters
    ----------
    term
        An expression of variables of `known` and constants.
    known
        The inputs and outputs of the op, and the cotangents of these with their supports.
    """
    return Supported(term)


def is_flowing(variable: Variable) -> bool:
    """Return whether `variable` is a gradient, and does not stand for one that is missing."""
    return not isinstance(variable.type, (DisconnectedType, NullType))
