"""Loops that read and write several rows of a buffer in each step (mit-mot), as loops with these rows as states.

The rows of a buffer that a step accesses are a window, which advances by one row per step. A row enters the window with
its value from before the loop, is a state while it is in the window, and leaves it with its final value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.autodiff import Lop
from aesara.graph.cloning import clone_replace
from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.forward_mode import Rop
from aesara.graph.nodes import Variable
from aesara.graph.op import stand_in
from aesara.graph.pullback import grad_undefined, is_disconnected
from aesara.records import dataclass
from aesara.scan.continuity import is_continuous
from aesara.scan.parts import LoopParts, State, expand_empty
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.elementwise.ops import add, ge
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import set_subtensor

__all__ = ["pull_back_by_rows", "push_forward_by_rows", "with_rows_as_states"]


@dataclass(eq=False)
class _Window:
    """The window of a buffer.

    Attributes
    ----------
    buffer
        The buffer.
    first
        The index of the first row of the window in the first step.
    rows
        Variables of the step for the rows.
    states
        States for all rows but the last one.
    leaves
        The number of the result with the rows that leave the window.
    """

    buffer: Any
    first: int
    rows: list[Any]
    states: list[State]
    leaves: int


def with_rows_as_states(op: Any, inputs: Sequence[Any]) -> list[Variable]:
    """Return the outputs of an equivalent loop without mit-mot buffers.

    Buffers that are shorter than the rows which the steps access raise an error.
    """
    info = op.info
    parts = LoopParts(inputs[0])
    parts.sequences += zip(op.outer_seqs(inputs), op.inner_seqs(op.inner_inputs), strict=True)
    taps = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
    new = op.inner_mitsot_outs(op.inner_outputs) + op.inner_sitsot_outs(op.inner_outputs)
    slices = info.mit_sot_in_slices + info.sit_sot_in_slices
    buffers = op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
    own_states = [
        State(b, own_states, tuple(v), out) for b, own_states, v, out in zip(buffers, slices, taps, new, strict=True)
    ]
    shared = zip(op.outer_shared(inputs), op.inner_shared(op.inner_inputs), op.inner_shared_outs(op.inner_outputs))
    parts.states, parts.shared = list(own_states), list(shared)
    parts.constants += zip(op.outer_non_seqs(inputs), op.inner_non_seqs(op.inner_inputs), strict=True)
    parts.results += op.inner_nitsot_outs(op.inner_outputs)
    parts.until = op.inner_outputs[-1] if info.as_while else None
    windows, replacements = [], dict[Variable, Variable]()
    for k in range(info.n_mit_mot):
        windows.append(_window(op, inputs, k, parts, replacements))
    parts.replace(replacements)
    new_inputs = parts.outer_inputs()
    first = 1 + len(parts.sequences) + len(parts.states) + len(parts.shared)
    new_inputs[first : first + info.n_nit_sot] = op.outer_nitsot(inputs)
    loop = type(op)(parts.inner_inputs(), parts.inner_outputs(), parts.info(), **op.options)
    states, results, new_shared = parts.split(loop(*new_inputs, return_list=True))
    new_buffers = [_after_loop(window, states, results[window.leaves]) for window in windows]
    return [*new_buffers, *[states[state] for state in own_states], *results[: info.n_nit_sot], *new_shared]


def _window(
    op: Any, inputs: Sequence[Variable | None], k: int, parts: LoopParts, replacements: dict[Variable, Variable]
) -> _Window:
    """Make the rows of a buffer a sequence, states and a result; add replacements of the step's inputs."""
    reads, writes = op.info.mit_mot_in_slices[k], op.info.mit_mot_out_slices[k]
    buffer = op.outer_mitmot(inputs)[k]
    low, high = min((*reads, *writes)), max((*reads, *writes))
    first, size = max(low, 0), high - low + 1
    least = add(parts.n_steps, constant(first + size - 1, dtype="int64"))
    message = f"{op.title}: buffer {k} has fewer rows than its steps read and write."
    buffer = CheckAndRaise(ValueError, message)(buffer, ge(buffer.shape[0], least))
    row = TensorType(buffer.type.dtype, buffer.type.shape[1:])
    rows: list[Any] = [row() for _ in range(size)]
    entering_rows = buffer[first + size - 1 :]
    parts.sequences.append((entering_rows[: parts.n_steps], rows[-1]))
    replacements.update({v: rows[tap - low] for tap, v in zip(reads, op.inner_mitmot(op.inner_inputs)[k], strict=True)})
    after = list(rows)
    for tap, value in zip(writes, op.inner_mitmot_outs(op.inner_outputs)[k], strict=True):
        after[tap - low] = value
    states = []
    for j in range(size - 1):
        start = expand_empty(buffer[first + j : first + j + 1], parts.n_steps)
        states.append(State(start, (-1,), (rows[j],), after[j + 1]))
    parts.states += states
    parts.results.append(after[0])
    return _Window(buffer, first, rows, states, len(parts.results) - 1)


def _after_loop(window: _Window, states: dict[State, Any], written_rows: Any) -> Variable:
    """Return the buffer with the rows that the loop has written."""
    unit = constant(1, dtype="int64")
    position = add(constant(window.first, dtype="int64"), written_rows.shape[0])
    buffer = set_subtensor(window.buffer[window.first : position], written_rows)
    for state in window.states:
        buffer = set_subtensor(buffer[position : add(position, unit)], getitem(states[state], slice(-1, None)))
        position = add(position, unit)
    return buffer


def pull_back_by_rows(op: Any, inputs: Sequence[Variable], gradients: Sequence[Variable]) -> list[Variable]:
    """Return the gradients of the inputs of a loop, given those of its outputs."""
    stand_ins = [stand_in(v) for v in inputs]  # they do not depend on one another
    outputs = with_rows_as_states(op, stand_ins)
    pairs = [(out, g) for out, g in zip(outputs, gradients) if not is_disconnected(g) and is_continuous(out)]
    wrt = [v for v in stand_ins if is_continuous(v)]
    gradients_of: dict[Variable, Variable] = {}
    if pairs and wrt:
        new_gradients = Lop([out for out, _ in pairs], wrt, [g for _, g in pairs], disconnected_inputs="ignore")
        gradients_of = dict(zip(wrt, clone_replace(new_gradients, dict(zip(stand_ins, inputs)))))
    shared = set(op.outer_shared(stand_ins))
    return [
        grad_undefined(op, k, outer, "A state of no tensor.")
        if v in shared
        else gradients_of.get(v, disconnected_type())
        for k, (v, outer) in enumerate(zip(stand_ins, inputs))
    ]


def push_forward_by_rows(op: object, inputs: Sequence[Variable], eval_points: Sequence[Variable]) -> list[Any]:
    """Return the tangents of the outputs of a loop, given those of its inputs (None for zero)."""
    stand_ins = [stand_in(v) for v in inputs]  # they do not depend on one another
    outputs = with_rows_as_states(op, stand_ins)
    smooth = [k for k, out in enumerate(outputs) if is_continuous(out)]
    moving = [(v, point) for v, point in zip(stand_ins, eval_points) if point is not None and is_continuous(v)]
    tangents: list[Any] = [None] * len(outputs)
    if smooth and moving:
        wrt, points = zip(*moving)
        new_tangents = Rop([outputs[k] for k in smooth], list(wrt), list(points), disconnected_outputs="ignore")
        known = [(k, t) for k, t in zip(smooth, new_tangents) if t is not None]
        on_inputs = clone_replace([t for _, t in known], dict(zip(stand_ins, inputs)))
        for (k, _), tangent in zip(known, on_inputs):
            tangents[k] = tangent
    return tangents
