"""Factors go into sums where that saves operations, and only there."""

import pytest

import aesara
import aesara.tensor as at
from aesara.graph.rewriting.utils import rewrite_graph

x, y, z, w = at.dvectors("xyzw")
c = at.zvector("c")

FORMS = {
    "cancels in each term": ((y / x + z / x) * x, "(y + z)"),
    "cancels in one term": ((y / x + z) * x, "(y + (z * x))"),
    "a sum is not divided term by term": ((x * y + z) / y, "(((x * y) + z) / y)"),
    "not even where most terms would be shorter": ((x * y + w * y + z) / y, "((((x * y) + (w * y)) + z) / y)"),
    "complex numbers stay": ((1 + at.exp(c) / c) * c, "(([1.] + (exp(c) / c)) * c)"),
}


@pytest.mark.parametrize("name", FORMS)
def test_factors_are_distributed_if_they_cancel(name):
    written, wanted = FORMS[name]
    assert aesara.pprint(rewrite_graph(written, include=("canonicalize",))) == wanted
