"""Public names about compiled functions and how they are made."""

from aesara.compile.function.aliasing import (
    AliasedMemoryError,
    Supervisor,
    alias_root,
    infer_reuse_pattern,
    insert_deepcopy,
    view_tree_set,
)
from aesara.compile.function.arguments import DUPLICATE
from aesara.compile.function.function import Function
from aesara.compile.function.graph import fgraph_updated_vars, std_fgraph
from aesara.compile.function.inputs import UnusedInputError, convert_function_input, get_info_on_inputs
from aesara.compile.function.maker import FunctionMaker, orig_function
from aesara.compile.ops import deep_copy_op, update_placeholder, view_op
from aesara.configdefaults import config

__all__ = [
    "DUPLICATE",
    "AliasedMemoryError",
    "Function",
    "FunctionMaker",
    "Supervisor",
    "UnusedInputError",
    "alias_root",
    "config",
    "convert_function_input",
    "deep_copy_op",
    "fgraph_updated_vars",
    "get_info_on_inputs",
    "infer_reuse_pattern",
    "insert_deepcopy",
    "orig_function",
    "std_fgraph",
    "update_placeholder",
    "view_op",
    "view_tree_set",
]
