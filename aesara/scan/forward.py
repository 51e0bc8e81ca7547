"""Forward-mode derivatives of loops: a loop that computes tangents along with values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.forward_mode import Rop
from aesara.graph.nodes import Variable
from aesara.graph.op import stand_in
from aesara.scan.continuity import SHARED_STATE, is_continuous, shares_continuous_state
from aesara.scan.parts import LoopParts, State
from aesara.scan.windows import push_forward_by_rows
from aesara.tensor.creation.allocation import zeros_like

__all__ = ["push_forward_loop"]


def push_forward_loop(op: Any, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
    """Return the tangents of the outputs of a loop, given those of its inputs (None for zero)."""
    if shares_continuous_state(op):
        raise NotImplementedError(f"{op}: {SHARED_STATE}")
    if op.info.n_mit_mot:
        return push_forward_by_rows(op, inputs, eval_points)
    info = op.info
    parts, tangent_of = LoopParts(inputs[0]), dict[Variable, Variable]()
    first = 1 + info.n_seqs
    points = {k: _as_dtype_of(point, v) for k, (point, v) in enumerate(zip(eval_points, inputs))}

    def add_tangent(inner: Any) -> Any:
        tangent_of[inner] = stand_in(inner)  # whose test value fits too
        return tangent_of[inner]

    for k, (outer, inner) in enumerate(zip(op.outer_seqs(inputs), op.inner_seqs(op.inner_inputs))):
        parts.sequences.append((outer, inner))
        if points[1 + k] is not None and is_continuous(inner):
            parts.sequences.append((points[1 + k], add_tangent(inner)))
    constants = zip(op.outer_non_seqs(inputs), op.inner_non_seqs(op.inner_inputs))
    for k, (outer, inner) in enumerate(constants, len(inputs) - info.n_non_seqs):
        parts.constants.append((outer, inner))
        if points[k] is not None and is_continuous(inner):
            parts.constants.append((points[k], add_tangent(inner)))
    taps = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
    new = op.inner_mitsot_outs(op.inner_outputs) + op.inner_sitsot_outs(op.inner_outputs)
    own_states = []
    for k, (variables, value) in enumerate(zip(taps, new)):
        own_states.append(State(inputs[first + k], info.tap_array[k], tuple(variables), value))
        for variable in variables:
            if is_continuous(variable):
                add_tangent(variable)
    shared = zip(
        op.outer_shared(inputs), op.inner_shared(op.inner_inputs), op.inner_shared_outs(op.inner_outputs), strict=True
    )
    parts.shared += list(shared)
    results = op.inner_nitsot_outs(op.inner_outputs)
    smooth = [v for v in dict.fromkeys([*new, *results]) if is_continuous(v)]
    tangents = dict(zip(smooth, _tangents(smooth, tangent_of)))
    tangent_states: dict[int, State] = {}
    for k, state in enumerate(own_states):
        parts.states.append(state)
        if is_continuous(state.new):
            buffer = points[first + k] if points[first + k] is not None else zeros_like(inputs[first + k])
            inner = tuple(tangent_of[v] for v in state.inner)
            tangent_states[k] = State(buffer, state.taps, inner, tangents[state.new])
            parts.states.append(tangent_states[k])
    with_tangent = [k for k, v in enumerate(results) if v in tangents]
    parts.results += [*results, *[tangents[results[k]] for k in with_tangent]]
    parts.until = op.inner_outputs[-1] if info.as_while else None
    loop_outputs = op.of_parts(parts, name=f"rop_of_{op.name or 'scan_fn'}", mode=op.mode)
    buffers, loop_results, _ = parts.split(loop_outputs)
    result = [buffers[tangent_states[k]] if k in tangent_states else None for k in range(len(own_states))]
    of_result = dict(zip(with_tangent, loop_results[len(results) :]))
    return [*result, *[of_result.get(k) for k in range(len(results))], *[None] * info.n_shared_outs]


def _as_dtype_of(point: Any, outer: Any) -> Any:
    is_other = point is not None and is_continuous(outer) and point.type.dtype != outer.type.dtype
    return point.astype(outer.type.dtype) if is_other else point


def _tangents(smooth: Sequence[Any], tangent_of: dict[Variable, Variable]) -> list[Any]:
    tangents = Rop(list(smooth), list(tangent_of), list(tangent_of.values()), "ignore")
    return [t if t.type.dtype == v.type.dtype else t.astype(v.type.dtype) for t, v in zip(tangents, smooth)]
