"""Interface of the emitter of a function, as far as the emission of steps needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aesara.ir.accumulation import SplitAccumulation
from aesara.ir.kernel import Kernel
from aesara.ir.steps import Launch, Step
from aesara.link.llvm.call_boundary import CallBoundary
from aesara.link.llvm.emit_kernel import Cut
from aesara.link.llvm.emit_memory import Workspace
from aesara.link.llvm.emit_threads import Threads
from aesara.link.llvm.host_code import HostCode

__all__ = ["CallEmitter", "StepEmitter"]


class CallEmitter(Protocol):
    """Emitter of a function with calls of routines."""

    @property
    def code(self) -> HostCode:
        """The text of the function."""

    def watcher(self) -> str:
        """Return the watcher for signals, or null."""

    def fail_if_stopped(self, stopped: str) -> None:
        """End the function if a signal handler has raised, as `stopped` says."""


class StepEmitter(CallEmitter, Protocol):
    """Emitter of an entry point, as far as steps need it (see `emit_program.EntryPoint`)."""

    threads: Threads
    boundary: CallBoundary
    workspace: Workspace
    short_loops: dict[int, Launch]
    has_loops: bool
    has_many_launches: bool
    inside_loop: bool

    def step(self, step: Step) -> None:
        """Emit a step."""

    def accumulation(self, kernel: Kernel) -> SplitAccumulation | None:
        """Return the parts of an accumulating kernel of which several threads may run the first; None for others."""

    def kernel(self, kernel: Kernel, cut: Cut) -> str:
        """Return the symbol of a kernel, which is emitted once."""

    def function_of_words(self, kernel: str, result: str, kinds: Sequence[str]) -> str:
        """Return the name of a function that runs a part of a kernel with arguments of these types, as words."""
