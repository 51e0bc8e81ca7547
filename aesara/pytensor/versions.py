"""What differs between the versions of PyTensor that are supported (2.38 and 3.0)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from sys import modules
from types import SimpleNamespace
from typing import Any

__all__ = ["classes", "is_labelled", "is_plain", "linear_algebra"]


def classes(module: str, names: Iterable[str]) -> dict[str, Any]:
    """Those classes of a module of PyTensor that this version has; none of a module that it does not have."""
    try:
        found = vars(import_module(module))  # what a module gives by another way it is about to lose
    except ModuleNotFoundError:
        return {}
    return {name: found[name] for name in names if name in found}


def is_plain(function: Any) -> bool:
    """Whether a function's arguments have no default values and its results no names, as they may have in 2.38."""
    defaults = zip(getattr(function, "defaults", ()), function.maker.inputs)
    alone = all(spec.implicit or (required and not refeed) for (required, refeed, _), spec in defaults)
    return alone and getattr(function, "output_keys", None) is None


def linear_algebra() -> Any:
    """What has the Ops of linear algebra as attributes: one module (3.0), or what is in two (2.38)."""
    whole = import_module("pytensor.tensor.linalg")
    if hasattr(whole, "Cholesky"):
        return whole
    parts = [import_module(f"pytensor.tensor.{name}") for name in ("nlinalg", "slinalg")]
    return SimpleNamespace(**{name: value for part in parts for name, value in vars(part).items()})


def is_labelled(type: Any) -> bool:
    """Whether a type is that of tensors with labelled dimensions, whose module PyTensor loads when it is asked for."""
    module = modules.get("pytensor.xtensor.type")
    return module is not None and isinstance(type, module.XTensorType)
