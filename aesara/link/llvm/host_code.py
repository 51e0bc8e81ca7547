"""The small pieces that the text of an entry point is made of: branches, words of the table, calls through it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

from aesara.ir.expr import Expr
from aesara.link.llvm import layout
from aesara.link.llvm.emit_kernel import Emitter, Scope
from aesara.link.llvm.frame import Frame
from aesara.link.llvm.metadata import Metadata
from aesara.link.llvm.module import Module
from aesara.link.llvm.spills import Spilled

__all__ = ["HostCode"]

#: so many ways to fail end at one label: LLVM's time for a label is the square of how many lead there
_WAYS = 64
#: so many values are computed in one block of an entry that spills values, for the same reason
_BLOCK = 100


class HostCode:
    """Writes the text of a function whose table is ``%table`` and whose calls have a ``%frame``.

    `written` are the buffers that are not only read.  If it `spills`, values that later steps read are written to the
    frame, which is then not on the stack.
    """

    #: what the function returns, in LLVM's terms
    kind_of_answer = "ptr"

    def __init__(self, frame: Frame, written: frozenset[str], spills: bool) -> None:
        self.frame, self.spills = frame, spills
        self.module, self.metadata = Module(), Metadata()
        # !0 and !1 are the weights of likely and unlikely branches
        self.metadata.lines = ['!{!"branch_weights", i32 1000, i32 1}', '!{!"branch_weights", i32 1, i32 1000}']
        self.emitter = Emitter(self.module, self.metadata, written)
        if spills:
            self.emitter.block_values = _BLOCK
            self.emitter.keep = self._to_frame
        self.lines = self.emitter.scopes[0].lines
        self.allocas: list[str] = []
        #: by the block where they end: ways to fail, with the error, its values, and the block where it is found
        self._failures: dict[str, list[tuple[int | str, Sequence[str], str]]] = {"failed": []}
        self._failed = "failed"
        #: the line that makes the frame, if values are spilled to it
        self._frame_line = 0

    # -- the frame -------------------------------------------------------------------------------------------

    def make_frame(self) -> None:
        """Make the frame: on the stack, or, since many calls may be under way, elsewhere if it is large."""
        if not self.spills:
            self.allocas += [
                f"%frame = alloca [{self.frame.bytes // 8} x i64]",
                f"%frame.zeros = getelementptr i8, ptr %frame, i64 {layout.FRAME_ANSWER}",
                f"store [{self.frame.nulls} x i64] zeroinitializer, ptr %frame.zeros",
            ]
            return
        # Its size is known in the end.
        make, none, made = self.word("PyMem_RawCalloc"), self.label("none"), self.label("made")
        self._frame_line = len(self.lines)
        self.add(f"%frame = call ptr {make}(i64 1, i64 ")
        self.branch(self.compare("eq", "ptr", "%frame", "null"), none, made, likely=made)
        self.block(none)
        self.no_frame()
        self.block(made)

    def no_frame(self) -> None:
        """End the call, since there is no memory for its frame."""
        self.call("PyErr_NoMemory", "ptr")
        self.add("ret ptr null")

    def finish_frame(self) -> None:
        """Say how large the frame is, when all of the call has been emitted."""
        if self.spills:
            self.lines[self._frame_line] += f"{self.frame.bytes})"

    # -- text ------------------------------------------------------------------------------------------------

    @property
    def writer(self) -> Scope:
        """What writes to the open block."""
        return self.emitter.scopes[-1]

    def add(self, *lines: str) -> None:
        self.writer.add(*lines)

    def emit(self, kind: str, instruction: str, stem: str = "t") -> str:
        """An instruction; returns the name of its value."""
        return self.writer.emit(kind, instruction, stem).name

    def fresh(self, stem: str = "t") -> str:
        return self.emitter.fresh(stem)

    def label(self, stem: str) -> str:
        return self.emitter.label(stem)

    def block(self, label: str) -> None:
        self.writer.begin(label)

    def at(self, pointer: str, offset: int | str, element: str = "i8") -> str:
        """The address so many elements from a pointer on."""
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
        return self.emitter.value(e)

    def forget(self) -> None:
        """Let values that could be computed again not be used any more, if what is used later is spilled."""
        if self.spills:
            self.emitter.forget()

    def call(self, function: str, result: str, *arguments: str) -> str:
        """Call a C function or a routine that is a word of the table."""
        pointer = self.word(function)
        if result == "void":
            self.add(f"call void {pointer}({', '.join(arguments)})")
            return ""
        return self.emit(result, f"call {result} {pointer}({', '.join(arguments)})")

    def compare(self, predicate: str, kind: str, a: str, b: str) -> str:
        return self.writer.value(kind, a).compare(predicate, self.writer.value(kind, b)).name

    def both(self, *conditions: str) -> str:
        """Whether all conditions hold."""
        values = [self.writer.value("i1", name) for name in conditions]
        return functools.reduce(operator.and_, values).name

    # -- where things are ------------------------------------------------------------------------------------

    def place(self, buffer: str, pointer: str) -> None:
        """Say where a buffer is."""
        self.emitter.pointers[buffer] = self.spill(pointer)

    def spill(self, value: str, kind: str = "ptr") -> str:
        """Write a value that later steps read to the frame, if this entry does so; returns what takes its place."""
        if not self.spills or len(self.emitter.scopes) > 1:
            return value
        return self._to_frame(value, kind)

    def _to_frame(self, value: str, kind: str) -> Spilled:
        """Write a value that is known at the function's top to the frame, there."""
        top, spilled = self.emitter.scopes[0], Spilled(self.frame.more(1), kind)
        top.store(top.value(kind, value), top.at("%frame", spilled.place))
        return spilled

    def room(self, stem: str, words: int) -> str:
        """Memory of the call."""
        pointer = self.fresh(stem)
        if self.spills:
            self.add(f"{pointer} = getelementptr i8, ptr %frame, i64 {self.frame.more(words)}")
        else:
            self.allocas.append(f"{pointer} = alloca [{words} x i64]")
        return pointer

    def define(self, name: str, value: str, kind: str = "i64") -> None:
        """Give a size its value, which is known in the loop that is being emitted."""
        self.emitter.variables[name] = (self.spill(value, kind), len(self.emitter.scopes) - 1)

    def copy(self, target: str, source: str, size: str) -> None:
        """Copy bytes."""
        declaration = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        function = self.module.declare("@llvm.memcpy.p0.p0.i64", declaration)
        self.add(f"call void {function}(ptr {target}, ptr {source}, i64 {size}, i1 false)")

    # -- ways to fail ----------------------------------------------------------------------------------------

    def demand(self, condition: str, error: int | str, values: Sequence[str] = ()) -> None:
        """Go on if the condition holds, else fail with an error, a number or a value."""
        on = self.label("ok")
        self.branch(condition, on, self._fails_here(error, values), likely=on)
        self.block(on)

    def demand_pointer(self, pointer: str, error: int, values: Sequence[str] = ()) -> None:
        """Go on if a pointer is not null."""
        self.demand(self.compare("ne", "ptr", pointer, "null"), error, values)

    def stop_if(self, condition: str, on: str) -> None:
        """Fail, since an exception is set, if the condition holds; else go on at a label."""
        self.branch(condition, self._fails_here(layout.RAISED, ()), on, likely=on)

    def _fails_here(self, error: int | str, values: Sequence[str]) -> str:
        """Note a way to fail, which begins at this point; returns where it ends."""
        if len(self._failures[self._failed]) == _WAYS:
            self._failed = self.label("failed")
            self._failures[self._failed] = []
        self._failures[self._failed].append((error, values, self.writer.block))
        return self._failed

    def failed(self) -> None:
        """What happens at the ends of the ways to fail."""
        for end, ways in self._failures.items():
            if not ways:
                continue
            self.block(end)
            lists = [(f"{error}", *values) for error, values, _ in ways]
            names = []
            for k in range(max(map(len, lists))):
                values = ((row[k] if k < len(row) else "0", way[2]) for row, way in zip(lists, ways, strict=True))
                names.append(self.writer.phi("i64", *values).name)
            self.fail(names)

    def fail(self, error: Sequence[str]) -> None:
        """End the call with an exception: the number of an error, and its values."""
        for k, name in enumerate(error):
            self.set_field("%frame", layout.FRAME_ERROR + 8 * k, name, "i64")
        self.answer(self.call("abort", "ptr", "ptr %frame", "ptr %table", "ptr @plan", "ptr %args"))

    def answer(self, value: str) -> None:
        """End the call with its answer, or with null if it has raised."""
        if self.spills:
            self.call("PyMem_RawFree", "void", "ptr %frame")
        self.add(f"ret {self.kind_of_answer} {value}")
