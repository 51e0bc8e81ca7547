"""Emission of the steps of a program: a function for each class of steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from aesara.ir.buffers import Operand
from aesara.ir.expr import Expr, const, op, var
from aesara.ir.kernel import For
from aesara.ir.loop_kernels import checks_after, failure_buffer, failure_size, rounds_buffer
from aesara.ir.routine import CArgument, Data, Int64, Number, Scalar, SignalWatch, Stride, Table
from aesara.ir.steps import (
    BATCH,
    CHUNK,
    Allocate,
    Call,
    Check,
    Define,
    HandOver,
    Iterate,
    Launch,
    PythonCall,
    Step,
    View,
)
from aesara.ir.work import Work, is_heavy
from aesara.link.llvm import layout
from aesara.link.llvm.chunks import is_watched_in_parts, kernel_per_loop, only_loop
from aesara.link.llvm.emit_batches import PartCode, batch_part
from aesara.link.llvm.emit_kernel import Cut
from aesara.link.llvm.emit_results import kind_and_shape
from aesara.link.llvm.emit_routines import declare_routine
from aesara.link.llvm.emit_slices import (
    accumulate_in_slices,
    call_in_slices,
    iteration_time,
    launch_in_slices,
    outside,
)
from aesara.link.llvm.emit_threads import may_be_cut, may_be_sliced
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.step_emitter import CallEmitter, StepEmitter
from aesara.link.llvm.types import LLVM_TYPES, memory_type
from aesara.records import dataclass

__all__ = ["Emission", "emission_of", "emits"]

AnyStep = TypeVar("AnyStep", bound=Step)


@dataclass(frozen=True)
class Emission:
    """Emitter of a class of steps.

    Attributes
    ----------
    emit
        Called with the entry point and the step.
    weight
        Contribution to the total after which signals are checked; 0 if it takes no time.
    """

    emit: Callable[[StepEmitter, Any], None]
    weight: int


_EMISSIONS: dict[type[Step], Emission] = {}


def emits(
    kind: type[AnyStep], weight: int = 0
) -> Callable[[Callable[[StepEmitter, AnyStep], None]], Callable[[StepEmitter, AnyStep], None]]:
    """Register a function that emits a class of steps."""

    def register(emit: Callable[[StepEmitter, AnyStep], None]) -> Callable[[StepEmitter, AnyStep], None]:
        _EMISSIONS[kind] = Emission(emit, weight)
        return emit

    return register


def emission_of(step: Step) -> Emission:
    """Return the emission of a step."""
    return _EMISSIONS[type(step)]


# -- sizes and checks --------------------------------------------------------------------------------------------


@emits(Define)
def _define(entry: StepEmitter, step: Define) -> None:
    entry.code.define(step.name, entry.code.value(step.value), LLVM_TYPES[step.value.dtype])


@emits(Check)
def _check(entry: StepEmitter, step: Check) -> None:
    code = entry.code
    condition = code.value(step.condition)
    values = [code.value(v) for v in step.values[: layout.ERROR_VALUES]]
    code.demand(condition, step.error, values)


# -- memory ------------------------------------------------------------------------------------------------------


@emits(Allocate)
def _allocate(entry: StepEmitter, step: Allocate) -> None:
    code, buffer = entry.code, step.buffer
    if step.output is None:
        assert step.slot is not None
        code.place(buffer.name, entry.workspace.slot(step.slot))
        return
    code.place(buffer.name, entry.boundary.result(step, step.output))


@emits(View)
def _view(entry: StepEmitter, step: View) -> None:
    code = entry.code
    offset = code.value(step.offset)
    code.place(step.buffer.name, code.at(code.pointer_to(step.base), offset, memory_type(step.buffer.dtype)))


@emits(HandOver)
def _hand_over(entry: StepEmitter, step: HandOver) -> None:
    entry.boundary.hand_over(step)


# -- kernels -----------------------------------------------------------------------------------------------------


@emits(Launch, weight=1)
def _launch(entry: StepEmitter, step: Launch) -> None:
    code = entry.code
    arguments = []
    for argument in step.arguments:
        if isinstance(argument, str):
            arguments.append(f"ptr {code.pointer_to(argument)}")
        else:
            arguments.append(f"{LLVM_TYPES[argument.dtype]} {code.value(argument)}")
    parts = None if entry.inside_loop else entry.accumulation(step.kernel)
    if parts is not None and entry.threads.released != "false":
        accumulate_in_slices(entry, step, parts, arguments)
        return
    kernels = kernel_per_loop(step.kernel)
    if entry.inside_loop or entry.threads.released == "false" or not any(map(may_be_sliced, kernels)):
        kernels = [step.kernel]
    for kernel in kernels:
        _launch_kernel(entry, dataclasses.replace(step, kernel=kernel), arguments)


def _launch_kernel(entry: StepEmitter, step: Launch, arguments: list[str]) -> None:
    """Emit the launch of a kernel with these arguments, with checks for signals, and on several threads."""
    code, cut = entry.code, _cut_of(entry, step)
    function = f"@{entry.kernel(step.kernel, cut)}"
    if cut == "no":
        code.call_function(function, "void", *arguments)
    elif cut == "in parts":
        loop = only_loop(step.kernel)
        assert loop is not None
        if loop.runs_in_any_order and entry.threads.released != "false":
            launch_in_slices(entry, step, loop, function, arguments)
        else:
            _launch_in_parts(entry, step, loop, function, arguments)
    else:
        entry.fail_if_stopped(code.call_function(function, "i1", *arguments, f"ptr {entry.watcher()}"))


def _cut_of(entry: StepEmitter, step: Launch) -> Cut:
    """Return how the loops of a kernel are split."""
    kernel = step.kernel
    if not entry.inside_loop and may_be_sliced(kernel):
        return "in parts"
    if not may_be_cut(kernel):
        return "no"
    # Kernels in loops over steps are split only if their iterations are long, or their sizes depend on the iteration:
    # otherwise the loop itself checks for signals.
    if entry.inside_loop and entry.threads.is_loop_invariant(step) and not is_heavy(kernel.body):
        return "no"
    # Another loop in the kernel costs 20% of its compile time; in the entry, little if no passes run on it.
    return "inside" if entry.has_loops or only_loop(kernel) is None else "in parts"


def _launch_in_parts(entry: StepEmitter, step: Launch, loop: For, function: str, arguments: list[str]) -> None:
    """Call a kernel for one part of its loop after another, with checks for signals in between."""
    code = entry.code
    extent = code.value(outside(step, loop.extent))
    watched = is_watched_in_parts(step.kernel)
    kind = "i1" if watched else "void"
    if entry.threads.released == "false":
        code.call_function(function, kind, "i64 0", f"i64 {extent}", "ptr null", *arguments)
        return
    watcher, before = entry.watcher(), code.writer.block
    head, look, go, part, done = (code.label(stem) for stem in ("parts", "look", "go", "part", "done"))
    parted = code.label("parted") if watched else part
    first, last = code.fresh("first"), code.fresh("last")
    code.writer.jump(head)
    code.block(head)
    code.add(f"{first} = phi i64 [0, %{before}], [{last}, %{parted}]")
    code.branch(code.compare("eq", "ptr", watcher, "null"), part, look, likely=part)
    code.block(look)
    work = iteration_time(code, step, loop)
    end = code.call("chunk", "i64", f"ptr {watcher}", f"i64 {first}", f"i64 {extent}", f"double {work}")
    code.stop_if(code.compare("slt", "i64", end, "0"), go)
    code.block(go)
    code.writer.jump(part)
    code.block(part)
    code.add(f"{last} = phi i64 [{extent}, %{head}], [{end}, %{go}]")
    stopped = code.call_function(function, kind, f"i64 {first}", f"i64 {last}", f"ptr {watcher}", *arguments)
    if watched:
        code.stop_if(stopped, parted)
        code.block(parted)
    code.branch(code.compare("slt", "i64", last, extent), head, done, likely=done)
    code.block(done)


# -- products and library routines -------------------------------------------------------------------------------


def _for_each(entry: StepEmitter, batch: Expr | None, work: Work, emit: Callable[[], None]) -> None:
    """Emit code once, or in a loop over a batch, each item of which takes `work`."""
    if batch is None:
        emit()
        return
    interval = entry.threads.iterations_between_checks(entry.threads.in_known_sizes(work))

    def body() -> None:
        emit()
        entry.threads.check_signals_after_iteration(entry.code.value(BATCH), interval)

    entry.code.emitter.loop(For(BATCH.attr, batch, ()), body)


@emits(Call, weight=4)
def _call(entry: StepEmitter, step: Call) -> None:
    chunks = step.chunks
    if chunks is not None:
        work = step.routine.work_for(dict.fromkeys(step.routine.sizes, const(CHUNK)))
        _for_each(entry, chunks, work, lambda: _emit_call(entry, step, const(CHUNK)))
        return
    part = None if entry.inside_loop or entry.threads.released == "false" else batch_part(step)
    if part is None:
        _for_each(entry, step.batch, step.work_per_call(), lambda: _emit_call(entry, step))
        return
    code = PartCode(entry.code, part)
    code.emitter.range(For(BATCH.attr, const(0), ()), "%first", "%last", lambda: _emit_call(code, part.step))
    call_in_slices(entry, step, part, code)


def _emit_call(entry: CallEmitter, step: Call, chunk: Expr | None = None) -> None:
    """Emit a call, or the part of one for chunk number `BATCH` of a result."""
    code, routine = entry.code, step.routine
    if routine.word is None:
        arguments = [f"i64 {code.value(n)}" for n in step.sizes]
        for parameter, operand in zip(routine.parameters, step.operands, strict=True):
            arguments.append(_pointer(code, parameter.dtype, operand))
        if routine.each:
            first, last = const(0), dict(zip(routine.sizes, step.sizes, strict=True))[routine.each]
            if chunk is not None:
                first = BATCH * chunk
                last = op("minimum", first + chunk, last)
            arguments += [f"i64 {code.value(first)}", f"i64 {code.value(last)}"]
        code.call_function(declare_routine(routine, code.module), "void", *arguments)
        return
    given = {name: code.value(n) for name, n in zip(routine.sizes, step.sizes, strict=True)}
    scalars = {name: e for (name, _), e in zip(routine.scalars, step.scalars, strict=True)}
    operands = {p.name: (p.dtype, operand) for p, operand in zip(routine.parameters, step.operands, strict=True)}

    def argument(one: CArgument) -> str:
        if isinstance(one, Int64):
            return f"i64 {given[one.value.attr]}"
        if isinstance(one, Data):
            return _pointer(code, *operands[one.value])
        if isinstance(one, Stride):
            return f"i64 {code.value(operands[one.value][1].strides[one.dimension])}"
        if isinstance(one, (Scalar, Number)):
            value = scalars[one.value] if isinstance(one, Scalar) else one.value
            return f"{LLVM_TYPES[value.dtype]} {code.value(value)}"
        if isinstance(one, SignalWatch):
            return f"ptr {entry.watcher()}"
        assert isinstance(one, Table)
        return "ptr %table"

    entry.fail_if_stopped(code.call(routine.word, "i1", *map(argument, routine.arguments)))


def _pointer(code: HostCode, dtype: str, operand: Operand) -> str:
    """Return the address of an operand as an argument."""
    offset = code.value(operand.offset)
    return f"ptr {code.at(code.pointer_to(operand.buffer), offset, memory_type(dtype))}"


# -- loops, and nodes in Python ---------------------------------------------------------------------------------


@emits(Iterate, weight=4)
def _loop(entry: StepEmitter, step: Iterate) -> None:
    code, threads = entry.code, entry.threads
    launch = entry.short_loops.get(id(step))
    if launch is not None:
        _short_loop(entry, step, launch)
        return
    interval = threads.iterations_between_checks(threads.in_known_sizes(step.work_per_iteration()))
    outermost, entry.inside_loop = not entry.inside_loop, True

    def body() -> str | None:
        for inner in step.body:
            entry.step(inner)
        threads.check_signals_after_iteration(code.value(var(step.var)), interval)
        return None if step.until is None else code.value(step.until)

    code.define(step.count, code.emitter.loop(For(step.var, step.extent, ()), body))
    entry.inside_loop = not outermost


def _short_loop(entry: StepEmitter, step: Iterate, launch: Launch) -> None:
    """Emit a loop that is one kernel."""
    code, words = entry.code, failure_size(step)
    if step.until is not None:
        code.place(rounds_buffer(step), code.reserve("rounds", 1))
    if words:
        code.place(failure_buffer(step), code.reserve("failure", words))
    _launch(entry, launch)
    for check in checks_after(step):
        _check(entry, check)
    if step.until is None:
        code.define(step.count, code.value(op("maximum", step.extent, const(0))))
    else:
        code.define(step.count, code.field(code.pointer_to(rounds_buffer(step)), 0, "i64"))


@emits(PythonCall)
def _python(entry: StepEmitter, step: PythonCall) -> None:
    code = entry.code
    operands = code.reserve("operands", max(len(step.operands), 1))
    windows = []
    for k, buffer in enumerate(step.operands):
        data = code.pointer_to(buffer.name)
        window = code.call("array", "ptr", "ptr %table", *kind_and_shape(code, buffer), f"ptr {data}")
        code.set_field(operands, 8 * k, window)
        code.demand_pointer(window, layout.RAISED)
        windows.append(window)
    node = code.word(code.frame.words.callback + step.index)
    call = (f"ptr {node}", f"ptr {operands}", f"i64 {len(windows)}", "ptr null")
    answer = code.call("PyObject_Vectorcall", "ptr", *call)
    for window in windows:
        code.call("Py_DecRef", "void", f"ptr {window}")
    code.demand_pointer(answer, layout.RAISED)
    code.set_field("%frame", code.frame.answer_of_node(step.index), answer)
    items = code.field(answer, layout.LIST_ITEMS)
    seen: dict[str, tuple[str, str, list[str]]] = {}
    for k, buffer in enumerate(step.results):
        obj = code.field(items, 8 * k)
        data = code.field(obj, layout.ARRAY_DATA)
        code.place(buffer.name, data)
        dims = code.field(obj, layout.ARRAY_DIMS) if buffer.outer_shape else ""
        lengths = [code.field(dims, 8 * d, "i64") for d in range(len(buffer.outer_shape))]
        for n, length in zip(buffer.outer_shape, lengths, strict=True):
            if n.op == "var":
                code.define(n.attr, length)
        spilled = code.expressions.pointers[buffer.name]
        seen[buffer.name] = code.spill(obj), spilled, [code.spill(n, "i64") for n in lengths]
    entry.boundary.python_ran(seen)
