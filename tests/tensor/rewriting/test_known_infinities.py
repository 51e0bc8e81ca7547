"""Products with zero stay products where a factor is known to be infinite or NaN, which they are as written."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

x, c, m = at.dvector("x"), at.tensor("bool", (None,), name="c"), at.dmatrix("m")
zero = at.zeros_like(x)
#: written so that zero and infinity are seen by different rules
PRODUCTS = {
    "constants": zero * (x * np.inf),
    "a divisor": (x / at.sqrt(zero)) * zero,
    "a divisor of a divisor": zero / (x * at.square(at.sqrt(zero))),
    "NaN": zero * (at.as_tensor_variable(np.nan) * x),
    "on one side of a choice": zero * at.switch(c, x * np.inf, x),
    "a dimension more": (zero * (x[None] / (0 * zero))).sum(axis=0),
    "a product of matrices": at.dot(at.zeros_like(m), m / at.zeros_like(m)),
}


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_those_as_written(name, mode):
    result = PRODUCTS[name]
    values = [np.array([1.0, -2.0, 3.0]), np.array([True, False, True]), np.ones((2, 2))]
    got, expected = (
        aesara.function([x, c, m], result, mode=one, on_unused_input="ignore")(*values)
        for one in (mode, Mode("py", None))
    )
    np.testing.assert_array_equal(got, expected)
    assert np.isnan(got).any()


def test_products_with_what_may_be_infinite_are_zero():
    f = aesara.function([x], [zero * at.exp(x), zero / x])
    for got in f(np.array([np.inf, np.nan, 0.0])):
        np.testing.assert_array_equal(got, 0)
