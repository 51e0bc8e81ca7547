"""What the records of LAPACK's routines are made of.

Their matrices are column-major: a row-major matrix is its transpose there.  What is symmetric stays what it is, what is
Hermitian becomes its conjugate, and the lower triangle becomes the upper one.  Each routine says what it makes of
row-major matrices.

References: E. Anderson et al., LAPACK Users' Guide, 3rd edition, SIAM 1999, and the comments of the routines, which
state the lengths of workspaces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.ir.buffers import COMPLEX_OF
from aesara.ir.expr import Expr, const
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
    "added",
    "given",
    "inout",
    "is_complex",
    "one",
    "out",
    "part_of",
    "record",
    "times",
    "work_of",
    "workspace",
]

#: the letter of LAPACK's names by dtype
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_PARTS = {whole: part for part, whole in COMPLEX_OF.items()}
#: what functions are called for complex numbers, where only the letter is not enough
_COMPLEX_STEMS = {"orgqr": "ungqr", "syevd": "heevd", "sygvd": "hegvd"}

#: nanoseconds of a multiply-add in a factorization, and of a call
_MULTIPLY_ADD, _CALL = 0.1, 300.0
#: columns that blocked algorithms take at once, for workspaces
BLOCK = 64

#: From which work to which, in nanoseconds by the routines' own estimates, LAPACK is kept to one thread: solutions by
#: factors, and inverses of definite matrices; factors of matrices; inverses by factors; eigenvalues, singular values
#: and orthogonal factors.  Two threads of OpenBLAS on two idle processors gain less than a fifth up to there, which is
#: up to matrices of order 150, 500, 350 and 350.  On busy processors they wait for each other, at any size.  OpenBLAS
#: factors smallest matrices on one thread by itself, so that asking for it would only take time.
SOLUTIONS, FACTORS, INVERSES, SPECTRA = (0.0, 2.0e5), (1.0e3, 2.5e6), (0.0, 2.5e6), (0.0, 2.0e7)

M, N, K = size("m"), size("n"), size("k")
#: numbers of diagonals: below the main one, above it, and in all
L, U, D = size("l"), size("u"), size("d")
ONE, _TWO = const(1), const(2)
STATUS = Parameter("status", "int64", (), is_read=False, is_written=True)


def is_complex(dtype: str) -> bool:
    """Whether a dtype is one of complex numbers."""
    return dtype in _PARTS


def part_of(dtype: str) -> str:
    """The dtype of the parts of complex numbers; of a real one itself."""
    return _PARTS.get(dtype, dtype)


def added(*terms: Expr) -> Expr:
    """The sum of sizes."""
    return functools.reduce(lambda a, b: a + b, terms)


def times(factor: int, e: Expr) -> Expr:
    """A multiple of a size."""
    return e * factor


def given(name: str, dtype: str, *shape: Expr, **facts: bool) -> Parameter:
    """An array of real or complex numbers, which is only read if `facts` say nothing else."""
    if not is_complex(dtype):
        return Parameter(name, dtype, shape, **facts)
    return Parameter(name, part_of(dtype), (*shape, _TWO), is_complex=True, **facts)


def inout(name: str, dtype: str, *shape: Expr) -> Parameter:
    """An array that is overwritten."""
    return given(name, dtype, *shape, is_written=True)


def out(name: str, dtype: str, *shape: Expr) -> Parameter:
    """An array that is written, whatever it held."""
    return given(name, dtype, *shape, is_read=False, is_written=True)


def workspace(name: str, dtype: str, length: Expr) -> Parameter:
    """A workspace of so many numbers."""
    return given(name, dtype, length, is_read=False, is_written=True, is_workspace=True)


def one(dtype: str) -> ConstantPointer:
    """A pointer to the number one."""
    parts = (const(1, part_of(dtype)), const(0, part_of(dtype)))
    return ConstantPointer(*parts[: 2 if is_complex(dtype) else 1])


def work_of(order: tuple[Expr, ...], factor: float) -> Work:
    """The time for so many multiply-adds, and of a call."""
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
    """A routine whose dtype is the last part of its name; the letter of the dtype comes before the function's.

    The reference gets complex numbers as such.  `one_thread` says when one thread does it.
    """
    library, stem = function.split(".")
    dtype = name.rsplit(".", 1)[1]
    if is_complex(dtype):
        stem = _COMPLEX_STEMS.get(stem, stem)
        reference = functools.partial(_with_numbers, reference, [p.is_complex for p in parameters])
        work = Work({order: 4 * time if order else time for order, time in work.terms.items()})
    return Routine(
        name=name, title=title, symbol=f"{library}.{LETTERS[dtype]}{stem}", sizes=sizes, parameters=parameters,
        arguments=arguments, work=work, reference=reference, one_thread=one_thread,
    )  # fmt: skip


def _with_numbers(reference: Callable[..., Any], pairs: list[bool], sizes: dict[str, Any], *arrays: np.ndarray) -> None:
    """Call a reference with complex numbers where arrays hold pairs; it writes to the arrays."""
    both = zip(arrays, pairs, strict=True)
    numbers = [a.view(COMPLEX_OF[a.dtype.name])[..., 0] if pair else a for a, pair in both]
    reference(sizes, *numbers)
