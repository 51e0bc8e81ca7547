"""Older path of `aesara.tensor.rewriting.math`, with older names of the classes and functions of rules."""

from aesara.compat.moved_modules import moved_module
from aesara.graph.rewriting.node_rewriters import node_rewriter as local_optimizer
from aesara.graph.rewriting.walking import WalkingGraphRewriter as TopoOptimizer
from aesara.graph.rewriting.walking import in2out, out2in
from aesara.tensor.elementwise.ops import reciprocal as inv
from aesara.tensor.elementwise.ops import true_divide as true_div
from aesara.tensor.rewriting import math as _math

__all__ = [*_math.__all__, "TopoOptimizer", "in2out", "inv", "local_optimizer", "out2in", "true_div"]

__getattr__ = moved_module("aesara.tensor.math_opt", _math)
