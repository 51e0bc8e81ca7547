"""Differences between the supported versions of PyTensor (2.38 to 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from sys import modules
from types import SimpleNamespace
from typing import Any

__all__ = ["class_of", "classes", "is_labelled", "is_plain", "linear_algebra", "with_axis"]

#: names of classes since 3.1 or later, by older names
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
    """Return those of the named classes that a module of the installed version has; none if there is no such module."""
    try:
        contents = vars(import_module(module))  # attributes by `__getattr__` are deprecated
    except ModuleNotFoundError:
        return {}
    by_name = {name: contents.get(name, contents.get(_LONGER_NAMES.get(name, name))) for name in names}
    return {name: cls for name, cls in by_name.items() if cls is not None}


def class_of(name: str, *modules: str) -> Any:
    """Return a class from the first module that has it, since classes move between versions."""
    return next(cls for module in modules for cls in classes(module, [name]).values())


def with_axis(op: Any, operands: Sequence[Any], position: int) -> list[Any]:
    """Return the operands of a node with the axis at a position; it is an input up to 3.0, and later a property of the
    Op.
    """
    return [*operands[:position], op.axis, *operands[position:]] if "axis" in op.__props__ else list(operands)


def is_plain(function: Any) -> bool:
    """Return whether a function has neither default values of arguments nor names of results (2.38)."""
    defaults = zip(getattr(function, "defaults", ()), function.maker.inputs)
    without_defaults = all(spec.implicit or (required and not refeed) for (required, refeed, _), spec in defaults)
    return without_defaults and getattr(function, "output_keys", None) is None


def linear_algebra() -> Any:
    """Return a namespace with the Ops of linear algebra, which are in one module (3.0) or in two (2.38)."""
    whole = import_module("pytensor.tensor.linalg")
    if hasattr(whole, "Cholesky"):
        return whole
    parts = [import_module(f"pytensor.tensor.{name}") for name in ("nlinalg", "slinalg")]
    return SimpleNamespace(**{name: value for part in parts for name, value in vars(part).items()})


def is_labelled(type: Any) -> bool:
    """Return whether this is a type of tensors with labelled dimensions; PyTensor imports its module on demand."""
    module = modules.get("pytensor.xtensor.type")
    return module is not None and isinstance(type, module.XTensorType)
