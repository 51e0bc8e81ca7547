"""Printers of the package's operations in formulas."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import aesara.tensor.elementwise.ops as ew
from aesara.graph import hooks
from aesara.graph.nodes import Constant, Variable
from aesara.printing.formula import (
    FunctionPrinter,
    IgnorePrinter,
    OperatorPrinter,
    PatternPrinter,
    PPrinter,
    Printer,
    PrinterState,
    _owner,
    _PiecewisePrinter,
    default_printer,
    pprint,
)
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.joining.join_split import Join
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.shapes.dimshuffle import DimShuffle

_SUM, _PRODUCT, _SIGN, _POWER, _CALL = -2, -1, 0, 1, 1000


class _ElemwisePrinter(_PiecewisePrinter):
    """Prints an element-wise operation by the name of its function."""

    def pieces(self, var: Variable, pstate: PrinterState) -> Any:
        node = _owner(var, self)
        name = _public_names().get(node.op.scalar_op)
        if name is None:
            scalar_op = node.op.scalar_op
            name = str(getattr(scalar_op, "name", None) or scalar_op).removeprefix("convert_to_")
        return FunctionPrinter([name] * len(node.outputs)).pieces(var, pstate)


@lru_cache(maxsize=1)
def _public_names() -> dict[Any, str]:
    """Scalar operations -> the names of the functions that apply them."""
    names: dict[Any, str] = {}
    for name, op in vars(ew).items():
        if isinstance(op, Elemwise) and not op.inplace_pattern:
            names.setdefault(op.scalar_op, name)
    return names


class DimShufflePrinter(_PiecewisePrinter):
    """Prints a transposition as ``x.T``, and does not print dimensions that only broadcast."""

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        order, source = tuple(node.op.new_order), node.inputs[0]
        kept = tuple(axis for axis in order if axis != "x")
        leading = order[: len(order) - len(kept)]
        if kept == tuple(range(source.type.ndim)) and all(axis == "x" for axis in leading):
            return [(source, getattr(pstate, "precedence", -_CALL))]
        if order == (1, 0):
            return [(source, _CALL), ".T"]
        return [f"DimShuffle{{{', '.join(map(str, order))}}}(", (source, -_CALL), ")"]


def _index_pieces(op: Any, index_inputs: Any) -> list[Any]:
    """The text between the brackets of ``x[...]``."""
    values = iter(index_inputs)

    def entry(place: Any) -> list[Any]:
        if place is None:
            return []
        if isinstance(place, int):
            return [str(place)]
        return [(next(values), -_CALL)]

    parts: list[Any] = []
    for position, place in enumerate(op.idx_list):
        if position:
            parts.append(", ")
        if isinstance(place, slice):
            parts += [*entry(place.start), ":", *entry(place.stop)]
            step = entry(place.step)
            if step and not (isinstance(step[0], tuple) and _is_one(step[0][0])):
                parts += [":", *step]
        else:
            parts += entry(place)
    return parts


def _is_one(variable: Variable) -> bool:
    return isinstance(variable, Constant) and variable.data == 1


class SubtensorPrinter(_PiecewisePrinter):
    """Prints ``x[index]``."""

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        return [(node.inputs[0], _CALL), "[", *_index_pieces(node.op, node.inputs[1:]), "]"]


class IncSubtensorPrinter(SubtensorPrinter):
    """Prints ``inc_subtensor(x[index], y)``."""

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        name = "set_subtensor" if node.op.set_instead_of_inc else "inc_subtensor"
        base, value, *index = node.inputs
        inner = _index_pieces(node.op, index)
        return [f"{name}(", (base, _CALL), "[", *inner, "], ", (value, -_CALL), ")"]


class MakeVectorPrinter(_PiecewisePrinter):
    """Prints ``[a, b]``."""

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        parts: list[Any] = ["["]
        for position, variable in enumerate(_owner(var, self).inputs):
            parts += [", "] * bool(position) + [(variable, -_CALL)]
        return [*parts, "]"]


class _SumPrinter(_PiecewisePrinter):
    """Prints ``sum(x, axis=...)``."""

    def pieces(self, var: Variable, pstate: PrinterState) -> Any:
        return FunctionPrinter(["sum"], ["axis"]).pieces(var, pstate)


_DOCUMENTED_ELSEWHERE: dict[str, type[Printer]] = {
    "DimShufflePrinter": DimShufflePrinter,
    "IncSubtensorPrinter": IncSubtensorPrinter,
    "MakeVectorPrinter": MakeVectorPrinter,
    "SubtensorPrinter": SubtensorPrinter,
}


@hooks.printer_class.set
def _printer_class(name: str) -> type[Printer]:
    """The class of printers that is documented under the module of the operation it prints."""
    return _DOCUMENTED_ELSEWHERE[name]


def register_package_operations(printer: PPrinter) -> None:
    """Register the printers of all operations of the package that have a form of their own."""
    assign = printer.assign
    assign(Elemwise, _ElemwisePrinter())
    assign(ew.add, OperatorPrinter("+", _SUM, "either"))
    assign(ew.mul, OperatorPrinter("*", _PRODUCT, "either"))
    assign(ew.sub, OperatorPrinter("-", _SUM, "left"))
    assign(ew.neg, OperatorPrinter("-", _SIGN, "either"))
    assign(ew.true_divide, OperatorPrinter("/", _PRODUCT, "left"))
    assign(ew.floor_divide, OperatorPrinter("//", _PRODUCT, "left"))
    assign(ew.pow, OperatorPrinter("**", _POWER, "right"))
    assign(ew.abs, PatternPrinter(("|%(0)s|", -_CALL)))
    assign(ew.second, FunctionPrinter(["fill"]))
    assign(DimShuffle, DimShufflePrinter())
    assign(Dot, OperatorPrinter("\\dot", _PRODUCT, "left"))
    assign(Sum, _SumPrinter())
    assign(Subtensor, SubtensorPrinter())
    assign(IncSubtensor, IncSubtensorPrinter())
    assign(MakeVector, MakeVectorPrinter())
    assign(Alloc, FunctionPrinter(["alloc"]))
    assign(Join, FunctionPrinter(["join"]))
    assign(TensorFromScalar, IgnorePrinter())
    assign(ScalarFromTensor, IgnorePrinter())
    # In-place variants print like the operations that they are variants of.
    plain = {type(op.scalar_op): printer.printers_dict[op] for op in _with_signs() if op in printer.printers_dict}
    assign(
        lambda pstate, var: (
            var.owner is not None
            and isinstance(var.owner.op, Elemwise)
            and bool(var.owner.op.inplace_pattern)
            and type(var.owner.op.scalar_op) in plain
        ),
        _Delegate(plain),
    )


def formula_in_python(variable: Variable) -> str:
    """Return the formula of `pprint`, but with products of matrices as programs write them.

    Examples
    --------
    >>> x, y = at.dmatrix("x"), at.dvector("y")
    >>> formula_in_python(x @ y + 1), aesara.pprint(x @ y + 1)
    ('((x @ y) + 1)', '((x \\\\dot y) + 1)')
    """
    return pprint.clone_assign(Dot, OperatorPrinter("@", _PRODUCT, "left"))(variable)


def _with_signs() -> list[Any]:
    return [ew.add, ew.mul, ew.sub, ew.neg, ew.true_divide, ew.floor_divide, ew.pow, ew.abs, ew.second]


class _Delegate(_PiecewisePrinter):
    """Prints by the class of the scalar operation."""

    def __init__(self, printers: dict[type, Any]) -> None:
        self.printers = printers

    def pieces(self, var: Variable, pstate: PrinterState) -> Any:
        printer = self.printers.get(type(_owner(var, self).op.scalar_op), default_printer)
        return printer.pieces(var, pstate)
