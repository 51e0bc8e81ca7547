"""Printers for formulas of the ops of the package."""

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
    _FragmentPrinter,
    _owner,
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


class _ElemwisePrinter(_FragmentPrinter):
    """Prints an elementwise op by the name of its function."""

    def fragments(self, var: Variable, pstate: PrinterState) -> Any:
        node = _owner(var, self)
        name = _public_names().get(node.op.scalar_op)
        if name is None:
            scalar_op = node.op.scalar_op
            name = str(getattr(scalar_op, "name", None) or scalar_op).removeprefix("convert_to_")
        return FunctionPrinter([name] * len(node.outputs)).fragments(var, pstate)


@lru_cache(maxsize=1)
def _public_names() -> dict[Any, str]:
    """Return the names of functions by the scalar ops that they apply."""
    names: dict[Any, str] = {}
    for name, op in vars(ew).items():
        if isinstance(op, Elemwise) and not op.inplace_pattern:
            names.setdefault(op.scalar_op, name)
    return names


class DimShufflePrinter(_FragmentPrinter):
    """Prints a transposition as ``x.T``, and omits dimensions that only broadcast."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        order, source = tuple(node.op.new_order), node.inputs[0]
        remaining = tuple(axis for axis in order if axis != "x")
        leading = order[: len(order) - len(remaining)]
        if remaining == tuple(range(source.type.ndim)) and all(axis == "x" for axis in leading):
            return [(source, getattr(pstate, "precedence", -_CALL))]
        if order == (1, 0):
            return [(source, _CALL), ".T"]
        return [f"DimShuffle{{{', '.join(map(str, order))}}}(", (source, -_CALL), ")"]


def _index_fragments(op: Any, index_inputs: Any) -> list[Any]:
    """Return the text between the brackets of ``x[...]``."""
    values = iter(index_inputs)

    def value_of(entry_or_none: object) -> list[Any]:
        if entry_or_none is None:
            return []
        if isinstance(entry_or_none, int):
            return [str(entry_or_none)]
        return [(next(values), -_CALL)]

    fragments: list[Any] = []
    for position, entry_or_none in enumerate(op.idx_list):
        if position:
            fragments.append(", ")
        if isinstance(entry_or_none, slice):
            fragments += [*value_of(entry_or_none.start), ":", *value_of(entry_or_none.stop)]
            step = value_of(entry_or_none.step)
            if step and not (isinstance(step[0], tuple) and _is_one(step[0][0])):
                fragments += [":", *step]
        else:
            fragments += value_of(entry_or_none)
    return fragments


def _is_one(variable: Variable) -> bool:
    return isinstance(variable, Constant) and variable.data == 1


class SubtensorPrinter(_FragmentPrinter):
    """Prints ``x[index]``."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        return [(node.inputs[0], _CALL), "[", *_index_fragments(node.op, node.inputs[1:]), "]"]


class IncSubtensorPrinter(SubtensorPrinter):
    """Prints ``inc_subtensor(x[index], y)``."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        name = "set_subtensor" if node.op.set_instead_of_inc else "inc_subtensor"
        base, value, *index = node.inputs
        inner = _index_fragments(node.op, index)
        return [f"{name}(", (base, _CALL), "[", *inner, "], ", (value, -_CALL), ")"]


class MakeVectorPrinter(_FragmentPrinter):
    """Prints ``[a, b]``."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        fragments: list[Any] = ["["]
        for position, variable in enumerate(_owner(var, self).inputs):
            fragments += [", "] * bool(position) + [(variable, -_CALL)]
        return [*fragments, "]"]


class _SumPrinter(_FragmentPrinter):
    """Prints ``sum(x, axis=...)``."""

    def fragments(self, var: Variable, pstate: PrinterState) -> Any:
        return FunctionPrinter(["sum"], ["axis"]).fragments(var, pstate)


_DOCUMENTED_ELSEWHERE: dict[str, type[Printer]] = {
    "DimShufflePrinter": DimShufflePrinter,
    "IncSubtensorPrinter": IncSubtensorPrinter,
    "MakeVectorPrinter": MakeVectorPrinter,
    "SubtensorPrinter": SubtensorPrinter,
}


@hooks.printer_class.set
def _printer_class(name: str) -> type[Printer]:
    """Return a class of printers that is documented under the module of the op it prints."""
    return _DOCUMENTED_ELSEWHERE[name]


def register_package_operations(printer: PPrinter) -> None:
    """Register printers of the ops of the package."""
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
    # In-place variants print like the out-of-place ops.
    plain = {type(op.scalar_op): printer.printers_dict[op] for op in _operators() if op in printer.printers_dict}
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
    """Return the formula of `pprint`, with matrix products written as ``@``.

    Examples
    --------
    >>> x, y = at.dmatrix("x"), at.dvector("y")
    >>> formula_in_python(x @ y + 1), aesara.pprint(x @ y + 1)
    ('((x @ y) + 1)', '((x \\\\dot y) + 1)')
    """
    return pprint.clone_assign(Dot, OperatorPrinter("@", _PRODUCT, "left"))(variable)


def _operators() -> list[Any]:
    return [ew.add, ew.mul, ew.sub, ew.neg, ew.true_divide, ew.floor_divide, ew.pow, ew.abs, ew.second]


class _Delegate(_FragmentPrinter):
    """Prints by the class of the scalar op."""

    def __init__(self, printers: dict[type, Any]) -> None:
        self.printers = printers

    def fragments(self, var: Variable, pstate: PrinterState) -> Any:
        printer = self.printers.get(type(_owner(var, self).op.scalar_op), default_printer)
        return printer.fragments(var, pstate)
