"""Functions for libraries that build and edit loops."""

from aesara.compat.scan_profile import ScanProfileStats
from aesara.configdefaults import config
from aesara.errors import InnerFunctionError
from aesara.scan.arguments import FieldInfo, ScanArgs, default_filter_scanargs, safe_index
from aesara.scan.copying import Validator, forced_replace, reconstruct_graph, safe_new, traverse
from aesara.scan.parts import expand_empty
from aesara.scan.removing import compress_outs, scan_can_remove_outs
from aesara.scan.stopping import until

__all__ = [
    "FieldInfo",
    "InnerFunctionError",
    "ScanArgs",
    "ScanProfileStats",
    "Validator",
    "compress_outs",
    "config",
    "default_filter_scanargs",
    "expand_empty",
    "forced_replace",
    "reconstruct_graph",
    "safe_index",
    "safe_new",
    "scan_can_remove_outs",
    "traverse",
    "until",
]
