"""Forms of exponentials: their order, graphs that do not grow, and sums with weights that are zero."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.rewriting.logarithms.analysis import ELEMENTWISE, OTHERS, Analysis
from aesara.tensor.special import ndtr

RULES = aesara.Mode("py", "fast_run")


def rewritten(*outputs):
    x, y = at.dvectors("xy")
    graph = FunctionGraph([x, y], [output(x, y) for output in outputs], clone=True)
    return rewrite_graph(graph, include=("fast_run",), exclude=("inplace",))


@pytest.mark.parametrize(
    "formula",
    [
        lambda x, y: at.log(at.erf(x) - at.erf(y)),
        lambda x, y: at.log(at.erfc(x) - at.erfc(x + 1)),
        lambda x, y: at.log(ndtr(x) - ndtr(y)),
        lambda x, y: at.log(at.exp(-0.5 * x**2) / (ndtr(x + 1) - ndtr(x - 1))),
        lambda x, y: aesara.grad(at.log(ndtr(x) - ndtr(y)).sum(), x),
    ],
)
def test_what_is_left_of_a_difference_is_not_taken_apart_again(formula):
    assert len(rewritten(formula).apply_nodes) < 80


def test_the_first_form_that_fits_is_taken():
    x = at.dvector("x")
    # 1 - ndtr(x) is found before the complement of a probability, which it is as well.
    assert Analysis().scaled(1 - ndtr(x)).exponent.owner.op == at.log_ndtr
    assert Analysis().scaled(1 - at.softmax(x)).exponent.owner.op == at.log1mexp
    assert Analysis().scaled(at.exp(x) ** 5).exponent.owner.op == at.mul
    # Nothing is looked for in a difference beside something that is differentiated by.
    twice = 2 * x
    difference = at.exp(twice) - at.exp(x)
    assert Analysis([twice]).scaled(difference) is None and Analysis().scaled(difference) is not None


def test_every_op_in_the_tables_has_forms():
    assert all(ELEMENTWISE.values()) and all(OTHERS.values())


WEIGHTED = {
    "along an axis": lambda x, w: at.exp(x) / (w * at.exp(x)).sum(),
    "of two weights": lambda x, w: w * at.exp(x) / (w * (1 - w) * at.exp(x)).sum(),
    "of two weights in terms": lambda x, w: w * at.exp(x) / (w * (1 - w) * at.exp(x) + at.exp(-x)),
    "in terms": lambda x, w: at.exp(x) / (w * at.exp(x) + at.exp(-x)),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_exponentials_over_sums_in_which_their_weight_is_zero(name):
    """They may be larger than everything in the sum."""
    x, w = at.dvectors("xw")
    values = [np.array([5.0, 1.0, 2.0, -3.0]), np.array([0.0, 0.5, 1.0, 0.25])]
    wanted, found = (
        aesara.function([x, w], WEIGHTED[name](x, w), mode=mode)(*values)
        for mode in (aesara.Mode("py", optimizer=None), RULES)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_weights_that_are_zero_keep_out_what_overflows():
    x, w = at.dvectors("xw")
    f = aesara.function([x, w], w * at.exp(x) / (w * at.exp(x)).sum(), mode=RULES)
    np.testing.assert_allclose(f([2000.0, 1.0, 1.0], [0.0, 1.0, 3.0]), [0, 0.25, 0.75], rtol=1e-15)
