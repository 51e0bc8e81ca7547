"""Values of an entry point that are spilled to the frame of the call between steps.

The time of LLVM's register allocator grows much faster than the number of long live ranges. Entries with many inputs or
steps therefore store values in the frame and load them where they are used. Such frames are large, so they are not on
the stack.
"""

from __future__ import annotations

from aesara.ir.program import Program

__all__ = ["MANY", "Spilled", "spills_values"]

#: entries with more inputs and steps than this spill values
MANY = 64


def spills_values(program: Program) -> bool:
    """Return whether the entry of a program spills values."""
    return len(program.inputs) + len(program.steps) > MANY


class Spilled(str):
    """A value in the frame, with its offset in bytes and its LLVM type.

    It replaces the name of a value; `Emitter.here` loads it and returns a name.
    """

    kind: str
    offset: int

    def __new__(cls, offset: int, kind: str) -> Spilled:
        """Create the value at an offset."""
        spilled = super().__new__(cls, f"<{kind} at {offset} of the frame>")
        spilled.offset, spilled.kind = offset, kind
        return spilled
