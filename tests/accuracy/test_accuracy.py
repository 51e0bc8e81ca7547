"""Native elementwise functions against the truth: in single vectors' bodies and remainders, over the whole range.

Functions that are computed here are within 4 ulp of the truth; others are at most 2 ulp worse than the better of
NumPy and SciPy at the same point.
"""

from __future__ import annotations

import functools

import mpmath
import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.scalar import ufuncs
from aesara.tensor.elemwise import Elemwise
from tests.accuracy.functions import BINARY, UNARY
from tests.accuracy.ulps import DIGITS, ulps

LENGTHS = (1, 3, 8, 17)
OWN_LIMIT = 4.0
LIBRARY_MARGIN = 2.0


@pytest.fixture(autouse=True)
def precision():
    with mpmath.workdps(DIGITS):
        yield


def scalar_op(name):
    return getattr(aes, name, None) or getattr(ufuncs, name)


@functools.cache
def compiled(name, dtype):
    inputs = [at.TensorType(dtype, (None,))() for _ in range(2 if name in BINARY else 1)]
    op = getattr(at, name) if name == "logaddexp" else Elemwise(scalar_op(name))
    function = aesara.function(inputs, op(*inputs))
    assert not function._native.report.python_nodes
    return function


def values(name, points, dtype):
    """The values of the native function, which do not depend on how long the vector is."""
    function = compiled(name, dtype)
    whole = function(*points)
    assert whole.dtype == dtype
    for length in LENGTHS:
        parts = [
            function(*[np.ascontiguousarray(x[k : k + length]) for x in points])
            for k in range(0, len(points[0]), length)
        ]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    return whole


def real(value):
    return mpmath.nan if isinstance(value, mpmath.mpc) else mpmath.mpf(value)


def errors(found, truth, points, dtype):
    exact = [real(truth(*(mpmath.mpf(float(x)) for x in point))) for point in zip(*points, strict=True)]
    return np.array([ulps(value, e, dtype) for value, e in zip(found, exact, strict=True)])


def complain(name, error, limit, points, found):
    worst = np.argsort(-error)[:5]
    worst = [k for k in worst if error[k] > limit[k]] or [k for k in range(len(error)) if error[k] > limit[k]][:5]
    rows = [f"{[x[k] for x in points]}: {found[k]!r} is {error[k]:.3g} ulp off" for k in worst]
    assert not rows, f"{name}:\n" + "\n".join(rows)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [name for name, f in UNARY.items() if f.ours])
def test_functions_of_our_own(name, dtype):
    points = [UNARY[name].points(dtype)]
    found = values(name, points, dtype)
    error = errors(found, UNARY[name].truth, points, dtype)
    complain(name, error, np.full(len(error), OWN_LIMIT), points, found)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [name for name, f in UNARY.items() if not f.ours])
def test_functions_of_libraries(name, dtype):
    points = [UNARY[name].points(dtype)]
    found = values(name, points, dtype)
    error = errors(found, UNARY[name].truth, points, dtype)
    op, scalar_type = scalar_op(name), aes.get_scalar_type(dtype)
    (library,) = op.evaluate(points, [scalar_type], op.output_types([scalar_type]))
    best = errors(library, UNARY[name].truth, points, dtype)
    complain(name, error, np.maximum(best + LIBRARY_MARGIN, OWN_LIMIT), points, found)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name, dtype):
    points = BINARY[name].points(dtype)
    found = values(name, points, dtype)
    error = errors(found, BINARY[name].truth, points, dtype)
    complain(name, error, np.full(len(error), OWN_LIMIT), points, found)


@pytest.mark.parametrize("name", [*UNARY, "pow", "arctan2"])
def test_half_precision_is_computed_in_single_precision(name):
    table = BINARY if name in BINARY else UNARY
    points = table[name].points("float32")
    with np.errstate(over="ignore"):
        points = [x.astype("float16") for x in (points if name in BINARY else [points])]
    expected = compiled(name, "float32")(*[x.astype("float32") for x in points])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(compiled(name, "float16")(*points), expected.astype("float16"))
