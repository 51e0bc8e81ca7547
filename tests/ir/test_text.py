"""Text form of kernels and programs: it round-trips, is readable, and errors name the line and the expected token."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aesara.ir.buffers import Buffer, Operand, Slot, longest
from aesara.ir.expr import cast, const, load, op, sharing, var
from aesara.ir.function import ScalarFunction, functions_below
from aesara.ir.kernel import Assign, BufferParam, Declare, For, If, Kernel, ScalarParam, Store, While
from aesara.ir.program import Input, Program
from aesara.ir.routines import products, sorting
from aesara.ir.routines.special import special
from aesara.ir.steps import BATCH, Allocate, Call, Check, Define, HandOver, Launch, PythonCall
from aesara.ir.symbols import ArgumentName, DefinedSize, InputSize
from aesara.ir.text import (
    IRSyntaxError,
    parse_function,
    parse_kernel,
    parse_program,
    print_function,
    print_kernel,
    print_program,
)
from aesara.ir.text.syntax import DTYPES
from aesara.ir.verify import IRError
from aesara.primitives import PRIMITIVES

sys.path.insert(0, str(Path(__file__).parent))
from representative_graphs import GRAPHS, Runs

I, N = var("i"), var("n")
PARAMS = (BufferParam("a", "float64", True), BufferParam("b", "float64"), ScalarParam("n"))


def X():
    return load("b", "float64", I)


@pytest.fixture(autouse=True)
def equal_expressions_are_one_object():
    with sharing():
        yield


def stored(*values):
    """Return a kernel that stores values in a loop."""
    params = [BufferParam("b", "float64"), ScalarParam("n")]
    params += [BufferParam(f"o{k}", v.dtype, True) for k, v in enumerate(values)]
    body = tuple(Store(f"o{k}", I, v) for k, v in enumerate(values))
    return Kernel("k", tuple(params), (For("i", N, body, True),))


def round_trip(kernel):
    text = print_kernel(kernel)
    assert parse_kernel(text) == kernel, text
    assert print_kernel(parse_kernel(text)) == text
    return text


@pytest.mark.parametrize("name", GRAPHS)
def test_programs_of_representative_graphs(name):
    program = Runs(name).program
    text = print_program(program)
    assert parse_program(text) == program
    assert max(map(len, text.split("\n"))) < 200


def test_text_of_a_kernel():
    total = var("r", "float64")
    element = op("exp", op("sub", X(), const(0.5, "float64")))
    kernel = Kernel(
        "softplus",
        PARAMS,
        (
            Declare("r", const(0.0, "float64")),
            For(
                "i",
                N,
                (
                    Assign("r", op("add", total, element), True),
                    Store("a", I, op("mul", element, const(2.0, "float64"))),
                    If(op("and", op("lt", I, const(3)), op("isnan", X())), (Store("a", const(0), total),)),
                ),
                True,
                4,
            ),
        ),
    )
    assert round_trip(kernel) == (
        "kernel softplus(a: float64[] written, b: float64[], n: int64):\n"
        "    let r = 0.0\n"
        "    parallel for i < n interleave 4:\n"
        "        %0 = exp(b[i] - 0.5)\n"
        "        r = r + %0, reassociate\n"
        "        a[i] = %0 * 2.0\n"
        "        if (i < 3) & isnan(b[i]):\n"
        "            a[0] = r\n"
    )


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_literals(dtype):
    if dtype == "bool":
        values = [True, False]
    elif dtype.startswith("float"):
        values = [0.0, -0.0, 0.1, 1e300, -5e-324, 2.0**-1074, math.inf, -math.inf, math.nan, 3.0, 1e16, 123456789.0]
    elif dtype.startswith("u"):
        values = [0, 1, 2 ** int(dtype[4:]) - 1]
    else:
        values = [0, -1, -(2 ** (int(dtype[3:]) - 1)), 2 ** (int(dtype[3:]) - 1) - 1]
    constants = [const(v, dtype) for v in values]
    round_trip(stored(*constants))
    round_trip(stored(*[op("maximum", a, b) for a in constants for b in constants[:2] if dtype != "int64"]))


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64", "bool"])
def test_every_primitive_and_every_nesting_of_two(dtype):
    a, b = load("x", dtype, I), load("y", dtype, I)
    params = (BufferParam("x", dtype), BufferParam("y", dtype), BufferParam("o", dtype, True), ScalarParam("n"))

    def apply(name, *args):
        arity = PRIMITIVES[name].operands
        if name == "select":
            return op(name, op("lt", args[0], args[1]), *args[:2])
        made = op(name, *(args * 2)[:arity])
        return made if made.dtype == dtype else cast(made, dtype)

    for outer in PRIMITIVES:
        values = [apply(outer, a, b)]
        for inner in PRIMITIVES:
            values += [apply(outer, apply(inner, a, b), b), apply(outer, b, apply(inner, a, b))]
        body = tuple(Store("o", I, v) for v in values)
        kernel = Kernel("k", params, (For("i", N, body),))
        assert parse_kernel(print_kernel(kernel)) == kernel


def test_casts_calls_and_loads():
    round_trip(
        stored(
            cast(X(), "float16"), cast(cast(I, "uint8"), "bool"), special("betaln", 2)(X(), X()),
            ScalarFunction("nullary", (), (), const(1, "int8"))(),
            load("b", "float64", op("add", I, cast(X(), "int64"))),
            load("undeclared", "int8", I), load("b", "float32", I), var("i", "float32"), var("undeclared", "bool"),
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["a.b", "exp", "for", "float64", "inf", "nan", "nan.1", "inf_1", "a b", "", "ä", "it's", 'a"b', "back\\slash", "#",
     "7up",
     "%0", "true", "x\ny"],
)  # fmt: skip
def test_names_of_any_kind(name):
    parameter = ScalarParam(f"{name}.x", "float64")
    function = ScalarFunction(name, (parameter,), (), var(parameter.name, "float64"))
    body = (
        Declare(f"{name}.r", const(0.0, "float64")),
        For(name, var(f"{name}.n"), (
            Store(f"{name}.a", var(name), load(f"{name}.b", "float64", var(name))),
            Assign(f"{name}.r", function(var(f"{name}.r", "float64"))),
        )),
    )  # fmt: skip
    params = (
        BufferParam(f"{name}.a", "float64", True, True),
        BufferParam(f"{name}.b", "float64"),
        ScalarParam(f"{name}.n"),
    )
    round_trip(Kernel(name, params, body))
    buffer = Buffer(name, "float64", (var(InputSize(0, 0, longest("float64", 1), f"{name}.s")),))
    copy = Kernel("copy", (BufferParam("x", "float64"), ScalarParam("n")), ())
    program = Program(
        (Input(buffer, (None,), True),), (), (), (Launch(copy, (name, var(DefinedSize(name)))),), (name,), ((0, 0),), 1
    )
    assert parse_program(print_program(program)) == program


def test_shadowing_and_scopes_of_scalars():
    round_trip(
        Kernel("k", PARAMS, (
            For("i", N, (
                Declare("r", X()),
                For("j", N, (Declare("r", I), Store("a", var("r"), X()))),
                Store("a", I, var("r", "float64")),
            )),
            Declare("i", const(1.5, "float64")),
            Store("a", const(0), var("i", "float64")),
            For("i", N, (Store("a", I, X()),)),
            Store("a", const(0), var("i", "float64")),
        ))
    )  # fmt: skip


def test_empty_bodies():
    round_trip(Kernel("k", (), ()))
    round_trip(Kernel("k", PARAMS, (For("i", N, ()), If(const(True, "bool"), ()), For("j", N, (For("i", N, ()),)))))


def test_shared_parts_are_written_once():
    e = X()
    for _ in range(200):
        e = op("add", op("sin", e), e)
    text = round_trip(stored(e, op("neg", e)))
    assert len(text) < 200 * 50


def test_bound_expressions_are_invalidated_by_changes():
    double = op("mul", X(), X())
    text = round_trip(
        Kernel("k", (BufferParam("b", "float64", True), ScalarParam("n")), (
            For("i", N, (
                Store("b", const(0), op("add", double, op("neg", double))),
                Store("b", I, op("sub", double, op("neg", double))),
            )),
        ))
    )  # fmt: skip
    assert text.count("= %0 * %0") == 1 and text.count("* %") == 2


def test_text_of_a_function():
    text = (
        "kernel k(a: float64[] written):\n"
        "    a[0] = @outer(1.0) + @special.gammaln.1:float64(2.0)\n"
        "\n"
        "function outer(x: float64) -> float64:\n"
        "    let n = 0.0\n"
        "    let total = x\n"
        "    while (n < 100.0) & (total > @half(n)):\n"
        "        total = @half(total)\n"
        "        n = n + 1.0\n"
        "    return total * n\n"
        "\n"
        "function half(x: float64) -> float64:\n"
        "    return x / 2.0\n"
    )
    parsed = parse_kernel(text)
    assert round_trip(parsed) == text
    (outer, half) = functions_below([e for s in parsed.body for e in (s.value,)])
    assert (outer.name, half.name) == ("outer", "half")
    below = text[text.index("function outer") :]
    assert print_function(outer) == below
    assert parse_function(below) == outer


def test_a_while_condition_is_written_in_one_piece():
    x = var("x", "float64")
    twice = op("mul", x, x)
    long = op("lt", op("add", twice, twice), const(10.0, "float64"))
    body = (Declare("x", const(1.0, "float64")), While(long, (Assign("x", op("add", twice, x)),)))
    text = round_trip(Kernel("k", (), body))
    assert "    while x * x + x * x < 10.0:\n        x = x * x + x\n" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("function f(x: float64):\n    return x", "line 1: expected '->', got ':'"),
        ("function f(x: float64) -> float64:\n    let y = x", "line 1: expected a 'return' as the last line of .* 'f'"),
        ("function f(x: float64) -> float32:\n    return x", "line 2: expected a value of float32, got one of float64"),
        ("function f(x: float64) -> float64:\n    return x\n    let y = x", "line 3: expected the end of the function"),
        ("function f(x: float64) -> float64:\n    return @f(x)", "line 2: expected a function defined below"),
        ("kernel f():\n    let y = 1", "line 1: expected 'function', got 'kernel'"),
        (
            "function f() -> int64:\n    return 1\nfunction f() -> int64:\n    return 1",
            "line 1: expected another name, got function 'f~0' again",
        ),
        ("", "line 1: expected 'function', got nothing"),
    ],
)
def test_errors_in_functions(text, message):
    with pytest.raises(IRSyntaxError, match=message):
        parse_function(text)


@pytest.mark.slow
def test_any_depth():
    e = X()
    for k in range(30_000):
        e = op("mul", e, X()) if k % 2 else op("neg", e)
    round_trip(stored(e))
    nested = "(" * 20_000 + "b[i]" + ")" * 20_000
    kernel = parse_kernel(f"kernel k(b: float64[] written, n: int64):\n    for i < n:\n        b[i] = {nested}\n")
    assert kernel.body[0].body[0].value is X()


def test_programs_with_everything():
    s, h1 = var(InputSize(0, 0, longest("float64", 2))), var(DefinedSize("h1"))
    a, c = Buffer("a0", "float64", (s, const(2))), Buffer("c0", "int8", (const(3),))
    t0, t1, p0 = (
        Buffer("t0", "float64", (s,)),
        Buffer("t1", "float64", ()),
        Buffer("p0", "bool", (var(DefinedSize("h1p0_0")), const(2))),
    )
    one, other = stored(X()), replace(stored(op("neg", X())), name="k")
    operand = Operand("a0", op("mul", s, const(3)), (const(2), const(-1)))
    out = Operand("t1", op("mul", BATCH, s), (s,))
    program = Program(
        inputs=(Input(a, (None, 2), False), Input(Buffer("a1", "int64", ()), (), True), Input(t1, (), True),
                Input(Buffer("a3", "bool", (const(3), s)), (None, 4), False)),
        constants=(c,),
        slots=(Slot(op("mul", s, const(8)), False), Slot(h1, True)),
        steps=(
            Launch(one, (s, "a0", const(1), s, "t0")),
            Check(op("and", op("lt", s, const(9)), op("eq", s, s)), 3),
            Check(op("lt", s, const(9)), 4, (s, const(9))),
            Define("h1", cast(load(ArgumentName("a1"), "int64", const(0)), "int64")),
            Allocate(t0, slot=1),
            Allocate(t1, output=0, reuse=2, initial=2),
            Allocate(t1, output=0, initial=1),
            Launch(one, ("a0", s, "t0")),
            Launch(other, ("a0", op("mul", s, const(2)), "t0")),
            Launch(one, ("a0", const(5), "t0")),
            Call(products.product("float64"), (s, const(2), h1), (operand, replace(operand, buffer="t0"), out),
                 (const(-0.1, "float64"),), op("mul", s, const(4))),
            Call(products.accumulated_product("float64"), (s, const(2), s), (operand, operand, replace(out, offset=s)),
                 (const(math.inf, "float64"),)),
            Call(sorting.sort("quicksort", "float64"), (s,), (Operand("t0", const(0)),)),
            PythonCall(1, (a, t0), (p0,)),
            PythonCall(0, (), ()),
            HandOver("a1", 1),
        ),
        outputs=("t1", "t0"),
        updates=((0, 2), (1, 1)),
        returned=1,
        unpack_single=True,
    )  # fmt: skip
    text = print_program(program)
    assert parse_program(text) == program
    assert "launch k(a0, s0_0, t0)" in text and "launch k~1(a0, s0_0 * 2, t0)" in text
    assert text.count("kernel k") == 2


def test_comments_and_blank_lines_are_skipped():
    kernel = parse_kernel("# head\n\nkernel k(b: float64[] written):  # note\n\n    # inside\n    b[0] = 1.0 # one\n")
    assert kernel == Kernel("k", (BufferParam("b", "float64", True),), (Store("b", const(0), const(1.0, "float64")),))


def test_minus_between_operands_and_before_literals():
    head = "kernel k(b: int64[] written, n: int64):\n    b[0] = "
    x = var("n")
    for text, expected in [
        ("n - 1", op("sub", x, const(1))), ("n -1", op("sub", x, const(1))), ("n-1", op("sub", x, const(1))),
        ("n + -1", op("add", x, const(-1))), ("-1 * n", op("mul", const(-1), x)), ("(n)-1", op("sub", x, const(1))),
        ("n * n - n // 2 + n", op("add", op("sub", op("mul", x, x), op("intdiv", x, const(2))), x)),
    ]:  # fmt: skip
        assert parse_kernel(head + text).body[0].value is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'kernel', got nothing"),
        ("program", "line 1: expected 'kernel', got 'program'"),
        ("kernel k(b: float99[]):", "line 1: expected a dtype, got 'float99'"),
        ("kernel k(b: float64[]", r"line 1: expected ',', got 'end of line'"),
        ("kernel exp():", "line 1: expected the name of a kernel, got 'exp'"),
        ("kernel k():\n    x[0] = ?", "line 2: expected an expression, got '\\?'"),
        ("kernel k():\n    x[0] = $", "line 2: expected a name, number or sign, got '\\$'"),
        ("kernel k():\n    x[0] = b[0]", "line 2: expected 'b' to be a buffer, got '0'"),
        ("kernel k():\n    x[0] = 1 +", "line 2: expected an expression, got 'end of line'"),
        ("kernel k():\n    x[0] = 1 2", "line 2: expected the end of the line, got '2'"),
        ("kernel k():\n    x[0] = add(1)", "line 2: expected 2 operands of add, not 1"),
        ("kernel k():\n    x[0] = exp()", "line 2: expected an operand, got 'end of line'"),
        ("kernel k():\n    x[0] = float32(1, 2)", "line 2: expected one operand of the cast to float32, not 2"),
        ("kernel k():\n    x[0] = 1.5:int8", "line 2: expected a literal of int8 to be an integer"),
        ("kernel k():\n    x[0] = %3", "line 2: expected a %k that has been set above, got '%3'"),
        ("kernel k():\n    x[0] = @f(1)", "line 2: expected a function defined below, .*, got 'f'"),
        (
            "kernel k():\n\n    for i < 3:\n        x[0] = 1\n      x[0] = 1",
            "line 5: expected 8 spaces of indentation, got 6",
        ),
        ("kernel k():\n    for i 3:", "line 2: expected '<', got '3'"),
        ("kernel k():\n    parallel i < 3:", "line 2: expected 'for', got 'i'"),
        ("kernel k():\n    x 3", "line 2: expected '=', got '3'"),
        ("kernel k():\n    r = 1, any", "line 2: expected 'reassociate', got 'any'"),
        (
            "kernel k(a: float64[] written):\n    a[0] = @sine:float64(1.0)",
            "line 2: expected the symbol of a function that a library has",
        ),
        ("kernel k():\n    return 1", "line 2: expected a statement, got 'return'"),
        ("kernel k():\nkernel j():", "line 2: expected the end of the kernel, or a function, got 'kernel'"),
    ],
)
def test_errors_in_kernels(text, message):
    with pytest.raises(IRSyntaxError, match=message):
        parse_kernel(text)
    assert issubclass(IRSyntaxError, IRError)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("kernel", "line 2: expected input, shared, constant, slot, a step, output, update or return, got 'kernel'"),
        ("foo", "line 2: expected input, shared, constant"),
        ("input a0: float64", r"line 2: expected '\[', got 'end of line'"),
        ("input a0: float64[3] static [x]", r"line 2: expected a length or '\?', got 'x'"),
        ("slot 1: 8", "line 2: expected slot 0, got '1'"),
        ("check true error 3", "line 2: expected 'else', got 'error'"),
        ("launch k()", r"line 2: expected the name of a kernel defined below \(there are none\)"),
        ("call nothing.float64 (1) on a(0)", "line 2: expected the name of a routine, got 'nothing.float64'"),
        ("call sort.quicksort.float64 (1) on a()", "line 2: expected an offset before this"),
        ("call sort.quicksort.float64 (1) a(0)", "line 2: expected 'on', got 'a'"),
        ("call sort.quicksort.float64 (1) on a(0) for k < 2", "line 2: expected 'batch', got 'k'"),
        ("return x", "line 2: expected an integer, got 'x'"),
        ("return 1.5", "line 2: expected an integer, got '1.5'"),
    ],
)
def test_errors_in_programs(entry, message):
    with pytest.raises(IRSyntaxError, match=message):
        parse_program(f"program\n    {entry}\n")


def test_text_that_is_not_a_program():
    for text in ("", "kernel k():\n"):
        with pytest.raises(IRSyntaxError, match="line 1: expected 'program'"):
            parse_program(text)
    with pytest.raises(IRSyntaxError, match="line 3: expected another name, got kernel 'k~0' again"):
        parse_program("program\nkernel k():\nkernel k():\n")
