"""The option `native_target`: code for levels of processors, and for other architectures."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.errors import NativeTargetError
from aesara.link.llvm import target
from aesara.link.llvm.jit import host_key
from aesara.link.llvm.target import target_named

sys.path.insert(0, str(Path(__file__).parent.parent))
import levels

IS_X86 = target_named("native").is_x86
FOREIGN = levels.ARM if IS_X86 else levels.X86
RUN = levels.RUNNABLE[:-1]


def sum_of_exponentials():
    x = at.dvector("x")
    return aesara.function([x], at.exp(x).sum())


def test_every_level_has_an_option():
    assert config._config_var_dict["native_target"].all == {"native", *levels.X86, *levels.ARM}


@pytest.mark.parametrize("name", RUN)
def test_code_of_a_level_runs_and_is_for_it(name):
    with config.change_flags(native_target=name):
        f = sum_of_exponentials()
        text = f._native.report.assembly()
    assert np.isclose(f(np.zeros(1003)), 1003)
    assert ("%zmm" in text) == (name == "x86-64-v4")
    assert ("%ymm" in text) == (name in ("x86-64-v3", "x86-64-v4"))


@pytest.mark.parametrize("name", FOREIGN)
def test_code_for_another_architecture_can_be_inspected(name):
    with config.change_flags(native_target=name):
        f = sum_of_exponentials()
        text, code = f._native.report.assembly(), f._native.report.object_code()
        assert "define" in f._native.report.optimized_llvm()
    assert "%xmm" not in text if IS_X86 else "%xmm" in text
    assert len(code) > 500
    with pytest.raises(NativeTargetError, match=rf"for another architecture \({name}\).*native_target to native"):
        f(np.zeros(3))


def test_a_pickled_function_for_another_architecture_is_made_again():
    with config.change_flags(native_target=FOREIGN[0]):
        text = pickle.dumps(sum_of_exponentials())
    assert pickle.loads(text)(np.zeros(3)) == 3


def test_the_cache_tells_levels_apart(tmp_path):
    keys, cached = set(), []
    with config.change_flags(native_cache_dir=str(tmp_path)):
        for _ in range(2):
            for name in [*RUN, *FOREIGN[:1]]:
                with config.change_flags(native_target=name):
                    keys.add(host_key())
                    cached.append(sum_of_exponentials()._native.report.cached)
    assert len(keys) == len(RUN) + 1
    assert cached == [False] * len(keys) + [True] * len(keys)


@pytest.fixture
def old_processor(monkeypatch):
    """Simulate a processor of 2012, with AVX but no later features."""
    has = dict.fromkeys(["cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3", "avx"], True)
    monkeypatch.setattr(target.llvm, "get_host_cpu_name", lambda: "ivybridge")
    monkeypatch.setattr(target.llvm, "get_host_cpu_features", lambda: llvm.FeatureMap(has))
    monkeypatch.setattr(target.llvm, "get_process_triple", lambda: "x86_64-unknown-linux-gnu")


def test_a_level_that_the_processor_lacks_says_what_is_missing(old_processor):
    of = target_named.__wrapped__
    assert of("x86-64-v2").runs
    missing = "avx2, bmi, bmi2, f16c, fma, lzcnt, movbe"
    with pytest.raises(
        NativeTargetError,
        match=rf"asks for code for x86-64-v3, but this processor \(ivybridge\) lacks {missing}, so it could not run "
        "it. Set it to native or one of x86-64-v2.",
    ):
        of("x86-64-v3")
    with pytest.raises(NativeTargetError, match=f"{missing}, avx512bw, avx512cd"):
        of("x86-64-v4")
    native = of("native")
    assert (native.vector_bytes, native.multiplies_and_adds) == (32, False)


def test_the_error_comes_when_a_function_is_compiled(monkeypatch, old_processor):
    monkeypatch.setattr("aesara.link.llvm.jit.current_target", lambda: target_named.__wrapped__(config.native_target))
    with config.change_flags(native_target="x86-64-v4"), pytest.raises(NativeTargetError, match="lacks avx2"):
        sum_of_exponentials()


def test_features_of_levels():
    widths = [(name, target_named(name).vector_bytes, target_named(name).multiplies_and_adds) for name in RUN]
    known = {"x86-64-v2": (16, False), "x86-64-v3": (32, True), "x86-64-v4": (64, True)}
    assert widths == [(name, *known.get(name, (16, True))) for name in RUN]
