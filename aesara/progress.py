"""A line in a notebook that says how far a compilation is, if it takes more than a second."""

from __future__ import annotations

import contextvars
import os
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from aesara import clock
from aesara.configdefaults import config
from aesara.notebooks import running_shell

__all__ = ["begin_stage", "compiling"]

_DELAY = 1.0  # seconds until the line is shown
_PERIOD = 0.5  # seconds between two versions of it
_SILENT: AbstractContextManager[None] = nullcontext()

_running: contextvars.ContextVar[_Line | None] = contextvars.ContextVar("running_line", default=None)


def compiling(name: str | None) -> AbstractContextManager[None]:
    """Show a line while a function is compiled, in a notebook and if the option ``compile_progress`` allows it.

    Anywhere else nothing is shown, and for a function that is compiled in the course of another one.

    Parameters
    ----------
    name
        The function's name.
    """
    shell = running_shell()
    if getattr(shell, "kernel", None) is None or _running.get() is not None or config.compile_progress == "off":
        return _SILENT
    return _Line(shell, name)


def begin_stage(name: str) -> None:
    """Name the stage of the compilation that begins, for the line that is shown."""
    line = _running.get()
    if line is not None:
        line.stage = name


class _Line:
    """A line of a notebook's output, which a thread of its own replaces."""

    def __init__(self, shell: Any, name: str | None) -> None:
        self.stage = ""
        self._shell = shell
        self._name = "a function" if name is None else name
        self._id = os.urandom(8).hex()
        self._ended = threading.Event()
        self._showing = threading.Lock()
        self._shown = False

    def __enter__(self) -> None:
        self._started = clock.now()
        self._token = _running.set(self)
        # The context says which cell the output belongs to.
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._watch,), daemon=True).start()

    def __exit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        _running.reset(self._token)
        self._ended.set()
        with self._showing:  # the thread shows nothing from here on
            if self._shown:
                what = "Compiled" if kind is None else "Stopped compiling"
                self._show(f"{what} {self._name} after {self._seconds:.1f} s")

    @property
    def _seconds(self) -> float:
        return clock.now() - self._started

    def _watch(self) -> None:
        wait = _DELAY
        while not self._ended.wait(wait):
            wait = _PERIOD
            with self._showing:
                if not self._ended.is_set():
                    stage = f": {self.stage}" if self.stage else ""
                    self._show(f"Compiling {self._name}{stage} ({self._seconds:.0f} s)")

    def _show(self, text: str) -> None:
        data, transient = {"text/plain": text}, {"display_id": self._id}
        self._shell.display_pub.publish(data, transient=transient, update=self._shown)
        self._shown = True
