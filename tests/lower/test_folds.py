"""Reductions by other ops than sums, products and extrema."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.link.llvm import emit_kernel
from aesara.link.llvm.target import HAS_EXTREMA_OF_NUMBERS
from aesara.scalar.native import Primitive
from aesara.scalar.op import BinaryScalarOp
from aesara.tensor.math import Mean
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.special import LogSoftmax, Softmax, SoftmaxGrad

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native, compiled

AXES = [None, 0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)]
SHAPES = [(3, 4, 5), (1, 1, 1), (0, 3, 2), (3, 0, 2), (3, 2, 0), (2, 40, 1)]


def numbers(*shape, dtype="float64"):
    return (np.random.default_rng(len(shape)).normal(size=shape) * 50).astype(dtype)


class Hypotenuse(BinaryScalarOp):
    """The primitive is one that vectors do not reduce by."""

    numpy = np.hypot
    dtype = staticmethod(aes.upgrade_to_float)
    native = Primitive("hypot")


class Probability(BinaryScalarOp):
    """A decomposition, without a function of NumPy: the probability that one of two events happens."""

    dtype = staticmethod(aes.upgrade_to_float)
    identity = 0.0

    def impl(self, p, q):
        return p + q - p * q

    def decompose(self, p, q):
        return p + q - p * q


class Later(Probability):
    """The same without an identity."""

    identity = None


hypotenuse, probability, later = Hypotenuse(name="hypotenuse"), Probability(name="probability"), Later(name="later")


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("op", [aes.xor, aes.and_, aes.or_])
def test_bits(op, axis):
    for dtype, shapes in (("bool", SHAPES[:2]), ("int8", SHAPES), ("uint16", SHAPES[:1]), ("uint64", SHAPES[:1])):
        for shape in shapes:
            x = np.abs(numbers(*shape)).astype(dtype)
            assert_native(CAReduce(op, axis=axis), x)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("op", [hypotenuse, probability])
def test_user_ops_with_an_identity(op, axis):
    for shape in SHAPES:
        x = numbers(*shape) if op is hypotenuse else np.random.default_rng(0).uniform(0, 0.1, size=shape)
        assert_native(CAReduce(op, axis=axis), x, ulps=200)
        assert_native(lambda x: CAReduce(op, axis=axis)(x * 2) + 1, x, ulps=200)


@pytest.mark.parametrize("axis", AXES)
def test_user_ops_without_an_identity(axis):
    axes = (0, 1, 2) if axis is None else np.atleast_1d(axis)
    for shape in SHAPES:
        x = np.random.default_rng(0).uniform(0, 0.1, size=shape)
        if 0 in [shape[a] for a in axes]:
            assert_both_raise(CAReduce(later, axis=axis), x)
        else:
            assert_native(CAReduce(later, axis=axis), x, ulps=200)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("op", [aes.add, aes.mul, aes.scalar_maximum, aes.scalar_minimum])
def test_each_dtype(op, dtype):
    for shape in SHAPES[:2]:
        x = np.clip(numbers(*shape, dtype="float64"), -2, 2).astype(dtype)
        assert_native(CAReduce(op, axis=1), x, ulps=64)
        assert_native(CAReduce(op, axis=1, upcast_discrete_output=True), x, ulps=64)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_softmax_along_any_axis(dtype, axis):
    for shape in ((3, 4, 5), (2, 1, 3), (0, 2, 3), (2, 3, 0)):
        x = (numbers(*shape) / 10).astype(dtype)
        assert_native(Softmax(axis), x, ulps=64)
        assert_native(LogSoftmax(axis), x, ulps=64)
        assert_native(SoftmaxGrad(axis), x, np.abs(x), ulps=64)


def test_softmax_of_special_values():
    x = np.array([[np.inf, 1, 2], [np.nan, 1, 2], [-np.inf, -np.inf, 0], [-np.inf, -np.inf, -np.inf], [1e4, -1e4, 0]])
    for axis in (0, 1, None):
        assert_native(lambda x: [Softmax(axis)(x), LogSoftmax(axis)(x)], x, ulps=16)
    assert_native(lambda x: [Softmax(None)(x), LogSoftmax(None)(x)], np.float64(3), ulps=4)


def test_extrema_of_special_values():
    x = np.array([[np.nan, 1, 3], [np.inf, -np.inf, 0], [2, 2, np.nan]])
    for axis in (0, 1, None):
        assert_native(lambda x: [x.max(axis), at.argmax(x, axis), at.argmin(x, axis)], x)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_extrema_without_nan(name, dtype):
    """LLVM has an extremum that ignores NaN, of which it makes vectors; of a selection it makes none."""
    extremum = at.nanmin if name == "minimum" else at.nanmax
    worst = np.inf if name == "minimum" else -np.inf
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (3, 7), (5, 67)):
        for share in (0, 0.1, 0.9, 1):
            x = rng.normal(size=shape).astype(dtype)
            x[rng.random(shape) < 0.2] = -worst if share else worst
            x[rng.random(shape) < share] = np.nan
            for axis in (None, 0, 1):
                assert_native(lambda x, axis=axis: extremum(x, axis), x)
    function = compiled(lambda x: extremum(x), [x], False)
    assert (f"llvm.{name}num" in function._native.report.llvm()) == HAS_EXTREMA_OF_NUMBERS
    # another number in the place of NaN counts
    other = np.array([5.0 if name == "minimum" else -5.0, np.nan, worst], dtype)
    reduction = at.min if name == "minimum" else at.max
    assert_native(lambda x: reduction(at.switch(at.isnan(x), np.asarray(-worst, dtype), x)), other)
    assert_native(lambda x: reduction(at.switch(at.isnan(x), x, np.asarray(worst, dtype))), other)
    assert_native(lambda x: reduction(at.switch(at.isnan(at.roll(x, 1)), np.asarray(worst, dtype), x)), other)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64"])
@pytest.mark.parametrize("extremum", [at.max, at.min])
def test_nothing_has_no_extremum(extremum, dtype):
    """Not of Booleans either, whose extrema are computed by `or` and `and`."""
    for axis, shape in ((None, (0, 3)), (0, (0, 3)), (1, (3, 0))):
        assert_both_raise(lambda x, axis=axis: extremum(x, axis=axis), np.zeros(shape, dtype=dtype))
    assert_native(lambda x: extremum(x, axis=0), np.ones((2, 3), dtype=dtype))


@pytest.mark.parametrize("axis", AXES)
def test_means_along_axes(axis):
    for shape in SHAPES:
        assert_native(lambda x: Mean(axis)(x), numbers(*shape), ulps=8)


def test_extrema_without_nan_where_llvm_knows_none(monkeypatch):
    monkeypatch.setattr(emit_kernel, "HAS_EXTREMA_OF_NUMBERS", False)
    x = at.dvector("x")
    assert "imumnum" not in aesara.function([x], at.nanmax(x))._native.report.llvm()
