"""The entry point of a compiled function as LLVM IR text: CPython's fastcall convention in, a Python object out.

Between the beginning and the end of a call (`emit_call`) come the steps of the program.

All that a call changes is its own: its frame on the stack, and a block of workspace, which it takes from the function's
pool and returns to it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from aesara.ir.buffers import Buffer, Operand
from aesara.ir.expr import Expr, cast, const, op, substitute, var
from aesara.ir.kernel import For, Kernel
from aesara.ir.program import Program
from aesara.ir.steps import BATCH, Allocate, Check, Define, Launch, Loop, MatMul, PythonCall, Step, View
from aesara.ir.work import is_heavy, iteration_work
from aesara.link.llvm import layout
from aesara.link.llvm.emit_call import ENTRY, CallCode
from aesara.link.llvm.emit_kernel import Cut, emit_kernel, only_loop
from aesara.link.llvm.emit_threads import ENOUGH, WEIGHTS, may_be_cut
from aesara.link.llvm.frame import first_kept
from aesara.link.llvm.primitives import LLVM_TYPES, literal, memory_type
from aesara.link.llvm.shared.memory import ALIGN

__all__ = ["ENTRY", "Entry", "emit_program"]

#: more bytes than any memory has
_TOO_LARGE = 2**62
_KERNEL_ATTRIBUTES = 'noinline nounwind "prefer-vector-width"="512"'


class Entry(CallCode):
    """Emits a program's entry point."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.kernels: dict[tuple[Any, ...], str] = {}
        self.kernel_texts: list[str] = []
        self.inside_loop = False
        self.has_loops = any(step.runs_rounds for step in program.steps)
        #: where early slots are: a pointer, or a place in the block of workspace
        self.slot_place: dict[int, str | int] = {}
        self.workspace_block = ""

    def text(self) -> str:
        self.arguments()
        self.workspace()
        for k, buffer in enumerate(self.program.constants):
            self.place(buffer.name, self.word(self.frame.words.constant + k))
        self.steps()
        self.finish()
        body = "\n".join([*self.allocas, *self.code])
        # Passes find little in code that runs once, and take their time for it.
        attributes = "nounwind" if self.has_loops else "noinline optnone nounwind"
        entry = (
            f"define ptr @{ENTRY}(ptr %self, ptr %args, i64 %nargs, ptr %names) {attributes} "
            f'"prefer-vector-width"="512" {{\nentry:\n{body}\n}}'
        )
        parts = [*self.kernel_texts, self.frame.plan(), *self.constants, entry]
        parts += [self.module.text(), self.metadata.text()]
        return "\n\n".join(parts) + "\n"

    # -- steps in order --------------------------------------------------------------------------------------

    def steps(self) -> None:
        """The steps, in stretches that need the GIL or do not."""
        for with_gil, steps in self.runs(self.program.steps):
            if with_gil:
                for step in steps:
                    self.confirm([step])
                    if isinstance(step, Allocate) and step.reuse is not None and self.keeps_values is None:
                        self.decide_about_overwriting(step)
                    self.step(step)
                continue
            for part in self.stretches(steps):
                self.confirm(part)
                self.stretch(part)

    def stretch(self, steps: Sequence[Step]) -> None:
        """Steps during which other threads may have the GIL."""
        self.release_gil(steps)
        weight = 0
        for step in steps:
            self.step(step)
            weight += WEIGHTS.get(type(step), 0)
            if self.released != "false" and weight >= ENOUGH:
                self.look()
                weight = 0
        self.take_gil()

    def decide_about_overwriting(self, first: Allocate) -> None:
        """Before the first value is overwritten in place, find out whether it pays."""
        rest = self.program.steps[self.program.steps.index(first) :]
        size: Expr = const(0)
        for step in rest:
            if isinstance(step, Allocate) and step.reuse is not None:
                size = op("add", size, step.buffer.bytes)
        self.decide_about_values(rest, size)

    def step(self, step: Step) -> None:
        if not self.inside_loop:
            self.forget()
        if isinstance(step, Define):
            self.define(step.name, self.value(step.value), LLVM_TYPES[step.value.dtype])
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
            assert isinstance(step, PythonCall)
            self.python(step)

    def define(self, name: str, value: str, kind: str = "i64") -> None:
        """Give a size its value, which is known in the loop that is being emitted."""
        self.emitter.variables[name] = (self.spill(value, kind), len(self.emitter.scopes) - 1)

    # -- memory ----------------------------------------------------------------------------------------------

    def _rounded(self, size: Expr) -> Expr:
        padded = op("maximum", op("add", size, const(ALIGN - 1)), const(ALIGN))
        return op("mul", op("intdiv", padded, const(ALIGN)), const(ALIGN))

    def _possible(self, total: Expr, sizes: Sequence[Expr]) -> str:
        """The value of `total`, or a size that no memory has, if `sizes`, which it is made of, may overflow."""
        unknown = [_approximate(n) for n in sizes if not n.is_const]
        if not unknown:
            return self.value(total)
        exact = op("lt", functools.reduce(lambda a, b: op("add", b, a), unknown), const(_TOO_LARGE, "float64"))
        return self.value(op("select", exact, total, const(_TOO_LARGE)))

    def workspace(self) -> None:
        """Take a block of workspace for this call, and place the early slots."""
        total: Expr = const(0)
        offsets = {}
        for k, slot in enumerate(self.program.slots):
            if not slot.late:
                offsets[k] = total
                total = op("add", total, self._rounded(slot.size))
        if not offsets:
            return
        need = self._possible(total, [self.program.slots[k].size for k in offsets])
        self.workspace_block = block = self.call("workspace", "ptr", "ptr %frame", "ptr %table", f"i64 {need}")
        self.demand_pointer(block, layout.NO_WORKSPACE)
        self.forget()
        for k, offset in offsets.items():
            self.slot_place[k] = offset.attr if offset.is_const else self.spill(self._in_workspace(self.value(offset)))

    def _in_workspace(self, place: int | str) -> str:
        pointer = self.fresh("slot")
        self.add(f"{pointer} = getelementptr i8, ptr {self.workspace_block}, i64 {place}")
        return pointer

    def allocate(self, step: Allocate) -> None:
        buffer = step.buffer
        if step.output is None:
            assert step.slot is not None
            self.place(buffer.name, self._slot(step.slot))
            return
        assert step.output is not None
        array = self._array(step)
        shape = [self.value(n) for n in buffer.outer_shape[: layout.ERROR_VALUES]]
        self.demand_pointer(array, layout.FIRST_LARGE_RESULT - step.output, shape)
        self.set_field("%frame", self.frame.result(step.output), array)
        data = self.field(array, layout.ARRAY_DATA)
        self.place(buffer.name, data)
        if step.initial is not None and step.reuse is None:
            self.copy(data, self._initial(step), self.value(buffer.bytes))

    def _array(self, step: Allocate) -> str:
        """Make the array of a result."""
        if step.reuse is None and step.output not in self.program.lent:
            return self._new_array(step.buffer)
        arguments = ["ptr %table", *self.kind_and_shape(step.buffer)]
        if step.reuse is not None:
            # Nobody else can see the memory if the cell (and this call, if it holds values) have the only references
            # and the array owns its data.
            old = self.emitter.here(self.objects[step.reuse])
            arguments += [f"ptr {old}", f"i32 {self.lonely}", f"ptr {self._initial(step)}"]
            return self.call("reuse", "ptr", *arguments, f"i64 {self.value(step.buffer.bytes)}")
        assert step.output is not None
        items, places = self.field(self.word(self.frame.words.kept), layout.LIST_ITEMS), self.fresh("p")
        self.add(f"{places} = getelementptr ptr, ptr {items}, i64 {first_kept(self.program, step.output)}")
        return self.call("lend", "ptr", *arguments, f"ptr {places}")

    def _new_array(self, buffer: Buffer) -> str:
        """What the routine ``array`` does: a call less, for what most functions do."""
        _, rank, shape = self.kind_and_shape(buffer)
        descr, kind = self.word(layout.descr_word(buffer.outer_dtype)), self.word("PyArray_Type")
        self.call("Py_IncRef", "void", f"ptr {descr}")
        given = (f"ptr {kind}", f"ptr {descr}", rank, shape, "ptr null", "ptr null", "i32 0", "ptr null")
        return self.call("PyArray_NewFromDescr", "ptr", *given)

    def _initial(self, step: Allocate) -> str:
        """Where the values are that a result starts with."""
        return "null" if step.initial is None else self.emitter.buffer(self.program.inputs[step.initial].buffer.name)

    def _slot(self, slot: int) -> str:
        if not self.program.slots[slot].late:
            place = self.slot_place[slot]
            return self._in_workspace(place) if isinstance(place, int) else self.emitter.here(place)
        exact = self.program.slots[slot].size
        size = self._possible(self._rounded(exact), [exact])
        block = self.call("late", "ptr", "ptr %frame", "ptr %table", f"i64 {self.frame.late(slot)}", f"i64 {size}")
        self.demand_pointer(block, layout.NO_WORKSPACE)
        return block

    def kind_and_shape(self, buffer: Buffer) -> tuple[str, str, str]:
        """What routines want to know of the ndarray for a buffer: the descriptor, the rank and the shape."""
        for d, n in enumerate(buffer.outer_shape):
            self.set_field("%dims", 8 * d, self.value(n), "i64")
        return f"i64 {8 * layout.descr_word(buffer.outer_dtype)}", f"i32 {len(buffer.outer_shape)}", "ptr %dims"

    # -- steps -----------------------------------------------------------------------------------------------

    def check(self, step: Check) -> None:
        condition = self.value(step.condition)
        values = [self.value(v) for v in step.values[: layout.ERROR_VALUES]]
        self.demand(condition, step.error, values)

    def launch(self, step: Launch) -> None:
        cut = self._cut(step)
        symbol = self._kernel(step.kernel, cut)
        arguments = []
        for argument in step.arguments:
            if isinstance(argument, str):
                arguments.append(f"ptr {self.emitter.buffer(argument)}")
            else:
                arguments.append(f"{LLVM_TYPES[argument.dtype]} {self.value(argument)}")
        if cut == "no":
            self.add(f"call void @{symbol}({', '.join(arguments)})")
            return
        if cut == "in parts":
            self._in_parts(step, f"call void @{symbol}({', '.join(arguments)}")
            return
        stopped = self.fresh("c")
        arguments.append(f"ptr {self.watcher()}")
        self.add(f"{stopped} = call i1 @{symbol}({', '.join(arguments)})")
        self._ends_early(stopped)

    def _in_parts(self, step: Launch, call: str) -> None:
        """Call a kernel for one part of its loop after another, between which signals are looked for."""
        loop = only_loop(step.kernel)
        assert loop is not None
        given = {p.name: a for p, a in zip(step.kernel.params, step.arguments, strict=True) if isinstance(a, Expr)}

        def outside(size: Expr) -> Expr:
            return substitute([size], lambda e: given.get(e.attr) if e.op == "var" else None, {})[0]

        extent = self.value(outside(loop.extent))
        if self.released == "false":
            self.add(f"{call}, i64 0, i64 {extent})")
            return
        watcher, before = self.watcher(), self.emitter.scopes[-1].block
        head, look, go, part, done = (self.label(stem) for stem in ("parts", "look", "go", "part", "done"))
        first, last = self.fresh("first"), self.fresh("last")
        self.add(f"br label %{head}")
        self.block(head)
        self.add(f"{first} = phi i64 [0, %{before}], [{last}, %{part}]")
        self.branch(self.compare("eq", "ptr", watcher, "null"), part, look, likely=part)
        self.block(look)
        code, work = self.emitter.aside(iteration_work(loop).replace(outside))
        self.add(*code)
        end = self.call("piece", "i64", f"ptr {watcher}", f"i64 {first}", f"i64 {extent}", f"double {work}")
        self.stop_if(self.compare("slt", "i64", end, "0"), go)
        self.block(go)
        self.add(f"br label %{part}")
        self.block(part)
        self.add(f"{last} = phi i64 [{extent}, %{head}], [{end}, %{go}]", f"{call}, i64 {first}, i64 {last})")
        self.branch(self.compare("slt", "i64", last, extent), head, done, likely=done)
        self.block(done)

    def _ends_early(self, stopped: str) -> None:
        """Fail if a handler of a signal has raised, which `stopped` says."""
        if self.released != "false":
            on = self.label("on")
            self.stop_if(stopped, on)
            self.block(on)

    def _cut(self, step: Launch) -> Cut:
        """How the loops of a kernel are cut."""
        kernel = step.kernel
        # Kernels in loops take their place among many rounds, so only those are cut whose iterations are long, or whose
        # sizes only a round knows.
        if not may_be_cut(kernel) or (self.inside_loop and self.same_each_round(step) and not is_heavy(kernel.body)):
            return "no"
        # A loop around its loop costs the kernel a fifth of its compile time, and the entry little if it has no passes.
        return "inside" if self.has_loops or only_loop(kernel) is None else "in parts"

    def _kernel(self, kernel: Kernel, cut: Cut) -> str:
        """Emit a kernel once, however often it is launched."""
        content = (kernel.params, kernel.body, cut)
        found = self.kernels.get(content)
        if found is None:
            found = self.kernels[content] = f"k{len(self.kernels)}"
            named = Kernel(found, kernel.params, kernel.body)
            self.kernel_texts.append(emit_kernel(named, self.module, self.metadata, _KERNEL_ATTRIBUTES, cut))
        return found

    def matmul(self, step: MatMul) -> None:
        if step.batch is None:
            self._one_product(step)
            return
        rounds = self.rounds(self.known(step.one_work()))

        def body() -> None:
            self._one_product(step)
            self.look_after_round(self.value(BATCH), rounds)

        self.emitter.loop(For(BATCH.attr, step.batch, ()), body)

    def _one_product(self, step: MatMul) -> None:
        alpha = self.value(step.alpha) if isinstance(step.alpha, Expr) else step.alpha
        sizes = (step.rows, step.inner, step.columns)
        arguments = ["ptr %table", f"ptr {self.watcher()}", *(f"i64 {self.value(n)}" for n in sizes)]
        for operand in (step.left, step.right):
            strides = (operand.row_stride, operand.column_stride)
            arguments += [self._operand(step, operand), *(f"i64 {self.value(n)}" for n in strides)]
        arguments += [self._operand(step, step.out), f"i64 {self.value(step.out.row_stride)}"]
        factors = [x if isinstance(x, str) else literal(x, step.dtype) for x in (alpha, step.beta)]
        arguments += [f"{LLVM_TYPES[step.dtype]} {x}" for x in factors]
        self._ends_early(self.call(f"matmul.{step.dtype}", "i1", *arguments))

    def _operand(self, step: MatMul, operand: Operand) -> str:
        pointer, offset = self.fresh("p"), self.value(operand.offset)
        base = self.emitter.buffer(operand.buffer)
        self.add(f"{pointer} = getelementptr {LLVM_TYPES[step.dtype]}, ptr {base}, i64 {offset}")
        return f"ptr {pointer}"

    def view(self, step: View) -> None:
        offset = self.value(step.offset)
        kind = memory_type(step.buffer.dtype)
        pointer = self.fresh("view")
        self.add(f"{pointer} = getelementptr {kind}, ptr {self.emitter.buffer(step.base)}, i64 {offset}")
        self.place(step.buffer.name, pointer)

    def loop(self, step: Loop) -> None:
        rounds = self.rounds(self.known(step.round_work()))
        outermost, self.inside_loop = not self.inside_loop, True

        def body() -> str | None:
            for inner in step.body:
                self.step(inner)
            self.look_after_round(self.value(var(step.var)), rounds)
            return None if step.until is None else self.value(step.until)

        self.define(step.count, self.emitter.loop(For(step.var, step.extent, ()), body))
        self.inside_loop = not outermost

    def python(self, step: PythonCall) -> None:
        operands = self.room("operands", max(len(step.operands), 1))
        windows = []
        for k, buffer in enumerate(step.operands):
            data = self.emitter.buffer(buffer.name)
            window = self.call("array", "ptr", "ptr %table", *self.kind_and_shape(buffer), f"ptr {data}")
            self.set_field(operands, 8 * k, window)
            self.demand_pointer(window, layout.RAISED)
            windows.append(window)
        node = self.word(self.frame.words.callback + step.index)
        call = (f"ptr {node}", f"ptr {operands}", f"i64 {len(windows)}", "ptr null")
        made = self.call("PyObject_Vectorcall", "ptr", *call)
        for window in windows:
            self.call("Py_DecRef", "void", f"ptr {window}")
        self.demand_pointer(made, layout.RAISED)
        self.set_field("%frame", self.frame.answer_of_node(step.index), made)
        items = self.field(made, layout.LIST_ITEMS)
        for k, buffer in enumerate(step.results):
            obj = self.field(items, 8 * k)
            data = self.field(obj, layout.ARRAY_DATA)
            self.place(buffer.name, data)
            dims = self.field(obj, layout.ARRAY_DIMS) if buffer.outer_shape else ""
            lengths = [self.field(dims, 8 * d, "i64") for d in range(len(buffer.outer_shape))]
            for n, length in zip(buffer.outer_shape, lengths, strict=True):
                if n.op == "var":
                    self.define(n.attr, length)
            spilled = self.emitter.pointers[buffer.name]
            self.seen[buffer.name] = self.spill(obj), spilled, [self.spill(n, "i64") for n in lengths]
        self.doubtful = set(self.seen) - {buffer.name for buffer in step.results}


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
