"""Vectorization of loops: one loop whose step computes all members of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import stand_in
from aesara.graph.vectorization import batch_ndim, vectorize_graph, vectorize_node
from aesara.scan.op import Scan
from aesara.scan.parts import LoopParts, State, take_first_row
from aesara.scan.windows import with_rows_as_states
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.vectorization.batches import (
    align,
    batch_sizes,
    batches,
    broadcast_batch,
    most_batches,
    move_dimensions,
)
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise


@vectorize_node.register(Scan)
def _scan(op: Scan, node: Apply, *inputs: Any) -> Apply | Sequence[Variable]:
    """Vectorize the step; states, and results that depend on batched inputs, get batch dimensions."""
    if op.info.n_mit_mot:
        stand_ins = [stand_in(v) for v in node.inputs]
        outputs: Sequence[Variable] = vectorize_graph(with_rows_as_states(op, stand_ins), dict(zip(stand_ins, inputs)))
        return outputs
    batch_ndims = batches(node, inputs)
    lengths = op.outer_nitsot(range(len(inputs)))
    if op.info.n_shared_outs or any(batch_ndims[k] for k in (0, *lengths)):
        return vectorize_by_blockwise(op, node, *inputs)
    result = _BatchedLoop(op, node, inputs).outputs()
    return vectorize_by_blockwise(op, node, *inputs) if result is None else result


class _BatchedLoop:
    def __init__(self, op: Scan, node: Apply, inputs: Sequence[Any]) -> None:
        self.op, self.node, self.inputs = op, node, inputs
        self.rank = most_batches(node, inputs)
        self.batch_ndims = batches(node, inputs)
        self.sizes = batch_sizes(inputs, self.batch_ndims)
        self.replacements: dict[Variable, Variable] = {}
        self.parts = LoopParts(inputs[0])

    def _rows(self, outer: Any, batch_ndim: int) -> Variable:
        """Move the dimension of the steps in front of the batch dimensions."""
        return move_dimensions(align(outer, batch_ndim, self.rank), self.rank, 1, 0) if batch_ndim else outer

    def _entry(self, inner: Any, rows: Any) -> Variable:
        self.replacements[inner] = TensorType(rows.type.dtype, rows.type.shape[1:])()
        take_first_row(self.replacements[inner], rows)
        return self.replacements[inner]

    def outputs(self) -> Sequence[Variable] | None:
        op, parts = self.op, self.parts
        first = 1 + op.info.n_seqs
        for k, inner in enumerate(op.inner_seqs(op.inner_inputs), 1):
            rows = self._rows(self.inputs[k], self.batch_ndims[k])
            parts.sequences.append((rows, self._entry(inner, rows)))
        start = len(self.inputs) - op.info.n_non_seqs
        for k, inner in enumerate(op.inner_non_seqs(op.inner_inputs), start):
            self.replacements[inner] = stand_in(self.inputs[k])
            parts.constants.append((self.inputs[k], self.replacements[inner]))
        taps = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
        buffers = []
        for k, variables in enumerate(taps, first):
            whole = broadcast_batch(self.inputs[k], self.batch_ndims[k], self.sizes)
            buffers.append(move_dimensions(whole, self.rank, 1, 0))
            for variable in variables:
                self._entry(variable, buffers[-1])
        sizes = [self._size(n) for n in self.sizes]
        new_outputs = vectorize_graph(op.inner_outputs, self.replacements)
        for k, (buffer, variables) in enumerate(zip(buffers, taps)):
            new = broadcast_batch(new_outputs[k], batch_ndim(new_outputs[k], op.inner_outputs[k]), sizes)
            inner = tuple(self.replacements[v] for v in variables)
            parts.states.append(State(buffer, op.info.tap_array[k], inner, new))
        results = new_outputs[len(taps) : len(taps) + op.info.n_nit_sot]
        parts.results += results
        if op.info.as_while:
            parts.until = new_outputs[-1]
            if new_outputs[-1].type.ndim:
                return None  # members may end at different steps
        loop = Scan(parts.inner_inputs(), parts.inner_outputs(), parts.info(), **op.options)
        of_state: Any
        of_result: Any
        of_state, of_result, _ = parts.split(loop(*parts.outer_inputs(), return_list=True))
        outputs = [move_dimensions(of_state[s], 0, 1, self.rank) for s in parts.states]
        for old, rows in zip(self.node.outputs[len(taps) :], of_result):
            outputs.append(move_dimensions(rows, 0, 1, rows.type.ndim - old.type.ndim))
        return outputs

    def _size(self, size: Variable) -> Variable:
        """Return a batch size as a variable of the step."""
        if isinstance(size, int):
            return size
        size = as_tensor_variable(size)
        inner = stand_in(size)
        self.parts.constants.append((size, inner))
        return inner
