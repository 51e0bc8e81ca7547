"""The interface of a step of the host program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from aesara.ir.buffers import Buffer, Slot
from aesara.ir.expr import Expr, walk
from aesara.ir.kernel import Kernel
from aesara.ir.work import Work

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["Step", "read_step", "walk_steps"]


class Step:
    """A step of a program.

    A subclass is a frozen data class that describes all that the verifier, interpreter, planner and emitter need; the
    code to emit it is in `link/llvm`.

    Attributes
    ----------
    keyword
        First word of its line in the text form.
    words
        Other words of that line that are not names.
    kind
        Kind in explanations and profiles, which number and time it: ``"nest"``, ``"product"``, ``"routine"``,
        ``"loop"`` or ``"python"``. Steps without a kind are checks, sizes and memory.
    calls_python
        Whether it runs a node in Python.
    begins_loop
        Whether it counts as part of the next loop.
    """

    keyword: ClassVar[str]
    words: ClassVar[tuple[str, ...]] = ()
    calls_python: ClassVar[bool] = False
    begins_loop: bool = False

    @property
    def kind(self) -> str | None:
        return None

    @property
    def needs_gil(self) -> bool:
        """True if it touches Python objects."""
        return False

    @property
    def allowed_in_loop(self) -> bool:
        """True if it may be in the body of a loop."""
        return True

    @property
    def is_loop(self) -> bool:
        """True if it is emitted as a loop in the entry point."""
        return False

    @property
    def needs_optimization(self) -> bool:
        """True if the code around its calls runs often enough to be optimized by LLVM's passes."""
        return self.is_loop

    @property
    def label(self) -> str:
        """Name of its kernel or routine in profiles; may be empty."""
        return ""

    def can_fail(self, slots: Sequence[Slot]) -> bool:
        """Return whether it may raise an exception by itself; `slots` are those of the program."""
        return False

    def checks(self) -> Iterator[Any]:
        """Iterate over itself if it is a `Check`."""
        return iter(())

    def launches(self) -> Iterator[Any]:
        """Iterate over itself if it is a `Launch`."""
        return iter(())

    # -- effects --------------------------------------------------------------------------------------------

    def expressions(self) -> Iterator[Expr]:
        """Iterate over its expressions, without those of nested steps."""
        return iter(())

    def reads(self) -> Iterator[str]:
        """Iterate over the buffers whose elements it may read, in addition to loads in its expressions."""
        return iter(())

    def writes(self) -> Iterator[str]:
        """Iterate over the buffers whose elements it writes."""
        return iter(())

    def makes(self) -> Iterator[Buffer]:
        """Iterate over the buffers that it defines."""
        return iter(())

    def bases(self) -> dict[str, str]:
        """Map each view that it defines to its base."""
        return {}

    def arrays(self) -> Iterator[Buffer]:
        """Iterate over the buffers for which it creates ndarrays."""
        return iter(())

    def taken_inputs(self) -> Iterator[int]:
        """Iterate over the numbers of the inputs whose memory it takes over or copies."""
        return iter(())

    def overwrites(self) -> Iterator[Buffer]:
        """Iterate over the buffers it defines that may overwrite shared values in place."""
        return iter(())

    def defines(self) -> Iterator[str]:
        """Iterate over the sizes that it defines."""
        return iter(())

    def computes(self) -> Iterator[tuple[str, Expr]]:
        """Iterate over the sizes that it defines by an expression, with the expression."""
        return iter(())

    def kernels(self) -> Iterator[Kernel]:
        """Iterate over its kernels, without those of nested steps."""
        return iter(())

    def products(self) -> Iterator[str]:
        """Iterate over the dtypes of the matrices that it multiplies."""
        return iter(())

    def nested_steps(self) -> Sequence[Step]:
        """Return the nested steps."""
        return ()

    def walk(self) -> Iterator[Step]:
        """Iterate over this step and all nested ones."""
        yield self
        yield from walk_steps(self.nested_steps())

    def accesses(self) -> Iterator[str]:
        """Iterate over the buffers that it may read or write, also in its expressions; buffers may repeat."""
        yield from self.reads()
        yield from self.writes()
        for e in walk(self.expressions()):
            if e.op == "load":
                yield e.attr

    def work(self) -> Work:
        """Return the estimated time of its native code, in sizes of the program."""
        return Work()

    # -- semantics -------------------------------------------------------------------------------------------

    def verify(self, scope: Bindings) -> None:
        """Raise `IRError` unless it is well-formed in `scope`; then add its definitions to the scope."""
        raise NotImplementedError

    def run(self, machine: StepMachine) -> None:
        """Run it on the reference machine."""
        raise NotImplementedError

    # -- text form -------------------------------------------------------------------------------------------

    def write(self, writer: StepWriter) -> None:
        """Write its lines of the text form."""
        raise NotImplementedError

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> Step:
        """Parse it from a line whose keyword has been read, and its nested steps from the following lines."""
        raise NotImplementedError


def walk_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """Iterate over all steps, nested ones after the step that contains them."""
    for step in steps:
        yield from step.walk()


def read_step(reader: StepReader, line: Line) -> Step:
    """Parse a step and its nested lines."""
    kind, word = line.peek()
    step = next((step for step in Step.__subclasses__() if step.keyword == word), None) if kind == "word" else None
    if step is None:
        line.fail("a step")
    line.take()
    found = step.read(reader, line)
    line.finish()
    return found
