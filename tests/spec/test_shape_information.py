"""The examples of the documentation of shape information and broadcasting."""

import re

import numpy as np
import pytest

import aesara
import aesara.tensor as at


def printed(f):
    """What `dprint` prints, without the numbers of the execution order."""
    text = aesara.dprint(f, file="str")
    return [re.sub(r"(\[id \w+\]).*", r"\1", line).rstrip() for line in text.strip().splitlines()]


def test_shape_is_computed_without_the_value():
    x = at.matrix("x")
    f = aesara.function([x], (x**2).shape)
    assert printed(f) == [
        "MakeVector{dtype='int64'} [id A]",
        " |Shape_i{0} [id B]",
        " | |x [id C]",
        " |Shape_i{1} [id D]",
        "   |x [id C]",
    ]
    np.testing.assert_array_equal(f(np.ones((3, 4))), [3, 4])


def test_static_shapes():
    assert at.tensor("float64", shape=(4, 3, 2)).type.shape == (4, 3, 2)
    x = at.matrix()
    assert at.specify_shape(x, (2, 2)).type.shape == (2, 2)


def test_specified_shapes_are_constants():
    x = at.matrix()
    f = aesara.function([x], (at.specify_shape(x, (2, 2)) ** 2).shape, on_unused_input="ignore")
    assert not any("Shape_i" in line or "MakeVector" in line for line in printed(f))
    np.testing.assert_array_equal(f(np.ones((2, 2))), [2, 2])


def test_shapes_of_a_join_can_hide_errors():
    x, y = at.matrix("x"), at.matrix("y")
    z = at.join(0, x, y)
    xv, yv = np.ones((5, 4)), np.ones((3, 3))
    shape = aesara.function([x, y], z.shape)
    assert not any("Join" in line for line in printed(shape))
    np.testing.assert_array_equal(shape(xv, yv), [8, 4])

    f = aesara.function([x, y], z)
    assert printed(f) == ["Join [id A]", " |TensorConstant{0} [id B]", " |x [id C]", " |y [id D]"]
    with pytest.raises(ValueError):
        f(xv, yv)


def test_broadcasting():
    r, c, mtr = at.row(), at.col(), at.matrix()
    assert r.broadcastable == (True, False)
    assert mtr.broadcastable == (False, False)
    assert c.broadcastable == (False, True)
    floating = np.arange(9.0).reshape(3, 3)
    f_row = aesara.function([r, mtr], [r + mtr])
    np.testing.assert_array_equal(f_row(np.arange(3.0).reshape(1, 3), floating)[0], [[0, 2, 4], [3, 5, 7], [6, 8, 10]])
    f_col = aesara.function([c, mtr], [c + mtr])
    np.testing.assert_array_equal(f_col(np.arange(3.0).reshape(3, 1), floating)[0], [[0, 1, 2], [4, 5, 6], [8, 9, 10]])
    # Integers are taken for floating-point inputs.
    np.testing.assert_array_equal(
        f_row(np.arange(3).reshape(1, 3), np.arange(9).reshape(3, 3))[0], [[0, 2, 4], [3, 5, 7], [6, 8, 10]]
    )


def test_a_row_must_be_a_row():
    r, mtr = at.row(), at.matrix()
    with pytest.raises(TypeError):
        aesara.function([r, mtr], r + mtr)(np.ones((3, 3)), np.ones((3, 3)))
