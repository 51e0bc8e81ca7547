"""Library routines that programs may call; importing the package registers their families.

A routine is built on demand: its name is that of its family and the arguments of the factory.
"""

from __future__ import annotations

from aesara.ir.routine import FAMILIES, Routine
from aesara.ir.routines import (
    draws,
    fourier,
    lapack,
    mrg,
    numpy_loops,
    orthogonal,
    products,
    schur_forms,
    sorting,
    spectra,
)

__all__ = ["FAMILIES", "routine_named"]


def routine_named(name: str) -> Routine | None:
    """Return the routine of this name; None if there is none.

    Examples
    --------
    >>> routine_named("cholesky.lower.float64").symbol
    'lapack.dpotrf'
    >>> routine_named("cholesky.lower.int8") is None
    True
    """
    family, *arguments = name.split(".")
    try:
        return FAMILIES[family](*arguments)
    except (KeyError, TypeError):
        return None
