"""SymPy's functions that Aesara computes, against the same formulas in NumPy."""

import warnings

import numpy as np
import pytest

sympy = pytest.importorskip("sympy")

import aesara

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that the module is to be removed from SymPy
    printing = pytest.importorskip("sympy.printing.aesaracode")

x, y = sympy.symbols("x y")
A, B = sympy.MatrixSymbol("A", 3, 3), sympy.MatrixSymbol("B", 3, 2)
VALUES = np.linspace(0.1, 0.9, 7)


def function(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return printing.aesara_function(*arguments, cache={}, **options)


def test_functions_of_numbers():
    first = sympy.sin(x) * sympy.exp(-y) + sympy.Rational(1, 3)
    found = function([x, y], [first, sympy.diff(first, x, y), sympy.Max(x, y)])(0.3, 2.0)
    np.testing.assert_allclose(found, [np.sin(0.3) * np.exp(-2) + 1 / 3, -np.cos(0.3) * np.exp(-2), 2.0], rtol=1e-14)


def test_functions_of_arrays():
    pieces = sympy.Piecewise((x**2, x < 0.4), (sympy.gamma(x), True))
    row_and_column = {x: (True, False), y: (False, True)}
    f = function([x, y], [pieces, sympy.atan2(x, y)], broadcastables=row_and_column)
    found = f(VALUES[None], VALUES[:, None])
    gamma = sympy.lambdify(x, sympy.gamma(x), "scipy")(VALUES)
    np.testing.assert_allclose(found[0], np.where(VALUES < 0.4, VALUES**2, gamma)[None], rtol=1e-14)
    np.testing.assert_allclose(found[1], np.arctan2(VALUES, VALUES[:, None]), rtol=1e-14)


def test_matrices():
    a, b = np.random.default_rng(3).normal(size=(3, 3)), np.ones((3, 2))
    found = function([A, B], [A.T * A * B + 2 * B, A**3, A[1:3, :2]])(a, b)
    for result, wanted in zip(found, [a.T @ a @ b + 2, a @ a @ a, a[1:3, :2]]):
        np.testing.assert_allclose(result, wanted, rtol=1e-10)


def test_a_matrix_of_formulas():
    jacobian = sympy.Matrix([sympy.sin(x * y), x**2]).jacobian([x, y])
    wanted = [[0.4 * np.cos(0.12), 0.3 * np.cos(0.12)], [0.6, 0]]
    np.testing.assert_allclose(function([x, y], [jacobian])(0.3, 0.4), wanted, rtol=1e-14)


def test_a_formula_becomes_a_graph_that_has_a_gradient():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = printing.aesara_code(sympy.exp(x) * sympy.erf(x), cache={})
    (symbol,) = aesara.graph.basic.graph_inputs([graph])
    slope = float(aesara.function([symbol], aesara.grad(graph, symbol))(0.7))
    assert slope == pytest.approx(float(sympy.diff(sympy.exp(x) * sympy.erf(x), x).subs(x, 0.7)), rel=1e-14)
