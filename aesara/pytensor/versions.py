"""What differs between the versions of PyTensor that are supported (2.38 and 3.0)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from sys import modules
from typing import Any

__all__ = ["classes", "is_labelled"]


def classes(module: str, names: Iterable[str]) -> dict[str, Any]:
    """Those classes of a module of PyTensor that this version has; none of a module that it does not have."""
    try:
        found = import_module(module)
    except ModuleNotFoundError:
        return {}
    return {name: getattr(found, name) for name in names if hasattr(found, name)}


def is_labelled(type: Any) -> bool:
    """Whether a type is that of tensors with labelled dimensions, whose module PyTensor loads when it is asked for."""
    module = modules.get("pytensor.xtensor.type")
    return module is not None and isinstance(type, module.XTensorType)
