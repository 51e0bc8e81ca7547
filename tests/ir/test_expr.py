"""Expressions are interned, simplified exactly, and walked at any depth."""

from __future__ import annotations

import math
import operator
import pickle
import random

import pytest

from aesara.ir.buffers import longest
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
from aesara.ir.function import ScalarFunction, functions_below
from aesara.ir.kernel import ScalarParam
from aesara.ir.symbols import ArgumentName, ConstantName, DefinedSize, InputSize
from aesara.primitives import PRIMITIVES

#: lengths of vectors of doubles, and of one dimension of a matrix of bytes
LONG, LONGEST = longest("float64", 1), longest("int8", 2)
I, J, N, M, B = var("i"), var("j"), *(var(InputSize(k, 0, most)) for k, most in enumerate((LONG, LONG, LONGEST)))


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
    rest = op("add", op("maximum", N, const(2)), const(-2))  # behind the first two
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
        (op("maximum", op("add", N, M), const(0)), op("add", N, M)),
        (op("minimum", N, op("add", N, const(1))), N),
        (op("minimum", rest, N), rest),
        (op("maximum", op("minimum", N, M), op("add", N, const(1))), op("add", N, const(1))),
        (op("maximum", op("minimum", N, M), M), M),
        (op("minimum", op("maximum", N, M), N), N),
        (op("maximum", M, op("maximum", M, I)), op("maximum", M, I)),
        (op("minimum", op("add", N, const(-1)), op("minimum", N, op("add", N, const(2)))), op("add", N, const(-1))),
        (op("minimum", op("add", N, const(1)), const(1)), const(1)),
        (op("maximum", op("add", N, const(-2)), const(0)), rest),
        (op("sub", N, op("minimum", N, const(2))), rest),
        (op("add", op("minimum", op("add", N, const(1)), const(2)), const(-1)), op("minimum", N, const(1))),
        (op("add", op("minimum", N, const(3)), op("maximum", op("add", N, const(-3)), const(0))), N),
        (op("add", op("maximum", N, M), op("minimum", N, M)), op("add", N, M)),
        (op("sub", const(0), op("sub", I, J)), op("sub", J, I)),
        (op("intdiv", op("sub", const(1), I), const(-1)), op("add", I, const(-1))),
        (op("add", op("sub", const(2), I), const(3)), op("sub", const(5), I)),
        (op("mod", op("mod", I, const(3)), const(4)), op("mod", I, const(3))),
        (op("ge", N, const(0)), const(True, "bool")),
        (op("gt", op("add", N, const(1)), N), const(True, "bool")),
        (op("eq", op("minimum", N, const(1)), const(2)), const(False, "bool")),
        (op("ne", op("maximum", N, const(3)), const(2)), const(True, "bool")),
        (op("lt", const(3), I), op("ge", I, const(4))),
        (op("ge", op("add", N, const(-2)), const(0)), op("ge", N, const(2))),
        (op("eq", op("minimum", I, const(2)), const(2)), op("ge", I, const(2))),
        (op("ge", op("minimum", I, const(3)), const(2)), op("ge", I, const(2))),
        (op("gt", op("maximum", I, const(3)), const(2)), const(True, "bool")),
        (op("select", op("gt", I, const(0)), I, const(0)), op("maximum", I, const(0))),
        (op("ne", cast(op("lt", I, J), INDEX), const(0)), op("lt", I, J)),
        (op("eq", cast(op("lt", I, J), INDEX), const(0)), ~op("lt", I, J)),
        (op("gt", op("select", op("lt", I, J), const(0), const(3)), const(1)), ~op("lt", I, J)),
        (op("and", op("lt", I, J), const(True, "bool")), op("lt", I, J)),
        (op("or", const(True, "bool"), op("lt", I, J)), const(True, "bool")),
        (op("and", op("lt", I, J), op("lt", I, J)), op("lt", I, J)),
        (cast(const(127), "int8"), const(127, "int8")),
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
    assert op("mod", op("minimum", N, const(3)), const(3)).op == "mod"
    assert cast(const(1.5, "float64"), INDEX).op == "cast"
    assert cast(const(300), "uint8").op == "cast"
    assert op("mul", const(2**62), const(4)).op == "mul"
    assert op("intdiv", const(-(2**63)), const(-1)).op == "intdiv"


@pytest.mark.parametrize("e", [op("add", B, N), op("mul", N, const(16)), op("add", B, const(1)), op("mul", N, M)])
def test_sums_and_products_that_may_wrap(e):
    assert op("maximum", e, const(0)).op == "maximum" and not e.is_bounded


def test_a_vector_of_bytes_is_no_longer_than_memory():
    assert longest("bool", 1) == 2**62 and longest("bool", 2) == 2**63 - 1


BINARY = "add sub mul minimum maximum intdiv mod lt le gt ge eq ne".split()


def wrapped(value):
    return (value + 2**63) % 2**64 - 2**63


def apply(name, a, b):
    """Evaluate a primitive on Python's integers, wrapped to 64 bits."""
    if name in ("intdiv", "mod"):
        return 0 if b == 0 else wrapped(a // b if name == "intdiv" else a % b)
    function = {"sub": operator.sub, "mul": operator.mul, "minimum": min, "maximum": max}
    result = function.get(name, getattr(operator, name, None))(a, b)
    return result if isinstance(result, bool) else wrapped(result)


def evaluated(root, values):
    found = {}
    for e in walk([root]):
        if e.op in ("const", "var"):
            found[e] = e.attr if e.op == "const" else values[e]
        elif e.op == "select":
            found[e] = found[e.args[1] if found[e.args[0]] else e.args[2]]
        elif e.op in ("and", "or"):
            found[e] = (all if e.op == "and" else any)(found[a] for a in e.args)
        elif e.op == "invert":
            found[e] = not found[e.args[0]]
        elif e.op == "cast":
            found[e] = int(found[e.args[0]])
        else:
            found[e] = apply(e.op, *(found[a] for a in e.args))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_simplified_expressions_have_the_same_values(seed):
    """Random expressions of sizes, at small, largest and random values, against arithmetic without simplification."""
    rng = random.Random(seed)
    numbers = [-(2**63), -(2**62), -3, -2, -1, 0, 1, 2, 3, 7, 2**61, 2**63 - 1]
    points = [{N: 0, M: 0, B: 0, I: 0}, {N: LONG, M: LONG, B: LONGEST, I: 2**63 - 1}]
    for _ in range(10):
        sizes = {e: rng.choice([0, 1, 2, 3, 5, e.attr.most - 1, e.attr.most]) for e in (N, M, B)}
        points.append(sizes | {I: rng.choice(numbers)})
    byte, flag = var("byte", "uint8"), var("flag", "bool")
    for k, point in enumerate(points):
        point.update({byte: k * 23, flag: bool(k % 2)})
    pool = [(e, [point[e] for point in points]) for e in (N, M, B, I)]
    pool += [(cast(e, INDEX), [int(point[e]) for point in points]) for e in (byte, flag)]
    pool += [(const(k), [k] * len(points)) for k in numbers]
    conditions = []
    simplified = 0
    for _ in range(1500):
        (a, x), (b, y) = rng.choice(pool), rng.choice(pool)
        if conditions and rng.random() < 0.1:
            c, z = rng.choice(conditions)
            made, expected = op("select", c, a, b), [p if r else q for p, q, r in zip(x, y, z)]
        else:
            name = rng.choice(BINARY)
            made, expected = op(name, a, b), [apply(name, p, q) for p, q in zip(x, y)]
            simplified += (made.op, made.args) != (name, (a, b))
        if len(list(walk([made]))) > 25:
            continue
        for point, value in zip(points, expected):
            found = evaluated(made, point)
            assert found[made] == value, (a, b, made, point)
            assert all(e.least <= found[e] <= e.most for e in found if e.dtype == INDEX)
        (conditions if made.dtype == "bool" else pool).append((made, expected))
    assert simplified > 100


def test_constants_stay_integers_of_64_bits():
    large = const(2**62)
    down = const(-(2**63))
    halves = [op("add", op(name, N, M), down) for name in ("minimum", "maximum")]
    for e in (op("add", op("add", I, large), large), op("sub", I, down), op("add", *halves)):
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
    """`s0_0` is an input size only if it is an `InputSize`, whatever else has that name."""
    length, plain, computed = var(InputSize(0, 0, LONG)), var("s0_0"), var(DefinedSize("s0_0"))
    assert length is var(InputSize(0, 0, LONG)) and len({length, plain, computed, var(InputSize(0, 0, 5))}) == 4
    assert op("maximum", length, const(0)) is length
    assert op("maximum", plain, const(0)) is not plain and op("maximum", computed, const(0)) is not computed
    assert load(ArgumentName("a"), "float64", const(0)) is not load(ConstantName("a"), "float64", const(0))
    copy = pickle.loads(pickle.dumps(InputSize(3, 1, LONG, "n")))
    assert (copy, copy.number, copy.axis, copy.most, type(copy)) == ("n", 3, 1, LONG, InputSize)


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


def test_functions_that_share_functions_are_visited_once():
    """Each function calls the previous one twice: exponentially many paths, linear work."""
    called = None
    functions = []
    for k in range(60):
        n = var("n")
        value = n + 1 if called is None else called(n) + called(n + 1)
        called = ScalarFunction(f"f{k}", (ScalarParam("n", "int64"),), (), value)
        functions.append(called)
    assert functions_below([called(var("n"))]) == functions[::-1]
