"""Memory layout of one function: its own words of the table, the frames of its calls, and the plan of these.

`layout` documents the parts.
"""

from __future__ import annotations

from aesara.ir.program import Program
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.kept_results import COPIES

__all__ = ["Frame", "TableWords", "first_kept", "guard_count"]


def guard_count(program: Program) -> int:
    """Return the number of guards of a call: one per updated cell, and one if it may run other functions."""
    updated = {number for _, number in program.updates}
    return len(updated) + int(bool(updated) and _python_calls(program) > 0)


def _python_calls(program: Program) -> int:
    return sum(step.calls_python for step in program.steps)


class TableWords:
    """Words of the table after those that every function has, by number.

    Attributes
    ----------
    constant, callback, guard, kept, link, end
        The first constant, callback and guard; the list of kept arrays, if results are lent; the first link of a
        generator; and the end of the words.
    """

    def __init__(self, program: Program) -> None:
        self._cells = {number: k for k, number in enumerate(program.cells())}
        self.constant = layout.VARIABLE_START + len(self._cells)
        self.callback = self.constant + len(program.constants)
        self.guard = self.callback + _python_calls(program)
        self.kept = self.guard + guard_count(program)
        self.link = self.kept + bool(program.lent)
        self.end = self.link + len(program.generators())

    def cell(self, number: int) -> int:
        """Return the word of the cell of an input."""
        return layout.VARIABLE_START + self._cells[number]


class Frame:
    """The layout of the frames of a function's calls; offsets are in bytes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.words = TableWords(program)
        self.explicit = [k for k, item in enumerate(program.inputs) if not item.implicit]
        self.implicit = [k for k, item in enumerate(program.inputs) if item.implicit]
        self._late = {slot: k for k, slot in enumerate(k for k, one in enumerate(program.slots) if one.late)}
        self.made = _python_calls(program)
        self._generators = program.generators()
        cells = len(program.outputs) + len(self._late) + self.made
        self._linked = layout.FRAME_PLACES + 8 * cells
        self.held = self._linked + 16 * len(self._generators)
        self.held_cells = len(program.cells()) if self.implicit else 0
        self._pins = self.held // 8 + self.held_cells
        self._words = self._pins + len(self.explicit) + self.held_cells

    def result(self, number: int) -> int:
        """Return the offset of a result."""
        return layout.FRAME_PLACES + 8 * number

    def late(self, slot: int) -> int:
        """Return the offset of the block of a late slot."""
        return layout.FRAME_PLACES + 8 * (len(self.program.outputs) + self._late[slot])

    def answer_of_node(self, index: int) -> int:
        """Return the offset of the result list of a node in Python."""
        return self._linked - 8 * (self.made - index)

    def link(self, number: int) -> int:
        """Return the offset of the link of a generator; locks follow the links, in the same order."""
        return self._linked + 8 * self._generators.index(number)

    @property
    def simple(self) -> bool:
        """True if a call only returns one result and releases a block of workspace."""
        program = self.program
        rest = program.updates or self._late or self.made or self.implicit
        return program.unpack_single and len(program.outputs) == program.returned == 1 and not rest

    @property
    def with_list(self) -> bool:
        """True if results are returned in a list."""
        return self.program.returned > 1 or not self.program.unpack_single

    def reserve(self, words: int) -> int:
        """Reserve words and return their byte offset."""
        self._words += words
        return 8 * (self._words - words)

    @property
    def bytes(self) -> int:
        """The size of a frame in bytes."""
        return 8 * self._words

    @property
    def nulls(self) -> int:
        """Number of words, from `FRAME_ANSWER` on, that are initialized to zero."""
        return (self.held - layout.FRAME_ANSWER) // 8

    def plan(self) -> str:
        """Return the definition of ``@plan``."""
        program = self.program
        one = layout.ONE if program.returned else layout.NONE
        words = [
            len(self.explicit),
            len(program.outputs), program.returned, layout.LIST if self.with_list else one, len(self._late), self.made,
            8 * self.words.guard, guard_count(program), 8 * layout.VARIABLE_START, self.held_cells, self.held,
            8 * self._pins,
            len(self._generators), self._linked, self._linked + 8 * len(self._generators),
            len(program.generator_updates()), layout.PLAN_FIRST_UPDATE + 16 * len(program.replacements()),
            len(program.replacements()),
            *(n for k, number in program.replacements() for n in (k, 8 * self.words.cell(number))),
            *(n for k, number in program.generator_updates() for n in (k, self._generators.index(number))),
        ]  # fmt: skip
        return f"@plan = internal constant [{len(words)} x i64] [{', '.join(f'i64 {word}' for word in words)}]"


def first_kept(program: Program, output: int) -> int:
    """Return the index of the first kept array of a result."""
    return program.lent.index(output) * COPIES
