"""Entry point of a compiled function as LLVM IR text, in CPython's fastcall convention.

The steps of the program (`emit_steps`) are between the prologue and the epilogue of a call (`emit_call`). A call
modifies only memory of its own: its frame on the stack, and a block of workspace from the function's pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aesara.ir.accumulation import SplitAccumulation
from aesara.ir.definitions import INLINED, FunctionDefinition, FunctionParameter
from aesara.ir.expr import Expr, const
from aesara.ir.kernel import Kernel
from aesara.ir.loop_kernels import loop_as_launch
from aesara.ir.program import Program
from aesara.ir.steps import Launch, Step
from aesara.link.llvm.call_boundary import CallBoundary
from aesara.link.llvm.emit_call import ENTRY, PythonCallBoundary
from aesara.link.llvm.emit_kernel import Cut, emit_kernel
from aesara.link.llvm.emit_memory import Workspace
from aesara.link.llvm.emit_slices import are_words
from aesara.link.llvm.emit_steps import emission_of
from aesara.link.llvm.emit_threads import Threads, accumulation_in_slices
from aesara.link.llvm.frame import Frame
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.inlining import inline_small_functions
from aesara.link.llvm.module import Module
from aesara.link.llvm.spills import spills_values

__all__ = ["ENTRY", "EntryPoint", "emit_program"]

#: total weight of steps between checks for signals; a step takes at most a `PORTION` or checks by itself, except for
#: products, which may be long
_WEIGHT_BETWEEN_CHECKS = 16
_KERNEL_ATTRIBUTES = 'nounwind "prefer-vector-width"="512"'
#: number of kernels up to which an entry point has code for short calls of each
_FEW_LAUNCHES = 8
#: kernels without branches up to this number of lines are inlined: compiling a function takes half a millisecond
_INLINED_LINES = 19


class EntryPoint:
    """Emits a program's entry point.

    Attributes
    ----------
    program
        The program.
    code
        The text, and the locations of values.
    threads
        Emits code for threads and signals.
    boundary
        Emits the prologue and the epilogue.
    workspace
        The workspace.
    short_loops
        The launches of loops over steps that are one kernel, by the identity of the step.
    has_loops
        Whether the entry point has loops of its own.
    has_many_launches
        Whether there are so many kernels that code for short calls of them is not worth its compile time.
    inside_loop
        Whether the current step is in a loop.
    """

    threads_class, workspace_class = Threads, Workspace

    def __init__(self, program: Program) -> None:
        created = {buffer.name for step in program.all_steps() for buffer in step.makes()}
        initial = {item.buffer.name for item in program.inputs} | {buffer.name for buffer in program.constants}
        self.program = program
        self.code: HostCode = self._host_code(frozenset(created))
        self.threads: Threads = self.threads_class(self.code, frozenset(initial))
        self.workspace: Workspace = self.workspace_class(program.slots, self.code)
        self.boundary = self._call_boundary()
        self.short_loops = _short_loops(program)
        self.has_loops = any(step.is_loop and id(step) not in self.short_loops for step in program.steps)
        self.has_many_launches = sum(1 for step in program.steps for _ in step.launches()) > _FEW_LAUNCHES
        self.inside_loop = False
        self._kernels: dict[tuple[object, ...], str] = {}
        self._accumulations: dict[tuple[object, ...], SplitAccumulation | None] = {}

    def _host_code(self, created: frozenset[str]) -> HostCode:
        return HostCode(Frame(self.program), created, spills_values(self.program))

    def _call_boundary(self) -> CallBoundary:
        return PythonCallBoundary(self.program, self.code, self.threads, self.workspace)

    def module(self) -> Module:
        """Emit the entry point and return its module."""
        code = self.code
        self.boundary.arguments()
        self.workspace.take()
        self.boundary.open_generators()
        for k, buffer in enumerate(self.program.constants):
            code.place(buffer.name, code.word(code.frame.words.constant + k))
        self._steps()
        self.boundary.finish()
        # Passes are not worth their time for code that runs once, or around long steps.
        optimize = any(step.needs_optimization for step in self.program.steps if id(step) not in self.short_loops)
        attributes = f'{"nounwind" if optimize else "noinline optnone nounwind"} "prefer-vector-width"="512"'
        for definition in self.boundary.definitions():
            code.module.add(definition)
        name, parameters = f"@{self.boundary.name}", self.boundary.parameters
        lines = ["entry:", *code.allocas, *code.lines]
        code.module.add(FunctionDefinition(name, code.kind_of_answer, parameters, attributes, lines, linkage=""))
        if not code.metadata.vectors:
            inline_small_functions(code.module)
        return code.module

    def watcher(self) -> str:
        """Return the watcher for signals, or null."""
        return self.threads.watcher()

    def fail_if_stopped(self, stopped: str) -> None:
        """Fail if a signal handler has raised, as `stopped` says."""
        self.threads.fail_if_stopped(stopped)

    def step(self, step: Step) -> None:
        """Emit a step."""
        if not self.inside_loop:
            self.code.forget()
        emission_of(step).emit(self, step)

    def segment(self, steps: Sequence[Step]) -> None:
        """Emit steps during which other threads may hold the GIL."""
        self.threads.release_gil(steps)
        weight = 0
        for step in steps:
            self.step(step)
            weight += emission_of(step).weight
            if self.threads.released != "false" and weight >= _WEIGHT_BETWEEN_CHECKS:
                self.threads.check_signals()
                weight = 0
        self.threads.take_gil()

    def accumulation(self, kernel: Kernel) -> SplitAccumulation | None:
        """Return the parts of an accumulating kernel of which several threads may run the first; None for others."""
        content = kernel.params, kernel.body
        if content not in self._accumulations:
            self._accumulations[content] = accumulation_in_slices(kernel)
        return self._accumulations[content]

    def kernel(self, kernel: Kernel, cut: Cut) -> str:
        """Return the symbol of a kernel, which is emitted once."""
        content = (kernel.params, kernel.body, cut)
        symbol = self._kernels.get(content)
        if symbol is None:
            symbol = self._kernels[content] = f"k{len(self._kernels)}"
            named = Kernel(symbol, kernel.params, kernel.body)
            code = self.code
            # What runs once is not worth LLVM's time.
            attributes = f"noinline {'optnone ' if cut == 'once' else ''}{_KERNEL_ATTRIBUTES}"
            function = emit_kernel(named, code.module, code.metadata, attributes, cut)
            if (
                cut != "once"
                and len(function.lines) <= _INLINED_LINES
                and not any(line.startswith("br ") for line in function.lines)
            ):
                function = replace(function, attributes=f"{INLINED} {_KERNEL_ATTRIBUTES}")
            code.module.add(function)
        return symbol

    def function_of_words(self, kernel: str, result: str, kinds: Sequence[str]) -> str:
        """Return the name of a function that runs a part of a kernel whose arguments have these types.

        The arguments are words: the kernel's own arguments, if these are `are_words`, so that it is the function
        of the kernel; else the address of memory, in which they follow a word.
        """
        if are_words(kinds):
            return kernel
        parameters = [("i64", "%first"), ("i64", "%last"), ("ptr", "%watcher"), ("ptr", "%memory")]
        lines, arguments = ["entry:"], [f"{kind} {name}" for kind, name in parameters[:3]]
        for k, kind in enumerate(kinds):
            lines.append(f"%at{k} = getelementptr i8, ptr %memory, i64 {8 * k + 8}")
            lines.append(f"%a{k} = load {kind}, ptr %at{k}")
            arguments.append(f"{kind} %a{k}")
        call = f"call {result} {kernel}({', '.join(arguments)})"
        lines += [call, "ret void"] if result == "void" else [f"%answer = {call}", f"ret {result} %answer"]
        definition = FunctionDefinition(
            f"{kernel}.words",
            result,
            [FunctionParameter(kind, name) for kind, name in parameters],
            "noinline optnone nounwind",
            lines,
        )
        return self.code.module.helper(f"{kernel}.words", definition)

    def _steps(self) -> None:
        """Emit the steps, in segments with and without the GIL."""
        for with_gil, steps in self.threads.runs(self.program.steps):
            if with_gil:
                for step in steps:
                    self.boundary.confirm([step])
                    if self.threads.keeps_values is None and self.program.overwrites_shared(step):
                        self._decide_in_place_updates(step)
                    self.step(step)
                continue
            for part in self.threads.segments(steps):
                self.boundary.confirm(part)
                self.segment(part)

    def _decide_in_place_updates(self, first: Step) -> None:
        """Emit the decision whether in-place updates are worthwhile, before the first of them."""
        remaining = self.program.steps[self.program.steps.index(first) :]
        size: Expr = const(0)
        for step in remaining:
            for buffer in step.overwrites():
                size = size + buffer.bytes
        self.threads.decide_in_place_updates(remaining, size)


def _short_loops(program: Program) -> dict[int, Launch]:
    steps = list(program.all_steps())
    if not any(step.is_loop for step in steps):
        return {}
    bases = program.bases()
    taken = frozenset(buffer.name for step in steps for buffer in step.overwrites())
    symbol = {id(step): loop_as_launch(step, bases, taken) for step in steps}
    return {number: launch for number, launch in symbol.items() if launch is not None}


def emit_program(program: Program) -> Module:
    """Return the LLVM module of a program."""
    return EntryPoint(program).module()
