"""Callbacks around `Op.perform`, for nodes that run in Python inside a native function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import empty_output
from aesara.graph.traversal import io_toposort
from aesara.ifelse import IfElse
from aesara.ir.generators import generator_of, words_of
from aesara.link.utils import raise_with_op

__all__ = ["LateCallback", "make_callback"]

Callback = Callable[..., list[np.ndarray]]


class LateCallback:
    """A callback that is created on its first call."""

    def __init__(self, make: Callable[[], Callback]) -> None:
        self._make = make
        self._callback: Callback | None = None

    def __call__(self, *windows: np.ndarray) -> list[np.ndarray]:
        if self._callback is None:
            self._callback = self._make()
        return self._callback(*windows)


def make_callback(node: Apply, leaves: Sequence[Variable]) -> Callback:
    """Return a function from the values of `leaves` to those of the node's outputs.

    Nodes between the leaves and the node (slices, None, other values that are not tensors) are computed as well.
    Operands are views of memory that will be reused, so they are copied; results are contiguous arrays.
    """
    states = [v for v in node.inputs if v.type.in_words]
    order = io_toposort(leaves, node.outputs)
    is_choice = any(isinstance(step.op, IfElse) for step in order)
    checks = [
        () if out.type.in_words else (out, np.dtype(out.type.dtype), out.type.shape, (None,) * out.type.ndim)
        for out in node.outputs
    ]

    def read(windows: tuple[np.ndarray, ...]) -> dict[Variable, Any]:
        return {
            leaf: generator_of(window) if leaf.type.in_words else leaf.type.filter(np.array(window))
            for leaf, window in zip(leaves, windows, strict=True)
        }

    def callback(*windows: np.ndarray) -> list[np.ndarray]:
        values = read(windows)
        for step in _needed_nodes(node, values) if is_choice else order:
            inputs = [v.data if isinstance(v, Constant) else values.get(v) for v in step.inputs]
            cells: list[list[Any]] = [[None] for _ in step.outputs]  # a separate list: `perform` may change its own
            try:
                step.op.perform(step, inputs, list(cells))
                if step is node:
                    before = iter([values[v] for v in states if v in values])
                    return [
                        _check_output(number, _content(cell), *one)
                        if one
                        else _words(_content(cell), next(before, None))
                        for number, (cell, one) in enumerate(zip(cells, checks, strict=True))
                    ]
            except Exception:
                original_values = read(windows)  # a node may have overwritten its inputs
                inputs = [original_values.get(variable, value) for variable, value in zip(step.inputs, inputs)]
                raise_with_op(None, step, thunk=SimpleNamespace(inputs=[[value] for value in inputs]))
            for out, cell in zip(step.outputs, cells, strict=True):
                values[out] = _content(cell)
        raise AssertionError("The node is the last one.")

    return callback


def _needed_nodes(last: Apply, values: Mapping[Variable, Any]) -> Iterator[Apply]:
    """Iterate over a node and its ancestors in order, without those that only untaken branches of `ifelse` need.

    `values` must have the results of all previous nodes when the next one is requested.
    """
    pending = [last]
    while pending:
        node = pending[-1]
        missing = [v.owner for v in _needed_inputs(node, values) if v.owner is not None and v not in values]
        if missing:
            pending.extend(missing)
        else:
            pending.pop()
            if node is last or node.outputs[0] not in values:  # the results of a step are known all at once
                yield node


def _needed_inputs(node: Apply, values: Mapping[Variable, Any]) -> Sequence[Variable]:
    """Return the inputs that a node needs, as far as known: those of an `ifelse` depend on its condition."""
    if not isinstance(node.op, IfElse):
        return node.inputs
    condition = node.inputs[0]
    if isinstance(condition, Constant):
        return node.op.branch_inputs(node, condition.data)
    return node.op.branch_inputs(node, values[condition]) if condition in values else [condition]


def _words(generator: Any, before: Any) -> np.ndarray:
    """Return the words of a generator, of the same kind as the previous one."""
    if before is not None and type(generator.bit_generator) is not type(before.bit_generator):
        raise TypeError(
            f"The next state of a generator must be of the same kind: got a {type(generator.bit_generator).__name__} "
            f"after a {type(before.bit_generator).__name__}."
        )
    return words_of(generator)


def _content(cell: list[Any]) -> Any:
    """Return the value that `perform` has stored; None if it has emptied the cell."""
    return cell[0] if cell else None


def _check_output(
    number: int,
    value: Any,
    out: Variable,
    dtype: np.dtype,
    shape: tuple[int | None, ...],
    any_lengths: tuple[None, ...],
) -> np.ndarray:
    """Return an output as native code needs it: contiguous, and of the output's type.

    `dtype` and `shape` are those of the type; the shape is `any_lengths` if none is known.
    """
    if type(value) is np.ndarray and value.dtype == dtype and value.flags.carray:
        if value.ndim == len(shape) and (shape == any_lengths or shape == value.shape):
            return value  # the common case
    if value is None:
        raise empty_output(number)
    array, kind = np.asarray(value), out.type
    known = zip(kind.shape, array.shape)
    if array.ndim != kind.ndim or any(n is not None and n != length for n, length in known):
        raise TypeError(
            f"Output {number} has the type {kind}, but `perform` has stored an array of shape {array.shape}."
        )
    if not np.can_cast(array.dtype, kind.dtype, "same_kind"):
        raise TypeError(
            f"Output {number} has the type {kind}, but `perform` has stored an array of dtype {array.dtype}."
        )
    plain = np.require(array, dtype=kind.dtype, requirements=["C", "A"])
    # No unnecessary views: compiled code detects when the array itself is resized.
    return plain if plain.shape == array.shape else plain.reshape(array.shape)
