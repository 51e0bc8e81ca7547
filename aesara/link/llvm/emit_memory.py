"""The workspace of a call: a block for the early slots, and a block for each late slot."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from aesara.ir.buffers import Slot
from aesara.ir.expr import Expr, cast, const, op
from aesara.link.llvm import layout
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.runtime.memory import ALIGN

__all__ = ["Workspace"]

#: size in bytes that no memory has
_TOO_LARGE = 2**62


class Workspace:
    """Emits the allocation of workspace."""

    def __init__(self, slots: Sequence[Slot], code: HostCode) -> None:
        self.slots, self.code = slots, code
        #: pointers, or offsets in the block, of early slots
        self._places: dict[int, str | int] = {}
        self._block = ""

    def take(self) -> None:
        """Take a block for this call and place the early slots in it."""
        total: Expr = const(0)
        offsets = {}
        for k, slot in enumerate(self.slots):
            if not slot.late:
                offsets[k] = total
                total = total + _align(slot.size)
        if not offsets:
            return
        code = self.code
        need = self._checked_size(total, [self.slots[k].size for k in offsets])
        self._block = self.block(need)
        code.demand_pointer(self._block, layout.NO_WORKSPACE)
        code.forget()
        for k, offset in offsets.items():
            self._places[k] = offset.attr if offset.is_const else code.spill(self._at_offset(code.value(offset)))

    def block(self, need: str) -> str:
        """Return memory of `need` bytes, or null."""
        return self.code.call("workspace", "ptr", "ptr %frame", "ptr %table", f"i64 {need}")

    def slot(self, number: int) -> str:
        """Return the pointer to a slot; a late slot is allocated here."""
        code, slot = self.code, self.slots[number]
        if not slot.late:
            location = self._places[number]
            return self._at_offset(location) if isinstance(location, int) else code.here(location)
        size = self._checked_size(_align(slot.size), [slot.size])
        late = code.frame.late(number)
        block = code.call("late", "ptr", "ptr %frame", "ptr %table", f"i64 {late}", f"i64 {size}")
        code.demand_pointer(block, layout.NO_WORKSPACE)
        return block

    def _at_offset(self, location: int | str) -> str:
        return self.code.at(self._block, location)

    def _checked_size(self, total: Expr, sizes: Sequence[Expr]) -> str:
        """Return the value of `total`; a size that no memory has if its terms `sizes` may overflow."""
        unknown = [_as_float(n) for n in sizes if not n.is_const]
        if not unknown:
            return self.code.value(total)
        fits = functools.reduce(lambda a, b: b + a, unknown) < const(_TOO_LARGE, "float64")
        return self.code.value(op("select", fits, total, const(_TOO_LARGE)))


def _align(size: Expr) -> Expr:
    padded = op("maximum", size + (ALIGN - 1), const(ALIGN))
    return padded // ALIGN * ALIGN


def _as_float(size: Expr) -> Expr:
    """Return a sum or product of sizes as a float, which does not overflow."""
    if size.op in ("mul", "add"):
        return op(size.op, *[_as_float(a) for a in size.args])
    return cast(size, "float64")
