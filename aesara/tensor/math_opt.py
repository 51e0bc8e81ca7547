"""Rewrites of mathematical operations, under the path and with the names that they are documented with.

The rules stand in `aesara.tensor.rewriting.math`; older names of what they are made of are here, too.
"""

from aesara.graph.rewriting.node_rewriters import node_rewriter as local_optimizer
from aesara.graph.rewriting.walking import WalkingGraphRewriter as TopoOptimizer
from aesara.graph.rewriting.walking import in2out, out2in
from aesara.tensor.elementwise.ops import reciprocal as inv
from aesara.tensor.elementwise.ops import true_divide as true_div
from aesara.tensor.rewriting import math as _math
from aesara.tensor.rewriting.math import *  # noqa: F403

__all__ = [*_math.__all__, "TopoOptimizer", "in2out", "inv", "local_optimizer", "out2in", "true_div"]
