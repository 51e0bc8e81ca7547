"""Digests of typed functions, by which their machine code is found without translating them."""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from aesara.digests import blake2b
from aesara.ir import instructions
from aesara.ir.typed.function import CFunction, ConstantArray, GlobalVariable, TypedFunction
from aesara.ir.typed.types import Field, Struct, StructType, ValueType

__all__ = ["digest_and_symbols"]


def digest_and_symbols(functions: Iterable[TypedFunction]) -> tuple[str, set[str]]:
    """Return a digest of all that the code of functions depends on, and the symbols that it may refer to.

    The digest is that of the sources of these functions, of those that they call and of the translator, and of the
    constants that their names have.
    """
    reached, files, symbols, facts = [], set(_translator_files()), set(), []
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function in reached:
            continue
        reached.append(function)
        files.add(function.function.__code__.co_filename)
        facts.append(f"{function.symbol} {function.linkage} {function.attributes}")
        structures = [kind.cls for kind in function.parameters.values() if isinstance(kind, StructType)]
        for name, value in (*_names_of(function), *((cls.__name__, cls) for cls in structures)):
            if isinstance(value, TypedFunction):
                waiting.append(value)
            elif isinstance(value, (CFunction, GlobalVariable)):
                symbols.add(value.symbol)
                facts.append(value.declaration)
            elif isinstance(value, ConstantArray):
                facts.append(value.definition)
            elif isinstance(value, ModuleType):
                files.add(value.__file__ or "")
            elif isinstance(value, FunctionType):  # a traced function
                files.add(value.__code__.co_filename)
            elif isinstance(value, type) and issubclass(value, Struct):
                module = sys.modules[value.__module__]
                files.add(module.__file__ or "")
                facts += [repr(fields) for fields in map(_fields_of, (value, *vars(module).values())) if fields]
            elif isinstance(value, (ValueType, bool, int, float)):
                facts.append(f"{name} {value!r}")
    digest = blake2b(digest_size=20)
    for part in (*facts, *map(_source, sorted(files))):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest(), symbols


def _names_of(function: TypedFunction) -> Iterator[tuple[str, Any]]:
    """Yield the global names in a function's code, and those of functions around it, with their values."""
    code, names = function.function.__code__, function.names
    for name in (*code.co_names, *code.co_freevars):
        if name in names:
            yield name, names[name]


def _fields_of(cls: Any) -> dict[str, Field]:
    """Return the fields of a structure, with their offsets; nothing for other objects."""
    is_structure = isinstance(cls, type) and issubclass(cls, Struct)
    return {name: value for name, value in vars(cls).items() if isinstance(value, Field)} if is_structure else {}


@functools.cache
def _translator_files() -> tuple[str, ...]:
    return (*map(str, Path(__file__).parent.glob("*.py")), instructions.__file__)


@functools.cache
def _source(filename: str) -> str:
    return "".join(linecache.getlines(filename))
