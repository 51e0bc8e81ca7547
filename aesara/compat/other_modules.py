"""Modules of Aesara 2.9.4 that this package does not have; importing one raises an error with the replacement.

The table is asked by the import system after everything else has failed, so that it costs nothing before.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType

_NO_C = "Functions are compiled through LLVM, and no C code is written or compiled"

#: For each missing module, with its submodules, the reason and the replacement.
OTHER_MODULES = {
    "aesara._version": "Use aesara.__version__.",
    "aesara.bin": "There are no command line tools. The cache of compiled code is aesara.config.native_cache_dir.",
    "aesara.compile.compiledir": f"{_NO_C}. The cache of compiled code is the folder aesara.config.native_cache_dir.",
    "aesara.compile.compilelock": f"{_NO_C}, and the cache of compiled code needs no lock.",
    "aesara.link.c": f"{_NO_C}. Use aesara.graph.op.Op with a `perform`, or docs/adding_a_lowering.md for native code.",
    "aesara.link.numba": "Functions are compiled to native code by LLVM directly; leave the mode out to use it.",
    "aesara.misc": "It was a tool for developing Aesara, or about its C compiler or GPUs.",
    **dict.fromkeys(
        (f"aesara.sandbox.{name}" for name in ("fourier", "minimal", "solve")),
        "Of its experiments only aesara.sandbox.rng_mrg was taken over. See aesara.tensor.",
    ),
    "aesara.sandbox.linalg": "Its rules are in aesara.tensor.rewriting.linalg, and apply without being imported.",
    "aesara.scalar.basic_sympy": f"{_NO_C}. Make scalar ops of expressions with aesara.scalar.Composite.",
    "aesara.scan.scan_perform_ext": f"{_NO_C}. Loops of aesara.scan are compiled with their functions.",
    "aesara.tensor.blas_c": f"{_NO_C}. Products call BLAS by themselves; its forms are in aesara.tensor.blas.",
    "aesara.tensor.blas_headers": f"{_NO_C}. Products call BLAS by themselves.",
    "aesara.tensor.blas_scipy": "Products call SciPy's BLAS by themselves; its forms are in aesara.tensor.blas.",
    "aesara.tensor.elemwise_cgen": f"{_NO_C}. See aesara.tensor.elemwise.",
}


def what_instead(name: str) -> str | None:
    """Return the reason for a missing module of Aesara and its replacement; None for other modules.

    Examples
    --------
    >>> what_instead("aesara.link.numba.dispatch")
    'Functions are compiled to native code by LLVM directly; leave the mode out to use it.'
    """
    while name.count("."):
        if name in OTHER_MODULES:
            return OTHER_MODULES[name]
        name = name.rpartition(".")[0]
    return None


class _OtherModules:
    """Finds no module, and explains why."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname.startswith("aesara."):
            instead = what_instead(fullname)
            if instead is not None:
                # Without `name`, so that `from aesara.tensor import slinalg` raises this error too.
                raise ModuleNotFoundError(f"There is no module {fullname!r} here. {instead}")


def explain_imports() -> None:
    """Make imports of the modules above raise errors that say what to use."""
    if not any(isinstance(finder, _OtherModules) for finder in sys.meta_path):
        sys.meta_path.append(_OtherModules())
