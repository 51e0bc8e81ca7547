"""Descriptions of variables and types in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from aesara.graph import hooks

__all__ = [
    "describe",
    "described_list",
    "formula_of",
    "lengths_text",
    "namesake_note",
    "operand_text",
    "type_text",
]


def describe(thing: Any) -> str:
    """Name a variable in a message: its name, or its formula and what computes it.

    Anything else is named by its `repr`, so that it can be what somebody has given for a variable.

    Parameters
    ----------
    thing
        A variable, or anything else.

    Examples
    --------
    >>> x, y = at.dvectors("x", "y")
    >>> describe(x), describe(x + y)
    ('x', '`x + y` (Elemwise{add,no_inplace}.0)')
    """
    owner = getattr(thing, "owner", None)
    if owner is None:
        return str(thing) if hasattr(thing, "owner") else repr(thing)
    formula = None if thing.name is not None else formula_of(thing)
    return str(thing) if formula is None else f"`{formula}` ({thing})"


def described_list(things: Iterable[Any], most: int = 10) -> str:
    """Name some variables, at most `most` of them."""
    names = [describe(one) for one in things]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def operand_text(variable: Any) -> str:
    """A variable as it is written in front of an index: its name, or its formula, in parentheses if they are needed.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> operand_text(x), operand_text(x * 2), operand_text(at.exp(x + 1)), operand_text(at.dvector())
    ('x', '(x * 2)', 'exp(x + 1)', 'value')
    """
    if variable.name is not None:
        return variable.name
    formula = formula_of(variable)
    if formula is None:
        return "value"
    inside = re.sub(r"[^()\[\]]", lambda found: " " if found[0] == " " else "_", formula)
    while inside != (shorter := re.sub(r"\([^()\[\]]*\)|\[[^()\[\]]*\]", "", inside)):
        inside = shorter
    return f"({formula})" if " " in inside or formula[0] in "-~" else formula


def lengths_text(shape: Sequence[int | None]) -> str:
    """A static shape as a tuple, with a question mark for lengths that are not known.

    Examples
    --------
    >>> lengths_text((2, None)), lengths_text((None,)), lengths_text(())
    ('(2, ?)', '(?,)', '()')
    """
    lengths = ["?" if length is None else str(length) for length in shape]
    return f"({lengths[0]},)" if len(lengths) == 1 else f"({', '.join(lengths)})"


def type_text(type: Any) -> str:
    """A type in short: dtype and lengths of dimensions, with a question mark for those that are not known.

    Examples
    --------
    >>> type_text(at.dmatrix), type_text(at.lscalar)
    ('float64[?, ?]', 'int64')
    """
    dtype, shape = getattr(type, "dtype", None), getattr(type, "shape", ())
    if dtype is None:
        return str(type)
    return f"{dtype}[{', '.join('?' if n is None else str(n) for n in shape)}]" if shape else str(dtype)


def namesake_note(variable: Any, others: Iterable[Any], where: str) -> str:
    """Return a sentence about another variable of the same name; empty if there is none.

    Parameters
    ----------
    variable
        The variable that is missing, or that nothing depends on.
    others
        The variables that may be meant.
    where
        What these are, as in ``"is an input of the function"``.

    Examples
    --------
    >>> namesake_note(at.dscalar("x"), [at.dvector("x")], "is an input")[:75]
    'Another variable called `x`, of type TensorType(float64, (?,)), is an input'
    """
    if variable.name is None:
        return ""
    for other in others:
        if other is not variable and getattr(other, "name", None) == variable.name:
            return (
                f"Another variable called `{variable.name}`, of type {other.type}, {where}: "
                "variables are told apart by identity, not by name."
            )
    return ""


def formula_of(variable: Any) -> str | None:
    """The formula of a computed variable, cut where it is long; None if there is none.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> formula_of(at.exp(x) * 2 + 1)
    'exp(x) * 2 + 1'
    """
    if variable.owner is None:
        return None
    try:
        return hooks.formula(variable)
    except Exception:  # a printer of the user's own; what is to be said is something else
        return None
