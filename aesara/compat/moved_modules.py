"""Paths of older versions: importing one warns, and gives what stands at its new place."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from aesara.user_code import warn_user

__all__ = ["moved_module"]


def moved_module(old: str, *modules: ModuleType) -> Callable[[str], Any]:
    """Warn that a module has moved; returns a ``__getattr__`` that looks names up in its new places.

    A module is imported once, by whoever is first, so that each use of a name warns too.
    """
    new = " and ".join(f"`{module.__name__}`" for module in modules)
    message = f"The module `{old}` is deprecated; use {new} instead."
    warn_user(message, DeprecationWarning)

    def find(name: str) -> Any:
        for module in modules:
            if hasattr(module, name):
                if not name.startswith("__"):
                    warn_user(message, DeprecationWarning)
                return getattr(module, name)
        raise AttributeError(f"module {old!r} has no attribute {name!r}")

    return find
