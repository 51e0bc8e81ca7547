"""Checks for signals in the loops of kernels.

A kernel that may run for long has a parameter ``%ae.watcher``: null, or the address of a watcher, whose first word is
the function that looks for signals (see `emit_threads`). Such a kernel returns whether a handler has raised.
"""

from __future__ import annotations

from aesara.ir.instructions import Value
from aesara.ir.kernel import For
from aesara.ir.work import has_heavy_loops
from aesara.link.llvm.chunks import is_long_row, is_over_blocks, is_over_loops
from aesara.link.llvm.values import Scope
from aesara.records import dataclass

__all__ = ["UNLIKELY", "SignalPlan", "check_signals", "check_signals_every", "is_watched"]

#: metadata of a branch that is rarely taken
UNLIKELY = ", !prof !1"

#: numbers of iterations, powers of two, between checks for signals in nested loops that accumulate: over blocks of a
#: thousand elements or more, and over other loops
_BLOCKS, _LOOPS = 1024, 64


@dataclass(frozen=True)
class SignalPlan:
    """The loops in which signals are checked.

    Attributes
    ----------
    watched
        Whether the kernel has a watcher.
    split_depth
        Loops down to this depth run in chunks of some time; -1 if none does.
    """

    watched: bool = False
    split_depth: int = -1

    def splits(self, depth: int) -> bool:
        """Return whether a loop of this depth runs in chunks of some time."""
        return depth <= self.split_depth

    def splits_elements(self, loop: For, depth: int) -> bool:
        """Return whether a loop of this depth runs in chunks of a number of elements."""
        return self.watched and depth > 0 and is_long_row(loop)

    def interval(self, loop: For, depth: int) -> int:
        """Return the number of iterations between checks in a loop of this depth; 0 if there are none."""
        if not self.watched or depth == 0 or not is_over_loops(loop):
            return 0
        return _BLOCKS if is_over_blocks(loop) else _LOOPS

    def within(self, loop: For) -> SignalPlan:
        """Return the plan for the body of a loop that runs in chunks."""
        return SignalPlan(self.watched, 1) if has_heavy_loops(loop) else self


def is_watched(w: Scope) -> Value:
    """Return whether there is a watcher."""
    return w.value("ptr", "%ae.watcher").compare("ne", w.value("ptr", "null"))


def check_signals(w: Scope, on: str) -> None:
    """Ask the watcher, if there is one, for signals, and go on at a label; the kernel returns if a handler raises."""
    ask, stopped = w.names.label("ask"), w.names.label("stopped")
    w.branch(is_watched(w), ask, on)
    w.begin(ask)
    function = w.load("ptr", "%ae.watcher")
    end = w.emit("i64", f"call i64 {function}(ptr %ae.watcher, i64 1, i64 2, double 1.0)")
    w.branch(end < 0, stopped, on, UNLIKELY)
    w.begin(stopped)
    w.add("ret i1 true")
    w.begin(on)


def check_signals_every(interval: int, index: str, w: Scope) -> None:
    """Check for signals after some iterations of a loop over other loops."""
    look, on = w.names.label("look"), w.names.label("on")
    position = w.value("i64", index) & interval - 1
    w.branch(position.equals(interval - 1), look, on, UNLIKELY)
    w.begin(look)
    check_signals(w, on)
