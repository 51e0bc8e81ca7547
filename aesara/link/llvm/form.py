"""What the linker makes of a graph, whatever cells a function has: what a pickled function carries instead of being
compiled again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from aesara.graph.checksums import checksum_of, confirm
from aesara.graph.nodes import Apply, Variable
from aesara.link.llvm.callable import Interface
from aesara.link.llvm.emit_timed import StepTimers
from aesara.link.llvm.jit import Image
from aesara.lower.assemble import Lowered
from aesara.lower.context import ErrorInfo
from aesara.records import dataclass

__all__ = ["Form", "Symbols"]


@dataclass
class Symbols:
    """The part of a form that refers to nodes of the graph.

    Attributes
    ----------
    errors
        How to word failed checks.
    python_nodes
        The nodes that run in Python, with what they read.
    """

    errors: tuple[ErrorInfo, ...]
    python_nodes: tuple[tuple[Apply, tuple[Variable, ...]], ...]


@dataclass
class Form:
    """A compiled graph.

    Attributes
    ----------
    image
        The object code.
    interface
        What the program takes and uses.
    constants
        Arrays that the program reads.
    n_callbacks
        How many nodes run in Python.
    timers
        What measures the steps, if the code does that; each function gets its own.
    symbols
        What refers to nodes; pickled with the graph, and None until that has been decoded.
    """

    image: Image
    interface: Interface
    constants: tuple[np.ndarray, ...]
    n_callbacks: int
    symbols: Symbols | None
    timers: StepTimers | None = None

    @classmethod
    def of(cls, lowered: Lowered, image: Image, timers: StepTimers | None = None) -> Form:
        """The form of a lowered graph."""
        symbols = Symbols(lowered.errors, lowered.python_nodes)
        constants = tuple(map(_original, lowered.constants))
        return cls(image, Interface.of(lowered.program), constants, len(lowered.python_nodes), symbols, timers)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"checksum": self._checksum()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        confirm(self.__dict__.pop("checksum", None), self._checksum(), "machine code")
        # Buffers that were pickled out of band may begin anywhere.
        self.constants = tuple(np.require(c, requirements=["C", "A"]).reshape(c.shape) for c in self.constants)

    def _checksum(self) -> bytes:
        image, timers = self.image, self.timers
        facts = image.externals, image.entry, image.host, self.interface, self.n_callbacks, len(self.constants)
        lengths, code = (len(image.code), len(image.entry_code)), image.code + image.entry_code
        return checksum_of((facts, lengths, None if timers is None else timers.facts), code, self.constants)

    def symbols_of(self, graph: Callable[[], Any]) -> Symbols:
        """What refers to nodes, decoded together with the graph if need be."""
        if self.symbols is None:
            graph()
        assert self.symbols is not None
        return self.symbols

    def without_symbols(self) -> Form:
        """The part that refers to no node."""
        return replace(self, symbols=None)


def _original(array: np.ndarray) -> np.ndarray:
    """The array that a view of all of it was made of: a pickle with both has the values once."""
    base = array.base
    if not isinstance(base, np.ndarray) or base.ctypes.data != array.ctypes.data:
        return array
    same = (base.dtype, base.shape, base.strides) == (array.dtype, array.shape, array.strides)
    return base if same else array
