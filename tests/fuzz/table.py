"""Operations drawn from the op table: any row, applied to what a program has made so far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import aesara.tensor as at
import tests.optable.rows  # noqa: F401
from aesara.graph.nodes import Variable
from tests.optable.inputs import FLOATS, Arg
from tests.optable.running import judge
from tests.optable.table import ROWS, Case, Row, as_list

#: rows that a program of real numbers can use
USABLE = [
    r
    for r in ROWS.values()
    if r.fuzzed
    and not any("complex" in a.dtype for c in r.cases for a in c.args)
    and r.name not in ("complex", "complex_from_polar")
]
ELEMENTWISE = [r for r in USABLE if r.elementwise]
OTHERS = [r for r in USABLE if not r.elementwise]


def fitted(x: Any, shape: tuple[int, ...], dtype: str, low: float, high: float) -> Variable:
    """A tensor of this shape and dtype, between two bounds, of the elements of any other."""
    x = at.as_tensor_variable(x)
    positions = np.arange(int(np.prod(shape)), dtype="int64").reshape(shape)
    y = x.flatten()[positions % at.maximum(x.size, 1)]
    if dtype == "bool":
        return y > 0 if x.type.dtype != "bool" else y
    if dtype in FLOATS:
        return at.cast(bounded(y, low, high), dtype)
    y = (
        at.cast(at.clip(at.switch(at.isnan(y), 0, y), -100, 100), "int64")
        if x.type.dtype in FLOATS
        else at.cast(y, "int64")
    )
    return at.cast(low + at.mod(y, high - low + 1), dtype)


def bounded(x: Any, low: float, high: float) -> Variable:
    """A smooth function of `x` between two bounds."""
    return low + (high - low) * at.sigmoid(at.cast(x, "float64"))


class Applied:
    """The rows that a program has applied, so that results can be compared with the oracles."""

    def __init__(self) -> None:
        self.calls: list[tuple[Row, Case, list[Variable], list[Variable]]] = []
        #: how many calls have an oracle, and of how many `complaints` has compared the results with it
        self.comparable = self.compared = 0

    def __call__(self, name: str, index: int, *operands: Any) -> Variable | list[Variable]:
        row = ROWS[name]
        variables = [at.as_tensor_variable(x) for x in operands]
        args = [replace(a, dtype=v.type.dtype) for a, v in zip(row.cases[index].args, variables)]
        case = replace(row.cases[index], args=tuple(args))
        outputs = row.apply(case, variables)
        self.calls.append((row, case, variables, outputs))
        return outputs if len(outputs) > 1 else outputs[0]

    def complaints(self, evaluate: Any) -> list[str]:
        """Describe differences from the oracles; `evaluate` computes the values of variables."""
        found = []
        for row, case, operands, outputs in self.calls:
            if row.elementwise and row.error != "exact":  # NumPy's and SciPy's own errors are as large as anybody's
                continue
            self.comparable += 1
            try:
                values = [np.asarray(v) for v in evaluate(operands)]
                results = [np.asarray(v) for v in evaluate(outputs)]
            except Exception:  # the ways to run the program are compared in this, too
                continue
            if not all(np.isfinite(v).all() for v in (*values, *results) if v.dtype.kind == "f"):
                continue
            self.compared += 1
            found += [f"{row}, by perform: {text}" for text in judge(row, case, outputs, values, results, truth=False)]
        return found


def elementwise(b: Any) -> str | None:
    """An elementwise row of values that broadcast."""
    row = b.choice(ELEMENTWISE)
    operands: list[Any] = []
    for arg in row.cases[0].args:
        entry = b.pick(
            lambda e, a=arg: (e.dtype == "bool") == (a.dtype == "bool") and all(b.broadcasts(o, e) for o in operands)
        )
        if entry is None:
            return None
        operands.append(entry)
    texts = [str(o) for o in operands]
    if b.flag():  # in the domain
        texts = [
            f"bounded({o}, {a.low}, {a.high})" if a.dtype == "float64" and o.dtype in FLOATS else str(o)
            for o, a in zip(operands, row.cases[0].args)
        ]
    return f"row({row.name!r}, 0, {', '.join(texts)})"


def operand(b: Any, arg: Arg, dtypes: tuple[str, ...]) -> str:
    """Text of an input of a case: something of its shape, something made to fit, or what the case demands."""
    if arg.values is not None:
        return f"np.array({np.asarray(arg.values).tolist()}, dtype={arg.dtype!r})"
    if arg.dtype == "float64":
        same = b.pick(lambda e: e.shape == arg.shape and e.dtype in dtypes and arg.low < 0)
        if same is not None and b.flag() and (arg.static is None or same.variable.type.shape == arg.shape):
            return str(same)
    text = f"fitted({b.pick()}, {arg.shape}, {arg.dtype!r}, {arg.low}, {arg.high})"
    if arg.spaced:  # equal elements may be put in any order
        text += f" + np.arange({int(np.prod(arg.shape))}).reshape({arg.shape}) * 0.0137"
    return text


def other(b: Any) -> str | None:
    """A row with inputs of the shapes that one of its cases has."""
    row = b.choice(OTHERS)
    index = b.integer(0, len(row.cases) - 1)
    args = row.cases[index].args
    dtypes = ("float64", *(row.dtypes if len(args) == 1 else ()))
    text = ", ".join(operand(b, a, dtypes) for a in args)
    try:
        outputs = as_list(eval(f"row({row.name!r}, {index}, {text})", {**b.scope, "row": Applied()}))
    except Exception:  # the row does not take these
        return None
    which = f"[{b.integer(0, len(outputs) - 1)}]" if len(outputs) > 1 else ""
    return f"row({row.name!r}, {index}, {text}){which}"
