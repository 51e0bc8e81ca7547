"""Questions about the BLAS library."""

from __future__ import annotations

import numpy as np

from aesara.configdefaults import config
from aesara.tensor.products.gemv import gemv_no_inplace

__all__ = ["check_init_y", "ldflags"]


def ldflags(libs: bool = True, flags: bool = False, libs_dir: bool = False, include_dir: bool = False) -> list[str]:
    """Return the parts of the option `blas__ldflags` of the given kinds.

    Parameters
    ----------
    libs
        Names of libraries (``-lNAME``).
    flags
        What is of none of the other kinds.
    libs_dir
        Folders of libraries (``-LPATH``).
    include_dir
        Folders of headers (``-IPATH``).

    Returns
    -------
    list of str
        Names and folders without their letters, flags as they are.

    Examples
    --------
    >>> import aesara
    >>> from aesara.tensor.blas import ldflags
    >>> with aesara.config.change_flags(blas__ldflags="-L/opt/lib -lopenblas -O2"):
    ...     ldflags(), ldflags(libs=False, libs_dir=True), ldflags(libs=False, flags=True)
    (['openblas'], ['/opt/lib'], ['-O2'])
    """
    wanted = {"-l": libs, "-L": libs_dir, "-I": include_dir}
    found = []
    for part in config.blas__ldflags.split():
        kind = part[:2]
        if kind in wanted:
            if wanted[kind]:
                found.append(part[2:].strip("\"'"))
        elif flags:
            found.append(part)
    return found


def check_init_y() -> bool:
    """Return whether ``gemv`` reads `y` even if its factor is zero, so that `y` must be initialized.

    Examples
    --------
    >>> check_init_y()
    False
    """
    matrix, vector = np.ones((2, 2)), np.ones(2)
    node = gemv_no_inplace.make_node(vector, 1.0, matrix, vector, 0.0)
    storage: list = [None]
    one, zero = np.array(1.0), np.array(0.0)
    gemv_no_inplace.perform(node, [np.full(2, np.nan), one, matrix, vector, zero], [storage])
    return bool(np.isnan(storage[0]).any())
