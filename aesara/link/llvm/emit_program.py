"""The entry point of a compiled function as LLVM IR text: CPython's fastcall convention in, a Python object out.

The entry reads ndarray headers and checks each argument; anything but an aligned, C-contiguous array of the right
dtype, rank and static shape (or a Python float or int for a 0-d input) goes to the Python fallback, which converts.
Then come the steps of the program.  All exits but the fallback pass through one clean-up.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, cast, const, op
from aesara.ir.kernel import For, Kernel
from aesara.ir.program import (
    BATCH,
    ITEM_SIZES,
    Allocate,
    Buffer,
    Check,
    Define,
    Input,
    Launch,
    Loop,
    MatMul,
    Program,
    PythonCall,
    Step,
    View,
    walk_steps,
)
from aesara.link.llvm import layout, matmul
from aesara.link.llvm.emit_kernel import Emitter, Metadata, emit_kernel
from aesara.link.llvm.layout import WORD
from aesara.link.llvm.primitives import LLVM_TYPES, Module, literal, memory_type

__all__ = ["ENTRY", "Entry", "emit_program"]

ENTRY = "aesara_entry"
_ALIGN = 64
#: more bytes than any memory has
_TOO_LARGE = 2**62
_KERNEL_ATTRIBUTES = 'noinline nounwind "prefer-vector-width"="512"'


class Entry:
    """Emits a program's entry point."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.module, self.metadata = Module(), Metadata()
        self.kernels: dict[tuple[Any, ...], str] = {}
        self.kernel_texts: list[str] = []
        written = {s.buffer.name for s in walk_steps(program.steps) if isinstance(s, (Allocate, View))}
        written |= {b.name for s in program.steps if isinstance(s, PythonCall) for b in s.results}
        self.emitter = Emitter(self.module, self.metadata, frozenset(written))
        self.code = self.emitter.scopes[0].code
        self.allocas: list[str] = []
        self.cells = program.cells()
        self.python_calls = sum(isinstance(s, PythonCall) for s in program.steps)
        self.late = [k for k, s in enumerate(program.slots) if s.late]
        self.slot_pointer: dict[int, str] = {}

    # -- small pieces ----------------------------------------------------------------------------------------

    def add(self, *lines: str) -> None:
        self.emitter.scopes[-1].code.extend(lines)

    def fresh(self, stem: str = "t") -> str:
        return self.emitter.fresh(stem)

    def label(self, stem: str) -> str:
        return self.fresh(stem)[1:]

    def block(self, label: str) -> None:
        self.add(f"{label}:")
        self.emitter.scopes[-1].block = label

    def field(self, pointer: str, offset: int, kind: str = "ptr") -> str:
        address, out = self.fresh("f"), self.fresh("x")
        self.add(f"{address} = getelementptr i8, ptr {pointer}, i64 {offset}", f"{out} = load {kind}, ptr {address}")
        return out

    def word(self, name: str | int, kind: str = "ptr") -> str:
        return self.field("%table", 8 * (WORD[name] if isinstance(name, str) else name), kind)

    def set_word(self, name: str, value: str, kind: str = "i64") -> None:
        address = self.fresh("f")
        self.add(
            f"{address} = getelementptr i8, ptr %table, i64 {8 * WORD[name]}", f"store {kind} {value}, ptr {address}"
        )

    def branch(self, condition: str, yes: str, no: str, likely: str | None = None) -> None:
        note = ""
        if likely is not None:
            note = ", !prof !0" if likely == yes else ", !prof !1"
        self.add(f"br i1 {condition}, label %{yes}, label %{no}{note}")

    def demand(self, condition: str, otherwise: str) -> None:
        """Go on if the condition holds."""
        on = self.label("ok")
        self.branch(condition, on, otherwise, likely=on)
        self.block(on)

    def value(self, e: Expr) -> str:
        return self.emitter.value(e)

    def call(self, function: str, result: str, *arguments: str) -> str:
        pointer = self.word(function)
        if result == "void":
            self.add(f"call void {pointer}({', '.join(arguments)})")
            return ""
        out = self.fresh("r")
        self.add(f"{out} = call {result} {pointer}({', '.join(arguments)})")
        return out

    def compare(self, predicate: str, kind: str, a: str, b: str) -> str:
        out = self.fresh("c")
        self.add(f"{out} = icmp {predicate} {kind} {a}, {b}")
        return out

    # -- the function ----------------------------------------------------------------------------------------

    def text(self) -> str:
        # !0 and !1 are the weights of likely and unlikely branches
        self.metadata.lines = ['!{!"branch_weights", i32 1000, i32 1}', '!{!"branch_weights", i32 1, i32 1000}']
        self.table()
        self.arguments()
        self.workspace()
        for k, buffer in enumerate(self.program.constants):
            pointer = self.word(layout.VARIABLE_START + len(self.cells) + k)
            self.add(f"%{buffer.name} = select i1 true, ptr {pointer}, ptr null")
        self.answer_list()
        for step in self.program.steps:
            self.step(step)
        self.commit()
        self.leave()
        body = "\n".join(self.code)
        allocas = "\n".join(self.allocas)
        entry = (
            f"define ptr @{ENTRY}(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind "
            f'"prefer-vector-width"="512" {{\nentry:\n{allocas}\n{body}\n}}'
        )
        return "\n\n".join([*self.kernel_texts, entry, self.module.text(), self.metadata.text()]) + "\n"

    def step(self, step: Step) -> None:
        if isinstance(step, Define):
            self.define(step.name, self.value(step.value))
        elif isinstance(step, Check):
            self.check(step)
        elif isinstance(step, Allocate):
            self.allocate(step)
        elif isinstance(step, Launch):
            self.launch(step)
        elif isinstance(step, MatMul):
            self.matmul(step)
        elif isinstance(step, View):
            self.view(step)
        elif isinstance(step, Loop):
            self.loop(step)
        else:
            self.python(step)

    def define(self, name: str, value: str) -> None:
        """Give a size its value, which is known in the loop that is being emitted."""
        self.emitter.variables[name] = (value, len(self.emitter.scopes) - 1)

    def table(self) -> None:
        self.allocas.append(f"%table.p = getelementptr i8, ptr %self, i64 {layout.ARRAY_DATA}")
        self.allocas.append("%table = load ptr, ptr %table.p")
        buffers = [s.buffer for s in self.program.steps if isinstance(s, Allocate)]
        buffers += [b for s in self.program.steps if isinstance(s, PythonCall) for b in s.operands]
        rank = max([1, *(len(b.shape) for b in buffers)])
        self.allocas.append(f"%dims = alloca [{rank} x i64]")
        for k in range(len(self.program.outputs)):
            self.allocas += [f"%result.{k} = alloca ptr", f"store ptr null, ptr %result.{k}"]
        for k in self.late:
            self.allocas += [f"%late.{k} = alloca ptr", f"store ptr null, ptr %late.{k}"]
        for k in range(self.python_calls):
            self.allocas += [f"%made.{k} = alloca ptr", f"store ptr null, ptr %made.{k}"]
        if self.python_calls:
            self.allocas += [f"%held.{k} = alloca ptr\nstore ptr null, ptr %held.{k}" for k in self.cells]
        self.allocas.append("%spare = alloca ptr")
        self.allocas.append("store ptr null, ptr %spare")

    # -- arguments -------------------------------------------------------------------------------------------

    def arguments(self) -> None:
        explicit = sum(not i.implicit for i in self.program.inputs)
        careful = self.word("careful", "i64")
        self.set_word("careful", "0")
        self.add("%strict = select i1 true, i64 " + careful + ", i64 0")
        named = self.compare("eq", "ptr", "%names", "null")
        self.demand(named, "fallback")
        count = self.compare("eq", "i64", "%nargs", str(explicit))
        self.demand(count, "fallback")
        position = 0
        for k, item in enumerate(self.program.inputs):
            if item.implicit:
                box = self.word(layout.VARIABLE_START + self.cells.index(k))
                items = self.field(box, layout.LIST_ITEMS)
                self.add(f"%object.{k} = load ptr, ptr {items}")
            else:
                address = self.fresh("f")
                self.add(
                    f"{address} = getelementptr ptr, ptr %args, i64 {position}",
                    f"%object.{k} = load ptr, ptr {address}",
                )
                position += 1
            self.argument(k, item)
        if self.python_calls:
            for k in self.cells:
                self.call("Py_IncRef", "void", f"ptr %object.{k}")
                self.add(f"store ptr %object.{k}, ptr %held.{k}")

    def argument(self, k: int, item: Input) -> None:
        kind = self.field(f"%object.{k}", layout.OBJECT_TYPE)
        array_type = self.word("PyArray_Type")
        is_array = self.compare("eq", "ptr", kind, array_type)
        number = not item.buffer.outer_shape and not item.implicit and item.buffer.outer_dtype in ("float64", "int64")
        array, ready = self.label("array"), self.label("ready")
        if not number:
            self.demand(is_array, "fallback")
            pointer = self._array_argument(k, item)
            self.add(f"%{item.buffer.name} = select i1 true, ptr {pointer}, ptr null")
            return
        scalar = self.label("scalar")
        self.branch(is_array, array, scalar)
        self.block(scalar)
        spot = f"%number.{k}"
        if item.buffer.dtype == "float64":
            plain = self.compare("eq", "ptr", kind, self.word("PyFloat_Type"))
            numpy_scalar = self.compare("eq", "ptr", kind, self.word("Float64_Type"))
            either = self.fresh("c")
            self.add(f"{either} = or i1 {plain}, {numpy_scalar}")
            self.demand(either, "fallback")
            self.add(f"{spot} = getelementptr i8, ptr %object.{k}, i64 {layout.FLOAT_VALUE}")
        else:
            self.allocas.append(f"{spot} = alloca i64")
            self.demand(self.compare("eq", "ptr", kind, self.word("PyLong_Type")), "fallback")
            number_value = self.call("PyLong_AsLongLong", "i64", f"ptr %object.{k}")
            minus, plain, wrong = self.label("minus"), self.label("plain"), self.label("overflow")
            self.branch(self.compare("ne", "i64", number_value, "-1"), plain, minus)
            self.block(minus)
            error = self.call("PyErr_Occurred", "ptr")
            self.branch(self.compare("eq", "ptr", error, "null"), plain, wrong)
            self.block(wrong)
            self.call("PyErr_Clear", "void")
            self.add("br label %fallback")
            self.block(plain)
            self.add(f"store i64 {number_value}, ptr {spot}")
        from_scalar = self.emitter.scopes[0].block
        self.add(f"br label %{ready}")
        self.block(array)
        pointer = self._array_argument(k, item)
        from_array = self.emitter.scopes[0].block
        self.add(f"br label %{ready}")
        self.block(ready)
        self.add(f"%{item.buffer.name} = phi ptr [{spot}, %{from_scalar}], [{pointer}, %{from_array}]")

    def _array_argument(self, k: int, item: Input) -> str:
        shape = item.buffer.outer_shape
        obj, rank = f"%object.{k}", len(shape)
        descr = self.field(obj, layout.ARRAY_DESCR)
        wanted = self.word(layout.descr_word(item.buffer.outer_dtype))
        self.demand(self.compare("eq", "ptr", descr, wanted), "fallback")
        ndim = self.field(obj, layout.ARRAY_NDIM, "i32")
        self.demand(self.compare("eq", "i32", ndim, str(rank)), "fallback")
        flags = self.field(obj, layout.ARRAY_FLAGS, "i32")
        need, masked = layout.C_CONTIGUOUS | layout.ALIGNED, self.fresh("m")
        self.add(f"{masked} = and i32 {flags}, {need}")
        self.demand(self.compare("eq", "i32", masked, str(need)), "fallback")
        if rank:
            dims = self.field(obj, layout.ARRAY_DIMS)
            for d, (size, static) in enumerate(zip(shape, item.static_shape, strict=True)):
                n = self.field(dims, 8 * d, "i64")
                if static is None:
                    self.emitter.variables[size.attr] = (n, 0)
                else:
                    self.demand(self.compare("eq", "i64", n, str(static)), "fallback")
        return self.field(obj, layout.ARRAY_DATA)

    # -- memory ----------------------------------------------------------------------------------------------

    def _rounded(self, size: Expr) -> Expr:
        padded = op("maximum", op("add", size, const(_ALIGN - 1)), const(_ALIGN))
        return op("mul", op("intdiv", padded, const(_ALIGN)), const(_ALIGN))

    def _possible(self, total: Expr, sizes: Sequence[Expr]) -> str:
        """The value of `total`, or a size that no memory has, if `sizes`, which it is made of, may overflow."""
        unknown = [_approximate(n) for n in sizes if not n.is_const]
        if not unknown:
            return self.value(total)
        exact = op("lt", functools.reduce(lambda a, b: op("add", a, b), unknown), const(_TOO_LARGE, "float64"))
        return self.value(op("select", exact, total, const(_TOO_LARGE)))

    def workspace(self) -> None:
        """Take the function's workspace (or, in a nested call, a block for this call) and place the early slots."""
        total: Expr = const(0)
        offsets = {}
        for k, slot in enumerate(self.program.slots):
            if not slot.late:
                offsets[k] = total
                total = op("add", total, self._rounded(slot.size))
        self.holds_workspace = bool(offsets)
        if not offsets:
            return
        need = self._possible(total, [self.program.slots[k].size for k in offsets])
        busy = self.word("busy", "i64")
        mine, other, ready, grow, fits = (self.label(s) for s in ("mine", "other", "ready", "grow", "fits"))
        self.branch(self.compare("eq", "i64", busy, "0"), mine, other)
        self.block(other)
        padded = self.fresh("n")
        self.add(f"{padded} = add i64 {need}, {_ALIGN}")
        block = self.call("PyMem_RawMalloc", "ptr", f"i64 {padded}")
        self.add(f"store ptr {block}, ptr %spare")
        self.demand(self.compare("ne", "ptr", block, "null"), "nospace")
        from_other = self.emitter.scopes[0].block
        self.add(f"br label %{ready}")
        self.block(mine)
        capacity = self.word("capacity", "i64")
        self.branch(self.compare("sle", "i64", need, capacity), fits, grow, likely=fits)
        self.block(grow)
        self.set_word("value0", need)
        callee = self.word("grow")
        grown = self.call("PyObject_Vectorcall", "ptr", f"ptr {callee}", "ptr null", "i64 0", "ptr null")
        self.demand(self.compare("ne", "ptr", grown, "null"), "cleanup")
        self.call("Py_DecRef", "void", f"ptr {grown}")
        self.add(f"br label %{fits}")
        self.block(fits)
        own = self.word("workspace")
        self.set_word("busy", "1")
        self.add(f"br label %{ready}")
        self.block(ready)
        self.add(f"%workspace = phi ptr [{own}, %{fits}], [{block}, %{from_other}]")
        for k, offset in offsets.items():
            place = self.value(offset)
            self.add(f"%slot.{k} = getelementptr i8, ptr %workspace, i64 {place}")
            self.slot_pointer[k] = f"%slot.{k}"

    def allocate(self, step: Allocate) -> None:
        buffer = step.buffer
        if step.output is None:
            assert step.slot is not None
            self._take_slot(buffer.name, step.slot)
            return
        if step.reuse is None:
            obj = self.filled_array(step)
            data = self.field(obj, layout.ARRAY_DATA)
            self.add(f"store ptr {obj}, ptr %result.{step.output}")
            self.add(f"%{buffer.name} = select i1 true, ptr {data}, ptr null")
            return
        old = f"%object.{step.reuse}"
        size: Expr = const(ITEM_SIZES[buffer.dtype])
        for n in buffer.shape:
            size = op("mul", size, n)
            self.value(n)
        self.value(size)  # these are known on both branches below
        # Nobody else can see the memory if the cell holds the only reference and the array owns its data.
        holders = self.field(old, 0, "i32")
        flags = self.field(old, layout.ARRAY_FLAGS, "i32")
        need, masked = layout.OWNDATA | layout.WRITEABLE, self.fresh("m")
        self.add(f"{masked} = and i32 {flags}, {need}")
        single = self.compare("eq", "i32", holders, str(2 if self.python_calls else 1))
        owned = self.compare("eq", "i32", masked, str(need))
        free = self.fresh("c")
        self.add(f"{free} = and i1 {single}, {owned}")
        take, make, ready = self.label("take"), self.label("make"), self.label("ready")
        self.branch(free, take, make)
        self.block(take)
        self.call("Py_IncRef", "void", f"ptr {old}")
        self.add(f"br label %{ready}")
        self.block(make)
        obj = self.filled_array(step)
        made_in = self.emitter.scopes[0].block
        self.add(f"br label %{ready}")
        self.block(ready)
        final = self.fresh("o")
        self.add(f"{final} = phi ptr [{old}, %{take}], [{obj}, %{made_in}]")
        self.add(f"store ptr {final}, ptr %result.{step.output}")
        data = self.field(final, layout.ARRAY_DATA)
        self.add(f"%{buffer.name} = select i1 true, ptr {data}, ptr null")

    def _take_slot(self, name: str, slot: int) -> None:
        if self.program.slots[slot].late:
            exact = self.program.slots[slot].size
            size = self._possible(self._rounded(exact), [exact])
            block = self.call("PyMem_RawMalloc", "ptr", f"i64 {size}")
            self.add(f"store ptr {block}, ptr %late.{slot}")
            self.demand(self.compare("ne", "ptr", block, "null"), "nomemory")
            self.add(f"%{name} = select i1 true, ptr {block}, ptr null")
        else:
            self.add(f"%{name} = select i1 true, ptr {self.slot_pointer[slot]}, ptr null")

    def filled_array(self, step: Allocate) -> str:
        """A new ndarray with the initial value that the step asks for."""
        obj = self.new_array(step.buffer, "null")
        self.demand(self.compare("ne", "ptr", obj, "null"), "cleanup")
        if step.initial is not None:
            source = self.program.inputs[step.initial].buffer
            size: Expr = const(ITEM_SIZES[step.buffer.dtype])
            for n in step.buffer.shape:
                size = op("mul", size, n)
            declaration = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
            copy = self.module.declare("@llvm.memcpy.p0.p0.i64", declaration)
            data = self.field(obj, layout.ARRAY_DATA)
            self.add(f"call void {copy}(ptr {data}, ptr %{source.name}, i64 {self.value(size)}, i1 false)")
        return obj

    def new_array(self, buffer: Buffer, data: str) -> str:
        """A new ndarray: owning its memory, or, given `data`, a read-only window on it."""
        shape = buffer.outer_shape
        for d, n in enumerate(shape):
            address = self.fresh("f")
            self.add(f"{address} = getelementptr i64, ptr %dims, i64 {d}", f"store i64 {self.value(n)}, ptr {address}")
        descr = self.word(layout.descr_word(buffer.outer_dtype))
        self.call("Py_IncRef", "void", f"ptr {descr}")
        kind = self.word("PyArray_Type")
        flags = 0 if data == "null" else layout.C_CONTIGUOUS | layout.ALIGNED
        return self.call(
            "PyArray_NewFromDescr", "ptr", f"ptr {kind}", f"ptr {descr}", f"i32 {len(shape)}", "ptr %dims",
            "ptr null", f"ptr {data}", f"i32 {flags}", "ptr null",
        )  # fmt: skip

    # -- steps -----------------------------------------------------------------------------------------------

    def check(self, step: Check) -> None:
        condition = self.value(step.condition)
        on, wrong = self.label("ok"), self.label("wrong")
        values = [self.value(v) for v in step.values[: layout.ERROR_VALUES]]
        self.branch(condition, on, wrong, likely=on)
        self.block(wrong)
        self.set_word("error", str(step.error))
        for k, value in enumerate(values):
            self.set_word(f"value{k}", value)
        self.add("br label %failed")
        self.block(on)

    def launch(self, step: Launch) -> None:
        symbol = self._kernel(step.kernel)
        arguments = []
        for argument in step.arguments:
            if isinstance(argument, str):
                arguments.append(f"ptr %{argument}")
            else:
                arguments.append(f"{LLVM_TYPES[argument.dtype]} {self.value(argument)}")
        self.add(f"call void @{symbol}({', '.join(arguments)})")

    def _kernel(self, kernel: Kernel) -> str:
        """Emit a kernel once, however often it is launched."""
        content = (kernel.params, kernel.body)
        found = self.kernels.get(content)
        if found is None:
            found = self.kernels[content] = f"k{len(self.kernels)}"
            named = Kernel(found, kernel.params, kernel.body)
            self.kernel_texts.append(emit_kernel(named, self.module, self.metadata, _KERNEL_ATTRIBUTES))
        return found

    def matmul(self, step: MatMul) -> None:
        if step.batch is None:
            self._one_product(step)
        else:
            self.emitter.loop(For(BATCH.attr, step.batch, ()), lambda: self._one_product(step))

    def _one_product(self, step: MatMul) -> None:
        self.module.helper(matmul.symbol(step.dtype), matmul.definition(step.dtype))
        letter = {"float64": "d", "float32": "s"}[step.dtype]
        alpha = self.value(step.alpha) if isinstance(step.alpha, Expr) else step.alpha
        arguments = [f"ptr {self.word(letter + 'gemm')}", f"ptr {self.word(letter + 'gemv')}"]
        arguments += [f"i64 {self.value(n)}" for n in (step.rows, step.inner, step.columns)]
        for operand in (step.left, step.right):
            pointer = self.fresh("p")
            offset = self.value(operand.offset)
            self.add(f"{pointer} = getelementptr {LLVM_TYPES[step.dtype]}, ptr %{operand.buffer}, i64 {offset}")
            arguments += [
                f"ptr {pointer}", f"i64 {self.value(operand.row_stride)}", f"i64 {self.value(operand.column_stride)}"
            ]  # fmt: skip
        out, offset = self.fresh("p"), self.value(step.out.offset)
        self.add(f"{out} = getelementptr {LLVM_TYPES[step.dtype]}, ptr %{step.out.buffer}, i64 {offset}")
        arguments += [f"ptr {out}", f"i64 {self.value(step.out.row_stride)}"]
        factors = [x if isinstance(x, str) else literal(x, step.dtype) for x in (alpha, step.beta)]
        arguments += [f"{LLVM_TYPES[step.dtype]} {x}" for x in factors]
        self.add(f"call void {matmul.symbol(step.dtype)}({', '.join(arguments)})")

    def view(self, step: View) -> None:
        offset = self.value(step.offset)
        kind = memory_type(step.buffer.dtype)
        self.add(f"%{step.buffer.name} = getelementptr {kind}, ptr %{step.base}, i64 {offset}")

    def loop(self, step: Loop) -> None:
        def body() -> str | None:
            for inner in step.body:
                self.step(inner)
            return None if step.until is None else self.value(step.until)

        self.define(step.count, self.emitter.loop(For(step.var, step.extent, ()), body))

    def python(self, step: PythonCall) -> None:
        count = max(len(step.operands), 1)
        self.allocas.append(f"%operands.{step.index} = alloca [{count} x ptr]")
        windows = []
        for k, buffer in enumerate(step.operands):
            window = self.new_array(buffer, f"%{buffer.name}")
            address = self.fresh("f")
            self.add(
                f"{address} = getelementptr ptr, ptr %operands.{step.index}, i64 {k}",
                f"store ptr {window}, ptr {address}",
            )
            self.demand(self.compare("ne", "ptr", window, "null"), "cleanup")
            windows.append(window)
        word = layout.VARIABLE_START + len(self.cells) + len(self.program.constants) + step.index
        callee = self.word(word)
        made = self.call(
            "PyObject_Vectorcall",
            "ptr",
            f"ptr {callee}",
            f"ptr %operands.{step.index}",
            f"i64 {len(windows)}",
            "ptr null",
        )
        for window in windows:
            self.call("Py_DecRef", "void", f"ptr {window}")
        self.demand(self.compare("ne", "ptr", made, "null"), "cleanup")
        self.add(f"store ptr {made}, ptr %made.{step.index}")
        items = self.field(made, layout.LIST_ITEMS)
        for k, buffer in enumerate(step.results):
            obj = self.field(items, 8 * k)
            data = self.field(obj, layout.ARRAY_DATA)
            self.add(f"%{buffer.name} = select i1 true, ptr {data}, ptr null")
            dims = self.field(obj, layout.ARRAY_DIMS) if buffer.outer_shape else ""
            for d, n in enumerate(buffer.outer_shape):
                if n.op == "var":
                    self.emitter.variables[n.attr] = (self.field(dims, 8 * d, "i64"), 0)

    # -- the end ---------------------------------------------------------------------------------------------

    def answer_list(self) -> None:
        """Make the list of results first, since it could fail."""
        self.answers_with_list = self.program.returned > 1 or not self.program.unpack_single
        if self.answers_with_list:
            self.allocas += ["%list = alloca ptr", "store ptr null, ptr %list"]
            made = self.call("PyList_New", "ptr", f"i64 {self.program.returned}")
            self.add(f"store ptr {made}, ptr %list")
            self.demand(self.compare("ne", "ptr", made, "null"), "cleanup")

    def commit(self) -> None:
        """Fill the answer and hand over updates; nothing can fail from here on."""
        program = self.program
        if program.returned == 1 and program.unpack_single:
            self.add("%answer = load ptr, ptr %result.0")
        elif program.returned == 0 and program.unpack_single:
            self.add(f"%answer = select i1 true, ptr {self.word('Py_None')}, ptr null")
            self.call("Py_IncRef", "void", "ptr %answer")
        else:
            self.add("%answer = load ptr, ptr %list")
            if program.returned:
                items = self.field("%answer", layout.LIST_ITEMS)
                for k in range(program.returned):
                    address, obj = self.fresh("f"), self.fresh("o")
                    self.add(
                        f"{obj} = load ptr, ptr %result.{k}",
                        f"{address} = getelementptr ptr, ptr {items}, i64 {k}",
                        f"store ptr {obj}, ptr {address}",
                    )
        for k, number in program.updates:
            new = self.fresh("o")
            self.add(f"{new} = load ptr, ptr %result.{k}")
            if k < program.returned:
                self.call("Py_IncRef", "void", f"ptr {new}")
            keep, replace, done = self.label("keep"), self.label("replace"), self.label("done")
            self.branch(self.compare("eq", "ptr", new, f"%object.{number}"), keep, replace)
            self.block(keep)
            self.call("Py_DecRef", "void", f"ptr {new}")
            self.add(f"br label %{done}")
            self.block(replace)
            box = self.word(layout.VARIABLE_START + self.cells.index(number))
            self.call("PyList_SetItem", "i32", f"ptr {box}", "i64 0", f"ptr {new}")
            self.add(f"br label %{done}")
            self.block(done)

    def release(self) -> None:
        """Give back the workspace, late blocks, results of Python nodes, and holds on shared values."""
        if self.holds_workspace:
            spare = self.fresh("s")
            self.add(f"{spare} = load ptr, ptr %spare")
            own, borrowed, done = self.label("own"), self.label("borrowed"), self.label("done")
            self.branch(self.compare("eq", "ptr", spare, "null"), own, borrowed)
            self.block(own)
            self.set_word("busy", "0")
            self.add(f"br label %{done}")
            self.block(borrowed)
            self.call("PyMem_RawFree", "void", f"ptr {spare}")
            self.add(f"br label %{done}")
            self.block(done)
        for k in self.late:
            block = self.fresh("s")
            self.add(f"{block} = load ptr, ptr %late.{k}")
            self.call("PyMem_RawFree", "void", f"ptr {block}")
        held = [f"%made.{k}" for k in range(self.python_calls)]
        if self.python_calls:
            held += [f"%held.{k}" for k in self.cells]
        for place in held:
            obj = self.fresh("s")
            self.add(f"{obj} = load ptr, ptr {place}")
            self.call("Py_DecRef", "void", f"ptr {obj}")

    def leave(self) -> None:
        self.release()
        self.add("ret ptr %answer")
        self.block("failed")
        callee = self.word("fail")
        self.call("PyObject_Vectorcall", "ptr", f"ptr {callee}", "ptr %args", "i64 %nargs", "ptr null")
        self.add("br label %cleanup")
        self.block("nomemory")
        self.set_word("error", "-1")
        self.add("br label %failed")
        self.block("cleanup")
        for k in range(len(self.program.outputs)):
            obj = self.fresh("s")
            self.add(f"{obj} = load ptr, ptr %result.{k}")
            self.call("Py_DecRef", "void", f"ptr {obj}")
        if self.answers_with_list:
            obj = self.fresh("s")
            self.add(f"{obj} = load ptr, ptr %list")
            self.call("Py_DecRef", "void", f"ptr {obj}")
        self.release()
        self.add("ret ptr null")
        self.block("fallback")
        again = self.label("again")
        self.branch(self.compare("eq", "i64", "%strict", "0"), again, "refused")
        self.block(again)
        callee = self.word("fallback")
        answer = self.call("PyObject_Vectorcall", "ptr", f"ptr {callee}", "ptr %args", "i64 %nargs", "ptr %names")
        self.add(f"ret ptr {answer}")
        self.block("nospace")
        self.set_word("error", "-1")
        self.add("br label %report")
        self.block("refused")
        self.set_word("error", "-2")
        self.add("br label %report")
        self.block("report")
        callee = self.word("fail")
        self.call("PyObject_Vectorcall", "ptr", f"ptr {callee}", "ptr %args", "i64 %nargs", "ptr null")
        self.add("ret ptr null")


def _approximate(size: Expr) -> Expr:
    """A sum or product of sizes as a float, which does not overflow."""
    if size.op in ("mul", "add"):
        return op(size.op, *[_approximate(a) for a in size.args])
    return cast(size, "float64")


def emit_program(program: Program) -> tuple[str, frozenset[str]]:
    """LLVM IR text of a program, and the external scalar functions that it needs."""
    entry = Entry(program)
    text = entry.text()
    return text, frozenset(entry.module.externals)
