"""`assume` goes when rules have seen what it says."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.linear_algebra.assume import Assume
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

__all__ = ["local_remove_assume"]


@rules.specialize("fast_compile")
@node_rewriter([Assume])
def local_remove_assume(fgraph, node):
    """A matrix with what is known of it -> the matrix."""
    return [node.inputs[0]]
