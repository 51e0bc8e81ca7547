"""The workspace of a call: a block for the early slots, and one for each late slot."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from aesara.ir.buffers import Slot
from aesara.ir.expr import Expr, cast, const, op
from aesara.link.llvm import layout
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.shared.memory import ALIGN

__all__ = ["Workspace"]

#: more bytes than any memory has
_TOO_LARGE = 2**62


class Workspace:
    """Emits what places buffers in the workspace."""

    def __init__(self, slots: Sequence[Slot], code: HostCode) -> None:
        self.slots, self.code = slots, code
        #: where early slots are: a pointer, or a place in the block
        self._places: dict[int, str | int] = {}
        self._block = ""

    def take(self) -> None:
        """Take a block for this call, and place the early slots in it."""
        total: Expr = const(0)
        offsets = {}
        for k, slot in enumerate(self.slots):
            if not slot.late:
                offsets[k] = total
                total = total + _rounded(slot.size)
        if not offsets:
            return
        code = self.code
        need = self._possible(total, [self.slots[k].size for k in offsets])
        self._block = self.block(need)
        code.demand_pointer(self._block, layout.NO_WORKSPACE)
        code.forget()
        for k, offset in offsets.items():
            self._places[k] = offset.attr if offset.is_const else code.spill(self._inside(code.value(offset)))

    def block(self, need: str) -> str:
        """Get memory of so many bytes; returns null if there is none."""
        return self.code.call("workspace", "ptr", "ptr %frame", "ptr %table", f"i64 {need}")

    def slot(self, number: int) -> str:
        """Where a slot is; that of a late one is made here."""
        code, slot = self.code, self.slots[number]
        if not slot.late:
            place = self._places[number]
            return self._inside(place) if isinstance(place, int) else code.emitter.here(place)
        size = self._possible(_rounded(slot.size), [slot.size])
        late = code.frame.late(number)
        block = code.call("late", "ptr", "ptr %frame", "ptr %table", f"i64 {late}", f"i64 {size}")
        code.demand_pointer(block, layout.NO_WORKSPACE)
        return block

    def _inside(self, place: int | str) -> str:
        return self.code.at(self._block, place)

    def _possible(self, total: Expr, sizes: Sequence[Expr]) -> str:
        """The value of `total`, or a size that no memory has, if `sizes`, which it is made of, may overflow."""
        unknown = [_approximate(n) for n in sizes if not n.is_const]
        if not unknown:
            return self.code.value(total)
        exact = functools.reduce(lambda a, b: b + a, unknown) < const(_TOO_LARGE, "float64")
        return self.code.value(op("select", exact, total, const(_TOO_LARGE)))


def _rounded(size: Expr) -> Expr:
    padded = op("maximum", size + (ALIGN - 1), const(ALIGN))
    return padded // ALIGN * ALIGN


def _approximate(size: Expr) -> Expr:
    """A sum or product of sizes as a float, which does not overflow."""
    if size.op in ("mul", "add"):
        return op(size.op, *[_approximate(a) for a in size.args])
    return cast(size, "float64")
