"""Options of Aesara 2.9.4 without effect, and the functions that searched folders of CUDA for some of them.

Programs and configuration files that set one keep working: the value is accepted, and setting it to anything but its
default warns once, with the reason that stands here. Nothing in the package reads these options.
"""

from __future__ import annotations

import os
import shutil
import sys

from aesara import configdefaults
from aesara.configparams import (
    BoolParam,
    ConfigParam,
    ContextsParam,
    EnumStr,
    FloatParam,
    IntParam,
    StrParam,
)
from aesara.configparser import AesaraConfigParser

__all__ = [
    "OPTIONS",
    "add_caching_dir_configvars",
    "add_deprecated_configvars",
    "add_multiprocessing_configvars",
    "add_numba_configvars",
    "add_options_without_effect",
    "default_cuda_include",
    "default_dnn_base_path",
    "default_dnn_bin_path",
    "default_dnn_inc_path",
    "default_dnn_lib_path",
    "get_cuda_root",
]

_OLD_VERSIONS = ["None", "all", "0.3", "0.4", "0.4.1", "0.5", "0.6", "0.7", "0.8", "0.8.1", "0.8.2"]
_OLD_VERSIONS += ["0.10", "1.0", "1.0.1", "1.0.2", "1.0.3", "1.0.4", "1.0.5"]
_OLD_BUG = "Warn where an old bug may have mattered."

#: For each reason why options have no effect: their names, their meaning, and their values.
OPTIONS: dict[str, tuple[tuple[str, str, ConfigParam], ...]] = {
    "no C compiler takes part": (
        ("cxx", "Options of the C++ compiler.", StrParam("")),
        ("gcc__cxxflags", "Options of the C++ compiler.", StrParam("")),
        ("compile__compiler", "Options of the C++ compiler.", StrParam("")),
        ("cmodule__warn_no_version", "Handling of C modules.", BoolParam(False)),
        ("cmodule__remove_gxx_opt", "Handling of C modules.", BoolParam(False)),
        ("cmodule__preload_cache", "Handling of C modules.", BoolParam(False)),
        ("cmodule__compilation_warning", "Handling of C modules.", BoolParam(False)),
        ("cmodule__debug", "Handling of C modules.", BoolParam(False)),
        ("cmodule__age_thresh_use", "Age of usable C modules.", IntParam(2073600)),
        ("nocleanup", "Keep C files that do not compile.", BoolParam(False)),
        ("compile__wait", "Waiting time for the lock.", IntParam(5)),
        ("compile__timeout", "Waiting time for the lock.", IntParam(120)),
        ("compiledir_format", "Compiled C code: Name pattern of the folder.", StrParam("")),
        ("base_compiledir", "Compiled C code: Parent of the folder.", StrParam("")),
        ("compiledir", "Compiled C code: The folder.", StrParam("")),
        ("blas__ldflags", "How to link BLAS.", StrParam("")),
        ("blas__check_openmp", "Check BLAS for OpenMP.", BoolParam(True)),
        ("ctc__root", "Folder of warp-ctc.", StrParam("")),
        ("openmp", "Let element-wise C code use OpenMP.", BoolParam(False)),
        ("openmp_elemwise_minsize", "Smallest size for OpenMP.", IntParam(200000)),
        ("check_input", "Check the inputs of C code.", BoolParam(True)),
        ("lib__amblibm", "Use AMD's libm.", BoolParam(False)),
        ("lib__amdlibm", "Use AMD's libm.", BoolParam(False)),
    ),
    "this option chooses no device but the CPU": (
        ("contexts", "Names of several devices.", ContextsParam()),
        ("force_device", "Fail where the device is not available.", BoolParam(False, mutable=False)),
        (
            "assert_no_cpu_op",
            "What to do when a compiled graph holds a CPU operation.",
            EnumStr("ignore", ["warn", "raise", "pdb"]),
        ),
        ("gpuarray__preallocate", "GPU memory.", FloatParam(0)),
        ("enable_initial_driver_test", "GPU test.", BoolParam(True)),
    ),
    "native code is made without Numba": (
        ("numba__vectorize_target", "Target of vectorised code.", EnumStr("cpu", ["parallel", "cuda"])),
        ("numba__fastmath", "Allow inexact arithmetic.", BoolParam(True)),
        ("numba__cache", "Cache compiled functions.", BoolParam(True)),
    ),
    "operations have one implementation": (
        ("metaopt__optimizer_excluding", "Tags to leave out, separated by ':'.", StrParam("")),
        ("metaopt__optimizer_including", "Tags to try, separated by ':'.", StrParam("")),
    ),
    "the bugs of old versions are not here": (
        (
            "warn__ignore_bug_before",
            "Do not warn about bugs fixed before this version.",
            EnumStr("0.9", _OLD_VERSIONS),
        ),
        ("warn__argmax_pushdown_bug", _OLD_BUG, BoolParam(False)),
        ("warn__gpusum_01_011_0111_bug", _OLD_BUG, BoolParam(False)),
        ("warn__sum_sum_bug", _OLD_BUG, BoolParam(False)),
        ("warn__sum_div_dimshuffle_bug", _OLD_BUG, BoolParam(False)),
        ("warn__subtensor_merge_bug", _OLD_BUG, BoolParam(False)),
        ("warn__gpu_set_subtensor1", _OLD_BUG, BoolParam(False)),
        ("warn__vm_gc_bug", _OLD_BUG, BoolParam(False)),
        ("warn__signal_conv2d_interface", _OLD_BUG, BoolParam(False)),
        ("warn__reduce_join", _OLD_BUG, BoolParam(False)),
        ("warn__inc_set_subtensor1", _OLD_BUG, BoolParam(False)),
        ("warn__round", _OLD_BUG, BoolParam(False)),
        ("warn__inc_subtensor1_opt", _OLD_BUG, BoolParam(False)),
    ),
    "they always repeat": (("deterministic", "Prefer results that repeat exactly.", EnumStr("default", ["more"])),),
    "the tests have fixed seeds": (
        ("seed", "Seed of the package's own random choices in tests.", IntParam(666)),
        ("unittests__rseed", "Seed of the tests, or 'random'.", StrParam("666")),
    ),
    "tests run in one process": (("n_jobs", "Number of processes for parallel tests.", IntParam(1)),),
    "one walk decides for the whole graph": (
        (
            "tensor__insert_inplace_optimizer_validate_nb",
            "How many in-place replacements are validated together; -1 chooses by graph size.",
            IntParam(-1),
        ),
    ),
    "every node has the line of the program that it comes from": (
        (
            "traceback__compile_limit",
            "Number of stack frames stored for variables made during compilation.",
            IntParam(0),
        ),
    ),
    "the rule has the tag 'shape_unsafe', by which it can be left out": (
        (
            "experimental__local_alloc_elemwise_assert",
            "Assert the shapes where such a broadcast was removed.",
            BoolParam(True),
        ),
    ),
    "results are compared, and how operations use memory is their own affair": (
        (
            "DebugMode__warn_input_not_reused",
            "Warn where an input promised for reuse was not reused.",
            BoolParam(True),
        ),
    ),
    "all orders of a graph are too many": (
        ("profiling__min_peak_memory", "Search for the smallest peak memory.", BoolParam(False)),
    ),
    "the memory of a loop is planned once": (("scan__allow_gc", "Free memory between iterations.", BoolParam(False)),),
    "native loops always do": (
        ("scan__allow_output_prealloc", "Let the loop write into its outputs.", BoolParam(True)),
    ),
}


def add_options_without_effect(config: AesaraConfigParser, *names: str) -> None:
    """Declare those of `OPTIONS` that `config` does not have: these, or all."""
    for reason, options in OPTIONS.items():
        for name, doc, values in options:
            if name not in config and (not names or name in names):
                config.add(name, doc, values, in_c_key=False, no_effect=reason)


def add_deprecated_configvars() -> None:
    """Options about GPUs, which have no effect."""
    add_options_without_effect(configdefaults.config, "gpuarray__preallocate", "enable_initial_driver_test")


def add_numba_configvars() -> None:
    """Options of the Numba linker, which have no effect."""
    add_options_without_effect(configdefaults.config, "numba__vectorize_target", "numba__fastmath", "numba__cache")


def add_multiprocessing_configvars() -> None:
    """Options about several processes, which have no effect."""
    add_options_without_effect(configdefaults.config, "n_jobs")


def add_caching_dir_configvars() -> None:
    """Options about folders of compiled C code, which have no effect."""
    add_options_without_effect(configdefaults.config, "compiledir_format", "base_compiledir", "compiledir")


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


add_options_without_effect(configdefaults.config)
