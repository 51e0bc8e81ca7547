"""Formulas of scalar ops: their decompositions and their gradients, written as the user would write them."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import aesara.scalar as aes
from aesara.graph.nodes import Constant, Variable
from aesara.graph.utils import MethodNotDefined
from aesara.printing.formula import FunctionPrinter, OperatorPrinter, PPrinter, PrinterState, _FragmentPrinter
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import get_scalar_type

_NUMBERS = {
    math.log(2): "log(2)",
    math.log(10): "log(10)",
    2 / math.sqrt(math.pi): "(2 / sqrt(pi))",
    math.sqrt(math.pi) / 2: "(sqrt(pi) / 2)",
    math.sqrt(2 * math.pi): "sqrt(2 * pi)",
    1 / math.sqrt(2 * math.pi): "(1 / sqrt(2 * pi))",
    -1 / (2 * math.sqrt(2 * math.pi)): "(-1 / (2 * sqrt(2 * pi)))",
    1 / math.sqrt(2): "(1 / sqrt(2))",
    math.pi: "pi",
    2 * math.pi: "(2 * pi)",
    math.pi / 2: "(pi / 2)",
    math.pi / 180: "(pi / 180)",
    180 / math.pi: "(180 / pi)",
}
_SIGNS = {
    "add": "+", "mul": "*", "sub": "-", "neg": "-", "true_divide": "/", "floor_divide": "//", "mod": "%", "pow": "**",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "neq": "!=", "or_": "|", "and_": "&", "xor": "^",
    "invert": "~",
}  # fmt: skip
_NAMES = {"Switch": "where", "IsNan": "isnan", "IsInf": "isinf", "Second": "second", "Abs": "abs"}


class _NumberPrinter(_FragmentPrinter):
    """Prints constants; well-known ones by name."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[str]:
        value = var.data.item() if isinstance(var.data, (np.ndarray, np.generic)) else var.data  # type: ignore
        if isinstance(value, float):
            if value in _NUMBERS:
                return [_NUMBERS[value]]
            if value.is_integer() and abs(value) < 1e6:
                value = int(value)
        return [str(value) if not isinstance(value, (int, float)) or value >= 0 else f"({value})"]


class _CallPrinter(_FragmentPrinter):
    """Prints a scalar op by its name; casts between dtypes are left out."""

    def fragments(self, var: Variable, pstate: PrinterState) -> Sequence[Any]:
        node = var.owner
        assert node is not None
        name = str(node.op)
        if type(node.op).__name__ == "Cast":
            return [(node.inputs[0], -1000)]
        name = _NAMES.get(type(node.op).__name__, name if name.isidentifier() else type(node.op).__name__.lower())
        return FunctionPrinter([name] * len(node.outputs)).fragments(var, pstate)


class _Named(_FragmentPrinter):
    """Prints a computed variable by its name."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[str]:
        return [str(var.name)]


def printer(*named: Variable) -> PPrinter:
    """A printer of scalar formulas, in which some computed variables stand for themselves."""
    made = PPrinter()
    made.assign(ScalarOp, _CallPrinter())
    for name, sign in _SIGNS.items():
        made.assign(type(getattr(aes, name)), OperatorPrinter(sign, 0))
    made.assign(lambda state, var: isinstance(var, Constant), _NumberPrinter())
    made.assign(lambda state, var: any(var is one for one in named), _Named())
    return made


def tidy(formula: str) -> str:
    """The formula without parentheses that say nothing."""
    try:
        return ast.unparse(ast.parse(formula, mode="eval"))
    except SyntaxError:
        return formula


def argument_names(op: ScalarOp) -> list[str]:
    """Return the names of an op's inputs in its declaration."""
    for method in (op.pullback, op.decompose, getattr(type(op), "impl", None)):
        names = _parameters(method)
        if names is not None and (op.nin < 0 or len(names) >= op.nin):
            return names[: op.nin] if op.nin >= 0 else ["x", "y"]
    count = op.nin if op.nin >= 0 else 2
    return ["x", "y", "z", "u", "v"][:count]


def _parameters(method: Callable | None) -> list[str] | None:
    if method is None:
        return None
    found = []
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return None
        if name != "self":
            found.append(name)
    return found


def scalars(op: ScalarOp) -> list[Variable]:
    """Variables for the inputs of an op, of a dtype that it takes."""
    names = argument_names(op)
    for dtype in ("float64", "int64", "bool", "complex128"):
        variables = [get_scalar_type(dtype)(name) for name in names]
        for position in op.selectors:
            variables[position] = get_scalar_type("bool")(names[position])
        try:
            op.output_types([v.type for v in variables])
        except TypeError:
            continue
        return variables
    return [get_scalar_type("float64")(name) for name in names]


def decomposition_formula(op: ScalarOp) -> str | None:
    """The op in terms of others, if that is how it is declared."""
    inputs = scalars(op)
    outputs = op.decomposition(*inputs)
    if outputs is None:
        return None
    show = printer()
    return ", ".join(tidy(show(one)) for one in outputs)


def gradient_formulas(op: ScalarOp) -> dict[str, str] | str:
    """For each input the gradient term, for a gradient `g` of the result; or why there is none."""
    inputs = scalars(op)
    outputs = op(*inputs, return_list=True)
    names = [v.name for v in inputs]
    result = next(name for name in ("y", "f", "out") if name not in names)
    outputs[0].name = result
    if all(one.type.is_discrete for one in outputs):
        return "zero: the result is discrete"
    gradients = [one.type("g") if k == 0 else one.type(f"g{k}") for k, one in enumerate(outputs)]
    try:
        terms = op.L_op(inputs, outputs, gradients)
    except (NotImplementedError, MethodNotDefined):
        return "none"
    show = printer(*outputs)
    found = {}
    for variable, term in zip(inputs, terms):
        if not hasattr(term.type, "dtype"):
            why = getattr(term.type, "why_null", None)
            found[str(variable.name)] = "none" if why else "not connected"
        else:
            found[str(variable.name)] = tidy(show(term))
    return found
