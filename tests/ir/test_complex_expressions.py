"""Complex expressions and statements consist of real ones."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from aesara.ir.expr import NoComplexForm, cast, complex_number, const, imag, load, op, parts_of, real, var, walk
from aesara.ir.interpret import run_kernel
from aesara.ir.kernel import Assign, BufferParam, Declare, For, Kernel, ScalarParam, Store, split_complex
from aesara.ir.verify import verify_kernel

I, N = var("i"), var("n")
Z, W, X = var("z", "complex128"), var("w", "complex128"), var("x", "float64")


def value_of(e, values):
    """Evaluate an expression of variables, constants and arithmetic."""
    if e.op == "const":
        return e.attr
    if e.op == "var":
        return values[e.attr]
    functions = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
    functions |= {"neg": operator.neg, "eq": operator.eq, "ne": operator.ne, "and": operator.and_, "or": operator.or_}
    functions |= {"complex": complex, "select": lambda c, a, b: a if c else b}
    return functions[e.op](*(value_of(a, values) for a in e.args))


@pytest.mark.parametrize(
    "function",
    [
        lambda z, w, x: z + w,
        lambda z, w, x: z - w,
        lambda z, w, x: -z,
        lambda z, w, x: z * w,
        lambda z, w, x: z * x,
        lambda z, w, x: x * w,
        lambda z, w, x: z / x,
        lambda z, w, x: 2 * z + 1j,
    ],
)
def test_arithmetic_is_that_of_python(function):
    z, w, x = 1.5 - 2j, -0.25 + 3j, 4.0
    values = {"z_re": z.real, "z_im": z.imag, "w_re": w.real, "w_im": w.imag, "x": x}
    expression = function(Z, W, X)
    assert expression.op == "complex" and not any(e.op == "complex" for e in walk(expression.args))
    assert value_of(expression, values) == function(z, w, x)


def test_parts_are_read_off():
    z = complex_number(X, const(0.0, "float64"))
    assert z.dtype == "complex128" and real(z) is X and parts_of(z) == z.args
    assert real(X) is X and imag(X) is const(0.0, "float64") and parts_of(X) == (X,)
    assert cast(X, "complex128") is z
    assert cast(z, "complex64") is complex_number(*(cast(part, "float32") for part in z.args))
    assert const(1 - 2j, "complex64") is complex_number(const(1, "float32"), const(-2, "float32"))


def test_comparisons_and_choices_take_both_parts():
    assert op("eq", Z, W) is op("and", op("eq", real(Z), real(W)), op("eq", imag(Z), imag(W)))
    assert op("isnan", Z) is op("or", op("isnan", real(Z)), op("isnan", imag(Z)))
    condition = I < N
    chosen = op("select", condition, Z, X)
    assert chosen is complex_number(op("select", condition, real(Z), X), op("select", condition, imag(Z), imag(X)))


@pytest.mark.parametrize("name", ["lt", "maximum", "div", "pow"])
def test_operations_without_a_form_are_refused(name):
    with pytest.raises(NoComplexForm):
        op(name, Z, W)


def test_a_complex_number_does_not_become_real():
    with pytest.raises(NoComplexForm):
        cast(Z, "float64")


def test_elements_are_pairs_in_memory():
    z = load("b", "complex64", I)
    assert [(e.dtype, e.attr) for e in z.args] == [("float32", "b")] * 2
    assert [e.args[0] for e in z.args] == [I * 2, I * 2 + 1]


def test_statements_are_split_into_those_of_parts(rng=np.random.default_rng(0)):
    """A running product, in which both parts of the old value are read before the first is overwritten."""
    product = var("r", "complex128")
    body = (
        Declare("r", const(1, "complex128")),
        For("i", N, (Assign("r", product * load("a", "complex128", I)), Store("b", I, product))),
    )
    params = (BufferParam("a", "float64"), BufferParam("b", "float64", written=True), ScalarParam("n"))
    kernel = Kernel("k", params, split_complex(body))
    verify_kernel(kernel)
    a = rng.normal(size=5) + 1j * rng.normal(size=5)
    b = np.empty_like(a)
    run_kernel(kernel, [a.view("float64"), b.view("float64"), 5])
    np.testing.assert_allclose(b, np.cumprod(a), rtol=1e-15)
