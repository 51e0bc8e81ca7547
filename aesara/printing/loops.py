"""Remarks of `debugprint` on inputs and outputs of loops."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.printing.tree import op_debug_information
from aesara.scan.op import Scan


@op_debug_information.register(Scan)
def loop_remarks(op: Scan, node: Apply) -> dict[Apply, dict[Variable, str]]:
    """Return the kinds of inputs and outputs of a loop and of its step; see `ScanInfo`."""
    remarks: dict[Variable, str] = {}

    def name(side: str, variables: Sequence[Variable | Sequence[Variable]]) -> None:
        for k, variable_or_taps in enumerate(variables):
            for j, variable in enumerate(
                [variable_or_taps] if isinstance(variable_or_taps, Variable) else variable_or_taps
            ):
                taps = "" if isinstance(variable_or_taps, Variable) else f"-{j}"
                remarks[variable] = f"{side}-{k}{taps}"

    inner, outer, results, new = op.fgraph.inputs, node.inputs, node.outputs, op.fgraph.outputs
    remarks[outer[0]] = "n_steps"
    name("outer_in_seqs", op.outer_seqs(outer))
    name("outer_in_mit_mot", op.outer_mitmot(outer))
    name("outer_in_mit_sot", op.outer_mitsot(outer))
    name("outer_in_sit_sot", op.outer_sitsot(outer))
    name("outer_in_shared", op.outer_shared(outer))
    name("outer_in_nit_sot", op.outer_nitsot(outer))
    name("outer_in_non_seqs", op.outer_non_seqs(outer))
    name("inner_in_seqs", op.inner_seqs(inner))
    name("inner_in_mit_mot", op.inner_mitmot(inner))
    name("inner_in_mit_sot", op.inner_mitsot(inner))
    name("inner_in_sit_sot", op.inner_sitsot(inner))
    name("inner_in_shared", op.inner_shared(inner))
    name("inner_in_non_seqs", op.inner_non_seqs(inner))
    name("inner_out_mit_mot", op.inner_mitmot_outs(new))
    name("inner_out_mit_sot", op.inner_mitsot_outs(new))
    name("inner_out_sit_sot", op.inner_sitsot_outs(new))
    name("inner_out_nit_sot", op.inner_nitsot_outs(new))
    name("inner_out_shared", op.inner_shared_outs(new))
    name("outer_out_mit_mot", op.outer_mitmot_outs(results))
    name("outer_out_mit_sot", op.outer_mitsot_outs(results))
    name("outer_out_sit_sot", op.outer_sitsot_outs(results))
    name("outer_out_nit_sot", op.outer_nitsot_outs(results))
    name("outer_out_shared", op.outer_shared_outs(results))
    return {node: remarks}
