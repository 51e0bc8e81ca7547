"""Machine code of the shared routines, compiled once per process; rarely needed routines are separate."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from aesara.link.llvm import large_results
from aesara.link.llvm.cache import object_cache
from aesara.link.llvm.jit import load_routines
from aesara.link.llvm.shared.arguments import ARGUMENTS
from aesara.link.llvm.shared.calls import CALLS
from aesara.link.llvm.shared.generators import GENERATORS
from aesara.link.llvm.shared.kept_results import KEPT_RESULTS
from aesara.link.llvm.shared.memory import MEMORY
from aesara.link.llvm.shared.notation import expand
from aesara.link.llvm.shared.one_thread import ROUTINES as ONE_THREAD
from aesara.link.llvm.shared.products import large_products_text, products_text
from aesara.link.llvm.shared.threads import thread_text, threads_text
from aesara.link.llvm.shared.values import GIVE_GUARDS, VALUES
from aesara.link.llvm.target import Target, current_target, target_named
from aesara.link.llvm.typed_functions import LazyText

__all__ = ["routine_words", "text_of_calls"]

_NAMES = (
    "strict", "refuse", "number", "finish", "abort", "array", "workspace", "late", "release", "take", "poll", "chunk",
    "rounds",
)  # fmt: skip
_BLOCK_NAMES = ("raw_malloc", *(f"blocks.{name}" for name in (*large_results.FUNCTIONS, "trim")))
_GENERATOR_NAMES = ("attach", "open", "hold", "fetch", "settle", "keep", "unlock.all")


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
    words = dict(_calls())
    for is_needed, load in (
        (arguments, _arguments),
        (values, _values),
        (lent, _lent),
        (generators, _generators),
    ):
        if is_needed:
            words |= load()
    for dtype in dtypes:
        words |= _products(dtype, target)
    return words


@functools.cache
def _calls() -> dict[str, int]:
    if not large_results.USED:
        return _load(text_of_calls(), _NAMES, large_results.required_symbols())
    found = _load(text_of_calls(), (*_NAMES, *_BLOCK_NAMES), large_results.required_symbols())
    large_results.install(found)
    # It replaces Python's function.
    return {name: found[name] for name in _NAMES} | {"PyMem_RawMalloc": found["raw_malloc"]}


@functools.cache
def text_of_calls() -> LazyText:
    """Return LLVM IR text of the routines that every function needs."""
    text, arrays = _as_written(CALLS, GIVE_GUARDS, MEMORY, threads_text(), thread_text()), large_results.text()
    return LazyText(text + arrays.key, lambda: text + arrays.build())


@functools.cache
def _values() -> dict[str, int]:
    return _load(_as_written(VALUES, GIVE_GUARDS, thread_text()), ("secure", "reuse"))


@functools.cache
def _lent() -> dict[str, int]:
    return _load(_as_written(KEPT_RESULTS), ("lend",))


@functools.cache
def _generators() -> dict[str, int]:
    return _load(_as_written(GENERATORS), _GENERATOR_NAMES)


def _as_written(*texts: str) -> str:
    # Not optimized: LLVM's passes would find little and take twice the time.
    return expand("\n".join(texts)).replace(" nounwind", " noinline optnone nounwind")


def _load(text: str | LazyText, names: Iterable[str], calls: Iterable[str] = ()) -> dict[str, int]:
    return load_routines(text, names, object_cache(), 0, target_named("native"), calls)


@functools.cache
def _arguments() -> dict[str, int]:
    # Optimized: calls with many arguments spend their time in its loop.
    return load_routines(expand(ARGUMENTS), ("arguments",), object_cache(), 1, target_named("native"))


@functools.cache
def _products(dtype: str, target: Target) -> dict[str, int]:
    native = target_named("native")
    large = load_routines(large_products_text(dtype), (f"large.{dtype}",), object_cache(), 0, native)
    text = products_text(dtype, target.vector_bytes)
    return large | load_routines(text, (f"matmul.{dtype}", f"mirror.{dtype}"), object_cache(), 1, target, ONE_THREAD)
