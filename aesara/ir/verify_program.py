"""Verifier of programs."""

from __future__ import annotations

from aesara.ir.expr import INDEX
from aesara.ir.program import Program
from aesara.ir.verify import Bindings, IRError

__all__ = ["verify_program"]


def verify_program(program: Program) -> None:
    """Raise `IRError` unless the program and all its kernels are well-formed."""
    scope = Bindings(
        {n.attr: INDEX for item in program.inputs for n in item.buffer.shape if n.op == "var"}, {}, program.slots
    )
    for buffer in (*(item.buffer for item in program.inputs), *program.constants):
        scope.make(buffer)
    for step in program.steps:
        step.verify(scope)
    for name in program.outputs:
        if name not in scope.buffers:
            raise IRError(f"output {name} is never allocated")
    for number in program.lent:
        if number >= len(program.outputs):
            raise IRError(f"output {number} is lent, but there are {len(program.outputs)}")
