"""A compiled program as a Python callable: the builtin, its table, and the slow paths."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.errors import NativeTargetError
from aesara.ir.program import Program
from aesara.link.guards import EVERYTHING, Held, guard_of, wait_for
from aesara.link.llvm import large_results, layout
from aesara.link.llvm.addresses import fixed_words
from aesara.link.llvm.clock import system_clock
from aesara.link.llvm.emit_timed import StepTimers
from aesara.link.llvm.frame import guard_count
from aesara.link.llvm.generators import Links
from aesara.link.llvm.jit import Code
from aesara.link.llvm.runtime.code import routine_words
from aesara.link.llvm.runtime.kept_results import empty_places
from aesara.link.llvm.spills import spills_values
from aesara.link.llvm.workers import use_threads
from aesara.records import dataclass
from aesara.tracebacks import without_own_frames

__all__ = ["Interface", "NativeCallable"]


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

#: method definitions, kept forever: a builtin reads its definition when it is freed
_definitions: list[_MethodDef] = []


_free = ctypes.pythonapi.PyMem_RawFree
_free.restype, _free.argtypes = None, [ctypes.c_void_p]


class _Table(np.ndarray):
    """The words that compiled code reads; as the `self` of the builtin it keeps their targets alive."""

    anchor: object = None
    #: the word with the address of the first free block of workspace
    first: ctypes.c_uint64

    def __del__(self) -> None:
        if self.anchor is not None:  # not a view
            self.empty_pool()

    def take_pool(self) -> list[int]:
        """Take the free blocks of workspace and return their addresses."""
        first = self.first
        # Atomic: without a call or a loop in between, no other thread runs.
        block, first.value = first.value, 0
        blocks = []
        while block:
            blocks.append(block)
            block = _word(block + layout.BLOCK_NEXT)
        return blocks

    def pool_bytes(self) -> int:
        """Return the size of the free blocks of workspace."""
        first, total = self.first, 0
        for block in self.take_pool():
            total += _word(block + layout.BLOCK_SIZE)
            following = ctypes.c_uint64.from_address(block + layout.BLOCK_NEXT)
            # Atomic, as above.
            following.value = first.value
            first.value = block
        return total

    def empty_pool(self) -> None:
        """Free the unused blocks of workspace."""
        for block in self.take_pool():
            _free(_word(block + layout.BLOCK_MEMORY))


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


_POOL = layout.WORD["pool"]

Callback = Callable[..., list[np.ndarray]]


@dataclass(frozen=True)
class Interface:
    """Facts about a program that its callable needs.

    Attributes
    ----------
    dtypes, implicit
        Of each input: the dtype of its arrays, and whether it is read from a cell.
    cells
        Numbers of the inputs whose cells the program uses.
    updated
        Numbers of the inputs that get new values.
    guards
        Number of guards of a call.
    products
        Dtypes of the matrix products.
    lent
        Numbers of the results that are lent.
    spills
        Whether the entry spills values (`spills`), so that a routine reads its arguments.
    generators
        Numbers of the inputs that are random generators.
    overwritten
        Numbers of the arguments that results may overwrite.
    """

    dtypes: tuple[str, ...]
    implicit: tuple[bool, ...]
    cells: tuple[int, ...]
    updated: tuple[int, ...]
    guards: int
    products: tuple[str, ...]
    lent: tuple[int, ...] = ()
    spills: bool = False
    generators: tuple[int, ...] = ()
    overwritten: tuple[int, ...] = ()

    @classmethod
    def of(cls, program: Program) -> Interface:
        """Return the interface of a program."""
        return cls(
            tuple(item.buffer.outer_dtype for item in program.inputs),
            tuple(item.implicit for item in program.inputs),
            tuple(program.cells()),
            tuple(dict.fromkeys(number for _, number in program.updates)),
            guard_count(program),
            tuple(sorted({dtype for step in program.all_steps() for dtype in step.products()})),
            program.lent,
            spills_values(program),
            tuple(program.generators()),
            tuple(program.overwritten_arguments()),
        )


class NativeCallable:
    """Calls compiled code; `entry` is the builtin itself, for calls without a Python frame.

    Parameters
    ----------
    interface
        Facts about the program.
    code
        The loaded machine code.
    constants
        Arrays of the program's constants, in order.
    cells
        The one-element lists of the implicit and of the updated inputs, in order.
    callbacks
        A callable for each node that runs in Python, from arrays to a list of arrays.
    fallback
        Called with the caller's arguments if they do not fit the fast path.
    answer_or_raise
        Called as ``answer_or_raise(error, values, arguments)`` if a check fails; raises, or returns the result.
    timers
        Timers of the program's steps, if they are measured.
    """

    # Set by the linker: the report, and the part that is pickled.
    report: Any
    form: Any = None
    # Set by the creator of the function: returns the graph's variables with their cells.
    cells_by_variable: Callable[[], dict[Any, list[Any]]] = dict

    def __init__(
        self,
        interface: Interface,
        code: Code,
        constants: Sequence[np.ndarray],
        cells: Sequence[list[Any]],
        callbacks: Sequence[Callback],
        fallback: Callable[..., Any],
        answer_or_raise: Callable[[int, list[int], tuple[Any, ...]], Any],
        timers: StepTimers | None = None,
    ) -> None:
        self.interface = interface
        self.timers = timers
        self._copy_with = functools.partial(
            NativeCallable, interface, code, constants, cells, callbacks, answer_or_raise=answer_or_raise, timers=timers
        )
        self.cells = list(cells)
        box_of = dict(zip(interface.cells, self.cells, strict=True))
        #: guards that calls take
        self.guards = [guard_of(box_of[k]) for k in interface.updated]
        if len(self.guards) < interface.guards:
            self.guards.append(EVERYTHING)
        kinds = [np.dtype(dtype) for dtype in interface.dtypes]
        self._explicit = [kinds[k] for k, implicit in enumerate(interface.implicit) if not implicit]
        self._implicit = [
            (box_of[k], guard_of(box_of[k]), kinds[k])
            for k, implicit in enumerate(interface.implicit)
            if implicit and k not in interface.generators
        ]
        drawn_from = {n for n, k in enumerate(interface.generators) if k in interface.updated}
        self._links = Links([box_of[k] for k in interface.generators], drawn_from)
        routines = routine_words(
            interface.products,
            arguments=interface.spills,
            values=bool(interface.cells or interface.overwritten),
            lent=bool(interface.lent),
            generators=bool(interface.generators),
        )
        large_results.use_limit()
        use_threads()
        words = fixed_words(bool(interface.products), routines)
        referenced = [*self.cells, *callbacks]
        pointers = [id(cell) for cell in self.cells]
        pointers += [array.ctypes.data for array in constants]
        pointers += [id(callback) for callback in callbacks]
        pointers += [guard.address for guard in self.guards]
        self.kept = empty_places(len(interface.lent))
        pointers += [id(self.kept)] if self.kept else []
        pointers += [id(box) for box in self._links.boxes]
        pointers += [] if timers is None else timers.words()
        self.table = np.array(words + pointers, dtype=np.uint64).view(_Table)
        self.table.first = ctypes.c_uint64.from_address(self.table.ctypes.data + 8 * _POOL)
        fail, wait = _Failure(answer_or_raise), functools.partial(wait_for, self.guards)
        for name, target in (("fallback", fallback), ("fail", fail), ("wait", wait)):
            self.table[layout.WORD[name]] = id(target)
        clock = system_clock()
        self.table[layout.WORD["clock"]] = 0 if clock is None else clock.address
        definition = _MethodDef(b"aesara_function", code.address, _METH_FASTCALL_KEYWORDS, None)
        if code.address is None:
            self.entry: Callable[..., Any] = functools.partial(_refuse, code.target)
        else:
            self.entry = _new_builtin(ctypes.addressof(definition), self.table, None)
        self.table.setflags(write=False)
        kept = self.guards, self.kept, self._links
        self.table.anchor = (referenced, list(constants), fallback, fail, wait, kept, code, timers)
        _definitions.append(definition)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.entry(*args, **kwargs)

    def careful(self, values: Sequence[Any]) -> Any:
        """Run on explicit values of the right types, with any memory layout.

        Values of shared variables with another layout are replaced in their cells by equal arrays.
        """
        if not all(self.cells):
            raise ValueError(
                "The container of a shared variable is empty: a list of one value was expected. Give it one with "
                "`set_value`, and change shared variables by nothing else."
            )
        self._links.renew()
        for box, guard, dtype in self._implicit:
            if _as_plain_array(box[0], dtype) is not box[0]:
                with Held([guard]):
                    box[0] = _as_plain_array(box[0], dtype)
        return self.entry(*map(_as_plain_array, values, self._explicit), self.table)

    def with_fallback(self, fallback: Callable[..., Any]) -> NativeCallable:
        """Return a callable with the same code and cells and another fallback."""
        return self._copy_with(fallback=fallback)

    @property
    def storage_map(self) -> dict[Any, list[Any]]:
        """The cells of the graph's variables; those of computed variables are empty, since they live in a call's
        memory."""
        return self.cells_by_variable()

    def refuse_numbers(self) -> None:
        """Pass Python and NumPy numbers to the fallback, as strict inputs demand."""
        self.table.setflags(write=True)
        for name in ("PyFloat_Type", "Float64_Type", "PyLong_Type", "Int64_Type"):
            self.table[layout.WORD[name]] = 0
        self.table.setflags(write=False)

    @property
    def program(self) -> Program:
        """The compiled program."""
        program: Program = self.report.lowering.program
        return program

    @property
    def workspace_bytes(self) -> int:
        """Bytes of free workspace that calls have left."""
        return self.table.pool_bytes()

    def clear_storage(self) -> None:
        """Free unused workspace, the arrays of lent results, and the memory that large results of all functions have
        left."""
        self.table.empty_pool()
        self.kept[:] = empty_places(len(self.interface.lent))
        large_results.release()


class _Failure:
    """Raises the exception of a failed check, or returns the reference's result."""

    def __init__(self, answer_or_raise: Callable[[int, list[int], tuple[Any, ...]], Any]) -> None:
        self.answer_or_raise = answer_or_raise

    def __call__(self, address: int, *args: Any) -> Any:
        error, *values = (ctypes.c_int64 * (1 + layout.ERROR_VALUES)).from_address(address)
        if error == layout.NO_WORKSPACE:
            raise MemoryError(
                "The function's intermediate results do not fit into memory; aesara.memory_plan(f) says which they are."
            )
        try:
            return self.answer_or_raise(error, values, args)
        except Exception as found:  # unbound at the end, which avoids a cycle with its traceback
            raise without_own_frames(found)  # noqa: B904


def _refuse(target: str, *args: Any, **kwargs: Any) -> Any:
    raise NativeTargetError(
        f"This function was compiled for another architecture ({target}), so its code can be looked at but not run. "
        "To run it, set the option native_target to native and compile it again."
    )


def _as_plain_array(value: Any, expected: np.dtype[Any]) -> Any:
    """Return the value as an aligned, C-contiguous array with the dtype object that compiled code expects."""
    array = np.asarray(value)
    if array.dtype != expected:
        return value  # the entry point refuses it with a message
    if not (array.flags.c_contiguous and array.flags.aligned):
        array = np.array(array, order="C")
    return array if array.dtype is expected else array.view(expected)
