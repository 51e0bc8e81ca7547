"""Cases of a row as compiled functions, and how their results are judged."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import aesara
from aesara.compile.mode import Mode
from aesara.configdefaults import config
from aesara.graph.nodes import Variable
from aesara.tensor.type import TensorType
from tests.optable.comparison import beyond_bound, beyond_ulps, unequal, unlike
from tests.optable.inputs import Arg
from tests.optable.table import Case, Row
from tests.optable.truth import true_values

#: by the reference linker, nearly as written; and natively, rewritten
MODES = {"reference": "FAST_COMPILE", "native": Mode("llvm", "fast_run")}


def rng_of(row: Row, salt: int = 0) -> np.random.Generator:
    """Random numbers that are the same in each run."""
    return np.random.default_rng([zlib.crc32(row.name.encode()), salt])


def variable_of(arg: Arg, name: str, static: str = "unknown") -> Variable:
    """The symbolic input: with no known lengths, all, or every second."""
    given = arg.static or (None,) * len(arg.shape)
    if static == "known":
        given = arg.shape
    elif static == "partly":
        given = tuple(n if k % 2 == 0 else g for k, (n, g) in enumerate(zip(arg.shape, given)))
    return TensorType(arg.dtype, shape=given)(name)


def compiled(inputs: Sequence[Variable], outputs: Sequence[Variable], mode: Any, **options: Any) -> Any:
    """A function of all inputs, with the checks of the compiler switched on."""
    with warnings.catch_warnings(), config.change_flags(native_verify=True, on_opt_error="raise"):
        warnings.simplefilter("ignore")
        return aesara.function(inputs, outputs, mode=mode, on_unused_input="ignore", **options)


def called(function: Any, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return list(function(*values))


@dataclass
class Graphs:
    """The cases of a row in one graph."""

    row: Row
    cases: Sequence[Case]
    inputs: list[list[Variable]]
    outputs: list[list[Variable]]

    @classmethod
    def of(cls, row: Row, cases: Iterable[Case], static: str = "unknown") -> Graphs:
        cases = list(cases)
        inputs = [[variable_of(a, f"x{i}_{k}", static) for k, a in enumerate(c.args)] for i, c in enumerate(cases)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs = [row.apply(c, variables) for c, variables in zip(cases, inputs)]
        return cls(row, cases, inputs, outputs)

    def flat_inputs(self) -> list[Variable]:
        return [v for variables in self.inputs for v in variables]

    def flat_outputs(self) -> list[Variable]:
        return [v for variables in self.outputs for v in variables]

    def compile(self, mode: Any) -> Any:
        return compiled(self.flat_inputs(), self.flat_outputs(), mode)

    def grouped(self, results: Sequence[Any]) -> list[list[Any]]:
        """Results of a call, for each case."""
        rest = iter(results)
        return [[next(rest) for _ in variables] for variables in self.outputs]


def drawn(row: Row, cases: Sequence[Case], salt: int = 0) -> list[list[np.ndarray]]:
    """Values for each case."""
    rng = rng_of(row, salt)
    return [[a.draw(rng) for a in c.args] for c in cases]


def flat(values: Sequence[Sequence[Any]]) -> list[Any]:
    return [v for group in values for v in group]


def python_nodes(function: Any) -> dict[str, str]:
    """The ops that the native function runs in Python, with the reasons; all if it was declined."""
    native = getattr(function, "_native", None)
    if native is None:
        return {"(declined)": "the native linker declined the graph"}
    return {str(node.op): reason for node, reason in native.report.python_nodes.items()}


def unexcused(function: Any, excuses: Mapping[str, str]) -> list[str]:
    """The Python nodes that no excuse names, and the excuses that nothing needs."""
    nodes = python_nodes(function)
    silent = [op for op in nodes if not any(re.search(pattern, op) for pattern in excuses)]
    useless = [pattern for pattern in excuses if not any(re.search(pattern, op) for op in nodes)]
    return [f"{op} runs in Python: {nodes[op]}" for op in silent] + [f"nothing runs in Python as {p}" for p in useless]


def judge(row: Row, case: Case, variables: Sequence[Variable], values: Sequence[np.ndarray], got: Sequence[Any],
          truth: bool = True) -> list[str]:  # fmt: skip
    """Describe the wrong results of a case."""
    want = row.expect(case, values)
    if len(want) != len(got):
        return [f"{case}: {len(got)} results, expected {len(want)}"]
    dtypes = row.dtypes_of(case, want)
    found = []
    for k, (variable, result, expected, dtype) in enumerate(zip(variables, got, want, dtypes)):
        complaint = unlike(result, expected, dtype) or unlike_type(variable, result)
        if complaint is None:
            complaint = judge_values(row, case, values, k, np.asarray(result), expected.astype(dtype), truth)
        if complaint is not None:
            found.append(f"{case}, output {k}: {complaint}")
    return found


def unlike_type(variable: Variable, result: np.ndarray) -> str | None:
    """Describe a dtype or shape that contradicts the variable's type, or return None."""
    if not isinstance(variable.type, TensorType):
        return None
    if variable.type.dtype != str(result.dtype):
        return f"dtype {result.dtype}, the type says {variable.type.dtype}"
    shape = variable.type.shape
    if len(shape) != result.ndim or any(s is not None and s != n for s, n in zip(shape, result.shape)):
        return f"shape {result.shape}, the type says {shape}"
    return None


def judge_values(row: Row, case: Case, values: Sequence[np.ndarray], k: int, got: np.ndarray, want: np.ndarray,
                 truth: bool) -> str | None:  # fmt: skip
    if not row.signed_zeros and got.dtype.kind == "f":
        got, want = got + 0, want + 0
    if row.elementwise and "c" in {v.dtype.kind for v in [got, *values]}:  # NumPy's own depends on the build
        if got.dtype == "float64" and "complex64" in {v.dtype.name for v in values}:
            got, want = got.astype("float32"), want.astype("float32")  # the precision of what it was computed from
        return beyond_ulps(got, want, 2.0, truth_of(row, case, values, k, got, truth), values)
    if row.error == "exact" or got.dtype.kind not in "fc":
        return unequal(got, want, values if row.elementwise else ())
    if row.error == "sum":
        precise = [v.astype("float64") if v.dtype.kind == "f" else v for v in values]
        high = row.expect(case, precise)[k]
        terms = max([v.size for v in values], default=1)
        size = row.size_of_terms(case, precise)[k]
        unit = float(np.finfo(got.dtype).eps)
        bound = (4 + np.log2(max(terms, 2))) * unit * size + 4 * float(np.finfo(got.dtype).smallest_subnormal)
        return beyond_bound(got, high, bound)
    return beyond_ulps(
        got, want, float(row.error), truth_of(row, case, values, k, got, truth), values if row.elementwise else ()
    )


def truth_of(row: Row, case: Case, values: Sequence[np.ndarray], k: int, got: np.ndarray, exact: bool) -> Any:
    """The results with more digits than they have; None where that is not known."""
    if "c" in {v.dtype.kind for v in [got, *values]}:
        known = exact and row.truth is not None and got.dtype.kind == "c"
        return true_values(row.truth, [v.astype("complex128") for v in values]) if known else None
    if got.dtype.kind != "f":
        return None
    if got.dtype != np.float64:
        kinds = "fiu" if row.elementwise else "f"
        precise = [v.astype(got.dtype).astype("float64") if v.dtype.kind in kinds else v for v in values]
        return row.expect(case, precise)[k].astype("float64"), 0.0
    if exact and row.truth is not None:
        return true_values(row.truth, [v.astype("float64") for v in values])
    return None
