"""Rewrites of loops."""

from aesara.compat.scan_helpers import has_duplicates, make_equiv, sanitize, select_max, select_min
from aesara.compile.ops import deep_copy_op
from aesara.configdefaults import config
from aesara.graph.rewriting.databases import optdb
from aesara.scan.inner_graphs import RewriteSteps
from aesara.scan.inplace import ScanInplaceOptimizer
from aesara.scan.last_values import while_scan_merge_subtensor_last_element
from aesara.scan.merging import ScanMerge
from aesara.scan.passes import scan_eqopt1, scan_eqopt2, scan_seqopt1
from aesara.scan.pruning import remove_constants_and_unused_inputs_scan, scan_merge_inouts
from aesara.scan.push_out import (
    add_nitsot_outputs,
    get_outer_ndim,
    inner_sitsot_only_last_step_used,
    push_out_add_scan,
    push_out_dot1_scan,
    push_out_inner_vars,
    push_out_non_seq_scan,
    push_out_seq_scan,
)
from aesara.scan.saving_memory import reshape_output_storage, save_mem_new_scan
from aesara.tensor.elementwise.ops import maximum, minimum
from aesara.tensor.rewriting.arithmetic import local_abs_merge, local_mul_switch_sink
from aesara.tensor.rewriting.basic import local_useless_switch
from aesara.tensor.rewriting.constants import constant_folding
from aesara.tensor.rewriting.elemwise import local_upcast_elemwise_constant_inputs

__all__ = [
    "RewriteSteps",
    "ScanInplaceOptimizer",
    "ScanMerge",
    "add_nitsot_outputs",
    "config",
    "constant_folding",
    "deep_copy_op",
    "get_outer_ndim",
    "has_duplicates",
    "inner_sitsot_only_last_step_used",
    "local_abs_merge",
    "local_mul_switch_sink",
    "local_upcast_elemwise_constant_inputs",
    "local_useless_switch",
    "make_equiv",
    "maximum",
    "minimum",
    "optdb",
    "push_out_add_scan",
    "push_out_dot1_scan",
    "push_out_inner_vars",
    "push_out_non_seq_scan",
    "push_out_seq_scan",
    "remove_constants_and_unused_inputs_scan",
    "reshape_output_storage",
    "sanitize",
    "save_mem_new_scan",
    "scan_eqopt1",
    "scan_eqopt2",
    "scan_merge_inouts",
    "scan_seqopt1",
    "select_max",
    "select_min",
    "while_scan_merge_subtensor_last_element",
]
