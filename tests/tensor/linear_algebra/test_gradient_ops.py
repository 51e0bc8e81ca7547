"""Ops that compute gradients of decompositions in one step."""

import numpy as np
import pytest
import scipy.linalg

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from aesara.tensor import linalg
from aesara.tensor.type_other import NoneConst
from tests.closeness import assert_close

SYMMETRIC = np.array([[1.0, 2.0, 0.0], [2.0, -3.0, 1.0], [0.0, 1.0, 5.0]])
POSITIVE = np.array([[6.0, 2.0, 1.0], [2.0, 5.0, -1.0], [1.0, -1.0, 4.0]])


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigh_grad_is_the_gradient_of_eigh(uplo, rng):
    x, w, v = at.dmatrix("x"), at.dvector("w"), at.dmatrix("v")
    of_w, of_v = rng.normal(size=3), rng.normal(size=(3, 3))
    values, vectors = np.linalg.eigh(SYMMETRIC, uplo)
    in_one_step = linalg.EighGrad(uplo)(x, w, v, of_w, of_v)
    got = aesara.function([x, w, v], in_one_step, mode="FAST_COMPILE")(SYMMETRIC, values, vectors)
    of_eigh = linalg.eigh(x, UPLO=uplo)
    want = aesara.grad((of_eigh[0] * of_w).sum() + (of_eigh[1] * of_v).sum(), x).eval({x: SYMMETRIC})
    assert_close(got, want, size=1.0)
    assert got[(0, 2) if uplo == "L" else (2, 0)] == 0
    direction = rng.normal(size=3)
    verify_grad(lambda g: linalg.EighGrad(uplo)(SYMMETRIC, values, vectors, g, of_v), [direction], rng=rng, eps=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_eigh_grad_at_equal_eigenvalues_of_a_function_that_does_not_tell_them_apart(sign, rng):
    """The gradient of ``trace(A @ A @ A)``, by eigenvalues and by eigenvectors, is ``3 A @ A``."""
    eigenvalues = sign * np.array([1.0, 1.0, 1.0, 2.0, 2.0])
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    matrix = basis * eigenvalues @ basis.T
    values, vectors = np.linalg.eigh(matrix)
    x, w, v = at.dmatrix("x"), at.dvector("w"), at.dmatrix("v")
    cube = (v * w**3) @ v.T
    gradient = linalg.EighGrad("L")(x, w, v, *aesara.grad(at.diagonal(cube).sum(), [w, v]))
    got = aesara.function([x, w, v], gradient, mode="FAST_COMPILE")(matrix, values, vectors)
    both = 3 * matrix @ matrix
    assert_close(got, np.tril(2 * both) - np.diag(np.diag(both)), size=10.0)


@pytest.mark.parametrize("of_values, of_vectors", [(1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("turned", [0.0, 3.0])
def test_gradients_of_general_eigenvalues_and_vectors(of_values, of_vectors, turned, rng):
    """Of matrices whose eigenvalues are real, and of ones with pairs of complex ones."""
    matrix = np.array([[1.0, 2.0 + turned, 0.0], [2.0 - 2 * turned, -3.0, 1.0], [0.5, 1.0, 5.0]])
    weights = rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 3))

    def cost(x):
        values, vectors = linalg.eig(x.astype("complex128") if turned else x)
        (a, b), (c, d) = weights
        total = of_values * (at.real(values) * a + at.imag(values) * b).sum()
        return total + of_vectors * (at.real(vectors) * c + at.imag(vectors) * d).sum()

    verify_grad(cost, [matrix], rng=rng, eps=1e-6)


def test_the_second_matrix_of_eigenvalues_may_be_none():
    x = at.dmatrix("x")
    for nothing in (None, NoneConst):
        node = linalg.Eigvalsh()(x, nothing).owner
        assert node.inputs == [x]


def test_eigvalsh_grad_is_the_gradient_of_eigvalsh(rng):
    a, b = at.dmatrices("a", "b")
    weights = rng.normal(size=3)
    got = aesara.function([a, b], linalg.EigvalshGrad()(a, b, weights), mode="FAST_COMPILE")(SYMMETRIC, POSITIVE)
    cost = (linalg.eigvalsh(a, b) * weights).sum()
    want = aesara.function([a, b], aesara.grad(cost, [a, b]))(SYMMETRIC, POSITIVE)
    for one, other in zip(got, want):
        assert_close(one, other, size=1.0)
    verify_grad(lambda x, y, g: linalg.EigvalshGrad()(x, y, g)[1], [SYMMETRIC, POSITIVE, weights], rng=rng, eps=1e-6)


def minors(matrix):
    """The cofactors, by determinants of what is left without a row and a column."""
    n = len(matrix)
    left = [[np.delete(np.delete(matrix, i, 0), j, 1) for j in range(n)] for i in range(n)]
    return np.array([[(-1) ** (i + j) * np.linalg.det(left[i][j]) for j in range(n)] for i in range(n)]).reshape(n, n)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", None])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n, lost", [(n, lost) for n in range(5) for lost in range(min(n, 2) + 1)])
def test_cofactors_and_their_changes_are_those_of_minors(n, lost, dtype, mode, rng):
    """Of matrices of any rank, and whatever the sign of the determinant."""
    x, d = (at.matrix(name, dtype=dtype) for name in "xd")
    of_x, along = linalg.Cofactors()(x), linalg.CofactorsGrad()(x, d)
    changes = [along, aesara.gradient.Rop(of_x, x, d)]
    if dtype == "float64":  # second derivatives of determinants are symmetric
        changes.append(aesara.grad((of_x * d).sum(), x))
    f = aesara.function([x, d], [of_x, *changes], mode=mode)
    for sign in (1, -1):
        matrix, direction = rng.normal(size=(2, n, n))
        if dtype == "complex128":
            matrix, direction = np.array([matrix, direction]) + 1j * rng.normal(size=(2, n, n))
        matrix[:1] *= sign
        for k in range(lost):
            matrix[k] = 0 if k == n - 1 else matrix[k + 1] * 2
        # Along a line cofactors are polynomials of a degree below four: these differences are exact.
        near, far = (minors(matrix + h * direction) - minors(matrix - h * direction) for h in (1, 2))
        cofactors, *found = f(matrix, direction)
        assert_close(cofactors, minors(matrix), size=10.0)
        for change in found:
            assert_close(change, (8 * near - far) / 12, size=100.0)


def test_shapes_of_cofactors_need_no_decomposition():
    x, d = at.dmatrices("x", "d")
    f = aesara.function([x, d], [linalg.Cofactors()(x).shape, linalg.CofactorsGrad()(x, d).shape])
    assert not any("Cofactors" in str(node.op) for node in f.maker.fgraph.apply_nodes)
    assert [shape.tolist() for shape in f(np.eye(3), np.eye(3))] == [[3, 3], [3, 3]]


@pytest.mark.parametrize("singular", [False, True])
def test_second_and_third_derivatives_of_determinants(singular, rng):
    matrix = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]) if singular else POSITIVE
    x, d, e = at.dmatrices("x", "d", "e")
    along = linalg.CofactorsGrad()(x, d)
    directions = rng.normal(size=(2, 3, 3))
    got = aesara.function([x, d], along)(matrix, directions[0])
    # Cofactors of three rows are quadratic: differences over any distance are exact.
    cofactors = aesara.function([x], linalg.Cofactors()(x))
    want = (cofactors(matrix + directions[0]) - cofactors(matrix - directions[0])) / 2
    assert_close(got, want, units=64, size=abs(want).max())
    if not singular:
        third = aesara.function([x, d, e], aesara.grad((along * e).sum(), [x, d]))(matrix, *directions)
        of_x = np.empty((3, 3))
        change = aesara.function([x, d, e], (along * e).sum())
        for k in np.ndindex(3, 3):
            moved = np.zeros((3, 3))
            moved[k] = 1
            of_x[k] = (change(matrix + moved, *directions) - change(matrix - moved, *directions)) / 2
        assert_close(third[0], of_x, units=64, size=abs(of_x).max())
        assert_close(third[1], aesara.function([x, e], linalg.CofactorsGrad()(x, e))(matrix, directions[1]))


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_expm_grad_is_the_adjoint_of_the_change_along_a_direction(dtype, mode, rng):
    """The change along a direction is the corner of the exponential of a matrix of twice the order."""
    a, g, e = (rng.normal(size=(3, 3)) + (1j * rng.normal(size=(3, 3)) if dtype == "complex128" else 0) for _ in "age")
    change = scipy.linalg.expm(np.block([[a, e], [np.zeros((3, 3)), a]]))[:3, 3:]
    x, arriving = at.tensor(dtype, shape=(None, None)), at.tensor(dtype, shape=(None, None))
    gradient = aesara.function([x, arriving], linalg.ExpmGrad()(x, arriving), mode=mode)(a, g)
    assert_close(np.vdot(gradient, e), np.vdot(g, change), units=200, size=100.0)
