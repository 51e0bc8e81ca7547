"""Integer division by constants gives NumPy's quotients and remainders."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DIVISORS = (1, 2, 3, 5, 7, 8, 10, 64, 100, 127)


@pytest.mark.parametrize("ndim", [0, 1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_quotients_and_remainders(dtype, ndim):
    limits = np.iinfo(dtype)
    near_zero = [k for k in range(-130, 131) if limits.min <= k <= limits.max]
    values = np.array([limits.min, limits.min + 1, *near_zero, limits.max - 1, limits.max], dtype=dtype)
    x = at.TensorType(dtype, (None,) * ndim)("x")
    divisors = [np.array(divisor, dtype) for divisor in DIVISORS]
    f = aesara.function([x], [y for divisor in divisors for y in (x // divisor, x % divisor)])
    found = [[np.asarray(y) for y in f(value)] for value in (values if ndim == 0 else [values])]
    for k, divisor in enumerate(divisors):
        for n, expected in ((2 * k, values // divisor), (2 * k + 1, values % divisor)):
            got = np.concatenate([np.atleast_1d(row[n]) for row in found])
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got, expected, err_msg=f"{dtype}, {divisor}")


@pytest.mark.parametrize("divisor", [0, -1, -2, -3, -8])
def test_numbers_that_are_no_case_of_their_own(divisor):
    x = at.lscalar("x")
    f = aesara.function([x], [x // divisor, x % divisor])
    for value in (-9, -8, -1, 0, 1, 7, 9):
        expected = [0, 0] if divisor == 0 else [value // divisor, value % divisor]
        assert [int(y) for y in f(value)] == expected
