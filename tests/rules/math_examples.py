"""Examples of rules about sums, products, signs, powers and inverse functions."""

import numpy as np

import aesara.tensor as at
from tests.rules.framework import example

SATURATED = "the inner function has reached infinity, or its limit, where the argument is still known"
GROUPED = "what is multiplied or added is grouped in another way"
UNDERFLOW = "both parts of the quotient underflow"
SCALED = "the quotient is one function, with rounding of its own"
ORDERED = "a sum is divided rather than its terms"
UNSIGNED = "-0 + 0 is 0, but a zero that is left out changes nothing"

ROWS = {
    "local_arctanh_tanh": {"assumes_finite": SATURATED, "regroups": SATURATED},
    "local_arccosh_cosh": {"assumes_finite": SATURATED, "regroups": SATURATED},
    "local_arcsinh_sinh": {"assumes_finite": SATURATED},
    "local_cosh_arccosh": {"regroups": SATURATED},
    "local_tanh_arctanh": {"regroups": SATURATED},
    "local_rad2deg_deg2rad": {},
    "local_deg2rad_rad2deg": {"assumes_finite": SATURATED},
    "local_reciprocal_reciprocal": {"assumes_finite": SATURATED},
}

EXAMPLES = {
    # sums and products
    "local_add_specialize": [
        example(lambda x: x + 0, zeros=UNSIGNED),
        example(lambda x, y: at.add(x, 0, y), zeros=UNSIGNED),
        example(lambda x: at.add(np.float32(0.1), x, 2, np.array([[0.5], [-3.0]])), regroups=GROUPED, zeros=UNSIGNED),
        lambda x: at.add(at.zeros_like(x), 0),
    ],
    "local_mul_specialize": [
        lambda x: 1 * x,
        lambda x: -1 * x,
        lambda x, y: -x * y,
        lambda x, y: at.mul(-x, 1, -y, -1),
        example(lambda x: at.mul(3, x, np.float32(0.3)), regroups=GROUPED, moderate="a part may overflow"),
        lambda x: at.mul(at.ones_like(x), -1),
    ],
    # signs
    "local_neg_of_multiple": [lambda x: -(2.5 * x), lambda x: -(2 * x), lambda x: -(3.0 / x)],
    "local_neg_of_multiple_over": [lambda x, y: -(2.0 * x / y)],
    "negative_product_as_product": [lambda x, y: -(x * y), lambda x: -at.square(x), lambda x, y: -at.mul(x, y, 3)],
    "negative_term_as_difference": [lambda x: x + (-2.5), lambda x: x + np.array([-1.0])],
    "local_add_neg_to_sub": [lambda x, y: -x + y],
    "local_abs_lift": [lambda x, y: abs(x * y), lambda x, y: abs(x / y), lambda x: abs(-2.0 * x)],
    "local_abs_merge": [
        lambda x, y: abs(x) * abs(y),
        lambda x, y: abs(x) / abs(y),
        lambda x, y: at.mul(abs(x), 0.3, abs(y)),
    ],
    # the logistic and the error function
    "local_sigm_times_exp": [
        example(lambda x: at.exp(x) * at.sigmoid(-x), assumes_finite=SATURATED),
        example(lambda x: at.sigmoid(x) * at.exp(-x), assumes_finite=SATURATED),
        example(
            lambda x, y: -at.exp(x) * y * at.sigmoid(-x),
            dtypes=("float64", "float32"),
            assumes_finite=SATURATED,
            regroups=GROUPED,
        ),
    ],
    "local_grad_log_erfc_neg": [
        example(lambda x: at.exp(-at.square(x)) / at.erfc(x), assumes_finite=UNDERFLOW, regroups=SCALED),
        example(lambda x: at.exp(-(x**2)) / at.erfc(x), assumes_finite=UNDERFLOW, regroups=SCALED),
        example(
            lambda x, y: y * at.exp(-x * x) / (2.0 * at.erfc(x)),
            assumes_finite=UNDERFLOW,
            regroups=SCALED,
        ),
    ],
    # reductions and matrix products
    "local_reduce_stack": [
        example(lambda x, y, z: at.stack([x, y, z]).sum(axis=0), regroups=GROUPED, drops_checks="broadcasting"),
        lambda m: at.stack([m, 2 * m]).max(axis=0),
        lambda m: at.stack([m, 2 * m], axis=1).min(axis=1),
        example(lambda m: at.stack([m, 2 * m], axis=-1).prod(axis=-1), regroups=GROUPED),
    ],
    "local_reduce_make_vector": [
        example(lambda s1, s2, s3: at.stack([s1, s2, s3]).sum(), regroups=GROUPED),
        example(lambda x, y, z: at.stack([x, y, z]).sum(axis=0), regroups=GROUPED),
    ],
    "local_sum_prod_div_dimshuffle": [
        example(lambda m, v: (m / v).sum(axis=0), assumes_finite=ORDERED, regroups=ORDERED),
        example(lambda m, v: (m.T / v.dimshuffle(0, "x")).sum(axis=1), assumes_finite=ORDERED, regroups=ORDERED),
        example(lambda m, v: (m / v).sum(), assumes_finite=ORDERED, regroups=ORDERED),
    ],
    "local_prod_div_dimshuffle": [
        example(build, moderate="a power overflows before a product does", assumes_finite=ORDERED, regroups=ORDERED)
        for build in (
            lambda m, v: (m / v).prod(axis=0),
            lambda m, s: (m / s).prod(),
            lambda m, v: (m / v).prod(),
            lambda m, v: (m.T / v.dimshuffle(0, "x")).prod(axis=1),
        )
    ],
    "local_sumsqr2dot": [
        example(
            lambda m1, m2: at.square(m1.dimshuffle("x", 0, 1) * m2.dimshuffle(0, "x", 1)).sum(axis=(1, 2)),
            dtypes=("float64", "float32"),
            assumes_finite="squares are taken before products",
            regroups=GROUPED,
        ),
    ],
    "local_lift_transpose_through_dot": [
        lambda m1, m2: at.dot(m1, m2.T).T,
    ],
}
