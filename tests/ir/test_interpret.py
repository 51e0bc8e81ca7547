"""The interpreter: scalar semantics, strictness about memory, and agreement with native code and the reference."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from aesara.ir.interpret import (
    CheckFailed,
    IllegalAccess,
    Results,
    apply_primitive,
    convert,
    run_kernel,
    run_program,
)  # fmt: skip
from aesara.ir.interpret.memory import garbage_array
from aesara.ir.routines.special import special, special_named
from aesara.ir.text import parse_kernel, parse_program, print_program
from aesara.ir.verify import IRError
from aesara.ir.verify_program import verify_program
from aesara.primitives import PRIMITIVES

sys.path.insert(0, str(Path(__file__).parent))
from representative_graphs import GRAPHS, Runs

from tests.closeness import assert_close

TOLERANCE = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12, "complex128": 1e-12}
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def assert_same(got, expected):
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        tolerance = TOLERANCE.get(str(a.dtype))
        if tolerance is None:
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
            for part in ("real", "imag") if np.iscomplexobj(a) else ("real",):
                c, d = getattr(a, part), getattr(b, part)
                zero = (c == 0) & (d == 0)
                np.testing.assert_array_equal(np.signbit(c[zero]), np.signbit(d[zero]))


@pytest.fixture(scope="module", params=GRAPHS)
def runs(request):
    return Runs(request.param)


def test_programs_are_well_formed(runs):
    verify_program(runs.program)


def test_interpreter_agrees_with_the_reference(runs):
    for arguments in runs.graph.arguments:
        expected = runs.call(runs.reference, arguments)
        assert_same(runs.interpret(arguments), expected)


def test_interpreter_without_reuse_of_memory_gives_the_same(runs):
    for arguments in runs.graph.arguments:
        assert_same(runs.interpret(arguments, in_place=False), runs.interpret(arguments, in_place=True))


def test_native_code_agrees_with_the_interpreter(runs):
    for arguments in runs.graph.arguments:
        assert_same(runs.call(runs.native, arguments), runs.interpret(arguments))


def test_nothing_can_fail_after_a_shared_value_is_overwritten(runs):
    program = runs.program
    reused = {buffer.name for step in program.all_steps() for buffer in step.overwrites()}
    bases = program.bases()
    begun = False
    for step in program.steps:
        assert not (begun and step.can_fail(program.slots)), step
        begun = begun or any(bases.get(name, name) in reused for inner in step.walk() for name in inner.writes())


# -- scalars -----------------------------------------------------------------------------------------------------


def scalar(value, dtype):
    return np.dtype(dtype).type(value)


@pytest.mark.parametrize("dtype", SIGNED)
def test_signed_integers_wrap(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    one, minus = scalar(1, dtype), scalar(-1, dtype)
    for name, args, expected in [
        ("add", [high, one], low), ("sub", [low, one], high), ("neg", [low], low), ("abs", [low], low),
        ("mul", [low, minus], low), ("intdiv", [low, minus], low), ("mod", [low, minus], 0),
    ]:  # fmt: skip
        found = apply_primitive(name, [scalar(a, dtype) for a in args])
        assert found == expected and found.dtype == dtype, name


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_integer_division_is_by_floor_and_by_zero_gives_zero(dtype):
    for a in range(0 if dtype[0] == "u" else -7, 8):
        for b in range(0 if dtype[0] == "u" else -3, 4):
            x, y = scalar(a, dtype), scalar(b, dtype)
            assert apply_primitive("intdiv", [x, y]) == (a // b if b else 0)
            assert apply_primitive("mod", [x, y]) == (a % b if b else 0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_extrema_of_floats_propagate_nan_and_order_zeros(dtype):
    nan, zero, minus = scalar(np.nan, dtype), scalar(0.0, dtype), scalar(-0.0, dtype)
    for name in ("minimum", "maximum"):
        assert np.isnan(apply_primitive(name, [nan, zero])) and np.isnan(apply_primitive(name, [zero, nan]))
    for pair in ([zero, minus], [minus, zero]):
        assert np.signbit(apply_primitive("minimum", pair))
        assert not np.signbit(apply_primitive("maximum", pair))


@pytest.mark.parametrize(
    ("name", "a", "by", "dtype", "expected"),
    [
        ("shl", 1, 7, "int8", -128), ("shl", 1, 8, "int8", 0), ("shl", 1, -1, "int8", 0), ("shl", 3, 7, "uint8", 128),
        ("shr", -128, 7, "int8", -1), ("shr", -128, 8, "int8", -1), ("shr", -5, 100, "int64", -1),
        ("shr", 5, 64, "int64", 0), ("shr", 200, 8, "uint8", 0), ("shr", 200, 7, "uint8", 1), ("shr", 5, -1, "int8", 0),
    ],
)  # fmt: skip
def test_shifts_past_the_width(name, a, by, dtype, expected):
    assert apply_primitive(name, [scalar(a, dtype), scalar(by, dtype)]) == expected


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (1.9, "float64", "int32", 1), (-1.9, "float64", "int32", -1), (300.7, "float32", "uint8", 44),
        (-1.5, "float64", "uint8", 255), (np.nan, "float64", "bool", True), (0.5, "float64", "bool", True),
        (-0.0, "float64", "bool", False), (200, "uint8", "int8", -56), (-1, "int8", "uint64", 2**64 - 1),
        (2**24 + 1, "int32", "float32", 2.0**24), (1e5, "float64", "float16", np.inf), (True, "bool", "float32", 1.0),
        (np.nan, "float64", "int64", -(2**63)), (2.0**63, "float64", "uint64", 2**63),
        (2.0**63, "float64", "int64", -(2**63)), (-(2.0**63), "float32", "int64", -(2**63)),
        (np.inf, "float32", "uint64", 2**63), (-np.inf, "float64", "int32", 0), (1e30, "float64", "uint8", 0),
    ],
)  # fmt: skip
def test_casts(value, source, target, expected):
    found = convert(scalar(value, source), target)
    assert found == expected and found.dtype == target


def test_arithmetic_of_bools_is_logic():
    for a in (False, True):
        for b in (False, True):
            pair = [np.bool_(a), np.bool_(b)]
            expected = {
                "add": a or b, "mul": a and b, "sub": a ^ b, "maximum": a or b, "minimum": a and b, "and": a and b,
                "or": a or b, "xor": a ^ b, "lt": not a and b, "eq": a == b,
            }  # fmt: skip
            assert {name: bool(apply_primitive(name, pair)) for name in expected} == expected
        assert apply_primitive("invert", [np.bool_(a)]) == (not a)


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_integer_powers(dtype):
    for a in range(0 if dtype[0] == "u" else -3, 4):
        for b in range(5):
            assert apply_primitive("pow", [scalar(a, dtype), scalar(b, dtype)]) == convert(np.int64(a**b), dtype)
    if dtype[0] != "u":
        powers = [apply_primitive("pow", [scalar(a, dtype), scalar(-3, dtype)]) for a in (-2, -1, 0, 1, 2)]
        assert powers == [0, -1, 0, 1, 0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", sorted(n for n, facts in PRIMITIVES.items() if facts.operands in (1, 2)))
def test_every_primitive_is_defined_on_floats(name, dtype):
    if name in ("and", "or", "xor", "invert", "shl", "shr"):
        with pytest.raises(IRError, match=f"{name} is not defined on {dtype}"):
            apply_primitive(name, [scalar(0.5, dtype)] * PRIMITIVES[name].operands)
        return
    inside = 1.5 if name == "acosh" else 0.5
    found = apply_primitive(name, [scalar(inside, dtype)] * PRIMITIVES[name].operands)
    truth = name in ("lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf")
    assert found.dtype == ("bool" if truth else dtype) and np.isfinite(found)


def test_external_functions():
    assert special("gammaln", 1).reference(np.float64(5.0)) == pytest.approx(np.log(24.0), rel=1e-12)
    assert special_named("special.gammaln.1") is special("gammaln", 1)
    assert special_named("special.gammaln") is None and special_named("lapack.dpotrf") is None


# -- kernels -----------------------------------------------------------------------------------------------------


def kernel(body, params="b0: float64[] written, b1: float64[], n0: int64"):
    return parse_kernel(f"kernel k({params}):\n" + "\n".join("    " + row for row in body.strip("\n").split("\n")))


def test_sum_of_rows():
    k = kernel(
        """
for v0 < n0:
    let r = 0.0
    for v1 < 3:
        r = r + b1[v0 * 3 + v1], reassociate
    b0[v0] = r"""
    )
    out = np.zeros(2)
    run_kernel(k, [out, np.arange(6.0), 2])
    np.testing.assert_array_equal(out, [3, 12])


def test_variables_of_loops_are_known_inside_only():
    loop = "for v0 < n0:\n    b0[v0] = 1.0"
    with pytest.raises(IRError, match="v0 is read before it has a value"):
        run_kernel(kernel(f"{loop}\nb0[v0] = 2.0"), [np.zeros(3), np.zeros(3), 3])
    out = np.zeros(3)
    run_kernel(kernel(f"let v0 = 1\n{loop}\nb0[v0] = 2.0"), [out, np.zeros(3), 3])
    assert out.tolist() == [1, 2, 1]


def test_if_and_nested_scopes():
    k = kernel(
        """
for v0 < n0:
    if b1[v0] > 0.0:
        b0[v0] = 1.0"""
    )
    out = np.zeros(3)
    run_kernel(k, [out, np.array([1.0, -1.0, 2.0]), 3])
    np.testing.assert_array_equal(out, [1, 0, 1])


def test_consecutive_stores_happen_at_once():
    a, b = np.array([1.0]), np.array([2.0])
    run_kernel(kernel("x[0] = y[0]\ny[0] = x[0]", "x: float64[] written, y: float64[] written"), [a, b])
    assert (a[0], b[0]) == (2.0, 1.0)


def test_stores_to_one_buffer_happen_in_order():
    a = np.array([1.0, 5.0])
    run_kernel(kernel("x[0] = 2.0\nx[1] = x[0]", "x: float64[] written"), [a])
    np.testing.assert_array_equal(a, [2, 2])


@pytest.mark.parametrize("offset", ["3", "-1", "n0"])
@pytest.mark.parametrize("statement", ["b0[{}] = 1.0", "b0[0] = b1[{}]", "b0[0] = select(n0 < 0, b1[{}], 1.0)"])
def test_access_out_of_bounds(statement, offset):
    with pytest.raises(IllegalAccess, match=f"of element {offset.replace('n0', '3')} of b[01], which has 3"):
        run_kernel(kernel(statement.format(offset)), [np.zeros(3), np.zeros(3), 3])


@pytest.mark.parametrize(
    "body", ["b0[0] = 1.0", "b0[v0 + 1] = b0[v0]", "b0[v0] = b0[v0 + 1]", "b0[v0] = b0[0]", "b0[v0] = 1.0\nb0[0] = 2.0"]
)
def test_parallel_loops_whose_iterations_depend_on_each_other(body):
    rows = "\n".join("    " + row for row in body.split("\n"))
    arguments = [np.zeros(4), np.zeros(4), 3]
    run_kernel(kernel("for v0 < n0:\n" + rows), arguments)
    with pytest.raises(IllegalAccess, match="is written in one iteration of a parallel loop and used in another"):
        run_kernel(kernel("parallel for v0 < n0:\n" + rows), arguments)


def test_parallel_loops_may_update_in_place_and_read_one_element_together():
    a = np.arange(3.0)
    run_kernel(kernel("parallel for v0 < n0:\n    b0[v0] = b0[v0] + b1[0]"), [a, np.ones(1), 3])
    np.testing.assert_array_equal(a, [1, 2, 3])


def test_arguments_of_the_wrong_kind():
    with pytest.raises(TypeError, match="b1 of kernel k holds float64, got an array of float32"):
        run_kernel(kernel("b0[0] = 1.0"), [np.zeros(1), np.zeros(1, "float32"), 1])
    with pytest.raises(ValueError, match="C-contiguous"):
        run_kernel(kernel("b0[0] = 1.0"), [np.zeros(1), np.zeros((2, 2)).T, 1])


# -- programs ----------------------------------------------------------------------------------------------------

COPY = """
kernel copy(b0: float64[], b1: float64[] written, n0: int64):
    parallel for v0 < n0:
        b1[v0] = b0[v0]
"""


def program(entries, kernels=COPY):
    return parse_program("program\n" + "\n".join("    " + row.strip() for row in entries.strip().split("\n")) + kernels)


def test_checks_fail_with_their_values():
    p = program("input a0: float64[s0_0]\ncheck s0_0 < 3 else error 7 (s0_0, 3)\nreturn 0")
    assert run_program(p, [np.zeros(2)]) == Results((), {})
    with pytest.raises(CheckFailed) as failure:
        run_program(p, [np.zeros(4)])
    assert (failure.value.error, failure.value.values) == (7, (4, 3))


def test_sizes_products_and_python_nodes():
    p = program(
        """
        input a0: float64[s0_0, 2]
        constant c0: float64[2, 1]
        define h0 = s0_0 + 1
        allocate t0: float64[s0_0, 1] as output 0
        call matmul.float64 (s0_0, 2, 1) with (2.0) on a0(0, 2, 1), c0(0, 1, 1), t0(0, 1)
        python 0 (t0: float64[s0_0, 1]) -> (p0: float64[h1, 1])
        allocate t1: float64[h0] as output 1
        launch copy(p0, t1, h1)
        output t0
        output t1
        return 2
        """
    )
    results = run_program(
        p, [np.arange(4.0).reshape(2, 2)], [np.ones((2, 1))], [lambda x: [np.concatenate([x, x[:1]])]]
    )
    np.testing.assert_array_equal(results.returned[0], [[2], [10]])
    np.testing.assert_array_equal(results.returned[1], [2, 10, 2])


def test_inputs_are_not_changed_by_updates_in_place():
    p = program(
        """
        shared a0: float64[s0_0]
        allocate t0: float64[s0_0] as output 0 or input 0
        launch bump(a0, t0, s0_0)
        output t0
        update input 0 = output 0
        return 0
        """,
        """
kernel bump(b0: float64[] aliased, b1: float64[] written aliased, n0: int64):
    parallel for v0 < n0:
        b1[v0] = b0[v0] + 1.0
""",
    )
    value = np.zeros(2)
    assert run_program(p, [value]).returned == ()
    np.testing.assert_array_equal(run_program(p, [value]).cells[0], [1, 1])
    np.testing.assert_array_equal(value, [0, 0])


@pytest.mark.parametrize("in_place", [True, False])
def test_a_product_is_added_to_the_value_of_an_input(in_place):
    p = program(
        """
        shared a0: float64[2, 2]
        input a1: float64[2, 2]
        allocate t0: float64[2, 2] as output 0 or input 0 holding input 0
        call matmul_added.float64 (2, 2, 2) with (-0.5) on a1(0, 1, 2), a1(0, 2, 1), t0(0, 2)
        output t0
        update input 0 = output 0
        return 0
        """
    )
    assert parse_program(print_program(p)) == p
    w, x = np.arange(4.0).reshape(2, 2), np.array([[1.0, 2.0], [3.0, 5.0]])
    assert_close(run_program(p, [w, x], in_place=in_place).cells[0], w - 0.5 * x.T @ x)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            "shared a0: float64[1, 1]\nallocate t0: float64[1, 1] as output 0 or input 0 holding input 0\n"
            "call matmul.float64 (1, 1, 1) with (1.0) on a0(0, 1, 1), a0(0, 1, 1), t0(0, 1)\nreturn 0",
            "matmul.float64 writes to t0 while it reads that memory",
        ),
        ("allocate t0: float64[2] as output 0\noutput t0\nreturn 1", "2 elements of result t0 are never written"),
        (
            "slot 0: 16\nallocate t0: float64[2] in slot 0\nallocate t1: float64[2] as output 0\n"
            "launch copy(t0, t1, 2)\noutput t1\nreturn 1",
            "load of element 0 of t0, which is not written",
        ),
        (
            "slot 0: 8\nallocate t0: float64[2] in slot 0\nreturn 0",
            "t0 of 16 bytes in slot 0 of 8",
        ),
        (
            "slot 0: 16\ninput a0: float64[2]\nallocate t0: float64[2] in slot 0\nlaunch copy(a0, t0, 2)\n"
            "allocate t1: float64[2] in slot 0\nlaunch copy(t0, t1, 2)\nreturn 0",
            "load of element 0 of t0, whose memory t1 has taken",
        ),
        (
            "shared a0: float64[2]\nallocate t0: float64[2] as output 0 or input 0\nlaunch copy(a0, t0, 2)\noutput t0\n"
            "update input 0 = output 0\nreturn 0",
            "kernel copy gets one memory as b0, b1, which are not declared aliased",
        ),
        (
            "input a0: float64[2]\nallocate t0: float64[3] as output 0\nlaunch copy(a0, t0, 3)\noutput t0\nreturn 1",
            "load of element 2 of b0|load of element 2 of a0, which has 2",
        ),
    ],
)  # fmt: skip
def test_programs_that_misuse_memory(entries, message):
    p = program(entries)
    with pytest.raises(IllegalAccess, match=message):
        run_program(p, [np.zeros([n.attr for n in i.buffer.shape]) for i in p.inputs])


def test_inputs_of_the_wrong_kind():
    p = program("input a0: float64[2]\nreturn 0")
    with pytest.raises(TypeError, match="a0 is float64 of 1 dimensions"):
        run_program(p, [np.zeros(2, "int64")])
    with pytest.raises(TypeError, match=r"a0 has static shape \(2,\), got \(3,\)"):
        run_program(p, [np.zeros(3)])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64", "complex64"])
def test_new_memory_is_not_zero(dtype):
    array = garbage_array((2, 3), dtype)
    assert array.shape == (2, 3) and array.dtype == dtype and array.all()
    assert not (array == 1).any() or dtype == "bool"
