"""What nodes have read, where they overwrite their inputs: for messages, and for whoever looks between nodes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Apply
from aesara.link.utils import Thunk, is_shown

__all__ = ["copied", "remembering", "sparing"]


def copied(value: Any) -> Any:
    """A copy that shares no memory with the value, in the same memory layout."""
    return value.copy(order="K") if type(value) is np.ndarray else copy.deepcopy(value)


def sparing(node: Apply, thunk: Any) -> Thunk:
    """A thunk that runs a node on copies of the inputs that it overwrites; these stay in their cells as they are."""

    def run() -> Any:
        before = [cell[0] for cell in cells]
        for cell, value in zip(cells, before):
            cell[0] = copied(value)
        try:
            return thunk()
        finally:
            for cell, value in zip(cells, before):
                cell[0] = value

    cells = _overwritten_cells(node, thunk)
    return _in_place_of(thunk, run) if cells else thunk


def remembering(node: Apply, thunk: Any) -> Thunk:
    """A thunk that runs a node in place; if it fails, its attribute ``inputs_before`` has cells with what it has read.

    Only values that a message shows are remembered: copies of a few numbers.
    """

    def run() -> Any:
        inputs_before.clear()
        high = config.exception_verbosity == "high"
        before = [_remembered(cell[0], high) for cell in cells]
        try:
            return thunk()
        except Exception:
            values = {id(cell): value for cell, value in zip(cells, before)}
            inputs_before.extend([values.get(id(cell), cell[0])] for cell in thunk.inputs)
            raise

    cells = _overwritten_cells(node, thunk)
    if not cells:
        return thunk
    inputs_before: list[list[Any]] = []
    thunk.inputs_before = inputs_before
    return _in_place_of(thunk, run)


def _overwritten_cells(node: Apply, thunk: Any) -> list[list[Any]]:
    positions = {k for inputs in (node.op.destroy_map or {}).values() for k in inputs}
    return list({id(thunk.inputs[k]): thunk.inputs[k] for k in positions}.values())


def _in_place_of(thunk: Any, run: Callable[[], Any]) -> Thunk:
    run.__dict__.update(thunk.__dict__)  # what it reads and writes, and whether it is lazy
    return run


def _remembered(value: Any, high: bool) -> Any:
    return copied(value) if type(value) is np.ndarray and is_shown(value, high) else value
