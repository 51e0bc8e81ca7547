"""Least squares by QR, without the orthogonal factor."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor import linalg
from tests.closeness import assert_close
from tests.tensor.rewriting.test_matrix_structure import MODES, PYTHON, compiled

X, Y = at.dmatrices("X", "Y")
y = at.dvector("y")


def forms_of(f):
    """The modes of QR decompositions in a compiled function."""
    return [node.op.mode for node in f.maker.fgraph.toposort() if isinstance(node.op, linalg.QRFull)]


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4), (5, 1), (1, 1), (0, 0), (4, 0), (0, 3)])
@pytest.mark.parametrize("form", [lambda q: q.T @ y, lambda q: y @ q, lambda q: q.T @ y[:, None]])
def test_products_with_a_factor_that_is_not_computed(shape, form, rng):
    q, r = linalg.qr(X)
    values = rng.normal(size=shape), rng.normal(size=shape[0])
    expected = compiled([X, y], [form(q), r], PYTHON)(*values)
    for mode in MODES:
        f = compiled([X, y], [form(q), r], mode)
        assert forms_of(f) == ["r"]
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
        assert forms_of(f) == ["r"]
        assert_close(f(x, b), np.linalg.lstsq(x, b, rcond=None)[0], units=500, size=1.0)
    text = str(aesara.explain(compiled([m, v], linalg.solve_triangular(r, q.T @ v))))
    assert "orthogonal matrix" not in text and "nothing in Python" in text


def test_several_right_hand_sides(rng):
    q, r = linalg.qr(X)
    outputs = [q.T @ y, (2 * y) @ q, r, q.T @ y[:, None]]
    point = rng.normal(size=(6, 3)), rng.normal(size=6)
    f = compiled([X, y], outputs)
    assert forms_of(f) == ["r"]
    for value, want in zip(f(*point), compiled([X, y], outputs, PYTHON)(*point), strict=True):
        assert_close(abs(value), abs(want), units=200, size=1.0)
    with pytest.raises(ValueError):
        f(point[0], np.ones(5))


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
        assert "reduced" in forms_of(compiled([X, Y, y, m], made)), name
