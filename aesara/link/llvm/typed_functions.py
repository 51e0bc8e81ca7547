"""Typed functions in modules of LLVM IR."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from aesara.ir.definitions import FunctionDefinition
from aesara.ir.typed.function import TypedFunction
from aesara.ir.typed.translate import Translation, translations
from aesara.link.llvm.module import Module
from aesara.records import dataclass

__all__ = ["Library", "add_function", "library_text"]


@dataclass(frozen=True, eq=False)
class Library:
    """Functions of the package's own sources, which are translated only if their object code is not in a cache.

    Attributes
    ----------
    name
        Name by which the object code is found as long as the sources are the same. It depends on all else that the
        text depends on.
    text
        Function that returns the text.
    """

    name: str
    text: Callable[[], str]


def add_function(module: Module, function: TypedFunction) -> str:
    """Add a typed function, with those that it calls, to a module; return its name in LLVM IR."""
    for translation in translations(function).values():
        _add(module, translation, translation.definition)
    return f"@{function.symbol}"


def library_text(functions: Iterable[TypedFunction]) -> str:
    """Return a module with typed functions, for other modules to call."""
    module, exported = Module(), list(functions)
    for function, translation in translations(*exported).items():
        definition = translation.definition
        if function in exported:
            definition = dataclasses.replace(definition, linkage="")
        _add(module, translation, definition)
    return module.text()


def _add(module: Module, translation: Translation, definition: FunctionDefinition) -> None:
    for name, declaration in translation.declarations.items():
        if declaration.startswith("declare "):
            module.declare(name, declaration)
        else:
            module.helper(name, declaration)
    module.externals.update(translation.externals)
    module.helper(definition.name, definition)
