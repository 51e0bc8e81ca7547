"""The host program: what a compiled function does between its call and its return, in order.

Grammar::

    program  = inputs, constants, slots, steps, outputs, updates
    step     = define size = expression          sizes are int64 and never change
             | check condition else error        leaves the program with a Python exception
             | allocate buffer                   in the workspace, or as an array that is returned
             | launch kernel(arguments)
             | call routine(sizes) on operands   products of matrices, functions of libraries; once or for a batch
             | python outputs = node(inputs)     an op without native lowering
             | view buffer in base at offset     a buffer that is a part of another
             | loop var < extent: steps          again and again, until a condition if there is one; defines a size,
                                                 how often

Buffers are row-major and contiguous.  Expressions of the host program may load from buffers that are complete at
that point.  Nothing after the last `check` and `python` step can fail, which is what lets updates of shared
variables be computed in place there.
"""

from __future__ import annotations

from collections.abc import Iterator

from aesara.ir.buffers import Buffer, Slot
from aesara.ir.steps import Allocate, Step, walk_steps
from aesara.records import dataclass

__all__ = ["Input", "Program"]


@dataclass(frozen=True)
class Input:
    """An argument (or, if `implicit`, a shared variable): its buffer, and the static shape to check.

    Of a generator (`is_generator`) the buffer has a copy of its words (see `ir.generators`), in a slot: those of
    generators are the first slots of a program, in order.
    """

    buffer: Buffer
    static_shape: tuple[int | None, ...]
    implicit: bool
    is_generator: bool = False


@dataclass(frozen=True)
class Program:
    inputs: tuple[Input, ...]
    constants: tuple[Buffer, ...]
    slots: tuple[Slot, ...]
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    #: (number of the output, number of the input whose cell it becomes)
    updates: tuple[tuple[int, int], ...] = ()
    #: how many of the outputs go to the caller
    returned: int = 0
    unpack_single: bool = False
    #: numbers of the results whose arrays may be returned again as soon as nobody holds them
    lent: tuple[int, ...] = ()

    def cells(self) -> list[int]:
        """Numbers of the inputs whose cells the program uses: implicit ones to read, updated ones to write."""
        updated = {number for _, number in self.updates}
        return [k for k, item in enumerate(self.inputs) if item.implicit or k in updated]

    def generators(self) -> list[int]:
        """Numbers of the inputs that are random generators."""
        return [k for k, item in enumerate(self.inputs) if item.is_generator]

    def drawn_from(self) -> list[tuple[int, int]]:
        """The updates of generators: a generator stays the same object, and gets the words of the output."""
        return [(output, number) for output, number in self.updates if self.inputs[number].is_generator]

    def replacements(self) -> list[tuple[int, int]]:
        """The other updates, whose outputs become the values of cells."""
        return [(output, number) for output, number in self.updates if not self.inputs[number].is_generator]

    def exchanged(self) -> dict[int, int]:
        """The results that are the arrays of shared variables, with the numbers of these inputs."""
        number_of = {item.buffer.name: k for k, item in enumerate(self.inputs) if not item.is_generator}
        return {k: number_of[name] for k, name in enumerate(self.outputs) if name in number_of}

    def allocations(self) -> dict[str, Allocate]:
        """What makes memory for the buffers that are results or in the workspace, by name, in order."""
        return {step.buffer.name: step for step in self.all_steps() if isinstance(step, Allocate)}

    def overwritten_arguments(self) -> list[int]:
        """Numbers of the arguments whose memory may become that of a result."""
        taken = (step.reuse for step in self.allocations().values())
        return sorted(k for k in taken if k is not None and not self.inputs[k].implicit)

    def overwrites_shared(self, step: Step) -> bool:
        """Whether a step may write over the value of a shared variable."""
        return any(step.overwrites()) and any(self.inputs[k].implicit for k in step.taken_inputs())

    def bases(self) -> dict[str, str]:
        """For each buffer that is part of the memory of another: the name of the one that is part of none."""
        found: dict[str, str] = {}
        for step in self.all_steps():
            for name, base in step.bases().items():
                found[name] = found.get(base, base)
        return found

    def all_steps(self) -> Iterator[Step]:
        """The steps, those inside of another one after it."""
        return walk_steps(self.steps)
