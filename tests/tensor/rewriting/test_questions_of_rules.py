"""Queries of rules about variables, and replacement of results."""

from itertools import product

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compat.product_trees import compute_mul, is_neg, parse_mul_tree, simplify_mul
from aesara.tensor.rewriting.algebra import Product
from aesara.tensor.rewriting.gradient_quotients import divides_by_exponentials
from aesara.tensor.rewriting.helpers import (
    LARGEST_SEARCHED,
    common_value,
    computed_in,
    exponent_value,
    fits_within,
    has_shape_of,
    has_value,
    in_place_of,
    is_complex,
    is_elemwise,
    is_float,
    is_integer,
    is_real,
    is_unsigned,
    output_of,
    outputs_in_place_of,
    real_of_same_dtype,
    same_elements,
    shaped_like_inputs,
)
from aesara.tensor.rewriting.indices import is_full_slice
from aesara.tensor.rewriting.matrices.low_rank import _has_equal_numbers
from aesara.tensor.rewriting.shape_feature import _same_length
from aesara.tensor.rewriting.written_order import same_factors
from tests.tensor.evaluate import evaluate

DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
x, y = at.dvectors("x", "y")


@pytest.mark.parametrize("dtype", DTYPES)
def test_kinds_of_dtypes(dtype):
    var, kind = at.vector(dtype=dtype), np.dtype(dtype).kind
    assert is_float(var) == (kind == "f")
    assert is_integer(var) == (kind in "iu")
    assert is_unsigned(var) == (kind == "u")
    assert is_complex(var) == (kind == "c") == (not is_real(var))
    for other in DTYPES:
        assert real_of_same_dtype(var, at.vector(dtype=other)) == (kind == "f" and dtype == other)


def test_slices_that_take_everything():
    for start, stop, step in product((None, 0, 1, -1), (None, 0, 5, -1), (None, 1, -1, 2)):
        index = slice(start, stop, step)
        assert is_full_slice(index) == all(range(n)[index] == range(n) for n in range(8)), index
    assert not is_full_slice(0) and not is_full_slice(slice(at.lscalar(), None))


def test_shapes_that_fit_within_others():
    """That is known if it holds for all lengths that are not."""

    def realized(shape):
        return product(*((1, 2, 3, 4) if n is None else (n,) for n in shape))

    def fits(small, other):
        try:
            return np.broadcast_shapes(small, other) == other
        except ValueError:
            return False

    shapes = [shape for ndim in range(3) for shape in product((None, 1, 3), repeat=ndim)]
    for one, other in product(shapes, shapes):
        a, b = at.tensor("float64", shape=one), at.tensor("float64", shape=other)
        assert fits_within(a, b) == all(fits(m, n) for m in realized(one) for n in realized(other)), (one, other)
        repeated = any(n == 1 and m != 1 for n, m in zip(one, other))
        assert has_shape_of(a, b) == (len(one) == len(other) and not repeated), (one, other)


two = at.constant(np.float32(2))


@pytest.mark.parametrize(
    "var, value",
    [
        (two, 2),
        (two.dimshuffle("x", "x"), 2),
        (at.alloc(two, x.shape[0], 3), 2),
        (at.unbroadcast(two.dimshuffle("x"), 0), 2),
        (at.second(x, at.constant(2.0)), 2),
        (at.second(at.vector(dtype="float64"), at.constant(np.int8(2)).astype("float64")), None),
        (at.constant(np.full((2, 3), 7)), 7),
        (at.constant(np.array([1, 2])), None),
        (at.constant(np.array([], dtype="float64")), None),
        (at.constant(np.full(LARGEST_SEARCHED, 1.5)), 1.5),
        (at.constant(np.full(LARGEST_SEARCHED + 1, 1.5)), None),
        (at.constant(np.full(3, np.nan)), np.nan),
        (at.constant(np.full(3, complex(1, np.nan))), complex(1, np.nan)),
        (at.constant(np.array([True, True])), True),
        (at.constant(np.array([np.nan, 1])), None),
        (-two, None),
        (x, None),
        (x[0], None),
        (at.exp(two), None),
    ],
)
def test_common_values(var, value):
    for _ in range(2):  # what was found for a constant is kept
        found = common_value(var)
        if value is None:
            assert found is None
        else:
            np.testing.assert_equal(found, value)
            assert found.dtype == var.type.dtype
            assert has_value(var, value) == (value == value)
            assert not has_value(var, 3)


@pytest.mark.parametrize(
    "exponent, value",
    [
        (at.constant(2.5), 2.5),
        (at.sub(at.constant(3.0), 1), 2.0),
        (at.sub(at.constant(3.0), at.constant(np.int8(1)).astype("float64")), 2.0),
        (at.sub(at.constant(np.int64(3)).astype("float64"), 1), 2.0),
        (at.sub(-at.constant(3.0), 1), None),
        (at.sub(at.exp(at.constant(3.0)), 1), None),
        (at.sub(x, 1), None),
        (at.sub(1, x.astype("float32")), None),
        (at.add(at.constant(3.0), 1), None),
        (x, None),
    ],
)
def test_values_of_exponents(exponent, value):
    assert exponent_value(exponent) == value


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64", "complex128"])
def test_operations_in_the_dtype_of_an_expression(dtype):
    """As NumPy computes them with operands of this dtype."""
    numbers = {"bool": [True, False, True], "int8": [100, -128, 3], "float32": [0.1, 2.5, -3.0], "int16": [300, 2, -9],
               "float64": [0.3, -1.0, 7.0], "complex128": [1j, 2.0, 0.5 + 1j]}  # fmt: skip
    fitting = [of for of in numbers if np.promote_types(of, dtype) == dtype]
    for first, second in product(fitting, fitting):
        a, b = at.vector(dtype=first), at.vector(dtype=second)
        values = {a: np.array(numbers[first], dtype=first), b: np.array(numbers[second][::-1], dtype=second)}
        for op, reference in ((at.add, np.add), (at.mul, np.multiply)):
            new = computed_in(dtype, op, [a, b])
            assert new.type.dtype == dtype
            wanted = reference(values[a].astype(dtype), values[b].astype(dtype))
            np.testing.assert_array_equal(evaluate(new, values), wanted)
    a, b = at.vector(dtype=dtype), at.vector(dtype=dtype)
    assert computed_in(dtype, at.add, [a, b]).owner.inputs == [a, b]


def test_ops_of_nodes():
    var = at.exp(x)
    assert output_of(var, at.exp) is var.owner is output_of(var, type(at.exp))
    assert output_of(var, at.log) is None is output_of(x, at.exp)
    assert output_of(var, type(at.sum(x).owner.op)) is None
    assert is_elemwise(var.owner) and is_elemwise(var.owner, type(at.exp.scalar_op))
    assert not is_elemwise(var.owner, type(at.log.scalar_op))
    assert not is_elemwise(None) and not is_elemwise(at.sum(x).owner)


def test_equal_elements():
    one, other, different = (at.constant(np.array([1.0, k])) for k in (2, 2, 3))
    assert same_elements(one, other) and same_elements(x, x)
    assert not same_elements(one, different) and not same_elements(x, y) and not same_elements(x, one)


def test_what_takes_the_place_of_a_result():
    m = at.dmatrix("m")
    row, column = at.drow("row"), at.dcol("column")
    values = {m: np.ones((2, 3)), row: np.ones((1, 3)), column: np.ones((2, 1)), x: np.ones(3)}
    for out, inputs in ((m + x, [m, x]), (row + column, [row, column]), (column * row, [column, row])):
        for new in (at.constant(2.0), at.constant(np.float32(2)), at.constant([[2.0]]), *inputs):
            shaped = shaped_like_inputs(new, out, inputs)
            assert evaluate(shaped, values).shape == evaluate(out, values).shape
            (placed,) = in_place_of(out, new, inputs)
            assert out.type.is_super(placed.type)
            found = evaluate(placed, values)
            np.testing.assert_array_equal(found, np.broadcast_to(evaluate(new, values), (2, 3)))
    assert in_place_of(m + m, m) == [m]
    assert in_place_of(x, m) is None
    # What has the length already is not filled.
    assert shaped_like_inputs(m, m + row, [m, row]) is m


def test_divisors_with_sums_of_exponentials():
    """They are seen within three products."""
    total = 1 + at.exp(x)
    for depth in range(6):
        divisor, factor = total, total
        for _ in range(depth):
            divisor, factor = at.mul(y, divisor), at.mul(y, factor)
        assert divides_by_exponentials((y / divisor).owner) == (depth <= 3), depth
        assert not divides_by_exponentials((factor / y).owner)
    for below in (at.cosh(x), at.exp(x).sum(), total.dimshuffle("x", 0)):
        assert divides_by_exponentials((y / below).owner)
        assert divides_by_exponentials(at.reciprocal(below).owner)
        assert not divides_by_exponentials((y * below).owner)
        assert divides_by_exponentials((y / (y / (y / below))).owner)
        assert not divides_by_exponentials((y / (y / below)).owner)
        for exponent, divides in ((-2, True), (2, False), (0.5, False), (y, True)):
            assert divides_by_exponentials((below**exponent).owner) == divides
    assert not divides_by_exponentials((y / (1 + x)).owner)


def test_opposites():
    for var, opposite in ((-x, x), (at.mul(-1.0, x), x), (at.mul(x, np.float32(-1)), x)):
        assert is_neg(var) is opposite
    three = is_neg(at.mul(x, -1.0, y))
    assert three.owner.op == at.mul and three.owner.inputs == [x, y]
    small = at.vector(dtype="int8")
    assert is_neg(at.mul(np.float64(-1), small)).type.dtype == "float64"
    for factor in (2.0, 1.0, -1.5, at.constant([-1.0, 1.0]), y):
        assert is_neg(at.mul(factor, x)) is None
    assert is_neg(x) is None and is_neg(abs(x)) is None


@pytest.mark.parametrize("seed", range(20))
def test_trees_of_products(seed):
    """They stand for what they were made of, also when parts are taken away that are 1 or -1."""
    rng = np.random.default_rng(seed)
    leaves = at.dscalars(*(f"s{k}" for k in range(5)))
    given = dict(zip(leaves, rng.normal(size=5)))

    def product(depth):
        if depth == 0 or rng.random() < 0.2:
            return leaves[rng.integers(5)]
        if rng.random() < 0.4:
            return -product(depth - 1)
        return at.mul(*(product(depth - 1) for _ in range(rng.integers(2, 4))))

    var = product(4)
    wanted = evaluate(var, given)
    tree = parse_mul_tree(var)
    assert evaluate(compute_mul(tree), given) == pytest.approx(wanted, rel=1e-14)
    gone = leaves[rng.integers(5)]
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part[1], list):
            stack.extend(part[1])
        elif part[1] is gone:
            part[1] = None
    simple = simplify_mul(tree)
    wanted = evaluate(var, given | {gone: 1.0})
    found = (-1.0 if simple[0] else 1.0) if simple[1] is None else evaluate(compute_mul(simple), given)
    assert found == pytest.approx(wanted, rel=1e-14)


def test_equal_numbers():
    same = [at.constant(np.full(3, 2.0)), at.alloc(x[0], 3), at.exp(at.alloc(2.0, y.shape[0])), at.diagonal(at.eye(4))]
    other = [x, at.arange(4.0), at.constant([1.0, 2.0]), at.exp(x), at.diagonal(at.dmatrix()), at.cumsum(at.ones(4))]
    other += [same[1] * x, at.arange(at.lscalar(), dtype="float64"), at.concatenate([at.ones(2), at.zeros(2)])]
    assert all(map(_has_equal_numbers, [*same, same[0] * same[0], at.sqrt(same[1])]))
    assert not any(map(_has_equal_numbers, other))


def test_products_of_the_same_factors():
    one, two = at.constant(1.0), at.constant(2.0)
    a, b, c = at.dvectors("abc")
    for others, same in (
        (([a, b], [c]), True),
        (([b, a], [c]), True),
        (([a, b], [b]), False),
        (([a, a], [c]), False),
        (([a], [c]), False),
        (([a, b], []), False),
        (([a, b, b], [c]), False),
        (([two, b, a], [c]), True),
        (([a, b], [c, c]), False),
    ):
        assert same_factors(Product([a, b], [c]), Product(*others)) == same, others
    # The other one may not be without a number, except above divisors alone.
    assert not same_factors(Product([two, a], [c]), Product([a], [c]))
    assert same_factors(Product([two, a], [c]), Product([two, a], [c]))
    assert same_factors(Product([one], [c]), Product([], [c]))
    assert not same_factors(Product([one, two], [c]), Product([], [c]))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_integers_have_no_negative_powers(mode):
    k = at.vector(dtype="int64")
    f = aesara.function([k], k ** at.constant(np.int64(-1)), mode=mode)
    with pytest.raises(ValueError, match="negative integer powers|Integers to negative"):
        f([1, 2])


def test_results_of_several_outputs():
    m = at.dmatrix()
    node = at.linalg.slogdet(m)[0].owner
    assert outputs_in_place_of(node, [at.dscalar(), m]) is None
    assert outputs_in_place_of(node, [m, at.dscalar()]) is None
    sign, size = at.dscalars("sign", "size")
    assert outputs_in_place_of(node, [sign, size]) == [sign, size]


def test_lengths_that_are_the_same_expression():
    n = at.lscalar()
    for depth in range(9):
        one, other = n, n
        for _ in range(depth):
            one, other = abs(one + 0), abs(other + 0)
        assert _same_length(one, other) == (2 * depth <= 5)
    assert not _same_length(n + 1, n + 2) and _same_length(n + 1, n + 1)
    assert not _same_length(n + 1, n - 1) and not _same_length(x.shape[0], at.lscalar())
