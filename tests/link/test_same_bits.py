"""Native results are bitwise the same at every level of processors and width of vectors."""

from __future__ import annotations

import ctypes
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.link.llvm import missing_instructions
from aesara.link.llvm.jit import load_routines
from aesara.link.llvm.target import Target, target_named

sys.path.insert(0, str(Path(__file__).parent.parent))
import levels

LENGTHS = [1, 7, 8, 15, 31, 32, 33, 63, 64, 100, 255, 257, 1023, 1025, 5000, 100_003]


def assert_levels_agree(inputs, outputs, *calls):
    results = {}
    for level in levels.RUNNABLE:
        with config.change_flags(native_target=level):
            f = aesara.function(inputs, outputs)
            assert not f._native.report.python_nodes
            found = [f(*arguments) for arguments in calls]
        results[level] = [np.asarray(value) for values in found for value in values]
    for k in range(len(results["native"])):
        levels.assert_same_bits({level: values[k] for level, values in results.items()})


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_reductions_of_vectors(dtype):
    x, y = at.vector("x", dtype=dtype), at.vector("y", dtype=dtype)
    rng = np.random.default_rng(1)
    calls = [(rng.normal(size=n).astype(dtype), rng.normal(size=n).astype(dtype)) for n in LENGTHS]
    # apart: what is fused into one loop shares its lanes
    for output in (
        x.sum(),
        x.mean(),
        x.var(),
        (x * y).sum(),
        (1 + x * 2.0**-9).prod(),
        at.logsumexp(x),
        at.exp(x).sum(),
        at.tanh(x * y).sum(),
        (x**y).sum(),
        at.switch(x > y, x, -y).sum(),
    ):
        assert_levels_agree([x, y], [output + 0 * y[0]], *calls)
    together = [x.sum(), x.max(), x.min(), (x > y).sum(), at.any(x > 3), at.all(x < 3), x.argmax(), at.exp(y).sum()]
    assert_levels_agree([x, y], together, *calls)


@pytest.mark.slow
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_reductions_of_rows_and_columns(dtype, static):
    rng = np.random.default_rng(2)
    for columns in (3, 8, 10, 31, 40, 130, 2000):
        m = at.tensor(dtype, (None, columns if static else None))
        outputs = [m.sum(axis=0), m.sum(axis=1), m.sum(), m.var(axis=1), at.special.softmax(m, axis=1)]
        values = rng.normal(size=(17, columns)).astype(dtype)
        assert_levels_agree([m], outputs, (values,))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_small_products(dtype):
    a, b, v = at.matrix("a", dtype=dtype), at.matrix("b", dtype=dtype), at.vector("v", dtype=dtype)
    rng = np.random.default_rng(3)
    calls = []
    for n in (1, 3, 4, 8, 13, 16, 17, 33, 40):
        calls.append((rng.normal(size=(n, n)).astype(dtype), rng.normal(size=(n, n)), rng.normal(size=n)))
    calls = [tuple(np.asarray(value, dtype) for value in call) for call in calls]
    outputs = [at.dot(a, b), at.dot(a, b.T), at.dot(a.T, b), at.dot(a.T, b.T)]
    outputs += [at.dot(a, v), at.dot(v, a), at.dot(v, v), at.dot(a[:, 1:], b[1:] * 2)]
    assert_levels_agree([a, b, v], outputs, *calls)
    long = [tuple(rng.normal(size=n).astype(dtype) for _ in range(2)) for n in (100, 1000, 8191)]
    w = at.vector("w", dtype=dtype)
    assert_levels_agree([v, w], [at.dot(v, w), v.sum()], *long)


@pytest.mark.slow
def test_gradients_and_loops():
    x, w = at.dvector("x"), at.dmatrix("w")
    loss = (at.tanh(at.dot(w, x)) ** 2).sum() + at.logsumexp(x)
    states, _ = aesara.scan(
        lambda s, w: at.tanh(at.dot(w, s)) * 0.9 + 0.1, outputs_info=[x], non_sequences=[w], n_steps=7
    )
    rng = np.random.default_rng(4)
    outputs = [*aesara.grad(loss, [x, w]), states, aesara.grad(states[-1].sum(), x)]
    assert_levels_agree([x, w], outputs, (rng.normal(size=21), rng.normal(size=(21, 21))))


def test_conversions():
    """Conversions, also of numbers out of the range of unsigned integers."""
    x, h = at.dvector("x"), at.vector("h", dtype="float16")
    values = np.array([0.5, -0.5, -1.0, -2.5, 1e10, 2.0**62, 2.0**63, 1.5 * 2.0**63, -(2.0**62), 300.7, -129.0] * 3)
    outputs = [
        at.cast(x, dtype) for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    ]
    assert_levels_agree([x], [*outputs, at.cast(x, "float32"), at.cast(x, "float16")], (values,))
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    assert_levels_agree([h], [at.cast(h, "float32"), h + h, h * h, at.sqrt(abs(h))], (halves,))


def test_half_precision_is_numpys_at_every_level():
    x, single = at.vector("x", dtype="float16"), at.fvector("single")
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    finite = halves[np.isfinite(halves)].astype("float32")
    between = np.concatenate([finite + np.float32(2.0**k) * step for k in (-26, -25, -24, -12, 3, 4)
                              for step in (1, -1)])  # fmt: skip
    for level in levels.RUNNABLE:
        with config.change_flags(native_target=level):
            widened = aesara.function([x], at.cast(x, "float32"))
            rounded = aesara.function([single], at.cast(single, "float16"))
        np.testing.assert_array_equal(widened(halves), halves.astype("float32"))
        assert np.array_equal(np.signbit(widened(halves)), np.signbit(halves))
        with np.errstate(all="ignore"):
            for sample in (numbers, between):
                np.testing.assert_array_equal(rounded(sample), sample.astype("float16"))


FMA = """
declare {t} @llvm.fma.{s}({t}, {t}, {t})
define void @ae.fused(ptr noalias %out, ptr %a, ptr %b, ptr %c, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %pa = getelementptr {t}, ptr %a, i64 %i
  %pb = getelementptr {t}, ptr %b, i64 %i
  %pc = getelementptr {t}, ptr %c, i64 %i
  %po = getelementptr {t}, ptr %out, i64 %i
  %x = load {t}, ptr %pa
  %y = load {t}, ptr %pb
  %z = load {t}, ptr %pc
  %r = call {t} @llvm.fma.{s}({t} %x, {t} %y, {t} %z)
  store {t} %r, ptr %po
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


def fused(dtype, level, *arrays):
    """Return a * b + c, rounded once, in a loop for a level."""
    kind, suffix = {"float64": ("double", "f64"), "float32": ("float", "f32")}[dtype]
    routines = load_routines(FMA.format(t=kind, s=suffix), ["fused"], None, 1, target_named(level))
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(routines["fused"])
    arrays = [np.ascontiguousarray(array, dtype) for array in arrays]
    out = np.empty_like(arrays[0])
    function(out.ctypes.data, *(array.ctypes.data for array in arrays), len(out))
    return out


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fused_multiply_add_is_rounded_once(dtype):
    """Also without an instruction: cancellation, ties, zeros, infinities, very large and very small products."""
    rng, kind = np.random.default_rng(6), np.dtype(dtype)
    n, eps, limits = 40_000, np.finfo(kind).eps, np.finfo(kind)
    special = np.array([0, -0.0, 1, -1, 3, np.inf, -np.inf, np.nan, limits.max, limits.tiny, limits.smallest_subnormal,
                        1 + eps, eps / 2, 2.0**30])  # fmt: skip
    a, b = (rng.normal(size=n).astype(dtype) for _ in range(2))
    scale = limits.maxexp
    with np.errstate(all="ignore"):
        cases = [
            (a, b, rng.normal(size=n)),
            (a, b, -(a * b)),
            (a, b, -(a * b) * (1 + eps)),
            (rng.integers(-9, 9, n), rng.integers(-9, 9, n), rng.integers(-9, 9, n) * 2.0 ** -rng.integers(0, 60, n)),
            tuple(grid.ravel() for grid in np.meshgrid(*[special] * 3)),
            tuple(a * 2.0 ** rng.integers(-scale, scale, n) for _ in range(3)),
            tuple(rng.integers(0, 256, n * kind.itemsize, dtype=np.uint8).view(kind) for _ in range(3)),
        ]
        for case in cases:
            levels.assert_same_bits({level: fused(dtype, level, *case) for level in levels.RUNNABLE})
    few = [np.asarray(values[:300], dtype) for values in cases[2]]
    exact = [float(round_once(*map(Fraction, row), kind)) for row in zip(*(values.tolist() for values in few))]
    assert fused(dtype, levels.RUNNABLE[0], *few).tolist() == exact


def round_once(a, b, c, kind):
    """Return the nearest number to a * b + c, ties to even; it is not small."""
    value = a * b + c
    if value == 0:
        return 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    unit = Fraction(2) ** (exponent - np.finfo(kind).nmant)
    return round(value / unit) * unit


def test_only_missing_instructions_are_supplied():
    text = FMA.format(t="double", s="f64")
    for level in levels.RUNNABLE:
        target = target_named(level)
        assert (missing_instructions.supply_missing(text, target) == text) == target.multiplies_and_adds
        assert missing_instructions.externals(text, target) == (() if target.multiplies_and_adds else ("fma",))


@pytest.mark.parametrize("kind", ["f32", "f64", "v8f64", "v16f32"])
def test_functions_on_vectors_are_supplied_with_those_on_numbers(kind):
    """Vectorized loops get vector versions, each function once."""
    lacking = Target("x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2", "", False)
    text = missing_instructions.supply_missing(f"call @llvm.fma.{kind}()\n" * 3, lacking)
    defined = re.findall(r"^define [^@]*@([\w.]+)\(", text, re.M)
    assert len(defined) == len(set(defined)) and f"ae.fma.{kind}" in defined and "@llvm.fma" not in text
    (versions,) = re.findall(r'"vector-function-abi-variant"="([^"]*)"', text)
    assert set(re.findall(r"\((.*?)\)", versions)) < set(defined)
