"""Sparse matrices in loops: as states, of which the last value is kept, and in updates; no rows are made of them."""

import numpy as np
import pytest
import scipy.sparse

import aesara
import aesara.tensor as at
from aesara import sparse
from aesara.gradient import NullTypeGradError
from aesara.scan import associative_scan, fori_loop, scan, until, while_loop
from aesara.tensor.shapes.shape import shape

MODES = pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
m, x, n = sparse.csr_matrix("m"), at.dvector("x"), at.lscalar("n")
VALUE = scipy.sparse.csr_matrix([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
ENTRIES = np.array([1.0, -2.0, 0.5])


@MODES
@pytest.mark.parametrize("steps", [None, 1])
def test_states(mode, steps):
    (last, totals), updates = scan(
        lambda e, matrix, total: [matrix * e, total + sparse.sp_sum(matrix)], x, [m, 0.0], n_steps=steps
    )
    assert not updates and last.type == m.type
    f = aesara.function([x, m], [last, totals, *shape(last)], mode=mode)
    found, sums, *sizes = f(ENTRIES, VALUE)
    taken = ENTRIES[:steps]
    np.testing.assert_array_equal(found.toarray(), VALUE.toarray() * taken.prod())
    np.testing.assert_allclose(sums, np.cumsum(6.0 * np.cumprod([1.0, *taken])[:-1]), rtol=1e-15)
    assert sizes == [3, 3] and VALUE.nnz == 3 and VALUE.sum() == 6


@MODES
def test_loops_of_which_the_last_state_is_wanted(mode):
    doubled = fori_loop(0, n, lambda i, s: {"m": s["m"] * 2.0, "k": s["k"] + i}, {"m": m, "k": 0})
    large = while_loop(lambda s: sparse.sp_sum(s) < 40.0, lambda s: s * 2.0, m)
    f = aesara.function([n, m], [doubled["m"], doubled["k"], large], mode=mode)
    for steps in (0, 1, 3):
        matrix, count, other = f(steps, VALUE)
        np.testing.assert_array_equal(matrix.toarray(), VALUE.toarray() * 2**steps)
        assert count == sum(range(steps)) and other.sum() == 48


@MODES
def test_updates(mode):
    kept = aesara.shared(VALUE, name="kept")
    rows, updates = scan(lambda e: (e * sparse.sp_sum(kept), {kept: kept * e}, until(e > 1)), x)
    f = aesara.function([x], rows, updates=updates, mode=mode)
    np.testing.assert_array_equal(f([1.0, 0.5, 2.0, 3.0]), [6.0, 3.0, 6.0])
    np.testing.assert_array_equal(kept.get_value().toarray(), VALUE.toarray())
    f([3.0, 1.0])
    np.testing.assert_array_equal(kept.get_value().toarray(), 3 * VALUE.toarray())


def test_there_are_no_rows_of_them():
    with pytest.raises(TypeError, match="a sequence must be a dense tensor, got m of type Sparse"):
        scan(lambda row: row * 2, m)
    with pytest.raises(TypeError, match=r"m of type Sparse.* is no dense tensor.*taps \[-2\]"):
        scan(lambda before: before * 2.0, None, {"initial": m, "taps": [-2]}, n_steps=2)
    with pytest.raises(TypeError, match="is no dense tensor, so that its values cannot be stacked"):
        scan(lambda e: m * e, x)
    with pytest.raises(TypeError, match=r"elems\['a'\] must be a dense tensor, got m of type Sparse"):
        associative_scan(lambda one, two: one, {"a": m})
    with pytest.raises(TypeError, match=r"starts as .*, but the body returns"):
        fori_loop(0, n, lambda i, s: sparse.dense_from_sparse(s), m)


def test_there_is_no_gradient_through_them():
    last, _ = scan(lambda e, matrix: matrix * e, x, m)
    with pytest.raises(NullTypeGradError, match="only the last value is kept"):
        aesara.grad(sparse.sp_sum(last), x)
