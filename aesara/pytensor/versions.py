"""Differences between the supported versions of PyTensor (from 2.38 to 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from sys import modules
from types import SimpleNamespace
from typing import Any

__all__ = ["class_of", "classes", "is_labelled", "is_plain", "linear_algebra", "with_axis"]

#: classes by the names that they have had since 3.1 or later
_LONGER_NAMES = {
    "AddSD": "AddSparseDense", "AddSS": "AddSparseSparse", "AddSSData": "AddSparseSparseData",
    "SparseDenseMultiply": "MultiplySparseDense", "SparseDenseVectorMultiply": "MultiplySparseDenseVector",
    "SparseSparseMultiply": "MultiplySparseSparse", "StructuredAddSV": "StructuredAddSparseDenseVector",
    **{
        f"{comparison}{short}": f"{comparison}{long}"
        for comparison in ("Equal", "NotEqual", "LessThan", "LessEqual", "GreaterThan", "GreaterEqual")
        for short, long in (("SD", "SparseDense"), ("SS", "SparseSparse"))
    },
}  # fmt: skip


def classes(module: str, names: Iterable[str]) -> dict[str, Any]:
    """Those classes of a module of PyTensor that this version has; none of a module that it does not have."""
    try:
        there = vars(import_module(module))  # what a module gives by another way it is about to lose
    except ModuleNotFoundError:
        return {}
    found = {name: there.get(name, there.get(_LONGER_NAMES.get(name, name))) for name in names}
    return {name: cls for name, cls in found.items() if cls is not None}


def class_of(name: str, *places: str) -> Any:
    """A class from the first of some modules that has it: it moves between versions."""
    return next(cls for place in places for cls in classes(place, [name]).values())


def with_axis(op: Any, operands: Sequence[Any], place: int) -> list[Any]:
    """The operands of a node with the axis at its place: there it is in 2.38 and 3.0, later the Op has it."""
    return [*operands[:place], op.axis, *operands[place:]] if "axis" in op.__props__ else list(operands)


def is_plain(function: Any) -> bool:
    """Return whether a function has neither default values of arguments nor names of results, as it may in 2.38."""
    defaults = zip(getattr(function, "defaults", ()), function.maker.inputs)
    alone = all(spec.implicit or (required and not refeed) for (required, refeed, _), spec in defaults)
    return alone and getattr(function, "output_keys", None) is None


def linear_algebra() -> Any:
    """Return a namespace with the Ops of linear algebra: one module (3.0), or the contents of two (2.38)."""
    whole = import_module("pytensor.tensor.linalg")
    if hasattr(whole, "Cholesky"):
        return whole
    parts = [import_module(f"pytensor.tensor.{name}") for name in ("nlinalg", "slinalg")]
    return SimpleNamespace(**{name: value for part in parts for name, value in vars(part).items()})


def is_labelled(type: Any) -> bool:
    """Return whether a type is that of tensors with labelled dimensions; PyTensor loads its module on demand."""
    module = modules.get("pytensor.xtensor.type")
    return module is not None and isinstance(type, module.XTensorType)
