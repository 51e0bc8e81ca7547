"""Compiles a graph three ways and compares: native code, the interpreter of the loop IR, and each op's `perform`.

The interpreter stops at any access out of bounds.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.ir.interpret import CheckFailed, run_program
from aesara.ir.verify_program import verify_program
from tests.unoptimized import unoptimized

REFERENCE = Mode(linker="py", optimizer=None)


def types_of(values: Sequence[Any], static: bool) -> tuple[Any, ...]:
    """Types for values: of the very shape, or with all lengths unknown."""
    return tuple(at.TensorType(str(v.dtype), v.shape if static else (None,) * v.ndim) for v in values)


def compiled(build: Callable[..., Any], values: Sequence[Any], static: bool, mode: Any = "FAST_RUN") -> Any:
    """A function of such values; if their lengths are unknown, it is the same one for all lengths."""
    return _compiled(Build(build), types_of(values, static), mode)


class Build:
    """A function that builds a graph; equal to one with the same code and closure."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        try:
            outside = [cell.cell_contents for cell in function.__closure__ or ()]
            key = (function.__code__, freeze(outside), freeze(function.__defaults__))
            self.key, self.hash = key, hash(key)
        except (AttributeError, TypeError):  # of a class that calls, or of values that may change
            self.key, self.hash = function, hash(function)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Build) and self.key == other.key


def freeze(value: Any) -> Any:
    """A value that can be a key, which tells 1 from True and from 1.0."""
    if isinstance(value, dict):
        return dict, tuple((k, freeze(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(freeze, value))
    return type(value), value


@functools.lru_cache(maxsize=64)
def _compiled(build: Build, types: tuple[Any, ...], mode: Any) -> Any:
    inputs = [kind(f"x{k}") for k, kind in enumerate(types)]
    outputs = build.function(*inputs)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    return aesara.function(inputs, outputs, mode=mode, on_unused_input="ignore")


@functools.lru_cache(maxsize=64)
def verified(function: Any) -> Any:
    """The program of a compiled function, and its constants."""
    lowered = function._native.report.lowering
    verify_program(lowered.program)
    return lowered.program, lowered.constants


def interpreted(function: Any, values: Sequence[Any]) -> list[np.ndarray]:
    program, constants = verified(function)
    arguments = [np.asarray(v, item.buffer.outer_dtype) for v, item in zip(values, program.inputs, strict=True)]
    return list(run_program(program, arguments, constants, [], True).returned)


def assert_equal(got: Any, expected: Any, ulps: int = 0) -> None:
    got, expected = np.asarray(got), np.asarray(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    if ulps and expected.dtype.kind in "fc":
        eps = np.finfo(expected.dtype).eps
        scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0)
        np.testing.assert_allclose(got, expected, rtol=ulps * eps, atol=ulps * eps * scale)
    else:
        np.testing.assert_array_equal(got, expected)
    zeros = (got == 0) & (expected == 0)
    if expected.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros]))


def assert_native(
    build: Callable[..., Any],
    *values: Any,
    ulps: int = 0,
    static: Sequence[bool] = (False, True),
    interpret: bool = True,
) -> Any:
    """Everything runs natively and gives what `perform` gives, for unknown and for known lengths.

    The interpreter, which takes a hundredth of a millisecond for each operation, may be left out. LLVM's passes run for
    unknown lengths.
    """
    values = [np.asarray(v) for v in values]
    for known in static:
        expected = compiled(build, values, known, REFERENCE)(*values)
        with unoptimized() if known else contextlib.nullcontext():
            function = compiled(build, values, known)
        assert function._native.report.python_nodes == {}
        got = function(*values)
        for results in (got, interpreted(function, values)) if interpret else (got,):
            assert len(results) == len(expected)
            for a, b in zip(results, expected, strict=True):
                assert_equal(a, b, ulps)
        again = function(*values)
        for a, b in zip(again, got, strict=True):
            assert_equal(a, b)
    return expected


def assert_both_raise(build: Callable[..., Any], *values: Any, kind: type[Exception] | None = None) -> None:
    """Native code raises what `perform` raises, before it touches memory."""
    values = [np.asarray(v) for v in values]
    with pytest.raises(Exception) as expected:
        compiled(build, values, False, REFERENCE)(*values)
    function = compiled(build, values, False)
    assert function._native.report.python_nodes == {}
    with pytest.raises(kind or type(expected.value)) as raised:
        function(*values)
    if kind is None:
        assert type(raised.value) is type(expected.value)
    with pytest.raises(CheckFailed):
        interpreted(function, values)
