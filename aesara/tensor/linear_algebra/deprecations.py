"""Deprecated names of solvers, and their replacements."""

from __future__ import annotations

from typing import Any

from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular

#: Old name, message, object.
DEPRECATED_NAMES: list[tuple[str, str, Any]] = [
    (name, f"`{name}` is deprecated; use `solve` instead.", op)
    for name, op in (
        ("solve_lower_triangular", SolveTriangular(lower=True)),
        ("solve_upper_triangular", SolveTriangular(lower=False)),
        ("solve_symmetric", Solve(assume_a="sym")),
    )
]
