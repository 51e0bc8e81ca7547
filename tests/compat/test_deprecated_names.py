"""Old names of things that have others today: they are there, and say what to use."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import configparser
from aesara.configdefaults import config
from aesara.tensor import slinalg
from aesara.tensor.nnet import basic
from tests.closeness import assert_close

MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])
SIDE = np.array([[1.0], [2.0]])


def test_options_are_changed_and_printed(capsys):
    with pytest.warns(DeprecationWarning, match="use `aesara.config.change_flags`"):
        change = configparser.change_flags
    before = config.floatX
    with change(floatX="float16"):
        assert config.floatX == "float16"
    assert config.floatX == before
    with pytest.warns(DeprecationWarning, match="use `aesara.config.config_print`"):
        assert configparser._config_print is not None
    with pytest.warns(DeprecationWarning, match="_change_flags"):
        assert configparser._change_flags == change


@pytest.mark.parametrize(
    "name, matrix",
    [
        ("solve_lower_triangular", np.tril(MATRIX)),
        ("solve_upper_triangular", np.triu(MATRIX)),
        ("solve_symmetric", MATRIX),
    ],
)
def test_systems_of_equations(name, matrix):
    with pytest.warns(DeprecationWarning, match=f"`{name}` is deprecated; use `solve`"):
        op = getattr(slinalg, name)
    a, b = at.dmatrices("a", "b")
    # the other triangle is not read
    assert_close(aesara.function([a, b], op(a, b))(MATRIX, SIDE), np.linalg.solve(matrix, SIDE))


@pytest.mark.parametrize("name, new", [("softmax", "softmax"), ("logsoftmax", "log_softmax")])
def test_softmax(name, new):
    with pytest.warns(DeprecationWarning, match=f"use `aesara.tensor.special.{new}`"):
        assert getattr(basic, name) is getattr(at.special, new)


@pytest.mark.parametrize("module", [configparser, slinalg, basic])
def test_other_names_are_not_there(module):
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing
