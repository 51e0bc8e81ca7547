"""Forms of exponentials: their order, graphs that do not grow, and sums with weights that are zero."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.rewriting.hyperbolic import with_bounded_exponentials
from aesara.tensor.rewriting.logarithms.analysis import ELEMENTWISE, OTHERS, Analysis
from aesara.tensor.rewriting.logarithms.shifting import finite_or_zero, large_or_zero, largest_safe_exponent
from aesara.tensor.special import ndtr
from tests.closeness import assert_close
from tests.tensor.evaluate import evaluate
from tests.tensor.rewriting.passes import ops_of, rewrite

RULES = aesara.Mode("py", "fast_run")
AS_WRITTEN = aesara.Mode("py", optimizer=None)


def rewritten(*outputs):
    x, y = at.dvectors("xy")
    graph = FunctionGraph([x, y], [output(x, y) for output in outputs], clone=True)
    return rewrite_graph(graph, include=("fast_run",), exclude=("inplace",))


@pytest.mark.parametrize(
    "formula",
    [
        lambda x, y: at.log(at.erf(x) - at.erf(y)),
        lambda x, y: at.log(at.erfc(x) - at.erfc(x + 1)),
        lambda x, y: at.log(ndtr(x) - ndtr(y)),
        lambda x, y: at.log(at.exp(-0.5 * x**2) / (ndtr(x + 1) - ndtr(x - 1))),
        lambda x, y: aesara.grad(at.log(ndtr(x) - ndtr(y)).sum(), x),
    ],
)
def test_what_is_left_of_a_difference_is_not_taken_apart_again(formula):
    assert len(rewritten(formula).apply_nodes) < 80


@pytest.mark.parametrize(
    ("argument", "anywhere"),
    [
        (lambda x: 1 + x**2, False),
        (lambda x: at.exp(x) + abs(x), False),
        (lambda x: at.exp(x) + x**2 * abs(x), False),
        (lambda x: at.exp(x) + x**4 / at.exp(x), False),
        (lambda x: 1 + x, True),
        (lambda x: 1 + x**3, True),
        (lambda x: x**2, True),  # which may be zero
    ],
)
def test_a_choice_is_made_only_where_an_argument_may_be_negative(argument, anywhere):
    """The logarithm of the gamma function, which has its simple form for positive arguments."""
    names = {str(node.op) for node in rewritten(lambda x, y: at.log(at.gamma(argument(x)))).apply_nodes}
    assert any("gammaln" in name for name in names), names
    assert any("switch" in name for name in names) == anywhere, names


def test_the_first_form_that_fits_is_taken():
    x = at.dvector("x")
    # 1 - ndtr(x) is found before the complement of a probability, which it is as well.
    assert Analysis().form_of(1 - ndtr(x)).exponent.owner.op == at.log_ndtr
    assert Analysis().form_of(1 - at.softmax(x)).exponent.owner.op == at.log1mexp
    assert Analysis().form_of(at.exp(x) ** 5).exponent.owner.op == at.mul
    # Nothing is looked for in a difference beside something that is differentiated by.
    twice = 2 * x
    difference = at.exp(twice) - at.exp(x)
    assert Analysis([twice]).form_of(difference) is None and Analysis().form_of(difference) is not None


def test_every_op_in_the_tables_has_forms():
    assert all(ELEMENTWISE.values()) and all(OTHERS.values())


WEIGHTED = {
    "along an axis": lambda x, w: at.exp(x) / (w * at.exp(x)).sum(),
    "of two weights": lambda x, w: w * at.exp(x) / (w * (1 - w) * at.exp(x)).sum(),
    "of two weights in terms": lambda x, w: w * at.exp(x) / (w * (1 - w) * at.exp(x) + at.exp(-x)),
    "in terms": lambda x, w: at.exp(x) / (w * at.exp(x) + at.exp(-x)),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_exponentials_over_sums_in_which_their_weight_is_zero(name):
    """They may be larger than everything in the sum."""
    x, w = at.dvectors("xw")
    values = [np.array([5.0, 1.0, 2.0, -3.0]), np.array([0.0, 0.5, 1.0, 0.25])]
    wanted, found = (aesara.function([x, w], WEIGHTED[name](x, w), mode=mode)(*values) for mode in (AS_WRITTEN, RULES))
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_weights_that_are_zero_keep_out_what_overflows():
    x, w = at.dvectors("xw")
    f = aesara.function([x, w], w * at.exp(x) / (w * at.exp(x)).sum(), mode=RULES)
    np.testing.assert_allclose(f([2000.0, 1.0, 1.0], [0.0, 1.0, 3.0]), [0, 0.25, 0.75], rtol=1e-15)


SPECIAL = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 2.0, -2.0, 0.5, 1e-300]
NUMBERS = [0.0, -0.0, np.inf, -np.inf, np.nan, 2.5, -2.0, 5.0, 6.0, -5.0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("number", [None, 5.0, -6.0, 7.5], ids=str)
@pytest.mark.parametrize("logarithm", [at.log, at.log2])
def test_powers_of_special_numbers(logarithm, number):
    """The power 0 of anything is 1, and so is any power of 1, NaN and infinity included."""
    x, y, z = at.dvectors("xyz")
    values = [v.ravel() for v in np.meshgrid(SPECIAL, NUMBERS, [1.0, 2.0, 1e-3])]
    exponent = y if number is None else number
    for formula in (logarithm(x**exponent * z), logarithm(z / x**exponent)):
        wanted, found = (
            aesara.function([x, y, z], formula, mode=mode, on_unused_input="ignore")(*values)
            for mode in (AS_WRITTEN, RULES)
        )
        is_in_range = np.isfinite(wanted) | np.isnan(wanted)
        np.testing.assert_allclose(found[is_in_range], wanted[is_in_range], rtol=1e-13)
        assert not np.isnan(found[~is_in_range]).any()


def test_slopes_of_powers_at_one_and_of_zero():
    x, y = at.dscalars("xy")
    slopes = aesara.grad(at.log(x**y * at.exp(x)), [x, y])
    f = aesara.function([x, y], slopes, mode=RULES)
    assert_close(f(1.0, 3.0), [4, 0])
    assert_close(f(2.0, 0.0), [1, np.log(2)])


#: Factors of which each, and the whole, is in the range, where products of some are not; the value and slope at 705.
WIDE = {
    "(exp(x) - x) * (x**2 * exp(-x/2))": lambda x: (at.exp(x) - x) * (x**2 * at.exp(-x / 2)),
    "x**2 * (exp(-x/2) * (exp(x) - x))": lambda x: x**2 * (at.exp(-x / 2) * (at.exp(x) - x)),
    "(3 + sinh(x)) * (x**2 / exp(x/2))": lambda x: 2 * (3 + at.sinh(x)) * (x**2 / at.exp(x / 2)),
    "exp(-x/2) * x**2 / (1 / (cosh(x) - x))": lambda x: 2 * at.exp(-x / 2) * x**2 / (1 / (at.cosh(x) - x)),
}


@pytest.mark.parametrize("name", WIDE)
def test_factors_that_leave_the_range_with_others(name):
    x = at.dscalar("x")
    value = at.log(WIDE[name](x))
    slope = aesara.grad(value, x)
    found = aesara.function([x], [value, slope, aesara.grad(slope, x)], mode=RULES)(705.0)
    np.testing.assert_allclose(found, [705 / 2 + 2 * np.log(705), 0.5 + 2 / 705, -2 / 705**2], rtol=1e-12, atol=1e-15)


def test_signs_of_wide_factors():
    """The logarithm of a negative product stays NaN, that of two negative factors is what it is."""
    x = at.dvector("x")
    wide = x - at.exp(x)
    one, two = (aesara.function([x], at.log(factor * wide * at.exp(-x)), mode=RULES) for factor in (x, -x))
    assert np.isnan(one([1.0, 5.0])).all()
    values = np.array([1.0, 5.0])
    np.testing.assert_allclose(two(values), np.log(-values * (values - np.exp(values)) * np.exp(-values)), rtol=1e-14)


def test_divisors_that_leave_the_range_together():
    """One divided by a function and a wide one is small, and their product infinite."""
    x = at.dscalar("x")
    value = at.log(at.log(at.exp(x) - at.tanh(x)))
    slope = aesara.grad(value, x)
    found = aesara.function([x], [slope, aesara.grad(slope, x)], mode=RULES)(709.0)
    np.testing.assert_allclose(found, [1 / 709, -1 / 709**2], rtol=1e-12, atol=1e-15)


def test_modified_bessel_functions_that_leave_the_range():
    """Values and slopes of their logarithms, for orders 0 and 1; the expansion for large numbers is the truth."""
    x = at.dscalar("x")
    for order, function in enumerate((at.i0, at.i1)):
        value = at.log(3 * function(x))
        found = aesara.function([x], [value, aesara.grad(value, x)], mode=RULES)(800.0)
        m = 4 * order**2
        series = -(m - 1) / 6400 + (m - 1) * (m - 9) / 2 / 6400**2
        truth = 800 - np.log(2 * np.pi * 800) / 2 + np.log(3) + np.log1p(series)
        slope = 1 - 1 / 1600 + (m - 1) / 8 / 800**2
        np.testing.assert_allclose(found, [truth, slope], rtol=1e-8)


EXPONENTIALS = {
    "sum of two": lambda x, y: at.log(at.exp(x) + at.exp(y)),
    "sum along an axis": lambda x, y: at.log(at.exp(x).sum()),
    "weighted": lambda x, y: at.log((at.exp(x) * y).sum()),
    "rows": lambda x, y: at.log(at.exp(at.outer(x, y)).sum(axis=1)),
    "share of two": lambda x, y: at.exp(x) / (at.exp(x) + at.exp(y)),
    "share of one": lambda x, y: at.exp(x) / (1 + at.exp(x)),
    "share along an axis": lambda x, y: at.exp(x) / at.exp(x).sum(),
    "shares of rows": lambda x, y: at.exp(at.outer(x, y)) / at.exp(at.outer(x, y)).sum(axis=1, keepdims=True),
    "average": lambda x, y: (at.exp(x) * y).sum() / at.exp(x).sum(),
    "average by weights": lambda x, y: (at.exp(x) * y).sum() / (at.exp(x) * y**2).sum(),
    "product": lambda x, y: at.log(at.dot(at.exp(at.outer(x, y)), y)),
    "of a sum, twice divided": lambda x, y: at.exp(x + y) / ((at.exp(x) + at.exp(y)) * (at.exp(x) + at.exp(y))),
    "entries": lambda x, y: at.exp(x[0]) / (at.exp(x[0]) + at.exp(x[1])),
}


@pytest.mark.parametrize("name", EXPONENTIALS)
@pytest.mark.parametrize(
    "dtypes",
    [
        ("complex64", "complex64"),
        ("complex128", "complex128"),
        ("float64", "complex128"),
        ("int64", "int64"),
        ("int8", "float32"),
    ],
    ids="-".join,
)
def test_dtypes_of_exponentials(name, dtypes):
    """No complex number is the largest: their exponentials are left as they are."""
    formula, rng = EXPONENTIALS[name], np.random.default_rng(5)
    guards = {"Max", "Supremum", "ScalarMaximum", "Switch", "Softmax", "Sigmoid", "Softplus", "LogAddExp"}
    assert guards.intersection(ops_of(rewrite(formula(*at.dvectors("x", "y")))[0]))
    x, y = (at.vector(name, dtype=dtype) for name, dtype in zip("xy", dtypes))
    before = formula(x, y)
    after, _ = rewrite(before)
    if before.type.dtype[:7] == "complex":
        assert not guards.intersection(ops_of(after)), ops_of(after)
    turned = {dtype: 1j if dtype[:7] == "complex" else 0 for dtype in dtypes}
    drawn = {v: 3 * rng.normal(size=3) + turned[v.type.dtype] * rng.normal(size=3) for v in (x, y)}
    values = {v: value.astype(v.type.dtype) for v, value in drawn.items()}
    assert_close(evaluate(after, values), evaluate(before, values))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exponents_whose_exponentials_stay_in_the_range_are_not_taken_out(dtype):
    """The square of an exponential, times a weight as large, is in the range."""
    x = at.vector("x", dtype=dtype)
    limit = largest_safe_exponent(x)
    with np.errstate(over="raise"):
        assert np.exp(limit * (1 - np.finfo(dtype).eps)) ** 3 > np.finfo(dtype).max / 10
    small = np.array([0, 0.5, 0.99, 1]).astype(dtype) * limit
    large = np.array([1.01, 1.5, 2, 2.9, 30]).astype(dtype) * limit
    values = np.concatenate([small, -small, large, -large, np.array([np.inf, -np.inf], dtype=dtype)])
    expected = np.where((abs(values) > limit) & np.isfinite(values), values, 0)
    np.testing.assert_array_equal(evaluate(large_or_zero(x), {x: values}), expected)
    np.testing.assert_array_equal(evaluate(finite_or_zero(x), {x: values}), np.where(np.isfinite(values), values, 0))


def test_exponentials_are_bounded_once():
    x, y = at.dvectors("xy")
    for written in (at.exp(x), 1 + at.exp(x), at.exp(x) * y - at.exp(-y), -at.exp(x) / y):
        once = with_bounded_exponentials(written, ())
        assert once is not written
        assert with_bounded_exponentials(once, ()) is once
        assert with_bounded_exponentials(written, (written,)) is written
    values = {x: np.array([-800.0, 0.5, 700.0, 710.0, 1e4])}
    found = evaluate(with_bounded_exponentials(at.exp(x), ()), values)
    np.testing.assert_array_equal(found[:3], np.exp(values[x][:3]))
    assert np.isfinite(found).all() and (found[3:] > 1e308).all()
    assert with_bounded_exponentials(at.exp(x.astype("complex128")), ()).owner.op == at.exp
    assert with_bounded_exponentials(at.sin(at.exp(x)), ()).owner.op == at.sin
