"""Graphs compiled as plain C functions: their code, and the data passed with the arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from aesara.errors import NativeTargetError
from aesara.graph.nodes import Variable
from aesara.ir.expr import sharing
from aesara.ir.program import Program
from aesara.link.llvm import layout
from aesara.link.llvm.addresses import fixed_words
from aesara.link.llvm.cache import object_cache
from aesara.link.llvm.emit_pointer import POINTER_ENTRY, PointerWords, Signature, emit_pointer
from aesara.link.llvm.jit import build
from aesara.link.llvm.runtime.code import routine_words
from aesara.lower.dispatch import lower_graph
from aesara.lower.errors import Unsupported

__all__ = ["PointerCode", "PointerData"]

_free = ctypes.pythonapi.PyMem_RawFree
_free.restype, _free.argtypes = None, [ctypes.c_void_p]


class PointerCode:
    """A graph as a plain C function.

    Parameters
    ----------
    inputs
        The graph's inputs, each with whether it is a shared variable.
    outputs
        The results, in the order of the signature's numbers.
    signature
        The parameters of the function.

    Raises
    ------
    NotImplementedError
        If a node runs in Python; the message names it.
    TypeError
        If an input or output is not an array.

    Attributes
    ----------
    address
        Address of the function.
    """

    @sharing()
    def __init__(
        self, inputs: Sequence[tuple[Variable, bool]], outputs: Sequence[Variable], signature: Signature
    ) -> None:
        for variable, _ in inputs:
            if variable.type.in_words:
                raise TypeError(f"A C function cannot draw from the generator {variable}: it would need the GIL.")
        try:
            lowered = lower_graph(inputs, outputs, {}, len(outputs), False)
        except Unsupported as reason:
            raise TypeError(f"A C function takes and gives arrays only, but the graph has {reason}.") from None
        for node, why in lowered.reasons.items():
            origin = "" if node.source is None else f", made at {node.source.place}"
            raise NotImplementedError(
                f"A C function cannot run Python, but {node.op}{origin} has no native code here: {why}. Leave it out "
                "of the graph, or call the compiled function from Python."
            )
        self.signature = signature
        self.variables = [variable for variable, _ in inputs]
        self.program: Program = lowered.program
        self.constants = lowered.constants
        self._products = sorted({dtype for step in self.program.all_steps() for dtype in step.products()})
        self._code, _ = build(emit_pointer(self.program, signature), POINTER_ENTRY, object_cache())
        if self._code.address is None:
            raise NativeTargetError(
                f"This C function was compiled for another architecture ({self._code.target}). Set the option "
                "native_target to native and compile it again."
            )
        self.address: int = self._code.address

    @cached_property
    def fixed_words(self) -> list[int]:
        """The words of the table that all functions have."""
        return fixed_words(bool(self._products), routine_words(self._products))


class PointerData:
    """Data of a plain C function besides its arguments: constants and the values of shared variables.

    Parameters
    ----------
    code
        The function.
    values
        Values of the shared variables, by number of the input.

    Attributes
    ----------
    address
        Address of the table, a word of the user data.
    """

    def __init__(self, code: PointerCode, values: Mapping[int, Any]) -> None:
        words = PointerWords(code.program)
        self.values = {k: _copy_value(code.variables[k], values[k]) for k in words.values}
        table = np.zeros(words.end, np.uint64)
        table[: layout.VARIABLE_START] = code.fixed_words
        for k, at in words.values.items():
            value = self.values[k]
            table[at] = value.ctypes.data
            table[at + 1 : at + 1 + value.ndim] = value.shape
        for k, constant in enumerate(code.constants):
            table[words.constant + k] = constant.ctypes.data
        self._table, self._code, self._words = table, code, words
        self.address: int = table.ctypes.data

    def __del__(self) -> None:
        if not hasattr(self, "address"):
            return
        for k in range(self._words.pool_size):
            block = int(self._table[self._words.pool_place(k)])
            if block:
                _free(ctypes.c_uint64.from_address(block + layout.BLOCK_MEMORY).value)


def _copy_value(variable: Variable, value: Any) -> np.ndarray:
    """Return a read-only copy of the value of a shared variable."""
    copy = np.array(variable.type.filter(value, allow_downcast=True), variable.type.dtype, order="C")
    copy.setflags(write=False)
    return copy
