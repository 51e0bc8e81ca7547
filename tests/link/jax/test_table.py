"""Every row of the op table, compiled by JAX."""

import numpy as np
import pytest

import tests.optable.rows  # noqa: F401
from tests.optable.comparison import unlike
from tests.optable.faults import rows_for
from tests.optable.running import Graphs, called, drawn, flat
from tests.optable.table import ROWS

#: relative and absolute tolerances: XLA's functions are within some units of the last place
TOLERANCES = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-9, "complex64": 2e-5, "complex128": 1e-9}


def complaint(got, want):
    """What is wrong with a result; None if nothing is."""
    got = np.asarray(got)
    wrong = unlike(got, want)
    if wrong:
        return wrong
    tolerance = TOLERANCES.get(str(want.dtype), 0)
    scale = np.max(np.abs(want[np.isfinite(want)]), initial=1.0) if want.dtype.kind in "fc" else 1
    if not np.allclose(got, want, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        return f"got {got.ravel()[:8]}, expected {want.ravel()[:8]}"
    return None


def complaints_of(row, cases, salt=0):
    graphs = Graphs.of(row, cases)
    values = drawn(row, cases, salt)
    function = graphs.compile("JAX")
    results = graphs.grouped(called(function, flat(values)))
    assert len(results) == len(cases) > 0
    found = []
    for case, variables, given, got in zip(graphs.cases, graphs.outputs, values, results):
        wanted = row.expect(case, given)
        assert len(wanted) == len(got) == len(variables) > 0
        for variable, one, want in zip(variables, got, wanted):
            text = complaint(one, np.asarray(want, dtype=variable.type.dtype))
            if text:
                found.append(f"{case}: {text}")
    return found


@rows_for("JAX", ROWS.values())
def test_results(row):
    """The oracle's values, and the dtypes and shapes that the graph promises."""
    found = complaints_of(row, row.cases)
    if found:
        pytest.fail("\n".join(found[:12]), pytrace=False)
