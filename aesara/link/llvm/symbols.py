"""Resolution of the C functions that compiled code calls by symbol.

===================================  ==============================================================================
``special.<name>.<arity>``           a function of doubles of ``scipy.special.cython_special``
``lapack.<name>``, ``blas.<name>``   LAPACK and BLAS, as ``scipy.linalg`` exports them to Cython
``numpy.sort.<kind>.<dtype>``        NumPy's in-place sort of a row, and ``numpy.argsort`` of positions
``random.<name>``                    a function that draws, of ``numpy.random``
``numpy.loop.<name>.<types>``        a loop of one of NumPy's ufuncs; ``dd.d`` for two operands and one result
``numpy.fft.<name>.<dtype>``         a loop of a ufunc behind ``numpy.fft``, for a dtype of parts; NumPy 2
anything else                        a function of the C library
===================================  ==============================================================================
"""

from __future__ import annotations

from aesara.ir.generators import draw_address
from aesara.ir.routines.numpy_loops import loop_address
from aesara.link.llvm.addresses import fortran_function, libm_address, numpy_sort, numpy_transform, special_function

__all__ = ["address_of"]


def address_of(symbol: str) -> int | None:
    """Return the address of a C function; None if this installation does not have it.

    Examples
    --------
    >>> address_of("lapack.dpotrf") is not None, address_of("lapack.nothing") is None
    (True, True)
    """
    source, *rest = symbol.split(".")
    if source == "special":
        return special_function(rest[0], int(rest[1]))
    if source in ("lapack", "blas"):
        return fortran_function(source, rest[0])
    if source == "random":
        return draw_address(rest[0])
    if source == "numpy" and rest[0] == "loop":
        return loop_address(*rest[1:])
    if source == "numpy":
        return numpy_transform(*rest[1:]) if rest[0] == "fft" else numpy_sort(*rest)
    return libm_address(symbol)
