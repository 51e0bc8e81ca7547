"""Patterns of graphs, under the documented path: `matching`, and `logic_terms` for those who have its packages."""

from __future__ import annotations

import importlib
from typing import Any

from aesara.graph.rewriting.matching import (
    Bindings,
    LogicVariable,
    OpPattern,
    ValuePattern,
    as_pattern,
    constant_value,
    is_commutative,
    is_value,
    matches,
    reify,
    unify,
)

__all__ = [
    "Bindings",
    "LogicVariable",
    "OpPattern",
    "ValuePattern",
    "as_pattern",
    "constant_value",
    "is_commutative",
    "is_value",
    "matches",
    "reify",
    "unify",
]


def __getattr__(name: str) -> Any:
    """Import names that need the packages ``unification`` and ``etuples`` on first access."""
    if name in ("ConstrainedVar", "convert_strs_to_vars", "eval_if_etuple"):
        return getattr(importlib.import_module("aesara.graph.rewriting.logic_terms"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
