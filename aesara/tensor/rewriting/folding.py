"""Evaluation of what depends on constants only."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Constant
from aesara.graph.rewriting.basic import in2out, node_rewriter
from aesara.scalar.exponential import Exp, Expm1, Sigmoid, Softplus
from aesara.scalar.normal import Ndtr
from aesara.scalar.op import ScalarOp
from aesara.scalar.special import Erf, Erfc
from aesara.scalar.trigonometric import Cosh, Sinh, Tanh
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.reductions.softmax import Softmax
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: Results of more bytes than this, and than twice the inputs, are left to be computed.
LARGEST_FOLDED = 2**20


@node_rewriter(None, operands=[Constant])
def constant_folding(fgraph, node):
    """Replace a node whose inputs are all constants with its values."""
    return _folded(fgraph, node) or False


@node_rewriter(None, operands=[Constant])
def lossless_constant_folding(fgraph, node):
    """Replace a node whose inputs are all constants with its values, unless a more stable form may need the inputs."""
    if not any(client != "output" for out in node.outputs for client, _ in fgraph.clients[out]):
        return _folded(fgraph, node) or False
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    if isinstance(op, IN_STABLE_FORMS):
        return False if np.any(_regular(node)) else _folded(fgraph, node) or False
    results = _folded(fgraph, node)
    if results is None or (isinstance(op, ScalarOp) and np.any(_out_of_range(results[0].data) & _regular(node))):
        return False
    return results


#: The same after stable forms have been looked for.
late_constant_folding = node_rewriter(None, operands=[Constant])(constant_folding.fn)
late_constant_folding.name = "late_constant_folding"
# By this name modes know the rule that folds constants from the beginning.
lossless_constant_folding.name = constant_folding.name


def _folded(fgraph: Any, node: Any) -> list[Constant] | None:
    """The constants that take the place of a node; None if it is to stay."""
    for var in node.inputs:
        if not isinstance(var, Constant):
            return None
    if not node.op.do_constant_folding(fgraph, node):
        return None
    if is_huge(node):
        return None
    storage = [[None] for _ in node.outputs]
    try:
        with np.errstate(all="ignore"):
            node.op.perform(node, [var.data for var in node.inputs], list(storage))
    except Exception:
        # What fails now would fail when the function runs: there the error belongs.
        return None
    results = []
    for output, (value,) in zip(node.outputs, storage):
        if value is None and hasattr(output.type, "dtype"):
            return None  # `perform` has left it out: an error when the function runs
        results.append(output.type.make_constant(value))
    return results


#: Ops that have stable forms together with what reads them: of `log(1 + exp(-50))` nothing is left after the sum.
IN_STABLE_FORMS = (Exp, Expm1, Sigmoid, Softplus, Tanh, Sinh, Cosh, Erf, Erfc, Ndtr, Softmax)


def _regular(node: Any) -> Any:
    """Return a mask of the elements for which all operands are known, finite and not 0."""
    regular: Any = True
    for var in node.inputs:
        if not isinstance(var, Constant):
            return False
        regular = regular & np.isfinite(var.data) & (var.data != 0)
    return regular


def _out_of_range(value: Any) -> Any:
    """Return a mask of the floating-point numbers that are infinite, NaN, 0, or subnormal."""
    if value.dtype.kind != "f":
        return False
    return np.isinf(value) | ~(np.abs(value) >= np.finfo(value.dtype).tiny)


def is_huge(node: Any) -> bool:
    """Return whether the outputs are known to be large, and much larger than the inputs."""
    if isinstance(node.op, Alloc):
        size = float(np.prod([float(n.data) for n in node.inputs[1:]]))
        return size * np.dtype(node.outputs[0].type.dtype).itemsize > LARGEST_FOLDED
    sizes = [getattr(var.data, "nbytes", 0) for var in node.inputs]
    total = 0.0
    for output in node.outputs:
        shape = getattr(output.type, "shape", ())
        if shape is not None and None not in shape and hasattr(output.type, "dtype"):
            total += float(np.prod([float(n) for n in shape])) * np.dtype(output.type.dtype).itemsize
    return total > max(LARGEST_FOLDED, 2 * sum(sizes))


topo_constant_folding = in2out(constant_folding, name="topo_constant_folding")
# `log(1 + exp(800))` is 800 if stable forms are found before the exponential is infinite.
rules.canonicalize(lossless_constant_folding, "topo_constant_folding")
rules.stabilize(lossless_constant_folding, "topo_constant_folding")
rules.specialize(late_constant_folding, "topo_constant_folding", "fast_compile")

__all__ = ["constant_folding", "topo_constant_folding"]
