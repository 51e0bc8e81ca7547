"""Rewrites of loops."""

from aesara.configdefaults import config
from aesara.graph.rewriting.databases import optdb
from aesara.scan.inner_graphs import RewriteSteps
from aesara.scan.inplace import ScanInplaceOptimizer
from aesara.scan.merging import ScanMerge
from aesara.scan.passes import scan_eqopt1, scan_eqopt2, scan_seqopt1
from aesara.scan.pruning import remove_constants_and_unused_inputs_scan, scan_merge_inouts

__all__ = [
    "RewriteSteps",
    "ScanInplaceOptimizer",
    "ScanMerge",
    "config",
    "optdb",
    "remove_constants_and_unused_inputs_scan",
    "scan_eqopt1",
    "scan_eqopt2",
    "scan_merge_inouts",
    "scan_seqopt1",
]
