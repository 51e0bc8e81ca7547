"""Accumulation in lanes: its order in the interpreter and in machine code, its text, and its verification."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.interpret import run_kernel, run_program
from aesara.ir.text import parse_kernel, print_kernel
from aesara.ir.verify import IRError, verify_kernel

SUM = """\
kernel k0(b0: float64[], b1: float64[] written, n0: int64):
    let r0 = 0.0
    parallel for v0 < n0 lanes 4, 2:
        r0 = r0 + b0[v0], reassociate
    b1[0] = r0
"""


def test_text_is_read_back():
    assert print_kernel(parse_kernel(SUM)).strip() == SUM.strip()


def test_the_order_of_a_sum():
    """Two runs of four lanes, joined by halves; one of two; and one number."""
    x = np.random.default_rng(0).normal(size=11)
    out = np.zeros(1)
    run_kernel(parse_kernel(SUM), [x, out, len(x)])
    a = x[:4] + x[4:8]
    assert out[0] == (((a[0] + a[2]) + (a[1] + a[3])) + (x[8] + x[9])) + x[10]


@pytest.mark.parametrize(
    "change, message",
    [
        (("lanes 4, 2", "lanes 4, 3"), "not falling powers of two"),
        (("lanes 4, 2", "lanes 2, 4"), "not falling powers of two"),
        ((", reassociate", ""), "something else than accumulators"),
        (("r0 + b0[v0]", "r0 - b0[v0]"), "something else than accumulators"),
        (("    b1[0] = r0", "        b1[v0] = r0"), "reads an accumulator"),
    ],
)
def test_verification(change, message):
    verify_kernel(parse_kernel(SUM))
    with pytest.raises(IRError, match=message):
        verify_kernel(parse_kernel(SUM.replace(*change)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_interpreter_agrees_with_machine_code(dtype):
    x = at.vector("x", dtype=dtype)
    f = aesara.function([x], [x.sum(), (x * x).sum(), (1 + x / 64).prod()])
    for length in (0, 5, 8, 31, 40, 100, 1100):
        value = np.random.default_rng(length).normal(size=length).astype(dtype)
        for one, other in zip(run_program(f._native.program, [value]).returned, f(value), strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
