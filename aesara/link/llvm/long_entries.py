"""Separation of long entry points from the kernels that they launch.

The entry point of a graph with hundreds of kernels of unknown sizes has tens of thousands of lines, for which LLVM's
passes and register allocator take seconds, although most of them run once per call. In a module of its own it is
compiled without optimization, in a tenth of the time, while kernels are optimized as usual.
"""

from __future__ import annotations

from aesara.ir.definitions import FunctionDefinition
from aesara.link.llvm.module import Module

__all__ = ["split_long_entry"]

#: number of lines from which an entry point gets its own module: two modules take some milliseconds more than one
_LONG = 4000
#: the same for one with loops, whose iterations take 25% longer without LLVM's passes
_LONG_WITH_LOOPS = 16000


def split_long_entry(module: Module, entry: str) -> tuple[str, str] | None:
    """Split a module into one without its entry point, and one with only the entry point, which calls the former.

    Parameters
    ----------
    module
        A module; its global variables are constants.
    entry
        Name of its entry point.

    Returns
    -------
    tuple
        The texts of both; None if the entry point is short.
    """
    (found,) = (function for function in module.function_definitions() if function.name == f"@{entry}")
    if len(found.lines) < (_LONG if "optnone" in found.attributes else _LONG_WITH_LOOPS):
        return None

    def kernels(function: FunctionDefinition) -> str:
        if function is found:
            return ""
        return function.text() if _is_copied(function) else function.text(linkage="")

    def entry_point(function: FunctionDefinition) -> str:
        return function.text() if function is found or _is_copied(function) else function.declaration()

    # Vector versions of functions are for the vectorizer, which does not run on the entry point.
    return module.text(kernels), module.text(entry_point, keep_versions=False)


def _is_copied(function: FunctionDefinition) -> bool:
    """Return whether both modules have a function: one that is inlined, except for elementary functions."""
    return function.is_inlined and "memory(none)" not in function.attributes
