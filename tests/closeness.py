"""Comparison of floats, with a tolerance that follows from their dtype."""

import numpy as np


def assert_close(got, want, units=16, size=0.0):
    """Assert that floats are what they should be but for rounding.

    Parameters
    ----------
    got, want
        Arrays or numbers; the dtype with the fewest digits counts. What are no floats must be equal.
    units
        How many units in the last place they may be apart.
    size
        How large what was added up is, where a result can be smaller than that.
    """
    dtypes = [np.asarray(values).dtype for values in (got, want)]
    if dtypes[0].kind not in "fc":
        return np.testing.assert_array_equal(got, want)
    tolerance = units * max(float(np.finfo(dtype).eps) for dtype in dtypes if dtype.kind in "fc")
    return np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * size)
