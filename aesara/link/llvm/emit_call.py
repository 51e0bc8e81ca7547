"""The beginning and the end of a call: arguments in, answer or exception out.

The entry reads ndarray headers and checks each argument; anything but an aligned, C-contiguous array of the right
dtype, rank and static shape (or a Python float or int for a 0-d input) goes to the Python fallback, which converts.
All ways to fail meet at one label, from where a routine cleans up.
"""

from __future__ import annotations

from collections.abc import Iterable

from aesara.ir.buffers import ITEM_SIZES
from aesara.ir.program import Input, Program
from aesara.ir.steps import Step, walk_steps
from aesara.link.llvm import layout
from aesara.link.llvm.emit_threads import LONG, ThreadCode
from aesara.link.llvm.frame import Frame
from aesara.link.llvm.spills import Spilled, spills_values

__all__ = ["ENTRY", "CallCode"]

ENTRY = "aesara_entry"
#: what the entry is called with
_CALL = ("ptr %self", "ptr %args", "i64 %nargs", "ptr %names")


class CallCode(ThreadCode):
    """Emits what a call does before the first and after the last step of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        written = {buffer.name for step in program.all_steps() for buffer in step.makes()}
        given = {item.buffer.name for item in program.inputs} | {buffer.name for buffer in program.constants}
        super().__init__(frozenset(written), frozenset(given), spills_values(program))
        self.frame = Frame(program)
        #: the line that makes the frame, if values are spilled to it
        self.frame_line = 0
        #: definitions of constants that the entry reads
        self.constants: list[str] = []
        #: the objects of the inputs
        self.objects: dict[int, str] = {}
        #: buffers that are the memory of an ndarray which Python code can see: the object, where its values were, its
        #: lengths then; and those of them that Python code may have changed since
        self.seen: dict[str, tuple[str, str, list[str]]] = {}
        self.doubtful: set[str] = set()

    def place(self, buffer: str, pointer: str) -> None:
        """Say where a buffer is."""
        self.emitter.pointers[buffer] = self.spill(pointer)

    def spill(self, value: str, kind: str = "ptr") -> str:
        """Write a value that later steps read to the frame, if this entry does so; returns what takes its place."""
        if not self.spills or len(self.emitter.scopes) > 1:
            return value
        spilled = Spilled(self.frame.more(1), kind)
        self.set_field("%frame", spilled.place, value, kind)
        return spilled

    def room(self, stem: str, words: int) -> str:
        """Memory of the call."""
        pointer = self.fresh(stem)
        if self.spills:
            self.add(f"{pointer} = getelementptr i8, ptr %frame, i64 {self.frame.more(words)}")
        else:
            self.allocas.append(f"{pointer} = alloca [{words} x i64]")
        return pointer

    # -- the beginning ---------------------------------------------------------------------------------------

    def arguments(self) -> None:
        """Read the arguments and shared variables; then guard and hold the values if other threads may run."""
        rank = max([1, *(len(b.shape) for step in self.program.steps for b in step.arrays())])
        self.add(f"%table.p = getelementptr i8, ptr %self, i64 {layout.ARRAY_DATA}", "%table = load ptr, ptr %table.p")
        self._make_frame()
        self.allocas.append(f"%dims = alloca [{rank} x i64]")
        self._count()
        if self.spills:
            self._read_all("%args", "explicit", {k: 8 * n for n, k in enumerate(self.frame.explicit)})
        else:
            for position, k in enumerate(self.frame.explicit):
                self._read(k, self.field("%args", 8 * position))
        self._make_list()
        if self.spills:
            self._read_all("null", "implicit", {k: 8 * self.frame.words.cell(k) for k in self.frame.implicit})
        else:
            for k in self.frame.implicit:
                cell = self.word(self.frame.words.cell(k))
                self._demand_input(self.compare("sgt", "i64", self.field(cell, layout.LIST_LENGTH, "i64"), "0"))
                self._read(k, self.field(self.field(cell, layout.LIST_ITEMS), 0))
        self._secure()
        self.forget()

    def _make_frame(self) -> None:
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
        self.frame_line = len(self.code)
        self.add(f"%frame = call ptr {make}(i64 1, i64 ")
        self.branch(self.compare("eq", "ptr", "%frame", "null"), none, made, likely=made)
        self.block(none)
        self.call("PyErr_NoMemory", "ptr")
        self.add("ret ptr null")
        self.block(made)

    def _read_all(self, arguments: str, sort: str, places: dict[int, int]) -> None:
        """Let a routine look at inputs, and write to the frame what they are."""
        if not places:
            return
        words = []
        for k, at in places.items():
            item = self.program.inputs[k]
            shape, dtype = item.buffer.outer_shape, item.buffer.outer_dtype
            number = 0
            if not item.implicit and not item.static_shape and dtype in ("float64", "int64"):
                number = layout.INTEGER if item.buffer.dtype == "int64" else layout.FLOAT
            copied = self._bytes_to_copy(item)
            place = self.frame.more(2 + (len(shape) or 2))
            words += [at, 8 * layout.descr_word(dtype), len(shape), number, copied, place]
            words += [-1 if n is None else n for n in item.static_shape]
            self.objects[k] = Spilled(place + layout.READ_OBJECT, "ptr")
            data = self.emitter.pointers[item.buffer.name] = Spilled(place + layout.READ_DATA, "ptr")
            lengths: list[str] = [Spilled(place + layout.READ_LENGTHS + 8 * d, "i64") for d in range(len(shape))]
            for size, length, static in zip(shape, lengths, item.static_shape, strict=True):
                if static is None:
                    self.emitter.variables[size.attr] = (length, 0)
            if shape:
                self.seen[item.buffer.name] = self.objects[k], data, lengths
        self.constants.append(
            f"@{sort} = internal constant [{len(words)} x i64] [{', '.join(f'i64 {word}' for word in words)}]"
        )
        call = ("ptr %frame", "ptr %table", f"ptr {arguments}", f"ptr @{sort}", f"i64 {len(places)}")
        self._demand_input(self.call("arguments", "i1", *call))

    def _bytes_to_copy(self, item: Input) -> int:
        """How large a copy is made of an input: of single values, if Python code runs before the call ends."""
        if not self.frame.made or item.static_shape:
            return 0
        return ITEM_SIZES[item.buffer.dtype] * (1 + item.buffer.is_complex)

    def _count(self) -> None:
        """Look at how many arguments there are."""
        count = self.compare("eq", "i64", "%nargs", str(len(self.frame.explicit)))
        plain, right = self.compare("eq", "ptr", "%names", "null"), self.fresh("c")
        self.add(f"{right} = and i1 {plain}, {count}")
        read, strict = self.label("read"), self.label("strict")
        self.branch(right, read, strict, likely=read)
        self.block(strict)
        self.branch(self.call("strict", "i1", *_CALL, "ptr @plan"), read, "refused")
        self.block(read)

    def _read(self, k: int, obj: str) -> None:
        """Look at the object of an input, and find its values and its shape."""
        item = self.program.inputs[k]
        self.objects[k] = obj
        is_array = self.compare("eq", "ptr", self.field(obj, layout.OBJECT_TYPE), self.word("PyArray_Type"))
        if item.implicit or item.static_shape or item.buffer.outer_dtype not in ("float64", "int64"):
            self._demand_input(is_array)
            self._place_input(item, self._array_data(item, obj))
            return
        array, number, ready = self.label("array"), self.label("number"), self.label("ready")
        self.branch(is_array, array, number)
        self.block(number)
        place, is_int = self.fresh("number"), int(item.buffer.dtype == "int64")
        self.allocas.append(f"{place} = alloca i64")
        inside = self.call("number", "ptr", "ptr %table", f"ptr {obj}", f"i1 {is_int}", f"ptr {place}")
        self.branch(self.compare("ne", "ptr", inside, "null"), ready, "refused", likely=ready)
        self.block(array)
        pointer = self._array_data(item, obj)
        from_array = self.emitter.scopes[0].block
        self.add(f"br label %{ready}")
        self.block(ready)
        data = self.fresh("data")
        self.add(f"{data} = phi ptr [{inside}, %{number}], [{pointer}, %{from_array}]")
        self._place_input(item, data)

    def _place_input(self, item: Input, data: str) -> None:
        """Say where the values of an input are."""
        size = self._bytes_to_copy(item)
        if size:
            copy = self.fresh("copy")
            self.allocas.append(f"{copy} = alloca [{size} x i8], align 16")
            self.copy(copy, data, str(size))
            data = copy
        self.place(item.buffer.name, data)

    def copy(self, target: str, source: str, size: str) -> None:
        """Copy bytes."""
        declaration = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        function = self.module.declare("@llvm.memcpy.p0.p0.i64", declaration)
        self.add(f"call void {function}(ptr {target}, ptr {source}, i64 {size}, i1 false)")

    def confirm(self, steps: Iterable[Step]) -> None:
        """Fail if Python code has given other memory to an array that one of the steps reads."""
        used: set[str] = set()
        for step in walk_steps(steps):
            used.update(step.touched(), step.bases().values())
            used.update(self.program.inputs[k].buffer.name for k in step.taken_inputs())
        for name in sorted(used & self.doubtful):
            self.doubtful.discard(name)
            seen, pointer, sizes = self.seen[name]
            obj, data = self.emitter.here(seen), self.emitter.here(pointer)
            lengths = [self.emitter.here(n) for n in sizes]
            rank = self.field(obj, layout.ARRAY_NDIM, "i32")
            self.demand(self.compare("eq", "i32", rank, str(len(lengths))), layout.MOVED)
            same = self.compare("eq", "ptr", self.field(obj, layout.ARRAY_DATA), data)
            now = self.field(obj, layout.ARRAY_DIMS) if lengths else ""
            for d, length in enumerate(lengths):
                both = self.fresh("c")
                here = self.compare("eq", "i64", self.field(now, 8 * d, "i64"), length)
                self.add(f"{both} = and i1 {same}, {here}")
                same = both
            self.demand(same, layout.MOVED)

    def _array_data(self, item: Input, obj: str) -> str:
        """Where the values of an array are, after a look at its header."""
        shape = item.buffer.outer_shape
        wanted = self.word(layout.descr_word(item.buffer.outer_dtype))
        descr = self.compare("eq", "ptr", self.field(obj, layout.ARRAY_DESCR), wanted)
        ndim = self.compare("eq", "i32", self.field(obj, layout.ARRAY_NDIM, "i32"), str(len(shape)))
        masked, both, all_three = self.fresh("m"), self.fresh("c"), self.fresh("c")
        self.add(f"{masked} = and i32 {self.field(obj, layout.ARRAY_FLAGS, 'i32')}, {layout.PLAIN}")
        plain = self.compare("eq", "i32", masked, str(layout.PLAIN))
        self.add(f"{both} = and i1 {descr}, {ndim}", f"{all_three} = and i1 {both}, {plain}")
        self._demand_input(all_three)
        dims = self.field(obj, layout.ARRAY_DIMS) if shape else ""
        lengths = []
        for d, (size, static) in enumerate(zip(shape, item.static_shape, strict=True)):
            n = self.field(dims, 8 * d, "i64")
            lengths.append(n)
            if static is None:
                self.emitter.variables[size.attr] = (n, 0)
            else:
                self._demand_input(self.compare("eq", "i64", n, str(static)))
        data = self.field(obj, layout.ARRAY_DATA)
        if shape:
            self.seen[item.buffer.name] = obj, data, lengths
        return data

    def _demand_input(self, condition: str) -> None:
        """Go on if the condition holds, else to the fallback."""
        on = self.label("ok")
        self.branch(condition, on, "refused", likely=on)
        self.block(on)

    def _make_list(self) -> None:
        """Make the list of results first: it could fail, and Python code may run before shared values are read."""
        if self.frame.with_list:
            made = self.call("PyList_New", "ptr", f"i64 {self.program.returned}")
            self.demand_pointer(made, layout.RAISED)
            self.set_field("%frame", layout.FRAME_ANSWER, made)

    def _secure(self) -> None:
        """Take guards of what is updated, and hold the shared values, if other threads may run meanwhile."""
        if not self.frame.implicit and not self.program.updates:
            return
        native = [step for step in self.program.steps if not step.needs_gil]
        everything = self.frame.made or not self.all_known(native)
        self.careful = "true" if everything else self.more_than(self.total(self.program.steps), LONG)
        if self.careful == "false" and not self.program.updates:
            return
        on, call = self.label("on"), ("ptr %frame", "ptr @plan", f"i1 {self.careful}", f"ptr @{ENTRY}", *_CALL)
        go = self.call("secure", "i1", *call)
        self.branch(go, on, "early", likely=on)
        self.block("early")
        self.answer(self.field("%frame", layout.FRAME_ANSWER))
        self.block(on)

    # -- the end ---------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Fill the answer and hand over updates; nothing can fail from here on.  Then come the other ends."""
        if self.frame.simple:
            if self.program.slots:
                block = self.field("%frame", layout.FRAME_BLOCK)
                self.set_field(block, layout.BLOCK_NEXT, self.word("pool"))
                self.set_field("%table", 8 * layout.WORD["pool"], block)
            self.answer(self.field("%frame", self.frame.result(0)))
        else:
            self.answer(self.call("finish", "ptr", "ptr %frame", "ptr %table", "ptr @plan"))
        self.block("refused")
        self.answer(self.call("refuse", "ptr", "ptr %frame", *_CALL, "ptr @plan"))
        self.failed()
        if self.spills:
            self.code[self.frame_line] += f"{self.frame.bytes})"

    def answer(self, value: str) -> None:
        if self.spills:
            self.call("PyMem_RawFree", "void", "ptr %frame")
        super().answer(value)
