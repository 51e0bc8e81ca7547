"""Sums with differences among their terms, in the order in which they are written.

``(x - y) - z`` has the digits of ``x - y``, which ``x - (y + z)`` loses where `x` and `y` are nearly the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from aesara.graph.nodes import Variable
from aesara.tensor.elementwise.ops import add, neg, sub
from aesara.tensor.rewriting.helpers import common_value, computed_in
from aesara.tensor.rewriting.written_order import put_together

#: A part of a sum: what is added of it, and whether it is subtracted instead.
Part = tuple[Variable, bool]


def keeps_order(out: Variable, terms: Sequence[Variable]) -> bool:
    """Whether a sum of these terms is computed in the order in which it is written: of floats, with differences."""
    return out.type.dtype[:5] in ("float", "compl") and any(
        var.owner is not None and var.owner.op == sub for var in terms
    )


def sum_in_written_order(
    out: Variable, flat: tuple[list[Variable], list[Variable]], num: Sequence[Variable], denum: Sequence[Variable]
) -> Variable | None:
    """The sum `out` without the terms that have cancelled, in the order in which it is written.

    Parameters
    ----------
    out
        The sum, of sums, differences and opposites.
    flat
        The terms that are added, as they are written, and those that are subtracted.
    num, denum
        Those that are left; constants are one of `num`, which stands where the first of them is written.

    Returns
    -------
    Variable or None
        None if there are terms that are not written: where they stand is open.
    """
    builder = _Builder(out.type.dtype, flat, num, denum)
    result = builder.total(out)
    return None if builder.is_incomplete() or result is None else result


class _Builder:
    def __init__(
        self,
        dtype: str,
        flat: tuple[list[Variable], list[Variable]],
        num: Sequence[Variable],
        denum: Sequence[Variable],
    ):
        self.dtype = dtype
        self.leaves = [Counter(side) for side in flat]
        self.constants = [v for v in num if common_value(v) is not None]
        self.left = [Counter(v for v in num if common_value(v) is None), Counter(denum)]
        self.made: set[Variable] = set()

    def is_incomplete(self) -> bool:
        """Whether there are terms that have not been met."""
        return bool(self.constants) or any(count > 0 for side in self.left for count in side.values())

    def total(self, out: Variable) -> Variable | None:
        """What is left of the sum."""
        part = put_together(out, self.leaves, (sub, neg), self._leaf, lambda node, parts: self._sum(parts))
        if part is None:
            return None
        result, negative = part
        return computed_in(self.dtype, neg, [result]) if negative else result

    def _leaf(self, var: Variable, side: int) -> Part | None:
        if self.left[side][var] > 0:
            self.left[side][var] -= 1
            return var, bool(side)
        return (self.constants.pop(), False) if self.constants and common_value(var) is not None else None

    def _sum(self, parts: Sequence[Part | None]) -> Part | None:
        """The parts that are left, in their order; signs alone do not change how sums are rounded."""
        terms: list[Variable] = []
        is_negative = False
        for var, negative in filter(None, parts):
            if not terms:
                is_negative = negative
            if negative == is_negative:
                terms.append(var)
            else:
                operands = [self._added(terms), var]
                terms = [computed_in(self.dtype, sub, operands[::-1] if is_negative else operands)]
                is_negative = False
        return (self._added(terms), is_negative) if terms else None

    def _added(self, terms: Sequence[Variable]) -> Variable:
        if len(terms) == 1:
            return terms[0]
        first = terms[0]
        if first in self.made and first.owner is not None:
            terms = [*first.owner.inputs, *terms[1:]]  # sums are computed from left to right
        total = computed_in(self.dtype, add, terms)
        self.made.add(total)
        return total
