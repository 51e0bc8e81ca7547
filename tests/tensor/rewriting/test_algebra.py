"""Products, sums and opposites as rules read them, compare them and build them."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.rewriting.algebra import (
    MULTIPLE,
    NEAR,
    TERM,
    Product,
    Reading,
    SignedSum,
    are_opposite,
    multiple,
    opposite,
    opposite_of,
    power_of,
)
from aesara.tensor.rewriting.helpers import in_place_of

x, y, z = at.dvectors("x", "y", "z")
f = at.fvector("f")
VALUES = {x: np.array([0.5, -2.0, 3.0]), y: np.array([1.5, 4.0, -0.25]), z: np.array([-1.0, 2.5, 0.125])}


def evaluate(expression):
    return aesara.function([x, y, z], expression, mode="FAST_COMPILE", on_unused_input="ignore")(*VALUES.values())


PRODUCTS = {
    "factors": x * y * z,
    "quotient": x / (y / z),
    "reciprocal": at.reciprocal(x * y),
    "signs": -x * -(y / -z),
    "numbers": 2 * x * (3 / y),
    "squares": at.square(x * y) / z**2,
    "powers": (x / y) ** 3 * z,
    "sum inside": (x + y) * z / (x + y),
    "no product": x + y,
    "variable": x,
    "constant": at.constant([2.0]) * at.ones_like(x),
    "shared": (x * y) * (x * y),
}
READINGS = {
    "near": NEAR,
    "term": TERM,
    "multiple": MULTIPLE,
    "powers": Reading(signs=True, powers=4),
    "shallow": Reading(signs=True, numbers=True, most=2),
    "everything": Reading(signs=True, numbers=True, divides=True, powers=4),
}


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize("expression", PRODUCTS.values(), ids=PRODUCTS)
def test_a_product_that_is_read_and_built_has_the_same_value(expression, reading):
    (built,) = in_place_of(expression, Product.read(expression, reading).build(expression), [x, y, z])
    assert built.type.dtype == expression.type.dtype
    np.testing.assert_allclose(evaluate(built), evaluate(expression), rtol=1e-14)


def test_the_order_is_that_in_which_factors_are_written():
    product = Product.read(z * (x / y) * (x * z), NEAR)
    assert (product.factors, product.divisors) == ([z, x, x, z], [y])


def test_signs_and_numbers_are_the_number_of_a_term():
    product = Product.read(-(2 * x) * (-y / z), TERM)
    assert (product.number, product.factors, product.divisors) == (2.0, [x, y], [z])


def test_constants_below_stay_divisors_of_terms():
    """A quotient by 3 is not a product with 1 / 3."""
    product = Product.read(x / 3, TERM)
    assert product.number == 1 and product.factors == [x] and len(product.divisors) == 1


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_stay_factors(number):
    product = Product.read(at.mul(number, x), TERM)
    assert product.number == 1 and len(product.factors) == 2


def test_squares_are_two_factors_of_a_term():
    product = Product.read(at.square(-3 * x), TERM)
    assert (product.number, product.factors) == (9.0, [x, x])
    assert Product.read(x**3, TERM).factors != [x, x, x]
    assert Product.read(x**3, Reading(powers=3)).factors == [x, x, x]


def test_what_was_computed_in_another_dtype_is_left_whole():
    inner = f * f
    assert Product.read(x * inner, NEAR).factors == [x, inner]
    assert Product.read(inner, NEAR, dtype="float64").factors == [inner]
    assert Product.read(at.constant(np.int8(2)), TERM, dtype="float64").number == 2


def test_what_others_need_may_be_left_whole():
    inner = x * y
    assert Product.read(inner * z, NEAR, lambda var: var is not inner).factors == [inner, z]


def test_no_more_operands_than_wanted_are_looked_at():
    whole = x
    for _ in range(100):
        whole = whole * y
    product = Product.read(whole, NEAR)
    assert len(product.factors) <= NEAR.most + 1


def test_products_are_compared_without_their_order():
    assert Product([x, y], [z]).has_operands_of(Product([y, x], [z], -2.0))
    assert not Product([x, y], [z]).has_operands_of(Product([x, x], [z]))
    assert not Product([x], [z]).has_operands_of(Product([x], [z], exponent=y))


def test_factors_taken_out():
    product = Product([x, y, x], [z], -1.0)
    assert product.without(x, 2) == Product([y], [z], -1.0)
    assert product.without(y, 2) is None is product.without(z)
    assert product.factors == [x, y, x]


def test_factors_taken_apart_and_mapped():
    product = Product([x / y], [-z / x], 3.0)
    assert product.expand(Reading(signs=True)) == Product([x, x], [y, z], -3.0)
    assert product.map(lambda var: y) == Product([y], [y], 3.0)


def test_an_exponential_is_a_factor():
    built = Product([x], [y], -2.0, exponent=z).build(x)
    np.testing.assert_allclose(evaluate(built), -2 * VALUES[x] / VALUES[y] * np.exp(VALUES[z]), rtol=1e-14)
    assert Product(exponent=z).mantissa("float64") is None


def test_products_of_nothing_are_numbers():
    assert Product().is_number and not Product([x]).is_number and not Product(exponent=x).is_number
    assert evaluate(Product(number=-3.0).build(x)) == -3
    np.testing.assert_array_equal(evaluate(Product(number=-1.0).build(x)), [-1])
    np.testing.assert_array_equal(evaluate(Product([], [x], -1.0).build(x)), -1 / VALUES[x])


@pytest.mark.parametrize("expression, number", [(x, 1), (-x, -1), (2 * x, 2), (x * -0.5, -0.5), (-(x / 4) * 3, -0.75)])
def test_multiples(expression, number):
    assert multiple(expression) == (number, x)


@pytest.mark.parametrize("expression", [x * y, x / y, at.square(x), x + 1, at.mul(2, x, y), 2 * f, x / 0])
def test_what_is_no_multiple(expression):
    """Products of several variables are left whole, and so is what is computed of another type."""
    number, base = multiple(expression)
    assert (number, base) == (1, expression) or base.type == expression.type


def test_a_multiple_does_not_change_the_shape():
    column = at.constant(np.full((2, 1), 3.0)) * x.dimshuffle("x", 0)
    number, base = multiple(column)
    assert base.type.ndim == 2 and (number, base.type) in ((1, column.type), (3, column.type))


def test_powers_of_powers():
    assert power_of(at.square(x) ** 3) == (x, 6)
    assert power_of(x**0.5) == (x**0.5, 1) or power_of(x**0.5)[1] == 1
    k = at.lvector("k")
    assert power_of(at.square(k))[1] == 1


def test_opposites():
    assert opposite_of(-x) is x and opposite_of(x) is None
    assert opposite_of(-x, "float32") is None
    assert opposite(-x) is x and opposite(x).owner.op == at.neg


@pytest.mark.parametrize(
    "one, other, expected",
    [
        (x, -x, True),
        (-x, x, True),
        (x - y, y - x, True),
        (2 * x, -2 * x, True),
        (x / 2, -0.5 * x, True),
        (x, x, False),
        (x, y, False),
        (2 * x, -x, False),
        (x - y, x - y, False),
        (x - y, x + y, False),
    ],
)
def test_what_is_opposite(one, other, expected):
    assert are_opposite(one, other) == expected == are_opposite(other, one)


def test_sums():
    assert SignedSum.read(x + y + z).terms == [(1, x + y), (1, z)] or len(SignedSum.read(x + y + z).terms) == 2
    assert SignedSum.read(x - (y - z), most=8).terms == [(1, x), (-1, y), (1, z)]
    inner = y - z
    assert SignedSum.read(x - inner, {inner}, most=8).terms == [(1, x), (-1, inner)]
    assert SignedSum.read(x).terms == [(1, x)]
    assert SignedSum.read(x + f.sum(), most=8).terms[0] == (1, x)


def test_sums_built():
    for signs in ((1, 1, 1), (1, -1, 1), (-1, -1, -1), (-1, 1, -1)):
        built = SignedSum(list(zip(signs, (x, y, z)))).build("float64")
        np.testing.assert_allclose(evaluate(built), sum(s * VALUES[v] for s, v in zip(signs, (x, y, z))), rtol=1e-14)
    assert SignedSum([(1, x), (-1, y), (1, z)]).without((1,)).terms == [(1, x), (1, z)]


def test_multiples_are_opposite_in_rules():
    """``exp(2 * x) * sigmoid(-2 * x)`` is the logistic function as that of `x` is."""
    assert aesara.pprint(rewrite_graph(at.exp(2 * x) * at.sigmoid(-2 * x))) == "sigmoid(([2.] * x))"
    assert aesara.pprint(rewrite_graph(at.exp(3 * x) + at.exp(-3 * x))).count("cosh") == 1


def test_parts_of_an_exponent_are_not_absorbed():
    """``exp(x / 2) * sigmoid(-x)`` is no logistic function."""
    product = at.exp(0.5 * x) * at.sigmoid(-x)
    expected = np.exp(0.5 * VALUES[x]) / (1 + np.exp(VALUES[x]))
    np.testing.assert_allclose(evaluate(rewrite_graph(product)), expected, rtol=1e-14)
