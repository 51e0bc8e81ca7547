"""The gradient of a loop whose buffers have fewer rows than its steps write.

The gradient reads the states of all steps, so the loop runs again and keeps them. If it may end early, a first run
counts its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.cloning import clone_replace
from aesara.graph.nodes import Variable
from aesara.graph.pullback import is_disconnected, pull_back
from aesara.graph.support import FULL, Support
from aesara.scan.continuity import gradients_in_order, is_continuous
from aesara.scan.parts import LoopParts, State, expand_empty, expansion_of, with_known_rows
from aesara.scan.row_counts import is_length
from aesara.scan.row_supports import support_of_rows
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import zeros_like
from aesara.tensor.elementwise.ops import add, ge, minimum, sub
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = ["keeps_few_rows", "parts_of_loop", "pull_back_with_all_rows", "with_check_of_rows"]


def keeps_few_rows(op: Any, inputs: Sequence[Any]) -> bool:
    """Return whether a state of a loop may have fewer rows than its steps write.

    Buffers with an unknown number of rows are assumed to be long enough; see `with_check_of_rows`.
    """
    buffers = zip(op.outer_mitsot(inputs) + op.outer_sitsot(inputs), op.info.tap_array)
    return any(not _is_unknown(buffer) and not _is_complete(buffer, -min(taps), inputs[0]) for buffer, taps in buffers)


def with_check_of_rows(op: Any, inputs: Sequence[Any], steps: Any) -> Any:
    """Return the number of steps, with a check that states with an unknown number of rows have one for each step."""
    for buffer, taps in zip(op.outer_mitsot(inputs) + op.outer_sitsot(inputs), op.info.tap_array):
        if _is_unknown(buffer):
            needed = add(inputs[0], constant(-min(taps), dtype="int64"))
            message = f"{op.title}: the gradient reads the states of all steps, but the loop keeps only the last ones."
            steps = CheckAndRaise(ValueError, message)(steps, ge(buffer.shape[0], needed))
    return steps


def _is_unknown(buffer: Any) -> bool:
    """Return whether the number of rows of a buffer is unknown."""
    return expansion_of(buffer) is None and buffer.type.shape[0] is None


def _is_complete(buffer: Any, depth: int, n_steps: Any) -> bool:
    """Return whether a buffer is known to have `depth` rows and one for each step."""
    expansion = expansion_of(buffer)
    if expansion is not None:
        return _has_all_rows(*expansion, n_steps)
    steps = known_integer(n_steps)
    return steps is not None and buffer.type.shape[0] >= depth + steps


def _has_all_rows(first: Any, length: Any, n_steps: Any) -> bool:
    """Return whether a buffer is known to have a row for each step after its first values."""
    depth, rows, steps = with_known_rows(first).type.shape[0], known_integer(length), known_integer(n_steps)
    if depth is not None and rows is not None and steps is not None:
        return rows >= depth + steps
    node = length.owner
    if node is None or node.op != add or len(node.inputs) != 2 or n_steps not in node.inputs:
        return False
    term = node.inputs[1] if node.inputs[0] is n_steps else node.inputs[0]
    return is_length(term, first)


def pull_back_with_all_rows(op: Any, inputs: Sequence[Any], gradients: Sequence[Any], read: Sequence[Any]) -> list[Any]:
    """Return the gradients of the inputs of a loop, given those of its outputs and the rows that are read."""
    return _Rerun(op, inputs, gradients, read).gradients()


def parts_of_loop(
    op: Any, steps: Any, seqs: Sequence[Any], buffers: Sequence[Any], shared: Sequence[Any], constants: Sequence[Any]
) -> LoopParts:
    """Return the parts of a loop with other inputs, a row for each step of each output, and no condition."""
    parts = LoopParts(steps)
    parts.sequences += zip(seqs, op.inner_seqs(op.inner_inputs))
    taps = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
    new = op.inner_mitsot_outs(op.inner_outputs) + op.inner_sitsot_outs(op.inner_outputs)
    for buffer, state_taps, inner, new_value in zip(buffers, op.info.tap_array, taps, new, strict=True):
        parts.states.append(State(buffer, state_taps, tuple(inner), new_value))
    inner_shared, new_shared = op.inner_shared(op.inner_inputs), op.inner_shared_outs(op.inner_outputs)
    parts.shared += zip(shared, inner_shared, new_shared, strict=True)
    parts.results += op.inner_nitsot_outs(op.inner_outputs)
    parts.constants += zip(constants, op.inner_non_seqs(op.inner_inputs), strict=True)
    return parts


class _Rerun:
    def __init__(self, op: Any, inputs: Sequence[Any], gradients: Sequence[Any], read: Sequence[Any]) -> None:
        self.op, self.inputs, self.cotangents, self.read = op, inputs, gradients, read
        self.depths = [-min(taps) for taps in op.info.tap_array]
        self.buffers = op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
        self.steps = self._count_steps() if op.info.as_while else inputs[0]
        # New variables, so that dependencies between the inputs are not differentiated here.
        self.seqs = [v.type() for v in op.outer_seqs(inputs)]
        self.firsts = [TensorType(v.type.dtype, (d, *v.type.shape[1:]))() for v, d in zip(self.buffers, self.depths)]
        self.constants = [v.type() for v in op.outer_non_seqs(inputs)]

    def _parts(self, steps: Any, seqs: Sequence[Any], buffers: Sequence[Any], constants: Sequence[Any]) -> LoopParts:
        """Return the parts of the loop with other inputs, without its condition."""
        return parts_of_loop(self.op, steps, seqs, buffers, self.op.outer_shared(self.inputs), constants)

    def _count_steps(self) -> Any:
        """Return the number of steps of a loop that may end early, by a loop that computes only its condition."""
        op, inputs = self.op, self.inputs
        parts = self._parts(inputs[0], op.outer_seqs(inputs), self.buffers, op.outer_non_seqs(inputs))
        parts.results, parts.until = [], op.inner_outputs[-1]
        unit, count = constant(1, dtype="int64"), TensorType("int64", ())()
        counter = State(constant([0], dtype="int64"), (-1,), (count,), add(count, unit))
        parts.states.append(counter)
        outputs = op.of_parts(parts, name=f"steps_of_{op.name or 'scan_fn'}", mode=op.mode)
        return getitem(parts.split(outputs)[0][counter], -1)

    def gradients(self) -> list[Any]:
        op = self.op
        buffers = [expand_empty(first, self.steps) for first in self.firsts]
        parts = self._parts(self.steps, self.seqs, buffers, self.constants)
        outputs = op.of_parts(parts, **op.options)
        lengths = [sizes_of(buffer)[0] for buffer in self.buffers] + op.outer_nitsot(self.inputs)
        seeds: dict[Variable, Any] = {}
        supports: dict[Variable, Support] = {}
        depths = [*self.depths, *[0] * op.info.n_nit_sot]
        for rows, length, depth, cotangent, read in zip(outputs, lengths, depths, self.cotangents, self.read):
            if is_disconnected(cotangent) or not is_continuous(rows):
                continue
            if known_integer(length) == depth > 0:  # the number of rows does not depend on the number of steps
                part, seed = rows[-depth:], cotangent
            else:
                written = add(self.steps, constant(depth, dtype="int64"))
                count = minimum(length, written)
                part, seed = rows[sub(written, count) :], cotangent[:count]
                read = None if read is None else read[:count]
            seeds[part] = seed
            supports[part] = FULL if read is None else support_of_rows(read, part.type.ndim)
        wrt = [v for v in [*self.seqs, *self.firsts, *self.constants] if is_continuous(v)]
        gradients = {v: g for v, g in zip(wrt, pull_back(seeds, wrt, supports=supports)) if not is_disconnected(g)}
        return self._gradients_of_inputs(gradients)

    def _gradients_of_inputs(self, gradients: dict[Variable, Any]) -> list[Any]:
        op, inputs = self.op, self.inputs
        actual_inputs = {
            **dict(zip(self.seqs, op.outer_seqs(inputs))),
            **{first: _first_rows(v, d) for first, v, d in zip(self.firsts, self.buffers, self.depths)},
            **dict(zip(self.constants, op.outer_non_seqs(inputs))),
        }
        gradients = dict(zip(gradients, clone_replace(list(gradients.values()), actual_inputs)))
        totals = [gradients.get(first) for first in self.firsts]
        of_buffers = [
            self._gradient_of_buffer(buffer, depth, total, cotangent)
            for buffer, depth, total, cotangent in zip(self.buffers, self.depths, totals, self.cotangents)
        ]
        of_seqs, of_constants = [gradients.get(v) for v in self.seqs], [gradients.get(v) for v in self.constants]
        return gradients_in_order(op, inputs, of_seqs, of_buffers, of_constants)

    def _gradient_of_buffer(self, buffer: Any, depth: int, of_first: Any, cotangent: Any) -> Any:
        """Return the gradient of a buffer: that of its first rows, and cotangents of rows that no step writes."""
        if of_first is None:
            return None
        total = set_subtensor(zeros_like(buffer)[:depth], of_first)
        if self.op.info.as_while or is_disconnected(cotangent) or expansion_of(buffer) is not None:
            return total
        unwritten = add(self.steps, constant(depth, dtype="int64"))
        return set_subtensor(total[unwritten:], cotangent[unwritten:])


def _first_rows(buffer: Any, depth: int) -> Any:
    return specify_shape(buffer[:depth], (depth, *buffer.type.shape[1:]))
