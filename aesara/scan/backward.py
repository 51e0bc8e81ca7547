"""The gradient of a loop: a loop over the steps in reverse order.

Each step pulls the cotangents of the outputs of one step back to the inputs of that step. A cotangent of a former value
of a state is carried to the step that computed this value. Cotangents of non-sequences are summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.nodes import Variable
from aesara.graph.pullback import (
    NullTypeGradError,
    grad_not_implemented,
    is_disconnected,
    is_null,
    pulled_cotangents,
)
from aesara.graph.support import FULL, Support, Supported, union
from aesara.graph.traversal import ancestors, graph_inputs
from aesara.records import dataclass
from aesara.scan.continuity import (
    SHARED_STATE,
    gradients_in_order,
    is_continuous,
    is_sparse,
    shares_continuous_state,
)
from aesara.scan.keeping_few import (
    keeps_few_rows,
    parts_of_loop,
    pull_back_with_all_rows,
    with_check_of_rows,
)
from aesara.scan.last_cotangents import is_zero_before, rows_from, split_last_rows
from aesara.scan.parts import (
    LoopParts,
    State,
    expand_empty,
    expansion_of,
    is_exact,
    is_for_each_step,
    take_first_row,
    take_test_value,
)
from aesara.scan.recomputing import pull_back_in_blocks, wants_blocks
from aesara.scan.row_supports import is_any, row_support, rows_of_support, support_of_rows
from aesara.scan.windows import pull_back_by_rows
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import alloc, zeros_like
from aesara.tensor.elementwise.ops import add, lt, maximum, minimum, or_, switch
from aesara.tensor.indexing.inc_subtensor import inc_subtensor, set_subtensor
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.specify_shape import SpecifyShape

__all__ = ["pull_back_loop"]


@dataclass(eq=False)
class _PendingCotangents:
    """Cotangents of former values of one output; row j belongs to the value of j steps before.

    If only the last rows of the cotangent of the output are other than zero, they are the initial values. `read` tells
    for each row whether a cotangent has arrived; it is empty if all rows of the outputs of the loop are read.
    """

    depth: int
    inner: list[Variable]
    states: list[State]
    read: list[Variable]
    read_states: list[State]


def pull_back_loop(
    op: Any, inputs: Sequence[Any], outputs: Sequence[Any], gradients: Sequence[Any], supports: Sequence[Support]
) -> tuple[list[Any], dict[Variable, Supported]]:
    """Return the gradients of the inputs of a loop, given those of its outputs with their supports.

    Also return the variables in the gradients that are known to be zero in some rows, with their supports. The
    cotangent of a step stays zero if no later row is read, even where slopes are infinite.
    """
    if shares_continuous_state(op):
        return [grad_not_implemented(op, k, v, SHARED_STATE) for k, v in enumerate(inputs)], {}
    if op.info.n_mit_mot:
        return pull_back_by_rows(op, inputs, gradients), {}
    read = [rows_of_support(support, out) for support, out in zip(supports, outputs)]
    if keeps_few_rows(op, inputs):
        return pull_back_with_all_rows(op, inputs, gradients, read), {}
    if wants_blocks(op):
        return pull_back_in_blocks(op, inputs, gradients), {}
    backward = _Backward(op, inputs, outputs, gradients, read)
    return backward.gradients(), backward.known


class _Backward:
    def __init__(
        self,
        op: Any,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        gradients: Sequence[Any],
        read: Sequence[Any],
    ):
        self.op, self.info, self.inputs, self.outputs = op, op.info, inputs, outputs
        self.read, self.reads_some = read, any(rows is not None for rows in read)
        self.known: dict[Variable, Supported] = {}
        self.depths = [-min(taps) for taps in self.info.tap_array]
        self.n_states = len(self.depths)
        self.cotangents, self.last_rows = self._split(gradients)
        self.steps = self._steps_done()
        self.truncated = op.truncate_gradient != -1
        back = minimum(self.steps, op.truncate_gradient) if self.truncated else self.steps
        self.parts = LoopParts(back)

    def _split(self, gradients: Sequence[Any]) -> tuple[list[Any], list[dict[int, Any]]]:
        """Split cotangents of outputs into last rows, which are initial values of the loop, and sequences."""
        rests, last_rows = list(gradients), [dict[int, Any]() for _ in gradients]
        for k in range(self.n_states + self.info.n_nit_sot):
            if not is_disconnected(rests[k]) and is_continuous(self.outputs[k]) and self._ends_with_last_step(k):
                split = split_last_rows(rests[k])
                rests[k] = disconnected_type() if split.rest is None else split.rest
                last_rows[k] = split.rows
        return rests, last_rows

    def _ends_with_last_step(self, k: int) -> bool:
        """Return whether the last row of output `k` is known to be computed by the last step."""
        if self.info.as_while:
            return True
        if k < self.n_states:
            return is_exact(self.inputs[1 + self.info.n_seqs + k], self.depths[k], self.inputs[0])
        return is_for_each_step(self.op.outer_nitsot(self.inputs)[k - self.n_states], 0, self.inputs[0])

    def _steps_done(self) -> Any:
        if not self.info.as_while:
            return self.inputs[0]
        # The outputs that keep all rows are the first ones; one of them has a gradient.
        steps = self.outputs[0].shape[0] - (self.depths[0] if self.n_states else 0)
        return with_check_of_rows(self.op, self.inputs, steps)

    # -- the loop's parts ------------------------------------------------------------------------------------

    def gradients(self) -> list[Any]:
        op, parts = self.op, self.parts
        self.seqs = op.inner_seqs(op.inner_inputs)
        self.taps = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
        self.constants = op.inner_non_seqs(op.inner_inputs)
        parts.sequences += [(self._reverse_rows(x, 0), v) for x, v in zip(op.outer_seqs(self.inputs), self.seqs)]
        for k, variables in enumerate(self.taps):
            for tap, variable in zip(self.info.tap_array[k], variables):
                parts.sequences.append((self._reverse_rows(self.outputs[k], self.depths[k] + tap), variable))
        parts.constants += list(zip(op.outer_non_seqs(self.inputs), self.constants))
        arriving = self._cotangents_of_step()
        wrt = [v for v in [*self.seqs, *(v for t in self.taps for v in t)] if is_continuous(v)]
        wrt += [v for v in self.constants if is_continuous(v) or is_sparse(v)]
        cotangents = pulled_cotangents(arriving, wrt, supports=self.supports)
        terms = [cotangent.apply_support() for cotangent in cotangents]
        for term in filter(is_null, terms):
            raise NullTypeGradError(f"The step of {op} has no gradient. {term.type.why_null}")
        terms_of = {v: term for v, term in zip(wrt, terms) if not is_disconnected(term) and not is_sparse(term)}
        supports_of = {v: cotangent.support for v, cotangent in zip(wrt, cotangents) if v in terms_of}
        self._shift_pending(terms_of, supports_of)
        of_sequences = [v for v in self.seqs if v in terms_of]
        parts.results += [terms_of[v] for v in of_sequences]
        read_sequences = [v for v in of_sequences if self.reads_some and supports_of[v] is not FULL]
        parts.results += [is_any(supports_of[v]) for v in read_sequences]
        sums = {
            v: self._sum(outer, terms_of[v]) for outer, v in parts.constants[: len(self.constants)] if v in terms_of
        }
        self._read_new_values()
        self._read_draws()
        if not parts.states and not parts.results:
            states: dict[State, Any] = {}
            rows: dict[Variable, Variable] = {}
        else:
            outputs = op.of_parts(parts, name=f"grad_of_{op.name or 'scan_fn'}", mode=op.mode)
            states, results, _ = parts.split(outputs)
            rows = dict(zip(of_sequences, results))
            for v, read in zip(read_sequences, results[len(of_sequences) :], strict=True):
                self._record_support(rows[v], read)
            for waiting in self.pending.values():
                for state, read_state in zip(waiting.states, waiting.read_states):
                    self._record_support(states[state], states[read_state])
        return self._gradients_of_inputs(states, rows, sums)

    def _record_support(self, rows: Any, read: Any) -> None:
        """Record which rows of a result may be other than zero."""
        self.known[rows] = Supported(rows, support_of_rows(read, rows.type.ndim))

    def _reverse_rows(self, rows: Any, start: int) -> Any:
        """Return one row per step, beginning with `start`, in reverse order."""
        return rows[start : self.steps + start][::-1]

    def _cotangents_of_step(self) -> dict[Variable, Any]:
        """Return the cotangents of the outputs of the step, summed over the outputs of the loop and later steps."""
        arriving: dict[Variable, list[Any]] = {}
        supports: dict[Variable, list[Support]] = {}
        self.pending: dict[int, _PendingCotangents] = {}
        new = self.op.inner_mitsot_outs(self.op.inner_outputs) + self.op.inner_sitsot_outs(self.op.inner_outputs)
        new += self.op.inner_nitsot_outs(self.op.inner_outputs)
        for k, out in enumerate(new):
            if not is_continuous(out):
                continue
            depth, last_rows = self.depths[k] if k < self.n_states else 0, self.last_rows[k]
            if not is_disconnected(self.cotangents[k]):
                rows = rows_from(self.cotangents[k], depth)[: self.steps][::-1]
                entry = TensorType(rows.type.dtype, out.type.shape)()
                take_first_row(entry, rows)
                self.parts.sequences.append((rows, entry))
                arriving.setdefault(out, []).append(entry)
                supports.setdefault(out, []).append(self._support_of_row(k, out))
            elif last_rows and self.read[k] is None:
                supports.setdefault(out, []).append(FULL)
            depth = max([depth, *last_rows])
            if depth:
                row = TensorType(out.type.dtype, self.outputs[k].type.shape[1:])
                read: list[Variable] = [TensorType("bool", ())() for _ in range(depth)] if self.reads_some else []
                self.pending[k] = _PendingCotangents(depth, [row() for _ in range(depth)], [], read, [])
                for waiting in self.pending[k].inner:
                    take_first_row(waiting, self.outputs[k])
                for waiting in read:
                    take_test_value(waiting, constant(np.array(False)))
                arriving.setdefault(out, []).append(self.pending[k].inner[0])
                supports.setdefault(out, []).append(row_support(read[0], out.type.ndim) if read else FULL)
        self.supports = {out: union(*parts) for out, parts in supports.items()}
        return {out: terms[0] if len(terms) == 1 else add(*terms) for out, terms in arriving.items()}

    def _support_of_row(self, k: int, out: Any) -> Support:
        """Return the support of the row of the cotangent of output `k` that belongs to this step."""
        if self.read[k] is None:
            return FULL
        rows = self._reverse_rows(self.read[k], self.depths[k] if k < self.n_states else 0)
        entry = TensorType("bool", ())()
        take_first_row(entry, rows)
        self.parts.sequences.append((rows, entry))
        return row_support(entry, out.type.ndim)

    def _shift_pending(self, arrived_terms: dict[Variable, Any], supports: dict[Variable, Support]) -> None:
        """Shift pending cotangents by one step, and add those that this step has computed."""
        for k, waiting in self.pending.items():
            is_state, last_rows = k < self.n_states, self.last_rows[k]
            shape = sizes_of(self.inputs[1 + self.info.n_seqs + k] if is_state else self.outputs[k])[1:]
            variables_by_distance = dict(zip(self.info.tap_array[k], self.taps[k])) if is_state else {}
            for j in range(1, waiting.depth + 1):
                row = waiting.inner[j - 1]
                terms = [waiting.inner[j]] if j < waiting.depth else []
                variable = variables_by_distance.get(-j)
                if variable is not None and variable in arrived_terms:
                    terms.append(arrived_terms[variable])
                new = terms[0] if len(terms) == 1 else add(*terms) if terms else zeros_like(row)
                first = last_rows.get(j, _zero(row))
                waiting.states.append(self._state(alloc(first.astype(row.type.dtype), 1, *shape), row, new))
                if waiting.read:
                    read = [waiting.read[j]] if j < waiting.depth else []
                    if variable is not None and variable in arrived_terms:
                        read.append(is_any(supports[variable]))
                    new = or_(*read) if len(read) == 2 else read[0] if read else constant(np.array(False))
                    waiting.read_states.append(self._state(constant([j in last_rows]), waiting.read[j - 1], new))

    def _state(self, first: Any, inner: Any, new: Any) -> State:
        if new.type.dtype != inner.type.dtype:
            new = new.astype(inner.type.dtype)
        state = State(expand_empty(first, self.parts.n_steps), (-1,), (inner,), new)
        self.parts.states.append(state)
        return state

    def _sum(self, outer: Any, term: Any) -> State:
        total = TensorType(outer.type.dtype, outer.type.shape)()
        take_test_value(total, outer)
        return self._state(alloc(_zero(outer), 1, *sizes_of(outer)), total, add(total, term))

    def _read_new_values(self) -> None:
        """Read new values of states from the outputs of the loop instead of recomputing them."""
        new = self.op.inner_mitsot_outs(self.op.inner_outputs) + self.op.inner_sitsot_outs(self.op.inner_outputs)
        used = set(ancestors(self.parts.inner_outputs()))
        read: dict[Variable, Variable] = {}
        for k, out in enumerate(new):
            while out.owner is not None and isinstance(out.owner.op, SpecifyShape):
                out = out.owner.inputs[0]
            if out in used and out not in read and out.owner is not None:
                rows = self._reverse_rows(self.outputs[k], self.depths[k])
                read[out] = TensorType(out.type.dtype, rows.type.shape[1:])()
                take_first_row(read[out], rows)
                self.parts.sequences.append((rows, read[out]))
        self.parts.replace(read)

    def _read_draws(self) -> None:
        """Read values that depend on states other than tensors, which are not stored, from a second run of the loop.

        Such values are draws of random generators; the second run starts from the same generators.
        """
        op, inputs = self.op, self.inputs
        shared = set(op.inner_shared(op.inner_inputs))
        if not shared.intersection(graph_inputs(self.parts.inner_outputs())):
            return
        buffers = op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
        again = parts_of_loop(
            op, self.steps, op.outer_seqs(inputs), buffers, op.outer_shared(inputs), op.outer_non_seqs(inputs)
        )
        again.results = [
            v
            for v in ancestors(self.parts.inner_outputs())
            if isinstance(v.type, TensorType)
            and v.owner is not None
            and any(
                not isinstance(operand.type, TensorType) and shared.intersection(graph_inputs([operand]))
                for operand in v.owner.inputs
            )
        ]
        outputs = op.of_parts(again, name=f"draws_of_{op.name or 'scan_fn'}", mode=op.mode)
        read: dict[Variable, Variable] = {}
        for drawn, rows in zip(again.results, again.split(outputs)[1], strict=True):
            read[drawn] = TensorType(drawn.type.dtype, rows.type.shape[1:])()
            take_first_row(read[drawn], rows)
            self.parts.sequences.append((self._reverse_rows(rows, 0), read[drawn]))
        self.parts.replace(read)

    # -- gradients of the loop's inputs ----------------------------------------------------------------------

    def _gradients_of_inputs(
        self, states: dict[State, Any], rows: dict[Variable, Variable], sums: dict[Variable, State]
    ) -> list[Any]:
        op = self.op
        of_seqs = [
            self._gradient_of_sequence(v, rows.get(inner)) for v, inner in zip(op.outer_seqs(self.inputs), self.seqs)
        ]
        of_buffers = [self._gradient_of_buffer(k, states) for k in range(self.n_states)]
        of_constants = [states[sums[inner]][-1] if inner in sums else None for inner in self.constants]
        return gradients_in_order(op, self.inputs, of_seqs, of_buffers, of_constants)

    def _gradient_of_sequence(self, outer: Any, rows: Any) -> Any:
        if rows is None:
            return None
        first = self.steps - self.parts.n_steps
        return set_subtensor(zeros_like(outer)[first : self.steps], rows[::-1])

    def _gradient_of_buffer(self, k: int, states: dict[State, Any]) -> Any:
        """Return the gradient of a buffer: pending cotangents for the first values, and the cotangents of rows that no
        step writes.
        """
        outer, depth = self.inputs[1 + self.info.n_seqs + k], self.depths[k]
        if k not in self.pending:
            return None
        cotangent = None if is_disconnected(self.cotangents[k]) else self.cotangents[k]
        first = alloc(_zero(outer), depth, *sizes_of(outer)[1:])
        if cotangent is not None and not is_zero_before(cotangent, depth):
            first = set_subtensor(first[:], cotangent[:depth])
        for j, state in enumerate(self.pending[k].states, 1):
            remaining, row = states[state][-1], depth - j
            if self.truncated:  # an earlier step may have computed this row
                row = row + self.steps - self.parts.n_steps
                remaining = switch(lt(row, depth), remaining, zeros_like(remaining))
                row = maximum(minimum(row, depth - 1), 0)
            elif row < 0:
                break  # a last row of a cotangent that does not exist, because the loop has too few steps
            first = inc_subtensor(first[row], remaining)
        total = set_subtensor(zeros_like(outer)[:depth], first)
        if cotangent is not None and not self.info.as_while and expansion_of(outer) is None:
            unwritten = add(self.steps, constant(depth, dtype="int64"))
            total = set_subtensor(total[unwritten:], cotangent[unwritten:])
        return total


def _zero(row: Any) -> Variable:
    return constant(0, dtype=row.type.dtype)
