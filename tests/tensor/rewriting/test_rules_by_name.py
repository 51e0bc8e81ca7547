"""Rules that do more where a mode names them: they rely on the program for what the graph does not show."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compat.rule_names import EXCLUDED_WITH, INCLUDED_WITH
from aesara.compile.mode import Mode, get_mode
from aesara.graph.equality import equal_computations
from aesara.graph.rewriting.databases import canonicalize
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.subtensor import inc_subtensor, set_subtensor

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
    name = "local_adv_sub1_adv_inc_sub1"
    mode = get_mode("FAST_RUN").including(name).excluding(name)
    assert "AdvancedIncSubtensor1" in ops(aesara.function([x, y, i], set_subtensor(x[i], y)[i], mode=mode))


def test_what_a_rule_gives_is_right_for_every_program_where_it_is_named():
    """Modes that name these rules do not give up what the default promises."""
    f = compiled([x, k, v], set_subtensor(x[k], v)[k], "local_subtensor_inc_subtensor")
    np.testing.assert_array_equal(f(X, 1, V[:1]), np.ones(5))
    assert not compiled([x], x <= x, "local_useless_elemwise_comparison")([[np.nan]]).any()
    np.testing.assert_allclose(compiled([v], at.arccosh(at.cosh(v)), "local_func_inv")(-V), V, rtol=1e-12)


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


@pytest.mark.parametrize(
    "name, formulas",
    [
        ("local_subtensor_make_vector", [at.stack([s, s + 1])[1], at.stack([s, s + 1])[[1, 0]]]),
        (
            "local_writes_to_same_place",
            [set_subtensor(set_subtensor(x[1], s)[1], s * 2), inc_subtensor(set_subtensor(x[1], s)[1], s * 2)],
        ),
        (
            "local_write_other_part_of_zeros",
            [
                set_subtensor(set_subtensor(at.zeros_like(x)[:2], x[:2])[2:], -x[2:]),
                inc_subtensor((x + set_subtensor(at.zeros_like(x)[:2], x[:2]))[2:], -x[2:]),
            ],
        ),
    ],
)
def test_rules_of_one_name_are_left_out_together(name, formulas):
    assert len(canonicalize.__db__[name]) == len(formulas)
    for formula in formulas:
        with_rules, without = (rewrite_graph(formula, include=("canonicalize",), exclude=e) for e in ((), (name,)))
        assert not equal_computations([with_rules], [without])
