"""Calls that compiled code leaves to the reference machine: their indices choose nothing, and need not fit.

NumPy lets a mask of length 0 index a dimension of any length, and positions beside it be any.  Compiled code checks
that masks fit and that positions exist, and relies on it, so it fails for such a call before it has changed anything.
The reference machine then computes the whole call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.link.basic import InputCell
from aesara.link.guards import Held, UpdateGuard, store_together
from aesara.link.replay import can_be_repeated, failure_of
from aesara.lower.context import ErrorInfo, Exemption
from aesara.records import dataclass

__all__ = ["Answers"]


@dataclass(frozen=True)
class Answers:
    """Computes calls of a function by the reference machine.

    Attributes
    ----------
    graph
        Returns the graph that was compiled.
    inputs
        Its inputs, with their cells.
    n_outputs
        How many of its outputs are returned.
    updates
        For outputs that are new values of inputs, which ones.
    unpack_single
        Whether a single result is returned itself, and None if there is none.
    guards
        What a call takes that updates these inputs.
    """

    graph: Callable[[], FunctionGraph]
    inputs: Sequence[InputCell]
    n_outputs: int
    updates: dict[int, int]
    unpack_single: bool
    guards: Sequence[UpdateGuard]

    def may_differ(self, info: ErrorInfo, values: Sequence[int]) -> bool:
        """Return whether the reference may compute a value where a check has failed with these values.

        Operations of the user that may have run already run again only where the check is known to be too strict.
        """
        if info.exemption is Exemption.EMPTY_MASK:
            return values[1] == 0
        return info.exemption is Exemption.NO_ELEMENTS and can_be_repeated(self.graph())

    def of(self, arguments: Sequence[Any]) -> Any:
        """The answer of a call with these arguments, after updates; raises what the reference raises."""
        graph = self.graph()
        with Held(self.guards):  # a call that updates holds them already
            explicit = iter(arguments)
            cells = [one.cell if one.implicit else [next(explicit)] for one in self.inputs]
            values = list(map(itemgetter(0), cells))  # one call, so that they belong together
            run = failure_of(graph, dict(zip(graph.inputs, values, strict=True)))
            if run.error is not None:
                raise run.error
            results = [_own(run.cells[variable][0]) for variable in graph.outputs]
            store_together([self.inputs[k].cell for k in self.updates.values()], [results[k] for k in self.updates])
        returned = results[: self.n_outputs]
        if self.unpack_single and len(returned) < 2:
            return returned[0] if returned else None
        return returned


def _own(value: Any) -> Any:
    """A result as compiled code makes it: an array in C order that shares memory with nothing else."""
    return np.array(value, order="C") if isinstance(value, (np.ndarray, np.generic)) else value
