"""Digests of the sources of typed functions, for caches: a digest takes far less time than a translation."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from types import FunctionType, ModuleType

from aesara.digests import blake2b
from aesara.ir.typed.function import CFunction, ConstantArray, GlobalVariable, TypedFunction
from aesara.ir.typed.types import Struct

__all__ = ["digest_of_sources"]

#: modules of the translator
_TRANSLATOR = (
    "aesara.ir.instructions",
    "aesara.ir.typed.function",
    "aesara.ir.typed.operations",
    "aesara.ir.typed.translate",
    "aesara.ir.typed.types",
    "aesara.ir.typed.values",
)


def digest_of_sources(functions: Iterable[TypedFunction]) -> str:
    """Return a digest of all that the translations of functions, and of those that they call, depend on.

    These are the source of the translator, the sources of the modules that define what is used, and numbers.

    Examples
    --------
    >>> from aesara.ir.draws.pcg64 import advance, integer
    >>> digest_of_sources([advance]) == digest_of_sources([advance]) != digest_of_sources([integer])
    True
    """
    digest = blake2b(digest_size=20)
    pending = []
    for function in functions:
        digest.update(f"{function.symbol} {function.linkage}\n".encode())
        pending.append(function.function.__module__)
    read = dict.fromkeys(_TRANSLATOR)
    while pending:
        name = pending.pop()
        if name not in read:
            read[name] = None
            facts, others = _facts_of_module(name)
            digest.update(facts.encode())
            pending += others
    for name in read:
        digest.update(_source(name))
    return digest.hexdigest()


@cache
def _facts_of_module(name: str) -> tuple[str, list[str]]:
    """Return the numbers and declarations among the global names of a module, and the other modules that it uses."""
    facts, others = [], []
    for key, value in vars(sys.modules[name]).items():
        if isinstance(value, (int, float, str)) and not key.startswith("__"):
            facts.append(f"{key} = {value!r}")
        elif isinstance(value, (CFunction, GlobalVariable)):
            facts.append(value.declaration)
        elif isinstance(value, (TypedFunction, ConstantArray)):
            others.append(value.function.__module__)
        elif isinstance(value, type):
            others += [value.__module__] if issubclass(value, Struct) else []
        elif isinstance(getattr(value, "__wrapped__", value), FunctionType):  # cached functions are wrapped
            others.append(value.__module__)
        elif isinstance(value, ModuleType):
            others.append(value.__name__)
    return "\n".join(facts), [other for other in others if other.startswith("aesara.")]


@cache
def _source(name: str) -> bytes:
    """Return the source of a module."""
    module = sys.modules[name]
    return module.__spec__.loader.get_data(module.__file__)  # type: ignore[union-attr,no-any-return]
