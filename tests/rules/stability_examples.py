"""Examples of rules against overflow and cancellation."""

import aesara.tensor as at
from aesara.tensor import special
from tests.rules.framework import example

FLOATS = ("float64", "float32")
COMMON = "a common factor is multiplied once"
LIMIT = "the rewritten form has limits where that as written has the difference or quotient of infinite numbers"
EXPONENT = "the exponent is rounded: an error of the argument, not of the result"

ZEROS = "a difference of equal numbers is 0 without a sign"
UNDERFLOW = "as written, the argument of the logarithm underflows"

ONE = {"assumes_finite": "squares overflow"}

SHIFTED = {"dtypes": FLOATS, "assumes_finite": UNDERFLOW, "regroups": EXPONENT, "moderate": EXPONENT}

ROWS = {
    "local_root_minus_one": {"zeros": ZEROS, "regroups": "one is added to the sum of the other terms"},
    "local_one_minus_root": {"zeros": ZEROS, "regroups": "one is added to the sum of the other terms"},
    "local_root_of_difference_minus_one": {"zeros": ZEROS},
    "local_one_minus_root_of_difference": {"zeros": ZEROS},
    "local_difference_of_roots": {"limits": LIMIT, "regroups": "the number is divided by the sum of the roots"},
    "local_opposite_difference_of_roots": {
        "limits": LIMIT,
        "regroups": "the number is divided by the sum of the roots",
    },
    "local_log1p_erf": {"assumes_finite": UNDERFLOW},
    "local_log1p_neg_erf": {"assumes_finite": UNDERFLOW},
    "local_log_half_erfc": {"regroups": "the argument is multiplied by the square root of two"},
    "local_log_multiple_of_cosh": {"regroups": "the logarithm of the factor is added"},
    "local_log_reciprocal_of_sum": {
        "assumes_finite": "the reciprocal of minus infinity is a zero with a sign",
        "regroups": "one is added to the sum of the other terms",
    },
    "local_log_to_arcsinh": {"limits": LIMIT},
    "local_log_to_arcsinh_pow": {"limits": LIMIT},
}
EXAMPLES = {
    "local_log_of_scaled": [
        example(lambda m, i: at.log(at.exp(m)[at.arange(4), i]), **SHIFTED),
        example(lambda m: at.log(special.softmax(m, 1).flatten()[3:8]), **SHIFTED),
        example(lambda m, b: at.log(at.switch(b, at.exp(m), 0).sum(1)), **SHIFTED),
        example(lambda m, v: at.log((v * special.softmax(m, 1)).sum(1)), **SHIFTED),
        example(lambda x, y: at.log(at.exp(x) * at.sigmoid(y)), **SHIFTED),
        example(lambda x, y, z: at.log(at.sqrt(at.exp(x) / (z * at.exp(y)))), **SHIFTED),
        example(lambda m: at.log(at.exp(m).max(0)), **SHIFTED),
        example(lambda m: at.log(at.dot(at.exp(m), at.exp(m).T)), **SHIFTED),
        example(lambda m, x: at.log((at.exp(m) / 3).prod(0) * x), **SHIFTED),
        example(lambda x, y, z: at.log(x**y * z), **SHIFTED),
        example(lambda x, y: at.log(y * at.gamma(x)), **SHIFTED),
        example(lambda x, y: at.log(y * at.i0(x)), **SHIFTED),
        example(lambda x, y: at.log(at.sigmoid(x) - at.sigmoid(y)), **SHIFTED),
        example(lambda x, y: at.log(special.ndtr(x) - special.ndtr(y)), **SHIFTED),
        example(lambda x, y: at.log(y / (at.cosh(x) * at.expm1(x))), **SHIFTED),
        example(lambda x, y: at.log(y * at.sinh(x) * at.tanh(x)), **SHIFTED),
        example(lambda x, b: at.log(at.switch(b, at.exp(x), 1 - at.exp(-x) / 2)), **SHIFTED),
        example(lambda x, y: at.log(y * at.erfc(x)), **SHIFTED),
        example(lambda x, y: at.log(-at.expm1(-at.exp(x)) * y), **SHIFTED),
        example(lambda x, y: at.log(y * at.i1(x)), **SHIFTED),
    ],
    "local_log1p_of_scaled": [
        example(lambda x, y: at.log1p(-(at.sigmoid(x) * at.sigmoid(y))), **SHIFTED),
        example(lambda x: at.log1p(-special.ndtr(x)), **SHIFTED),
        example(lambda x: at.log1p(-(at.tanh(x) ** 2)), **SHIFTED),
    ],
    "local_log1mexp_of_exponential": [example(lambda x: at.log1mexp(-at.exp(x)), **SHIFTED)],
    "local_sqrt_of_exp": [example(lambda x: at.sqrt(at.exp(x)), **SHIFTED)],
    "local_log_of_exprel": [
        example(lambda x: at.log(at.expm1(x) / x), **SHIFTED),
        example(lambda x, y: at.log(y * x / at.expm1(2 * x)), **SHIFTED),
        example(lambda x: at.log(-(x / at.expm1(-x))), **SHIFTED),
        example(lambda x, y: at.log(y * at.sinh(3 * x) / x), **SHIFTED),
    ],
    "local_log1p_of_power": [
        example(lambda x: at.log1p(x**2), dtypes=FLOATS, limits=LIMIT, regroups=EXPONENT),
        example(lambda x, y: at.log1p(x**2 / y), dtypes=FLOATS, limits=LIMIT, regroups=EXPONENT),
        example(lambda x: at.log1p(3 * x**2.5), dtypes=FLOATS, limits=LIMIT, regroups=EXPONENT),
    ],
    "local_entropy_of_scaled": [
        example(lambda x, y: at.xlogy(x, at.exp(y)), **SHIFTED),
        example(lambda m: special.entr(special.softmax(m, 1)), **SHIFTED),
        example(lambda x, y: special.rel_entr(at.exp(x), at.sigmoid(y)), **SHIFTED),
        example(lambda x: special.kl_div(at.exp(-at.abs(x)), at.exp(1 + at.abs(x))), **SHIFTED),
    ],
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
    "local_exponentials_to_hyperbolic": [
        example(lambda x: at.exp(x) - at.exp(-x), dtypes=FLOATS),
        example(lambda x: at.exp(x) + at.exp(-x), dtypes=FLOATS),
        example(lambda x: at.sigmoid(2 * x) - at.sigmoid(-2 * x), dtypes=FLOATS),
    ],
    "local_softplus_of_opposite": [
        example(lambda x: x + at.softplus(-x), dtypes=FLOATS, limits=LIMIT),
        example(lambda x: x - at.softplus(x), dtypes=FLOATS, limits=LIMIT),
        example(lambda x: at.softplus(-x) - at.softplus(x), dtypes=FLOATS, limits=LIMIT),
        example(lambda x, y: at.add(y, x, at.softplus(-x)), dtypes=FLOATS, limits=LIMIT, regroups=COMMON),
    ],
    "local_exp_over_sum": [
        example(lambda m: at.exp(m) / at.exp(m).sum(1, keepdims=True), **SHIFTED),
        example(lambda m: at.exp(m.T) / at.exp(m).sum(1), **SHIFTED),
        example(lambda m: at.exp(m) / at.exp(m).sum(), **SHIFTED),
        example(lambda m: at.exp(m) / (at.exp(m).sum(0, keepdims=True) * 2), **SHIFTED),
        example(lambda v: at.exp(v) / (at.exp(v) + at.exp(2 * v)), **SHIFTED),
        example(lambda m1, m2: (m1 * at.exp(m2)).sum(1) / at.exp(m2).sum(1), **SHIFTED),
        example(lambda v: (at.exp(v) + 3 * at.exp(2 * v)) / (at.exp(v) + at.exp(2 * v)), **SHIFTED),
    ],
    "local_exp_times_quotients": [
        example(lambda v, w: at.exp(v) * (w / (at.exp(v) + at.exp(2 * v))), **SHIFTED),
        example(lambda v, w: (lambda s: at.exp(v) * (w / s - 2 / s))(at.exp(v) + at.exp(2 * v)), **SHIFTED),
    ],
    "local_pythagorean_pair": [
        lambda x: at.sin(x) ** 2 + at.cos(x) ** 2,
        lambda x: at.sqr(at.cos(x)) + at.sqr(at.sin(x)),
        example(lambda x: at.cosh(x) ** 2 - at.sinh(x) ** 2, domain=(-5, 5), **ONE),
        example(lambda x, y: y * at.sin(x) ** 2 + y * at.cos(x) ** 2, dtypes=FLOATS, regroups=COMMON, **ONE),
        example(
            lambda x, y, z: at.add(z, y * at.sin(x) * at.sin(x), y * at.cos(x) ** 2),
            dtypes=FLOATS,
            regroups=COMMON,
            **ONE,
        ),
    ],
    "local_log_prod": [
        example(lambda v: at.log(at.prod(at.exp(v))), **SHIFTED),
        example(lambda m: at.log(at.prod(at.exp(m), axis=1, keepdims=True)), **SHIFTED),
        example(lambda m: at.log(at.prod(at.sigmoid(m), axis=0)), **SHIFTED),
        example(lambda m: at.log(at.prod(special.softmax(m, axis=1), axis=0)), **SHIFTED),
        example(lambda v: at.log(at.prod(v)), dtypes=FLOATS, assumes_finite=UNDERFLOW),
        example(lambda m: at.log(at.prod(m, axis=1)), dtypes=FLOATS, assumes_finite=UNDERFLOW),
    ],
    "local_log_sum_exp": [
        example(lambda m1, m2: at.log((m1**2 * at.exp(m2)).sum(1)), **SHIFTED),
        example(lambda m: at.log((at.exp(m).T / 3).sum(0)), **SHIFTED),
        example(lambda m, v: at.log(at.dot(at.exp(m), v**2)), **SHIFTED),
        example(lambda m, v: at.log(at.dot(v**2, at.exp(m).T)), **SHIFTED),
        example(lambda v1, v2: at.log(at.dot(v1**2, at.exp(v2))), **SHIFTED),
    ],
    "local_log_add_exp": [
        example(lambda x: at.log(3 * at.exp(x) + 5), **SHIFTED),
        example(lambda x, y: at.log(0.25 * at.exp(x) + y**2 * at.exp(y)), **SHIFTED),
    ],
    "local_log_mul_exp": [
        example(lambda x, y: at.log(y**2 * at.exp(x)), **SHIFTED),
        example(lambda x, y: at.log(at.exp(x) / at.exp(y)), **SHIFTED),
        example(lambda m: at.log(at.exp(m).sum(1) / 4), **SHIFTED),
    ],
}
