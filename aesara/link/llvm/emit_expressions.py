"""Translation of expressions to LLVM instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.ir.expr import Expr
from aesara.ir.function import ScalarFunction
from aesara.ir.instructions import Value
from aesara.link.llvm.kept_values import KeptValues
from aesara.link.llvm.metadata import Metadata
from aesara.link.llvm.module import Module
from aesara.link.llvm.primitives import convert_dtype, primitive
from aesara.link.llvm.types import LLVM_TYPES, memory_type
from aesara.link.llvm.values import Scope, Values

__all__ = ["ExpressionEmitter", "load_element", "store_element"]


class ExpressionEmitter:
    """Emits expressions, each once in the outermost scope in which its operands are known.

    Parameters
    ----------
    module, metadata
        Get the functions that are called, and the metadata of instructions.
    values
        The known values.
    symbol_of
        Returns the symbol of a scalar function, which it adds to the module.

    Attributes
    ----------
    pointers
        Pointers to buffers, by their names.
    kept
        Keeps values in the frame; None if the values of the top level are never forgotten.
    """

    def __init__(
        self, module: Module, metadata: Metadata, values: Values, symbol_of: Callable[[ScalarFunction], str]
    ) -> None:
        self.module, self.metadata, self.values = module, metadata, values
        self.pointers: dict[str, str] = {}
        self.kept: KeptValues | None = None
        self._symbol_of = symbol_of

    def name_of(self, root: Expr) -> str:
        """Return the name (or literal) of the value of `root` in the innermost scope."""
        find = self.values.find
        stack = [root]
        while stack:
            e = stack[-1]
            if find(e) is not None:
                stack.pop()
                continue
            missing = [a for a in e.args if find(a) is None]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._emit(e)
        if self.kept is not None:
            self.kept.keep_if_repeated(root)
        found = find(root)
        assert found is not None
        return self.values.here(found)

    def value_of(self, e: Expr) -> Value:
        """Return the value of an expression as a `Value` of the innermost scope."""
        return self.values.innermost.value(LLVM_TYPES[e.dtype], self.name_of(e))

    def pointer_to(self, buffer: str, scope: Scope | None = None) -> str:
        """Return the pointer to a buffer, in a scope (the innermost one)."""
        return self.values.here(self.pointers[buffer], scope)

    def _emit(self, e: Expr) -> None:
        """Emit an expression whose operands are known."""
        values = self.values
        depth = values.depth_of(e)
        scope = values.scope_at(depth)
        if self.kept is not None and scope is values.scopes[0]:
            self.kept.begin(e, depth == 0)
        args = [values.here(name, scope) for a in e.args if (name := values.find(a)) is not None]
        values.record(e, self._compute(e, args, scope).name, depth)

    def _compute(self, e: Expr, args: Sequence[str], scope: Scope) -> Value:
        """Emit the operation of an expression."""
        if e.op == "load":
            address = scope.at(self.pointer_to(e.attr, scope), args[0], memory_type(e.dtype), "inbounds ")
            return load_element(e.dtype, address, scope)
        operands = [scope.value(LLVM_TYPES[a.dtype], name) for a, name in zip(e.args, args, strict=True)]
        if e.op == "cast":
            return convert_dtype(operands[0], e.args[0].dtype, e.dtype)
        if e.op == "call":
            if isinstance(e.attr, ScalarFunction):
                symbol = self._symbol_of(e.attr)
            else:
                symbol = self.module.external(e.attr.symbol, e.dtype, [a.dtype for a in e.args], e.attr.zeros)
                operands += [scope.constant("i32", 0)] * e.attr.zeros
            return scope.call(LLVM_TYPES[e.dtype], symbol, *operands)
        dtype = e.args[1].dtype if e.op == "select" else e.args[0].dtype
        value = primitive(self.module, e.op, dtype, *operands)
        if e.op == "select" and self.values.is_pinned:
            # a loop that halves a range, such as a binary search, must not branch unpredictably
            scope.lines[-1] += f", !unpredictable {self.metadata.unpredictable()}"
        return value


def load_element(dtype: str, address: Value, scope: Scope) -> Value:
    """Load an element of an array."""
    value = scope.load(memory_type(dtype), address, _access_group(scope))
    return value.differs(0) if dtype == "bool" else value


def store_element(dtype: str, value: Value, address: Value, scope: Scope) -> None:
    """Store an element of an array."""
    scope.store(value.widen("i8") if dtype == "bool" else value, address, _access_group(scope))


def _access_group(scope: Scope) -> str:
    return f", !llvm.access.group {scope.group}" if scope.group else ""
