"""The verifier accepts well-formed kernels and programs and names the error in others."""

from __future__ import annotations

import pytest

from aesara.ir import expr as ir
from aesara.ir.buffers import Buffer, Operand, Slot
from aesara.ir.expr import cast, const, load, op, var
from aesara.ir.function import ScalarFunction
from aesara.ir.kernel import Assign, BufferParam, Declare, For, If, Kernel, ScalarParam, Store, While
from aesara.ir.program import Input, Program
from aesara.ir.routines import products
from aesara.ir.routines.special import special
from aesara.ir.steps import Allocate, Call, Check, Define, Launch, PythonCall
from aesara.ir.verify import IRError, verify_kernel
from aesara.ir.verify_program import verify_program

I, N = var("i"), var("n")
ONE = const(1.0, "float64")
READ = load("b", "float64", I)
PARAMS = (BufferParam("a", "float64", True), BufferParam("b", "float64"), ScalarParam("n"), ScalarParam("x", "float64"))
X = ScalarParam("x", "float64")
TWICE = ScalarFunction("twice", (X,), (), op("add", var("x", "float64"), var("x", "float64")))
WRONG = ScalarFunction("reads", (), (Declare("r", load("b", "float64", const(0))),), var("r", "float64"))
REPEATED = ScalarFunction("twice", (X, X), (), ONE)


def kernel(*body):
    return Kernel("k", PARAMS, body)


def loop(*body):
    return For("i", N, body)


def malformed(operation, dtype, *args, attr=None):
    """Return an expression that the constructors refuse to make."""
    return ir._intern(operation, dtype, attr, args, attr)


def test_a_well_formed_kernel():
    total = var("r", "float64")
    verify_kernel(
        kernel(
            Declare("r", const(0.0, "float64")),
            loop(
                If(op("lt", I, const(3)), (Assign("r", op("add", total, READ), True),)),
                Store("a", I, op("select", op("isnan", READ), ONE, op("exp", cast(I, "float64")))),
                Store("a", I, special("gammaln", 1)(var("x", "float64"))),
                While(op("lt", total, TWICE(ONE)), (Assign("r", op("add", total, ONE)),)),
            ),
            loop(Store("a", I, total)),
        )
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([Store("a", I, ONE)], "i is read, but nothing of that name is bound here"),
        ([loop(), Store("a", I, ONE)], "i is read, but nothing of that name"),
        (
            [If(op("lt", N, const(3)), (Declare("r", ONE),)), Store("a", N, var("r", "float64"))],
            "r is read, but nothing",
        ),
        ([Store("a", const(0), var("x", "float32"))], "x is float64, read as float32"),
        ([Store("a", N, load("n", "float64", N))], "load from n, which is no buffer here"),
        ([Store("a", N, cast(load("b", "float32", N), "float64"))], "buffer b holds float64, loaded as float32"),
        ([Store("a", N, load("b", "float64", ONE))], "the offset of a load is"),
        ([Store("a", N, malformed("cast", "float64", ONE, ONE))], "cast takes one operand"),
        ([Store("a", N, malformed("frobnicate", "float64", ONE))], "frobnicate is no primitive of 1 operands"),
        ([Store("a", N, malformed("exp", "float64", ONE, ONE))], "exp is no primitive of 2 operands"),
        ([Store("a", N, malformed("select", "float64", N, ONE, ONE))], "select of .* gives float64"),
        ([Store("a", N, malformed("select", "float64", const(True, "bool"), N, ONE))], "select of .* gives float64"),
        ([Store("a", N, op("add", ONE, const(1.0, "float32")))], "add of operands with different dtypes"),
        ([Store("a", N, malformed("add", "float32", ONE, ONE))], "add of float64 gives float64, not float32"),
        ([If(malformed("lt", "float64", ONE, ONE), ())], "lt of float64 gives bool, not float64"),
        ([For("i", ONE, ())], "the extent of loop i is float64"),
        ([loop(loop())], "loop i inside a loop of the same variable"),
        ([If(N, ())], "the condition of an if is int64"),
        ([While(N, ())], "the condition of a while is int64"),
        ([While(op("lt", N, const(3)), (Declare("r", ONE),)), Assign("r", ONE)], "declared as None"),
        ([Store("a", N, TWICE(N))], "function twice takes .'float64'., called with .'int64'."),
        ([Store("a", N, malformed("call", "int64", ONE, attr=TWICE))], "function twice gives float64, not int64"),
        ([Store("a", N, special("gammaln", 1)(N))], "function special.gammaln.1 takes .'float64'., called"),
        ([Store("a", N, WRONG())], "b is read, but|load from b, which is no buffer here"),
        ([Store("a", N, REPEATED(ONE, ONE))], "function twice has two parameters of one name"),
        ([Store("b", N, ONE)], "store to b, which is not a buffer to write to"),
        ([Store("c", N, ONE)], "store to c, which is not a buffer to write to"),
        ([Store("a", N, N)], "store of int64 at int64 to a of float64"),
        ([Store("a", ONE, ONE)], "store of float64 at float64 to a"),
        ([Assign("r", ONE)], "assignment of float64 to r, declared as None"),
        ([Declare("r", N), Assign("r", ONE)], "assignment of float64 to r, declared as int64"),
        ([Declare("r", var("r", "float64"))], "r is read, but nothing of that name"),
    ],
)
def test_ill_formed_kernels(body, message):
    with pytest.raises(IRError, match=message):
        verify_kernel(kernel(*body))


def test_two_parameters_of_one_name():
    with pytest.raises(IRError, match="kernel k has two parameters of one name"):
        verify_kernel(Kernel("k", (BufferParam("a", "float64"), ScalarParam("a")), ()))


# -- programs ----------------------------------------------------------------------------------------------------

S = var("s0")
A = Buffer("a0", "float64", (S, const(2)))
T = Buffer("t0", "float64", (S,))
FILL = Kernel("fill", (BufferParam("b", "float64", True), ScalarParam("n")), (For("i", N, (Store("b", I, ONE),)),))
ALLOCATE = Allocate(T, output=0)


def program(*steps, outputs=("t0",)):
    return Program(
        (Input(A, (None, 2), False),), (Buffer("c0", "float64", (const(1),)),), (Slot(S, False),), steps, outputs
    )


def matrix(name, strides=2):
    return Operand(name, const(0), (const(2), const(1))[:strides])


def product(dtype, *sizes, buffers=("a0", "c0", "t0"), scale=None):
    operands = tuple(matrix(name, 1 if k == 2 else 2) for k, name in enumerate(buffers))
    return Call(products.product(dtype), sizes, operands, (const(1.0, scale or dtype),))


def test_a_well_formed_program():
    result = Buffer("p0", "float64", (var("h0p0_0"),))
    verify_program(
        program(
            Check(op("lt", S, const(9)), 0, (S,)),
            Define("h1", cast(load("a0", "float64", const(0)), "int64")),
            ALLOCATE,
            Launch(FILL, ("t0", var("h1"))),
            product("float64", S, const(2), const(1)),
            PythonCall(0, (A,), (result,)),
            Allocate(Buffer("t1", "float64", (var("h0p0_0"),)), slot=0),
            Launch(FILL, ("p0", var("h0p0_0"))),
        )
    )


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "output t0 is never allocated"),
        ([Allocate(T)], "t0 must be either an output or in the workspace"),
        ([Allocate(T, output=0, slot=0)], "t0 must be either an output or in the workspace"),
        ([Allocate(Buffer("t0", "float64", (var("h1"),)), output=0)], "h1 is read, but nothing of that name"),
        ([Define("h1", var("h1")), ALLOCATE], "h1 is read, but nothing of that name"),
        ([Check(S, 0), ALLOCATE], "a check of int64"),
        ([Check(op("lt", S, load("t0", "int64", const(0))), 0), ALLOCATE], "load from t0, which is no buffer here"),
        ([Launch(FILL, ("t0", S)), ALLOCATE], "argument t0 for buffer b of float64"),
        ([ALLOCATE, Launch(FILL, ("t0",))], "kernel fill takes 2 arguments"),
        ([ALLOCATE, Launch(FILL, (S, S))], "for buffer b of float64"),
        ([ALLOCATE, Launch(FILL, ("t0", "t0"))], "argument t0 for n of int64"),
        ([ALLOCATE, Launch(FILL, ("t0", ONE))], "for n of int64"),
        ([ALLOCATE, Launch(FILL, ("t0", var("s9")))], "s9 is read, but nothing of that name"),
        ([ALLOCATE, Launch(Kernel("bad", (), (Store("b", N, ONE),)), ())], "n is read, but nothing of that name"),
        ([ALLOCATE, product("float32", S, S, S)], "matmul.float32 of float32 on a0"),
        ([ALLOCATE, product("float64", S, S, S, buffers=("a0", "c1", "t0"))], "matmul.float64 of float64 on c1"),
        ([ALLOCATE, product("float64", var("q"), S, S)], "q is read, but nothing of that name"),
        ([ALLOCATE, product("float64", S, S, S, scale="float32")], "alpha of matmul.float64 is float64, got float32"),
        ([ALLOCATE, product("float64", S, S)], "takes 3 sizes, got 2"),
        ([ALLOCATE, product("float64", S, S, S, buffers=("a0", "c0"))], "takes 3 operands, got 2"),
        (
            [ALLOCATE, Call(products.product("float64"), (S,) * 3, (matrix("a0"),) * 3, (const(1.0, "float64"),))],
            "out of matmul.float64 has 1 strides",
        ),
        ([ALLOCATE, Call(products.product("float64"), (S,) * 3, (matrix("a0"),) * 3)], "takes 1 scalars, got 0"),
        ([ALLOCATE, PythonCall(0, (Buffer("a0", "int64", (S,)),), ())], "a0 is float64, used as int64"),
        ([ALLOCATE, PythonCall(0, (Buffer("a0", "float64", (var("q"),)),), ())], "q is read, but nothing of that name"),
    ],
)
def test_ill_formed_programs(steps, message):
    with pytest.raises(IRError, match=message):
        verify_program(program(*steps))
