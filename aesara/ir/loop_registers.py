"""Plan of the registers of a loop that is one kernel; see `loop_kernels`.

A value that later iterations read is shifted through registers, one for each iteration until its last use. Of ring
buffers, and of buffers with one row, only the last rows are stored, after the loop; they are in registers until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aesara.ir.expr import Expr, var, walk
from aesara.ir.loop_iteration import NotConvertible, RowElement

__all__ = ["RegisterPlan"]

#: limits of the rows and the elements of a ring buffer that is stored after the loop
_MAX_RING_ROWS, _MAX_RING_ELEMENTS = 4, 32


class RegisterPlan:
    """Registers of the values that an iteration stores; ``x<k>_<m>`` is value number `k` of `m` iterations before.

    Parameters
    ----------
    stored
        Values that an iteration stores.
    read
        Variables that stand for values of earlier iterations.
    written
        Buffers outside of the loop that it writes.

    Attributes
    ----------
    depths
        For each value that later iterations read, how many iterations it is kept.
    kept_rows
        Buffers of which only the last rows are stored, with the number of these.
    """

    def __init__(
        self, stored: Mapping[RowElement, Expr], read: Mapping[RowElement, Expr], written: Iterable[str]
    ) -> None:
        self._columns: dict[tuple[str, int], RowElement] = {}
        for element in stored:
            if self._columns.setdefault(element.column, element) != element:
                raise NotConvertible("two writes to one column of a buffer")
        self._numbers = {element: k for k, element in enumerate(stored)}
        self.depths: dict[RowElement, int] = {}
        for element in read:
            source = self._columns.get(element.column)
            if source is None:
                raise NotConvertible("a read of a column that is not written")
            distance = _distance(source, element)
            if distance < 1 or element.ahead < 0 or not _has_room(element.ring, source.ahead):
                raise NotConvertible("a read that is not of an earlier iteration")
            self.depths[source] = max(self.depths.get(source, 0), distance)
        self.kept_rows = {root: rows for root in written if (rows := _kept_rows(root, stored))}

    def registers(self, read: Mapping[RowElement, Expr]) -> dict[Expr, Expr]:
        """Return the register for each variable that stands for a value of an earlier iteration."""
        found = {}
        for element, stand_in in read.items():
            source = self._columns[element.column]
            found[stand_in] = var(f"x{self._numbers[source]}_{_distance(source, element)}", stand_in.dtype)
        return found

    def count_dependents(self, stored: Mapping[RowElement, Expr], read: Mapping[RowElement, Expr]) -> list[int]:
        """Count, for each value of an iteration, the others that depend on its previous value."""
        numbers = {stand_in: self._numbers[self._columns[element.column]] for element, stand_in in read.items()}
        dependents = [0] * len(stored)
        for k, value in enumerate(stored.values()):
            for number in {numbers[e] for e in walk([value]) if e in numbers} - {k}:
                dependents[number] += 1
        return dependents


def _distance(source: RowElement, element: RowElement) -> int:
    """Return how many iterations before a value was stored that is read as `element`."""
    return 1 if element.rows == 0 else source.ahead - element.ahead


def _has_room(ring: Expr | None, ahead: int) -> bool:
    """Return whether a ring buffer has room for the current row in addition to `ahead` earlier ones."""
    return ring is None or ring.least > ahead


def _kept_rows(root: str, stored: Iterable[RowElement]) -> int:
    """Return the number of rows of a buffer if it is small enough to be stored after the loop; 0 otherwise."""
    elements = [element for element in stored if element.root == root]
    rows = {_rows_of(element) for element in elements}
    kept = rows.pop() if len(rows) == 1 else None
    return kept if kept and kept <= _MAX_RING_ROWS and len(elements) * kept <= _MAX_RING_ELEMENTS else 0


def _rows_of(element: RowElement) -> int | None:
    """Return the number of rows of a buffer, if it is constant."""
    if not element.rows:
        return 1
    return int(element.ring.attr) if element.ring is not None and element.ring.is_const else None
