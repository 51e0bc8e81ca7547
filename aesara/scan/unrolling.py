"""Unrolling of short loops over scalars.

The steps of an unrolled loop are fused with each other and with surrounding operations. Loops over vectors are not
unrolled: they are vectorized along the elements of a step, whereas an unrolled loop would be computed element by
element, with a chain of dependent operations for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.cloning import clone_replace
from aesara.graph.fg import FunctionGraph
from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.source import inherit_source
from aesara.graph.traversal import io_toposort, walk
from aesara.scan.arguments import ScanArgs
from aesara.scan.op import Scan
from aesara.scan.parts import expansion_of, is_for_each_step, with_known_rows
from aesara.scan.row_counts import first_rows
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.joining.join_split import join, stack

__all__ = ["unroll_scan"]

#: maximum number of nodes of all steps; an unrolled loop with more takes longer to compile and to run
_NODES = 32


@node_rewriter([Scan])
def unroll_scan(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Unroll a short loop over scalars with a known number of steps.

    Loops that may end early, loops without states, and loops with a mode or profile are not unrolled.
    """
    op, steps = node.op, known_integer(node.inputs[0])
    if steps is None or steps < 1 or op.info.as_while or op.info.n_mit_mot or op.mode is not None or op.profile:
        return False
    if steps * _count_nodes(op) > _NODES:
        return False
    args = ScanArgs.from_node(node)
    if not _is_of_numbers(args):
        return False
    firsts = _first_rows(args)
    if firsts is None or _leads_to_loops(fgraph, node) or any(known_integer(n) != steps for n in args.outer_in_nit_sot):
        return False
    with inherit_source(node):
        return _unroll(args, firsts, steps)


def _is_of_numbers(args: ScanArgs) -> bool:
    """Return whether all states, entries of sequences and results of a loop are scalars or generators."""
    states = [*(v for taps in args.inner_in_mit_sot for v in taps), *args.inner_in_sit_sot]
    return bool(states) and not any(v.type.ndim for v in (*states, *args.inner_in_seqs, *args.inner_out_nit_sot))


def _leads_to_loops(fgraph: FunctionGraph, node: Apply) -> bool:
    """Return whether another loop depends on this one, such as that of its gradient; then its rows are
    vectors anyway.
    """
    clients = walk([node], lambda n: [c for out in n.outputs for c, _ in fgraph.clients[out] if isinstance(c, Apply)])
    return any(isinstance(client.op, Scan) for client in clients if client is not node)


def _count_nodes(op: Any) -> int:
    """Return the number of nodes of a step, including those of inner graphs."""
    nodes = io_toposort(op.inner_inputs, op.inner_outputs)
    return sum(1 + _count_nodes(n.op) if isinstance(n.op, HasInnerGraph) else 1 for n in nodes)


def _first_rows(args: ScanArgs) -> list[Any] | None:
    """Return the first rows of each state, or None if a buffer has other rows than these and one for each step."""
    result = []
    buffers = [*args.outer_in_mit_sot, *args.outer_in_sit_sot]
    for buffer, taps in zip(buffers, [*args.mit_sot_in_slices, *args.sit_sot_in_slices], strict=True):
        expansion, depth = expansion_of(buffer), -min(taps)
        if expansion is None or not is_for_each_step(expansion[1], depth, args.n_steps):
            return None
        first = with_known_rows(expansion[0])
        if first.type.shape[0] != depth:
            return None
        result.append(first)
    return result


def _unroll(args: ScanArgs, firsts: Sequence[Any], steps: int) -> dict[Variable, Variable]:
    taps = [*args.mit_sot_in_slices, *args.sit_sot_in_slices]
    inner = [*args.inner_in_mit_sot, *([v] for v in args.inner_in_sit_sot)]
    sequences = [first_rows(rows, args.n_steps) for rows in args.outer_in_seqs]
    states: list[list[Any]] = [[first[k] for k in range(-min(t))] for first, t in zip(firsts, taps, strict=True)]
    results: list[list[Any]] = [[] for _ in args.inner_out_nit_sot]
    shared = list(args.outer_in_shared)
    new_values = [*args.inner_out_mit_sot, *args.inner_out_sit_sot, *args.inner_out_nit_sot, *args.inner_out_shared]
    for t in range(steps):
        replacements = dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs, strict=True))
        replacements.update((v, rows[t]) for v, rows in zip(args.inner_in_seqs, sequences, strict=True))
        replacements.update(zip(args.inner_in_shared, shared, strict=True))
        for variables, rows, state_taps in zip(inner, states, taps, strict=True):
            depth = -min(state_taps)
            replacements.update((v, rows[t + depth + tap]) for v, tap in zip(variables, state_taps, strict=True))
        new_outputs = clone_replace(new_values, replacements)
        for k, rows in enumerate(states):
            rows.append(new_outputs[k])
        for k, rows in enumerate(results, len(states)):
            rows.append(new_outputs[k])
        shared = new_outputs[len(states) + len(results) :]
    outputs = [join(0, first, stack(rows[-min(t) :])) for first, t, rows in zip(firsts, taps, states, strict=True)]
    outputs += [*map(stack, results), *shared]
    old_outputs = [*args.outer_out_mit_sot, *args.outer_out_sit_sot, *args.outer_out_nit_sot, *args.outer_out_shared]
    return {old: old.type.filter_variable(new) for old, new in zip(old_outputs, outputs, strict=True)}
