"""Parser of programs."""

from __future__ import annotations

import dataclasses

from aesara.ir import expr as ir
from aesara.ir.buffers import Buffer, Slot, longest
from aesara.ir.expr import Expr
from aesara.ir.program import Input, Program
from aesara.ir.steps import BATCH, STEPS, Step
from aesara.ir.steps.base import read_step
from aesara.ir.symbols import ArgumentName, ConstantName, InputSize
from aesara.ir.text.parsing import StepReader
from aesara.ir.text.reading import Line, lines_of
from aesara.ir.text.syntax import KEYWORDS, IRSyntaxError

__all__ = ["ProgramReader", "parse_program"]


def parse_program(text: str) -> Program:
    """Parse a program; the inverse of `print_program`.

    Raises
    ------
    IRSyntaxError
        If the text is not a program.
    """
    lines = lines_of(text)
    if not lines:
        raise IRSyntaxError("line 1: expected 'program', got nothing")
    with ir.sharing():
        return ProgramReader(lines).program()


class ProgramReader(StepReader):
    """Parser of a program."""

    def __init__(self, lines: list[Line]) -> None:
        super().__init__(lines)
        self.declare_loop_variable(BATCH.attr)
        self._inputs: list[Input] = []
        self._constants: list[Buffer] = []
        self._slots: list[Slot] = []
        self._steps: list[Step] = []
        self._outputs: list[str] = []
        self._lent: list[int] = []
        self._updates: list[tuple[int, int]] = []
        self._returned = 0
        self._unpack_single = False

    def program(self) -> Program:
        head = self._lines[0]
        head.expect("program")
        head.finish()
        self.read_kernels()
        for line in self.lines_inside(head):
            self._entry(line)
            line.finish()
        return Program(
            tuple(self._inputs), tuple(self._constants), tuple(self._slots), tuple(self._steps), tuple(self._outputs),
            tuple(self._updates), self._returned, self._unpack_single, tuple(self._lent),
        )  # fmt: skip

    def _entry(self, line: Line) -> None:
        kind, word = line.peek()
        if kind == "word" and word in STEPS:
            self._steps.append(read_step(self, line))
            return
        read = getattr(self, f"_read_{word}", None) if kind == "word" and word in KEYWORDS else None
        if read is None:
            line.fail("input, shared, constant, slot, a step, output, update or return")
        line.take()
        read(line)

    def _read_input(self, line: Line, implicit: bool = False, is_generator: bool = False) -> None:
        written = self.buffer(line)
        most = longest(written.dtype, len(written.outer_shape))
        shape = tuple(self._input_size(n, axis, most) for axis, n in enumerate(written.shape))
        buffer = Buffer(ArgumentName(written.name), written.dtype, shape, written.is_complex)
        self._reader.memories[buffer.name] = buffer.name
        static: tuple[int | None, ...] = tuple(n.attr if n.is_const else None for n in buffer.outer_shape)
        if line.has("static"):
            line.expect("[")
            sizes: list[int | None] = []
            while not line.has("]"):
                if sizes:
                    line.expect(",")
                sizes.append(None if line.has("?") else line.integer("a length or '?'"))
            static = tuple(sizes)
        self._inputs.append(Input(buffer, static, implicit, is_generator))
        self.define_buffers(buffer)

    def _read_shared(self, line: Line) -> None:
        self._read_input(line, True)

    def _read_generator(self, line: Line) -> None:
        self._read_input(line, True, True)

    def _input_size(self, written: Expr, axis: int, most: int) -> Expr:
        if written.op != "var" or isinstance(written.attr, InputSize):
            return written
        size = InputSize(len(self._inputs), axis, most, written.attr)
        self._reader.sizes[size] = size
        return ir.var(size)

    def _read_constant(self, line: Line) -> None:
        written = self.buffer(line)
        buffer = dataclasses.replace(written, name=ConstantName(written.name))
        self._reader.memories[buffer.name] = buffer.name
        self._constants.append(buffer)
        self.define_buffers(buffer)

    def _read_slot(self, line: Line) -> None:
        if line.integer() != len(self._slots):
            line.at -= 1
            line.fail(f"slot {len(self._slots)}")
        line.expect(":")
        size = self.expression(line)
        self._slots.append(Slot(size, line.has("late")))

    def _read_output(self, line: Line) -> None:
        self._outputs.append(line.name("the name of a buffer"))
        if line.has("lent"):
            self._lent.append(len(self._outputs) - 1)

    def _read_update(self, line: Line) -> None:
        line.expect("input")
        number = line.integer()
        line.expect("=")
        line.expect("output")
        self._updates.append((line.integer(), number))

    def _read_return(self, line: Line) -> None:
        self._returned = line.integer()
        self._unpack_single = line.has("unpacked")
