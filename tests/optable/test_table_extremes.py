"""Rows of the op table at data that tables seldom have: ties, zeros of both signs, tiny numbers, infinities and NaN.

``AESARA_FUZZ_EXAMPLES`` sets the number of rows, which are the same in each run; with a large number these are all.
The reference and the rewritten native function agree; so do NumPy's functions of their own for NaN.
"""

from __future__ import annotations

import os
import zlib
from typing import Any

import numpy as np
import pytest

import tests.optable.rows  # noqa: F401
from aesara.compile.mode import Mode
from tests.optable.inputs import Arg
from tests.optable.running import Graphs, called, rng_of
from tests.optable.table import ROWS, Case, Row

USUAL = 150
EXAMPLES = int(os.environ.get("AESARA_FUZZ_EXAMPLES", USUAL)) * 120 // USUAL
AS_WRITTEN, NATIVE = Mode("py", None), Mode("llvm", "fast_run")
KINDS = ("ties", "zeros", "signed zeros", "tiny", "special")
#: Rows and kinds of data for which results may differ, with the reason.
EXCUSED = {
    ("batch_normalization", "tiny"): "factors are multiplied before they are divided, which underflows",
    ("pad with ramps", "special"): "a ramp that has no steps is left out, with its infinite number times zero",
}


def changed(value: np.ndarray, kind: str, arg: Arg, rng: np.random.Generator) -> np.ndarray:
    """Values of another kind in the place of some; the same ones for parameters, which are fixed, and for integers."""
    if value.dtype.kind != "f" or not (arg.values is None or np.isnan(value).any()):
        return value
    shape, ones = value.shape, (1.0, 2.0) if arg.low >= 0 else (1.0, 2.0, -1.0)
    made = {
        "ties": lambda: rng.choice(ones, shape),
        "zeros": lambda: np.where(rng.random(shape) < 0.5, 0.0, value),
        "signed zeros": lambda: rng.choice((0.0, -0.0), shape),
        "tiny": lambda: value * 10.0 ** {8: -170, 4: -25, 2: -3}[value.itemsize],
        "special": lambda: np.where(rng.random(shape) < 0.4, rng.choice((np.nan, np.inf, -np.inf, 0.0), shape), value),
    }[kind]()
    return np.asarray(made).astype(value.dtype)


def agree(got: np.ndarray, want: np.ndarray) -> bool:
    """Whether two results are the same but for rounding errors in proportion to the largest number."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if want.dtype.kind not in "fc":
        return np.array_equal(got, want)
    finite = np.abs(want[np.isfinite(want)])
    relative = 1e-9 if want.dtype.name in ("float64", "complex128") else 3e-3
    return np.allclose(got, want, rtol=relative, atol=relative * finite.max(initial=0.0), equal_nan=True)


def is_floating(case: Case) -> bool:
    return any(arg.dtype in ("float32", "float64") for arg in case.args)


def complaints(row: Row) -> list[str]:
    """Describe results of the first cases that differ."""
    return [text for case in list(filter(is_floating, row.cases))[:3] for text in complaints_of(row, case)]


def complaints_of(row: Row, case: Case) -> list[str]:
    graphs = Graphs.of(row, [case])
    functions = [graphs.compile(AS_WRITTEN), graphs.compile(NATIVE)]
    found = []
    for k, kind in enumerate(KINDS):
        if (row.name, kind) in EXCUSED:
            continue
        rng = rng_of(row, 100 + k)
        values = [changed(arg.draw(rng), kind, arg, rng) for arg in case.args]
        want, got = (outcome(function, values) for function in functions)
        if isinstance(got, Exception) or isinstance(want, Exception):
            if isinstance(got, Exception) != isinstance(want, Exception):
                found.append(f"{row}, {kind}: {got!r:.200} instead of {want!r:.200}")
            continue
        pairs = list(zip(got, want))
        if row.name.startswith("nan"):
            pairs += [(a, b.astype(a.dtype)) for a, b in zip(want, row.expect(case, values))]
        for a, b in pairs:
            if not agree(np.asarray(a), np.asarray(b)):
                found.append(f"{row}{case}, {kind}: {a} instead of {b} for {values}")
    return found


def outcome(function: Any, values: list[np.ndarray]) -> Any:
    try:
        return called(function, values)
    except Exception as error:
        return error


CHOSEN = sorted(
    (row for row in ROWS.values() if row.fuzzed and any(map(is_floating, row.cases))),
    key=lambda row: zlib.crc32(row.name.encode()),
)


@pytest.mark.parametrize("piece", range(4))
def test_unusual_data(piece):
    found = [text for row in CHOSEN[:EXAMPLES][piece::4] for text in complaints(row)]
    if found:
        pytest.fail("\n".join(found[:6]) + f"\n{len(found)} complaints", pytrace=False)
