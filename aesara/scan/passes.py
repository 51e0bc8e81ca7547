"""Databases of rewrites of loops, with the names and tags of Aesara 2.9.4."""

from __future__ import annotations

from aesara.graph.rewriting.db import SequenceDB
from aesara.graph.rewriting.walking import in2out
from aesara.scan.added_entries import push_out_inc_scan
from aesara.scan.editing import LoopDB, OverLoops
from aesara.scan.merging import ScanMerge
from aesara.scan.pruning import (
    remove_constants_and_unused_inputs_scan,
    remove_unused_outputs_scan,
    scan_merge_inouts,
)
from aesara.scan.push_out import (
    push_out_add_scan,
    push_out_dot1_scan,
    push_out_non_seq_scan,
    push_out_products_scan,
    push_out_seq_scan,
)
from aesara.scan.unrolling import unroll_scan
from aesara.tensor.rewriting.constants import constant_folding

__all__ = ["scan_eqopt1", "scan_eqopt2", "scan_seqopt1"]

#: runs before the rewrites of all ops: loop-invariant code motion and vectorization
scan_eqopt1 = LoopDB()
scan_seqopt1 = SequenceDB()
scan_eqopt1.register("all_pushout_opt", scan_seqopt1, "fast_run", "scan")
#: runs after these: merging of equal inputs and outputs, and of loops over the same steps
scan_eqopt2 = LoopDB()

FAST_RUN = ("fast_run", "scan")

scan_seqopt1.register(
    "scan_remove_constants_and_unused_inputs0",
    OverLoops(remove_constants_and_unused_inputs_scan),
    "remove_constants_and_unused_inputs_scan",
    *FAST_RUN,
    position=1,
)
scan_seqopt1.register(
    "scan_pushout_nonseqs_ops", OverLoops(push_out_non_seq_scan), *FAST_RUN, "scan_pushout", position=2
)
scan_seqopt1.register("scan_pushout_seqs_ops", OverLoops(push_out_seq_scan), *FAST_RUN, "scan_pushout", position=3)
scan_seqopt1.register(
    "scan_pushout_dot1", OverLoops(push_out_dot1_scan), *FAST_RUN, "more_mem", "scan_pushout", position=4
)
scan_seqopt1.register(
    "scan_pushout_add", OverLoops(push_out_add_scan), *FAST_RUN, "more_mem", "scan_pushout", position=5
)
scan_seqopt1.register("scan_pushout_dot", OverLoops(push_out_products_scan), *FAST_RUN, "scan_pushout", position=7)
scan_seqopt1.register("scan_pushout_inc", OverLoops(push_out_inc_scan), *FAST_RUN, "scan_pushout", position=6)
scan_eqopt2.register(
    "scan_remove_constants_and_unused_inputs1",
    OverLoops(remove_constants_and_unused_inputs_scan),
    "remove_constants_and_unused_inputs_scan",
    # Aesara 2.9.4 registered three; this one runs until nothing changes.
    "scan_remove_constants_and_unused_inputs2",
    "scan_remove_constants_and_unused_inputs3",
    *FAST_RUN,
)
scan_eqopt2.register("constant_folding_for_scan2", in2out(constant_folding, ignore_newtrees=True), *FAST_RUN)
scan_eqopt2.register("scan_remove_unused_outputs", OverLoops(remove_unused_outputs_scan), *FAST_RUN)
scan_eqopt2.register("scan_merge_inouts", OverLoops(scan_merge_inouts), *FAST_RUN)
scan_eqopt2.register("scan_merge", ScanMerge(), *FAST_RUN)
scan_eqopt2.register("scan_unroll", OverLoops(unroll_scan), *FAST_RUN)
