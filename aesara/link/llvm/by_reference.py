"""Calls that compiled code leaves to the reference machine, since NumPy allows invalid indices that select nothing.

NumPy lets a mask of length 0 index a dimension of any length, beside arbitrary positions. Compiled code checks masks
and positions, and relies on them, so it fails for such a call before it has changed anything. The reference machine
then computes the whole call.
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
from aesara.lower.errors import ErrorInfo, Exemption
from aesara.records import dataclass

__all__ = ["ReferenceAnswers"]


@dataclass(frozen=True)
class ReferenceAnswers:
    """Computes calls of a function by the reference machine.

    Attributes
    ----------
    graph
        Returns the compiled graph.
    inputs
        Its inputs, with their cells.
    n_outputs
        Number of outputs that are returned.
    updates
        Number of an output -> number of the input that it updates.
    unpack_single
        Whether a single result is returned itself, and None without results.
    guards
        Guards of the updated inputs.
    """

    graph: Callable[[], FunctionGraph]
    inputs: Sequence[InputCell]
    n_outputs: int
    updates: dict[int, int]
    unpack_single: bool
    guards: Sequence[UpdateGuard]

    def may_differ(self, info: ErrorInfo, values: Sequence[int]) -> bool:
        """Return whether the reference may succeed although a check has failed with these values.

        User-defined operations are repeated only if the check is known to be too strict.
        """
        if info.exemption is Exemption.EMPTY_MASK:
            return values[1] == 0
        return info.exemption is Exemption.NO_ELEMENTS and can_be_repeated(self.graph())

    def of(self, arguments: Sequence[Any]) -> Any:
        """Return the result of a call after updates; raise the exceptions of the reference."""
        graph = self.graph()
        with Held(self.guards):  # an updating call holds them already
            explicit = iter(arguments)
            cells = [one.cell if one.implicit else [next(explicit)] for one in self.inputs]
            values = list(map(itemgetter(0), cells))  # one call, so that they are consistent
            run = failure_of(graph, dict(zip(graph.inputs, values, strict=True)))
            if run.error is not None:
                raise run.error
            results = [_as_own_array(run.cells[variable][0]) for variable in graph.outputs]
            store_together([self.inputs[k].cell for k in self.updates.values()], [results[k] for k in self.updates])
        returned = results[: self.n_outputs]
        if self.unpack_single and len(returned) < 2:
            return returned[0] if returned else None
        return returned


def _as_own_array(value: Any) -> Any:
    """Return a result as compiled code returns it: an array in C order that shares no memory."""
    return np.array(value, order="C") if isinstance(value, (np.ndarray, np.generic)) else value
