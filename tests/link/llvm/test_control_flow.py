"""Loops, branches and scalar functions as machine code agree with the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from aesara.ir.interpret import run_program
from aesara.ir.text import parse_program, print_program
from aesara.ir.verify_program import verify_program
from aesara.link.llvm.callable import Interface, NativeCallable
from aesara.link.llvm.emit_program import ENTRY, emit_program
from aesara.link.llvm.jit import build


def native(program):
    def refused(*arguments):
        raise AssertionError("the arguments do not fit")

    code, _ = build(emit_program(program), ENTRY, None)
    return NativeCallable(Interface.of(program), code, [], [], [], refused, refused)


def check(body, *functions, values=(0.5, 3.0, -2.0, 100.0)):
    """Run a kernel that maps the vector a0 to the vector t0 both ways, with `body` inside a loop over v0."""
    rows = "\n".join("            " + row for row in body.strip("\n").split("\n"))
    text = (
        "program\n    input a0: float64[s0_0]\n    allocate t0: float64[s0_0] as output 0\n"
        "    launch k(t0, a0, s0_0)\n    output t0\n    return 1 unpacked\n\n"
        "kernel k(t0: float64[] written, a0: float64[], s0_0: int64):\n    for v0 < s0_0:\n        if true:\n" + rows
    )
    program = parse_program("\n\n".join([text, *functions]))
    assert parse_program(print_program(program)) == program
    verify_program(program)
    x = np.array(values)
    expected = run_program(program, [x]).returned[0]
    np.testing.assert_array_equal(native(program)(x), expected)
    assert native(program)(np.zeros(0)).shape == (0,)
    return expected


def test_while():
    expected = check(
        """
let n = 0.0
let x = a0[v0]
while (x > 1.0) & (n < 60.0):
    x = x / 2.0
    n = n + 1.0
t0[v0] = n""",
    )
    np.testing.assert_array_equal(expected, [0, 2, 0, 7])


def test_while_in_while_and_in_branches():
    expected = check(
        """
let total = 0.0
let x = abs(a0[v0])
while x > 1.0:
    let y = x
    if y < 50.0:
        while y > 1.0:
            y = y - 1.0
            total = total + 1.0
    x = x / 4.0
    if x < 1.0:
        let y = total
        y = y * 2.0
        total = y + 0.5
t0[v0] = total + x""",
    )
    np.testing.assert_array_equal(expected, [0.5, 2 * 2 + 1.25, 2.5 + 0.5, 62.5 + 100 / 256])


def test_names_may_be_declared_again_in_other_blocks():
    check(
        """
if a0[v0] > 0.0:
    let y = a0[v0]
    y = y + 1.0
    t0[v0] = y
if a0[v0] <= 0.0:
    let y = 2.0
    y = y * a0[v0]
    for v1 < 3:
        let z = y
        z = z * z
        y = y + z
    t0[v0] = y
let y = t0[v0]
for v1 < 2:
    y = y * 0.5
t0[v0] = y""",
    )


def test_stores_in_a_while_loop():
    check(
        """
t0[v0] = a0[v0]
while t0[v0] < 10.0:
    t0[v0] = t0[v0] + 3.0""",
    )


def test_functions_that_call_functions():
    square = "function square(x: float64) -> float64:\n    return x * x\n"
    power = """
function power(x: float64, n: float64) -> float64:
    let result = 1.0
    let left = n
    while left >= 1.0:
        result = result * x
        left = left - 1.0
    return @square(result)"""
    sum_of_both = (
        "function both(x: float64) -> float64:\n    let y = @power(x, 2.0)\n    return y + @square(x) + @square(y)"
    )
    expected = check("t0[v0] = @both(a0[v0]) - @square(a0[v0])", sum_of_both, power, square)
    x = np.array([0.5, 3.0, -2.0, 100.0])
    np.testing.assert_array_equal(expected, x**4 + x**2 + x**8 - x**2)


def test_functions_of_one_name_and_of_other_dtypes():
    first = "function 'f~'(x: float64, flag: bool) -> float64:\n    return select(flag, x, 0.0)"
    second = "function 'f~'~1(n: int64) -> int32:\n    return int32(n) + 1:int32"
    check("t0[v0] = @'f~'(a0[v0], a0[v0] > 0.0) + float64(@'f~'~1(v0))", first, second)


def test_functions_that_branch():
    sign = """
function sign(x: float64) -> float64:
    let result = 0.0
    if x > 0.0:
        result = 1.0
    if x < 0.0:
        let minus = -1.0
        result = minus
    return result"""
    np.testing.assert_array_equal(check("t0[v0] = @sign(a0[v0])", sign), [1, 1, -1, 1])


@pytest.mark.parametrize("limit", [0.0, 1.0, 1e4])
def test_functions_are_not_called_where_a_branch_leaves_them_out(limit):
    count = """
function steps(x: float64) -> float64:
    let n = 0.0
    while n < x:
        n = n + 1.0
    return n"""
    body = f"t0[v0] = 0.0\nif a0[v0] < {limit!r}:\n    t0[v0] = @steps(a0[v0])"
    check(body, count, values=(1e300, 1e3, 0.5) if limit else (1e300, 1.0, 2.0))
