"""Interface of the prologue and epilogue of an entry point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from aesara.ir.definitions import FunctionParameter
from aesara.ir.steps import Allocate, HandOver, Step
from aesara.link.llvm.spills import Spilled

__all__ = ["CallBoundary"]


class CallBoundary(ABC):
    """Emits the prologue and epilogue of a program.

    Attributes
    ----------
    name, parameters
        The entry point's name and parameters.
    objects
        The Python objects of the inputs.
    """

    name: str
    parameters: Sequence[FunctionParameter]
    objects: dict[int, str | Spilled]

    @abstractmethod
    def definitions(self) -> list[str]:
        """Return the definitions that the module needs besides the entry point; called last."""

    @abstractmethod
    def arguments(self) -> None:
        """Emit the code that locates the inputs."""

    @abstractmethod
    def result(self, step: Allocate, output: int) -> str:
        """Allocate a result; return the pointer to its values."""

    def hand_over(self, step: HandOver) -> None:
        """Return the array of an input as a result; only calls from Python have arrays."""
        raise TypeError(f"{step} needs arrays of Python; only functions with shared variables have such steps.")

    @abstractmethod
    def finish(self) -> None:
        """Emit the epilogue, which cannot fail, and then the failure paths."""

    def open_generators(self) -> None:
        """Copy the words of generators to the workspace."""

    def confirm(self, steps: Iterable[Step]) -> None:
        """Check whether Python code has changed arrays that the steps read."""

    def python_ran(self, results: dict[str, tuple[str, str, list[str]]]) -> None:
        """Record that Python code has run, with these results."""
