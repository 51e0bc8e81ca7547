"""Numbers in patterns of rows, and as what takes their place."""

import numpy as np
import pytest

import aesara.tensor as at
from aesara.graph.rewriting.basic import in2out
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.rewriting.helpers import as_float
from aesara.tensor.rewriting.rows import number, row

x = at.dvector("x")


def rewritten(expression, one):
    return rewrite_graph(expression, include=(), custom_rewrite=in2out(one), clone=False)


@pytest.mark.parametrize("c, matched", [(0, False), (-2, True), (np.float32(-0.5), True), (np.nan, False)])
def test_a_function_says_whether_a_number_will_do(c, matched):
    negative = row("negative", (at.mul, number("c", lambda c: c < 0), "x"), lambda x, c: at.neg(x), each=None)
    for factor in (c, at.fill(x, c)):
        assert (rewritten(factor * x, negative).owner.op == at.neg) == matched
    assert rewritten(x * x, negative).owner.op == at.mul


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool"])
def test_a_number_takes_the_place_of_a_result_everywhere(dtype):
    one = row("one", (at.eq, "x", "x"), True, each=None)
    zero = row("zero", (at.mul, number("zero", 0), "x"), 0, each=None)
    y = at.vector("y", dtype=dtype)
    for rule, expression in ((one, at.eq(y, y)), (zero, y * np.array(0, dtype=dtype))):
        new = rewritten(expression, rule)
        assert new.type == expression.type
        np.testing.assert_array_equal(new.eval({y: [1, 0, 1]}), [rule is one] * 3)
    assert (one.description, zero.description) == ("eq(x, x) becomes True", "0 * x becomes 0")


def test_descriptions_leave_out_names_of_numbers_and_casts():
    root = row("root", (at.pow, "x", number("n", 0.5)), lambda x, out: at.sqrt(as_float(x, out)), each=None)
    assert root.description == "x ** 0.5 becomes at.sqrt(x)"
    sign = row("sign", (at.mul, number("c", lambda c: c < 0), "x"), (at.neg, "x"))
    assert sign.description == "c * x becomes -x"
