"""Rules that do more where a mode names them: they rely on the program for what the graph does not show."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode, get_mode
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.rewriting.registration import EXCLUDED_WITH, INCLUDED_WITH
from aesara.tensor.subtensor import set_subtensor

X = np.arange(20.0).reshape(4, 5)
V = np.arange(1.0, 6.0)
x, y = at.dmatrices("x", "y")
v, s = at.dvector("v"), at.dscalar("s")
i, k = at.lvector("i"), at.lscalar("k")


def ops(f):
    return [type(node.op).__name__ for node in f.maker.fgraph.toposort()]


def compiled(inputs, output, *names):
    mode = get_mode("FAST_RUN").including(*names)
    return aesara.function(inputs, output, mode=mode, on_unused_input="ignore")


def test_all_are_left_out_with_the_rules_whose_names_take_them_in():
    for name, more in INCLUDED_WITH.items():
        assert set(more) <= set(EXCLUDED_WITH[name])
    mode = get_mode("FAST_RUN").including("local_subtensor_inc_subtensor").excluding("local_subtensor_inc_subtensor")
    assert "IncSubtensor" in ops(aesara.function([x, k, v], set_subtensor(x[k], v)[k], mode=mode))


@pytest.mark.parametrize("mode", [get_mode("FAST_RUN"), Mode("py", "fast_run")], ids=["native", "reference"])
def test_what_was_written_to_a_part(mode):
    part = set_subtensor(x[k], v)[k]
    checked = aesara.function([x, k, v], part, mode=mode)
    np.testing.assert_array_equal(checked(X, 1, V[:1]), np.ones(5))
    trusting = aesara.function([x, k, v], part, mode=mode.including("local_subtensor_inc_subtensor"))
    assert ops(trusting) == ["DeepCopyOp"]
    np.testing.assert_array_equal(trusting(X, 1, V), V)


def test_what_types_say_is_repeated_is_repeated():
    for value in (s, v[:1].dimshuffle(0, "x"), v):
        f = compiled([x, k, v, s], set_subtensor(x[:k], value)[:k], "local_subtensor_inc_subtensor")
        g = aesara.function([x, k, v, s], set_subtensor(x[:k], value)[:k], on_unused_input="ignore")
        np.testing.assert_array_equal(f(X, 2, V, 3.0), g(X, 2, V, 3.0))


@pytest.fixture
def rows():
    return compiled([x, y, i], set_subtensor(x[i], y)[i], "local_adv_sub1_adv_inc_sub1")


def test_what_was_written_to_rows(rows):
    assert not any("Subtensor1" in op for op in ops(rows))
    np.testing.assert_array_equal(rows(X, -X[:2], [2, -1]), -X[:2])
    np.testing.assert_array_equal(rows(X, -X[:0], []), X[:0])


@pytest.mark.parametrize(
    "value, positions",
    [(X[:2], [0, 4]), (X[:2], [0, -5]), (X[:2], [1, 1]), (X[:2], [1, -3]), (X[:1], [0, 1]), (X[:2, :1], [0, 1])],
    ids=["behind", "before", "twice", "twice, from both ends", "repeated", "repeated in each row"],
)
def test_rows_that_cannot_be_read_back(rows, value, positions):
    with pytest.raises(AssertionError, match="out of range, repeated, or written twice"):
        rows(X, value, positions)


def test_rows_without_assertions():
    expression = set_subtensor(x[i], y.astype("float32"))[i]
    f = compiled([x, y, i], expression, "local_adv_sub1_adv_inc_sub1", "unsafe")
    assert set(ops(f)) == {"Elemwise"}
    np.testing.assert_array_equal(f(X, X[[0, 1, 1]], [3, 2, 2]), X[[0, 1, 1]])


def test_the_last_statement_about_a_length():
    m, n = at.lscalars("m", "n")
    twice = at.specify_shape(at.specify_shape(x, (m, 5)), (n, None))
    (merged, *lengths) = rewrite_graph(
        twice, include=("canonicalize", "local_merge_consecutive_specify_shape"), clone=False
    ).owner.inputs
    assert merged is x and lengths[0] is n and lengths[1].data == 5
    kept = rewrite_graph(twice, include=("canonicalize",), clone=False)
    assert kept.owner.inputs[0].owner.op == kept.owner.op


def test_numbers_that_are_compared_with_themselves():
    for comparison in (at.le, at.ge):
        f = compiled([x], comparison(x, x), "local_useless_elemwise_comparison")
        assert f(X).all() and "Elemwise" not in ops(f)
        f = aesara.function([x], comparison(x, x))
        assert not f([[np.nan]]).any()
    f = compiled([x], [at.eq(x, x), at.neq(x, x)], "local_useless_elemwise_comparison")
    assert [not one.any() for one in f([[np.nan]])] == [True, False]


@pytest.mark.parametrize(
    "build, value, outside, expected",
    [
        (lambda: at.arccosh(at.cosh(v)), V, -V, V),
        (lambda: at.cosh(at.arccosh(v)), V, -V, [np.nan] * 5),
        (lambda: at.tanh(at.arctanh(v)), V / 5, V + 1, [np.nan] * 5),
    ],
)
def test_inverse_functions(build, value, outside, expected):
    f = compiled([v], build(), "local_func_inv")
    assert ops(f) == ["DeepCopyOp"]
    np.testing.assert_array_equal(f(value), value)
    np.testing.assert_allclose(aesara.function([v], build())(outside), expected, rtol=1e-15)


@pytest.mark.parametrize(
    "build",
    [
        lambda: (x / s).prod(),
        lambda: (x / s).prod(axis=0),
        lambda: (x / v).prod(axis=0),
        lambda: (x / v).prod(),
        lambda: (x.astype("float32") / v.astype("float32")).prod(axis=0),
        lambda: (x.T / v.dimshuffle(0, "x")).prod(axis=1),
    ],
)
def test_products_of_quotients(build):
    inputs = [x, v, s]
    f = compiled(inputs, build(), "local_sum_prod_div_dimshuffle")
    g = aesara.function(inputs, build(), on_unused_input="ignore", mode=Mode("py", None))
    assert "Prod" in ops(f) and ops(f).index("Prod") < len(ops(f)) - 1
    for a, b, c in ((X + 1, V, -1.5), (X[:0], V, 0.0), (X + 1, -V, np.inf), (-X[:3], 0 * V, 0.0)):
        np.testing.assert_allclose(f(a, b, c), g(a, b, c), rtol=1e-5)


def test_products_of_quotients_that_are_left():
    for build in ((x / y).prod(), (x.astype("float16") / s.astype("float16")).prod()):
        f = compiled([x, y, s], build, "local_sum_prod_div_dimshuffle")
        assert "Elemwise" in ops(f)[: ops(f).index("Prod")]
