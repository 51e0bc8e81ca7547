"""Values of an entry point that stand in the frame of the call, and not in registers, from one step to the next.

LLVM's time for giving registers to values grows much faster than their number, if they are needed far from where they
are computed.  Entries with many inputs or steps therefore write values to the frame and read them where they are used;
their frames are large, so they are not on the stack.
"""

from __future__ import annotations

from aesara.ir.program import Program

__all__ = ["MANY", "Spilled", "spills_values"]

#: entries with more inputs and steps than this spill values
MANY = 64


def spills_values(program: Program) -> bool:
    """Whether the entry of a program spills values."""
    return len(program.inputs) + len(program.steps) > MANY


class Spilled(str):
    """A value in the frame: where it is, in bytes from the beginning, and its LLVM type.

    It takes the place of a value's name.  It is no name itself: `Emitter.here` reads it, and gives that a name.
    """

    kind: str
    place: int

    def __new__(cls, place: int, kind: str) -> Spilled:
        """The value at a place."""
        made = super().__new__(cls, f"<{kind} at {place} of the frame>")
        made.place, made.kind = place, kind
        return made
