"""Examples of rules about powers."""

import numpy as np

import aesara.tensor as at

EXPONENTS = [2, -1, 0.5, -0.5, -2, np.float64(2), np.int8(2), np.float32(-1)]

EXAMPLES = {
    "local_pow_canonicalize": [
        lambda x: x**0,
        lambda x: x ** np.float64(0),
        lambda x: x**1,
        lambda x: x ** np.float32(1),
        lambda x: x ** at.ones((1,), "int8"),
    ],
    "local_pow_specialize": [lambda x, n=n: x**n for n in EXPONENTS],
    "local_pow_specialize_device": [lambda x, n=n: x**n for n in (3, 4, 5, 8, np.float64(3), np.int8(7), -3, -8.0)],
    "local_mul_to_sqr": [lambda x: x * x, lambda x: at.exp(x) * at.exp(x)],
    "local_div_to_reciprocal": [lambda x: 1 / x, lambda x: np.float32(1) / x, lambda x: at.ones((1,)) / x],
    "local_reciprocal_canon": [lambda x: at.reciprocal(x)],
}
