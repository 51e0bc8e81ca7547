"""Writes with duplicate indices, and their gradients, compiled by JAX."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import JAX
from tests.tensor.indexing.test_repeated_writes import CASES, graph_of, share_of_each

#: XLA has no arrays whose lengths depend on data, which masks that are not known would make.
KINDS = [(name, symbolic) for name in CASES for symbolic in (False, True) if not (symbolic and "mask" in name)]


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize(("name", "symbolic"), KINDS)
def test_gradients_of_what_is_overwritten_are_zero(name, symbolic, once):
    shape, index, of_value = CASES[name]
    x, y, given, changed, values = graph_of(name, symbolic, ignore_duplicates=once)
    cotangent = 1.0 + np.arange(np.prod(shape, dtype=int)).reshape(shape)
    g_y = aesara.grad((changed * cotangent).sum(), y)
    written, g_y = aesara.function([x, y, *given], [changed, g_y], mode=JAX)(*values)
    by_numpy = aesara.function([x, y, *given], changed, mode="FAST_COMPILE")(*values)
    np.testing.assert_array_equal(written, by_numpy)
    np.testing.assert_array_equal(g_y, share_of_each(shape, index, of_value, cotangent))


def test_second_derivatives_and_infinite_slopes():
    x, y, i = at.dvector("x"), at.dvector("y"), at.lvector("i")
    written = at.set_subtensor(x[i], y)
    f = aesara.function([x, y, i], aesara.gradient.hessian((written**3).sum(), y), mode=JAX)
    np.testing.assert_array_equal(f(np.ones(3), [2.0, 3.0, 4.0], [1, 1, -3]), np.diag([0.0, 18.0, 24.0]))
    f = aesara.function([x, y, i], aesara.grad(at.sqrt(written).sum(), y), mode=JAX)
    np.testing.assert_array_equal(f(np.ones(3), [5.0, 0.0, 4.0], [1, 1, 2]), [0.0, np.inf, 0.25])
