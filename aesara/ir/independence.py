"""Proofs that no two iterations of a loop store at one address: only such a loop is marked as parallel.

An address is written as a sum of expressions times constants.  Two proofs are known for the stores of a loop to one
buffer:

* the loop's variable is a term of each address, with one factor other than 0, and the other terms are the same in all
  iterations and all stores, but for constants that keep the stores apart;
* the loop is short, its variable has one factor, and all other terms are multiples of a number that is larger than
  what the variable moves by: each iteration has remainders of its own.

A store may also say itself that it is `distinct`.  That is known from the index into an array (`tells_apart`), which
says more than the address: a row of a matrix with n columns is n elements behind the one before, and only the index
shows that the matrix has no element if n is 0.

Chunks of a loop that run one after the other, in order, need no proof: they are the loop.  Vectors, several vectors at
once and lanes do.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence

from aesara.ir.expr import Expr, walk
from aesara.ir.kernel import Assign, Declare, For, Store, walk_statements

__all__ = ["as_independent", "conflict", "is_apart", "linear_form", "tells_apart"]


def as_independent(loop: For) -> For:
    """The loop, marked as parallel if it is proved that no two of its iterations store at one address."""
    return loop if loop.until or conflict(loop) is not None else dataclasses.replace(loop, parallel=True)


def conflict(loop: For) -> str | None:
    """The buffer to which two iterations of a loop may store at one address; None if it is proved that there is none.

    Values that are read are another matter: that no iteration reads what another one writes is for those who build the
    loop to know, and the interpreter checks it.
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


def is_apart(offset: Expr, variable: str) -> bool:
    """Return whether an address shows that it is another one for each value of a variable, all else being equal."""
    factors, _ = linear_form(offset)
    moving = [atom for atom in factors if _depends(atom, {variable}, ())]
    return len(moving) == 1 and _is_variable(moving[0], variable)


def tells_apart(place: Sequence[Expr], variable: str, nonzero: Collection[Expr] = ()) -> bool:
    """Return whether an index into an array is another one for each value of a variable, all else being equal.

    Parameters
    ----------
    place
        The index, whose entries are within the array.
    variable
        The name of the variable.
    nonzero
        What is known not to be 0, such as the step of a slice.
    """
    return any(_is_injective(entry, variable, nonzero) for entry in place)


def linear_form(e: Expr) -> tuple[dict[Expr, int], int]:
    """An integer expression as a sum of expressions times constants, and a constant."""
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
    """Return whether no two iterations store at one of these addresses of a buffer, by the proofs at the top."""
    forms = [linear_form(offset) for offset in offsets]
    step = None
    rests: list[dict[Expr, int]] = []
    for factors, _ in forms:
        own = {atom: k for atom, k in factors.items() if _is_variable(atom, loop.var)}
        if len(own) != 1 or step not in (None, *own.values()):
            return False
        (step,) = own.values()
        rests.append({atom: k for atom, k in factors.items() if atom not in own})
    assert step is not None
    step, ends = abs(step), [end for _, end in forms]
    length = int(loop.extent.attr) if loop.extent.is_const else None
    fixed = not any(_depends(atom, {loop.var, *changing}, written) for rest in rests for atom in rest)
    if fixed and all(rest == rests[0] for rest in rests):
        gaps = {abs(one - other) for one in ends for other in ends}
        return all(gap % step or not gap or (length is not None and gap >= step * length) for gap in gaps)
    if length is None:
        return False
    multiple = math.gcd(*(k for rest in rests for k in rest.values()), *(end - ends[0] for end in ends))
    return step * (length - 1) < multiple


def _is_variable(e: Expr, name: str) -> bool:
    return e.op == "var" and bool(e.attr == name)


def _depends(e: Expr, names: Collection[str], buffers: Collection[str]) -> bool:
    """Return whether an expression reads a variable of one of these names, or an element of one of these buffers."""
    return any((a.op == "var" and a.attr in names) or (a.op == "load" and a.attr in buffers) for a in walk([e]))


def _is_injective(e: Expr, variable: str, nonzero: Collection[Expr]) -> bool:
    """Return whether an expression has another value for each value of a variable."""
    factors, _ = linear_form(e)
    moving = [atom for atom in factors if _depends(atom, {variable}, ())]
    if len(moving) != 1:
        return False
    (atom,) = moving
    if atom.op == "mul":
        pairs = (atom.args, atom.args[::-1])
        return any(_is_injective(a, variable, nonzero) and _is_factor(b, variable, nonzero) for a, b in pairs)
    if atom.op == "select":
        condition, *either = atom.args
        return not _depends(condition, {variable}, ()) and all(_is_injective(a, variable, nonzero) for a in either)
    return _is_variable(atom, variable)


def _is_factor(e: Expr, variable: str, nonzero: Collection[Expr]) -> bool:
    """Return whether an expression does not change with a variable, and is not 0."""
    if _depends(e, {variable}, ()):
        return False
    return e in nonzero or e.least > 0 or e.most < 0
