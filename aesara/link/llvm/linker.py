"""The native linker: lowers a graph, compiles it with LLVM, and wraps the entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from aesara import clock
from aesara.configdefaults import config
from aesara.graph.container import StorageCell
from aesara.graph.fg import FunctionGraph
from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.traversal import io_toposort
from aesara.ir.expr import sharing
from aesara.ir.verify_program import verify_program
from aesara.link.basic import Declined, InputCell
from aesara.link.llvm import in_advance
from aesara.link.llvm.by_reference import ReferenceAnswers
from aesara.link.llvm.cache import object_cache
from aesara.link.llvm.callable import NativeCallable
from aesara.link.llvm.clock import system_clock
from aesara.link.llvm.emit_call import ENTRY
from aesara.link.llvm.emit_program import emit_program
from aesara.link.llvm.emit_timed import StepTimers, emit_timed_program
from aesara.link.llvm.failures import report_error
from aesara.link.llvm.fallback import report_graph, report_nodes
from aesara.link.llvm.form import Form, Symbols
from aesara.link.llvm.generators import why_not_native
from aesara.link.llvm.jit import Code, build, load, object_code, optimized_text
from aesara.link.llvm.marshalling import Marshalling, MarshallingCallable
from aesara.link.llvm.python_nodes import LateCallback, make_callback
from aesara.link.vm import VMLinker
from aesara.lower.assemble import Lowered
from aesara.lower.dispatch import lower_graph
from aesara.lower.errors import Unsupported
from aesara.progress import begin_stage

__all__ = ["LLVMLinker", "NativeReport"]


class NativeReport:
    """Report on a compilation: native nodes, nodes in Python and the reasons, and the time of each stage.

    Parameters
    ----------
    compiled
        Returns the lowered graph and its text; called on first use.
    cached
        Whether the object code came from the cache or a pickle.
    seconds
        Time of the stages ``lower``, ``emit`` and ``build``.
    """

    def __init__(self, compiled: Callable[[], tuple[Lowered, str]], cached: bool, seconds: dict[str, float]) -> None:
        self._compile = compiled
        self.cached = cached
        self.seconds = seconds

    @cached_property
    def _lowering_and_text(self) -> tuple[Lowered, str]:
        return self._compile()

    @property
    def lowering(self) -> Lowered:
        """The program, and its run-time data other than code."""
        return self._lowering_and_text[0]

    @property
    def text(self) -> str:
        """The emitted LLVM IR."""
        return self._lowering_and_text[1]

    @property
    def python_nodes(self) -> dict[Apply, str]:
        """Nodes that run in Python, with the reasons."""
        return self.lowering.reasons

    def llvm(self) -> str:
        """Return the emitted LLVM IR."""
        return self.text

    def optimized_llvm(self) -> str:
        """Return the LLVM IR after LLVM's passes, for the current `native_target`."""
        return optimized_text(self.text)

    def assembly(self) -> str:
        """Return the machine code as assembly text, for the current `native_target`."""
        return optimized_text(self.text, assembly=True)

    def object_code(self) -> bytes:
        """Return the machine code as an object file, for the current `native_target`."""
        return object_code(self.text)


class LLVMLinker(VMLinker):
    """Compiles graphs of tensors to machine code; other graphs run as under the reference linker."""

    incompatible_rewrites: tuple[str, ...] = ()

    def checks(self, fgraph: FunctionGraph) -> Sequence[Variable]:
        """Return results of `CheckAndRaise` to compute along with a graph; here none."""
        return ()

    def expect(self, fgraph: FunctionGraph) -> None:
        """Start work that does not depend on how the graph will be rewritten; called before rewriting."""
        in_advance.begin(fgraph.apply_nodes)

    def make_callable(
        self,
        fgraph: FunctionGraph,
        inputs: Sequence[InputCell],
        n_outputs: int,
        updates: dict[int, int],
        unpack_single: bool,
        fallback: Callable[..., Any],
        timed: bool = False,
        lent: Sequence[int] = (),
    ) -> NativeCallable | MarshallingCallable:
        """Compile the graph to a native callable.

        Raise `Declined` if an input or output is not a tensor and does not consist of tensors. With `timed` the
        callable has ``timers``, which measure its steps. `lent` are the numbers of the results whose arrays are reused
        once nobody else refers to them.
        """
        parts = Marshalling.of(fgraph, inputs, n_outputs, updates)
        if parts is not None:
            arguments = parts.graph, parts.inputs, parts.n_outputs, parts.updates, False, _refuse_arguments, timed
            return MarshallingCallable(parts, self._compile(*arguments), unpack_single, fallback)
        return self._compile(fgraph, inputs, n_outputs, updates, unpack_single, fallback, timed, lent)

    @sharing()
    def _compile(
        self,
        fgraph: FunctionGraph,
        inputs: Sequence[InputCell],
        n_outputs: int,
        updates: dict[int, int],
        unpack_single: bool,
        fallback: Callable[..., Any],
        timed: bool,
        lent: Sequence[int] = (),
    ) -> NativeCallable:
        """Compile a graph from tensors to tensors; see `make_callable`."""
        started = clock.now()
        begin_stage("planning loops and memory")
        try:
            _refuse_states(fgraph.apply_nodes)
            _refuse_generators(inputs, updates)
            implicit = [i.implicit for i in inputs]
            given_away = [k for k, i in enumerate(inputs) if i.overwritable]
            lowered = _lower(fgraph, implicit, given_away, lent, n_outputs, updates, unpack_single, self.checks(fgraph))
        except Unsupported as reason:
            report_graph(str(reason))
            raise Declined(str(reason)) from None
        report_nodes(lowered.reasons)
        program = lowered.program
        if config.native_verify:
            verify_program(program)
        lowered_at = clock.now()
        begin_stage("writing LLVM code")
        clock_of_steps = system_clock() if timed else None
        timers = None if clock_of_steps is None else StepTimers.of(program, clock_of_steps)
        module = emit_program(program) if timers is None else emit_timed_program(program, timers)
        emitted_at = clock.now()
        begin_stage("building machine code")
        in_advance.finish()
        code, text = build(module, ENTRY, object_cache())
        built_at = clock.now()
        form = Form.of(lowered, code.image, timers)
        storage = [i.cell for i in inputs]
        result = _attach(form, code, lambda: fgraph, storage, n_outputs, updates, unpack_single, fallback, timers)
        result.form = form
        seconds = {"lower": lowered_at - started, "emit": emitted_at - lowered_at, "build": built_at - emitted_at}
        result.report = NativeReport(lambda: (lowered, text), code.cached, seconds)
        return result

    @sharing()
    def symbols_of(
        self, form: Form, graph: FunctionGraph, n_outputs: int, updates: dict[int, int], unpack_single: bool
    ) -> tuple[Symbols, str]:
        """Lower a graph again: what of a form refers to its nodes, and the text of the module."""
        made = form.interface
        lowered = _lower(graph, made.implicit, made.overwritten, made.lent, n_outputs, updates, unpack_single)
        return Symbols(lowered.errors, lowered.python_nodes), emit_program(lowered.program).text()

    def restore(
        self,
        form: Form,
        graph: Callable[[], FunctionGraph],
        storage: Sequence[StorageCell],
        n_outputs: int,
        updates: dict[int, int],
        unpack_single: bool,
        fallback: Callable[..., Any],
        timed: bool = False,
    ) -> NativeCallable | None:
        """Return a callable from the form of an earlier one; None if the graph has to be compiled again.

        Parameters
        ----------
        form
            The ``form`` of the callable that `make_callable` has returned.
        graph
            Returns the graph, after which the form has its ``symbols``; called when they are needed.
        storage
            The cell of each input.
        n_outputs, updates, unpack_single, fallback, timed
            See `make_callable`.
        """
        timers = None if form.timers is None else form.timers.copy()
        if (timers is None) != (form.timers is None) or (timed and timers is None and system_clock() is not None):
            return None
        if form.n_callbacks and config.native_fallback != "ignore":
            return None  # compiling again reports the reason
        interface, numbers = form.interface, form.interface.generators
        drawn_from = [n for n, k in enumerate(numbers) if k in interface.updated]
        if why_not_native([storage[k][0] for k in numbers], drawn_from) is not None:
            return None
        started = clock.now()
        code = load(form.image)
        if code is None:
            return None

        @sharing()
        def compile_again() -> tuple[Lowered, str]:
            made = form.interface
            lowered = _lower(graph(), made.implicit, made.overwritten, made.lent, n_outputs, updates, unpack_single)
            if timers is not None:
                return lowered, emit_timed_program(lowered.program, timers).text()
            return lowered, emit_program(lowered.program).text()

        result = _attach(form, code, graph, storage, n_outputs, updates, unpack_single, fallback, timers)
        result.form = form
        result.report = NativeReport(compile_again, True, {"load": clock.now() - started})
        return result


def _refuse_generators(inputs: Sequence[InputCell], updates: dict[int, int]) -> None:
    """Raise `Unsupported` if compiled code cannot draw from the generators in the cells."""
    numbers = [k for k, one in enumerate(inputs) if one.implicit and one.variable.type.in_words]
    drawn_from = [n for n, k in enumerate(numbers) if k in updates.values()]
    reason = why_not_native([inputs[k].cell[0] for k in numbers], drawn_from)
    if reason is not None:
        raise Unsupported(reason)


def _refuse_arguments(*args: Any, **kwargs: Any) -> Any:
    """Fallback of native code that is called with parts, which always fit."""
    raise AssertionError("The parts of a value do not fit the types of the parts.")


def _refuse_states(nodes: Iterable[Apply]) -> None:
    """Raise `Unsupported` if a node, also in an inner graph, computes the state of a generator.

    Values other than tensors are recomputed for each node in Python that needs them, but a generator must draw once.
    """
    pending = list(nodes)
    while pending:
        node = pending.pop()
        for variable in node.outputs:
            if variable.type.restorable and not variable.type.in_words:
                raise Unsupported(f"a state of type {variable.type}")
        if isinstance(node.op, HasInnerGraph):
            pending += io_toposort(node.op.inner_inputs, node.op.inner_outputs)


def _lower(
    graph: FunctionGraph,
    implicit: Sequence[bool],
    overwritable: Sequence[int],
    lent: Sequence[int],
    n_outputs: int,
    updates: dict[int, int],
    unpack_single: bool,
    also_checked: Sequence[Variable] = (),
) -> Lowered:
    inputs = list(zip(graph.inputs, implicit, strict=True))
    outputs = graph.outputs
    return lower_graph(inputs, outputs, dict(updates), n_outputs, unpack_single, also_checked, overwritable, lent)


def _attach(
    form: Form,
    code: Code,
    graph: Callable[[], FunctionGraph],
    storage: Sequence[StorageCell],
    n_outputs: int,
    updates: dict[int, int],
    unpack_single: bool,
    fallback: Callable[..., Any],
    timers: StepTimers | None = None,
) -> NativeCallable:
    """Return a callable of loaded code and the cells of a function."""
    interface = form.interface

    def answer_or_raise(error: int, values: list[int], arguments: tuple[Any, ...]) -> Any:
        inputs = [InputCell(*one) for one in zip(graph().inputs, storage, interface.implicit, strict=True)]
        errors = form.symbols_of(graph).errors
        if 0 <= error < len(errors):
            answers = ReferenceAnswers(graph, inputs, n_outputs, updates, unpack_single, native.guards)
            if answers.may_differ(errors[error], values):
                return answers.of(arguments)
        return report_error(errors, inputs, error, values, arguments, graph)

    def callback(number: int) -> Callable[..., list[np.ndarray]]:
        if form.symbols is not None:
            return make_callback(*form.symbols.python_nodes[number])
        return LateCallback(lambda: make_callback(*form.symbols_of(graph).python_nodes[number]))

    native = NativeCallable(
        interface,
        code,
        form.constants,
        [storage[k] for k in interface.cells],
        [callback(number) for number in range(form.n_callbacks)],
        fallback,
        answer_or_raise,
        timers,
    )
    return native
