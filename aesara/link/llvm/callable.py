"""A compiled program as a Python callable: the builtin, its table, and what happens off the fast path."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.ir.program import MatMul, Program, walk_steps
from aesara.link.llvm import layout
from aesara.link.llvm.emit_timed import StepTimers
from aesara.link.llvm.jit import Code
from aesara.link.llvm.runtime import fixed_words

__all__ = ["NativeCallable"]


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_new_builtin = ctypes.pythonapi.PyCFunction_NewEx
_new_builtin.restype = ctypes.py_object
_new_builtin.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]

#: method definitions are read when a builtin is freed, after what it holds may be gone: they stay
_definitions: list[_MethodDef] = []


class _Table(np.ndarray):
    """The words that compiled code reads.  As the `self` of the builtin it keeps alive what the words point to."""

    anchor: object = None


Callback = Callable[..., list[np.ndarray]]


class NativeCallable:
    """Calls compiled code.  `entry` is the entry point itself, a builtin, for callers that want no Python frame.

    Parameters
    ----------
    program
        What was compiled.
    code
        The loaded machine code.
    constants
        Arrays that the program reads, in the order of `program.constants`.
    cells
        The one-element lists of the implicit and of the updated inputs, in order.
    callbacks
        One callable for each node that runs in Python: arrays in, list of arrays out.
    fallback
        Called with the caller's arguments whenever they are not as the fast path needs them.
    report
        Called as ``report(error, values, arguments)`` when a check fails; must raise.
    timers
        What measures the program's steps, if they are measured.
    """

    report: Any  # how it was compiled, set by the linker

    def __init__(
        self,
        program: Program,
        code: Code,
        constants: Sequence[np.ndarray],
        cells: Sequence[list[Any]],
        callbacks: Sequence[Callback],
        fallback: Callable[..., Any],
        report: Callable[[int, list[int], tuple[Any, ...]], Any],
        timers: StepTimers | None = None,
    ) -> None:
        self.program = program
        self.timers = timers
        self.cells = list(cells)
        self._report = report
        self._workspace = np.empty(0, np.uint8)
        needs_blas = any(isinstance(step, MatMul) for step in walk_steps(program.steps))
        words = fixed_words(needs_blas)
        own = [*self.cells, *callbacks]
        pointers = [id(cell) for cell in self.cells]
        pointers += [array.ctypes.data for array in constants]
        pointers += [id(callback) for callback in callbacks]
        pointers += [] if timers is None else timers.words()
        self.table = np.array(words + pointers, dtype=np.uint64).view(_Table)
        fail, grow = self._fail, self._grow
        for name, target in (("fallback", fallback), ("fail", fail), ("grow", grow)):
            self.table[layout.WORD[name]] = id(target)
        definition = _MethodDef(b"aesara_function", code.address, _METH_FASTCALL_KEYWORDS, None)
        self.entry = _new_builtin(ctypes.addressof(definition), self.table, None)
        self.table.anchor = (own, list(constants), fallback, fail, grow, code, timers)
        _definitions.append(definition)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.entry(*args, **kwargs)

    def careful(self, values: Sequence[Any]) -> Any:
        """Run on explicit values of the right types, whatever their memory layout.

        Values of shared variables that are laid out otherwise are replaced in their cells by equal arrays.
        """
        ready = []
        explicit = iter(values)
        box_of = dict(zip(self.program.cells(), self.cells, strict=True))
        for k, item in enumerate(self.program.inputs):
            if item.implicit:
                box_of[k][0] = _plain(box_of[k][0], item.buffer.outer_dtype)
            else:
                ready.append(_plain(next(explicit), item.buffer.outer_dtype))
        self.table[layout.WORD["careful"]] = 1
        try:
            return self.entry(*ready)
        finally:
            self.table[layout.WORD["careful"]] = 0

    def _grow(self) -> None:
        """Make the workspace large enough for what compiled code has asked for."""
        need = int(self.table[layout.WORD["value0"]])
        size = max(need + need // 4, 1024)
        block = np.empty(size + 64, np.uint8)
        address = -(-block.ctypes.data // 64) * 64
        self._workspace = block
        self.table[layout.WORD["workspace"]] = address
        self.table[layout.WORD["capacity"]] = size

    def _fail(self, *args: Any) -> Any:
        error = int(self.table[layout.WORD["error"]].astype(np.int64))
        first = layout.WORD["value0"]
        values = self.table[first : first + layout.ERROR_VALUES].astype(np.int64).tolist()
        if error == -1:
            raise MemoryError("the function's intermediate results do not fit into memory")
        self._report(error, values, args)
        raise AssertionError("a failed check was not reported")


def _plain(value: Any, dtype: str) -> Any:
    """The value as an aligned, C-contiguous array of native byte order with the very descriptor compiled code wants."""
    wanted = np.dtype(dtype)
    array = np.asarray(value)
    if array.dtype != wanted:
        return value  # refused by the entry point, with a message
    flags = array.flags
    if type(array) is not np.ndarray or not (flags.c_contiguous and flags.aligned) or not array.dtype.isnative:
        shape = array.shape
        array = np.require(np.array(array, dtype=wanted, order="C", subok=False), requirements="A").reshape(shape)
    return array if array.dtype is wanted else array.view(wanted)
