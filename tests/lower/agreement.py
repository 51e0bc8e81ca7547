"""Compiles a graph three ways and compares: native code, the interpreter of the loop IR, and each op's `perform`.

The interpreter stops at any access out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.ir.interpret import CheckFailed, run_program
from aesara.ir.verify import verify_program

REFERENCE = Mode(linker="py", optimizer=None)


def variables_for(values: Sequence[Any], static: bool) -> list[Any]:
    """Inputs for values: of the very shape, or with all lengths unknown."""
    return [at.TensorType(str(v.dtype), v.shape if static else (None,) * v.ndim)(f"x{k}") for k, v in enumerate(values)]


def compiled(build: Callable[..., Any], values: Sequence[Any], static: bool, mode: Any = "FAST_RUN") -> Any:
    inputs = variables_for(values, static)
    outputs = build(*inputs)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    return aesara.function(inputs, outputs, mode=mode, on_unused_input="ignore")


def interpreted(function: Any, values: Sequence[Any]) -> list[np.ndarray]:
    lowered = function._native.report.lowered
    program = lowered.program
    verify_program(program)
    arguments = [np.asarray(v, item.buffer.outer_dtype) for v, item in zip(values, program.inputs, strict=True)]
    return list(run_program(program, arguments, lowered.constants, [], True).returned)


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
    build: Callable[..., Any], *values: Any, ulps: int = 0, static: Sequence[bool] = (False, True)
) -> Any:
    """Everything runs natively and gives what `perform` gives, for unknown and for known lengths."""
    values = [np.asarray(v) for v in values]
    for known in static:
        expected = compiled(build, values, known, REFERENCE)(*values)
        function = compiled(build, values, known)
        assert function._native.report.python_nodes == {}
        got = function(*values)
        for results in (got, interpreted(function, values)):
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
