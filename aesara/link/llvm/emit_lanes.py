"""Partial results of accumulations in lanes; see `aesara.ir.lanes`."""

from __future__ import annotations

from collections.abc import Mapping

from aesara.ir.instructions import InstructionWriter, Value, vector_of
from aesara.ir.kernel import For
from aesara.ir.lanes import accumulations, lane_identity
from aesara.link.llvm.emit_expressions import load_element, store_element
from aesara.link.llvm.module import Module
from aesara.link.llvm.primitives import combine, primitive
from aesara.link.llvm.types import literal, memory_type
from aesara.link.llvm.values import Scope

__all__ = ["Lanes"]


class Lanes:
    """The partial results of the accumulators of a loop, which are on the stack.

    Attributes
    ----------
    count
        Number of lanes.
    allocas
        Allocations of their memory; see `load`.
    """

    def __init__(self, loop: For, count: int) -> None:
        self.count = count
        self.allocas: list[str] = []
        self._accumulators = {name: s.value for name, s in (accumulations(loop.body) or {}).items()}
        self._slots: dict[str, str] = {}
        self._addresses: dict[str, Value] = {}

    def load(self, lane: str, inner: Scope) -> dict[str, Value]:
        """Allocate the memory; return the partial results of a lane by the names of the accumulators."""
        found = {}
        for name, e in self._accumulators.items():
            kind = memory_type(e.dtype)
            slot = self._slots[name] = inner.names.fresh("lanes")
            self.allocas.append(f"{slot} = alloca [{self.count} x {kind}], align 64")
            self._addresses[name] = inner.at(slot, lane, kind, "inbounds ")
            found[name] = load_element(e.dtype, self._addresses[name], inner)
        return found

    def store(self, values: Mapping[str, Value], inner: Scope) -> None:
        """Store the partial results of the lane that has been loaded."""
        for name, e in self._accumulators.items():
            store_element(e.dtype, values[name], self._addresses[name], inner)

    def initialize(self) -> list[str]:
        """Return the instructions that store the identity element in all lanes."""
        return [self._initialize(e.op, e.dtype, self._slots[name]) for name, e in self._accumulators.items()]

    def _initialize(self, kind: str, dtype: str, pointer: str) -> str:
        t = memory_type(dtype)
        identity = lane_identity(kind, dtype).attr
        value = literal(identity, dtype) if dtype != "bool" else str(int(identity))
        return f"store <{self.count} x {t}> splat ({t} {value}), ptr {pointer}, align 64"

    def join(self, before: Mapping[str, Value], module: Module, w: InstructionWriter) -> dict[str, Value]:
        """Combine all lanes with the values of the accumulators before the loop."""
        joined = {}
        for name, e in self._accumulators.items():
            total = self._join(e.op, e.dtype, self._slots[name], module, w)
            joined[name] = primitive(module, e.op, e.dtype, w.value(total.kind, before[name].name), total)
        return joined

    def _join(self, kind: str, dtype: str, pointer: str, module: Module, w: InstructionWriter) -> Value:
        """Combine the lanes, the upper half with the lower, until one is left."""
        t, lanes = memory_type(dtype), self.count
        whole = w.load(vector_of(t, lanes), pointer, ", align 64")
        while lanes > 1:
            lanes //= 2
            low, high = (whole.shuffle("poison", range(first, first + lanes)) for first in (0, lanes))
            whole = combine(module, kind, dtype, low, high)
        total = w.emit(t, f"extractelement {whole.operand}, i64 0")
        return total.differs(0) if dtype == "bool" else total
