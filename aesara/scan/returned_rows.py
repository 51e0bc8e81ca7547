"""Results of functions that are states of all steps.

The buffer of a state begins with the first values, so that returning ``buffer[1:]`` copies all rows. Instead, the new
values become an output of the loop, with memory of their own, and the buffer keeps only the last rows.
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
    """``states[depth:]`` -> an output of the loop, if a graph returns these rows and reads no others."""
    args = ScanArgs.from_node(node)
    if args.as_while or args.n_mit_mot:
        return False
    buffers = [*args.outer_in_mit_sot, *args.outer_in_sit_sot]
    outputs = [*args.outer_out_mit_sot, *args.outer_out_sit_sot]
    depths = [-min(taps) for taps in (*args.mit_sot_in_slices, *args.sit_sot_in_slices)]
    new_values = [*args.inner_out_mit_sot, *args.inner_out_sit_sot]
    returned: list[tuple[Variable, list[Any]]] = []
    for buffer, output, depth, new in zip(buffers, outputs, depths, new_values, strict=True):
        reads = _reads_of_steps(fgraph, output, depth)
        if reads and is_exact(buffer, depth, args.n_steps) and any(map(fgraph.outputs.__contains__, reads)):
            returned.append((new, reads))
    if not returned:
        return False
    new_node, replacements = add_nitsot_outputs(fgraph, node, args, [new for new, _ in returned])
    results = new_node.op.outer_nitsot_outs(new_node.outputs)[-len(returned) :]
    for (_, reads), result in zip(returned, results, strict=True):
        replacements.update((old, old.type.filter_variable(result)) for old in reads)
    return replacements


def _reads_of_steps(fgraph: FunctionGraph, output: Variable, depth: int) -> list[Any] | None:
    """Return the variables ``output[depth:]``, or None if anything else is read."""
    result = []
    for client, _ in fgraph.clients[output]:
        if not isinstance(client, Apply) or not isinstance(client.op, Subtensor) or len(client.op.idx_list) != 1:
            return None
        (index,) = client.op.idx_list
        if not isinstance(index, slice) or index.start is None or index.stop is not None or index.step is not None:
            return None
        if known_integer(client.inputs[1]) != depth:
            return None
        result.append(client.outputs[0])
    return result
