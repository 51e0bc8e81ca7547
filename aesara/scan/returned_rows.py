"""States of all steps that a function returns are results of the loop, written where they are returned.

The buffer of a state begins with its first values, which are no part of what is returned: ``buffer[1:]`` would be a
copy of all rows.  As a result of the loop the rows are in memory of their own, and the buffer keeps the last ones only.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.scan.arguments import ScanArgs
from aesara.scan.op import Scan
from aesara.scan.parts import is_exact
from aesara.scan.push_out import add_nitsot_outputs
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.indexing.subtensor_basic import Subtensor

__all__ = ["return_rows_as_results"]


@node_rewriter([Scan])
def return_rows_as_results(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Make results of the states of which a graph returns all rows but the first values, and reads no others."""
    args = ScanArgs.from_node(node)
    if args.as_while or args.n_mit_mot:
        return False
    buffers = [*args.outer_in_mit_sot, *args.outer_in_sit_sot]
    outputs = [*args.outer_out_mit_sot, *args.outer_out_sit_sot]
    depths = [-min(taps) for taps in (*args.mit_sot_in_slices, *args.sit_sot_in_slices)]
    news = [*args.inner_out_mit_sot, *args.inner_out_sit_sot]
    found: list[tuple[Variable, list[Any]]] = []
    for buffer, output, depth, new in zip(buffers, outputs, depths, news, strict=True):
        reads = _reads_of_steps(fgraph, output, depth)
        if reads and is_exact(buffer, depth, args.n_steps) and any(map(fgraph.outputs.__contains__, reads)):
            found.append((new, reads))
    if not found:
        return False
    made, replaced = add_nitsot_outputs(fgraph, node, args, [new for new, _ in found])
    results = made.op.outer_nitsot_outs(made.outputs)[-len(found) :]
    for (_, reads), result in zip(found, results, strict=True):
        replaced.update((old, old.type.filter_variable(result)) for old in reads)
    return replaced


def _reads_of_steps(fgraph: FunctionGraph, output: Variable, depth: int) -> list[Any] | None:
    """The variables that are all rows but the first `depth`; None if anything else is read."""
    found = []
    for client, _ in fgraph.clients[output]:
        if not isinstance(client, Apply) or not isinstance(client.op, Subtensor) or len(client.op.idx_list) != 1:
            return None
        (index,) = client.op.idx_list
        if not isinstance(index, slice) or index.start is None or index.stop is not None or index.step is not None:
            return None
        if known_integer(client.inputs[1]) != depth:
            return None
        found.append(client.outputs[0])
    return found
