"""Early passes look once more at what late passes have changed."""

import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import EquilibriumGraphRewriter, node_rewriter
from aesara.graph.rewriting.db import EquilibriumDB
from aesara.graph.rewriting.settling import Changes, Settling, SettlingDB, Watch


@node_rewriter([at.exp])
def exp_to_sin(fgraph, node):
    return [at.sin(node.inputs[0])]


@node_rewriter([at.cos])
def cos_to_exp(fgraph, node):
    return [at.exp(node.inputs[0])]


def equilibrium(rule):
    return EquilibriumGraphRewriter([rule], max_use_ratio=10)


def test_only_what_has_changed_is_looked_at():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.exp(x), at.cos(x)], clone=False)
    early, late = equilibrium(exp_to_sin), equilibrium(cos_to_exp)
    settling = Settling({"early": early, "late": late})
    settling.add_requirements(fgraph)
    Watch("early").apply(fgraph)
    late.apply(fgraph)
    assert [out.owner.op for out in fgraph.outputs] == [at.exp, at.exp]
    settling.apply(fgraph)
    assert [out.owner.op for out in fgraph.outputs] == [at.exp, at.sin]
    assert not [feature for feature in fgraph._features if isinstance(feature, Changes)]


def test_a_pass_looks_at_what_those_before_it_change_now():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.cos(x)], clone=False)
    first, second = equilibrium(cos_to_exp), equilibrium(exp_to_sin)
    settling = Settling({"first": first, "second": second})
    settling.add_requirements(fgraph)
    Watch("first").apply(fgraph)
    fgraph.replace(fgraph.outputs[0], at.cos(x + 1))
    Watch("second").apply(fgraph)
    settling.apply(fgraph)
    assert fgraph.outputs[0].owner.op == at.sin


def test_nothing_is_done_without_a_watch():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.exp(x)], clone=False)
    Settling({"early": equilibrium(exp_to_sin)}).apply(fgraph)
    assert fgraph.outputs[0].owner.op == at.exp


def test_the_database_asks_its_databases():
    first, second = EquilibriumDB(), EquilibriumDB()
    first.register("exp_to_sin", exp_to_sin, "wanted")
    second.register("cos_to_exp", cos_to_exp, "unwanted")
    first.name, second.name = "first", "second"
    ((name, only),) = SettlingDB(first, second).query("+wanted").rewriters.items()
    assert name == "first"
    assert list(only.get_node_rewriters()) == [exp_to_sin]


def test_in_the_list_of_passes():
    x = at.dvector("x")
    late = equilibrium(cos_to_exp)
    mode = get_mode("FAST_RUN").register((late, 2.5))
    fgraph = FunctionGraph([x], [at.log(at.cos(x))])
    mode.optimizer.rewrite(fgraph)
    assert fgraph.outputs[0] is fgraph.inputs[0]
