"""What node rewriters say of themselves and of what they do."""

import numpy as np

import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.basic import Apply
from aesara.graph.fg import FunctionGraph
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import SequentialNodeRewriter, node_rewriter
from aesara.tensor.rewriting.basic import constant_folding


@node_rewriter([at.exp])
def exp_becomes_log(fgraph, node):
    return [at.log(node.inputs[0])]


@node_rewriter([at.log])
def nothing_happens(fgraph, node):
    return None


def test_a_replacement_is_announced(capsys):
    x = at.dvector("x")
    node = at.exp(x).owner
    fgraph = FunctionGraph([x], node.outputs, clone=False)
    with config.change_flags(optimizer_verbose=True):
        SequentialNodeRewriter(exp_becomes_log, nothing_happens).transform(fgraph, node)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1
    assert said[0].startswith("rewriting: rewrite exp_becomes_log replaces node Elemwise{exp,no_inplace}(x) with [")
    SequentialNodeRewriter(exp_becomes_log, nothing_happens).transform(fgraph, node)
    assert not capsys.readouterr().out


def test_texts_name_what_is_tracked():
    assert str(exp_becomes_log) == "exp_becomes_log"
    assert repr(exp_becomes_log) == "FromFunctionNodeRewriter(exp_becomes_log, [Elemwise{exp,no_inplace}])"


class Forgetful(Op):
    """It puts its result where nobody looks."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0] = np.array(inputs[0])


def test_results_that_are_not_stored_are_not_folded():
    node = Forgetful()(at.constant(1.0)).owner
    assert not constant_folding.transform(FunctionGraph([], node.outputs, clone=False), node)
