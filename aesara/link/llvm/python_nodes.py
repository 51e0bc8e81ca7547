"""Nodes that run in Python inside a native function: callbacks around `Op.perform`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.traversal import io_toposort
from aesara.link.utils import raise_with_op

__all__ = ["LateCallback", "make_callback"]

Callback = Callable[..., list[np.ndarray]]


class LateCallback:
    """A callback that is made when it is called first."""

    def __init__(self, make: Callable[[], Callback]) -> None:
        self._make = make
        self._callback: Callback | None = None

    def __call__(self, *windows: np.ndarray) -> list[np.ndarray]:
        if self._callback is None:
            self._callback = self._make()
        return self._callback(*windows)


def make_callback(node: Apply, leaves: Sequence[Variable]) -> Callback:
    """A function from the values of `leaves` to those of the node's outputs.

    What lies between the leaves and the node (slices, None, other values that are no tensors) is computed along.
    Operands are windows on memory that will be used again, so they are copied; results are contiguous arrays.
    """
    order = io_toposort(leaves, node.outputs)
    dtypes = [np.dtype(out.type.dtype) for out in node.outputs]

    def callback(*windows: np.ndarray) -> list[np.ndarray]:
        values: dict[Variable, Any] = {
            leaf: leaf.type.filter(np.array(window)) for leaf, window in zip(leaves, windows, strict=True)
        }
        for step in order:
            inputs = [v.data if isinstance(v, Constant) else values[v] for v in step.inputs]
            storage: list[list[Any]] = [[None] for _ in step.outputs]
            try:
                step.op.perform(step, inputs, storage)
            except Exception:
                raise_with_op(None, step, thunk=SimpleNamespace(inputs=[[value] for value in inputs]))
            for out, cell in zip(step.outputs, storage, strict=True):
                values[out] = cell[0]
        return [_contiguous(values[out], dtype) for out, dtype in zip(node.outputs, dtypes, strict=True)]

    return callback


def _contiguous(value: Any, dtype: np.dtype) -> np.ndarray:
    array = np.asarray(value)
    shape = array.shape
    return np.require(array, dtype=dtype, requirements=["C", "A"]).reshape(shape)
