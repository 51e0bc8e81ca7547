"""The entry point of a compiled function as LLVM IR text: CPython's fastcall convention in, a Python object out.

The entry reads ndarray headers and checks each argument; anything but an aligned, C-contiguous array of the right
dtype, rank and static shape (or a Python float or int for a 0-d input) goes to the Python fallback, which converts.
Then come the steps of the program.  All exits but the fallback pass through one clean-up.

All that a call changes is its own: places on the stack, and a block of workspace, which it takes from the function's
pool and returns to it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, cast, const, op, var
from aesara.ir.kernel import For, Kernel
from aesara.ir.program import (
    BATCH,
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
from aesara.ir.work import is_heavy, loop_work
from aesara.link.llvm import layout, matmul, matmul_pieces
from aesara.link.llvm.emit_kernel import PORTION, emit_kernel
from aesara.link.llvm.emit_threads import (
    ENOUGH,
    LONG,
    WEIGHTS,
    ThreadCode,
    guard_count,
    may_be_cut,
    needs_gil,
    watcher_definitions,
)
from aesara.link.llvm.kept_results import COPIES, FIND_KEPT, find_kept_definition
from aesara.link.llvm.primitives import LLVM_TYPES, literal, memory_type

__all__ = ["ENTRY", "Entry", "emit_program"]

ENTRY = "aesara_entry"
_ALIGN = 64
#: more bytes than any memory has
_TOO_LARGE = 2**62
_KERNEL_ATTRIBUTES = 'noinline nounwind "prefer-vector-width"="512"'


class Entry(ThreadCode):
    """Emits a program's entry point."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.kernels: dict[tuple[Any, ...], str] = {}
        self.kernel_texts: list[str] = []
        self.inside_loop = False
        written = {s.buffer.name for s in walk_steps(program.steps) if isinstance(s, (Allocate, View))}
        written |= {b.name for s in program.steps if isinstance(s, PythonCall) for b in s.results}
        given = {item.buffer.name for item in program.inputs} | {buffer.name for buffer in program.constants}
        super().__init__(frozenset(written), frozenset(given))
        self.cells = program.cells()
        self.implicit = [k for k, item in enumerate(program.inputs) if item.implicit]
        self.python_calls = sum(isinstance(s, PythonCall) for s in program.steps)
        self.first_constant = layout.VARIABLE_START + len(self.cells)
        self.first_callback = self.first_constant + len(program.constants)
        self.first_guard = self.first_callback + self.python_calls
        self.guards = guard_count(program)
        self.kept_word = self.first_guard + self.guards
        self.late = [k for k, s in enumerate(program.slots) if s.late]
        self.slot_pointer: dict[int, str] = {}

    # -- the function ----------------------------------------------------------------------------------------

    def text(self) -> str:
        # !0 and !1 are the weights of likely and unlikely branches
        self.metadata.lines = ['!{!"branch_weights", i32 1000, i32 1}', '!{!"branch_weights", i32 1, i32 1000}']
        self.table()
        self.explicit_arguments()
        self.answer_list()
        self.implicit_arguments()
        self.hold_values()
        self.workspace()
        for k, buffer in enumerate(self.program.constants):
            pointer = self.word(self.first_constant + k)
            self.add(f"%{buffer.name} = select i1 true, ptr {pointer}, ptr null")
        self.steps()
        self.commit()
        self.leave()
        body = "\n".join(self.code)
        allocas = "\n".join(self.allocas)
        entry = (
            f"define ptr @{ENTRY}(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind "
            f'"prefer-vector-width"="512" {{\nentry:\n{allocas}\n{body}\n}}'
        )
        return "\n\n".join([*self.kernel_texts, entry, self.module.text(), self.metadata.text()]) + "\n"

    def steps(self) -> None:
        """The steps, in stretches that need the GIL or do not."""
        for with_gil, steps in self.runs(self.program.steps):
            if with_gil:
                for step in steps:
                    if isinstance(step, Allocate) and step.reuse is not None and self.keeps_values is None:
                        self.decide_about_overwriting(step)
                    self.step(step)
                continue
            for part in self.stretches(steps):
                self.stretch(part)

    def stretch(self, steps: Sequence[Step]) -> None:
        """Steps during which other threads may have the GIL."""
        self.stretch_may_be_long = self.release_gil(steps)
        weight = 0
        for step in steps:
            self.step(step)
            weight += WEIGHTS.get(type(step), 0)
            if self.stretch_may_be_long and weight >= ENOUGH:
                self.look()
                weight = 0
        if self.stretch_may_be_long:
            self.take_gil()
        self.stretch_may_be_long = False

    def decide_about_overwriting(self, first: Allocate) -> None:
        """Before the first value is overwritten in place, find out whether it pays."""
        rest = self.program.steps[self.program.steps.index(first) :]
        size: Expr = const(0)
        for step in rest:
            if isinstance(step, Allocate) and step.reuse is not None:
                size = op("add", size, step.buffer.bytes)
        self.decide_about_values(rest, size)

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
        self.allocas.append(f"%report = alloca [{1 + layout.ERROR_VALUES} x i64]")
        for k in range(len(self.program.outputs)):
            self.variable(f"result.{k}")
        for k in self.late:
            self.variable(f"late.{k}")
        for k in range(self.python_calls):
            self.variable(f"made.{k}")

    # -- arguments -------------------------------------------------------------------------------------------

    def explicit_arguments(self) -> None:
        explicit = [k for k, item in enumerate(self.program.inputs) if not item.implicit]
        self.demand(self.compare("eq", "ptr", "%names", "null"), "fallback")
        self.variable("strict", "i1", "false")
        few, last, read = self.label("few"), self.label("last"), self.label("read")
        self.branch(self.compare("eq", "i64", "%nargs", str(len(explicit))), read, few, likely=read)
        # One more argument, the table, says that the fallback has been there already.
        self.block(few)
        self.branch(self.compare("eq", "i64", "%nargs", str(len(explicit) + 1)), last, "fallback")
        self.block(last)
        marker = self.field("%args", 8 * len(explicit))
        self.demand(self.compare("eq", "ptr", marker, "%self"), "fallback")
        self.add("store i1 true, ptr %strict", f"br label %{read}")
        self.block(read)
        for position, k in enumerate(explicit):
            address = self.fresh("f")
            self.add(
                f"{address} = getelementptr ptr, ptr %args, i64 {position}",
                f"%object.{k} = load ptr, ptr {address}",
            )
            self.argument(k, self.program.inputs[k])

    def implicit_arguments(self) -> None:
        """Read the values of shared variables; and take the guards of those that are updated."""
        for k in self.implicit:
            box = self.word(layout.VARIABLE_START + self.cells.index(k))
            items = self.field(box, layout.LIST_ITEMS)
            self.add(f"%object.{k} = load ptr, ptr {items}")
            self.argument(k, self.program.inputs[k])
        native = [step for step in self.program.steps if not needs_gil(step)]
        if self.implicit or self.guards:
            everything = self.python_calls or not self.all_known(native)
            self.careful = "true" if everything else self.more_than(self.total(self.program.steps), LONG)
        if self.guards:
            self.variable("again")
            self.take_guards(self.first_guard, self.guards, ENTRY)

    def hold_values(self) -> None:
        """Keep the shared values alive, if other threads may replace them during this call."""
        if self.implicit and self.careful != "false":
            self.hold_cells(layout.VARIABLE_START, len(self.cells))

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
        """Take a block of workspace for this call from the function's pool, or make one, and place the early slots."""
        total: Expr = const(0)
        offsets = {}
        for k, slot in enumerate(self.program.slots):
            if not slot.late:
                offsets[k] = total
                total = op("add", total, self._rounded(slot.size))
        self.has_workspace = bool(offsets)
        if not offsets:
            return
        need = self._possible(total, [self.program.slots[k].size for k in offsets])
        self.variable("block")
        first = self.word("pool")
        pop, small, make, ready = (self.label(s) for s in ("pop", "small", "make", "ready"))
        self.branch(self.compare("ne", "ptr", first, "null"), pop, make, likely=pop)
        self.block(pop)
        self.set_word("pool", self.field(first, layout.BLOCK_NEXT), "ptr")
        capacity = self.field(first, layout.BLOCK_SIZE, "i64")
        self.branch(self.compare("sle", "i64", need, capacity), ready, small, likely=ready)
        self.block(small)
        self.call("PyMem_RawFree", "void", f"ptr {self.field(first, layout.BLOCK_MEMORY)}")
        self.add(f"br label %{make}")
        self.block(make)
        quarter, size, padded, number, up, aligned, made = (self.fresh("n") for _ in range(7))
        self.add(
            f"{quarter} = lshr i64 {need}, 2",
            f"{size} = add i64 {need}, {quarter}",
            f"{padded} = add i64 {size}, {layout.BLOCK_HEAD + _ALIGN}",
        )
        memory = self.call("PyMem_RawMalloc", "ptr", f"i64 {padded}")
        self.demand(self.compare("ne", "ptr", memory, "null"), "nomemory")
        self.add(
            f"{number} = ptrtoint ptr {memory} to i64",
            f"{up} = add i64 {number}, {_ALIGN - 1}",
            f"{aligned} = and i64 {up}, {-_ALIGN}",
            f"{made} = inttoptr i64 {aligned} to ptr",
        )
        self.set_field(made, layout.BLOCK_SIZE, size, "i64")
        self.set_field(made, layout.BLOCK_MEMORY, memory)
        made_in = self.emitter.scopes[0].block
        self.add(f"br label %{ready}")
        self.block(ready)
        block = self.fresh("b")
        self.add(
            f"{block} = phi ptr [{first}, %{pop}], [{made}, %{made_in}]",
            f"store ptr {block}, ptr %block",
            f"%workspace = getelementptr i8, ptr {block}, i64 {layout.BLOCK_HEAD}",
        )
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
        for n in buffer.shape:
            self.value(n)
        self.value(buffer.bytes)  # these are known on both branches below
        # Nobody else can see the memory if the cell (and this call, if it holds values) have the only references and
        # the array owns its data.
        holders = self.field(old, 0, "i32")
        flags = self.field(old, layout.ARRAY_FLAGS, "i32")
        need, masked = layout.OWNDATA | layout.WRITEABLE, self.fresh("m")
        self.add(f"{masked} = and i32 {flags}, {need}")
        single = self.compare("eq", "i32", holders, self.lonely)
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
        """A new ndarray, or a kept one, with the initial value that the step asks for."""
        obj = self.lent_array(step) if step.output in self.program.lent else self.own_array(step)
        if step.initial is not None:
            source = self.program.inputs[step.initial].buffer
            declaration = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
            copy = self.module.declare("@llvm.memcpy.p0.p0.i64", declaration)
            data = self.field(obj, layout.ARRAY_DATA)
            size = self.value(step.buffer.bytes)
            self.add(f"call void {copy}(ptr {data}, ptr %{source.name}, i64 {size}, i1 false)")
        return obj

    def own_array(self, step: Allocate) -> str:
        """A new ndarray that owns its memory."""
        assert step.output is not None
        obj = self.new_array(step.buffer, "null")
        made, failed = self.label("made"), self.label("nospace")
        self.branch(self.compare("ne", "ptr", obj, "null"), made, failed, likely=made)
        self.block(failed)
        self.call("PyErr_Clear", "void")  # what is reported says more
        self.set_field("%report", 0, str(layout.FIRST_LARGE_RESULT - step.output), "i64")
        for d, n in enumerate(step.buffer.outer_shape[: layout.ERROR_VALUES]):
            self.set_field("%report", 8 * (1 + d), self.value(n), "i64")
        self.add("br label %failed")
        self.block(made)
        return obj

    def lent_array(self, step: Allocate) -> str:
        """An ndarray that the function has kept and that nobody else holds; or a new one, which it keeps."""
        assert step.output is not None
        self.module.helper(FIND_KEPT, find_kept_definition())
        rank = len(step.buffer.outer_shape)
        items = self.field(self.word(self.kept_word), layout.LIST_ITEMS)
        places, found = self.fresh("p"), self.fresh("o")
        first = self.program.lent.index(step.output) * COPIES
        self.add(f"{places} = getelementptr ptr, ptr {items}, i64 {first}")
        self.write_shape(step.buffer)
        kind, descr = self.word("PyArray_Type"), self.word(layout.descr_word(step.buffer.outer_dtype))
        arguments = f"ptr {places}, ptr {kind}, ptr {descr}, i32 {rank}, ptr %dims"
        self.add(f"{found} = call ptr {FIND_KEPT}({arguments})")
        again, make, ready = self.label("again"), self.label("make"), self.label("ready")
        self.branch(self.compare("ne", "ptr", found, "null"), again, make, likely=again)
        self.block(again)
        self.call("Py_IncRef", "void", f"ptr {found}")
        self.add(f"br label %{ready}")
        self.block(make)
        obj = self.own_array(step)
        self.call("Py_IncRef", "void", f"ptr {obj}")
        kept = [self.field(places, 8 * k) for k in range(COPIES)]
        for k, one in enumerate([obj, *kept[:-1]]):
            self.set_field(places, 8 * k, one)
        self.call("Py_DecRef", "void", f"ptr {kept[-1]}")
        made_in = self.emitter.scopes[0].block
        self.add(f"br label %{ready}")
        self.block(ready)
        final = self.fresh("o")
        self.add(f"{final} = phi ptr [{found}, %{again}], [{obj}, %{made_in}]")
        return final

    def write_shape(self, buffer: Buffer) -> None:
        """Put the shape of the ndarray for a buffer where NumPy reads it."""
        for d, n in enumerate(buffer.outer_shape):
            address = self.fresh("f")
            self.add(f"{address} = getelementptr i64, ptr %dims, i64 {d}", f"store i64 {self.value(n)}, ptr {address}")

    def new_array(self, buffer: Buffer, data: str) -> str:
        """A new ndarray: owning its memory, or, given `data`, a read-only window on it."""
        shape = buffer.outer_shape
        self.write_shape(buffer)
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
        self.set_field("%report", 0, str(step.error), "i64")
        for k, value in enumerate(values):
            self.set_field("%report", 8 * (1 + k), value, "i64")
        self.add("br label %failed")
        self.block(on)

    def launch(self, step: Launch) -> None:
        # Kernels in loops take their place among many rounds, so only those whose iterations are long are cut.
        cut = may_be_cut(step.kernel) and (not self.inside_loop or is_heavy(step.kernel.body))
        symbol = self._kernel(step.kernel, cut)
        arguments = []
        for argument in step.arguments:
            if isinstance(argument, str):
                arguments.append(f"ptr %{argument}")
            else:
                arguments.append(f"{LLVM_TYPES[argument.dtype]} {self.value(argument)}")
        if not cut:
            self.add(f"call void @{symbol}({', '.join(arguments)})")
            return
        stopped = self.fresh("c")
        arguments.append(f"ptr {self.watcher()}")
        self.add(f"{stopped} = call i1 @{symbol}({', '.join(arguments)})")
        if self.stretch_may_be_long:
            on = self.label("on")
            self.branch(stopped, "cleanup", on, likely=on)
            self.block(on)

    def _kernel(self, kernel: Kernel, cut: bool) -> str:
        """Emit a kernel once, however often it is launched."""
        content = (kernel.params, kernel.body, cut)
        found = self.kernels.get(content)
        if found is None:
            found = self.kernels[content] = f"k{len(self.kernels)}"
            named = Kernel(found, kernel.params, kernel.body)
            if cut:
                self.module.helper("@ae.release", watcher_definitions())
            self.kernel_texts.append(emit_kernel(named, self.module, self.metadata, _KERNEL_ATTRIBUTES, cut))
        return found

    def matmul(self, step: MatMul) -> None:
        if step.batch is None:
            self._one_product(step)
            return
        rounds = self.rounds(self.work([dataclasses.replace(step, batch=None)]))

        def body() -> None:
            self._one_product(step)
            self.look_after_round(self.value(BATCH), rounds)

        self.emitter.loop(For(BATCH.attr, step.batch, ()), body)

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
        constant = self.step_work(dataclasses.replace(step, batch=None)).constant
        if not self.stretch_may_be_long or (constant is not None and constant <= PORTION):
            self.add(f"call void {matmul.symbol(step.dtype)}({', '.join(arguments)})")
            return
        self.module.helper(matmul_pieces.symbol(step.dtype), matmul_pieces.definition(step.dtype))
        stopped, on = self.fresh("c"), self.label("on")
        arguments = [f"ptr {self.word('state')}", f"ptr {self.watcher()}", *arguments]
        self.add(f"{stopped} = call i1 {matmul_pieces.symbol(step.dtype)}({', '.join(arguments)})")
        self.branch(stopped, "cleanup", on, likely=on)
        self.block(on)

    def view(self, step: View) -> None:
        offset = self.value(step.offset)
        kind = memory_type(step.buffer.dtype)
        self.add(f"%{step.buffer.name} = getelementptr {kind}, ptr %{step.base}, i64 {offset}")

    def loop(self, step: Loop) -> None:
        rounds = self.rounds(self.known(loop_work(step)))
        outermost, self.inside_loop = not self.inside_loop, True

        def body() -> str | None:
            for inner in step.body:
                self.step(inner)
            self.look_after_round(self.value(var(step.var)), rounds)
            return None if step.until is None else self.value(step.until)

        self.define(step.count, self.emitter.loop(For(step.var, step.extent, ()), body))
        self.inside_loop = not outermost

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
        made = self.call_python(self.first_callback + step.index, f"%operands.{step.index}", str(len(windows)))
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
        """Make the list of results first: it could fail, and Python code may run before shared values are read."""
        self.answers_with_list = self.program.returned > 1 or not self.program.unpack_single
        if self.answers_with_list:
            self.variable("list")
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
            new = self.read(f"result.{k}")
            if k < program.returned:
                self.call("Py_IncRef", "void", f"ptr {new}")
            box = self.word(layout.VARIABLE_START + self.cells.index(number))
            items = self.field(box, layout.LIST_ITEMS)
            old = self.field(items, 0)
            self.set_field(items, 0, new)
            self.add(f"store ptr {old}, ptr %result.{k}")
        # Dropping an old value may run Python code, which is to find all new values in place.
        self.drop_guards()
        for k, _ in program.updates:
            self.call("Py_DecRef", "void", f"ptr {self.read(f'result.{k}')}")

    def drop_guards(self) -> None:
        if self.guards:
            self.give_guards()

    def release(self) -> None:
        """Give back the workspace, late blocks, results of Python nodes, and holds on shared values."""
        if self.has_workspace:
            back, on = self.label("back"), self.label("on")
            block = self.read("block")
            self.branch(self.compare("eq", "ptr", block, "null"), on, back, likely=back)
            self.block(back)
            self.set_field(block, layout.BLOCK_NEXT, self.word("pool"))
            self.set_word("pool", block, "ptr")
            self.add(f"br label %{on}")
            self.block(on)
        for k in self.late:
            self.call("PyMem_RawFree", "void", f"ptr {self.read(f'late.{k}')}")
        for k in range(self.python_calls):
            self.call("Py_DecRef", "void", f"ptr {self.read(f'made.{k}')}")
        if self.implicit and self.careful != "false":
            self.drop_held()

    def leave(self) -> None:
        self.release()
        self.add("ret ptr %answer")
        self.block("nomemory")
        self.set_field("%report", 0, str(layout.NO_WORKSPACE), "i64")
        self.add("br label %failed")
        self.block("failed")
        if self.may_release:
            self.take_gil()
        self.report_failure()
        self.add("br label %cleanup")
        self.block("cleanup")
        if self.may_release:
            self.take_gil()
        for k in range(len(self.program.outputs)):
            self.call("Py_DecRef", "void", f"ptr {self.read(f'result.{k}')}")
        self.drop_list()
        self.drop_guards()
        self.release()
        self.add("ret ptr null")
        if self.guards:
            self.block("anew")
            self.drop_list()
            self.drop_guards()
            self.add(f"ret ptr {self.read('again')}")
        self.block("fallback")
        again, refused = self.label("again"), self.label("refused")
        self.drop_list()
        self.drop_guards()
        self.branch(self.read("strict", "i1"), refused, again)
        self.block(again)
        answer = self.call_python("fallback", "%args", "%nargs", "%names")
        self.add(f"ret ptr {answer}")
        self.block(refused)
        self.set_field("%report", 0, str(layout.WRONG_ARGUMENTS), "i64")
        self.report_failure()
        self.add("ret ptr null")

    def drop_list(self) -> None:
        if self.answers_with_list:
            self.call("Py_DecRef", "void", f"ptr {self.read('list')}")

    def report_failure(self) -> None:
        """Call Python, which raises, with the address of the report and the arguments."""
        explicit = sum(not item.implicit for item in self.program.inputs)
        arguments = self.fresh("a")
        self.allocas.append(f"{arguments} = alloca [{explicit + 1} x ptr]")
        address = self.call("PyLong_FromVoidPtr", "ptr", "ptr %report")
        self.set_field(arguments, 0, address)
        for k in range(explicit):
            self.set_field(arguments, 8 * (k + 1), self.field("%args", 8 * k))
        call, on = self.label("call"), self.label("on")
        self.branch(self.compare("ne", "ptr", address, "null"), call, on, likely=call)
        self.block(call)
        self.call_python("fail", arguments, str(explicit + 1))
        self.call("Py_DecRef", "void", f"ptr {address}")
        self.add(f"br label %{on}")
        self.block(on)


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
