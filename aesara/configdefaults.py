"""The options of the package, with their defaults and what they mean.

Options of Aesara 2.9.4 that have nothing to do here are in `aesara.compat`.
"""

from __future__ import annotations

import os
import platform as _platform
import re
import sys
from pathlib import Path

from aesara.configparams import (
    BoolParam,
    DeviceParam,
    EnumStr,
    FloatParam,
    IntParam,
    ModeParam,
    PathParam,
    StrParam,
)
from aesara.configparser import _config
from aesara.utils import modules_on_demand

config = _config


def _positive(value) -> bool:
    return value > 0


def _non_negative(value) -> bool:
    return value >= 0


def short_platform(r: str | None = None, p: str | None = None) -> str:
    """Return the platform name without the parts that change with kernel updates.

    Examples
    --------
    >>> short_platform("3.2.0-70-generic", "Linux-3.2.0-70-generic-x86_64-with-debian")
    'Linux-3.2--generic-x86_64-with-debian'
    """
    release = _platform.release() if r is None else r
    name = _platform.platform() if p is None else p
    match = re.match(r"(\d+\.\d+)[\d.]*(?:-[\d.]*)?(.*)$", release)
    if not release or match is None:
        return name
    tail = match.group(2)
    return name.replace(release, f"{match.group(1)}-{tail}")


def _is_sloppiness(value: int) -> bool:
    return value in (0, 1, 2)


def _is_count(value: int) -> bool:
    return value >= 0


def _default_cache_dir() -> str:
    """Return the folder for compiled objects; nothing is created here."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(base / "aesara")


def add_basic_configvars() -> None:
    """Options about dtypes, devices and memory."""
    config.add(
        "floatX",
        "Default floating-point dtype of new variables and of casts to 'floatX'.",
        EnumStr("float64", ["float32", "float16"]),
    )
    config.add(
        "warn_float64",
        "What to do when a variable with dtype float64 is created.",
        EnumStr("ignore", ["warn", "raise", "pdb"]),
        in_c_key=False,
    )
    config.add(
        "pickle_test_value",
        "Whether pickled variables keep their test values.",
        BoolParam(True),
        in_c_key=False,
    )
    config.add(
        "cast_policy",
        "How the dtype of Python scalars is chosen: 'custom' takes the smallest dtype that does not widen the other "
        "operand, 'numpy+floatX' follows NumPy and turns float64 results of float32 operands into floatX.",
        EnumStr("custom", ["numpy+floatX"]),
    )
    config.add("device", "Device that computes.", DeviceParam("cpu", mutable=False), in_c_key=False)
    config.add(
        "assume__check",
        "Check at run time what `assume` says of matrices.",
        BoolParam(False),
        in_c_key=False,
    )
    config.add(
        "conv__assert_shape",
        "Check at run time the shapes declared for convolutions.",
        BoolParam(False),
        in_c_key=False,
    )
    config.add(
        "print_global_stats",
        "Print the calls of profiled functions and the compilation time at exit.",
        BoolParam(False),
        in_c_key=False,
    )
    config.add(
        "unpickle_function",
        "Whether unpickled functions are compiled again; otherwise None stands in their place.",
        BoolParam(True),
        in_c_key=False,
    )
    config.add(
        "reoptimize_unpickled_function",
        "Whether unpickled functions are rewritten again.",
        BoolParam(False),
        in_c_key=False,
    )
    config.add(
        "hide_internal_frames",
        "Leave frames of the package out of the tracebacks of its own errors that IPython and notebooks show.",
        BoolParam(True),
        in_c_key=False,
    )
    config.add("allow_gc", "Free intermediate results as early as possible.", BoolParam(True), in_c_key=False)


_MODES = ["DebugMode", "FAST_RUN", "NanGuardMode", "FAST_COMPILE", "DEBUG_MODE", "MonitorMode", "NanWhere"]
_MODE = ModeParam("Mode", [*_MODES, "JAX", "NUMBA"])
#: the value that the option `mode` takes for a name or a mode; raises `ValueError` for what is none
_filter_mode = _MODE.convert


def add_compile_configvars() -> None:
    """Options about modes, linkers and the compiler."""
    config.add(
        "mode",
        "Default compilation mode. 'Mode' combines the options `linker` and `optimizer`.",
        _MODE,
        in_c_key=False,
    )
    config.add(
        "linker",
        "Default linker of the mode 'Mode'. 'llvm' is native code, 'py' the reference interpreter. The names that "
        "stood for C linkers mean the default.",
        EnumStr(
            "llvm",
            ["cvm", "c|py", "py", "c", "c|py_nogc", "vm", "vm_nogc", "cvm_nogc", "jax", "numba"],
        ),
        in_c_key=False,
    )
    config.add(
        "on_unused_input",
        "What to do when a function's input is not used by its graph.",
        EnumStr("raise", ["warn", "ignore"]),
        in_c_key=False,
    )
    config.add(
        "native_target",
        "What native code is made for: 'native' is the processor that runs Python. A level of x86-64 makes code that "
        "runs on every processor of that level, with the same results to the last bit. Code for another architecture "
        "can be looked at, not run.",
        EnumStr(
            "native",
            ["x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a", "armv8.2-a", "armv9-a", "apple-m1"],
        ),
    )
    config.add("native_cache", "Keep compiled objects on disk.", BoolParam(True), in_c_key=False)
    config.add(
        "function_cache",
        "Load the machine code of a graph that was compiled before, by this process or another one, without rewriting "
        "it again. Nothing is if the option native_cache is off.",
        BoolParam(True),
        in_c_key=False,
    )
    config.add(
        "native_cache_dir",
        "Folder of the compiled objects. It is created when the first object is stored.",
        PathParam(_default_cache_dir),
        in_c_key=False,
    )
    config.add(
        "threads",
        "Number of threads that one call may use, with its own. 0: as many as this process may use physical cores, or "
        "OMP_NUM_THREADS if that is less. Read when a function is made, for all functions.",
        IntParam(0, _is_count),
        in_c_key=False,
    )
    config.add(
        "native_kept_bytes",
        "Memory of large results (4 MiB or more) that have died which the process keeps for later results, in bytes. "
        "0 keeps none. A change takes effect when the next function is made. Only on Linux.",
        IntParam(256 * 2**20, _is_count),
        in_c_key=False,
    )
    config.add(
        "compile_progress",
        "Whether a compilation of more than a second says how far it is: 'auto' does in a notebook, never in a script.",
        EnumStr("auto", ["off"]),
        in_c_key=False,
    )
    config.add(
        "native_verify",
        "Verify the loop IR after each pass of the native compiler.",
        BoolParam(False),
        in_c_key=False,
    )
    config.add(
        "native_fallback",
        "What to do when a function compiles but parts of it, or all of it, will run in Python.",
        EnumStr("ignore", ["warn", "raise"]),
        in_c_key=False,
    )


def add_tensor_configvars() -> None:
    """Options about tensor operations."""
    config.add(
        "tensor__cmp_sloppy",
        "Tolerance of comparisons in tests: 0 strict, 1 sloppy, 2 very sloppy.",
        IntParam(0, _is_sloppiness, mutable=True),
        in_c_key=False,
    )
    config.add(
        "tensor__local_elemwise_fusion",
        "Fuse element-wise operations into one in the graph, in modes that have the tag 'fusion'.",
        BoolParam(True),
        in_c_key=False,
    )


def add_traceback_configvars() -> None:
    """Options about the traces that errors show."""
    config.add(
        "traceback__limit",
        "Number of stack frames that `add_tag_trace` stores.",
        IntParam(8),
        in_c_key=False,
    )


def add_experimental_configvars() -> None:
    """Options whose meaning may change."""
    config.add(
        "experimental__local_alloc_elemwise",
        "Remove allocations before element-wise operations, which broadcast by themselves.",
        BoolParam(True),
        in_c_key=False,
    )


def add_error_and_warning_configvars() -> None:
    """Options about errors and warnings."""
    config.add(
        "exception_verbosity",
        "'high' adds the graph around the node, with types and values, to run-time errors.",
        EnumStr("low", ["high"]),
        in_c_key=False,
    )
    config.add(
        "on_shape_error",
        "What to do when static shape inference fails.",
        EnumStr("warn", ["raise"]),
        in_c_key=False,
    )


def add_testvalue_and_checking_configvars() -> None:
    """Options about test values, debug modes and checks."""
    config.add(
        "compute_test_value",
        "Compute every new node on test values: 'off' never, 'ignore' where all inputs have one, 'warn', 'raise' or "
        "'pdb' where one is missing.",
        EnumStr("off", ["ignore", "warn", "raise", "pdb"]),
        in_c_key=False,
    )
    config.add(
        "print_test_value",
        "Whether the `repr` of a variable shows its test value, or the value of a constant or shared variable, below "
        "its name.",
        BoolParam(False),
        in_c_key=False,
    )
    config.add(
        "compute_test_value_opt",
        "The same while the graph of a function is rewritten, for debugging: what is missing or does not fit there.",
        EnumStr("off", ["ignore", "warn", "raise", "pdb"]),
        in_c_key=False,
    )
    config.add(
        "check_stack_trace",
        "Check that rewrites keep traces.",
        EnumStr("off", ["log", "warn", "raise"]),
        in_c_key=False,
    )
    config.add("NanGuardMode__nan_is_error", "NaN is an error.", BoolParam(True), in_c_key=False)
    config.add("NanGuardMode__inf_is_error", "Infinity is an error.", BoolParam(True), in_c_key=False)
    config.add(
        "NanGuardMode__big_is_error",
        "Absolute values above 1e10 are an error.",
        BoolParam(True),
        in_c_key=False,
    )
    config.add(
        "NanGuardMode__action",
        "What to do when NanGuardMode finds such a value.",
        EnumStr("raise", ["warn", "pdb"]),
        in_c_key=False,
    )
    config.add("DebugMode__patience", "How often a rewrite is repeated.", IntParam(10, _positive), in_c_key=False)
    config.add("DebugMode__check_c", "Run native implementations.", BoolParam(True), in_c_key=False)
    config.add("DebugMode__check_py", "Run Python implementations.", BoolParam(True), in_c_key=False)
    config.add("DebugMode__check_finite", "True asks for finite results.", BoolParam(True), in_c_key=False)
    config.add(
        "DebugMode__check_strides",
        "How to react to differing strides: 0 ignore, 1 warn, 2 raise.",
        IntParam(0, _is_sloppiness),
        in_c_key=False,
    )
    config.add(
        "DebugMode__check_preallocated_output",
        "Layouts of preallocated outputs to try, separated by ':'.",
        StrParam(""),
        in_c_key=False,
    )
    config.add(
        "DebugMode__check_preallocated_output_ndim",
        "Dimensions to test with other strides.",
        IntParam(4, _positive),
        in_c_key=False,
    )


def add_optimizer_configvars() -> None:
    """Options about rewriting."""
    config.add(
        "optimizer",
        "Default rewrites of the mode 'Mode'.",
        EnumStr("o4", ["o3", "o2", "o1", "unsafe", "fast_run", "fast_compile", "merge", "None"]),
        in_c_key=False,
    )
    config.add("optimizer_verbose", "Print every rewrite that is applied.", BoolParam(False), in_c_key=False)
    config.add(
        "on_opt_error",
        "What to do when a rewrite fails.",
        EnumStr("warn", ["raise", "pdb", "ignore"]),
        in_c_key=False,
    )
    for name, what in (("excluding", "without"), ("including", "with"), ("requiring", "all of")):
        config.add(
            f"optimizer_{name}",
            f"Tags of rewrites, separated by ':'; use rewrites {what} them.",
            StrParam(""),
            in_c_key=False,
        )
    config.add(
        "optdb__position_cutoff",
        "Leave out rewrites from this position on.",
        FloatParam(float("inf")),
        in_c_key=False,
    )
    config.add(
        "optdb__max_use_ratio",
        "How often a rewrite may apply, in nodes of the graph.",
        FloatParam(8.0),
        in_c_key=False,
    )
    config.add(
        "cycle_detection",
        "How in-place rewrites are checked: 'regular' finds every valid one, 'fast' refuses doubtful ones early.",
        EnumStr("regular", ["fast"]),
        in_c_key=False,
    )
    config.add("profile", "Measure the execution of functions.", BoolParam(False), in_c_key=False)
    config.add("profile_optimizer", "Measure the rewriting too.", BoolParam(False), in_c_key=False)
    config.add("profile_memory", "Measure memory too.", BoolParam(False), in_c_key=False)
    config.add("profiling__time_thunks", "Measure each node.", BoolParam(True), in_c_key=False)
    config.add("profiling__n_apply", "Nodes to print.", IntParam(20, _non_negative), in_c_key=False)
    config.add("profiling__n_ops", "Operations to print.", IntParam(20, _non_negative), in_c_key=False)
    config.add("profiling__output_line_width", "Width of the lines.", IntParam(512, _positive), in_c_key=False)
    config.add(
        "profiling__min_memory_size",
        "Leave out results below this number of bytes.",
        IntParam(1024, _non_negative),
        in_c_key=False,
    )
    config.add(
        "profiling__destination",
        "Where the profile goes: 'stderr', 'stdout' or a file name.",
        PathParam("stderr"),
        in_c_key=False,
    )
    config.add("profiling__debugprint", "Print the graph after the profile.", BoolParam(False), in_c_key=False)
    config.add("profiling__ignore_first_call", "Leave out the first call.", BoolParam(False), in_c_key=False)


def add_metaopt_configvars() -> None:
    """Options about choosing among implementations."""
    config.add("metaopt__verbose", "0 silent, 1 prints choices, 2 prints timings.", IntParam(0), in_c_key=False)


def add_vm_configvars() -> None:
    """Options about the reference virtual machine."""
    config.add(
        "vm__lazy",
        "Evaluate only what is asked for: True always, otherwise where the graph has operations that choose.",
        StrParam("None"),
        in_c_key=False,
    )


def add_scan_configvars() -> None:
    """Options about loops."""
    config.add(
        "scan__checkpoint_memory",
        "How many bytes of states the gradient of a loop may keep, when it is made; of longer loops it keeps as many "
        "states as the square root of the number of steps, and computes the others again, also where these are more "
        "bytes. 0 for no limit.",
        IntParam(0, _is_count),
        in_c_key=False,
    )


for _declare in (
    add_basic_configvars,
    add_compile_configvars,
    add_tensor_configvars,
    add_traceback_configvars,
    add_experimental_configvars,
    add_error_and_warning_configvars,
    add_testvalue_and_checking_configvars,
    add_optimizer_configvars,
    add_metaopt_configvars,
    add_vm_configvars,
    add_scan_configvars,
):
    _declare()

#: names of Aesara 2.9.4, which nothing in the package uses
_OLDER = (
    "add_caching_dir_configvars",
    "add_deprecated_configvars",
    "add_multiprocessing_configvars",
    "add_numba_configvars",
    "default_cuda_include",
    "default_dnn_base_path",
    "default_dnn_bin_path",
    "default_dnn_inc_path",
    "default_dnn_lib_path",
    "get_cuda_root",
)
__getattr__ = modules_on_demand(__name__, elsewhere=dict.fromkeys(_OLDER, "aesara.compat.options_without_effect"))
