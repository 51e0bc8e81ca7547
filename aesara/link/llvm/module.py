"""Declarations and helper functions of an LLVM module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aesara.ir import vecmath
from aesara.ir.function import ScalarFunction
from aesara.ir.instructions import suffix
from aesara.link.llvm.types import LLVM_TYPES

__all__ = ["Module"]


class Module:
    """Declarations and helper functions by name."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.externals: set[str] = set()
        #: declared vector versions of functions
        self.versions: list[str] = []
        #: symbols of the scalar functions
        self.functions: dict[ScalarFunction, str] = {}

    def declare(self, name: str, text: str) -> str:
        self.declarations.setdefault(name, text)
        return name

    def intrinsic(self, name: str, kind: str, arity: int) -> str:
        """Declare an intrinsic with `arity` operands and a result of an LLVM type."""
        full = f"@llvm.{name}.{suffix(kind)}"
        return self.declare(full, f"declare {kind} {full}({', '.join([kind] * arity)})")

    def external(self, symbol: str, result: str, arguments: Sequence[str], zeros: int = 0) -> str:
        """Declare a pure C function, resolved when the object is linked, with `zeros` additional zero arguments."""
        self.externals.add(symbol)
        attributes = "nounwind willreturn memory(none)"
        args = ", ".join([LLVM_TYPES[a] for a in arguments] + ["i32"] * zeros)
        return self.declare(f"@{symbol}", f"declare {LLVM_TYPES[result]} @{symbol}({args}) {attributes}")

    def math(self, name: str, dtype: str) -> str | None:
        """Return one of our vectorizable functions, after declaring its dependencies; None if there is none for the
        dtype."""
        symbol = f"@{vecmath.symbol(name, dtype)}"
        if symbol not in self.helpers:
            text = vecmath.definition(name, dtype)
            if text is None:
                return None
            self.helpers[symbol] = text
            for needed in vecmath.dependencies(name, dtype):
                self._declare_vecmath(vecmath.interface(needed, dtype))
        return symbol

    def _declare_vecmath(self, functions: Mapping[str, str]) -> None:
        """Declare functions of `vecmath` that are in another module."""
        self.externals.update(functions)
        for function, declaration in functions.items():
            if f"@{function}" not in self.declarations:
                self.versions.append(f"ptr @{function}")
                self.declare(f"@{function}", declaration)

    def helper(self, name: str, text: str) -> str:
        self.helpers.setdefault(name, text)
        return name

    def text(self) -> str:
        lines = list(self.helpers.values())
        defined = set(self.helpers)
        needed = {n: t for n, t in self.declarations.items() if n not in defined}
        for body in self.helpers.values():
            for line in body.splitlines():
                if line.startswith("declare "):
                    needed.setdefault("@" + line.split("@", 1)[1].split("(", 1)[0], line)
        lines = ["\n".join(row for row in body.splitlines() if not row.startswith("declare ")) for body in lines]
        if self.versions:  # so that LLVM keeps them until it vectorizes
            kept = f"[{len(self.versions)} x ptr] [{', '.join(self.versions)}]"
            lines.append(f'@llvm.compiler.used = appending global {kept}, section "llvm.metadata"')
        return "\n".join([*needed.values(), *lines])
