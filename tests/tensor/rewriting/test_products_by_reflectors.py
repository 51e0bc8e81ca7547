"""Least squares by QR, without the orthogonal factor."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.by_factors import ProductByReflectors
from tests.closeness import assert_close
from tests.tensor.rewriting.test_matrix_structure import MODES, PYTHON, compiled, ops_of

X, Y = at.dmatrices("X", "Y")
y = at.dvector("y")
QRS = (linalg.QRFull, ProductByReflectors)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4), (5, 1), (1, 1), (0, 0), (4, 0), (0, 3)])
@pytest.mark.parametrize("form", [lambda q: q.T @ y, lambda q: y @ q, lambda q: q.T @ y[:, None]])
def test_products_with_a_factor_that_is_not_computed(shape, form, rng):
    q, r = linalg.qr(X)
    values = rng.normal(size=shape), rng.normal(size=shape[0])
    expected = compiled([X, y], [form(q), r], PYTHON)(*values)
    for mode in MODES:
        f = compiled([X, y], [form(q), r], mode)
        assert ops_of(f, *QRS) == ["QRFull", "ProductByReflectors"]
        for value, want in zip(f(*values), expected, strict=True):
            assert value.shape == want.shape
            assert_close(abs(value), abs(want), units=200, size=1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_least_squares(dtype, rng):
    x, b = rng.normal(size=(9, 4)).astype(dtype), rng.normal(size=(9, 2)).astype(dtype)
    m, v = at.matrix("m", dtype=dtype), at.tensor(dtype, (None, 2))
    static = at.specify_shape(m, (9, 4))
    q, r = linalg.qr(static)
    for mode in MODES:
        f = compiled([m, v], linalg.solve_triangular(r, q.T @ v), mode)
        assert ops_of(f, *QRS) == ["QRFull", "ProductByReflectors"]
        assert_close(f(x, b), np.linalg.lstsq(x, b, rcond=None)[0], units=500, size=1.0)
    text = str(aesara.explain(compiled([m, v], linalg.solve_triangular(r, q.T @ v))))
    assert "product with an orthogonal matrix" in text and "nothing in Python" in text


def test_the_factor_is_computed_where_something_else_needs_it(rng):
    q, r = linalg.qr(X)
    m = at.dmatrix("m")
    outputs = {
        "is a result": [q.T @ y, q],
        "another product": [q.T @ y, q @ y[:3]],
        "unknown number of columns": [q.T @ Y, r],
        "many columns": [at.specify_shape(q.T, (3, 7)) @ at.specify_shape(m, (7, 3)), r],
        "gradient": [aesara.grad((q.T @ y).sum(), X)],
        "complex": [linalg.qr(X.astype("complex128"))[0].T @ y],
    }
    for name, made in outputs.items():
        assert "ProductByReflectors" not in ops_of(compiled([X, Y, y, m], made), *QRS), name


def test_errors_of_products():
    factors, scales = linalg.qr(X, mode="raw")
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        product = compiled([X, y], ProductByReflectors()(factors, scales, y), mode)
        with pytest.raises(ValueError, match="do not fit"):
            product(np.ones((3, 2)), np.ones(4))
        given = at.dvector("given")
        free = compiled([X, given, y], ProductByReflectors()(X, given, y), mode)
        with pytest.raises(ValueError, match="scales"):
            free(np.ones((2, 3)), np.ones(1), np.ones(3))
    with pytest.raises(TypeError, match="real"):
        ProductByReflectors()(X.astype("complex128"), y, y)
