"""LLVM modules: functions, constants and declarations, before they are written as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from aesara.ir import vecmath
from aesara.ir.definitions import Definition, FunctionDefinition, definitions_in
from aesara.ir.function import ScalarFunction
from aesara.ir.instructions import suffix
from aesara.link.llvm.metadata import Metadata
from aesara.link.llvm.types import LLVM_TYPES

__all__ = ["Module"]


class Module:
    """The contents of a module, in the order in which they are written.

    Attributes
    ----------
    main
        Groups of definitions: the kernels, the constants of the entry point, and the entry point.
    declarations
        Declarations by name.
    helpers
        Functions and constants that others need, by the name by which they are asked for.
    metadata
        The metadata of loops and branches, if the module has any.
    externals
        The functions outside of the module that it calls.
    functions
        Symbols of the scalar functions.
    """

    def __init__(self, metadata: Metadata | None = None) -> None:
        self.main: list[list[Definition]] = []
        self.declarations: dict[str, str] = {}
        self.helpers: dict[str, list[Definition]] = {}
        self.metadata = metadata
        self.externals: set[str] = set()
        self.functions: dict[ScalarFunction, str] = {}
        #: declared vector versions of functions
        self._versions: list[str] = []
        #: declarations in the text of helpers
        self._declared_by_helpers: dict[str, str] = {}

    # -- construction ----------------------------------------------------------------------------------------

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
            function = vecmath.function(name, dtype)
            if function is None:
                return None
            self.helper(symbol, function)
            for needed in vecmath.dependencies(name, dtype):
                self._declare_vecmath(vecmath.interface(needed, dtype))
        return symbol

    def _declare_vecmath(self, functions: Mapping[str, str]) -> None:
        """Declare functions of `vecmath` that are in another module."""
        self.externals.update(functions)
        for function, declaration in functions.items():
            if f"@{function}" not in self.declarations:
                self._versions.append(f"ptr @{function}")
                self.declare(f"@{function}", declaration)

    def helper(self, name: str, definition: Definition) -> str:
        """Add a function or a constant, unless one of this name exists; declarations in its text are set apart."""
        if name not in self.helpers:
            self.helpers[name] = group = []
            for one in definitions_in(definition) if isinstance(definition, str) else [definition]:
                if isinstance(one, str) and one.startswith("declare "):
                    declared = one.partition("@")[2].partition("(")[0]
                    self._declared_by_helpers.setdefault(f"@{declared}", one)
                else:
                    group.append(one)
        return name

    def add(self, definition: Definition) -> None:
        """Append a kernel, the entry point, or the text of definitions."""
        self.main.append(definitions_in(definition) if isinstance(definition, str) else [definition])

    # -- questions and changes -------------------------------------------------------------------------------

    def _groups(self) -> Iterator[list[Definition]]:
        yield from self.main
        yield from self.helpers.values()

    def function_definitions(self) -> list[FunctionDefinition]:
        """Return the functions in the order of the text."""
        return [one for group in self._groups() for one in group if isinstance(one, FunctionDefinition)]

    def rewrite(self, change: Callable[[FunctionDefinition], FunctionDefinition | None]) -> None:
        """Replace each function by the result of `change`; remove it if that is None."""
        for group in self._groups():
            changed = [change(one) if isinstance(one, FunctionDefinition) else one for one in group]
            group[:] = [one for one in changed if one is not None]

    # -- text ------------------------------------------------------------------------------------------------

    def text(
        self, write: Callable[[FunctionDefinition], str] = FunctionDefinition.text, keep_versions: bool = True
    ) -> str:
        """Return the text of the module.

        Parameters
        ----------
        write
            Returns the text of a function; empty to leave it out.
        keep_versions
            Whether LLVM keeps vector versions of functions until it vectorizes.
        """

        def text_of(group: list[Definition]) -> str:
            return "\n".join([text for one in group if (text := one if isinstance(one, str) else write(one))])

        declarations = {name: text for name, text in self.declarations.items() if name not in self.helpers}
        for name, text in self._declared_by_helpers.items():
            declarations.setdefault(name, text)
        others = [*declarations.values(), *filter(None, map(text_of, self.helpers.values()))]
        if self._versions and keep_versions:
            kept = f"[{len(self._versions)} x ptr] [{', '.join(self._versions)}]"
            others.append(f'@llvm.compiler.used = appending global {kept}, section "llvm.metadata"')
        parts = [*filter(None, map(text_of, self.main)), "\n".join(others)]
        if self.metadata is not None:
            parts.append(self.metadata.text() + "\n")
        return "\n\n".join(parts)
