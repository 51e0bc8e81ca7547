"""The examples of the documentation of shape information and broadcasting."""

import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import Mode
from aesara.compile.function.types import UnusedInputError


def as_documented(text):
    """A printed graph of the document, and how it is printed here.

    The document prints an empty name after most identifiers, which it leaves out elsewhere, and numbers nodes that do
    not depend on each other in another order. Everything else is the same.
    """
    return re.sub(r"(\[id \w+\]) ''", r"\1", text.strip("\n"))


def printed(f):
    text = io.StringIO()
    assert aesara.dprint(f, file=text) is text
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip().splitlines())


def assert_prints(f, documented):
    """The same lines; the numbers are those of an order in which the nodes can run."""
    number = re.compile(r"(\[id \w+\]) +(\d+)$", re.MULTILINE)
    expected, got = as_documented(documented), printed(f)
    assert number.sub(r"\1", got) == number.sub(r"\1", expected)
    numbers = dict(number.findall(got))
    assert sorted(numbers.values()) == sorted(dict(number.findall(expected)).values())
    # The root comes last.
    assert int(next(iter(numbers.values()))) == len(numbers) - 1


SHAPE_OF_POWER = """
MakeVector{dtype='int64'} [id A] ''   2
 |Shape_i{0} [id B] ''   1
 | |x [id C]
 |Shape_i{1} [id D] ''   0
   |x [id C]
"""

SPECIFIED_SHAPE = """
DeepCopyOp [id A] ''   0
 |TensorConstant{(2,) of 2} [id B]
"""

SHAPE_OF_JOIN = """
MakeVector{dtype='int64'} [id A] ''   4
 |Elemwise{Add}[(0, 0)] [id B] ''   3
 | |Shape_i{0} [id C] ''   2
 | | |x [id D]
 | |Shape_i{0} [id E] ''   1
 |   |y [id F]
 |Shape_i{1} [id G] ''   0
   |x [id D]
"""

JOIN = """
Join [id A] ''   0
 |TensorConstant{0} [id B]
 |x [id C]
 |y [id D]
"""

VM = Mode("py", "fast_run")


@pytest.mark.parametrize("mode", [None, VM], ids=["native", "vm"])
def test_shape_is_computed_without_the_value(mode):
    x = at.matrix("x")
    f = aesara.function([x], (x**2).shape, mode=mode)
    assert_prints(f, SHAPE_OF_POWER)
    np.testing.assert_array_equal(f(np.ones((3, 4))), [3, 4])


def test_static_shapes():
    assert at.tensor("float64", shape=(4, 3, 2)).type.shape == (4, 3, 2)
    x = at.matrix()
    assert at.specify_shape(x, (2, 2)).type.shape == (2, 2)


@pytest.mark.parametrize("mode", [None, VM], ids=["native", "vm"])
def test_specified_shapes_are_constants(mode):
    x = at.matrix()
    x_specify_shape = at.specify_shape(x, (2, 2))
    f = aesara.function([x], (x_specify_shape**2).shape, mode=mode)
    assert_prints(f, SPECIFIED_SHAPE)
    np.testing.assert_array_equal(f(np.ones((2, 2))), [2, 2])
    f(np.ones((2, 2)))[0] = 7
    np.testing.assert_array_equal(f(np.ones((2, 2))), [2, 2])


def test_inputs_that_no_shape_is_asked_of_are_unused():
    x, y = at.matrix("x"), at.matrix("y")
    known = at.specify_shape(x, (2, 2))
    with pytest.raises(UnusedInputError, match="index 1"):
        aesara.function([x, y], known.shape)
    with pytest.raises(UnusedInputError, match="index 0"):
        aesara.function([y], at.constant([2, 2]))


class TestProblems:
    """The shape of a join hides that it cannot be computed."""

    x, y = at.matrix("x"), at.matrix("y")
    z = at.join(0, x, y)
    xv, yv = np.ones((5, 4)), np.ones((3, 3))

    @pytest.mark.parametrize("mode", [None, VM], ids=["native", "vm"])
    def test_hidden(self, mode):
        f = aesara.function([self.x, self.y], self.z.shape, mode=mode)
        assert_prints(f, SHAPE_OF_JOIN)
        np.testing.assert_array_equal(f(self.xv, self.yv), [8, 4])

    @pytest.mark.parametrize("mode", [None, VM], ids=["native", "vm"])
    def test_found_where_the_value_is_asked_for(self, mode):
        f = aesara.function([self.x, self.y], self.z, mode=mode)
        assert_prints(f, JOIN)
        with pytest.raises(ValueError):
            f(self.xv, self.yv)

    @pytest.mark.parametrize("mode", ["FAST_RUN", VM, "FAST_COMPILE", "DebugMode"], ids=str)
    def test_found_without_the_rule(self, mode):
        with aesara.config.change_flags(optimizer_excluding="local_shape_to_shape_i"):
            # Modes that are no names are taken as they are.
            chosen = mode.excluding("local_shape_to_shape_i") if isinstance(mode, Mode) else mode
            f = aesara.function([self.x, self.y], self.z.shape, mode=chosen)
        with pytest.raises(ValueError):
            f(self.xv, self.yv)
        np.testing.assert_array_equal(f(self.xv, self.xv), [10, 4])

    @pytest.mark.parametrize("mode", ["FAST_COMPILE", "DebugMode"])
    def test_found_in_other_modes(self, mode):
        f = aesara.function([self.x, self.y], self.z.shape, mode=mode)
        with pytest.raises(ValueError):
            f(self.xv, self.yv)
        np.testing.assert_array_equal(f(self.xv, self.xv), [10, 4])


@pytest.mark.parametrize("flags", ["", "optimizer_excluding=local_shape_to_shape_i"])
def test_flag_of_the_environment(flags):
    program = (
        "import numpy as np, aesara, aesara.tensor as at\n"
        "x, y = at.matrices('x', 'y')\n"
        "print(aesara.function([x, y], at.join(0, x, y).shape)(np.ones((5, 4)), np.ones((3, 3))))"
    )
    environment = {**os.environ, "AESARA_FLAGS": flags}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert ("ValueError" in done.stderr) if flags else (done.stdout.strip() == "[8 4]")


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
