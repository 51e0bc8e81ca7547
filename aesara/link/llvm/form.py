"""The part of a compiled function that does not depend on its cells; pickled functions carry it."""

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
from aesara.lower.errors import ErrorInfo
from aesara.records import dataclass

__all__ = ["Form", "Symbols"]


@dataclass
class Symbols:
    """The part of a form that refers to nodes of the graph.

    Attributes
    ----------
    errors
        Messages of failed checks.
    python_nodes
        The nodes that run in Python, with their inputs.
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
        Facts about the program.
    constants
        Arrays that the program reads.
    n_callbacks
        Number of nodes that run in Python.
    timers
        Timers of the steps, if the code measures them; each function gets its own.
    symbols
        References to nodes; pickled with the graph, and None until that is decoded.
    """

    image: Image
    interface: Interface
    constants: tuple[np.ndarray, ...]
    n_callbacks: int
    symbols: Symbols | None
    timers: StepTimers | None = None

    @classmethod
    def of(cls, lowered: Lowered, image: Image, timers: StepTimers | None = None) -> Form:
        """Return the form of a lowered graph."""
        symbols = Symbols(lowered.errors, lowered.python_nodes)
        constants = tuple(map(_base_of, lowered.constants))
        return cls(image, Interface.of(lowered.program), constants, len(lowered.python_nodes), symbols, timers)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"checksum": self._checksum()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        confirm(self.__dict__.pop("checksum", None), self._checksum(), "machine code")
        # Buffers that were pickled out of band may be unaligned.
        self.constants = tuple(np.require(c, requirements=["C", "A"]).reshape(c.shape) for c in self.constants)

    def _checksum(self) -> bytes:
        image, timers = self.image, self.timers
        facts = image.externals, image.entry, image.host, self.interface, self.n_callbacks, len(self.constants)
        lengths, code = (len(image.code), len(image.entry_code)), image.code + image.entry_code
        return checksum_of((facts, lengths, None if timers is None else timers.facts), code, self.constants)

    def symbols_of(self, graph: Callable[[], Any]) -> Symbols:
        """Return the references to nodes, after decoding the graph if necessary."""
        if self.symbols is None:
            graph()
        assert self.symbols is not None
        return self.symbols

    def without_symbols(self) -> Form:
        """Return the part that refers to no nodes."""
        return replace(self, symbols=None)


def _base_of(array: np.ndarray) -> np.ndarray:
    """Return the base of a view of a whole array, so that a pickle with both stores the values once."""
    base = array.base
    if not isinstance(base, np.ndarray) or base.ctypes.data != array.ctypes.data:
        return array
    same = (base.dtype, base.shape, base.strides) == (array.dtype, array.shape, array.strides)
    return base if same else array
