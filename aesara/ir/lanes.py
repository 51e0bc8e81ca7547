"""Accumulation in lanes, whose order does not depend on the width of a processor's vectors.

A loop with ``lanes 32, 8`` has 32 partial results for each accumulator and processes whole runs of 32 iterations: lane
k accumulates element k of each run.  Then the upper half of the lanes is combined with the lower half, repeatedly,
until one is left, which is combined with the accumulator.  The remaining iterations are processed in runs of 8 in the
same way, and then one by one.

Vectors of 2, 4 or 8 elements compute this equally well, with the same bits.
"""

from __future__ import annotations

from aesara.ir.expr import PART_OF, Expr, NoComplexForm, const
from aesara.ir.kernel import Assign, Declare, Statement

__all__ = ["ACCUMULATIONS", "accumulations", "identity_of", "lane_identity"]

#: primitives that may accumulate in any order
ACCUMULATIONS = frozenset({"add", "mul", "minimum", "maximum", "and", "or", "xor"})


def accumulations(body: tuple[Statement, ...]) -> dict[str, Assign] | None:
    """Return the accumulators of a loop by name; None if it has other mutable scalars or nested statements.

    An accumulator is assigned once, to itself combined with a value that does not read it.
    """
    local_scalars: set[str] = set()
    found: dict[str, Assign] = {}
    for statement in body:
        if isinstance(statement, Declare):
            local_scalars.add(statement.name)
        elif isinstance(statement, Assign):
            if statement.name in local_scalars:
                continue
            if statement.name in found or not statement.reassociate or not _accumulates(statement):
                return None
            found[statement.name] = statement
        elif hasattr(statement, "body"):
            return None
    return found


def _accumulates(statement: Assign) -> bool:
    value = statement.value
    if value.op not in ACCUMULATIONS:
        return False
    return [e.op == "var" and e.attr == statement.name for e in value.args].count(True) == 1


def identity_of(kind: str, dtype: str) -> Expr:
    """Return the value of an empty accumulation; for extrema the other end of the dtype's range."""
    if kind in ("add", "or", "xor"):
        return const(0, dtype)
    if kind == "mul":
        return const(1, dtype)
    if kind == "and":
        return const(True if dtype == "bool" else -1 if not dtype.startswith("u") else 2 ** int(dtype[4:]) - 1, dtype)
    if dtype in PART_OF:
        raise NoComplexForm(kind)
    if dtype == "bool":
        return const(kind == "minimum", dtype)
    if dtype.startswith("float"):
        return const(float("inf") if kind == "minimum" else float("-inf"), dtype)
    bits = int(dtype.lstrip("uint"))
    low, high = (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return const(high if kind == "minimum" else low, dtype)


def lane_identity(kind: str, dtype: str) -> Expr:
    """Return the identity element, preserving -0.0: the initial value of each lane."""
    return const(-0.0, dtype) if kind == "add" and dtype.startswith("float") else identity_of(kind, dtype)
