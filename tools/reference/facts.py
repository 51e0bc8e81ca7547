"""Facts of a function, from its inputs in the op table of the tests: dtypes, gradients, shapes, native code."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import tests.optable.rows  # noqa: F401
from aesara.compile import FunctionMaker
from aesara.configdefaults import config
from aesara.gradient import grad
from aesara.graph.nodes import Variable
from aesara.graph.null_type import NullType
from aesara.lower.errors import Unsupported
from aesara.lower.placement import place_nodes
from aesara.tensor.type import TensorType
from tests.optable.table import ROWS, Case, Row

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
_MOST_CASES = 6


@dataclass
class Facts:
    """Facts of a function, collected from its rows.

    Attributes
    ----------
    dtypes
        Dtype of the inputs that vary -> dtypes of the results.
    gradients
        Number of an input -> ``"yes"``, ``"none"`` or ``"not connected"``.
    python
        Name of an op that runs in Python -> the reason.
    whole
        Why a function of it would run in Python as a whole.
    native_somewhere
        Whether there is a case of which nothing runs in Python.
    static
        How many of the results' lengths are known where all of the inputs' are, of how many.
    """

    dtypes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gradients: dict[int, str] = field(default_factory=dict)
    python: dict[str, str] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    native_somewhere: bool = False
    static: list[int] = field(default_factory=lambda: [0, 0])
    needs_values: str = ""
    rows: list[Row] = field(default_factory=list)


def rows_of(names: Sequence[str], value: Any) -> list[Row]:
    """The rows that stand for a function."""
    return [
        row
        for row in ROWS.values()
        if row.function is value or row.name in names or set(row.covers).intersection(names)
    ]


def facts_of(names: Sequence[str], value: Any) -> Facts | None:
    """All that the rows of a function tell; None if it has none."""
    rows = rows_of(names, value)
    if not rows:
        return None
    facts = Facts(rows=rows)
    with warnings.catch_warnings(), config.change_flags(on_opt_error="raise", on_shape_error="raise"):
        warnings.simplefilter("ignore")
        for row in rows:
            _add_row(facts, row)
    return facts


def _add_row(facts: Facts, row: Row) -> None:
    facts.needs_values = facts.needs_values or row.needs_values
    cases = list(row.cases)[:_MOST_CASES]
    for case in cases:
        known = _variables(case, known=True)
        for output in row.apply(case, known):
            if isinstance(output.type, TensorType):
                facts.static[0] += sum(n is not None for n in output.type.shape)
                facts.static[1] += len(output.type.shape)
        _add_native(facts, row, case)
    for case in [c for c in cases if c.smooth and row.gradient][:2]:
        _add_gradients(facts, row, case)
    for case in row.cases_by_dtype:
        varying = {a.dtype for a in case.args if a.varies}
        if len(varying) == 1:
            (dtype,) = varying
            if dtype not in facts.dtypes:
                outputs = row.apply(case, _variables(case))
                facts.dtypes[dtype] = tuple(str(getattr(v.type, "dtype", v.type)) for v in outputs)
                if dtype in ("float16", "float32", "complex128"):
                    _add_native(facts, row, case)


def _variables(case: Case, known: bool = False) -> list[Variable]:
    made = []
    for k, arg in enumerate(case.args):
        shape = arg.shape if known else arg.static or (None,) * len(arg.shape)
        made.append(TensorType(arg.dtype, shape=shape)(f"x{k}"))
    return made


def _add_native(facts: Facts, row: Row, case: Case) -> None:
    """Add the parts of a case that run in Python; nothing is compiled."""
    inputs = _variables(case)
    outputs = row.apply(case, inputs)
    graph = FunctionMaker(inputs, list(outputs), mode="FAST_RUN", on_unused_input="ignore").fgraph
    try:
        placement = place_nodes([(v, False) for v in graph.inputs], graph.outputs, {})
    except Unsupported as reason:
        facts.whole.add(str(reason))
        return
    facts.native_somewhere |= not placement.reasons
    for node, reason in placement.reasons.items():
        facts.python[_op_name(node.op)] = reason


def _op_name(op: Any) -> str:
    return str(op).split("{")[0]


def _add_gradients(facts: Facts, row: Row, case: Case) -> None:
    inputs = _variables(case)
    outputs = [v for v in row.apply(case, inputs) if str(getattr(v.type, "dtype", "")).startswith("float")]
    if not outputs:
        return
    cost = sum(v.sum() for v in outputs)
    for k, (arg, variable) in enumerate(zip(case.args, inputs)):
        if arg.dtype.startswith("float") and facts.gradients.get(k) != "yes":
            facts.gradients[k] = _gradient_status(cost, variable)


def _gradient_status(cost: Variable, variable: Variable) -> str:
    try:
        found = grad(cost, variable, disconnected_inputs="ignore", null_gradients="return", return_disconnected="none")
    except NotImplementedError:
        return "none"
    if found is None:
        return "not connected"
    return "none" if isinstance(found.type, NullType) else "yes"


def input_names(value: Any, count: int) -> list[str]:
    """Return the names of a function's first parameters."""
    try:
        names = list(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        names = []
    return [names[k] if k < len(names) else f"input {k}" for k in range(count)]


def grouped(dtypes: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Dtypes of results in words, inputs with the same result together."""
    ordered = [d for d in DTYPES if d in dtypes]
    if len({len(dtypes[d]) for d in ordered}) != 1:
        return
    words = {d: _in_words(d, dtypes[d]) for d in ordered}
    constant = {dtypes[d] for d in ordered}
    if len(constant) == 1 and len(ordered) > 1:
        yield _tuple_text(constant.pop())
        return
    positions = list(zip(*words.values()))
    if len(positions) > 1 and all(_is_uniform(k, dtypes, ordered) for k in range(len(positions))):
        yield _tuple_text([p[0] if len(set(p)) == 1 else dtypes[ordered[0]][k] for k, p in enumerate(positions)])
        return
    by_result: dict[str, list[str]] = {}
    for d in ordered:
        by_result.setdefault(_tuple_text(words[d]), []).append(d)
    if "kept" in by_result:
        yield f"{_families(by_result.pop('kept'))} kept"
    for result, sources in by_result.items():
        yield f"{_families(sources)} → {result}"


def _in_words(dtype: str, results: Sequence[str]) -> tuple[str, ...]:
    return tuple("kept" if result == dtype else result for result in results)


def _is_uniform(k: int, dtypes: dict[str, tuple[str, ...]], ordered: Sequence[str]) -> bool:
    """Return whether a result always has the dtype of the input, or always the same one."""
    return all(dtypes[d][k] == d for d in ordered) or len({dtypes[d][k] for d in ordered}) == 1


def _tuple_text(words: Sequence[str]) -> str:
    return words[0] if len(set(words)) == 1 else f"({', '.join(words)})"


_FAMILIES = {"integers": DTYPES[1:9], "floats": DTYPES[9:12], "complex numbers": DTYPES[12:]}


def _families(dtypes: Sequence[str]) -> str:
    """A list of dtypes, in which whole families have one name."""
    words: dict[str, None] = {}
    for d in dtypes:
        family = next((name for name, members in _FAMILIES.items() if d in members), d)
        words[family if set(_FAMILIES.get(family, (d,))) <= set(dtypes) else d] = None
    return ", ".join(words)
