"""Expressions are made once, simplified where that is exact, and walked at any depth."""

from __future__ import annotations

import math
import pickle

import pytest

from aesara.ir.expr import (
    INDEX,
    call,
    cast,
    const,
    cost,
    is_size,
    linear_offset,
    load,
    op,
    rebuild,
    sharing,
    substitute,
    var,
    walk,
)  # fmt: skip
from aesara.ir.symbols import ArgumentName, ConstantName, DefinedSize, InputSize
from aesara.primitives import PRIMITIVES

I, J, N, M = var("i"), var("j"), var(InputSize(0, 0)), var(InputSize(1, 0))


def X():
    return load("b", "float64", I)


@pytest.fixture(autouse=True)
def equal_expressions_are_one_object():
    with sharing():
        yield


def test_equal_expressions_are_the_same_object():
    assert op("add", X(), op("mul", X(), X())) is op("add", X(), op("mul", X(), X()))
    assert cast(I, "float32") is cast(I, "float32")
    assert call("f", "float64", [X()]) is call("f", "float64", (X(),))
    assert var("x", "float32") is not var("x", "float64")
    assert load("b", "float64", I) is not load("c", "float64", I)


def test_constants_are_kept_apart_by_dtype_sign_of_zero_and_nan():
    assert const(0.0, "float64") is not const(-0.0, "float64")
    assert const(math.nan, "float64") is const(math.nan, "float64")
    assert const(1) is not const(1, "int32") and const(1, "float64") is not const(1)
    assert const(2, "bool").attr is True and const(True).attr == 1 and type(const(True).attr) is int
    assert const(1, "float32").attr == 1.0 and type(const(1, "float32").attr) is float


def test_simplification():
    equal = [
        (op("add", const(2), const(3)), const(5)),
        (op("sub", const(2), const(3)), const(-1)),
        (op("intdiv", const(-7), const(2)), const(-4)),
        (op("mod", const(-7), const(2)), const(1)),
        (op("lt", const(2), const(3)), const(True, "bool")),
        (op("add", I, const(0)), I),
        (op("add", const(0), I), I),
        (op("mul", I, const(1)), I),
        (op("mul", const(0), I), const(0)),
        (op("intdiv", I, const(1)), I),
        (op("sub", I, I), const(0)),
        (op("eq", I, I), const(True, "bool")),
        (op("ne", I, I), const(False, "bool")),
        (op("maximum", N, N), N),
        (op("maximum", N, const(0)), N),
        (op("maximum", op("maximum", N, I), const(-1)), op("maximum", N, I)),
        (op("add", op("add", I, const(2)), const(3)), op("add", I, const(5))),
        (op("sub", I, const(3)), op("add", I, const(-3))),
        (op("select", const(True, "bool"), I, J), I),
        (op("select", const(False, "bool"), I, J), J),
        (op("select", op("lt", I, J), N, N), N),
        (cast(const(3), "float64"), const(3.0, "float64")),
        (cast(const(3, "uint8"), INDEX), const(3)),
        (cast(const(3), "bool"), const(True, "bool")),
        (cast(X(), "float64"), X()),
    ]
    for made, expected in equal:
        assert made is expected


def test_what_must_not_be_simplified():
    zero = const(0.0, "float64")
    assert op("add", X(), zero).op == "add"  # -0.0 + 0.0 is 0.0
    assert op("mul", X(), zero).op == "mul"  # NaN
    assert op("eq", X(), X()).op == "eq"  # NaN
    assert op("sub", X(), X()).op == "sub"  # NaN
    assert op("maximum", I, const(0)).op == "maximum"  # a loop index is no size
    assert op("intdiv", const(1), const(0)).op == "intdiv"
    assert cast(const(1.5, "float64"), INDEX).op == "cast"
    assert cast(const(300), "uint8").op == "cast"
    assert op("mul", const(2**62), const(4)).op == "mul"
    assert op("intdiv", const(-(2**63)), const(-1)).op == "intdiv"


@pytest.mark.parametrize("e", [op("add", N, M), op("mul", N, const(2)), op("add", N, const(1))])
def test_sums_and_products_of_sizes_may_wrap(e):
    assert op("maximum", e, const(0)).op == "maximum"


def test_constants_stay_integers_of_64_bits():
    large = const(2**62)
    for e in (op("add", op("add", I, large), large), op("sub", I, const(-(2**63)))):
        assert all(-(2**63) <= a.attr < 2**63 for a in walk([e]) if a.is_const)


def test_dtypes_of_results():
    assert op("lt", X(), X()).dtype == "bool" and op("isnan", X()).dtype == "bool"
    assert op("select", op("lt", I, J), X(), X()).dtype == "float64" or op("select", op("lt", I, J), X(), X()) is X()
    assert op("exp", X()).dtype == "float64"


@pytest.mark.parametrize("name", PRIMITIVES)
def test_number_of_operands(name):
    with pytest.raises(TypeError, match=f"IR primitive '{name}' takes {PRIMITIVES[name].operands} operands, got 4"):
        op(name, X(), X(), X(), X())


def test_linear_offset_is_row_major():
    assert linear_offset((), ()) is const(0)
    assert linear_offset((I,), (N,)) is I
    assert linear_offset((I, J), (N, M)) is op("add", op("mul", I, M), J)
    assert linear_offset((const(1), const(2)), (const(3), const(4))) is const(6)


def test_walk_visits_each_once_and_operands_first():
    square = op("mul", X(), X())
    root = op("add", square, square)
    order = list(walk([root, square]))
    assert order == [I, X(), square, root]


def test_substitute_replaces_from_the_root_down():
    root = op("add", op("mul", X(), X()), cast(I, "float64"))
    (changed,) = substitute([root], lambda e: J if e is I else None, {})
    assert changed is op("add", op("mul", load("b", "float64", J), load("b", "float64", J)), cast(J, "float64"))
    (same,) = substitute([root], lambda e: None, {})
    assert same is root
    assert rebuild(call("f", "float64", [X()]), (root,)) is call("f", "float64", [root])


def test_sizes():
    assert is_size(N) and is_size(const(0)) and is_size(op("mul", N, M)) and is_size(op("add", N, const(1)))
    assert not is_size(I) and not is_size(const(-1)) and not is_size(op("add", N, const(-1)))


def test_costs():
    assert cost(I) == cost(const(1)) == 0
    assert cost(X()) < cost(op("sqrt", X())) < cost(op("exp", X())) < cost(op("pow", X(), X()))


@pytest.mark.slow
def test_any_depth():
    deep = X()
    for k in range(100_000):
        deep = op("mul", deep, X()) if k % 2 else op("neg", deep)
    assert sum(1 for _ in walk([deep])) == 100_002
    (changed,) = substitute([deep], lambda e: J if e is I else None, {})
    assert changed is not deep


def test_names_of_different_kinds_are_different_names():
    """`s0_0` is a length of an input only if it says so, whatever else is called that."""
    length, plain, computed = var(InputSize(0, 0)), var("s0_0"), var(DefinedSize("s0_0"))
    assert length is var(InputSize(0, 0)) and len({length, plain, computed}) == 3
    assert op("maximum", length, const(0)) is length
    assert op("maximum", plain, const(0)) is not plain and op("maximum", computed, const(0)) is not computed
    assert load(ArgumentName("a"), "float64", const(0)) is not load(ConstantName("a"), "float64", const(0))
    copy = pickle.loads(pickle.dumps(InputSize(3, 1, "n")))
    assert (copy, copy.number, copy.axis, type(copy)) == ("n", 3, 1, InputSize)


def test_operators_are_primitives():
    i, x = var("i"), var("x", "float32")
    for made, name, args in (
        (i + 1, "add", (i, const(1))),
        (2 - i, "sub", (const(2), i)),
        (3 * x, "mul", (const(3.0, "float32"), x)),
        (x / 2, "div", (x, const(2.0, "float32"))),
        (1 / x, "div", (const(1.0, "float32"), x)),
        (i // 2, "intdiv", (i, const(2))),
        (i % 2, "mod", (i, const(2))),
        (7 % i, "mod", (const(7), i)),
        (-x, "neg", (x,)),
        (x <= 1, "le", (x, const(1.0, "float32"))),
        ((i < 1) & (i > 2), "and", (op("lt", i, const(1)), op("gt", i, const(2)))),
        ((i < 1) | (i >= 2), "or", (op("lt", i, const(1)), op("ge", i, const(2)))),
        (~(i < 1), "invert", (op("lt", i, const(1)),)),
        ((i < 1) ^ (i < 2), "xor", (op("lt", i, const(1)), op("lt", i, const(2)))),
    ):
        assert made is op(name, *args), name
    assert (i == 1) is False and (i + 0) is i  # `==` compares objects; index arithmetic is simplified
