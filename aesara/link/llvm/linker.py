"""The native linker: lowers a graph, compiles it with LLVM, and wraps the entry point."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.ir.verify import verify_program
from aesara.link.basic import Declined, InputCell
from aesara.link.llvm.cache import ObjectCache
from aesara.link.llvm.callable import NativeCallable
from aesara.link.llvm.clock import system_clock
from aesara.link.llvm.emit_program import ENTRY, emit_program
from aesara.link.llvm.emit_timed import StepTimers, emit_timed_program
from aesara.link.llvm.fallback import complain_about_graph, complain_about_nodes
from aesara.link.llvm.jit import build, optimized_text
from aesara.link.llvm.python_nodes import make_callback
from aesara.link.utils import raise_with_op
from aesara.link.vm import VMLinker
from aesara.lower import (  # noqa: F401  # each registers the lowering of its ops
    batches,
    blas,
    checks,
    choices,
    complex_elementwise,
    complex_parts,
    complex_products,
    complex_sequences,
    convolution,
    creation,
    diagonals,
    elementwise,
    index_conversion,
    indexing,
    joining,
    loops,
    ordering,
    products,
    recurrences,
    reductions,
    repeating,
    searching,
    selection,
    sequential,
    shapes,
    softmax,
    subgraphs,
)
from aesara.lower.assemble import Lowered
from aesara.lower.context import ErrorInfo, Unsupported
from aesara.lower.dispatch import lower_graph

__all__ = ["LLVMLinker", "NativeReport"]


@dataclass
class NativeReport:
    """How a function was compiled: what runs natively, what in Python and why, and how long each stage took.

    Attributes
    ----------
    python_nodes
        Nodes that run in Python, with the reason.
    seconds
        Seconds for the stages ``lower``, ``emit`` and ``build``.
    cached
        Whether the object code came from the cache.
    """

    lowered: Lowered
    text: str
    cached: bool
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def python_nodes(self) -> dict[Apply, str]:
        return self.lowered.reasons

    def llvm(self) -> str:
        """The LLVM IR as emitted."""
        return self.text

    def optimized(self) -> str:
        """The LLVM IR after LLVM's passes."""
        return optimized_text(self.text)

    def assembly(self) -> str:
        """The machine code as assembly text."""
        return optimized_text(self.text, assembly=True)


class LLVMLinker(VMLinker):
    """Compiles graphs of tensors to machine code; other graphs run as under the reference linker."""

    def make_callable(
        self,
        fgraph: FunctionGraph,
        inputs: Sequence[InputCell],
        n_outputs: int,
        updates: dict[int, int],
        unpack_single: bool,
        fallback: Callable[..., Any],
        timed: bool = False,
    ) -> NativeCallable:
        """The graph as a native callable; raises `Declined` if a value crosses its border that is not a tensor.

        With `timed` the callable measures its steps, for its ``timers``.
        """
        clock = time.perf_counter
        started = clock()
        try:
            lowered = lower_graph(
                [(i.variable, i.implicit) for i in inputs], fgraph.outputs, dict(updates), n_outputs, unpack_single
            )
        except Unsupported as reason:
            complain_about_graph(str(reason))
            raise Declined(str(reason)) from None
        complain_about_nodes(lowered.reasons)
        program = lowered.program
        if config.native_verify:
            verify_program(program)
        lowered_at = clock()
        clock_of_steps = system_clock() if timed else None
        timers = None if clock_of_steps is None else StepTimers.of(program, clock_of_steps)
        text, externals = emit_program(program) if timers is None else emit_timed_program(program, timers)
        emitted_at = clock()
        code = build(text, externals, ENTRY, object_cache())
        built_at = clock()
        cells = [inputs[k].cell for k in program.cells()]
        result = NativeCallable(
            program,
            code,
            lowered.constants,
            cells,
            [make_callback(node, leaves) for node, leaves in lowered.python_nodes],
            fallback,
            lambda error, values, arguments: report_error(lowered.errors, inputs, error, values, arguments),
            timers,
        )
        result.report = NativeReport(
            lowered, text, code.cached,
            {"lower": lowered_at - started, "emit": emitted_at - lowered_at, "build": built_at - emitted_at},
        )  # fmt: skip
        return result


_caches: dict[Path, ObjectCache] = {}


def object_cache() -> ObjectCache | None:
    """The cache that the configuration names, or None if it is switched off."""
    if not config.native_cache:
        return None
    folder = Path(config.native_cache_dir) / "objects"
    return _caches.setdefault(folder, ObjectCache(folder))


def report_error(
    errors: Sequence[ErrorInfo], inputs: Sequence[InputCell], error: int, values: list[int], arguments: tuple[Any, ...]
) -> None:
    """Raise the exception of a failed check, with the node, its inputs as far as known, and the user's line."""
    if error == -2:
        kinds = ", ".join(f"{np.asarray(a).dtype}{np.shape(a)}" for a in arguments)
        expected = ", ".join(f"{i.variable}: {i.variable.type}" for i in inputs)
        raise TypeError(f"The arguments do not fit the inputs {expected}; got {kinds}.")
    info = errors[error]
    try:
        raise info.kind(info.message.format(*values))
    except info.kind:
        if info.node is None:
            raise
        explicit = iter(arguments)
        known = {i.variable: i.cell if i.implicit else [next(explicit, None)] for i in inputs}
        cells = [known.get(v, [getattr(v, "data", None)]) for v in info.node.inputs]
        raise_with_op(
            None, info.node, thunk=SimpleNamespace(inputs=cells) if any(c[0] is not None for c in cells) else None
        )
