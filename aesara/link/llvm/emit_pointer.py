"""A program as a plain C function, for callers outside of Python.

It is called as ``int64 function(lengths, pointers, user)``: lengths (uint64), pointers to the elements of inputs and
results, and a pointer to user data, one of whose words is the address of the function's table. It touches no Python
object and needs no GIL, so any threads may call it concurrently: each call takes a block of workspace out of a pool by
an atomic exchange with null, and puts it back where there is null.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.definitions import FunctionParameter
from aesara.ir.program import Program
from aesara.ir.steps import Allocate, Step
from aesara.link.llvm import layout
from aesara.link.llvm.call_boundary import CallBoundary
from aesara.link.llvm.emit_memory import Workspace
from aesara.link.llvm.emit_program import EntryPoint
from aesara.link.llvm.emit_threads import Threads
from aesara.link.llvm.frame import Frame
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.module import Module
from aesara.link.llvm.runtime.memory import ALIGN
from aesara.link.llvm.runtime.pointer_pool import ENTRIES, STRIDE, give_block, take_block
from aesara.link.llvm.spills import spills_values
from aesara.link.llvm.typed_functions import add_function
from aesara.records import dataclass

__all__ = [
    "CHECK_FAILED", "NO_MEMORY", "POINTER_ENTRY", "WRONG_LENGTH", "PointerWords", "PointerTarget", "Signature",
    "emit_pointer",
]  # fmt: skip

POINTER_ENTRY = "aesara_pointer"
#: return values if a check of the graph fails, if a length is wrong, and if there is no memory
CHECK_FAILED, WRONG_LENGTH, NO_MEMORY = 1, -1, -2

#: largest workspace on the stack, in bytes
_STACK_BYTES = 16384


@dataclass(frozen=True)
class PointerTarget:
    """Target of a pointer: the input or result of this number.

    `length` is the position of its length among the lengths; None: it is a scalar.
    """

    number: int
    is_result: bool
    length: int | None = None


@dataclass(frozen=True)
class Signature:
    """Parameters of the C function: lengths, pointers, and the user data.

    Attributes
    ----------
    status
        Number of the result that the function returns, an int64; None: it returns 0.
    word
        Index of the word of the user data with the address of the table.
    """

    lengths: int
    pointers: tuple[PointerTarget, ...]
    status: int | None = None
    word: int = 0


class PointerWords:
    """Words of the table after those that every function has.

    Attributes
    ----------
    values
        By number of a shared variable: the word with the address of its values; its lengths follow.
    constant, end
        The first constant, and the end of the words.
    """

    pool, pool_size = layout.VARIABLE_START, ENTRIES

    def __init__(self, program: Program) -> None:
        at = self.pool + ENTRIES * STRIDE
        self.values: dict[int, int] = {}
        for k, item in enumerate(program.inputs):
            if item.implicit:
                self.values[k] = at
                at += 1 + len(item.buffer.outer_shape)
        self.constant = at
        self.end = at + len(program.constants)

    def pool_place(self, number: int) -> int:
        """Return the word of an entry of the pool."""
        return self.pool + STRIDE * number


class _PointerFrame(Frame):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.words_of_table = PointerWords(program)
        self.words.constant = self.words_of_table.constant

    def late_blocks(self) -> list[int]:
        """Return the frame offsets of the blocks of late slots."""
        return [self.late(slot) for slot in self._late]


class _PointerCode(HostCode):
    kind_of_answer = "i64"
    frame: _PointerFrame

    def no_frame(self) -> None:
        self.add(f"ret i64 {NO_MEMORY}")

    def fail(self, error: Sequence[str]) -> None:
        number = self.writer.value("i64", error[0])
        no_memory = self.writer.constant("i64", NO_MEMORY)
        other = number.equals(layout.WRONG_ARGUMENTS).select(WRONG_LENGTH, no_memory)
        self.answer((number >= 0).select(CHECK_FAILED, other).name)

    def answer(self, value: str) -> None:
        for place in self.frame.late_blocks():
            self.call("PyMem_RawFree", "void", f"ptr {self.field('%frame', place)}")
        self.add("call void @pool.give(ptr %frame, ptr %table)")
        super().answer(value)


class _NoThreads(Threads):
    """Threads of a function without GIL and signals."""

    def release_gil(self, steps: Sequence[Step]) -> None:
        self.code.forget()

    def take_gil(self) -> None:
        pass


class _PointerWorkspace(Workspace):
    def block(self, need: str) -> str:
        if need.isdecimal() and int(need) <= _STACK_BYTES:
            self.code.allocas.append(f"%workspace = alloca [{need} x i8], align {ALIGN}")
            return "%workspace"
        return self.code.emit("ptr", f"call ptr @pool.take(ptr %frame, ptr %table, i64 {need})")


class _PointerCallBoundary(CallBoundary):
    def __init__(self, program: Program, code: _PointerCode, signature: Signature) -> None:
        self.program, self.code, self.signature = program, code, signature
        self.objects = {}
        self.name = POINTER_ENTRY
        lengths = [FunctionParameter("i64", f"%length{k}") for k in range(signature.lengths)]
        pointers = [FunctionParameter("ptr", f"%pointer{k}") for k in range(len(signature.pointers))]
        self.parameters = [*lengths, *pointers, FunctionParameter("ptr", "%user")]
        self._inputs = {p.number: (k, p) for k, p in enumerate(signature.pointers) if not p.is_result}
        self._results = {p.number: (k, p) for k, p in enumerate(signature.pointers) if p.is_result}

    def definitions(self) -> list[str]:
        add_function(self.code.module, take_block)
        add_function(self.code.module, give_block)
        return []

    def arguments(self) -> None:
        code = self.code
        code.add(f"%table = load ptr, ptr {code.at('%user', 8 * self.signature.word)}")
        code.make_frame()
        if self.signature.status is not None:
            code.allocas.append("%status = alloca i64")
        for k, item in enumerate(self.program.inputs):
            shape, static = item.buffer.outer_shape, item.static_shape
            if item.implicit:
                word = code.frame.words_of_table.values[k]
                code.place(item.buffer.name, code.word(word))
                lengths = [code.word(word + 1 + d, "i64") if static[d] is None else "" for d in range(len(shape))]
            else:
                position, target = self._inputs[k]
                code.place(item.buffer.name, f"%pointer{position}")
                lengths = [] if target.length is None else [f"%length{target.length}"]
            for size, length, known in zip(shape, lengths, static, strict=True):
                if known is None:
                    code.define(size.attr, length)
                elif not item.implicit:
                    code.demand(code.compare("eq", "i64", length, str(known)), layout.WRONG_ARGUMENTS)
        code.forget()

    def result(self, step: Allocate, output: int) -> str:
        if output == self.signature.status:
            return "%status"
        code, (position, target) = self.code, self._results[output]
        expected = "1" if target.length is None else f"%length{target.length}"
        for size in step.buffer.outer_shape:
            code.demand(code.compare("eq", "i64", code.value(size), expected), layout.WRONG_ARGUMENTS)
        return f"%pointer{position}"

    def finish(self) -> None:
        code = self.code
        code.answer("0" if self.signature.status is None else code.field("%status", 0, "i64"))
        code.emit_failures()
        code.finish_frame()


class _PointerEntry(EntryPoint):
    threads_class, workspace_class = _NoThreads, _PointerWorkspace
    code: _PointerCode

    def __init__(self, program: Program, signature: Signature) -> None:
        self.signature = signature
        super().__init__(program)

    def _host_code(self, created: frozenset[str]) -> HostCode:
        return _PointerCode(_PointerFrame(self.program), created, spills_values(self.program))

    def _call_boundary(self) -> CallBoundary:
        return _PointerCallBoundary(self.program, self.code, self.signature)


def emit_pointer(program: Program, signature: Signature) -> Module:
    """Return the LLVM module of a program as a plain C function.

    Parameters
    ----------
    program
        A program without updates, generators and nodes in Python; results are vectors or scalars.
    signature
        Its parameters.
    """
    return _PointerEntry(program, signature).module()
