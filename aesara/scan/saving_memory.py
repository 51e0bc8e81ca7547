"""Buffers with only as many rows as are read."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.source import inherit_source
from aesara.records import dataclass
from aesara.scalar.casting import Cast
from aesara.scalar.types import int64 as scalar_int64
from aesara.scalar.var import ScalarConstant
from aesara.scan.editing import loops_of
from aesara.scan.op import Scan
from aesara.scan.parts import expansion_of, is_for_each_step, with_rows
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.scalar_conversion import ScalarFromTensor
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, lt, maximum, minimum, mul, neg, sub, switch
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.shapes.shape import Shape_i

__all__ = ["SaveMemory", "reads_of_last_rows", "reshape_output_storage", "save_mem_new_scan"]


class SaveMemory(GraphRewriter):
    """Shortens buffers of which only the last rows are read, such as ``states[-1]``, ``states[-3:]`` and
    ``states[-k:]``.

    A buffer with fewer rows than steps is a ring buffer; the loop returns its rows in order of time. Indices from the
    end then select the same rows, and are out of bounds in the same cases, as long as at least as many rows remain as
    there are first values.
    """

    def apply(self, fgraph: FunctionGraph) -> int:
        """Return the number of loops whose buffers were shortened."""
        return sum(_shorten(fgraph, node) for node in loops_of(fgraph))


@dataclass(frozen=True)
class _Reads:
    """Nodes that read an output from its end.

    Attributes
    ----------
    last
        Chains of nodes; the last node of each computes what is read.
    rows
        The number of rows from the end that each chain needs.
    starts
        Start indices that are known only at run time, with the number of rows that were dropped before.
    """

    last: list[list[Apply]]
    rows: list[int]
    starts: list[tuple[object, int]]


@node_rewriter([Scan])
def save_mem_new_scan(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Keep only the rows of states and outputs that are read or that following steps need."""
    return dict(_shorter_loop(fgraph, node)) or False


def _shorten(fgraph: FunctionGraph, node: Apply) -> bool:
    pairs = _shorter_loop(fgraph, node)
    if pairs:
        fgraph.replace_all_validate(pairs, reason="scan_save_mem")
    return bool(pairs)


def reshape_output_storage(out_storage: Any, steps_needed: Any, tap_spread: int) -> Variable | None:
    """Return a buffer built by `expand_empty` with another number of rows, or None for other buffers.

    Parameters
    ----------
    out_storage
        A buffer.
    steps_needed
        The number of rows after the first values.
    tap_spread
        The number of first values.
    """
    return None if expansion_of(out_storage) is None else with_rows(out_storage, add(steps_needed, tap_spread))


def _shorter_loop(fgraph: FunctionGraph, node: Apply) -> list[tuple[Variable, Variable]]:
    """Return replacements by a loop with shorter buffers: of unread outputs and of the variables that read others."""
    inputs, reads = list(node.inputs), {}
    for k, position, depth in _outputs_with_rows(node.op):
        is_unread = depth and not fgraph.clients[node.outputs[k]]
        output_reads = _Reads([], [], []) if is_unread else reads_of_last_rows(fgraph, node.outputs[k])
        if output_reads is None:
            continue
        shorter = _shorter(inputs[position], max([*output_reads.rows, depth + 1]), output_reads.starts, node)
        if shorter is not None:
            inputs[position], reads[k] = shorter, output_reads
    if not reads:
        return []
    with inherit_source(node):
        new_outputs = node.op(*inputs, return_list=True)
    pairs = [(old, new) for k, (old, new) in enumerate(zip(node.outputs, new_outputs)) if k not in reads]
    for k, output_reads in reads.items():
        pairs += [(chain[-1].outputs[0], _read_again(chain, new_outputs[k])) for chain in output_reads.last]
    return pairs


def _outputs_with_rows(op: Scan) -> list[tuple[int, int, int]]:
    """Return, for outputs with rows, their position, that of the input with their buffer or length, and their depth."""
    info = op.info
    states = [(k, -min(taps)) for k, taps in enumerate(info.tap_array) if k >= info.n_mit_mot]
    result = [(k, 1 + info.n_seqs + k, depth) for k, depth in states]
    first = info.n_mit_mot + info.n_mit_sot + info.n_sit_sot
    lengths = 1 + info.n_seqs + first + info.n_shared_outs
    return result + [(first + k, lengths + k, 0) for k in range(info.n_nit_sot)]


def reads_of_last_rows(fgraph: FunctionGraph, output: Variable) -> _Reads | None:
    """Return the reads of an output if all of them are relative to its end, else None."""
    chains: list[list[Apply]] = []
    rows, starts = list[int](), list[tuple[Any, int]]()
    pending: list[tuple[Variable, int, tuple[Apply, ...]]] = [(output, 0, ())]
    while pending:
        variable, dropped, chain = pending.pop()
        for client, _ in fgraph.clients[variable]:
            reads = _read_of(client)
            if reads is None or not isinstance(client, Apply):
                return None
            if isinstance(reads.start, Variable):
                chains.append([*chain, client])
                starts.append((reads.start, dropped))
            elif reads.start is not None and reads.start >= 0:
                pending.append((client.outputs[0], dropped + reads.start, (*chain, client)))
            else:
                chains.append([*chain, client])
                rows.append(dropped - (reads.start or 0))
    return _Reads(chains, rows, starts) if chains else None


@dataclass(frozen=True)
class _Read:
    """A read of an output from row `start` on, or of row `start` from the end, or of its shape (None)."""

    start: Any


def _read_of(client: Any) -> _Read | None:
    """Return the read of the first input of a node, or None if the node reads it in another way."""
    if not isinstance(client, Apply):
        return None
    if isinstance(client.op, Shape_i) and client.op.i > 0:
        return _Read(None)
    if not isinstance(client.op, Subtensor) or not client.op.idx_list:
        return None
    index, scalars = client.op.idx_list[0], [_row_of(s) for s in client.inputs[1:]]
    if not isinstance(index, slice):
        index_from_end = _entry_from_end(client)
        if index_from_end is not None:
            return _Read(index_from_end)
        is_from_end = isinstance(scalars[0], Variable) or (scalars[0] is not None and scalars[0] < 0)
        return _Read(scalars[0]) if is_from_end else None
    if index.start is None or index.stop is not None or scalars[0] is None:
        return None
    step = 1 if index.step is None else scalars[1]
    if isinstance(step, Variable) or isinstance(scalars[0], Variable):
        return _Read(scalars[0]) if isinstance(step, int) and step > 0 else None
    is_read = step is not None and step > 0 and (step == 1 or scalars[0] < 0)
    return _Read(scalars[0]) if is_read else None


def _entry_from_end(client: Any) -> int | None:
    """Return the index from the end that a node reads if it is in the second half of a known length, else None."""
    length = client.inputs[0].type.shape[0]
    if isinstance(client.op.idx_list[0], slice) or not isinstance(client.inputs[1], Constant) or length is None:
        return None
    index = int(client.inputs[1].data)
    return index - length if length <= 2 * index < 2 * length else None


def _row_of(scalar: Variable) -> Any:
    """Return a constant row number, or a variable that is presumably negative; None for others."""
    if isinstance(scalar, Constant):
        return int(scalar.data)
    node = scalar.owner
    row: Any = scalar if node is None or not isinstance(node.op, ScalarFromTensor) else node.inputs[0]
    return cast(row, "int64") if _is_minus(row) else None


def _is_minus(row: Variable) -> bool:
    """Return whether a number is written as one that counts from the end: ``-k``, ``-1 - k`` or ``-2 * k``."""
    node = row.owner
    if node is None or not isinstance(node.op, Elemwise):
        return isinstance(row, Constant) and bool(row.data < 0)
    if isinstance(node.op.scalar_op, Cast):
        return _is_minus(node.inputs[0])
    if node.op == mul:
        return any(isinstance(v, Constant) and _is_minus(v) for v in node.inputs)
    return node.op == neg or (node.op == sub and _is_minus(node.inputs[0]))


def _number(scalar: Variable) -> int | None:
    return int(scalar.data) if isinstance(scalar, Constant) else None


def _shorter(buffer_or_length: Any, rows: int, starts: Sequence[tuple[Any, int]], node: Apply) -> Variable | None:
    """Return a buffer or length reduced to at most `rows` rows, or None if it has no more or is not that of a loop."""
    is_buffer = buffer_or_length.type.ndim > 0
    expansion = expansion_of(buffer_or_length) if is_buffer else None
    if expansion is None and (is_buffer or not is_for_each_step(buffer_or_length, 0, node.inputs[0])):
        return None
    length = buffer_or_length if expansion is None else expansion[1]
    known = _number(length)
    if is_at_most(length, rows):
        return None
    limit: Any = constant(rows, dtype="int64")
    if starts:
        if _is_reduced(length):
            return None
        # Indices from the beginning need all rows.
        counts = [switch(lt(start, 0), sub(drop, maximum(start, neg(length))), length) for start, drop in starts]
        limit = maximum(limit, functools.reduce(maximum, counts))
    shorter = minimum(length, limit) if known is None or starts else limit
    return with_rows(buffer_or_length, shorter) if is_buffer else shorter


def _is_reduced(length: Variable) -> bool:
    """Return whether a length was already reduced to a number that is known at run time."""
    node = length.owner
    return node is not None and node.op == minimum and any(_made_by(v, maximum) for v in node.inputs)


def _made_by(variable: Variable, op: Elemwise) -> bool:
    return variable.owner is not None and variable.owner.op == op


def is_at_most(length: Variable, rows: int) -> bool:
    """Return whether a length is known to be at most `rows`, for instance because it was reduced before."""
    known = _number(length)
    if known is not None:
        return known <= rows
    node = length.owner
    return node is not None and node.op == minimum and any(is_at_most(n, rows) for n in node.inputs)


def _read_again(chain: Sequence[Apply], variable: Variable) -> Variable:
    for client in chain:
        index = _entry_from_end(client) if isinstance(client.op, Subtensor) and client.op.idx_list else None
        with inherit_source(client):
            if index is None:
                variable = client.op(variable, *client.inputs[1:])
            else:
                op = Subtensor([scalar_int64, *client.op.idx_list[1:]])
                variable = op(variable, ScalarConstant(scalar_int64, index), *client.inputs[2:])
    return variable
