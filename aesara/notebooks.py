"""The IPython shell that a program runs in: names of cells, and tracebacks without frames of the package.

IPython is never imported here: where nobody has imported it, there is no shell.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from aesara.configdefaults import config
from aesara.tracebacks import hide_own_frames

__all__ = ["cell_of", "place_text", "running_shell", "shorten_tracebacks"]


def running_shell() -> Any:
    """Return IPython's shell, or None where the program does not run in one."""
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return None if ask is None else ask()


def cell_of(filename: str) -> str | None:
    """Return the cell whose code was compiled under a file's name, as in ``Cell In[3]``; None for other files."""
    describe = getattr(getattr(running_shell(), "compile", None), "format_code_name", None)
    found = None if describe is None else describe(filename)
    return None if found is None else " ".join(found)


def place_text(filename: str, lineno: int) -> str:
    """Return a place in a program as text.

    Examples
    --------
    >>> place_text("model.py", 12)
    'model.py:12'
    """
    cell = cell_of(filename)
    return f"{filename}:{lineno}" if cell is None else f"{cell}, line {lineno}"


def shorten_tracebacks() -> None:
    """Leave frames of the package out of the tracebacks that IPython's shell shows.

    A shell has one handler of exceptions; one that a program has set already stays.
    """
    shell = running_shell()
    if shell is not None and getattr(shell, "custom_exceptions", None) == ():
        shell.set_custom_exc((Exception,), _show_traceback)


def _show_traceback(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    if config.hide_internal_frames and getattr(shell.InteractiveTB, "skip_hidden", True):
        trace = hide_own_frames(error, trace)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)
