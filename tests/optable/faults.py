"""Faults that the table has found and that are still there: each is expected to fail until it is mended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.optable.table import Row

#: by test and row, with the reason
OPEN: dict[tuple[str, str], str] = {
    (
        "special values",
        "zeta",
    ): "at the largest numbers native code has NaN for 0, as SciPy has",
    ("special values", "kv"): "SciPy's loop for float32, the reference, has NaN at infinity for orders beyond 1e38",
}


def rows_for(test: str, rows: Iterable[Row]) -> Any:
    """Parametrise a test by rows, with marks on those that are known to fail."""
    marked = [
        pytest.param(r, id=r.name, marks=[pytest.mark.xfail(strict=True, reason=OPEN[test, r.name])])
        if (test, r.name) in OPEN
        else pytest.param(r, id=r.name)
        for r in rows
    ]
    return pytest.mark.parametrize("row", marked)
