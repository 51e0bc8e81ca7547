"""Repetition of a call on the reference machine, node by node, to find intermediate values.

Native code keeps no intermediate values. When a call has failed, it is repeated on copies of the same inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aesara.graph.container import StorageMap
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Variable
from aesara.link.originals import copy_value
from aesara.link.vm import VMLinker

__all__ = ["Failure", "can_be_repeated", "failure_of", "replay"]

_PACKAGE = __name__.partition(".")[0]
#: ops whose `perform` has visible side effects
_VISIBLE = frozenset(("FromFunctionOp", "PdbBreakpoint", "Print"))


def can_be_repeated(fgraph: FunctionGraph) -> bool:
    """Return whether computing the graph again has no visible effect: no op is the user's own, or prints."""
    for node in fgraph.apply_nodes:
        cls = type(node.op)
        if cls.__module__.partition(".")[0] != _PACKAGE or cls.__name__ in _VISIBLE:
            return False
    return True


def replay(
    fgraph: FunctionGraph, values: Mapping[Variable, Any], callback: Callable[..., Any] | None = None
) -> StorageMap:
    """Compute a graph on the reference machine without changing the values or shared variables.

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
    """Failure of a graph on the reference machine.

    Attributes
    ----------
    error
        The exception, or None.
    cells
        The cells of all variables; those that were not computed are empty.
    """

    def __init__(self, error: Exception | None, cells: StorageMap) -> None:
        self.error = error
        self.cells = cells

    @property
    def details(self) -> str | None:
        """Description of the failed node, as added to the exception."""
        return getattr(self.error, "_details", None)


def failure_of(fgraph: FunctionGraph, values: Mapping[Variable, Any]) -> Failure:
    """Compute a graph as `replay`, and return the failure instead of raising it."""
    cells: StorageMap = {}
    try:
        _run(fgraph, values, None, cells)
    except Exception as error:
        return Failure(error, cells)
    return Failure(None, cells)


def _run(fgraph: FunctionGraph, values: Mapping[Variable, Any], callback: Any, cells: StorageMap) -> None:
    linker = VMLinker(allow_gc=False, callback=callback, spare_inputs=True).accept(fgraph)
    for variable in fgraph.inputs:
        cells[variable] = [copy_value(values[variable])]
    vm, *_ = linker.make_all(input_storage=[cells[v] for v in fgraph.inputs], storage_map=cells)
    with np.errstate(all="ignore"):
        vm()
