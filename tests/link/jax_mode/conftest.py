"""Tests of graphs compiled by JAX, where it is installed (`make test-jax`)."""

import functools
import importlib
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

collect_ignore_glob = [] if find_spec("jax") else ["test_*.py"]

#: files for which XLA optimizes, and compiles with its usual emitters: whole programs, loops, fused functions, and
#: values of scalar functions, of which XLA's cube root depends on its optimizations
OPTIMIZED = {"test_linker_by_jax", "test_nnet_by_jax", "test_scalar_by_jax", "test_scan_by_jax"}

#: XLA's emitters of fused kernels take twice as long to compile as those before them.
QUICK = {"xla_cpu_use_fusion_emitters": False}


@functools.cache
def has_option(name, value):
    """Return whether this version of XLA has a compile option."""
    jax = importlib.import_module("jax")
    try:
        jax.jit(abs, compiler_options={name: value})(1.0)
    except RuntimeError:
        return False
    return True


@pytest.fixture(scope="module", autouse=True)
def quick_compilation(request):
    """XLA leaves most of its passes out: for tests of many functions, each of which is called once."""
    if request.module.__name__.rpartition(".")[2] in OPTIMIZED:
        yield
        return
    jax, compiled = importlib.import_module("jax"), importlib.import_module("aesara.link.jax.compiled")
    options = {name: value for name, value in QUICK.items() if has_option(name, value)}
    quick = functools.partial(jax.jit, compiler_options=options)
    jax.config.update("jax_disable_most_optimizations", True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "jax", SimpleNamespace(**{**vars(jax), "jit": quick}))
        yield
    jax.config.update("jax_disable_most_optimizations", False)
