"""Original values of inputs that nodes overwrite, for error messages and callbacks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Apply
from aesara.graph.op import is_thunk_type
from aesara.link.utils import Thunk, is_shown

__all__ = ["copy_value", "keep_inputs_on_failure", "run_on_copies"]


def copy_value(value: Any) -> Any:
    """Return a copy with the same memory layout that shares no memory with the value."""
    return value.copy(order="K") if type(value) is np.ndarray else copy.deepcopy(value)


def run_on_copies(node: Apply, thunk: Any) -> Thunk:
    """Return a thunk that runs a node on copies of the inputs that it overwrites."""

    def run() -> Any:
        before = [cell[0] for cell in cells]
        for cell, value in zip(cells, before):
            cell[0] = copy_value(value)
        try:
            return thunk()
        finally:
            for cell, value in zip(cells, before):
                cell[0] = value

    cells = _overwritten_cells(node, thunk)
    return _with_attributes_of(thunk, run) if cells else thunk


def keep_inputs_on_failure(node: Apply, thunk: Any) -> Thunk:
    """Return a thunk that runs a node in place and, if it fails, has its inputs' old values in ``inputs_before``.

    Only values that a message shows are copied: a few numbers.
    """

    def run() -> Any:
        inputs_before.clear()
        high = config.exception_verbosity == "high"
        before = [_copy_if_shown(cell[0], high) for cell in cells]
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
    return _with_attributes_of(thunk, run)


def _overwritten_cells(node: Apply, thunk: Any) -> list[list[Any]]:
    positions = {k for inputs in (node.op.destroy_map or {}).values() for k in inputs}
    return list({id(thunk.inputs[k]): thunk.inputs[k] for k in positions}.values())


def _with_attributes_of(thunk: Thunk, run: Callable[[], object]) -> Thunk:
    vars(run).update(vars(thunk))  # inputs, outputs, and whether it is lazy
    return is_thunk_type(run)


def _copy_if_shown(value: Any, high: bool) -> Any:
    return copy_value(value) if type(value) is np.ndarray and is_shown(value, high) else value
