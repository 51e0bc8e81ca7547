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

#: rows whose results have a shape that depends on the values of an argument: which one, and what decides
SHAPES_OF_DATA = {
    **dict.fromkeys(("nonzero", "flatnonzero", "nonzero_values", "argwhere"), (0, "which elements are zero")),
    "extract": (0, "which elements are true"),
    **dict.fromkeys(("compress", "truth values as index"), (1, "which elements are true")),
    "unique": (0, "which elements are different"),
    **dict.fromkeys(("null_space", "orth"), (0, "which singular values are large")),
}


def complaint(got, want):
    """Return the fault of a result, or None."""
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


@rows_for("JAX", [r for r in ROWS.values() if r.name not in SHAPES_OF_DATA])
def test_results(row):
    """The oracle's values, and the dtypes and shapes that the graph promises."""
    found = complaints_of(row, row.cases)
    if found:
        pytest.fail("\n".join(found[:12]), pytrace=False)


@pytest.mark.parametrize("name", SHAPES_OF_DATA)
def test_shapes_that_depend_on_data(name):
    """A vector of integers is known when XLA compiles; other arguments are not, and the error says so."""
    row, (position, _) = ROWS[name], SHAPES_OF_DATA[name]
    known = [np.dtype(c.args[position].dtype).kind in "iu" and len(c.args[position].shape) == 1 for c in row.cases]
    assert not all(known)
    for case, is_known in zip(row.cases, known):
        if is_known:
            assert not complaints_of(row, [case])
        else:
            with pytest.raises(TypeError, match="has to be known when XLA compiles"):
                complaints_of(row, [case])
