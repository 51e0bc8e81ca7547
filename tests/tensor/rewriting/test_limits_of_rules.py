"""Limits on the number of operands that rules look at."""

import pytest

import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.tensor.rewriting.shape import ShapeFeature
from tests.rules.registered import node_rewriters

x, y = at.dvectors("x", "y")
A, B, C = at.dmatrices("A", "B", "C")


def others(count, kind=at.dvector):
    return [kind(f"v{k}") for k in range(count)]


#: The number of operands up to which a rule is applied, and an expression with as many.
LIMITS = {
    "local_add_of_dots": (16, lambda n: at.add(A.dot(B), A.dot(C), *others(n - 2, at.dmatrix))),
    "local_complement": (16, lambda n: at.add(1, -at.tanh(x), *others(n - 2))),
    "local_pythagorean_pair": (16, lambda n: at.add(at.sin(x) ** 2, at.cos(x) ** 2, *others(n - 2))),
    "local_softplus_of_opposite": (64, lambda n: at.add(x, at.softplus(-x), *others(n - 2))),
    "local_abs_lift": (8, lambda n: abs(at.mul(*others(n)))),
    "local_reduce_stack": (32, lambda n: at.sum(at.stack(others(n)), axis=0)),
    "local_log_add_exp": (16, lambda n: at.log(at.add(*(at.exp(v) for v in others(n))))),
}


def fires(name, expression):
    """Return whether a rule fires on any node of a graph."""
    rewriter, _ = node_rewriters()[name]
    fgraph = FunctionGraph(outputs=[expression], clone=True, features=[ShapeFeature()])
    return any(rewriter.transform(fgraph, node) for node in fgraph.toposort())


@pytest.mark.parametrize("name", LIMITS)
def test_rules_apply_up_to_their_limits(name):
    most, build = LIMITS[name]
    for count, expected in ((3, True), (most - 1, True), (most, True), (most + 1, False)):
        assert fires(name, build(count)) == expected, count
