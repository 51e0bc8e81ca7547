"""The functions with more digits, by which results are judged that differ from NumPy's."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import special

sys.path.insert(0, str(Path(__file__).parent))
from truth import TRUTH, true_values

POINTS = np.array([-27.0, -8.0, -2.5, -1.0, -0.75, -0.25, 0.25, 0.75, 1.0, 2.5, 8.0, 27.0])


def named_alike():
    """Functions of one number that NumPy or SciPy has by the same name."""
    for name in TRUTH:
        function = getattr(np, name, None) or getattr(special, name, None)
        if isinstance(function, np.ufunc) and (function.nin, function.nout) == (1, 1):
            yield name, function


@pytest.mark.parametrize("name, function", list(named_alike()))
def test_branches_are_those_of_functions_of_real_numbers(name, function):
    """The truth is NumPy's value at all points where that is finite."""
    with np.errstate(all="ignore"):
        want = function(POINTS)
    there = np.isfinite(want)
    assert there.sum() > 1
    high, low = true_values(TRUTH[name], [POINTS[there]])
    np.testing.assert_allclose(high + low, want[there], rtol=1e-11, atol=1e-300)


def test_roots_of_cubes():
    high, _ = true_values(TRUTH["cbrt"], [np.array([-27.0, -8.0, -0.001, 64.0])])
    assert high.tolist() == [-3.0, -2.0, -0.1, 4.0]
