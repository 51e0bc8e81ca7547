"""Proofs that no two iterations of a loop store to one address; only such a loop is marked as parallel.

An address is a linear combination of expressions. The stores of a loop to one buffer are independent if

* the loop's variable has the same nonzero factor in each address, and the other terms are loop-invariant and equal in
  all stores, except for constants that keep the stores apart; or
* the trip count is constant, the variable has one factor, and the other terms are multiples of a number larger than the
  distance that the variable covers: each iteration has residues of its own.

A store may also be marked `distinct`. This is proved from the index into an array (`is_distinct_index`), which holds
more information than the address: a row of a matrix with n columns is n elements after the previous one, and only the
index shows that the matrix has no elements if n is 0.

Vectors, interleaving and lanes need the proof. Chunks of a loop that run in order do not.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence

from aesara.ir.expr import Expr, walk
from aesara.ir.kernel import Assign, Declare, For, Store, walk_statements

__all__ = ["conflict", "is_distinct_index", "is_distinct_offset", "linear_form", "mark_parallel"]


def mark_parallel(loop: For) -> For:
    """Return the loop, marked as parallel if no two of its iterations can store to one address."""
    return loop if loop.until or conflict(loop) is not None else dataclasses.replace(loop, parallel=True)


def conflict(loop: For) -> str | None:
    """Return a buffer in which two iterations of a loop may store to one address; None if there is provably none.

    Loads are not considered: that no iteration reads an element that another one writes is up to the code that builds
    the loop, and the interpreter checks it.
    """
    if loop.extent.is_const and loop.extent.attr <= 1:
        return None
    stores: dict[str, dict[Expr, Store]] = {}
    for s in walk_statements(loop.body):
        if isinstance(s, Store):
            stores.setdefault(s.buffer, {})[s.offset] = s
    if not stores:
        return None
    changing = {s.name for s in walk_statements(loop.body) if isinstance(s, (Assign, Declare))}
    inside = {s.var for s in walk_statements(loop.body) if isinstance(s, For)}
    for buffer, found in stores.items():
        if len(found) == 1 and not inside and all(s.distinct for s in found.values()):
            continue
        if not _are_apart(tuple(found), loop, changing | inside, stores):
            return buffer
    return None


def is_distinct_offset(offset: Expr, variable: str) -> bool:
    """Return whether an address differs for each value of a variable, all else being equal."""
    factors, _ = linear_form(offset)
    varying = [atom for atom in factors if _depends(atom, {variable}, ())]
    return len(varying) == 1 and _is_variable(varying[0], variable)


def is_distinct_index(index: Sequence[Expr], variable: str, nonzero: Collection[Expr] = ()) -> bool:
    """Return whether an index into an array differs for each value of a variable, all else being equal.

    Parameters
    ----------
    index
        The index; its entries are within bounds.
    variable
        The name of the variable.
    nonzero
        Expressions known not to be 0, such as the step of a slice.
    """
    return any(_is_injective(entry, variable, nonzero) for entry in index)


def linear_form(e: Expr) -> tuple[dict[Expr, int], int]:
    """Return an integer expression as a linear combination ``{expression: factor}`` and a constant."""
    if e.is_const:
        return {}, int(e.attr)
    if e.op in ("add", "sub"):
        (a, x), (b, y) = map(linear_form, e.args)
        sign = 1 if e.op == "add" else -1
        total = {atom: a.get(atom, 0) + sign * b.get(atom, 0) for atom in (*a, *b)}
        return {atom: k for atom, k in total.items() if k}, x + sign * y
    if e.op == "mul" and e.args[1].is_const:
        (a, x), k = linear_form(e.args[0]), int(e.args[1].attr)
        return ({atom: n * k for atom, n in a.items()} if k else {}), x * k
    return {e: 1}, 0


def _are_apart(offsets: Sequence[Expr], loop: For, changing: Collection[str], written: Collection[str]) -> bool:
    """Return whether no two iterations store to one of these addresses of a buffer (see the module's proofs)."""
    forms = [linear_form(offset) for offset in offsets]
    stride = None
    invariants: list[dict[Expr, int]] = []
    for factors, _ in forms:
        variable_terms = {atom: k for atom, k in factors.items() if _is_variable(atom, loop.var)}
        if len(variable_terms) != 1 or stride not in (None, *variable_terms.values()):
            return False
        (stride,) = variable_terms.values()
        invariants.append({atom: k for atom, k in factors.items() if atom not in variable_terms})
    assert stride is not None
    stride, constants = abs(stride), [constant for _, constant in forms]
    length = int(loop.extent.attr) if loop.extent.is_const else None
    fixed = not any(_depends(atom, {loop.var, *changing}, written) for invariant in invariants for atom in invariant)
    if fixed and all(invariant == invariants[0] for invariant in invariants):
        gaps = {abs(one - other) for one in constants for other in constants}
        return all(gap % stride or not gap or (length is not None and gap >= stride * length) for gap in gaps)
    if length is None:
        return False
    multiple = math.gcd(
        *(k for invariant in invariants for k in invariant.values()),
        *(constant - constants[0] for constant in constants),
    )
    return stride * (length - 1) < multiple


def _is_variable(e: Expr, name: str) -> bool:
    return e.op == "var" and bool(e.attr == name)


def _depends(e: Expr, names: Collection[str], buffers: Collection[str]) -> bool:
    """Return whether an expression reads one of these variables or buffers."""
    return any((a.op == "var" and a.attr in names) or (a.op == "load" and a.attr in buffers) for a in walk([e]))


def _is_injective(e: Expr, variable: str, nonzero: Collection[Expr]) -> bool:
    """Return whether an expression takes a different value for each value of a variable."""
    factors, _ = linear_form(e)
    varying = [atom for atom in factors if _depends(atom, {variable}, ())]
    if len(varying) != 1:
        return False
    (atom,) = varying
    if atom.op == "mul":
        pairs = (atom.args, atom.args[::-1])
        return any(_is_injective(a, variable, nonzero) and _is_factor(b, variable, nonzero) for a, b in pairs)
    if atom.op == "select":
        condition, *either = atom.args
        return not _depends(condition, {variable}, ()) and all(_is_injective(a, variable, nonzero) for a in either)
    return _is_variable(atom, variable)


def _is_factor(e: Expr, variable: str, nonzero: Collection[Expr]) -> bool:
    """Return whether an expression does not depend on a variable and is not 0."""
    if _depends(e, {variable}, ()):
        return False
    return e in nonzero or e.least > 0 or e.most < 0
