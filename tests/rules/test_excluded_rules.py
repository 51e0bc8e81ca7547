"""Who excludes a rule by its name gets the expression as it is without it, also where another rule does the same."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compat.rule_names import EXCLUDED_WITH
from aesara.compile.mode import Mode
from aesara.graph.cloning import clone
from aesara.graph.equality import equal_computations
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import SubstitutionNodeRewriter
from aesara.graph.rewriting.db import EquilibriumDB, RewriteDatabaseQuery
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.graph.traversal import graph_inputs
from aesara.tensor.elementwise.special import logit_ as logit
from aesara.tensor.rewriting.canonizer import local_mul_canonizer

x, y = at.dvectors("x", "y")
m = at.dmatrix("m")
i = at.lvector("i")
VALUES = {
    x: np.array([0.3, 0.7]),
    y: np.array([0.1, -2.0]),
    m: np.array([[0.3, 0.7], [-1.0, 0.5]]),
    i: np.array([1, 0]),
}

#: What each of these rules rewrites, alone or with the rules that do its work among more.
EXPRESSIONS = {
    "ShapeOpt": [at.exp(x).shape[0], (m + m).shape],
    "constant_folding": [x + at.exp(at.constant([1.0, 2.0])), x + at.sin(at.constant([1.0, 2.0]))],
    "local_1msigmoid": [1 - at.sigmoid(x)],
    "local_adv_sub1_adv_inc_sub1": [at.set_subtensor(m[i[:1]], y)[i[:1]]],
    "local_erf_minus_one": [at.erf(x) - 1],
    "local_erf_neg_minus_one": [-1 + -1 * at.erf(x)],
    "local_exp_over_1_plus_exp": [at.exp(x) / (1 + at.exp(x))],
    "local_expm1": [at.exp(x) - 1],
    "local_grad_log_erfc_neg": [at.exp(-at.square(x)) / at.erfc(x), y * at.exp(-x * x) / (2.0 * at.erfc(x))],
    "local_log1p": [at.log(1 + x), at.log(1 + i)],
    "local_log_add_exp": [at.log(at.exp(x) + at.exp(y)), at.log(3 * at.exp(x) + 5)],
    "local_log_sum_exp": [at.log(at.exp(m).sum(axis=1)), at.log(at.dot(at.exp(m), x**2))],
    "local_logit_sigmoid": [logit(at.sigmoid(x))],
    "local_merge_consecutive_specify_shape": [at.specify_shape(at.specify_shape(m, (2, None)), (None, 2))],
    "local_one_minus_erf": [1 - at.erf(x)],
    "local_one_minus_erfc": [1 - at.erfc(x)],
    "local_one_plus_erf": [1 + at.erf(x)],
    "local_reciprocal_1_plus_exp": [1 / (1 + at.exp(x)), at.reciprocal(1 + at.exp(-x))],
    "local_replace_AdvancedSubtensor": [m[i]],
    "local_sigm_times_exp": [at.exp(x) * at.sigmoid(-x), -at.exp(x) * y * at.sigmoid(-x)],
    "local_sigmoid_logit": [at.sigmoid(at.log(x / (1 - x)))],
    "local_sum_prod_div_dimshuffle": [(m / x).sum(axis=0)],
}


def rewritten(expression, *excluded):
    inputs = list(graph_inputs([expression]))
    (copy,) = clone(inputs, [expression], copy_inputs=False)[1]
    return rewrite_graph(copy, include=("fast_run",), exclude=("inplace", *excluded))


@pytest.mark.parametrize("name, k", [(name, k) for name, made in EXPRESSIONS.items() for k in range(len(made))])
def test_a_rule_that_is_excluded_does_nothing(name, k):
    expression = EXPRESSIONS[name][k]
    applied, left_out = rewritten(expression), rewritten(expression, name)
    assert not equal_computations([applied], [left_out])
    f = aesara.function(list(VALUES), [expression, left_out], mode=Mode("py", None), on_unused_input="ignore")
    np.testing.assert_allclose(*f(*VALUES.values()), rtol=1e-12)


def test_what_stands_for_rules_exists():
    known = {reason for reason, _ in local_mul_canonizer.external_simplifiers}
    for database in (databases.canonicalize, databases.stabilize, databases.specialize):
        known |= database._names
    assert {name for names in EXCLUDED_WITH.values() for name in names} <= known
    assert set(EXCLUDED_WITH) == set(EXPRESSIONS)


def test_parts_of_the_canonizer_are_left_out_in_copies():
    assert local_mul_canonizer.without(["nothing"]) is local_mul_canonizer
    assert len(local_mul_canonizer.external_simplifiers) == 1 + len(
        local_mul_canonizer.without(["logistic"]).external_simplifiers
    )


def test_the_option_excludes_as_modes_do():
    def ops(**options):
        with aesara.config.change_flags(**options):
            f = aesara.function([x], at.exp(x) - 1, mode="FAST_RUN")
        return {str(node.op) for node in f.maker.fgraph.apply_nodes}

    assert ops() == {"Elemwise{expm1,no_inplace}"}
    assert "Elemwise{expm1,no_inplace}" not in ops(optimizer_excluding="local_expm1:inplace")


def test_databases_of_ones_own():
    database = EquilibriumDB()
    database.register("general", SubstitutionNodeRewriter(at.exp, at.log), "t")
    database.register("more", SubstitutionNodeRewriter(at.exp, at.sin))
    database.excluded_with = {"special": ("general", "unknown"), "general": ("more",)}
    database.included_with = {"general": ("more", "unknown")}
    fgraph = FunctionGraph([x], [at.exp(x)])
    database.query(RewriteDatabaseQuery(["t"], exclude=["special"])).rewrite(fgraph)
    assert fgraph.outputs[0].owner.op == at.exp
    for query, op in (("+t", at.log), ("+t +general", at.sin), ("+t +general -general", at.exp)):
        fgraph = FunctionGraph([x], [at.exp(x)])
        database.query(*query.split()).rewrite(fgraph)
        assert fgraph.outputs[0].owner.op == op
