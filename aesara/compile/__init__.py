"""From graphs to functions: modes, the pipeline of passes, `function` itself."""

from typing import TYPE_CHECKING

from aesara.compile.function import function, function_dump, orig_function, pfunc, rebuild_collect_shared
from aesara.compile.function.aliasing import (
    AliasedMemoryError,
    Supervisor,
    alias_root,
    infer_reuse_pattern,
    insert_deepcopy,
    view_tree_set,
)
from aesara.compile.function.function import Function
from aesara.compile.function.graph import fgraph_updated_vars, std_fgraph
from aesara.compile.function.inputs import UnusedInputError, convert_function_input, get_info_on_inputs
from aesara.compile.function.maker import FunctionMaker
from aesara.compile.io import In, Out, SymbolicInput, SymbolicOutput
from aesara.compile.mode import (
    FAST_COMPILE,
    FAST_RUN,
    JAX,
    NUMBA,
    OPT_FAST_COMPILE,
    OPT_FAST_RUN,
    OPT_FAST_RUN_STABLE,
    OPT_MERGE,
    OPT_NONE,
    OPT_O2,
    OPT_O3,
    OPT_STABILIZE,
    OPT_UNSAFE,
    AddDestroyHandler,
    AddFeatureOptimizer,
    Mode,
    PrintCurrentFunctionGraph,
    get_default_mode,
    get_mode,
    instantiated_default_mode,
    local_useless,
    optdb,
    predefined_linkers,
    predefined_modes,
    predefined_optimizers,
    register_linker,
    register_mode,
    register_optimizer,
)
from aesara.compile.ops import (
    DeepCopyOp,
    FromFunctionOp,
    ViewOp,
    as_op,
    deep_copy_op,
    register_deep_copy_op_c_code,
    register_view_op_c_code,
    view_op,
)
from aesara.compile.variable_shapes import shape_of_variables
from aesara.graph.shared import SharedVariable, shared, shared_constructor
from aesara.utils import modules_on_demand as _modules_on_demand

if TYPE_CHECKING:
    from aesara.compile.debugmode import DebugMode
    from aesara.compile.monitormode import MonitorMode
    from aesara.compile.nan_where import NanWhere
    from aesara.compile.nanguardmode import NanGuardMode
    from aesara.compile.profiling import ProfileStats

# What checks and measures programs is loaded when somebody asks for it.
_ELSEWHERE = {
    "DebugMode": "aesara.compile.debugmode",
    "MonitorMode": "aesara.compile.monitormode",
    "NanGuardMode": "aesara.compile.nanguardmode",
    "NanWhere": "aesara.compile.nan_where",
    "ProfileStats": "aesara.compile.profiling",
}

__getattr__ = _modules_on_demand(__name__, elsewhere=_ELSEWHERE)
__all__ = sorted({name for name in dir() if not name.startswith("_")} - {"TYPE_CHECKING"} | set(_ELSEWHERE))
