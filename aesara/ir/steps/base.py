"""What a step of the host program answers for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from aesara.ir.buffers import Buffer, Slot
from aesara.ir.expr import Expr, walk
from aesara.ir.kernel import Kernel
from aesara.ir.work import Work

if TYPE_CHECKING:
    from aesara.ir.interpret.programs import ProgramMachine
    from aesara.ir.steps.check import Check
    from aesara.ir.steps.launch import Launch
    from aesara.ir.text.parsing import ProgramReader
    from aesara.ir.text.printing import ProgramWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["Step", "walk_steps"]


class Step:
    """One step of a program.

    A subclass is a frozen data class that says, for everybody who reads programs, what the step does.  How it is
    emitted stands in `link/llvm`.

    Attributes
    ----------
    keyword
        The word that begins its line in the text form.
    words
        Words of that line that are no names.
    kind
        What it is to somebody who did not write the back end: ``"nest"``, ``"product"``, ``"routine"``, ``"loop"`` or
        ``"python"``.  Steps with a kind are numbered in explanations and timed in profiles; those without are checks,
        sizes and memory.
    calls_python
        Whether it runs a node in Python.
    begins_loop
        Whether it is part of what the next loop computes, for those who count steps.
    """

    keyword: ClassVar[str]
    words: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str | None] = None
    calls_python: ClassVar[bool] = False
    begins_loop: bool = False

    @property
    def needs_gil(self) -> bool:
        """Whether it touches Python objects."""
        return False

    @property
    def may_stand_in_loop(self) -> bool:
        """Whether it may be a step of a loop's body."""
        return True

    @property
    def runs_rounds(self) -> bool:
        """Whether it is emitted as a loop in the entry point."""
        return False

    @property
    def gains_by_passes(self) -> bool:
        """Whether the code around what it calls runs often enough to be worth the time of LLVM's passes."""
        return self.runs_rounds

    @property
    def label(self) -> str:
        """The name of what it runs, for profiles; empty if that has none."""
        return ""

    def can_fail(self, slots: Sequence[Slot]) -> bool:
        """Whether an exception may come of it by itself; `slots` are those of the program."""
        return False

    def checks(self) -> Iterator[Check]:
        """The check that it is, if it is one."""
        return iter(())

    def launches(self) -> Iterator[Launch]:
        """The launch that it is, if it is one."""
        return iter(())

    # -- what it reads and makes -----------------------------------------------------------------------------

    def expressions(self) -> Iterator[Expr]:
        """The expressions that it holds, those of steps inside of it left out."""
        return iter(())

    def reads(self) -> Iterator[str]:
        """The buffers whose elements it may read, besides loads in its expressions."""
        return iter(())

    def writes(self) -> Iterator[str]:
        """The buffers whose elements it writes."""
        return iter(())

    def makes(self) -> Iterator[Buffer]:
        """The buffers that exist from this step on."""
        return iter(())

    def bases(self) -> dict[str, str]:
        """For each buffer made that is part of the memory of another: the name of that one."""
        return {}

    def arrays(self) -> Iterator[Buffer]:
        """The buffers that it makes ndarrays for."""
        return iter(())

    def taken_inputs(self) -> Iterator[int]:
        """The numbers of the inputs whose memory it takes or copies."""
        return iter(())

    def overwrites(self) -> Iterator[Buffer]:
        """The buffers made that may be the memory of shared values, which are overwritten there in place."""
        return iter(())

    def defines(self) -> Iterator[str]:
        """The sizes that have a value from this step on."""
        return iter(())

    def computes(self) -> Iterator[tuple[str, Expr]]:
        """The sizes that this step gives a value, as far as expressions say which."""
        return iter(())

    def kernels(self) -> Iterator[Kernel]:
        """The kernels that it runs, those of steps inside of it left out."""
        return iter(())

    def products(self) -> Iterator[str]:
        """The dtypes of the matrices that it multiplies."""
        return iter(())

    def nested(self) -> Sequence[Step]:
        """The steps inside of it."""
        return ()

    def walk(self) -> Iterator[Step]:
        """This step, then all steps inside of it."""
        yield self
        yield from walk_steps(self.nested())

    def touched(self) -> Iterator[str]:
        """The buffers whose elements it may read or write, its expressions included, each as often as it is named."""
        yield from self.reads()
        yield from self.writes()
        for e in walk(self.expressions()):
            if e.op == "load":
                yield e.attr

    def work(self) -> Work:
        """The work that it does natively, in sizes of the program."""
        return Work()

    # -- what it means ---------------------------------------------------------------------------------------

    def verify(self, scope: Bindings) -> None:
        """Raise `IRError` unless it is well-formed where `scope` is bound; then bind there what it makes."""
        raise NotImplementedError

    def run(self, machine: ProgramMachine) -> None:
        """Do it on the reference machine."""
        raise NotImplementedError

    # -- its text --------------------------------------------------------------------------------------------

    def write(self, writer: ProgramWriter) -> None:
        """Write its lines."""
        raise NotImplementedError

    @classmethod
    def read(cls, reader: ProgramReader, line: Line) -> Step:
        """Read it from a line whose keyword has been taken, and from those inside of it."""
        raise NotImplementedError


def walk_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """All steps, those inside of another one after it."""
    for step in steps:
        yield from step.walk()
