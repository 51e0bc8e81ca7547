"""NumPy's sorts of one row, with vector instructions where the processor has them.

They are the functions behind ``np.sort`` and ``np.argsort``, by dtype and kind; `link.llvm.symbols` finds them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.ir.routine import Data, Int64, Null, Parameter, Routine, family, size
from aesara.ir.work import Work

__all__ = ["KINDS", "argsort", "sort"]

#: NumPy's kinds of sorts, and the algorithm of each
KINDS = {"quicksort": "quicksort", "heapsort": "heapsort", "mergesort": "stable", "stable": "stable"}

#: NumPy without the types of its stubs, which enumerate the kinds
_numpy: Any = np

_N = size("n")
#: nanoseconds for each element, and for a call
_ELEMENT, _CALL = 20.0, 50.0
_WORK = Work({(_N,): _ELEMENT, (): _CALL})


@family("sort")
def sort(kind: str, dtype: str) -> Routine:
    """Sort a row in place; NaN comes last."""

    def reference(values: dict[str, Any], row: np.ndarray, *status: np.ndarray) -> None:
        row[:] = _numpy.sort(row, kind=kind)
        for one in status:
            one[...] = 0

    return Routine(
        name=f"sort.{kind}.{dtype}",
        title="sort of rows",
        symbol=f"numpy.sort.{kind}.{dtype}",
        sizes=("n",),
        parameters=(Parameter("row", dtype, (_N,), is_written=True), *_status(kind)),
        arguments=(Data("row"), Int64(_N), Null()),
        work=_WORK,
        reference=reference,
        returns="status" if _status(kind) else None,
    )


@family("argsort")
def argsort(kind: str, dtype: str) -> Routine:
    """Sort positions by the elements at them."""

    def reference(values: dict[str, Any], row: np.ndarray, places: np.ndarray, *status: np.ndarray) -> None:
        places[:] = places[_numpy.argsort(row[places], kind=kind)]
        for one in status:
            one[...] = 0

    return Routine(
        name=f"argsort.{kind}.{dtype}",
        title="sort of the positions in rows",
        symbol=f"numpy.argsort.{kind}.{dtype}",
        sizes=("n",),
        parameters=(
            Parameter("row", dtype, (_N,)),
            Parameter("places", "int64", (_N,), is_written=True),
            *_status(kind),
        ),
        arguments=(Data("row"), Data("places"), Int64(_N), Null()),
        work=_WORK,
        reference=reference,
        returns="status" if _status(kind) else None,
    )


def _status(kind: str) -> tuple[Parameter, ...]:
    """Return the status parameter of stable sorts, which is not zero if they find no memory."""
    return (Parameter("status", "int64", (), is_read=False, is_written=True),) if kind == "stable" else ()
