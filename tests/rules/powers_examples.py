"""Examples of rules about powers."""

import numpy as np

import aesara.tensor as at

EXAMPLES = {
    "local_pow_zero": [lambda x: x ** np.float64(0)],
    "local_pow_one": [lambda x: x ** np.float32(1), lambda x: x ** at.ones((1,), "int8")],
    "local_pow_to_square": [lambda x: x ** np.float64(2), lambda x: x ** np.int8(2)],
    "local_pow_to_reciprocal": [lambda x: x ** np.float32(-1)],
    "local_pow_specialize_device": [lambda x, n=n: x**n for n in (3, 4, 5, 8, np.float64(3), np.int8(7), -3, -8.0)],
    "local_mul_to_sqr": [lambda x: at.exp(x) * at.exp(x)],
    "local_div_to_reciprocal": [lambda x: np.float32(1) / x, lambda x: at.ones((1,)) / x],
}
