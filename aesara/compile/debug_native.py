"""Native code against the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.compile.debug_checks import shares_memory
from aesara.compile.debug_errors import BadThunkOutput, DebugModeError, check_eq
from aesara.graph.cloning import clone_get_equiv
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.link.basic import Declined, InputCell
from aesara.link.llvm.linker import LLVMLinker
from aesara.link.originals import copy_value

_STRIDES_DIFFER = "The strides of a result differ between native code and the reference"


def compile_graph(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Any:
    """A native callable that returns the list of outputs, or None where there is no native form."""
    equiv = clone_get_equiv(list(inputs), list(outputs))
    graph = FunctionGraph([equiv[one] for one in inputs], [equiv[one] for one in outputs], clone=False)
    cells = [InputCell(variable, [None], False) for variable in graph.inputs]
    try:
        return LLVMLinker().make_callable(graph, cells, len(outputs), {}, False, _refuse)
    except Declined:
        return None


def _refuse(*args: object, **kwargs: object) -> Any:
    raise TypeError("the values do not fit native code")


class NativeCheck:
    """Compares results of native code with reference values.

    Parameters
    ----------
    inputs, outputs
        The graph.
    nodes
        Its nodes in order.
    strides
        Whether different strides are passed over (0), give a warning (1) or an error (2).
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], nodes: Sequence[Apply], strides: int
    ) -> None:
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.nodes = list(nodes)
        self.strides = strides
        self.native = compile_graph(inputs, outputs)

    def __call__(self, values: dict[Variable, Any], warn: Any) -> None:
        """Raise an error if native code computes something else than `values`, which has all variables."""
        if self.native is None:
            return
        results = self._run(self.native, self.inputs, values, "the function")
        for out, result in zip(self.outputs, results):
            if not check_eq(out, values[out], result):
                self._blame_node(values)
                note = "native code of the whole function (each node alone is right)"
                inputs = [] if out.owner is None else [values[one] for one in out.owner.inputs]
                raise BadThunkOutput(out, "perform", values[out], note, result, inputs)
            if self.strides and _strides(result) != _strides(values[out]):
                error = BadThunkOutput(out, "perform", values[out], "native code", result)
                if self.strides > 1:
                    raise error
                warn(f"{_STRIDES_DIFFER}: {describe(out)}: {_strides(values[out])} and {_strides(result)}.")

    def _run(self, native: Any, inputs: Sequence[Variable], values: dict[Variable, object], subject: str) -> list[Any]:
        copies = [copy_value(values[one]) for one in inputs]
        try:
            results = native.careful(copies)
        except Exception as error:
            raise DebugModeError(
                f"Native code of {subject} fails where the reference computes a value: {type(error).__name__}: {error}"
            ) from error
        for one, after in zip(inputs, copies):
            if not one.type.values_eq(values[one], after):
                raise DebugModeError(f"Native code of {subject} has overwritten an argument.")
            if any(shares_memory(after, result) for result in results):
                raise DebugModeError(f"Native code of {subject} returns memory of an argument.")
        return results

    def _blame_node(self, values: dict[Variable, object]) -> None:
        """Raise an error for the first node whose own native code computes something else."""
        for node in self.nodes:
            inputs = list(dict.fromkeys(one for one in node.inputs if not isinstance(one, Constant)))
            try:
                native = compile_graph(inputs, node.outputs)
            except Exception:  # a node that has no native form by itself
                native = None
            if native is None:
                continue
            for out, result in zip(node.outputs, self._run(native, inputs, values, f"the node {node}")):
                if not check_eq(out, values[out], result):
                    known = [values[one] for one in node.inputs]
                    raise BadThunkOutput(out, "perform", values[out], "native code", result, known)


def _strides(value: object) -> Any:
    return getattr(value, "strides", None)
