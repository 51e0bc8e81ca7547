"""Running a graph once more, node by node, to see what a call has computed on the way.

Native code has no intermediate values to show.  When a call of it has gone wrong, the reference machine repeats it on
copies of the same inputs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.link.utils import StorageMap, Thunk
from aesara.link.vm import UpdatingVM, VMLinker

__all__ = ["Failure", "can_be_repeated", "failure_of", "replay"]

_PACKAGE = __name__.partition(".")[0]
#: their `perform` does something that can be seen from outside
_VISIBLE = frozenset(("FromFunctionOp", "PdbBreakpoint", "Print"))


def can_be_repeated(fgraph: FunctionGraph) -> bool:
    """Whether computing the graph again can be noticed by nobody: no operation is the user's own, or prints."""
    for node in fgraph.apply_nodes:
        cls = type(node.op)
        if cls.__module__.partition(".")[0] != _PACKAGE or cls.__name__ in _VISIBLE:
            return False
    return True


def replay(
    fgraph: FunctionGraph, values: Mapping[Variable, Any], callback: Callable[..., Any] | None = None
) -> StorageMap:
    """Compute a graph on the reference machine; neither the values nor any shared variable changes.

    Parameters
    ----------
    fgraph
        The graph.
    values
        A value for each of its inputs.
    callback
        Called after each node; see `VMLinker`.

    Returns
    -------
    The cells of all variables.
    """
    cells: StorageMap = {}
    _run(fgraph, values, callback, cells)
    return cells


class Failure:
    """How a graph fails on the reference machine.

    Attributes
    ----------
    error
        The exception, or None if all is well.
    cells
        The cells of all variables; those that were not computed are empty.
    """

    def __init__(self, error: Exception | None, cells: StorageMap) -> None:
        self.error = error
        self.cells = cells

    @property
    def details(self) -> str | None:
        """What the exception says of the node that has failed."""
        return getattr(self.error, "_details", None)


def failure_of(fgraph: FunctionGraph, values: Mapping[Variable, Any]) -> Failure:
    """Compute a graph like `replay`, and return what has failed instead of raising it."""
    cells: StorageMap = {}
    try:
        _run(fgraph, values, None, cells)
    except Exception as error:
        return Failure(error, cells)
    return Failure(None, cells)


def _run(fgraph: FunctionGraph, values: Mapping[Variable, Any], callback: Any, cells: StorageMap) -> None:
    linker = _SparingLinker(allow_gc=False, callback=callback).accept(fgraph)
    for variable in fgraph.inputs:
        cells[variable] = [_copy(values[variable])]
    vm, *_ = linker.make_all(input_storage=[cells[v] for v in fgraph.inputs], storage_map=cells)
    with np.errstate(all="ignore"):
        vm()


class _SparingLinker(VMLinker):
    """Runs operations that overwrite their inputs on copies of these, so that all values can be looked at."""

    def make_vm(self, nodes: Sequence[Apply], thunks: Sequence[Thunk], *args: Any, **kwargs: Any) -> UpdatingVM:
        spared = [_sparing(node, thunk) if node.op.destroy_map else thunk for node, thunk in zip(nodes, thunks)]
        return super().make_vm(nodes, spared, *args, **kwargs)


def _sparing(node: Apply, thunk: Any) -> Thunk:
    overwritten = sorted({k for positions in node.op.destroy_map.values() for k in positions})
    cells = [thunk.inputs[k] for k in overwritten]

    def run() -> Any:
        before = [cell[0] for cell in cells]
        for cell, value in zip(cells, before):
            cell[0] = _copy(value)
        try:
            return thunk()
        finally:
            for cell, value in zip(cells, before):
                cell[0] = value

    run.__dict__.update(thunk.__dict__)  # what it reads and writes, and whether it is lazy
    return run


def _copy(value: Any) -> Any:
    """A copy of a value, in the same memory layout."""
    return value.copy(order="K") if type(value) is np.ndarray else copy.deepcopy(value)
