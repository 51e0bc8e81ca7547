"""Formulas for error messages: short, and with only the parentheses that Python needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from aesara.graph import hooks
from aesara.graph.messages import type_text
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.printing.formula import PrinterState, _FragmentPrinter, pprint
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.subtensor_advanced import AdvancedSubtensor, AdvancedSubtensor1
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.gemm import Dot22
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape, Shape_i
from aesara.tensor.type_other import MakeSlice, NoneTypeT

__all__ = ["short_formula"]

_LONGEST = 60
_LONGEST_CONSTANT = 20
_DEEPEST = 16
_MOST_STEPS = 500

# Precedence of operators of Python; that of calls, indices and attributes is the highest.
_COMPARISON, _OR, _XOR, _AND, _SUM, _PRODUCT, _SIGN, _POWER, _CALL = -6, -5, -4, -3, -2, -1, 0, 1, 1000
_LOOSEST = -_CALL

#: operator and precedence by class of scalar op
_BINARY = {
    "Add": ("+", _SUM), "Sub": ("-", _SUM), "Mul": ("*", _PRODUCT), "TrueDivide": ("/", _PRODUCT),
    "FloorDivide": ("//", _PRODUCT), "Mod": ("%", _PRODUCT), "Pow": ("**", _POWER),
    "LT": ("<", _COMPARISON), "GT": (">", _COMPARISON), "LE": ("<=", _COMPARISON), "GE": (">=", _COMPARISON),
    "EQ": ("==", _COMPARISON), "NEQ": ("!=", _COMPARISON), "OR": ("|", _OR), "XOR": ("^", _XOR), "AND": ("&", _AND),
}  # fmt: skip
_UNARY = {"Neg": "-", "Invert": "~"}

_Fragment = Any  # a string, or a pair of a variable and the precedence of the surrounding operator


def short_formula(variable: Variable) -> str:
    """Return a formula of at most 60 characters; subexpressions that are too deep are replaced by three dots.

    Named subexpressions are written as their name.

    Examples
    --------
    >>> x, y = at.dvectors("x", "y")
    >>> short_formula((x + y) * 2 - x ** 2)
    '(x + y) * 2 - x**2'
    >>> for _ in range(10):
    ...     x = at.tanh(x * y + 1)
    >>> short_formula(x)
    'tanh(tanh(tanh(tanh(... * y + 1) * y + 1) * y + 1) * y + 1)'
    """
    text: str | None = None
    for depth in range(_DEEPEST, 0, -1):
        text, complete = _text(variable, depth)
        if complete:
            return text
    assert text is not None
    return text[: _LONGEST - 3] + "..."


def _text(variable: Variable, depth: int) -> tuple[str, bool]:
    """Return the formula down to a depth, or its beginning, and whether it is complete."""
    text: list[str] = []
    length = steps = 0
    pending: list[tuple[_Fragment, int]] = [((variable, _LOOSEST), depth)]
    while pending:
        fragment, below = pending.pop()
        if isinstance(fragment, str):
            text.append(fragment)
            length += len(fragment)
        else:
            operand, precedence = fragment
            fragments = _fragments(operand, precedence, below, operand is variable)
            pending.extend((fragment, below - 1) for fragment in reversed(fragments))
        steps += 1
        if length > _LONGEST or steps > _MOST_STEPS:
            return "".join(text), False
    return "".join(text), True


def _fragments(variable: Variable, precedence: int, below: int, top: bool) -> Sequence[_Fragment]:
    """Return the fragments of the formula of a variable."""
    while variable.owner is not None and (top or variable.name is None) and _is_omitted(variable.owner):
        variable, top = variable.owner.inputs[0], False
    node = variable.owner
    if isinstance(variable, Constant):
        text = variable.name if variable.name is not None else _constant(variable.data)
        return [f"({text})" if text.startswith("-") and precedence >= _SIGN else text]
    if variable.name is not None and not top:
        return [variable.name]
    if node is None:
        return [_leaf(variable)]
    if below == 0:
        return ["..."]
    for cls, formula_of in _FORMULAS.items():
        if isinstance(node.op, cls):
            fragments = formula_of(node, precedence)
            if fragments is not None:
                return fragments
    state = PrinterState(pprinter=pprint, precedence=precedence, memo={})
    printer = pprint.printer_for(variable, state)
    if isinstance(printer, _FragmentPrinter):
        return printer.fragments(variable, state)
    return [printer.process(variable, state)]


def _constant(data: object) -> str:
    if isinstance(data, np.ndarray) and data.size and (data.size == 1 or bool((data == data.flat[0]).all())):
        data = data.flat[0]
    text = " ".join(str(data).split())
    return text if len(text) <= _LONGEST_CONSTANT else "[...]" if isinstance(data, np.ndarray) else "..."


def _leaf(variable: Variable) -> str:
    return variable.name if variable.name is not None else f"<{type_text(variable.type)}>"


def _is_omitted(node: Apply) -> bool:
    """Return whether a node only adds leading dimensions or converts scalars, which formulas omit."""
    if isinstance(node.op, (ScalarFromTensor, TensorFromScalar)):
        return True
    if not isinstance(node.op, DimShuffle):
        return False
    order = list(node.op.new_order)
    remaining = [axis for axis in order if axis != "x"]
    return (
        remaining == list(range(node.inputs[0].type.ndim))
        and order == ["x"] * (len(order) - len(remaining)) + remaining
    )


def _elementwise(node: Apply, precedence: int) -> list[_Fragment] | None:
    name = type(node.op.scalar_op).__name__
    inputs = node.inputs
    if name in _BINARY and len(inputs) > 1:
        return _infix(*_BINARY[name], inputs, precedence)
    if name in _UNARY and len(inputs) == 1:
        return _parenthesize([_UNARY[name], (inputs[0], _SIGN)], _SIGN, precedence)
    if name == "Sqr":
        return _parenthesize([(inputs[0], _POWER + 1), "**2"], _POWER, precedence)
    return None


def _infix(sign: str, operator_precedence: int, inputs: Sequence[Variable], precedence: int) -> list[_Fragment]:
    to_the_right = sign == "**"
    separator = sign if to_the_right else f" {sign} "
    last = len(inputs) - 1
    fragments: list[_Fragment] = []
    for k, variable in enumerate(inputs):
        # Of a - (b - c) and (a**b)**c the parentheses are needed; comparisons cannot follow each other.
        strict = operator_precedence == _COMPARISON or (k < last if to_the_right else k > 0)
        fragments += [separator] * bool(k) + [(variable, operator_precedence + strict)]
    return _parenthesize(fragments, operator_precedence, precedence)


def _parenthesize(fragments: list[_Fragment], operator_precedence: int, precedence: int) -> list[_Fragment]:
    return ["(", *fragments, ")"] if operator_precedence < precedence else fragments


def _product(node: Apply, precedence: int) -> list[_Fragment]:
    return _infix("@", _PRODUCT, node.inputs, precedence)


def _dimshuffle_formula(node: Apply, precedence: int) -> list[_Fragment]:
    order, ndim = list(node.op.new_order), node.inputs[0].type.ndim
    source: _Fragment = (node.inputs[0], _CALL)
    if order == [1, 0]:
        return [source, ".T"]
    if [axis for axis in order if axis != "x"] == list(range(ndim)):
        while order[-1] != "x":  # trailing dimensions are omitted
            order.pop()
        return [source, f"[{', '.join('None' if axis == 'x' else ':' for axis in order)}]"]
    if "x" not in order and order == sorted(order):  # dimensions of length 1 are dropped
        return [source, f"[{', '.join(':' if axis in order else '0' for axis in range(ndim))}]"]
    return [source, f".dimshuffle({', '.join(repr(axis) for axis in order)})"]


def _reduction(node: Apply, precedence: int) -> list[_Fragment]:
    axis = node.op.axis
    axis_text = "" if axis is None else f", axis={axis[0] if len(axis) == 1 else tuple(axis)}"
    return [f"{type(node.op).__name__.lower()}(", (node.inputs[0], _LOOSEST), f"{axis_text})"]


def _shape(node: Apply, precedence: int) -> list[_Fragment]:
    return [(node.inputs[0], _CALL), ".shape"]


def _length(node: Apply, precedence: int) -> list[_Fragment]:
    return [(node.inputs[0], _CALL), f".shape[{node.op.i}]"]


def _gather(node: Apply, precedence: int) -> list[_Fragment]:
    base, *index = node.inputs
    return [(base, _CALL), "[", *_join_by_commas(map(_entry, index)), "]"]


def _entry(index: Variable) -> list[_Fragment]:
    """Return the fragments of one entry of an index."""
    if isinstance(index.type, NoneTypeT):
        return ["None"]
    parts: list[list[_Fragment]]
    if isinstance(index, Constant) and isinstance(index.data, slice):
        limits = index.data.start, index.data.stop, index.data.step
        parts = [[] if limit is None else [str(limit)] for limit in limits]
    elif index.owner is not None and isinstance(index.owner.op, MakeSlice):
        parts = [[] if isinstance(limit.type, NoneTypeT) else [(limit, _LOOSEST)] for limit in index.owner.inputs]
    else:
        return [(index, _LOOSEST)]
    start, stop, step = parts
    return [*start, ":", *stop, *([":", *step] if step else [])]


def _call(name: str) -> Callable[[Apply, int], list[_Fragment]]:
    return lambda node, precedence: [f"{name}(", *_join_by_commas([(v, _LOOSEST)] for v in node.inputs), ")"]


def _join_by_commas(entries: Iterable[list[_Fragment]]) -> list[_Fragment]:
    fragments: list[_Fragment] = []
    for k, entry in enumerate(entries):
        fragments += [", "] * bool(k) + entry
    return fragments


#: functions that return the fragments of a node, or None for the default formula, by class of op
_FORMULAS: dict[type, Callable[[Apply, int], list[_Fragment] | None]] = {
    Elemwise: _elementwise,
    Dot: _product,
    Dot22: _product,
    DimShuffle: _dimshuffle_formula,
    CAReduce: _reduction,
    Shape: _shape,
    Shape_i: _length,
    AdvancedSubtensor: _gather,
    AdvancedSubtensor1: _gather,
    ARange: _call("arange"),
}

hooks.formula.set(short_formula)
