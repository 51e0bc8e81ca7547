"""Identifiers of nodes in printed graphs."""

from __future__ import annotations

from typing import Literal

from aesara.graph.nodes import Apply, Variable

IDTypesType = Literal["id", "int", "CHAR", "auto", ""]
ID_TYPES = ("id", "int", "CHAR", "auto", "")


def char_from_number(number: int) -> str:
    """Write a number in base 26 with letters as digits: 0 is A, 25 is Z, 26 is BA.

    Examples
    --------
    >>> char_from_number(27)
    'BB'
    """
    digits = ""
    while True:
        number, digit = divmod(number, 26)
        digits = chr(ord("A") + digit) + digits
        if number == 0:
            return digits


def identifier(of: object, variable: Variable | None, id_type: str, used_ids: dict[object, str]) -> str:
    """Return the identifier of a node or variable; create one at first use.

    Parameters
    ----------
    of
        An Apply, a variable without an owner, or the string ``"output"``.
    variable
        The variable that is printed.
    id_type
        The kind of identifier; see `debugprint`.
    used_ids
        The identifiers in use; new ones are added.
    """
    known = used_ids.get(of)
    if known is not None:
        return known
    if id_type == "CHAR":
        text = f"[id {char_from_number(len(used_ids))}]"
    elif id_type == "int":
        text = f"[id {len(used_ids)}]"
    elif id_type == "id":
        text = f"[id {id(variable if variable is not None else of)}]"
    elif id_type == "auto":
        text = f"[id {variable.auto_name}]" if variable is not None else ""
    elif id_type == "":
        text = ""
    else:
        raise ValueError(f"Unknown id_type {id_type!r}; choose one of {ID_TYPES}.")
    used_ids[of] = text
    return text


def owner_or_self(variable: Variable) -> Apply | Variable:
    """Return the owner of a variable, or the variable if it has none."""
    return variable if variable.owner is None else variable.owner
