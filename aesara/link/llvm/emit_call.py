"""Prologue and epilogue of a call: arguments in, result or exception out.

The entry reads ndarray headers and checks each argument. Anything but an aligned, C-contiguous array of the right
dtype, rank and static shape (or a Python float or int for a 0-d input) goes to the Python fallback, which converts it.
All failures branch to one label, where a routine cleans up.
"""

from __future__ import annotations

from collections.abc import Iterable

from aesara.ir.buffers import ITEM_SIZES
from aesara.ir.definitions import FunctionParameter
from aesara.ir.program import Input, Program
from aesara.ir.steps import Allocate, HandOver, Step, walk_steps
from aesara.link.llvm import layout
from aesara.link.llvm.call_boundary import CallBoundary
from aesara.link.llvm.emit_memory import Workspace
from aesara.link.llvm.emit_results import initial_values, make_array
from aesara.link.llvm.emit_threads import LONG, Threads
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.spills import Spilled

__all__ = ["ENTRY", "PythonCallBoundary"]

ENTRY = "aesara_entry"
#: parameters of the entry, and these as arguments of other functions
_PARAMETERS = (
    FunctionParameter("ptr", "%self"),
    FunctionParameter("ptr", "%args"),
    FunctionParameter("i64", "%nargs"),
    FunctionParameter("ptr", "%names"),
)
_CALL = tuple(parameter.text() for parameter in _PARAMETERS)
_CALL_OF_PLAN = ("ptr %frame", "ptr %table", "ptr @plan")


class PythonCallBoundary(CallBoundary):
    """Emits the prologue and epilogue of a program, and code between nodes in Python."""

    name, parameters = ENTRY, _PARAMETERS

    def __init__(self, program: Program, code: HostCode, threads: Threads, workspace: Workspace) -> None:
        self.program, self.code, self.threads, self.workspace = program, code, threads, workspace
        self.frame = code.frame
        #: definitions of constants that the entry reads
        self.constants: list[str] = []
        #: the objects of the inputs
        self.objects: dict[int, str] = {}
        #: buffers in an ndarray visible to Python code: the object, its data pointer and its lengths; and those of them
        #: that Python code may have changed since
        self.seen: dict[str, tuple[str, str, list[str]]] = {}
        self.maybe_changed: set[str] = set()

    def definitions(self) -> list[str]:
        """Return the definitions that the module needs besides the entry point; called last."""
        return [self.frame.plan(), *self.constants]

    # -- prologue --------------------------------------------------------------------------------------------

    def arguments(self) -> None:
        """Read arguments and shared variables; take guards and references if other threads may run."""
        code = self.code
        rank = max([1, *(len(b.shape) for step in self.program.steps for b in step.arrays())])
        code.add(f"%table = load ptr, ptr {code.at('%self', layout.ARRAY_DATA)}")
        code.make_frame()
        code.allocas.append(f"%dims = alloca [{rank} x i64]")
        self._check_count()
        if code.spills:
            self._read_by_routine("%args", "explicit", {k: 8 * n for n, k in enumerate(self.frame.explicit)})
        else:
            for position, k in enumerate(self.frame.explicit):
                self._read(k, code.field("%args", 8 * position))
        self._make_list()
        if code.spills:
            arrays = [k for k in self.frame.implicit if not self.program.inputs[k].is_generator]
            self._read_by_routine("null", "implicit", {k: 8 * self.frame.words.cell(k) for k in arrays})
        else:
            for k in self.frame.implicit:
                if not self.program.inputs[k].is_generator:
                    self._read(k, self._load_cell(k))
        for k in self.program.generators():
            self._read_generator(k)
        self._hold_values()
        code.forget()

    def _read_by_routine(self, arguments: str, sort: str, offsets: dict[int, int]) -> None:
        """Call the routine that reads inputs and stores their data pointers and lengths in the frame."""
        if not offsets:
            return
        words = []
        for k, at in offsets.items():
            item = self.program.inputs[k]
            shape, dtype = item.buffer.outer_shape, item.buffer.outer_dtype
            number = 0
            if not item.implicit and not item.static_shape and dtype in ("float64", "int64"):
                number = layout.INTEGER if item.buffer.dtype == "int64" else layout.FLOAT
            copy_bytes = self._bytes_to_copy(item)
            slot = self.frame.reserve(2 + (len(shape) or 2))
            words += [at, 8 * layout.descr_word(dtype), len(shape), number, copy_bytes, slot]
            words += [-1 if n is None else n for n in item.static_shape]
            self.objects[k] = Spilled(slot + layout.READ_OBJECT, "ptr")
            data = self.code.expressions.pointers[item.buffer.name] = Spilled(slot + layout.READ_DATA, "ptr")
            lengths: list[str] = [Spilled(slot + layout.READ_LENGTHS + 8 * d, "i64") for d in range(len(shape))]
            for size, length, static in zip(shape, lengths, item.static_shape, strict=True):
                if static is None:
                    self.code.values.variables[size.attr] = (length, 0)
            if shape:
                self.seen[item.buffer.name] = self.objects[k], data, lengths
        self.constants.append(
            f"@{sort} = internal constant [{len(words)} x i64] [{', '.join(f'i64 {word}' for word in words)}]"
        )
        call = ("ptr %frame", "ptr %table", f"ptr {arguments}", f"ptr @{sort}", f"i64 {len(offsets)}")
        self._demand_input(self.code.call("arguments", "i1", *call))

    def _bytes_to_copy(self, item: Input) -> int:
        """Return the size of the copy of an input: scalars are copied if Python code runs during the call."""
        if not self.frame.made or item.static_shape:
            return 0
        return ITEM_SIZES[item.buffer.dtype] * (1 + item.buffer.is_complex)

    def _check_count(self) -> None:
        """Check the number of arguments."""
        code = self.code
        count = code.compare("eq", "i64", "%nargs", str(len(self.frame.explicit)))
        right = code.both(code.compare("eq", "ptr", "%names", "null"), count)
        read, strict = code.label("read"), code.label("strict")
        code.branch(right, read, strict, likely=read)
        code.block(strict)
        code.branch(code.call("strict", "i1", *_CALL, "ptr @plan"), read, "refused")
        code.block(read)

    def _load_cell(self, k: int) -> str:
        """Return the object in the cell of an input."""
        code = self.code
        cell = code.word(self.frame.words.cell(k))
        self._demand_input(code.compare("sgt", "i64", code.field(cell, layout.LIST_LENGTH, "i64"), "0"))
        return code.field(code.field(cell, layout.LIST_ITEMS), 0)

    def _read_generator(self, k: int) -> None:
        """Check that the link of a generator is that of the one in the cell, and read the number of its words."""
        code, obj = self.code, self._load_cell(k)
        facts = self._link_words(k)
        known = code.compare("eq", "ptr", code.field(facts, layout.LINK_GENERATOR), obj)
        self._demand_input(known)
        bits = code.field(obj, code.field(facts, layout.LINK_PLACE, "i64"))
        self._demand_input(code.compare("eq", "ptr", code.field(facts, layout.LINK_BITS), bits))
        (size,) = self.program.inputs[k].buffer.shape
        code.values.variables[size.attr] = (code.spill(self._words_of(facts), "i64"), 0)

    def _words_of(self, facts: str) -> str:
        """Return the number of words of the generator's state."""
        return self.code.emit("i64", f"lshr i64 {self.code.field(facts, layout.LINK_BYTES, 'i64')}, 3")

    def _link_words(self, k: int) -> str:
        """Return the words of the link of a generator."""
        code = self.code
        link = code.field(code.field(self._box(k), layout.LIST_ITEMS), 0)
        return code.field(code.field(code.field(link, layout.LIST_ITEMS), 0), layout.ARRAY_DATA)

    def _box(self, k: int) -> str:
        """Return the list with the link of a generator."""
        return self.code.word(self.frame.words.link + self.program.generators().index(k))

    def open_generators(self) -> None:
        """Copy the words of generators to the workspace.

        The locks of generators that the call draws from are held until their new words are stored, except if Python
        code runs in between, which may draw from them. Other generators come first and are not held: calls that hold a
        lock take further ones only in an order that all calls share.
        """
        code, inputs = self.code, self.program.generators()
        held = [] if self.frame.made else self._updated_generators()
        for number in sorted(range(len(inputs)), key=held.__contains__):
            buffer = self.program.inputs[inputs[number]].buffer
            # Python code may have run since its size was read.
            (length,) = map(code.value, buffer.shape)
            now = self._words_of(self._link_words(inputs[number]))
            code.demand(code.compare("eq", "i64", now, length), layout.MOVED)
            code.call("attach", "void", *_CALL_OF_PLAN, f"ptr {self._box(inputs[number])}", f"i64 {number}")
            words = self.workspace.slot(number)
            code.place(buffer.name, words)
            if number not in held:
                opened = code.call("open", "i1", *_CALL_OF_PLAN, f"i64 {number}", f"ptr {words}")
                code.demand(opened, layout.RAISED)
        if held:
            code.demand(code.call("hold", "i1", *_CALL_OF_PLAN), layout.RAISED)
        for number in held:
            words = code.pointer_to(self.program.inputs[inputs[number]].buffer.name)
            code.call("fetch", "void", "ptr %frame", "ptr @plan", f"i64 {number}", f"ptr {words}")

    def _updated_generators(self) -> list[int]:
        """Return the positions of the generators that the call draws from."""
        inputs = self.program.generators()
        return [inputs.index(k) for _, k in self.program.generator_updates()]

    def _settle_generators(self) -> None:
        """Before any update, fail if Python code has drawn from a generator that the call draws from."""
        code, inputs = self.code, self.program.generators()
        numbers = self._updated_generators() if self.frame.made else []
        if numbers:
            code.demand(code.call("hold", "i1", *_CALL_OF_PLAN), layout.RAISED)
        for number in numbers:
            before = code.pointer_to(self.program.inputs[inputs[number]].buffer.name)
            arguments = ("ptr %frame", "ptr @plan", f"i64 {number}", f"ptr {before}")
            code.demand(code.call("settle", "i1", *arguments), layout.DRAWN)

    def _read(self, k: int, obj: str) -> None:
        """Check the object of an input; find its values and its shape."""
        code = self.code
        item = self.program.inputs[k]
        self.objects[k] = obj
        is_array = code.compare("eq", "ptr", code.field(obj, layout.OBJECT_TYPE), code.word("PyArray_Type"))
        if item.implicit or item.static_shape or item.buffer.outer_dtype not in ("float64", "int64"):
            self._demand_input(is_array)
            self._define_input(item, self._array_data(item, obj))
            return
        array, number, ready = code.label("array"), code.label("number"), code.label("ready")
        code.branch(is_array, array, number)
        code.block(number)
        slot, is_int = code.fresh("number"), int(item.buffer.dtype == "int64")
        code.allocas.append(f"{slot} = alloca i64")
        inside = code.call("number", "ptr", "ptr %table", f"ptr {obj}", f"i1 {is_int}", f"ptr {slot}")
        code.branch(code.compare("ne", "ptr", inside, "null"), ready, "refused", likely=ready)
        code.block(array)
        pointer = self._array_data(item, obj)
        from_array = code.writer.block
        code.writer.jump(ready)
        code.block(ready)
        self._define_input(item, code.writer.phi("ptr", (inside, number), (pointer, from_array)).name)

    def _define_input(self, item: Input, data: str) -> None:
        """Record the location of an input's values."""
        code = self.code
        size = self._bytes_to_copy(item)
        if size:
            copy = code.fresh("copy")
            code.allocas.append(f"{copy} = alloca [{size} x i8], align 16")
            code.copy(copy, data, str(size))
            data = copy
        code.place(item.buffer.name, data)

    def python_ran(self, results: dict[str, tuple[str, str, list[str]]]) -> None:
        """Record that Python code may have changed all visible arrays, except these results of a node."""
        self.seen.update(results)
        self.maybe_changed = self.seen.keys() - results.keys()

    def confirm(self, steps: Iterable[Step]) -> None:
        """Fail if Python code has changed the memory of an array that one of the steps reads."""
        code = self.code
        used: set[str] = set()
        for step in walk_steps(steps):
            used.update(step.accesses(), step.bases().values())
            used.update(self.program.inputs[k].buffer.name for k in step.taken_inputs())
        for name in sorted(used & self.maybe_changed):
            self.maybe_changed.discard(name)
            seen, pointer, sizes = self.seen[name]
            obj, data = code.here(seen), code.here(pointer)
            lengths = [code.here(n) for n in sizes]
            rank = code.field(obj, layout.ARRAY_NDIM, "i32")
            code.demand(code.compare("eq", "i32", rank, str(len(lengths))), layout.MOVED)
            same = code.compare("eq", "ptr", code.field(obj, layout.ARRAY_DATA), data)
            now = code.field(obj, layout.ARRAY_DIMS) if lengths else ""
            for d, length in enumerate(lengths):
                same = code.both(same, code.compare("eq", "i64", code.field(now, 8 * d, "i64"), length))
            code.demand(same, layout.MOVED)

    def _array_data(self, item: Input, obj: str) -> str:
        """Check the header of an array and return its data pointer."""
        code = self.code
        shape = item.buffer.outer_shape
        expected = code.word(layout.descr_word(item.buffer.outer_dtype))
        descr = code.compare("eq", "ptr", code.field(obj, layout.ARRAY_DESCR), expected)
        ndim = code.compare("eq", "i32", code.field(obj, layout.ARRAY_NDIM, "i32"), str(len(shape)))
        masked = code.emit("i32", f"and i32 {code.field(obj, layout.ARRAY_FLAGS, 'i32')}, {layout.PLAIN}")
        plain = code.compare("eq", "i32", masked, str(layout.PLAIN))
        self._demand_input(code.both(descr, ndim, plain))
        dims = code.field(obj, layout.ARRAY_DIMS) if shape else ""
        lengths = []
        for d, (size, static) in enumerate(zip(shape, item.static_shape, strict=True)):
            n = code.field(dims, 8 * d, "i64")
            lengths.append(n)
            if static is None:
                code.values.variables[size.attr] = (n, 0)
            else:
                self._demand_input(code.compare("eq", "i64", n, str(static)))
        data = code.field(obj, layout.ARRAY_DATA)
        if shape:
            self.seen[item.buffer.name] = obj, data, lengths
        return data

    def _demand_input(self, condition: str) -> None:
        """Continue if the condition holds, otherwise branch to the fallback."""
        on = self.code.label("ok")
        self.code.branch(condition, on, "refused", likely=on)
        self.code.block(on)

    def _make_list(self) -> None:
        """Allocate the list of results first: this may fail, and may run Python code before shared values are read."""
        if self.frame.with_list:
            made = self.code.call("PyList_New", "ptr", f"i64 {self.program.returned}")
            self.code.demand_pointer(made, layout.RAISED)
            self.code.set_field("%frame", layout.FRAME_ANSWER, made)

    def _hold_values(self) -> None:
        """Take guards of updated variables and references to shared values, if other threads may run during the
        call."""
        code = self.code
        if not self.frame.implicit and not self.program.updates:
            return
        native = [step for step in self.program.steps if not step.needs_gil]
        everything = self.frame.made or not self.threads.all_known(native)
        self.threads.careful = (
            "true" if everything else self.threads.more_than(self.threads.total(self.program.steps), LONG)
        )
        if self.threads.careful == "false" and not self.program.updates:
            return
        on, call = code.label("on"), ("ptr %frame", "ptr @plan", f"i1 {self.threads.careful}", f"ptr @{ENTRY}", *_CALL)
        go = code.call("secure", "i1", *call)
        code.branch(go, on, "early", likely=on)
        code.block("early")
        code.answer(code.field("%frame", layout.FRAME_ANSWER))
        code.block(on)

    # -- results ---------------------------------------------------------------------------------------------

    def result(self, step: Allocate, output: int) -> str:
        """Allocate a result; return the pointer to its values."""
        code, buffer = self.code, step.buffer
        old, lonely = None, self.threads.lonely
        if step.reuse is not None:
            old = code.here(self.objects[step.reuse])
            if not self.program.inputs[step.reuse].implicit:
                lonely = code.field(old, 0, "i32")  # the caller gives it away, with any other references
        array = make_array(code, self.program, step, output, old, lonely)
        shape = [code.value(n) for n in buffer.outer_shape[: layout.ERROR_VALUES]]
        code.demand_pointer(array, layout.FIRST_LARGE_RESULT - output, shape)
        code.set_field("%frame", self.frame.result(output), array)
        data = code.field(array, layout.ARRAY_DATA)
        if step.initial is not None and step.reuse is None:
            code.copy(data, initial_values(code, self.program, step), code.value(buffer.bytes))
        return data

    def hand_over(self, step: HandOver) -> None:
        """Let the array of an input be a result."""
        obj = self.code.here(self.objects[self.program.exchanged_arrays()[step.output]])
        self.code.call("Py_IncRef", "void", f"ptr {obj}")
        self.code.set_field("%frame", self.frame.result(step.output), obj)

    # -- the end ---------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Store the results and updates, which cannot fail; then emit the failure paths."""
        code = self.code
        self._settle_generators()
        if self.frame.simple:
            if self.program.slots:
                block = code.field("%frame", layout.FRAME_BLOCK)
                code.set_field(block, layout.BLOCK_NEXT, code.word("pool"))
                code.set_field("%table", 8 * layout.WORD["pool"], block)
            code.answer(code.field("%frame", self.frame.result(0)))
        else:
            code.answer(code.call("finish", "ptr", "ptr %frame", "ptr %table", "ptr @plan"))
        code.block("refused")
        code.answer(code.call("refuse", "ptr", "ptr %frame", *_CALL, "ptr @plan"))
        code.emit_failures()
        code.finish_frame()
