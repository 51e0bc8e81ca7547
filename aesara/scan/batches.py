"""Loops for batches: one loop, whose step works on all members."""

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
    """States are batches, and so are results that depend on one."""
    if op.info.n_mit_mot:
        free = [stand_in(v) for v in node.inputs]
        found: Sequence[Variable] = vectorize_graph(with_rows_as_states(op, free), dict(zip(free, inputs)))
        return found
    numbers = batches(node, inputs)
    lengths = op.outer_nitsot(range(len(inputs)))
    if op.info.n_shared_outs or any(numbers[k] for k in (0, *lengths)):
        return vectorize_by_blockwise(op, node, *inputs)
    made = _BatchedLoop(op, node, inputs).outputs()
    return vectorize_by_blockwise(op, node, *inputs) if made is None else made


class _BatchedLoop:
    def __init__(self, op: Scan, node: Apply, inputs: Sequence[Any]) -> None:
        self.op, self.node, self.inputs = op, node, inputs
        self.rank = most_batches(node, inputs)
        self.numbers = batches(node, inputs)
        self.sizes = batch_sizes(inputs, self.numbers)
        self.replace: dict[Variable, Variable] = {}
        self.parts = LoopParts(inputs[0])

    def _rows(self, outer: Any, number: int) -> Variable:
        """Batch dimensions behind the dimension of the steps."""
        return move_dimensions(align(outer, number, self.rank), self.rank, 1, 0) if number else outer

    def _entry(self, inner: Any, rows: Any) -> Variable:
        self.replace[inner] = TensorType(rows.type.dtype, rows.type.shape[1:])()
        take_first_row(self.replace[inner], rows)
        return self.replace[inner]

    def outputs(self) -> Sequence[Variable] | None:
        op, parts = self.op, self.parts
        first = 1 + op.info.n_seqs
        for k, inner in enumerate(op.inner_seqs(op.inner_inputs), 1):
            rows = self._rows(self.inputs[k], self.numbers[k])
            parts.sequences.append((rows, self._entry(inner, rows)))
        start = len(self.inputs) - op.info.n_non_seqs
        for k, inner in enumerate(op.inner_non_seqs(op.inner_inputs), start):
            self.replace[inner] = stand_in(self.inputs[k])
            parts.constants.append((self.inputs[k], self.replace[inner]))
        taps = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
        buffers = []
        for k, variables in enumerate(taps, first):
            whole = broadcast_batch(self.inputs[k], self.numbers[k], self.sizes)
            buffers.append(move_dimensions(whole, self.rank, 1, 0))
            for variable in variables:
                self._entry(variable, buffers[-1])
        sizes = [self._size(n) for n in self.sizes]
        made = vectorize_graph(op.inner_outputs, self.replace)
        for k, (buffer, variables) in enumerate(zip(buffers, taps)):
            new = broadcast_batch(made[k], batch_ndim(made[k], op.inner_outputs[k]), sizes)
            inner = tuple(self.replace[v] for v in variables)
            parts.states.append(State(buffer, op.info.tap_array[k], inner, new))
        results = made[len(taps) : len(taps) + op.info.n_nit_sot]
        parts.results += results
        if op.info.as_while:
            parts.until = made[-1]
            if made[-1].type.ndim:
                return None  # members end at different steps
        loop = Scan(parts.inner_inputs(), parts.inner_outputs(), parts.info(), **op.options)
        of_state: Any
        of_result: Any
        of_state, of_result, _ = parts.split(loop(*parts.outer_inputs(), return_list=True))
        found = [move_dimensions(of_state[s], 0, 1, self.rank) for s in parts.states]
        for old, rows in zip(self.node.outputs[len(taps) :], of_result):
            found.append(move_dimensions(rows, 0, 1, rows.type.ndim - old.type.ndim))
        return found

    def _size(self, size: Any) -> Any:
        """A size of the batch inside of the step."""
        if isinstance(size, int):
            return size
        size = as_tensor_variable(size)
        inner = stand_in(size)
        self.parts.constants.append((size, inner))
        return inner
