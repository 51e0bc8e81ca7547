"""The library routines that programs may call; each module has those of one library.

A routine is made when it is asked for: its name is that of its family and the arguments of the function that makes it.
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.ir.routine import Routine
from aesara.ir.routines import lapack, sorting

__all__ = ["FAMILIES", "routine_named"]

#: by family, what makes its routines
FAMILIES: dict[str, Callable[..., Routine]] = {
    "cholesky": lapack.cholesky,
    "sort": sorting.sort,
    "argsort": sorting.argsort,
}


def routine_named(name: str) -> Routine:
    """The routine of a name.

    Raises
    ------
    KeyError
        If there is none.

    Examples
    --------
    >>> routine_named("cholesky.lower.float64").symbol
    'lapack.dpotrf'
    """
    family, *arguments = name.split(".")
    routine = FAMILIES[family](*arguments)
    if routine.name != name:
        raise KeyError(name)
    return routine
