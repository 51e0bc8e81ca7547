"""The last value of a loop that may end early, read from the buffer of its state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.source import inherit_source
from aesara.scan.op import Scan
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.indexing.subtensor_basic import Subtensor

__all__ = ["while_scan_merge_subtensor_last_element"]


@node_rewriter([Scan])
def while_scan_merge_subtensor_last_element(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Read the last value of a state, ``buffer[depth:][-1]``, as ``buffer[-1]``.

    The loop may end early, but is known to take a step, so that the last row of its buffer is that of a step.
    """
    info, steps = node.op.info, known_integer(node.inputs[0])
    if not info.as_while or steps is None or steps < 1:
        return False
    found: dict[Variable, Variable] = {}
    for k, taps in enumerate(info.tap_array):
        if k < info.n_mit_mot:
            continue
        for later in _reads(fgraph, node.outputs[k], slice, -min(taps)):
            for last in _reads(fgraph, later.outputs[0], int, -1):
                with inherit_source(last):
                    found[last.outputs[0]] = last.op(node.outputs[k], *last.inputs[1:])
    return found or False


def _reads(fgraph: FunctionGraph, rows: Any, kind: type, number: int) -> Iterator[Apply]:
    """The nodes that read ``rows[number]``, or ``rows[number:]`` and no other part if the kind is that of slices."""
    for client, place in fgraph.clients[rows]:
        if not isinstance(client, Apply) or not isinstance(client.op, Subtensor) or place:
            continue
        index, *rest = client.op.idx_list or (None,)
        if isinstance(index, slice):
            fits = kind is slice and not rest and index.start is not None and index.stop is None and index.step is None
        else:
            fits = kind is int and index is not None
        if fits and known_integer(client.inputs[1]) == number:
            yield client
