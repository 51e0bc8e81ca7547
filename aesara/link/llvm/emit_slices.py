"""Emission of loops that several threads may run: kernels, accumulations, and batches of calls (`runtime.slices`)."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.accumulation import SplitAccumulation
from aesara.ir.expr import Expr, const, substitute
from aesara.ir.kernel import For
from aesara.ir.steps import Call, Launch
from aesara.ir.work import iteration_work
from aesara.link.llvm.chunks import is_watched_in_parts
from aesara.link.llvm.emit_batches import BatchPart, PartCode
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.runtime.slices import CALLS, PLAIN, WATCHED, WORDS
from aesara.link.llvm.step_emitter import StepEmitter
from aesara.link.llvm.types import LLVM_TYPES

__all__ = ["accumulate_in_slices", "are_words", "call_in_slices", "iteration_time", "launch_in_slices", "outside"]

#: number of blocks of which partial results are on the stack
_FEW_BLOCKS = 16


def outside(step: Launch, size: Expr) -> Expr:
    """Return a size in terms of the program's sizes, instead of the kernel's parameters."""
    arguments = {p.name: a for p, a in zip(step.kernel.params, step.arguments, strict=True) if isinstance(a, Expr)}
    return substitute([size], lambda e: arguments.get(e.attr) if e.op == "var" else None, {})[0]


def iteration_time(code: HostCode, step: Launch, loop: For) -> str:
    """Emit the estimated time of an iteration and return the name of its value."""
    lines, work = code.emitter.estimate(iteration_work(loop).replace(lambda size: outside(step, size)))
    code.add(*lines)
    return work


def launch_in_slices(entry: StepEmitter, step: Launch, loop: For, function: str, arguments: list[str]) -> None:
    """Call a kernel whose iterations are independent; several threads run it if the GIL is released."""
    code, watched = entry.code, is_watched_in_parts(step.kernel)
    extent = code.value(outside(step, loop.extent))
    whole, sliced, done = code.label("whole"), code.label("sliced"), code.label("done")
    if not entry.has_many_launches:
        code.branch(entry.threads.released, sliced, whole)
        code.block(whole)
        everything = ("i64 0", f"i64 {extent}", "ptr null")
        code.call_function(function, "i1" if watched else "void", *everything, *arguments)
        code.writer.jump(done)
        code.block(sliced)
    kind, form = ("i1", WATCHED) if watched else ("void", PLAIN)
    _run(entry, function, kind, form, arguments, extent, iteration_time(code, step, loop))
    if not entry.has_many_launches:
        code.writer.jump(done)
        code.block(done)


def _run(
    entry: StepEmitter, function: str, result: str, form: int, arguments: Sequence[str], extent: str, time: str
) -> None:
    """Run a function for parts of a loop, whose iterations take `time` each."""
    code = entry.code
    memory, kinds = _store_arguments(code, arguments)
    part = f"ptr {entry.function_of_words(function, result, kinds)}"
    call = ("ptr %frame", "ptr %table", part, f"i64 {form}", f"ptr {memory}", f"i64 {extent}", f"double {time}")
    on = code.label("on")
    code.stop_if(code.call("slices", "i1", *call), on)
    code.block(on)


def accumulate_in_slices(entry: StepEmitter, step: Launch, split: SplitAccumulation, arguments: list[str]) -> None:
    """Compute partial results, for which several threads may be used, and combine them."""
    code, single = entry.code, split.has_long_blocks
    first = f"@{entry.kernel(split.partials, 'one by one' if single else 'in parts')}"
    last = f"@{entry.kernel(split.combination, 'once')}"
    strips = const(1) if split.loop_over_strips is None else split.loop_over_strips.extent
    sizes = (split.blocks, split.elements, strips, split.loop.extent * strips)
    blocks, elements, per_block, iterations = (code.value(outside(step, size)) for size in sizes)
    most = 1 if split.results or single else _FEW_BLOCKS
    if split.results:
        names = [p.name for p in step.kernel.params]
        near = [arguments[names.index(name)] for name in split.results]
    else:
        memory = code.scratch("partials", split.buffers * most)
        near = [f"ptr {code.at(memory, 8 * most * k)}" for k in range(split.buffers)]
    is_near = code.compare("sle", "i64", blocks, str(most))
    at_once, sliced, done = code.label("whole"), code.label("sliced"), code.label("done")
    if not entry.has_many_launches:
        keeps_gil = code.compare("eq", "i1", entry.threads.released, "false")
        is_short = code.compare("sle", "i64", iterations, "1") if single else is_near
        code.branch(code.both(is_short, is_near, keeps_gil), at_once, sliced)
        code.block(at_once)
        everything = ("i64 0", f"i64 {0 if single else iterations}", "ptr null")
        code.call_function(first, "void", *everything, *arguments, *near)
        if not split.results:
            code.call_function(last, "void", *everything, *arguments, *near)
        code.writer.jump(done)
        code.block(sliced)
    stored, kinds = _store_arguments(code, [*arguments, *near])
    functions = [f"ptr {entry.function_of_words(name, 'void', kinds)}" for name in (first, last)]
    position = len(arguments) + (not are_words(kinds))
    numbers = [f"i64 {n}" for n in (position, split.buffers, elements, iterations)]
    time = f"double {iteration_time(code, step, split.loop_over_strips or split.loop)}"
    flags = (f"i1 {is_near}", f"i1 {str(bool(split.results)).lower()}")
    form = f"i64 {per_block if single else PLAIN}"
    error = code.call(
        "accumulate", "i64", "ptr %frame", "ptr %table", *functions, form, f"ptr {stored}", *numbers, time, *flags
    )
    code.demand(code.compare("eq", "i64", error, "0"), error)
    if not entry.has_many_launches:
        code.writer.jump(done)
        code.block(done)


def _store_arguments(code: HostCode, arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Store the arguments of a kernel as words (see `function_of_words`); return their address and the types."""
    memory = code.scratch("arguments", (len(arguments) + WORDS) // WORDS * WORDS)
    kinds = [argument.split()[0] for argument in arguments]
    first = 0
    if not are_words(kinds):
        code.set_field(memory, 0, memory)
        first = 8
    for k, argument in enumerate(arguments):
        kind, value = argument.split()
        code.set_field(memory, 8 * k + first, value, kind)
    return memory, kinds


def are_words(kinds: Sequence[str]) -> bool:
    """Return whether arguments of these types can be passed as `WORDS` words in registers for integers."""
    return len(kinds) <= WORDS and {*kinds} <= {"ptr", "i64"}


def call_in_slices(entry: StepEmitter, step: Call, part: BatchPart, function: PartCode) -> None:
    """Run a batch of calls; several threads run it if it is long and its calls are short."""
    code = entry.code
    name = f"@{code.label('calls')}"
    code.module.add(function.definition(name))
    assert step.batch is not None
    arguments = ["ptr %table", *(f"ptr {code.pointer_to(buffer)}" for buffer in part.buffers)]
    arguments += [f"{LLVM_TYPES[e.dtype]} {code.value(e)}" for e in part.values.values()]
    time = code.value(entry.threads.in_known_sizes(step.work_per_call()).expression())
    _run(entry, name, "i1", CALLS, arguments, code.value(step.batch), time)
