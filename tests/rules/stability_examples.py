"""Examples of rules against overflow and cancellation."""

import aesara.tensor as at
from aesara.tensor import special
from tests.rules.framework import example

FLOATS = ("float64", "float32")
COMMON = "a common factor is multiplied once"
ZERO_WEIGHT = "a term whose weight is zero is left out"
LIMIT = "the rewritten form has limits where that as written has the difference or quotient of infinite numbers"
EXPONENT = "the exponent is rounded: an error of the argument, not of the result"

UNDERFLOW = "as written, the argument of the logarithm underflows"

ROWS = {
    "local_log1p_erf": {"assumes_finite": UNDERFLOW},
    "local_log1p_neg_erf": {"assumes_finite": UNDERFLOW},
    "local_log_half_erfc": {"regroups": "the argument is multiplied by the square root of two"},
}
EXAMPLES = {
    "local_complement": [
        lambda x: 1 - at.tanh(x),
        lambda x: 0.5 + 0.5 * at.erf(x),
        lambda x: 1 - at.cos(x),
        lambda x: at.cosh(x) - 1,
        lambda x: 2 * at.sigmoid(x) - 1,
        lambda x: 2 - at.erfc(x),
        lambda x: 1 + at.expm1(x),
        example(lambda x: 1 - special.gammainc(2.0, x), dtypes=FLOATS, domain=(0, 30)),
        lambda x: 1 - at.tanh(x) ** 2,
        example(lambda x, y: y - y * at.sigmoid(x), dtypes=FLOATS, limits=LIMIT, regroups=COMMON),
        example(lambda x, y, z: at.add(z, y * at.sqr(at.sin(x)), -y), dtypes=FLOATS, limits=LIMIT, regroups=COMMON),
    ],
}  # fmt: skip
