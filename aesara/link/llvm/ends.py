"""What an entry point needs for the beginning and the end of a call, whoever calls it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from aesara.ir.steps import Allocate, HandOver, Step
from aesara.link.llvm.spills import Spilled

__all__ = ["Ends"]


class Ends(ABC):
    """Emits what a call does before the first and after the last step of a program.

    Attributes
    ----------
    heading
        The entry point's type, name and parameters.
    objects
        The Python objects of the inputs.
    """

    heading: str
    objects: dict[int, str | Spilled]

    @abstractmethod
    def definitions(self) -> list[str]:
        """What the module has beside the entry point; asked for in the end."""

    @abstractmethod
    def arguments(self) -> None:
        """Find the inputs."""

    @abstractmethod
    def result(self, step: Allocate, output: int) -> str:
        """Make the memory of a result; returns where its values go."""

    def hand_over(self, step: HandOver) -> None:
        """Let the array of an input be a result: calls from Python have arrays, others do not."""
        raise TypeError(f"{step} needs arrays of Python; only functions with shared variables have such steps.")

    @abstractmethod
    def finish(self) -> None:
        """End the call; nothing can fail from here on.  Then come the other ends."""

    def open_generators(self) -> None:
        """Copy the words of generators to the workspace."""

    def confirm(self, steps: Iterable[Step]) -> None:
        """Look whether Python code has changed what the steps read."""

    def python_ran(self, results: dict[str, tuple[str, str, list[str]]]) -> None:
        """Take note that Python code has run, with these results."""
