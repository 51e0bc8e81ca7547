"""Building blocks of the text of an entry point: branches, words of the table, calls through it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

from aesara.ir.expr import Expr
from aesara.ir.instructions import CallInstruction
from aesara.link.llvm import layout
from aesara.link.llvm.emit_kernel import FunctionEmitter
from aesara.link.llvm.frame import Frame
from aesara.link.llvm.kept_values import KeptValues
from aesara.link.llvm.metadata import Metadata
from aesara.link.llvm.module import Module
from aesara.link.llvm.spills import Spilled
from aesara.link.llvm.values import Scope

__all__ = ["HostCode"]

#: maximum number of branches to one failure label: LLVM's time for a label is quadratic in their number
_MAX_BRANCHES = 64


class HostCode:
    """Writes the text of a function with a table ``%table`` and a frame ``%frame``.

    `written` are the buffers that are not read-only. With `spills`, values that later steps read are stored in the
    frame, which is then not on the stack. The function is in a module of its own, or in that of another one, `beside`.
    """

    #: LLVM type of the result
    kind_of_answer = "ptr"

    def __init__(self, frame: Frame, written: frozenset[str], spills: bool, beside: HostCode | None = None) -> None:
        self.frame, self.spills = frame, spills
        if beside is None:
            self.metadata = Metadata()
            self.module = Module(self.metadata)
            # !0 and !1 are the weights of likely and unlikely branches
            self.metadata.lines = [
                '!{!"branch_weights", i32 1000, i32 1}',
                '!{!"branch_weights", i32 1, i32 1000}',
            ]
        else:
            self.metadata, self.module = beside.metadata, beside.module
        self.emitter = FunctionEmitter(self.module, self.metadata, written)
        self.values, self.expressions = self.emitter.values, self.emitter.expressions
        self._kept = KeptValues(self.values, self._to_frame) if spills else None
        self.expressions.kept = self._kept
        self.lines = self.values.scopes[0].lines
        self.allocas: list[str] = []
        #: memory of `scratch`: its address, or its offset in the frame if values are spilled
        self._scratch: dict[tuple[str, int], str] = {}
        #: failures by label of their handler: the error, its values, and the block that branches there
        self._failures: dict[str, list[tuple[int | str, Sequence[str], str]]] = {"failed": []}
        self._failure_label = "failed"
        #: index of the line that allocates the frame, if values are spilled to it
        self._frame_line = 0

    # -- the frame -------------------------------------------------------------------------------------------

    def make_frame(self) -> None:
        """Allocate the frame on the stack, or on the heap if it is large, since calls may be nested."""
        if not self.spills:
            self.allocas += [
                f"%frame = alloca [{self.frame.bytes // 8} x i64]",
                f"%frame.zeros = getelementptr i8, ptr %frame, i64 {layout.FRAME_ANSWER}",
                f"store [{self.frame.nulls} x i64] zeroinitializer, ptr %frame.zeros",
            ]
            return
        # Its size is inserted by `finish_frame`.
        make, none, made = self.word("PyMem_RawCalloc"), self.label("none"), self.label("made")
        self._frame_line = len(self.lines)
        self.add(f"%frame = call ptr {make}(i64 1, i64 ")
        self.branch(self.compare("eq", "ptr", "%frame", "null"), none, made, likely=made)
        self.block(none)
        self.no_frame()
        self.block(made)

    def no_frame(self) -> None:
        """Return from the call, since there is no memory for its frame."""
        self.call("PyErr_NoMemory", "ptr")
        self.add("ret ptr null")

    def finish_frame(self) -> None:
        """Insert the size of the frame after all of the call has been emitted."""
        if self.spills:
            self.lines[self._frame_line] += f"{self.frame.bytes})"

    # -- text ------------------------------------------------------------------------------------------------

    @property
    def writer(self) -> Scope:
        """The writer of the current block."""
        return self.values.innermost

    def add(self, *lines: str) -> None:
        self.writer.add(*lines)

    def emit(self, kind: str, instruction: str, stem: str = "t") -> str:
        """Append an instruction and return the name of its value."""
        return self.writer.emit(kind, instruction, stem).name

    def fresh(self, stem: str = "t") -> str:
        return self.values.names.fresh(stem)

    def label(self, stem: str) -> str:
        return self.values.names.label(stem)

    def block(self, label: str) -> None:
        self.writer.begin(label)

    def at(self, pointer: str, offset: int | str, element: str = "i8") -> str:
        """Return the address `offset` elements past a pointer."""
        return self.writer.at(pointer, offset, element).name

    def field(self, pointer: str, offset: int | str, kind: str = "ptr") -> str:
        return self.writer.load(kind, self.at(pointer, offset)).name

    def set_field(self, pointer: str, offset: int | str, value: str, kind: str = "ptr") -> None:
        self.writer.store(self.writer.value(kind, value), self.at(pointer, offset))

    def word(self, name: str | int, kind: str = "ptr") -> str:
        return self.field("%table", 8 * (layout.WORD[name] if isinstance(name, str) else name), kind)

    def branch(self, condition: str, yes: str, no: str, likely: str | None = None) -> None:
        note = ""
        if likely is not None:
            note = ", !prof !0" if likely == yes else ", !prof !1"
        self.writer.branch(condition, yes, no, note)

    def value(self, e: Expr) -> str:
        return self.expressions.name_of(e)

    def forget(self) -> None:
        """Discard values that can be recomputed, in an entry that spills values."""
        if self._kept is not None:
            self._kept.end_step()

    def call(self, function: str, result: str, *arguments: str) -> str:
        """Call a C function or a routine by its word of the table."""
        pointer = self.word(function)
        if result == "void":
            self.add(f"call void {pointer}({', '.join(arguments)})")
            return ""
        return self.emit(result, f"call {result} {pointer}({', '.join(arguments)})")

    def call_function(self, function: str, result: str, *arguments: str) -> str:
        """Call a function of the module."""
        name = "" if result == "void" else self.fresh()
        self.writer.lines.append(CallInstruction(name, result, function, arguments))
        return name

    def compare(self, predicate: str, kind: str, a: str, b: str) -> str:
        return self.writer.value(kind, a).compare(predicate, self.writer.value(kind, b)).name

    def both(self, *conditions: str) -> str:
        """Return the conjunction of conditions."""
        values = [self.writer.value("i1", name) for name in conditions]
        return functools.reduce(operator.and_, values).name

    # -- buffers and values -----------------------------------------------------------------------------------

    def pointer_to(self, buffer: str) -> str:
        """Return the pointer to a buffer."""
        return self.expressions.pointer_to(buffer)

    def here(self, value: str) -> str:
        """Return the name of a value, after loading it if it is spilled."""
        return self.values.here(value)

    def place(self, buffer: str, pointer: str) -> None:
        """Set the pointer to a buffer."""
        self.expressions.pointers[buffer] = self.spill(pointer)

    def spill(self, value: str, kind: str = "ptr") -> str:
        """Store a value that later steps read in the frame, if this entry spills; return its replacement."""
        if not self.spills or len(self.values.scopes) > 1:
            return value
        return self._to_frame(value, kind)

    def _to_frame(self, value: str, kind: str) -> Spilled:
        """Store a value of the top level in the frame."""
        top, spilled = self.values.scopes[0], Spilled(self.frame.reserve(1), kind)
        top.store(top.value(kind, value), top.at("%frame", spilled.offset))
        return spilled

    def reserve(self, stem: str, words: int) -> str:
        """Return memory of the call."""
        pointer = self.fresh(stem)
        if self.spills:
            self.add(f"{pointer} = getelementptr i8, ptr %frame, i64 {self.frame.reserve(words)}")
        else:
            self.allocas.append(f"{pointer} = alloca [{words} x i64]")
        return pointer

    def scratch(self, stem: str, words: int) -> str:
        """Return memory of the call that all steps with this stem and size use, each for itself."""
        key = stem, words
        if key not in self._scratch:
            self._scratch[key] = self.reserve(stem, words) if not self.spills else str(self.frame.reserve(words))
        memory = self._scratch[key]
        return self.at("%frame", memory) if self.spills else memory

    def define(self, name: str, value: str, kind: str = "i64") -> None:
        """Define a size, whose value is known in the current loop."""
        self.values.variables[name] = (self.spill(value, kind), self.writer.depth)

    def copy(self, target: str, source: str, size: str) -> None:
        """Copy bytes."""
        declaration = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        function = self.module.declare("@llvm.memcpy.p0.p0.i64", declaration)
        self.add(f"call void {function}(ptr {target}, ptr {source}, i64 {size}, i1 false)")

    # -- failures --------------------------------------------------------------------------------------------

    def demand(self, condition: str, error: int | str, values: Sequence[str] = ()) -> None:
        """Continue if the condition holds, otherwise fail with an error (a number or a value)."""
        on = self.label("ok")
        self.branch(condition, on, self._branch_to_failure(error, values), likely=on)
        self.block(on)

    def demand_pointer(self, pointer: str, error: int, values: Sequence[str] = ()) -> None:
        """Continue if a pointer is not null."""
        self.demand(self.compare("ne", "ptr", pointer, "null"), error, values)

    def stop_if(self, condition: str, on: str) -> None:
        """Fail with the exception that is set, if the condition holds; otherwise continue at a label."""
        self.branch(condition, self._branch_to_failure(layout.RAISED, ()), on, likely=on)

    def _branch_to_failure(self, error: int | str, values: Sequence[str]) -> str:
        """Record a branch to a failure handler from this block; return the handler's label."""
        if len(self._failures[self._failure_label]) == _MAX_BRANCHES:
            self._failure_label = self.label("failed")
            self._failures[self._failure_label] = []
        self._failures[self._failure_label].append((error, values, self.writer.block))
        return self._failure_label

    def emit_failures(self) -> None:
        """Emit the failure handlers."""
        for end, branches in self._failures.items():
            if not branches:
                continue
            self.block(end)
            lists = [(f"{error}", *values) for error, values, _ in branches]
            names = []
            for k in range(max(map(len, lists))):
                values = ((row[k] if k < len(row) else "0", way[2]) for row, way in zip(lists, branches, strict=True))
                names.append(self.writer.phi("i64", *values).name)
            self.fail(names)

    def fail(self, error: Sequence[str]) -> None:
        """End the call with an exception: the number of an error, and its values."""
        for k, name in enumerate(error):
            self.set_field("%frame", layout.FRAME_ERROR + 8 * k, name, "i64")
        self.answer(self.call("abort", "ptr", "ptr %frame", "ptr %table", "ptr @plan", "ptr %args"))

    def answer(self, value: str) -> None:
        """End the call with its result, or null if it has raised."""
        if self.spills:
            self.call("PyMem_RawFree", "void", "ptr %frame")
        self.add(f"ret {self.kind_of_answer} {value}")
