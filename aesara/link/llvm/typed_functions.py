"""Typed functions in modules of LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aesara.ir.typed.digests import digest_of_sources
from aesara.ir.typed.function import TypedFunction
from aesara.ir.typed.translate import Translation, translations
from aesara.link.llvm.module import Module
from aesara.records import dataclass

__all__ = ["LazyText", "add_function", "lazy_library", "library_text"]


@dataclass(frozen=True, eq=False)
class LazyText:
    """LLVM IR text that is built only if its object code is not in a cache.

    Attributes
    ----------
    key
        Digest of what the text depends on.
    build
        Function that returns the text.
    """

    key: str
    build: Callable[[], str]


def add_function(module: Module, function: TypedFunction) -> str:
    """Add a typed function, with those that it calls, to a module; return its name in LLVM IR."""
    for translation in translations(function):
        _add(module, translation, translation.text)
    return f"@{function.symbol}"


def library_text(functions: Iterable[TypedFunction]) -> tuple[str, set[str]]:
    """Return a module with typed functions, for other modules to call, and the symbols of the C functions that it
    calls."""
    module, exported = Module(), list(functions)
    symbols = {function.symbol for function in exported}
    for translation in translations(*exported):
        text = translation.text
        if translation.symbol in symbols:
            text = text.replace("define internal ", "define ", 1)
        _add(module, translation, text)
    return module.text(), module.externals


def lazy_library(functions: Iterable[TypedFunction]) -> LazyText:
    """Return the text of `library_text`, to be built if it is needed."""
    exported = tuple(functions)
    return LazyText(digest_of_sources(exported), lambda: library_text(exported)[0])


def _add(module: Module, translation: Translation, text: str) -> None:
    for name, declaration in translation.declarations.items():
        if declaration.startswith("declare "):
            module.declare(name, declaration)
        else:
            module.helper(name, declaration)
    module.externals.update(translation.externals)
    module.helper(f"@{translation.symbol}", text)
