"""The options of the package, with their defaults and what they mean."""

from __future__ import annotations

import os
import platform as _platform
import re
import shutil
import sys
from pathlib import Path

from aesara.configparams import (
    BoolParam,
    ContextsParam,
    DeviceParam,
    EnumStr,
    FloatParam,
    IntParam,
    ModeParam,
    PathParam,
    StrParam,
)
from aesara.configparser import _config

config = _config


# Why options that are accepted have no effect.
_NO_COMPILER = "no C compiler takes part"
_NO_DEVICE = "this option chooses no device but the CPU"
_NO_NUMBA = "native code is made without Numba"
_NO_CHOICE = "operations have one implementation"
_NO_OLD_BUG = "the bugs of old versions are not here"


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


def get_cuda_root() -> str:
    """Return the folder of the CUDA toolkit, or an empty string."""
    root = os.getenv("CUDA_ROOT") or os.getenv("CUDA_PATH")
    if root:
        return root
    compiler = shutil.which("nvcc")
    return os.path.dirname(os.path.dirname(compiler)) if compiler else ""


def default_cuda_include() -> str:
    """Return the include folder of the CUDA toolkit, or an empty string."""
    root = get_cuda_root()
    return os.path.join(root, "include") if root else ""


def default_dnn_base_path() -> str:
    """Return the folder that holds cuDNN, or an empty string."""
    root = get_cuda_root()
    return root if root and os.path.exists(os.path.join(root, "include", "cudnn.h")) else ""


def _below_dnn_base(*parts: str) -> str:
    base = default_dnn_base_path()
    return os.path.join(base, *parts) if base else ""


def default_dnn_inc_path() -> str:
    """Return the include folder of cuDNN, or an empty string."""
    return _below_dnn_base("include")


def default_dnn_lib_path() -> str:
    """Return the library folder of cuDNN, or an empty string."""
    return _below_dnn_base("lib" if sys.platform == "darwin" else "lib64")


def default_dnn_bin_path() -> str:
    """Return the folder of the cuDNN DLLs, or an empty string."""
    return _below_dnn_base("bin" if sys.platform == "win32" else "lib64")


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
    config.add("contexts", "Names of several devices.", ContextsParam(), in_c_key=False, no_effect=_NO_DEVICE)
    config.add(
        "force_device",
        "Fail where the device is not available.",
        BoolParam(False, mutable=False),
        in_c_key=False,
        no_effect=_NO_DEVICE,
    )
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
        "assert_no_cpu_op",
        "What to do when a compiled graph holds a CPU operation.",
        EnumStr("ignore", ["warn", "raise", "pdb"]),
        in_c_key=False,
        no_effect=_NO_DEVICE,
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
    config.add("allow_gc", "Free intermediate results as early as possible.", BoolParam(True), in_c_key=False)
    config.add(
        "deterministic",
        "Prefer results that repeat exactly.",
        EnumStr("default", ["more"]),
        in_c_key=False,
        no_effect="they always repeat",
    )
    config.add(
        "seed",
        "Seed of the package's own random choices in tests.",
        IntParam(666),
        in_c_key=False,
        no_effect="the tests have fixed seeds",
    )


def add_compile_configvars() -> None:
    """Options about modes, linkers and the compiler."""
    config.add(
        "mode",
        "Default compilation mode. 'Mode' combines the options `linker` and `optimizer`.",
        ModeParam(
            "Mode",
            [
                "DebugMode",
                "FAST_RUN",
                "NanGuardMode",
                "FAST_COMPILE",
                "DEBUG_MODE",
                "MonitorMode",
                "NanWhere",
                "JAX",
                "NUMBA",
            ],
        ),
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
        "native_cache_dir",
        "Folder of the compiled objects. It is created when the first object is stored.",
        PathParam(_default_cache_dir),
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
    for name, default in (("cxx", ""), ("gcc__cxxflags", ""), ("compile__compiler", "")):
        config.add(name, "Options of the C++ compiler.", StrParam(default), in_c_key=False, no_effect=_NO_COMPILER)
    for name in ("cmodule__warn_no_version", "cmodule__remove_gxx_opt", "cmodule__preload_cache"):
        config.add(name, "Handling of C modules.", BoolParam(False), in_c_key=False, no_effect=_NO_COMPILER)
    for name in ("cmodule__compilation_warning", "cmodule__debug"):
        config.add(name, "Handling of C modules.", BoolParam(False), in_c_key=False, no_effect=_NO_COMPILER)
    config.add(
        "cmodule__age_thresh_use", "Age of usable C modules.", IntParam(2073600), in_c_key=False, no_effect=_NO_COMPILER
    )
    config.add(
        "nocleanup", "Keep C files that do not compile.", BoolParam(False), in_c_key=False, no_effect=_NO_COMPILER
    )
    config.add("compile__wait", "Waiting time for the lock.", IntParam(5), in_c_key=False, no_effect=_NO_COMPILER)
    config.add("compile__timeout", "Waiting time for the lock.", IntParam(120), in_c_key=False, no_effect=_NO_COMPILER)
    config.add("blas__ldflags", "How to link BLAS.", StrParam(""), in_c_key=False, no_effect=_NO_COMPILER)
    config.add("blas__check_openmp", "Check BLAS for OpenMP.", BoolParam(True), in_c_key=False, no_effect=_NO_COMPILER)
    config.add("ctc__root", "Folder of warp-ctc.", StrParam(""), in_c_key=False, no_effect=_NO_COMPILER)
    config.add(
        "openmp", "Let element-wise C code use OpenMP.", BoolParam(False), in_c_key=False, no_effect=_NO_COMPILER
    )
    config.add(
        "openmp_elemwise_minsize", "Smallest size for OpenMP.", IntParam(200000), in_c_key=False, no_effect=_NO_COMPILER
    )
    config.add("check_input", "Check the inputs of C code.", BoolParam(True), in_c_key=False, no_effect=_NO_COMPILER)


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
    config.add(
        "tensor__insert_inplace_optimizer_validate_nb",
        "How many in-place replacements are validated together; -1 chooses by graph size.",
        IntParam(-1),
        in_c_key=False,
        no_effect="one walk decides for the whole graph",
    )
    for name in ("lib__amblibm", "lib__amdlibm"):
        config.add(name, "Use AMD's libm.", BoolParam(False), in_c_key=False, no_effect=_NO_COMPILER)


def add_traceback_configvars() -> None:
    """Options about the traces that errors show."""
    config.add(
        "traceback__limit",
        "Number of stack frames that `add_tag_trace` stores.",
        IntParam(8),
        in_c_key=False,
    )
    config.add(
        "traceback__compile_limit",
        "Number of stack frames stored for variables made during compilation.",
        IntParam(0),
        in_c_key=False,
        no_effect="every node has the line of the program that it comes from",
    )


def add_experimental_configvars() -> None:
    """Options whose meaning may change."""
    config.add(
        "experimental__local_alloc_elemwise",
        "Remove allocations before element-wise operations, which broadcast by themselves.",
        BoolParam(True),
        in_c_key=False,
    )
    config.add(
        "experimental__local_alloc_elemwise_assert",
        "Assert the shapes where such a broadcast was removed.",
        BoolParam(True),
        in_c_key=False,
        no_effect="the rule has the tag 'shape_unsafe', by which it can be left out",
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
    config.add(
        "warn__ignore_bug_before",
        "Do not warn about bugs fixed before this version.",
        EnumStr(
            "0.9",
            [
                "None",
                "all",
                "0.3",
                "0.4",
                "0.4.1",
                "0.5",
                "0.6",
                "0.7",
                "0.8",
                "0.8.1",
                "0.8.2",
                "0.10",
                "1.0",
                "1.0.1",
                "1.0.2",
                "1.0.3",
                "1.0.4",
                "1.0.5",
            ],
        ),
        in_c_key=False,
        no_effect=_NO_OLD_BUG,
    )
    for name in (
        "warn__argmax_pushdown_bug",
        "warn__gpusum_01_011_0111_bug",
        "warn__sum_sum_bug",
        "warn__sum_div_dimshuffle_bug",
        "warn__subtensor_merge_bug",
        "warn__gpu_set_subtensor1",
        "warn__vm_gc_bug",
        "warn__signal_conv2d_interface",
        "warn__reduce_join",
        "warn__inc_set_subtensor1",
        "warn__round",
        "warn__inc_subtensor1_opt",
    ):
        config.add(
            name, "Warn where an old bug may have mattered.", BoolParam(False), in_c_key=False, no_effect=_NO_OLD_BUG
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
        "DebugMode__warn_input_not_reused",
        "Warn where an input promised for reuse was not reused.",
        BoolParam(True),
        in_c_key=False,
        no_effect="results are compared, and how operations use memory is their own affair",
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
    config.add(
        "unittests__rseed",
        "Seed of the tests, or 'random'.",
        StrParam("666"),
        in_c_key=False,
        no_effect="the tests have fixed seeds",
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
        "profiling__min_peak_memory",
        "Search for the smallest peak memory.",
        BoolParam(False),
        in_c_key=False,
        no_effect="all orders of a graph are too many",
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
    config.add(
        "metaopt__optimizer_excluding",
        "Tags to leave out, separated by ':'.",
        StrParam(""),
        in_c_key=False,
        no_effect=_NO_CHOICE,
    )
    config.add(
        "metaopt__optimizer_including",
        "Tags to try, separated by ':'.",
        StrParam(""),
        in_c_key=False,
        no_effect=_NO_CHOICE,
    )


def add_vm_configvars() -> None:
    """Options about the reference virtual machine."""
    config.add(
        "vm__lazy",
        "Evaluate only what is asked for: True always, otherwise where the graph has operations that choose.",
        StrParam("None"),
        in_c_key=False,
    )


def add_deprecated_configvars() -> None:
    """Options that no longer do anything."""
    config.add("gpuarray__preallocate", "GPU memory.", FloatParam(0), in_c_key=False, no_effect=_NO_DEVICE)
    config.add("enable_initial_driver_test", "GPU test.", BoolParam(True), in_c_key=False, no_effect=_NO_DEVICE)


def add_scan_configvars() -> None:
    """Options about loops."""
    config.add(
        "scan__checkpoint_memory",
        "How many bytes of states the gradient of a loop may keep, when it is made; of longer loops it keeps as many "
        "states as the square root of the number of steps, and computes the others again. 0 for no limit.",
        IntParam(0, _is_count),
        in_c_key=False,
    )
    config.add(
        "scan__allow_gc",
        "Free memory between iterations.",
        BoolParam(False),
        in_c_key=False,
        no_effect="the memory of a loop is planned once",
    )
    config.add(
        "scan__allow_output_prealloc",
        "Let the loop write into its outputs.",
        BoolParam(True),
        in_c_key=False,
        no_effect="native loops always do",
    )


def add_numba_configvars() -> None:
    """Options of the Numba linker."""
    config.add(
        "numba__vectorize_target",
        "Target of vectorised code.",
        EnumStr("cpu", ["parallel", "cuda"]),
        in_c_key=False,
        no_effect=_NO_NUMBA,
    )
    config.add("numba__fastmath", "Allow inexact arithmetic.", BoolParam(True), in_c_key=False, no_effect=_NO_NUMBA)
    config.add("numba__cache", "Cache compiled functions.", BoolParam(True), in_c_key=False, no_effect=_NO_NUMBA)


def add_multiprocessing_configvars() -> None:
    """Options about several processes."""
    config.add(
        "n_jobs",
        "Number of processes for parallel tests.",
        IntParam(1),
        in_c_key=False,
        no_effect="tests run in one process",
    )


def add_caching_dir_configvars() -> None:
    """Options about folders of compiled C code."""
    for name, what in (
        ("compiledir_format", "Name pattern of the folder."),
        ("base_compiledir", "Parent of the folder."),
        ("compiledir", "The folder."),
    ):
        config.add(name, f"Compiled C code: {what}", StrParam(""), in_c_key=False, no_effect=_NO_COMPILER)


for _declare in (
    add_basic_configvars,
    add_compile_configvars,
    add_tensor_configvars,
    add_traceback_configvars,
    add_experimental_configvars,
    add_error_and_warning_configvars,
    add_testvalue_and_checking_configvars,
    add_multiprocessing_configvars,
    add_optimizer_configvars,
    add_metaopt_configvars,
    add_vm_configvars,
    add_deprecated_configvars,
    add_scan_configvars,
    add_numba_configvars,
    add_caching_dir_configvars,
):
    _declare()

config.warn_unused_flags()
