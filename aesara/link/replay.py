"""Running a graph once more, node by node, to see what a call has computed on the way.

Native code has no intermediate values to show.  When a call of it has gone wrong, the reference machine repeats it on
copies of the same inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Variable
from aesara.link.originals import copied
from aesara.link.utils import StorageMap
from aesara.link.vm import VMLinker

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
    linker = VMLinker(allow_gc=False, callback=callback, spare_inputs=True).accept(fgraph)
    for variable in fgraph.inputs:
        cells[variable] = [copied(values[variable])]
    vm, *_ = linker.make_all(input_storage=[cells[v] for v in fgraph.inputs], storage_map=cells)
    with np.errstate(all="ignore"):
        vm()
