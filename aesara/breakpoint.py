"""Breakpoints inside of compiled functions."""

from __future__ import annotations

import pdb
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph

__all__ = ["PdbBreakpoint"]


class PdbBreakpoint(Op):
    """Hands values on; where a condition holds, it stops in Python's debugger, in which they can be looked at.

    The values are ``monitored``, a list, in the debugger's frame; what is stored in it is what the function goes on
    with.

    Parameters
    ----------
    name
        What the debugger prints.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> from aesara.breakpoint import PdbBreakpoint
    >>> x, y = at.dscalars("x", "y")
    >>> stop = PdbBreakpoint("x is larger than y")
    >>> x_seen, y_seen = stop(at.gt(x, y), x, y)
    >>> aesara.function([x, y], x_seen + y_seen)(1.0, 2.0)
    array(3.)
    """

    __props__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def make_node(self, condition: Any, *monitored_vars: Any) -> Apply:
        condition = as_tensor_variable(condition)
        if condition.type.ndim:
            raise TypeError(f"PdbBreakpoint: the condition must be a single truth value, got {condition.type}.")
        if not monitored_vars:
            raise ValueError("PdbBreakpoint needs at least one variable to hand on.")
        values = [v if hasattr(v, "type") else as_tensor_variable(v) for v in monitored_vars]
        return Apply(self, [condition, *values], [v.type() for v in values])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list], params: object = None
    ) -> None:
        condition, *monitored = inputs
        monitored = [np.array(value) if isinstance(value, np.ndarray) else value for value in monitored]
        if condition:
            print(f"\n'{self.name}': a breakpoint. The values are in the list `monitored`:")
            for k, (variable, value) in enumerate(zip(node.inputs[1:], monitored)):
                print(f"  monitored[{k}] is {variable}: {type(value).__name__} of shape {np.shape(value)}")
            pdb.set_trace()
        for storage, value, out in zip(output_storage, monitored, node.outputs):
            storage[0] = out.type.filter(value)

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[object]) -> list[Any]:
        return list(input_shapes[1:])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        count = len(node.outputs)
        return [[False] * count, *[[k == o for o in range(count)] for k in range(count)]]

    def grad(self, inputs: Sequence[object], output_gradients: Sequence[object]) -> list[Any]:
        return [disconnected_type(), *output_gradients]
