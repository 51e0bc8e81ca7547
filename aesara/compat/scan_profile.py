"""Profiles of the steps of loops."""

from __future__ import annotations

import sys
from typing import IO, Any

from aesara.compile.profiling import ProfileStats

__all__ = ["ScanProfileStats"]


class ScanProfileStats(ProfileStats):
    """Measurements of the steps of a loop.

    Parameters
    ----------
    atexit_print
        Whether the summary is printed when the program ends.
    name
        The name of the loop.
    **kwargs
        Initial values of attributes.

    Attributes
    ----------
    callcount : int
        How often the loop was run.
    nbsteps : int
        How many steps these were.
    call_time : float
        How many seconds they took.

    Examples
    --------
    >>> from aesara.scan.utils import ScanProfileStats
    >>> profile = ScanProfileStats(atexit_print=False, name="smoothing")
    >>> profile.callcount, profile.nbsteps
    (0, 0)
    """

    def __init__(self, atexit_print: bool = True, name: str | None = None, **kwargs: Any) -> None:
        self.callcount, self.nbsteps, self.call_time = 0, 0, 0.0
        self.name = name
        super().__init__(atexit_print, **kwargs)

    def summary_globals(self, file: IO[str] = sys.stderr) -> None:
        """Print nothing: what is measured about all functions is not about one loop."""

    def summary_function(self, file: IO[str] = sys.stderr) -> None:
        """Print how often the loop was run, over how many steps, and how long they took."""
        if not self.callcount:
            return
        print(f"  Loop {self.name or ''}: {self.callcount} runs of {self.nbsteps} steps in all", file=file)
        print(f"    {self.call_time:.3e} s, {self.call_time / max(self.nbsteps, 1):.3e} s a step", file=file)
