"""float64 is converted to float16 with one rounding, to nearest even."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

ALL = np.arange(0x7C00, dtype="uint16").view("float16").astype("float64")
MIDDLE = np.concatenate([(ALL[1:] + ALL[:-1]) / 2, [65520.0]])


def near(values, exponent):
    """Values a little less and a little more, by less than float32 has room for."""
    return np.concatenate([values * (1 - 2.0**-exponent), values * (1 + 2.0**-exponent)])


@pytest.mark.parametrize(
    "values", [ALL, MIDDLE, *(near(MIDDLE, exponent) for exponent in (20, 24, 25, 26, 30, 40, 52))]
)
@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
def test_conversion_is_rounded_once(values, mode):
    x = at.dvector("x")
    f = aesara.function([x], at.cast(x, "float16"), mode=mode)
    for signed in (values, -values):
        with np.errstate(over="ignore"):
            expected = signed.astype("float16")
        np.testing.assert_array_equal(f(signed).view("uint16"), expected.view("uint16"))


def test_what_has_no_neighbours():
    x = at.dvector("x")
    f = aesara.function([x], at.cast(x, "float16"))
    values = np.array([np.inf, -np.inf, 1e300, -1e300, 5e-324, -5e-324, 2.0**-25, np.nextafter(2.0**-25, 1), 0.0, -0.0])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(f(values).view("uint16"), values.astype("float16").view("uint16"))
    assert np.isnan(f([np.nan, -np.nan])).all()
