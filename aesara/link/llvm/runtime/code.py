"""Machine code of the runtime's functions, compiled once per process; rarely needed functions are separate."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from aesara.ir.typed.function import TypedFunction
from aesara.link.llvm import large_results, layout
from aesara.link.llvm.cache import object_cache
from aesara.link.llvm.jit import load_functions, load_routines
from aesara.link.llvm.runtime.arguments import read_arguments
from aesara.link.llvm.runtime.calls import abort, finish, is_second_attempt, number, refuse
from aesara.link.llvm.runtime.generators import (
    attach,
    copy_words,
    copy_words_locked,
    is_unchanged,
    lock_all,
    store_words,
    unlock_all,
)
from aesara.link.llvm.runtime.guards import secure
from aesara.link.llvm.runtime.kept_results import lend, reuse
from aesara.link.llvm.runtime.large_blocks import BLOCK_FUNCTIONS, PAGE
from aesara.link.llvm.runtime.large_products import large_product
from aesara.link.llvm.runtime.memory import allocate_late_block, get_workspace, new_array
from aesara.link.llvm.runtime.products import products_library
from aesara.link.llvm.runtime.slices import accumulate_in_slices, run_in_slices
from aesara.link.llvm.runtime.threads import CLOCK_FACTS, count_rounds, end_of_chunk, poll, release_gil, take_gil
from aesara.link.llvm.target import Target, current_target, target_named

__all__ = ["routine_words"]

#: functions that every call needs
_CALLS = (
    is_second_attempt, refuse, number, finish, abort, new_array, get_workspace, allocate_late_block, release_gil,
    take_gil, poll, end_of_chunk, count_rounds, run_in_slices, accumulate_in_slices,
)  # fmt: skip
_VALUES = (secure, reuse)
_GENERATORS = (attach, copy_words, lock_all, copy_words_locked, is_unchanged, store_words, unlock_all)


def routine_words(
    dtypes: Iterable[str],
    arguments: bool = False,
    values: bool = False,
    lent: bool = False,
    generators: bool = False,
) -> dict[str, int]:
    """Return the words of the table with the addresses of the routines that a function needs.

    Parameters
    ----------
    dtypes
        Dtypes of its matrix products.
    arguments
        Whether it needs the routine that reads many arguments.
    values
        Whether it needs those for shared values and memory that may be overwritten.
    lent
        Whether it needs the one for lent results.
    generators
        Whether it needs those for random generators.
    """
    target = current_target()
    if not target.runs:
        target = target_named("native")  # nothing calls them
    words = dict(_load_calls())
    for is_needed, name, functions, level in (
        # Optimized: calls with many arguments spend their time in its loop.
        (arguments, "arguments", (read_arguments,), 1),
        (values, "values", _VALUES, 0),
        (lent, "lent", (lend,), 0),
        (generators, "generators", _GENERATORS, 0),
    ):
        if is_needed:
            words |= _load(name, functions, level)
    for dtype in dtypes:
        words |= _products(dtype, target)
    return words


@functools.cache
def _load_calls() -> dict[str, int]:
    """Return the words with the functions that every call needs."""
    found = dict(_load(f"calls {CLOCK_FACTS} {PAGE}", (*_CALLS, *BLOCK_FUNCTIONS), 0))
    if BLOCK_FUNCTIONS:
        large_results.install(found)
        found["PyMem_RawMalloc"] = found["raw_malloc"]  # in place of Python's function
    return {name: address for name, address in found.items() if name in layout.WORD}


def _word(function: TypedFunction) -> str:
    """Return the name of a function's word in the table."""
    return function.symbol.removeprefix("ae.")


@functools.cache
def _load(name: str, functions: tuple[TypedFunction, ...], level: int) -> dict[str, int]:
    """Return the addresses of the functions of a library by their word in the table."""
    addresses = load_functions(functions, level, name=name)
    return {_word(function): address for function, address in addresses.items()}


@functools.cache
def _products(dtype: str, target: Target) -> dict[str, int]:
    large = _load(f"large products {dtype}", (large_product(dtype),), 0)
    library = products_library(dtype, target.vector_bytes)
    return large | load_routines(library, (f"matmul.{dtype}", f"mirror.{dtype}"), object_cache(), 1, target)
