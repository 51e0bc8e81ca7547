"""What differs between the versions of PyTensor that are supported (2.38 and 3.0)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

__all__ = ["classes"]


def classes(module: str, names: Iterable[str]) -> dict[str, Any]:
    """Those classes of a module of PyTensor that this version has."""
    found = import_module(module)
    return {name: getattr(found, name) for name in names if hasattr(found, name)}
