"""Exceptions of failed checks: compiled code returns a number, users get the node and its inputs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from aesara.errors import NanFound
from aesara.graph import hooks
from aesara.graph.container import StorageMap
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.link.basic import InputCell
from aesara.link.llvm import layout
from aesara.link.nan_origin import Origin
from aesara.link.replay import can_be_repeated, failure_of
from aesara.link.utils import raise_with_op, with_details
from aesara.lower.errors import ErrorInfo
from aesara.tensor.core.check_and_raise import CheckAndRaise

__all__ = ["report_error"]


def report_error(
    errors: Sequence[ErrorInfo],
    inputs: Sequence[InputCell],
    error: int,
    values: list[int],
    arguments: tuple[Any, ...],
    graph: Callable[[], FunctionGraph] | None = None,
) -> None:
    """Raise the exception of a failed check, with the node, its inputs, and the user's line.

    Parameters
    ----------
    errors
        The error of each number.
    inputs
        The inputs of the function.
    error, values
        Number and values of the failed check.
    arguments
        Arguments of the call.
    graph
        Returns the compiled graph.
    """
    if error == layout.WRONG_ARGUMENTS:
        kinds = ", ".join(f"{np.asarray(a).dtype}{np.shape(a)}" for a in arguments)
        expected = ", ".join(f"{i.variable}: {i.variable.type}" for i in inputs)
        raise TypeError(f"The arguments do not fit the inputs {expected}; got {kinds}.")
    if error == layout.MOVED:
        raise RuntimeError(
            "While the function ran, `perform` of an operation has resized or reshaped an array that the function uses "
            "(an argument, a shared value, or what `perform` has stored before). Let it work on a copy."
        )
    if error == layout.DRAWN:
        raise RuntimeError(
            "While the function ran, `perform` of an operation, or another thread, has drawn from a generator that the "
            "function draws from; its numbers would be given twice. Let it have a generator of its own."
        )
    explicit = iter(arguments)
    known: StorageMap = {i.variable: i.cell if i.implicit else [next(explicit, None)] for i in inputs}
    if error <= layout.FIRST_LARGE_RESULT:
        assert graph is not None
        _report_large_result(graph().outputs[layout.FIRST_LARGE_RESULT - error], values, known)
    info = errors[error]
    try:
        raise info.kind(info.text(values))
    except info.kind as failure:
        node = info.node
        if node is None:
            raise
        if info.kind is NanFound and graph is not None:
            _search_nan(graph(), str(failure), known)
        if any(v not in known and not hasattr(v, "data") for v in node.inputs) and graph is not None:
            details = _repeat(graph(), info, known)
            if details is not None:
                raise with_details(failure, details).with_traceback(sys.exc_info()[2]) from None
        if isinstance(node.op, CheckAndRaise):
            values = [known.get(v, [getattr(v, "data", None)])[0] for v in node.inputs]
            failure.args = (node.op.message_of_known(values),)
        raise_with_op(None, node, thunk=_known_inputs(node, known))


def _known_inputs(node: Apply, known: StorageMap) -> SimpleNamespace | None:
    """Return the values of a node's inputs, as far as they are known."""
    cells = [known.get(v, [getattr(v, "data", None)]) for v in node.inputs]
    return SimpleNamespace(inputs=cells) if any(cell[0] is not None for cell in cells) else None


def _report_large_result(result: Variable, sizes: Sequence[int], known: StorageMap) -> None:
    """Raise the exception for a result that does not fit into memory."""
    shape, dtype = tuple(sizes[: result.type.ndim]), result.type.dtype
    try:
        np.empty(shape, dtype)
        raise MemoryError(f"Unable to allocate an array with shape {shape} and data type {dtype}")
    except (MemoryError, ValueError):
        if result.owner is None:
            raise
        raise_with_op(None, result.owner, thunk=_known_inputs(result.owner, known))


def _search_nan(graph: FunctionGraph, kinds: str, known: StorageMap) -> None:
    """Raise `NanFound` for the operation with the first bad value."""
    origin = Origin("nan" in kinds, "inf" in kinds)

    def compile_step(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Any:
        return hooks.compile_step(inputs, outputs, mode="NanWhere", name="step")

    origin.search(graph, {v: known[v][0] for v in graph.inputs}, compile_step)


def _repeat(graph: FunctionGraph, info: ErrorInfo, known: StorageMap) -> str | None:
    """Repeat the call on the reference machine and add the inputs of the failed node to `known`.

    If the node was created by the compiler, or is in an inner graph, return the report of the node at which the
    reference machine fails.
    """
    if not can_be_repeated(graph):
        return None
    again = failure_of(graph, {v: known[v][0] for v in graph.inputs})
    if info.node in graph.apply_nodes:
        known.update((v, cell) for v, cell in again.cells.items() if v not in known)
        return None
    return again.details if isinstance(again.error, info.kind) else None
