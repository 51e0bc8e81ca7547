"""The framework itself: rules that are wrong in one way or another are found out."""

import numpy as np
import pytest

import aesara.tensor as at
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elemwise import Elemwise
from tests.rules.exact import errors_in_units
from tests.rules.framework import Example, WrongRule, check, example, examples_of_row


def found_out(rewriter, of, text):
    with pytest.raises(WrongRule, match=text):
        check(rewriter, set(), of)


def replacing(op, by):
    """A rule that replaces each node of an op by a function of its inputs."""

    @node_rewriter([op])
    def rewriter(fgraph, node):
        return [by(*node.inputs)] if node.inputs[0].owner is None else False

    return rewriter


def test_right_rules_pass():
    of = example(lambda x, y: x - y, dtypes=("float64",))
    assert check(replacing(at.sub, lambda x, y: at.add(x, at.neg(y))), set(), of)


@pytest.mark.parametrize(
    "op, by, build, text",
    [
        (at_abs, lambda x: x, lambda x: abs(x), "instead of"),
        (at.square, lambda x: abs(x) * x, lambda x: at.square(x), "instead of"),
        (at.maximum, lambda x, y: at.switch(x > y, x, y), lambda x, y: at.maximum(x, y), "instead of .*nan"),
        (at.neg, lambda x: 0 - x, lambda x: -x, r"0.0\)? instead of .*-0.0"),
        (at.exp, lambda x: at.exp(x) * (1 + 1e-13), lambda x: at.exp(x), "instead of"),
        (at.exp2, lambda x: at.exp2(x.astype("float32")).astype("float64"), lambda x: at.exp2(x), "instead of"),
        (at.second, lambda x, y: y, lambda x, y: at.second(x, y), "error is lost"),
        (at.sin, lambda x: at.specify_shape(at.sin(x), (40,)), lambda x: at.sin(x), "a new error"),
    ],
)
def test_wrong_values_are_found(op, by, build, text):
    found_out(replacing(op, by), example(build, dtypes=("float64",)), text)


def test_narrow_arithmetic_is_found():
    found_out(replacing(at.mul, lambda x, y: -x), Example(lambda x: x * np.int16(-1)), "instead of|is replaced by")


def test_static_types_that_say_less_are_found():
    @node_rewriter([at.exp])
    def forgets(fgraph, node):
        return [at.exp(at.tensor("float64", shape=(None,)))] if node.outputs[0].type.shape == (3,) else False

    found_out(forgets, example(lambda x: at.exp(x), dtypes=("float64",)), "says less")


def test_lost_broadcasting_is_found():
    of = example(lambda x, y: at.second(x, y), drops_checks="to get to the shapes")
    found_out(replacing(at.second, lambda x, y: y), of, "says less")


def test_rules_that_never_fire_are_found():
    assert check(replacing(Alloc, lambda x, *shape: x), set(), Example(lambda x: at.exp(x))) == 0


def test_rows_are_made_from_their_patterns():
    row = rule("row", (at.log, (at.add, 1, "*x")), (at.log1p, "x"))
    one, two = examples_of_row(row, {})
    assert one.leaves == ("x0",) and two.leaves == ("x0", "x1")
    x, y = at.dvectors("x", "y")
    assert [type(v.owner.op) for v in (one.build(x), two.build(x, y))] == [Elemwise, Elemwise]
    assert len(two.build(x, y).owner.inputs[0].owner.inputs) == 3
    assert examples_of_row(rule("row", (at.log, (Elemwise, "x")), "x"), {}) == []


def test_errors_are_measured_against_exact_values():
    x = at.dvector("x")
    value = np.array([1e-20, 0.5, 800.0])
    with np.errstate(over="ignore"):
        plain, better = np.log(1 + np.exp(value)), np.logaddexp(0, value)
    found = errors_in_units(at.log(1 + at.exp(x)), {x: value}, [plain, better], np.array([False, True, True]))
    assert np.isnan(found[0][0]) and found[0][2] == np.inf
    assert found[0][1] < 2 and found[1][1] < 2 and found[1][2] < 1
