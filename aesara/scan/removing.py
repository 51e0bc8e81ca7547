"""Removal of outputs of loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.traversal import ancestors
from aesara.scan.info import ScanInfo

__all__ = ["compress_outs", "scan_can_remove_outs"]


def scan_can_remove_outs(op: Any, out_idxs: Collection[int]) -> tuple[list[int], list[int]]:
    """Split the given outputs of a loop into those that other outputs or the condition need, and removable ones.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> (a, b), _ = aesara.scan(lambda a, b: [a + 1.0, a * b], outputs_info=[at.dscalar(), at.dscalar()], n_steps=5)
    >>> op = a.owner.inputs[0].owner.op
    >>> scan_can_remove_outs(op, [0]), scan_can_remove_outs(op, [1])
    (([0], []), ([], [1]))
    """
    mappings = op.get_oinp_iinp_iout_oout_mappings()
    inner_outs, inner_inps = mappings["inner_out_from_outer_out"], mappings["inner_inp_from_outer_out"]
    removable = set(out_idxs)
    pending = [op.inner_outputs[j] for k in range(op.info.n_outer_outputs) if k not in removable for j in inner_outs[k]]
    if op.info.as_while:
        pending.append(op.inner_outputs[-1])
    owner_of = {op.inner_inputs[j]: k for k, inner in inner_inps.items() for j in inner}
    while pending:
        needed = {owner_of[v] for v in ancestors(pending) if v in owner_of} & removable
        removable -= needed
        pending = [op.inner_outputs[j] for k in needed for j in inner_outs[k]]
    return [k for k in out_idxs if k not in removable], [k for k in out_idxs if k in removable]


def compress_outs(
    op: Any, not_required: Collection[int], inputs: Sequence[Variable]
) -> tuple[list[Variable], list[Variable], ScanInfo, list[Variable], dict[int, int]]:
    """Return the parts of a loop without the outputs `not_required`.

    Returns
    -------
    tuple
        Inputs and outputs of the step, their kinds, inputs of the loop, and a dictionary from old to new positions of
        the remaining outputs of the step.
    """
    info, removed = op.info, set(not_required)
    mappings = op.get_oinp_iinp_iout_oout_mappings()
    removed_inner_inputs = {j for k in removed for j in mappings["inner_inp_from_outer_out"][k]}
    removed_inner_outputs = {j for k in removed for j in mappings["inner_out_from_outer_out"][k]}
    removed_inputs = {mappings["outer_inp_from_outer_out"][k] for k in removed}
    starts = [0, info.n_mit_mot, info.n_mit_mot + info.n_mit_sot]
    states = starts[2] + info.n_sit_sot

    def remaining(taps: Sequence[Variable], start: int) -> tuple[Any, ...]:
        return tuple(t for k, t in enumerate(taps, start) if k not in removed)

    new_info = replace(
        info,
        mit_mot_in_slices=remaining(info.mit_mot_in_slices, 0),
        mit_mot_out_slices=remaining(info.mit_mot_out_slices, 0),
        mit_sot_in_slices=remaining(info.mit_sot_in_slices, starts[1]),
        sit_sot_in_slices=remaining(info.sit_sot_in_slices, starts[2]),
        n_nit_sot=sum(k not in removed for k in range(states, states + info.n_nit_sot)),
        n_shared_outs=sum(k not in removed for k in range(states + info.n_nit_sot, info.n_outer_outputs)),
    )
    remaining_outputs = [j for j in range(len(op.inner_outputs)) if j not in removed_inner_outputs]
    return (
        [v for j, v in enumerate(op.inner_inputs) if j not in removed_inner_inputs],
        [op.inner_outputs[j] for j in remaining_outputs],
        new_info,
        [v for k, v in enumerate(inputs) if k not in removed_inputs],
        {old: new for new, old in enumerate(remaining_outputs)},
    )
