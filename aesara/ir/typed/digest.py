"""Digests of typed functions, by which their machine code is found without translating them."""

from __future__ import annotations

import functools
import inspect
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
    reached: dict[TypedFunction, None] = {}
    structures_used: dict[Any, None] = {}
    files, symbols, facts = set(_translator_files()), set(), []
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function in reached:
            continue
        reached[function] = None
        files.add(function.function.__code__.co_filename)
        facts.append(f"{function.symbol} {function.linkage} {function.attributes} {function.parameter_attributes}")
        facts.append(f"{function.parameters} {function.result}")
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
                structures_used[value] = None
            elif isinstance(value, (ValueType, bool, int, float)):
                facts.append(f"{name} {value!r}")
    for structure in structures_used:
        files.add(sys.modules[structure.__module__].__file__ or "")
        facts.append(f"{structure.__name__} {_offsets_of(structure)}")
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


@functools.cache
def _offsets_of(structure: Any) -> dict[str, int]:
    """Return the offsets of a structure's fields, and of those that its fields point to."""
    offsets: dict[str, int] = {}
    waiting, seen = [structure], {structure}
    while waiting:
        cls = waiting.pop()
        for base in cls.__mro__:
            fields = {name: value for name, value in vars(base).items() if isinstance(value, Field)}
            offsets |= {f"{cls.__name__}.{name}": field.offset for name, field in fields.items()}
            for kind in inspect.get_annotations(base, eval_str=True).values() if fields else ():
                target = getattr(kind, "target", kind)
                target = target.cls if isinstance(target, StructType) else target
                if isinstance(target, type) and issubclass(target, Struct) and target not in seen:
                    seen.add(target)
                    waiting.append(target)
    return offsets


@functools.cache
def _translator_files() -> tuple[str, ...]:
    return (*map(str, Path(__file__).parent.glob("*.py")), instructions.__file__)


@functools.cache
def _source(filename: str) -> str:
    return "".join(linecache.getlines(filename))
