"""Entry points in modules of their own: same results, in the cache, in pickles and in loops."""

import pickle
import re

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.configdefaults import config
from aesara.link.llvm import long_entries
from aesara.link.llvm.emit_program import emit_program
from aesara.link.llvm.long_entries import split_long_entry


@pytest.fixture
def always(monkeypatch):
    """Treat every entry point as long."""
    monkeypatch.setattr(long_entries, "_LONG", 0)
    monkeypatch.setattr(long_entries, "_LONG_WITH_LOOPS", 0)


def programs():
    """Inputs, outputs and values: kernels, checks that fail, loops, products, draws, sums in blocks, Python."""
    x, m, i = at.dvector("x"), at.dmatrix("m"), at.lscalar("i")
    states, _ = aesara.scan(lambda v, s: at.tanh(s + at.dot(m, v)), sequences=m, outputs_info=x)
    draws = at.random.normal(x, 1.0, rng=aesara.shared(np.random.default_rng(3)))
    values, matrix = np.linspace(-1.0, 1.0, 3), np.arange(9.0).reshape(3, 3) / 10
    yield "kernels", [x], [at.exp(x) * 2, (x**2).sum(), at.sin(1e9 * x)], [values]
    yield "long sums", [x], [at.sum(at.arange(100_000) * x[0]), at.mean(x)], [values]
    yield "products", [m, x], [at.dot(m, m), at.dot(m, x), at.linalg.solve(m + at.eye(3), x)], [matrix, values]
    yield "a loop", [m, x], [states, aesara.grad(states.sum(), m)], [matrix, values]
    yield "draws", [x], [draws, draws.sum()], [values]
    yield "positions", [x, i], [x[i], at.argsort(-x)], [values, 1]
    yield "whole numbers", [i], [i // 7, i % -3, at.arange(i) // 2], [11]
    yield "Python", [x], [2 * as_op([at.dvector], [at.dvector])(np.flip)(x)], [values]


PROGRAMS = {name: rest for name, *rest in programs()}


def entry_code(function):
    return function._native.form.image.entry_code


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_one_module(name, always, monkeypatch):
    inputs, outputs, values = PROGRAMS[name]
    apart = aesara.function(inputs, outputs)
    monkeypatch.setattr(long_entries, "_LONG", 10**9)
    monkeypatch.setattr(long_entries, "_LONG_WITH_LOOPS", 10**9)
    whole = aesara.function(inputs, outputs)
    assert entry_code(apart) and not entry_code(whole)
    for got, expected in zip(apart(*values), whole(*values), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_instructions_that_are_missing_are_supplied_to_both(always):
    h, i, x = at.scalar("h", dtype="float16"), at.lscalar("i"), at.dvector("x")
    with config.change_flags(native_target="x86-64-v2"):
        f = aesara.function([h, i, x], [h * i, at.arange(i) * h, at.sin(x), at.cast(at.minimum(x, 9.0), "float16")])
    expected = np.float16(1.5) * 3, np.arange(3) * 1.5, np.sin([0.5, 1e9]), np.float16([0.5, 9.0])
    for got, wanted in zip(f(np.float16(1.5), 3, [0.5, 1e9]), expected, strict=True):
        np.testing.assert_allclose(got, wanted, 1e-15)
    assert entry_code(f)


def test_errors_are_those_of_one_module(always):
    x, y = at.dvectors("x", "y")
    f = aesara.function([x, y], x + y[:3])
    assert entry_code(f)
    with pytest.raises(ValueError, match="Input dimension mismatch"):
        f([1.0, 2.0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(f([1.0], [2.0]), [3.0])


def test_both_objects_are_kept(always, tmp_path):
    x = at.dvector("x")
    with config.change_flags(native_cache=True, native_cache_dir=str(tmp_path)):
        f = aesara.function([x], at.exp(x) - 1.5)
        again = aesara.function([x], at.exp(x) - 1.5)
    assert not f._native.report.cached and again._native.report.cached
    loaded = pickle.loads(pickle.dumps(f))
    assert entry_code(loaded) == entry_code(f) != b""
    np.testing.assert_array_equal(loaded([0.0, 1.0]), f([0.0, 1.0]))


def test_which_entry_points_are_long():
    """Only those above the limit; the other module has nothing of the kernels but inlined functions."""
    x = at.dmatrix("x")
    module = emit_program(aesara.function([x], at.exp(x).sum(axis=0) // 2.0)._native.report.lowering.program)
    text = module.text()
    assert split_long_entry(module, "aesara_entry") is None
    lines = re.search(r"(?ms)^define ptr @aesara_entry.*?\{\n(.*?)^\}", text)[1].count("\n")
    kernels, alone = _parts(module, lines)
    assert _parts(module, lines + 1) is None and module.text() == text
    names = [set(re.findall(r"(?m)^define .*?@([\w.]+)\(", part)) for part in (text, kernels, alone)]
    assert "aesara_entry" not in names[1] and "aesara_entry" in names[2] and names[1] | names[2] == names[0]
    both = names[1] & names[2]
    assert all(re.search(rf"(?m)^define .*@{re.escape(name)}\(.*alwaysinline", text) for name in both)
    assert names[1] - both and not names[2] - both - {"aesara_entry"}


def _parts(module, limit):
    before = long_entries._LONG, long_entries._LONG_WITH_LOOPS
    try:
        long_entries._LONG = long_entries._LONG_WITH_LOOPS = limit
        return split_long_entry(module, "aesara_entry")
    finally:
        long_entries._LONG, long_entries._LONG_WITH_LOOPS = before
