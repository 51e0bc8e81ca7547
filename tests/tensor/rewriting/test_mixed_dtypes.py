"""Operands of narrow and of different dtypes: a rule computes in the dtype that the expression as written computed in.

Integers and booleans must agree exactly, wrapped around where the expression as written does.  Floats may differ by
what a few units in the last place at each step of the expression as written make out.
"""

import zlib

import numpy as np
import pytest

import aesara.tensor as at
from aesara.graph.cloning import clone
from tests.fuzz.evaluation import conditioned
from tests.tensor.evaluate import evaluate
from tests.tensor.rewriting.passes import ops_of, rewrite
from tests.tensor.rewriting.test_rules import ELEMENTWISE

LENGTH = 24
INTEGERS = {
    "bool": [False, True],
    "int8": [-128, -127, -100, -3, -1, 0, 1, 2, 5, 100, 127],
    "uint8": [0, 1, 2, 3, 5, 100, 128, 200, 255],
    "int64": [-(2**40) - 1, -3, -1, 0, 1, 2, 5, 2**31],
}
#: Which floats cannot hold: not put together with them, since then already the cast is a rounding.
HUGE = [-(2**63), 2**53 + 1, 2**63 - 1]
ALONE = ["bool", "int8", "uint8", "int64", "float16", "float32"]
PAIRS = [
    ("int8", "int8"),
    ("int8", "float32"),
    ("float32", "int8"),
    ("uint8", "uint8"),
    ("uint8", "int8"),
    ("bool", "float16"),
    ("float16", "bool"),
    ("bool", "uint8"),
    ("uint8", "bool"),
    ("bool", "bool"),
    ("int64", "int64"),
    ("int64", "float32"),
    ("float32", "int64"),
    ("uint8", "float64"),
    ("float32", "float64"),
    ("float64", "float32"),
    ("float16", "float16"),
    ("float16", "uint8"),
]
TRIPLES = [
    ("int8", "int8", "int8"),
    ("uint8", "uint8", "uint8"),
    ("uint8", "uint8", "float64"),
    ("float64", "uint8", "uint8"),
    ("bool", "bool", "float16"),
    ("int8", "float32", "int8"),
    ("float32", "float32", "float64"),
    ("float64", "float32", "float32"),
    ("int64", "float32", "int64"),
    ("int64", "int8", "bool"),
]
#: Operations whose results lose digits or overflow where their operands are not small.
EXPONENTIAL = {"Exp", "Expm1", "Sigmoid", "Softplus", "Cosh"}
COMBINATIONS = {1: [(dtype,) for dtype in ALONE], 2: PAIRS, 3: TRIPLES}


def values_of(dtype, rng, domain=None, small=False, huge=False):
    """Values in which dtypes differ: the ends of the range of integers, fractions that are rounded."""
    if dtype in INTEGERS:
        pool = [n for n in INTEGERS[dtype] if not small or abs(n) <= 5] + HUGE * (huge and not small)
        return rng.choice(np.array(pool, dtype=dtype), size=LENGTH)
    if domain is None:
        domain = np.concatenate([rng.normal(size=LENGTH), [0.1, -2.25, 7 / 3, 30.0 if small else 300.0]])
    return rng.choice(np.asarray(domain), size=LENGTH).astype(dtype)


def check(build, dtypes, domains=None, seed=""):
    """Rewrite what is built of vectors of these dtypes; the values before and after agree."""
    rng = np.random.default_rng(zlib.crc32(f"{seed}{dtypes}".encode()))
    inputs = [at.vector(f"x{i}", dtype=dtype) for i, dtype in enumerate(dtypes)]
    try:
        before = build(*inputs)
    except TypeError as error:
        assert "boolean" in str(error)
        pytest.skip("booleans have no opposite and no difference")
    reference = clone(inputs, [before], copy_inputs=False)[1][0]
    after, _ = rewrite(before)
    assert after.type.dtype == reference.type.dtype
    small = not EXPONENTIAL.isdisjoint(ops_of(reference))
    huge = set(dtypes) == {"int64"}
    values = {
        var: values_of(var.type.dtype, rng, None if domains is None else domains[i], small, huge)
        for i, var in enumerate(inputs)
    }
    compare(reference, after, values)


def compare(reference, after, values):
    try:
        evaluate(reference, values)
    except ValueError as error:
        assert "negative integer powers" in str(error)
        pytest.skip("integers have no negative powers")
    got = evaluate(after, values)
    for runs in (8, 40):  # a few errors may cancel by chance
        outcome = conditioned([reference], values, runs=runs)
        want, tolerance, uncertain = outcome.values[0], outcome.tolerance[0], outcome.uncertain[0]
        assert got.dtype == want.dtype and got.shape == want.shape
        if want.dtype.kind != "f":
            np.testing.assert_array_equal(got, want)
            return
        with np.errstate(all="ignore"):
            # What overflowed or was undefined may be saved, never the reverse.
            wrong = ~(np.abs(got - want) <= tolerance) & np.isfinite(want) & ~uncertain
        if not wrong.any():
            return
    raise AssertionError(f"{got[wrong]} instead of {want[wrong]} at {[v[wrong] for v in values.values()]}")


def instances(rows):
    made = []
    for row in rows:
        build, *_, domains = row.values
        for dtypes in COMBINATIONS[len(domains)]:
            made.append(pytest.param(build, dtypes, domains, row.id, id=f"{row.id}-{'-'.join(dtypes)}"))
    return made


@pytest.mark.parametrize("build, dtypes, domains, name", instances(ELEMENTWISE))
def test_rows_keep_values_in_mixed_dtypes(build, dtypes, domains, name):
    check(build, dtypes, domains, name)


#: Expressions in which a rule takes operands out of the operation that cast them.
EXPRESSIONS = {
    # signs
    "x * -1": lambda x: x * np.int8(-1),
    "-1 * x in int64": lambda x: np.int64(-1) * x,
    "x / -1": lambda x: x / -1,
    "0 - x": lambda x: 0 - x,
    "0 - x in int64": lambda x: at.constant(np.int64(0)) - x,
    "zeros - x": lambda x: at.zeros((1,), dtype="int32") - x,
    "x - (-y)": lambda x, y: x - (0 - y),
    "x / (y * -1)": lambda x, y: x / (y * np.int8(-1)),
    "-3 * x / y": lambda x, y: np.int8(-3) * x / y,
    "abs(x * -1)": lambda x: abs(x * np.int8(-1)),
    "-(x / y)": lambda x, y: -(x / y),
    # quotients
    "1 / x in int64": lambda x: at.constant(np.int64(1)) / x,
    "1 / x in float32": lambda x: at.constant(np.float32(1)) / x,
    "arange / x": lambda x: at.arange(1, 0, -2) / x,
    "1 / (1 / x)": lambda x: 1 / (1 / x),
    "x * reciprocal(y)": lambda x, y: x * at.reciprocal(y),
    "reciprocal(x) * reciprocal(y)": lambda x, y: at.reciprocal(x) * at.reciprocal(y),
    "x * (y / z)": lambda x, y, z: x * (y / z),
    "x * (y / x)": lambda x, y: x * (y / x),
    "(x / y) / z": lambda x, y, z: (x / y) / z,
    "x / (y / z)": lambda x, y, z: x / (y / z),
    "x / (y * z)": lambda x, y, z: x / (y * z),
    "(x * y) / x": lambda x, y: (x * y) / x,
    "(x * y) * 1.5 / z": lambda x, y, z: (x * y) * 1.5 / z,
    "x / |x|": lambda x: x / abs(x),
    # sums
    "x + (x - y)": lambda x, y: x + (x - y),
    "x + (x + y)": lambda x, y: x + (x + y),
    "(x + y) + 0.5": lambda x, y: (x + y) + 0.5,
    "(x + 0.5) + y": lambda x, y: (x + 0.5) + y,
    "(x + 0.5) + (y + 0.5)": lambda x, y: (x + 0.5) + (y + 0.5),
    "x + 100 + 100": lambda x: x + np.int8(100) + np.int16(100),
    "x + 0.0": lambda x: x + np.float32(0),
    "x * ones * x": lambda x: x * at.ones_like(x, dtype="float32") * x,
    "x * 1.0 * y": lambda x, y: x * np.float64(1) * y,
    "(x * 0.5) * (y * 2.0)": lambda x, y: (x * 0.5) * (y * 2.0),
    "(x + y) + z": lambda x, y, z: (x + y) + z,
    "x * (y * z)": lambda x, y, z: x * (y * z),
    # factors and sums
    "(x y + z) / x": lambda x, y, z: (x * y + z) / x,
    "(x / y + z / y) * y": lambda x, y, z: (x / y + z / y) * y,
    "switch(c, 0, x) * y": lambda x, y: at.switch(x > 1, 0, x) * y * 0.5,
    "switch(c, 0.0, x) * y": lambda x, y: at.switch(x > 1, np.float64(0), x) * y,
    "switch(c, x, 0.0) / y": lambda x, y: at.switch(x > 1, x, np.float64(0)) / y,
    "switch in switch": lambda x, y: at.switch(x > 1, at.switch(x > 1, x, np.float64(0)), y),
    "sum(x y c)": lambda x, y: (x * y * at.constant(np.array([0.3]))).sum(),
    "sum(x y / c)": lambda x, y: (x * y / at.constant(np.array([0.3]))).sum(),
    "sum(-x)": lambda x: (0 - x).sum(),
    "sum(alloc)": lambda x: at.alloc(x[0], 300).sum(),
    # functions
    "exp(log1p(x))": lambda x: at.exp(at.log1p(x)),
    "expm1(log(x))": lambda x: at.expm1(at.log(x)),
    "log(x + 1)": lambda x: at.log(x + np.int8(1)),
    "log(1 - x)": lambda x: at.log(np.int8(1) - x),
    "cos(-x)": lambda x: at.cos(-x),
    "cosh(-x)": lambda x: at.cosh(-x),
    "abs(-x)": lambda x: abs(-x),
    "square(-x)": lambda x: at.square(-x),
    "square(abs(x))": lambda x: at.square(abs(x)),
    "sqrt(square(x))": lambda x: at.sqrt(at.square(x)),
    "exp(x) * sigmoid(-x)": lambda x: at.exp(x) * at.sigmoid(-x),
    "exp(x - y) * sigmoid(y - x)": lambda x, y: at.exp(x - y) * at.sigmoid(y - x),
    "y / (1 + exp(-x))": lambda x, y: y / (1 + at.exp(-x)),
    "log(2 exp(x))": lambda x: at.log(at.constant(np.int64(2)) * at.exp(x)),
    "1.0 - exp(x) in float64": lambda x: np.float64(1) - at.exp(x),
    # powers
    "x ** 2": lambda x: x ** np.int64(2),
    "x ** 2.0": lambda x: x ** np.float64(2),
    "x ** 3": lambda x: x ** np.int8(3),
    "x ** 0.5": lambda x: abs(x * 0.5) ** np.float32(0.5),
    "x ** -2": lambda x: x ** np.float32(-2),
    "x ** -3.0": lambda x: x ** np.float64(-3),
    "x * x": lambda x: x * x,
    "x // 1": lambda x: x // np.float32(1),
}


@pytest.mark.parametrize(
    "name, dtypes",
    [(name, dtypes) for name, f in EXPRESSIONS.items() for dtypes in COMBINATIONS[f.__code__.co_argcount]],
    ids=lambda part: part if isinstance(part, str) else "-".join(part),
)
def test_expressions_keep_values_in_mixed_dtypes(name, dtypes):
    check(EXPRESSIONS[name], dtypes, seed=name)


#: What went wrong once: an expression, values, and what it is.
FAULTS = {
    "negative in uint8": (lambda x: x * -1, ["uint8 5"], "int16 -5"),
    "difference in uint8": (lambda x: np.int8(0) - x, ["uint8 5"], "int16 -5"),
    "quotient in int64": (lambda x: x / -1, [f"int64 {-(2**63)}"], "float64 9.223372036854775808e18"),
    "negative of a boolean": (lambda x: at.zeros((1,), dtype="int32") - x, ["bool 1"], "int32 -1"),
    "reciprocal in float32": (lambda x: at.constant(np.int64(1)) / x, ["float32 -2.25"], f"float64 {1 / -2.25!r}"),
    "reciprocal of what is folded": (lambda x: at.arange(1, 0, -2) / x, ["float32 -2.25"], f"float64 {1 / -2.25!r}"),
    "sum of booleans": (lambda x, y: x + (x - y), ["bool 1", "float16 -0.25"], "float16 2.25"),
    "product in uint8": (lambda x, y: x * (y / 2), ["uint8 16", "uint8 16"], "float64 128"),
    "quotient of a product in uint8": (lambda x, y, z: x * (y / z), ["uint8 32"] * 2 + ["uint8 4"], "float64 256"),
    "factor one in float32": (
        lambda x, y: x * at.ones_like(x, dtype="float32") * y,
        ["int32 2147483647"] * 2,
        f"float64 {2147483647.0**2!r}",
    ),
}


def number(text):
    dtype, digits = text.split()
    return np.array([int(digits) if dtype.startswith(("int", "uint")) else float(digits)]).astype(dtype)


@pytest.mark.parametrize("build, operands, expected", FAULTS.values(), ids=FAULTS)
def test_integers_do_not_wrap_in_narrower_dtypes(build, operands, expected):
    values = [number(text) for text in operands]
    inputs = [at.vector(dtype=value.dtype.name) for value in values]
    after, _ = rewrite(build(*inputs))
    got = evaluate(after, dict(zip(inputs, values)))
    assert got.dtype == number(expected).dtype
    assert got.tolist() == number(expected).tolist()


EXPLORED = [
    ("uint8", "float32", "bool"),
    ("int8", "uint8", "float64"),
    ("float16", "uint8", "int8"),
    ("int64", "float32", "bool"),
    ("float32", "float64", "int8"),
    ("uint8", "bool", "int8"),
]
CONSTANTS = ["int8 1", "int8 -1", "int64 2", "float32 1", "float64 -1", "float32 0.3", "uint8 200", "int8 0"]
ARITHMETIC = [at.add, at.sub, at.mul, at.true_divide] * 2 + [at.neg, at.reciprocal, at.square, at.switch]


def random_arithmetic(rng, leaves, size=7):
    """An expression of the four operations, signs and choices."""
    pool = list(leaves)
    for _ in range(size):
        x, y = (pool[i] for i in rng.integers(len(pool), size=2))
        if rng.random() < 0.3:
            y = at.constant(number(CONSTANTS[rng.integers(len(CONSTANTS))]))
        if rng.random() < 0.3:
            x, y = y, x
        op = ARITHMETIC[rng.integers(len(ARITHMETIC))]
        if op is at.switch:
            pool.append(at.switch(pool[0] > 1, x, y))
        elif op in (at.neg, at.reciprocal, at.square):
            pool.append(op(x if x.type.dtype != "bool" else x.astype("int8")))
        elif op is at.sub and x.type.dtype == y.type.dtype == "bool":
            pool.append(at.add(x, y))
        else:
            pool.append(op(x, y))
    return pool[-1]


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("dtypes", EXPLORED, ids="-".join)
def test_random_arithmetic(dtypes, seed):
    rng = np.random.default_rng([seed, 5])
    check(lambda *leaves: random_arithmetic(rng, leaves), dtypes, seed=seed)


def test_floats_are_regrouped_in_the_dtype_of_the_result_only():
    """No cast is added for an operation that casts its operands itself."""
    x, y, z = at.vector("x", dtype="float32"), at.dvector("y"), at.vector("z", dtype="int8")
    after, _ = rewrite((x * y) / (y * z) * 2.0)
    assert ops_of(after) == ["Mul", "TrueDivide"]
    after, _ = rewrite(at.constant(np.float64(1)) / x)
    assert ops_of(after) == ["TrueDivide"]


def test_half_precision_is_not_regrouped_without_a_gain():
    x, y, z = (at.vector(name, dtype="float16") for name in "xyz")
    value = np.array([300], dtype="float16")
    for expression in (x * (y / z), (x / y) * z, x + (y - z), (x * 0.001).sum(), x * (y * 0.01)):
        after, _ = rewrite(expression)
        assert np.isfinite(evaluate(after, {x: value, y: value, z: value})).all()
    after, _ = rewrite(x * y / x)
    assert after is y
