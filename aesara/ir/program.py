"""The host program: the steps of a compiled function between its call and its return.

Grammar::

    program  = inputs, constants, slots, steps, outputs, updates
    step     = define size = expression          sizes are int64 and never change
             | check condition else error        raises a Python exception
             | allocate buffer                   in the workspace, or as an array that is returned
             | launch kernel(arguments)
             | call routine(sizes) on operands   BLAS, LAPACK and other libraries; once or for a batch
             | python outputs = node(inputs)     an op without native lowering
             | view buffer in base at offset     a part of another buffer
             | loop var < extent: steps          optionally until a condition holds; defines its trip count

Buffers are row-major and contiguous.  Expressions of the host program may load from buffers that are complete at
that point.  Nothing after the last `check` and `python` step can fail, which allows in-place updates of shared
variables there.
"""

from __future__ import annotations

from collections.abc import Iterator

from aesara.ir.buffers import Buffer, Slot
from aesara.ir.steps import Allocate, Step, walk_steps
from aesara.records import dataclass

__all__ = ["Input", "Program"]


@dataclass(frozen=True)
class Input:
    """An argument or, if `implicit`, a shared variable: its buffer, and the static shape to check.

    The buffer of a generator (`is_generator`) is a copy of its words (see `ir.generators`), in a slot; the slots of
    generators are the first ones of a program, in order.
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
    #: (number of an output, number of the input whose cell it updates)
    updates: tuple[tuple[int, int], ...] = ()
    #: number of outputs that are returned to the caller
    returned: int = 0
    unpack_single: bool = False
    #: numbers of the results whose arrays are reused once nobody else refers to them
    lent: tuple[int, ...] = ()

    def cells(self) -> list[int]:
        """Return the numbers of the inputs whose cells are read (implicit inputs) or written (updated inputs)."""
        updated = {number for _, number in self.updates}
        return [k for k, item in enumerate(self.inputs) if item.implicit or k in updated]

    def generators(self) -> list[int]:
        """Return the numbers of the inputs that are random generators."""
        return [k for k, item in enumerate(self.inputs) if item.is_generator]

    def generator_updates(self) -> list[tuple[int, int]]:
        """Return the updates of generators, which stay the same object and get new words."""
        return [(output, number) for output, number in self.updates if self.inputs[number].is_generator]

    def replacements(self) -> list[tuple[int, int]]:
        """Return the updates whose outputs replace the value of a cell."""
        return [(output, number) for output, number in self.updates if not self.inputs[number].is_generator]

    def exchanged_arrays(self) -> dict[int, int]:
        """Return the results that are arrays of shared variables, with the numbers of these inputs."""
        number_of = {item.buffer.name: k for k, item in enumerate(self.inputs) if not item.is_generator}
        return {k: number_of[name] for k, name in enumerate(self.outputs) if name in number_of}

    def allocations(self) -> dict[str, Allocate]:
        """Return the allocations of results and workspace buffers by name, in order."""
        return {step.buffer.name: step for step in self.all_steps() if isinstance(step, Allocate)}

    def overwritten_arguments(self) -> list[int]:
        """Return the numbers of the arguments whose memory a result may take over."""
        taken = (step.reuse for step in self.allocations().values())
        return sorted(k for k in taken if k is not None and not self.inputs[k].implicit)

    def overwrites_shared(self, step: Step) -> bool:
        """Return whether a step may overwrite the value of a shared variable."""
        return any(step.overwrites()) and any(self.inputs[k].implicit for k in step.taken_inputs())

    def bases(self) -> dict[str, str]:
        """Map each view to the buffer that owns its memory."""
        found: dict[str, str] = {}
        for step in self.all_steps():
            for name, base in step.bases().items():
                found[name] = found.get(base, base)
        return found

    def all_steps(self) -> Iterator[Step]:
        """Iterate over all steps, nested ones after the step that contains them."""
        return walk_steps(self.steps)
