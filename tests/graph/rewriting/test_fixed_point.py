"""Early passes look once more at what late passes have changed."""

import itertools

import pytest

import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.graph.features import Feature, ReplaceValidate, attach_once
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import EquilibriumGraphRewriter, node_rewriter
from aesara.graph.rewriting.db import EquilibriumDB
from aesara.graph.rewriting.fixed_point import MOST_ROUNDS, Changes, ChangesSincePass, Effect, Settling, SettlingDB
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.tensor.rewriting.blas import blas_optdb


@node_rewriter([at.exp])
def exp_to_sin(fgraph, node):
    return [at.sin(node.inputs[0])]


@node_rewriter([at.cos])
def cos_to_exp(fgraph, node):
    return [at.exp(node.inputs[0])]


def equilibrium(rule):
    return EquilibriumGraphRewriter([rule], max_use_ratio=10)


class Replacing(GraphRewriter):
    """Replaces one operation by another wherever it finds it, and counts its turns."""

    def __init__(self, old, new, idempotent):
        self.old, self.new, self.idempotent, self.turns = old, new, idempotent, 0

    def add_requirements(self, fgraph):
        attach_once(fgraph, ReplaceValidate)

    def apply(self, fgraph):
        self.turns += 1
        for node in fgraph.toposort():
            if node.op == self.old:
                fgraph.replace_validate(node.outputs[0], self.new(*node.inputs))


@pytest.mark.parametrize("idempotent", [False, True])
def test_rewriters_of_graphs_take_turns_until_none_finds_anything(idempotent):
    x = at.dvector("x")
    chain = [at.exp, at.sin, at.cos, at.tan]
    # Each makes work for the one before it, and the rule for nodes for the last.
    rewriters = [Replacing(old, new, idempotent) for old, new in itertools.pairwise(chain)][::-1]
    fgraph = FunctionGraph([x], [at.sinh(x)], clone=False)

    @node_rewriter([at.sinh])
    def sinh_to_exp(fgraph, node):
        return [at.exp(node.inputs[0])]

    equilibrium = EquilibriumGraphRewriter([*rewriters, sinh_to_exp], max_use_ratio=10)
    equilibrium.rewrite(fgraph)
    assert fgraph.outputs[0].owner.op == at.tan
    turns = [rewriter.turns for rewriter in rewriters]
    equilibrium.rewrite(fgraph)
    assert [rewriter.turns for rewriter in rewriters] == [n + 1 for n in turns]  # nothing is left to do
    # An idempotent one is not asked whether it has more to do after its own change, which here is the last one.
    assert turns == [4 if idempotent else 5, 4, 4]


def test_only_what_has_changed_is_looked_at():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.exp(x), at.cos(x)], clone=False)
    early, late = equilibrium(exp_to_sin), equilibrium(cos_to_exp)
    settling = Settling({"early": early, "late": late})
    settling.add_requirements(fgraph)
    ChangesSincePass("early").apply(fgraph)
    late.apply(fgraph)
    assert [out.owner.op for out in fgraph.outputs] == [at.exp, at.exp]
    settling.apply(fgraph)
    assert [out.owner.op for out in fgraph.outputs] == [at.exp, at.sin]
    assert not [feature for feature in fgraph._features if isinstance(feature, (Changes, Effect))]


def settled(x, *passes):
    """The results of a graph of one cosine after passes, and after settling; what the first saw in each round."""
    rounds = []
    first = passes[0].apply

    def noting(fgraph, start_from=None):
        rounds.append(str(fgraph.outputs[0].owner))
        return first(fgraph, start_from)

    fgraph = FunctionGraph([x], [at.cos(x)], clone=False)
    named = {str(k): each for k, each in enumerate(passes)}
    for name, each in named.items():
        each.apply(fgraph)
        ChangesSincePass(name).apply(fgraph)
    passes[0].apply = noting
    Settling(named).apply(fgraph)
    return fgraph.outputs[0], rounds


def test_a_pass_looks_at_what_those_before_it_change_now():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.cos(x)], clone=False)
    first, second = equilibrium(cos_to_exp), equilibrium(exp_to_sin)
    settling = Settling({"first": first, "second": second})
    settling.add_requirements(fgraph)
    ChangesSincePass("first").apply(fgraph)
    fgraph.replace(fgraph.outputs[0], at.cos(x + 1))
    ChangesSincePass("second").apply(fgraph)
    settling.apply(fgraph)
    assert fgraph.outputs[0].owner.op == at.sin


def test_it_goes_on_while_it_has_an_effect():
    @node_rewriter([at.sin])
    def sin_to_tan(fgraph, node):
        return [at.tan(node.inputs[0])]

    x = at.dvector("x")
    # Each pass finds what the one behind it has made one round before.
    out, rounds = settled(x, equilibrium(sin_to_tan), equilibrium(exp_to_sin), equilibrium(cos_to_exp))
    assert out.owner.op == at.tan
    assert rounds == ["Elemwise{exp,no_inplace}(x)", "Elemwise{sin,no_inplace}(x)"]


def test_forms_that_take_turns_are_no_effect():
    @node_rewriter([at.exp])
    def exp_to_cos(fgraph, node):
        return [at.cos(node.inputs[0])]

    x = at.dvector("x")
    out, rounds = settled(x, equilibrium(exp_to_cos), equilibrium(cos_to_exp))
    assert out.owner.op == at.exp
    assert rounds == ["Elemwise{exp,no_inplace}(x)"]


def test_what_never_settles_is_left():
    @node_rewriter([at.exp])
    def one_more(fgraph, node):
        return [at.cos(node.inputs[0] + 1)]

    x = at.dvector("x")
    _, rounds = settled(x, equilibrium(one_more), equilibrium(cos_to_exp))
    assert len(rounds) == MOST_ROUNDS


class TestEffect:
    x, y = at.dvectors("x", "y")

    def effect(self, *steps):
        """Whether replacements, each of a result by what a function of the graph gives, have come to nothing."""
        fgraph = FunctionGraph([self.x, self.y], [at.exp(at.sin(self.x) * 2), at.sin(self.x) + self.y], clone=False)
        effect = Effect()
        fgraph.attach_feature(effect)
        for old, new in steps:
            fgraph.replace(old(fgraph), new(fgraph))
        return not effect.is_identity(fgraph)

    def test_nothing_happened(self):
        assert not self.effect()

    def test_an_equal_computation(self):
        def other(fgraph):
            return at.exp(at.sin(self.x) * 2)

        assert not self.effect((lambda fgraph: fgraph.outputs[0], other))

    def test_there_and_back(self):
        there = (lambda fgraph: fgraph.outputs[0].owner.inputs[0], lambda fgraph: at.sin(self.x) + at.sin(self.x))
        back = (lambda fgraph: fgraph.outputs[0].owner.inputs[0], lambda fgraph: at.sin(self.x) * 2)
        assert self.effect(there)
        assert not self.effect(there, back)

    def test_other_constants_and_inputs_are_an_effect(self):
        def product(fgraph):
            return fgraph.outputs[0].owner.inputs[0]

        assert self.effect((product, lambda fgraph: at.sin(self.x) * 3))
        assert self.effect((product, lambda fgraph: at.sin(self.y) * 2))
        assert not self.effect((product, lambda fgraph: at.sin(self.x) * 2))

    def test_inputs_of_what_has_left_are_those_at_the_beginning(self):
        # The product changes in place before it leaves.
        inner = (lambda fgraph: fgraph.outputs[0].owner.inputs[0].owner.inputs[0], lambda fgraph: at.cos(self.x))
        outer = (lambda fgraph: fgraph.outputs[0].owner.inputs[0], lambda fgraph: at.cos(self.x) * 2)
        back = (lambda fgraph: fgraph.outputs[0].owner.inputs[0], lambda fgraph: at.sin(self.x) * 2)
        assert self.effect(inner, outer)
        assert not self.effect(inner, outer, back)

    def test_deep_graphs(self):
        def deep(fgraph):
            out = at.sin(self.x) * 2
            for _ in range(5000):
                out = at.exp(out)
            return out

        assert self.effect((lambda fgraph: fgraph.outputs[0], deep))


def test_answers_that_come_late():
    class Oracle(Feature):
        """Knows more each time."""

        def __init__(self):
            self.late = [[], [asked]]

        def ask_again(self, fgraph):
            return self.late.pop() if self.late else []

    @node_rewriter([at.exp])
    def exp_of_known(fgraph, node):
        return [at.sin(node.inputs[0])] if not oracle.late or len(oracle.late) == 1 else False

    x = at.dvector("x")
    asked = at.tanh(x)
    oracle = Oracle()
    fgraph = FunctionGraph([x], [at.exp(asked), at.exp(x)], clone=False, features=[oracle])
    early = equilibrium(exp_of_known)
    early.apply(fgraph)
    ChangesSincePass("early").apply(fgraph)
    assert [out.owner.op for out in fgraph.outputs] == [at.exp, at.exp]
    Settling({"early": early}).apply(fgraph)
    assert [out.owner.op for out in fgraph.outputs] == [at.sin, at.exp]


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


class Counting(GraphRewriter):
    """A pass over the whole graph that counts its applications."""

    def __init__(self, name, is_worth_it):
        self.name, self.is_worth_it, self.applied = name, is_worth_it, 0

    def is_worth_repeating(self, fgraph, changed):
        self.changed = {str(node.op.scalar_op) for node in changed}
        return bool(changed) and self.is_worth_it

    def apply(self, fgraph):
        self.applied += 1


def test_passes_over_whole_graphs_say_what_they_are_repeated_for():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.sin(at.cos(x))], clone=False)
    passes = [Counting("asked", True), Counting("never", False)]
    for each in passes:
        ChangesSincePass(each.name).apply(fgraph)
    fgraph.replace(fgraph.outputs[0].owner.inputs[0], at.exp(x))
    Settling({each.name: each for each in passes}).apply(fgraph)
    assert [each.applied for each in passes] == [1, 0]
    assert passes[0].changed == {"exp", "sin"}  # what is new and what uses it


def test_products_are_looked_for_where_something_has_changed():
    x, matrix, other = at.dvector("x"), at.dmatrix("matrix"), at.dmatrix("other")
    product, plain = at.dot(matrix, x), at.exp(x) * 2
    fgraph = FunctionGraph([x, matrix, other], [product + x, at.tanh(at.dot(matrix, other)), plain], clone=False)
    passes = blas_optdb.query("+fast_run")
    assert passes.is_worth_repeating(fgraph, [product.owner])  # the sum above
    assert passes.is_worth_repeating(fgraph, [fgraph.outputs[0].owner])
    assert not passes.is_worth_repeating(fgraph, [plain.owner, fgraph.outputs[1].owner])
    passes.rewrite(fgraph)
    assert not passes.is_worth_repeating(fgraph, fgraph.toposort())
    assert not passes.is_worth_repeating(FunctionGraph([x], [at.exp(x) + x], clone=False), [plain.owner])
