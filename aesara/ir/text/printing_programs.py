"""Printer of programs."""

from __future__ import annotations

from aesara.ir.program import Input, Program
from aesara.ir.text.printing import StepWriter
from aesara.ir.text.syntax import format_name

__all__ = ["ProgramWriter", "print_program"]


def print_program(program: Program) -> str:
    """Return the program and its kernels as text that `parse_program` reads back."""
    return ProgramWriter(program).text()


class ProgramWriter(StepWriter):
    """Printer of a program."""

    def __init__(self, program: Program) -> None:
        super().__init__(list(dict.fromkeys(kernel for step in program.all_steps() for kernel in step.kernels())))
        self._program = program

    def text(self) -> str:
        program, lines = self._program, self._writer.lines
        lines.append("program")
        for item in program.inputs:
            self._input(item)
        for buffer in program.constants:
            self.line(f"constant {self.buffer(buffer)}")
            self._writer.buffers[buffer.name] = buffer.dtype
        for k, slot in enumerate(program.slots):
            (size,) = self.texts([slot.size])
            self.line(f"slot {k}: {size}{' late' if slot.late else ''}")
        for step in program.steps:
            step.write(self)
        for k, name in enumerate(program.outputs):
            self.line(f"output {format_name(name)}{' lent' if k in program.lent else ''}")
        for output, number in program.updates:
            self.line(f"update input {number} = output {output}")
        self.line(f"return {program.returned}{' unpacked' if program.unpack_single else ''}")
        return "\n\n".join(["\n".join(lines), *self.kernel_texts()]) + "\n"

    def _input(self, item: Input) -> None:
        implied = tuple(n.attr if n.is_const else None for n in item.buffer.outer_shape)
        static = ""
        if item.static_shape != implied:
            static = f" static [{', '.join('?' if n is None else str(n) for n in item.static_shape)}]"
        kind = "shared" if item.implicit else "input"
        self.line(f"{'generator' if item.is_generator else kind} {self.buffer(item.buffer)}{static}")
        self._writer.buffers[item.buffer.name] = item.buffer.dtype
