"""Search for the first operation that produces a NaN, and its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aesara.errors import NanFound
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.source import GradientLine
from aesara.link.replay import replay
from aesara.link.utils import error_report
from aesara.scan.op import Scan
from aesara.tensor.creation.allocation import AllocEmpty
from aesara.tensor.elementwise.elemwise import Elemwise

__all__ = ["Origin"]


class Origin:
    """Searches a graph for the first operation with a bad result and good inputs.

    Parameters
    ----------
    nan, inf
        Whether NaNs and infinities are bad.
    """

    def __init__(self, nan: bool = True, inf: bool = False) -> None:
        self.nan, self.inf = nan, inf

    def search(self, fgraph: FunctionGraph, values: Mapping[Variable, Any], compiled: Callable[..., Any]) -> None:
        """Compute a graph again and raise `NanFound` at the first bad value.

        Parameters
        ----------
        fgraph
            The graph.
        values
            A value for each of its inputs.
        compiled
            ``compiled(inputs, outputs)`` compiles the step of a loop so that it raises `NanFound` itself.
        """
        self._compiled = compiled
        try:
            replay(fgraph, values, self.after_node)
        except NanFound as error:
            if getattr(error, "_located", False):
                raise
        for variable, value in values.items():
            bad = self._find_bad(value)
            if bad is not None:
                where = f"the input {describe(variable)}, at index {_format_index(bad)}."
                raise _located_error(f"{self._describe(value, bad)} came in with {where}")

    _compiled: Callable[..., Any] | None = None

    def after_node(self, node: Apply, thunk: Any, storage_map: Any, compute_map: Any) -> None:
        """Callback of `VMLinker` that raises `NanFound` if the node has produced a bad value."""
        if isinstance(node.op, AllocEmpty):
            storage_map[node.outputs[0]][0].fill(0)  # uninitialized memory is not a result
            return
        computed = [
            (number, storage_map[variable][0])
            for number, variable in enumerate(node.outputs)
            if compute_map is None or compute_map[variable][0] or not getattr(thunk, "lazy", False)
        ]
        found = [(number, value, bad) for number, value in computed if (bad := self._find_bad(value)) is not None]
        if not found:
            return
        number, value, bad = found[0]
        inputs = [cell[0] for cell in thunk.inputs]
        if any(self._find_bad(one) is not None for one in inputs):
            return  # propagated, not produced here
        if isinstance(node.op, Scan) and self._compiled is not None:
            self._search_loop(node, inputs)
        gradient = isinstance(node.source, GradientLine)
        which = f"output {number} of " if len(node.outputs) > 1 else ""
        lines = [
            f"{self._describe(value, bad)} at index {_format_index(bad)} of {which}{node.op}, whose inputs have none.",
            f"The inputs there: {_describe_inputs(node, inputs, bad)}",
            f"The node belongs to the {'gradient of the line below' if gradient else 'forward computation'}.",
            error_report(None, node, thunk),
        ]
        raise _located_error("\n".join(lines))

    def _search_loop(self, node: Apply, inputs: list[Any]) -> None:
        """Run a loop with a step that looks for bad values."""
        assert self._compiled is not None
        op = node.op.with_step(node.op.inner_inputs, node.op.inner_outputs)
        step = self._compiled(op.inner_inputs, op.inner_outputs)
        steps_begun = 0

        def counting_step(*arguments: Any) -> Any:
            nonlocal steps_begun
            steps_begun += 1
            return step(*arguments)

        op.fn = counting_step
        try:
            op.perform(
                node,
                [np.array(one) if isinstance(one, np.ndarray) else one for one in inputs],
                [[None] for _ in node.outputs],
            )
        except NanFound as error:
            first, _, rest = str(error).partition("\n")
            of_gradient = " of a gradient, which runs backwards," if isinstance(node.source, GradientLine) else ""
            raise _located_error(
                f"{first}\nIn step {steps_begun - 1} (the first is 0) of the loop{of_gradient} {node.op}.\n{rest}"
            ) from None

    def _find_bad(self, value: Any) -> tuple[int, ...] | None:
        """Return the index of the first bad element in C order; None if there is none."""
        if not isinstance(value, (np.ndarray, np.generic, float, complex)):
            return None
        array = np.asarray(value)
        if array.dtype.kind not in "fc":
            return None
        bad = np.zeros(array.shape, bool)
        if self.nan:
            bad |= np.isnan(array)
        if self.inf:
            bad |= np.isinf(array)
        if not bad.any():
            return None
        return tuple(int(k) for k in np.unravel_index(int(bad.argmax()), bad.shape))

    @staticmethod
    def _describe(value: Any, index: tuple[int, ...]) -> str:
        return "The first NaN" if np.isnan(np.asarray(value)[index]) else "The first infinity"


def _located_error(text: str) -> NanFound:
    error = NanFound(text)
    error._names_node = error._located = True  # the text has the node already
    return error


def _format_index(index: tuple[int, ...]) -> str:
    return "()" if not index else str(index if len(index) > 1 else index[0])


def _describe_inputs(node: Apply, inputs: list[Any], index: tuple[int, ...]) -> str:
    """Describe the elements that an elementwise operation has read, or the range of other inputs."""
    parts = []
    for variable, one in zip(node.inputs, inputs, strict=True):
        if not isinstance(one, (np.ndarray, np.generic, int, float, complex)):
            continue
        array = np.asarray(one)
        if isinstance(node.op, Elemwise) and array.ndim == len(index):
            element = tuple(0 if n == 1 else k for n, k in zip(array.shape, index))
            text = f"{array[element]!s}"
        elif array.size == 1:
            text = f"{array.reshape(())[()]!s}"
        elif array.size and array.dtype.kind in "fiu":
            text = f"between {array.min()} and {array.max()}"
        else:
            text = f"of shape {array.shape}"
        parts.append(f"{describe(variable)} is {text}")
    return ", ".join(parts) or "none"
