"""Gradients that are zero where nothing is read, for graphs that are compiled by JAX."""

import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import JAX
from tests.tensor.derivatives.test_zeros_of_structure import CHOICES, FUNCTIONS, check


@pytest.mark.parametrize(
    "choice", ["entry", "steps", "index of variables", "diagonal", "switch of three", "ifelse", "states of a loop"]
)
def test_gradient_is_zero_where_nothing_is_read(choice):
    names = ("sqrt", "negative power", "arccos")
    xs = [at.dmatrix() for _ in names]
    costs = [CHOICES[choice](FUNCTIONS[name][0](x)).sum() for name, x in zip(names, xs)]
    check(dict(zip(names, zip(xs, costs))), JAX)


def test_second_derivatives():
    x = at.dvector()
    f = aesara.function([x], aesara.gradient.hessian(at.sqrt(x)[1:].sum(), x), mode=JAX)
    assert f([0.0, 1.0, 4.0]).tolist() == [[0, 0, 0], [0, -0.25, 0], [0, 0, -0.03125]]
