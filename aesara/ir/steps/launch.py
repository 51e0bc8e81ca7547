"""Kernel launches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from aesara.ir.expr import Expr, substitute, var
from aesara.ir.kernel import BufferParam, Kernel, ScalarParam
from aesara.ir.steps.base import Step
from aesara.ir.work import Work, kernel_work
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["Launch"]

#: overhead of a kernel, in nanoseconds
_LAUNCH = 5.0


@dataclass(frozen=True)
class Launch(Step):
    """Run a kernel; arguments, in the order of its parameters, are names of buffers or size expressions.

    `begins_loop`: it counts as part of the next loop.
    """

    keyword = "launch"
    words = ("for", "loop")
    kind = "nest"

    kernel: Kernel
    arguments: tuple[str | Expr, ...]
    begins_loop: bool = False

    @property
    def label(self) -> str:
        return self.kernel.name

    def launches(self) -> Iterator[Launch]:
        yield self

    def expressions(self) -> Iterator[Expr]:
        return (a for a in self.arguments if isinstance(a, Expr))

    def reads(self) -> Iterator[str]:
        return (a for a in self.arguments if isinstance(a, str))

    def writes(self) -> Iterator[str]:
        for param, argument in zip(self.kernel.params, self.arguments):
            if isinstance(param, BufferParam) and isinstance(argument, str) and param.written:
                yield argument

    def kernels(self) -> Iterator[Kernel]:
        yield self.kernel

    def work(self) -> Work:
        scalars = [p for p in self.kernel.params if isinstance(p, ScalarParam)]
        values = {var(p.name, p.dtype): a for p, a in zip(scalars, self.expressions(), strict=True)}
        inside = kernel_work(self.kernel)
        return inside.replace(lambda size: substitute([size], values.get, {})[0]) + Work({(): _LAUNCH})

    def verify(self, scope: Bindings) -> None:
        kernel = self.kernel
        scope.kernel(kernel)
        if len(self.arguments) != len(kernel.params):
            scope.fail(f"kernel {kernel.name} takes {len(kernel.params)} arguments")
        for param, argument in zip(kernel.params, self.arguments, strict=True):
            if isinstance(param, BufferParam):
                if not isinstance(argument, str) or scope.buffers.get(argument) != param.dtype:
                    scope.fail(f"argument {argument} for buffer {param.name} of {param.dtype}")
            elif isinstance(argument, str) or argument.dtype != param.dtype:
                scope.fail(f"argument {argument} for {param.name} of {param.dtype}")
            else:
                scope.expressions(argument)

    def run(self, machine: StepMachine) -> None:
        arguments = [machine.memory(a) if isinstance(a, str) else machine.value(a) for a in self.arguments]
        machine.launch(self.kernel, arguments)

    def write(self, writer: StepWriter) -> None:
        sizes = iter(writer.texts(list(self.expressions())))
        items = [
            _argument_text(a, writer.name(a) if isinstance(a, str) else next(sizes), p)
            for a, p in itertools.zip_longest(self.arguments, self.kernel.params)
            if a is not None
        ]
        tail = " for loop" if self.begins_loop else ""
        writer.call(f"{self.keyword} {writer.kernel(self.kernel)}", items, tail)
        writer.invalidate(self.writes())

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> Launch:
        kernel = reader.kernel(line)
        line.expect("(")
        arguments: list[str | Expr] = []
        while not line.has(")"):
            if arguments:
                line.expect(",")
            at = len(arguments)
            wants_buffer = at < len(kernel.params) and isinstance(kernel.params[at], BufferParam)
            if line.has("["):
                arguments.append(line.name("the name of a buffer"))
                line.expect("]")
            elif wants_buffer and line.peek() != ("sign", "("):
                arguments.append(line.name("the name of a buffer"))
            else:
                arguments.append(reader.expression(line))
        begins_loop = line.has("for")
        if begins_loop:
            line.expect("loop")
        return cls(kernel, tuple(arguments), begins_loop)


def _argument_text(argument: str | Expr, text: str, param: BufferParam | ScalarParam | None) -> str:
    """Return the text of an argument, in brackets if its kind is not the one that the parameter expects."""
    if isinstance(argument, str):
        return text if isinstance(param, BufferParam) else f"[{text}]"
    return f"({text})" if isinstance(param, BufferParam) else text
