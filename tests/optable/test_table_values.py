"""Every row of the op table: results, dtypes, shapes and Python nodes, by the reference and natively."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

import tests.optable.rows  # noqa: F401
from tests.optable.faults import rows_for
from tests.optable.inputs import FLOATS, LAYOUTS, Arg
from tests.optable.running import MODES, Graphs, called, drawn, flat, judge, unexcused
from tests.optable.table import ROWS, Case
from tests.unoptimized import unoptimized


def assert_nothing(complaints):
    if complaints:
        pytest.fail("\n".join(complaints[:12]) + f"\n{len(complaints)} complaints", pytrace=False)


def complaints_of(graphs, function, values, salt="", truth=True, layout=np.asarray):
    got = graphs.grouped(called(function, [layout(v) for v in flat(values)]))
    assert len(got) == len(values) == len(graphs.cases) > 0 and all(got), f"{graphs.row}: nothing to compare"
    return [
        f"{salt}{text}"
        for case, variables, given, results in zip(graphs.cases, graphs.outputs, values, got)
        for text in judge(graphs.row, case, variables, given, results, truth)
    ]


@rows_for("results", ROWS.values())
def test_results(row):
    """Values and dtypes are the oracle's; shapes agree with what the types promise; nothing runs in Python."""
    graphs = Graphs.of(row, row.cases)
    values = drawn(row, row.cases)
    found = []
    for mode in MODES:
        function = graphs.compile(MODES[mode])
        found += complaints_of(graphs, function, values, salt=f"{mode}: ")
        if mode == "native":
            found += unexcused(function, row.python)
            for name, layout in LAYOUTS.items():
                found += complaints_of(graphs, function, values, salt=f"{name}: ", layout=layout)
    assert_nothing(found)


#: functions of complex numbers that have no native form
REAL_NATIVELY = {"psi", "erf", "gamma", "isfinite", "sinc"}


@rows_for("dtypes", [r for r in ROWS.values() if r.cases_by_dtype])
def test_dtypes(row):
    """The same over dtypes."""
    found = []
    for is_complex in False, True:
        cases = [c for c in row.cases_by_dtype if any("complex" in a.dtype for a in c.args) == is_complex]
        if not cases:  # the row has cases of the other kind
            continue
        graphs = Graphs.of(row, cases)
        values = drawn(row, cases, 1)
        for mode in MODES:
            function = graphs.compile(MODES[mode])
            found += complaints_of(graphs, function, values, salt=f"{mode}: ")
            if mode == "native" and not (is_complex and (row.python or row.name in REAL_NATIVELY)):
                found += [text for text in unexcused(function, row.python) if "runs in Python:" in text]
    assert_nothing(found)


@rows_for("static shapes", ROWS.values())
@pytest.mark.parametrize("static", ["known", "partly"])
def test_static_shapes(row, static):
    """Types that know lengths give the same results, and what they say of shapes is true.

    LLVM's passes run for loops of which all lengths are known, or none (`test_results`).
    """
    graphs = Graphs.of(row, row.cases, static)
    values = drawn(row, row.cases)
    with unoptimized() if static == "partly" else contextlib.nullcontext():
        function = graphs.compile(MODES["native"])
    assert_nothing(complaints_of(graphs, function, values))


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan]
EXTREME = ["max", "-max", "tiny", "-smallest_subnormal"]


def special_values(dtype, count):
    """All combinations of special values for some inputs, as vectors."""
    info = np.finfo(dtype)
    extreme = [float(info.max), -float(info.max), float(info.tiny), -float(info.smallest_subnormal), 800.0]
    chosen = {1: SPECIAL + extreme, 2: SPECIAL + extreme[:3], 3: SPECIAL[:2] + SPECIAL[4:5] + SPECIAL[6:]}
    grid = np.meshgrid(*[np.array(chosen.get(count, SPECIAL[3:]), dtype)] * count, indexing="ij")
    return [v.reshape(-1) for v in grid]


def takes_floats(row):
    """Return whether the first case of a row has float64 inputs, and beside them only floats and booleans."""
    dtypes = {a.dtype for a in row.cases[0].args}
    return "float64" in dtypes and dtypes <= {*FLOATS, "bool"}


@rows_for("special values", [r for r in ROWS.values() if r.special_values and takes_floats(r)])
def test_special_values(row):
    """NaN, infinities, zeros with signs, the largest and the smallest numbers."""
    found = []
    cases, values = [], []
    for dtype in FLOATS:
        args = tuple(Arg((1,), dtype) if a.dtype == "float64" else a for a in row.cases[0].args)
        given = special_values(dtype, sum(a.dtype == dtype for a in args))
        rest = iter(given)
        cases.append(Case(args))
        values.append([next(rest) if a.dtype == dtype else np.arange(given[0].size) % 2 == 0 for a in args])
    graphs = Graphs.of(row, [Case(tuple(replace(a, static=None, shape=(1,)) for a in c.args)) for c in cases])
    for mode in MODES:
        found += complaints_of(graphs, graphs.compile(MODES[mode]), values, salt=f"{mode}: ", truth=False)
    assert_nothing(found)
