"""Compilation without LLVM's passes, for tests of ops, rules and graphs: most of their time was LLVM's.

The loop IR is the same, so that faults of ops, rules, lowering and the emitter show.  What LLVM makes of loops is
tested by values of each op for all dtypes and layouts (`optable/test_table_values.py`), by programs drawn at random
(`fuzz`, `scan/test_random_loops.py`), and by tests of kernels and machine code (`accuracy`, `ir`, `lower`, `link`); in
`lower`, for kernels of unknown lengths.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from aesara.link.llvm import jit

ROOT = Path(__file__).resolve().parent

#: Folders and files without passes, and those within them for which LLVM optimizes.
UNOPTIMIZED = """
link/jax_mode optable pytensor_mode rules scan sparse spec tensor
lower/test_decompositions.py lower/test_linear_algebra.py lower/test_matrix_equations.py lower/test_matrix_roots.py
lower/test_small_matrices.py
""".split()
OPTIMIZED = """
optable/test_table_values.py
scan/test_random_loops.py
tensor/random
""".split()


@cache
def is_unoptimized(path: Path) -> bool:
    """Return whether the tests of a file are compiled without LLVM's passes."""
    for place in (path, *path.parents):
        name = place.relative_to(ROOT).as_posix() if place.is_relative_to(ROOT) else ""
        if name in OPTIMIZED:
            return False
        if name in UNOPTIMIZED:
            return True
    return False


@contextlib.contextmanager
def unoptimized() -> Iterator[None]:
    """Give what is compiled for a graph to LLVM's code generator alone, at its lowest level."""
    generate = jit._object

    def without_passes(text, cache, target, optimize=True, level=0):
        return generate(text, cache, target, optimize=False, level=0 if optimize else level)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "_object", without_passes)
        yield
