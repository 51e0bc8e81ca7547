"""Building blocks for the descriptions of LAPACK's routines.

LAPACK's matrices are column-major: it reads a row-major matrix as its transpose. A symmetric matrix stays the same, a
Hermitian one becomes its conjugate, and the lower triangle becomes the upper one. Each routine documents its effect on
row-major matrices.

References: E. Anderson et al., LAPACK Users' Guide, 3rd edition, SIAM 1999, and the comments of the routines, which
give the lengths of workspaces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.ir.expr import COMPLEX_OF, PART_OF, Expr, const
from aesara.ir.routine import CArgument, ConstantPointer, Parameter, Routine, size
from aesara.ir.work import Work

__all__ = [
    "BLOCK",
    "D",
    "FACTORS",
    "INVERSES",
    "K",
    "L",
    "LETTERS",
    "M",
    "N",
    "ONE",
    "SOLUTIONS",
    "SPECTRA",
    "STATUS",
    "U",
    "readonly",
    "inout",
    "is_complex",
    "pointer_to_one",
    "out",
    "part_of",
    "record",
    "work_of",
    "workspace",
]

#: letter in LAPACK's names by dtype
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
#: names of functions for complex numbers that differ in more than the letter
_COMPLEX_STEMS = {"orgqr": "ungqr", "syevd": "heevd", "sygvd": "hegvd"}

#: nanoseconds for a multiply-add in a factorization, and for a call
_MULTIPLY_ADD, _CALL = 0.1, 300.0
#: block size of blocked algorithms, for workspaces
BLOCK = 64

#: Ranges of the estimated work, in nanoseconds, in which LAPACK is limited to one thread: for solutions from factors
#: and inverses of definite matrices; factorizations; inverses from factors; eigenvalues, singular values and orthogonal
#: factors.  Up to there, which is matrices of order 150, 500, 350 and 350, two threads of OpenBLAS on two idle
#: processors gain less than 20%; on busy processors they wait for each other, at any size.  OpenBLAS factors the
#: smallest matrices on one thread by itself.
SOLUTIONS, FACTORS, INVERSES, SPECTRA = (0.0, 2.0e5), (1.0e3, 2.5e6), (0.0, 2.5e6), (0.0, 2.0e7)

M, N, K = size("m"), size("n"), size("k")
#: number of diagonals below the main one, above it, and in total
L, U, D = size("l"), size("u"), size("d")
ONE, _TWO = const(1), const(2)
STATUS = Parameter("status", "int64", (), is_read=False, is_written=True)


def is_complex(dtype: str) -> bool:
    """Return whether a dtype is complex."""
    return dtype in PART_OF


def part_of(dtype: str) -> str:
    """Return the dtype of the parts of complex numbers; a real dtype itself."""
    return PART_OF.get(dtype, dtype)


def readonly(name: str, dtype: str, *shape: Expr, **flags: bool) -> Parameter:
    """Return a parameter for an array of real or complex numbers; read-only by default."""
    if not is_complex(dtype):
        return Parameter(name, dtype, shape, **flags)
    return Parameter(name, part_of(dtype), (*shape, _TWO), is_complex=True, **flags)


def inout(name: str, dtype: str, *shape: Expr) -> Parameter:
    """Return a parameter for an array that is overwritten."""
    return readonly(name, dtype, *shape, is_written=True)


def out(name: str, dtype: str, *shape: Expr) -> Parameter:
    """Return a parameter for an array that is written only."""
    return readonly(name, dtype, *shape, is_read=False, is_written=True)


def workspace(name: str, dtype: str, length: Expr) -> Parameter:
    """Return a parameter for a workspace."""
    return readonly(name, dtype, length, is_read=False, is_written=True, is_workspace=True)


def pointer_to_one(dtype: str) -> ConstantPointer:
    """Return a pointer to the constant 1."""
    parts = (const(1, part_of(dtype)), const(0, part_of(dtype)))
    return ConstantPointer(*parts[: 2 if is_complex(dtype) else 1])


def work_of(order: tuple[Expr, ...], factor: float) -> Work:
    """Return the time of ``factor * prod(order)`` multiply-adds and of a call."""
    return Work({order: factor * _MULTIPLY_ADD, (): _CALL})


def record(
    name: str,
    title: str,
    function: str,
    sizes: tuple[str, ...],
    parameters: tuple[Parameter, ...],
    arguments: tuple[CArgument, ...],
    work: Work,
    reference: Callable[..., Any],
    one_thread: tuple[float, float] = INVERSES,
) -> Routine:
    """Return a routine whose dtype is the last part of its name, and the letter of the C function.

    The reference gets complex numbers as such. `one_thread` is the range of the work for one thread.
    """
    library, stem = function.split(".")
    dtype = name.rsplit(".", 1)[1]
    if is_complex(dtype):
        stem = _COMPLEX_STEMS.get(stem, stem)
        reference = functools.partial(_call_with_complex, reference, [p.is_complex for p in parameters])
        work = Work({order: 4 * time if order else time for order, time in work.terms.items()})
    return Routine(
        name=name, title=title, symbol=f"{library}.{LETTERS[dtype]}{stem}", sizes=sizes, parameters=parameters,
        arguments=arguments, work=work, reference=reference, one_thread=one_thread,
    )  # fmt: skip


def _call_with_complex(
    reference: Callable[..., Any], pairs: list[bool], sizes: dict[str, Any], *arrays: np.ndarray
) -> None:
    """Call a reference with complex arrays in place of pairs; it writes to the arrays."""
    numbers = [a.view(COMPLEX_OF[a.dtype.name])[..., 0] if pair else a for a, pair in zip(arrays, pairs, strict=True)]
    reference(sizes, *numbers)
