"""Last values of loops that may end early."""

from __future__ import annotations

from collections.abc import Iterator

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
    """``states[depth:][-1]`` -> ``states[-1]``, for loops that may end early but take at least one step."""
    info, steps = node.op.info, known_integer(node.inputs[0])
    if not info.as_while or steps is None or steps < 1:
        return False
    replacements: dict[Variable, Variable] = {}
    for k, taps in enumerate(info.tap_array):
        if k < info.n_mit_mot:
            continue
        for later in _reads(fgraph, node.outputs[k], slice, -min(taps)):
            for last in _reads(fgraph, later.outputs[0], int, -1):
                with inherit_source(last):
                    replacements[last.outputs[0]] = last.op(node.outputs[k], *last.inputs[1:])
    return replacements or False


def _reads(fgraph: FunctionGraph, rows: Variable, kind: type, number: int) -> Iterator[Apply]:
    """Iterate over nodes that compute ``rows[number:]`` (kind `slice`) or ``rows[number]`` (kind `int`)."""
    for client, position in fgraph.clients[rows]:
        if not isinstance(client, Apply) or not isinstance(client.op, Subtensor) or position:
            continue
        index, *rest = client.op.idx_list or (None,)
        if isinstance(index, slice):
            fits = kind is slice and not rest and index.start is not None and index.stop is None and index.step is None
        else:
            fits = kind is int and index is not None
        if fits and known_integer(client.inputs[1]) == number:
            yield client
