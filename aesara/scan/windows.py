"""Loops that read and write several rows of a buffer in each step, as loops whose states are those rows.

The rows that a step touches are a window, which moves on by one row from step to step.  A row comes into the window
with the value that it had before the loop, is a state as long as it stays, and leaves it with its last value.
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

__all__ = ["pulled_back_by_rows", "pushed_forward_by_rows", "with_rows_as_states"]


@dataclass(eq=False)
class _Window:
    """The rows of a buffer that a step touches: the first of them in the first step, and what it makes of them."""

    buffer: Any
    first: int
    rows: list[Any]
    states: list[State]
    leaves: int


def with_rows_as_states(op: Any, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of a loop by a loop without buffers of which several rows are written.

    Buffers need a row for each that a step touches: those that are shorter raise an error.
    """
    info = op.info
    parts = LoopParts(inputs[0])
    parts.sequences += zip(op.outer_seqs(inputs), op.inner_seqs(op.inner_inputs), strict=True)
    taps = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
    new = op.inner_mitsot_outs(op.inner_outputs) + op.inner_sitsot_outs(op.inner_outputs)
    slices = info.mit_sot_in_slices + info.sit_sot_in_slices
    buffers = op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
    own = [State(b, own, tuple(v), out) for b, own, v, out in zip(buffers, slices, taps, new, strict=True)]
    shared = zip(op.outer_shared(inputs), op.inner_shared(op.inner_inputs), op.inner_shared_outs(op.inner_outputs))
    parts.states, parts.shared = list(own), list(shared)
    parts.constants += zip(op.outer_non_seqs(inputs), op.inner_non_seqs(op.inner_inputs), strict=True)
    parts.results += op.inner_nitsot_outs(op.inner_outputs)
    parts.until = op.inner_outputs[-1] if info.as_while else None
    windows, replaced = [], dict[Variable, Variable]()
    for k in range(info.n_mit_mot):
        windows.append(_window(op, inputs, k, parts, replaced))
    parts.replace(replaced)
    made_inputs = parts.outer_inputs()
    first = 1 + len(parts.sequences) + len(parts.states) + len(parts.shared)
    made_inputs[first : first + info.n_nit_sot] = op.outer_nitsot(inputs)
    loop = type(op)(parts.inner_inputs(), parts.inner_outputs(), parts.info(), **op.options)
    states, results, made_shared = parts.split(loop(*made_inputs, return_list=True))
    whole = [_after_loop(window, states, results[window.leaves]) for window in windows]
    return [*whole, *[states[state] for state in own], *results[: info.n_nit_sot], *made_shared]


def _window(op: Any, inputs: Sequence[Any], k: int, parts: LoopParts, replaced: dict[Variable, Variable]) -> _Window:
    """Make rows of a buffer a sequence, states and an output; `replaced` gets what stands for the step's inputs."""
    reads, writes = op.info.mit_mot_in_slices[k], op.info.mit_mot_out_slices[k]
    buffer = op.outer_mitmot(inputs)[k]
    low, high = min((*reads, *writes)), max((*reads, *writes))
    first, size = max(low, 0), high - low + 1
    least = add(parts.n_steps, constant(first + size - 1, dtype="int64"))
    message = f"{op.title}: buffer {k} has fewer rows than its steps read and write."
    buffer = CheckAndRaise(ValueError, message)(buffer, ge(buffer.shape[0], least))
    row = TensorType(buffer.type.dtype, buffer.type.shape[1:])
    rows: list[Any] = [row() for _ in range(size)]
    coming = buffer[first + size - 1 :]
    parts.sequences.append((coming[: parts.n_steps], rows[-1]))
    replaced.update({v: rows[tap - low] for tap, v in zip(reads, op.inner_mitmot(op.inner_inputs)[k], strict=True)})
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


def _after_loop(window: _Window, states: dict[State, Any], left: Any) -> Any:
    """The buffer with what the loop has made of its rows."""
    one = constant(1, dtype="int64")
    at = add(constant(window.first, dtype="int64"), left.shape[0])
    whole = set_subtensor(window.buffer[window.first : at], left)
    for state in window.states:
        whole = set_subtensor(whole[at : add(at, one)], getitem(states[state], slice(-1, None)))
        at = add(at, one)
    return whole


def pulled_back_by_rows(op: Any, inputs: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
    """The gradients of a loop's inputs, given those of its outputs."""
    free = [stand_in(v) for v in inputs]  # they do not depend on one another
    outputs = with_rows_as_states(op, free)
    pairs = [(out, g) for out, g in zip(outputs, gradients) if not is_disconnected(g) and is_continuous(out)]
    wrt = [v for v in free if is_continuous(v)]
    found: dict[Variable, Any] = {}
    if pairs and wrt:
        made = Lop([out for out, _ in pairs], wrt, [g for _, g in pairs], disconnected_inputs="ignore")
        found = dict(zip(wrt, clone_replace(made, dict(zip(free, inputs)))))
    shared = set(op.outer_shared(free))
    return [
        grad_undefined(op, k, outer, "A state of no tensor.") if v in shared else found.get(v, disconnected_type())
        for k, (v, outer) in enumerate(zip(free, inputs))
    ]


def pushed_forward_by_rows(op: Any, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
    """The tangents of a loop's outputs, given those of its inputs (None where there is none)."""
    free = [stand_in(v) for v in inputs]  # they do not depend on one another
    outputs = with_rows_as_states(op, free)
    smooth = [k for k, out in enumerate(outputs) if is_continuous(out)]
    moving = [(v, point) for v, point in zip(free, eval_points) if point is not None and is_continuous(v)]
    tangents: list[Any] = [None] * len(outputs)
    if smooth and moving:
        wrt, points = zip(*moving)
        made = Rop([outputs[k] for k in smooth], list(wrt), list(points), disconnected_outputs="ignore")
        known = [(k, t) for k, t in zip(smooth, made) if t is not None]
        replaced = clone_replace([t for _, t in known], dict(zip(free, inputs)))
        for (k, _), tangent in zip(known, replaced):
            tangents[k] = tangent
    return tangents
