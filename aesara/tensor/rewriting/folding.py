"""Evaluation of what depends on constants only."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Constant
from aesara.graph.rewriting.basic import in2out, node_rewriter
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: Results of more bytes than this, and than twice the inputs, are left to be computed.
LARGEST_FOLDED = 2**20


@node_rewriter(None, operands=[Constant])
def constant_folding(fgraph, node):
    """Replace a node whose inputs are all constants with its values."""
    for var in node.inputs:
        if not isinstance(var, Constant):
            return False
    if not node.op.do_constant_folding(fgraph, node):
        return False
    if is_huge(node):
        return False
    storage = [[None] for _ in node.outputs]
    try:
        with np.errstate(all="ignore"):
            node.op.perform(node, [var.data for var in node.inputs], list(storage))
    except Exception:
        # What fails now would fail when the function runs: there the error belongs.
        return False
    results = []
    for output, (value,) in zip(node.outputs, storage):
        if value is None and hasattr(output.type, "dtype"):
            return False  # `perform` has left it out: an error when the function runs
        results.append(output.type.make_constant(value))
    return results


def is_huge(node: Any) -> bool:
    """Whether the outputs are known to be large, and much larger than the inputs."""
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
rules.canonicalize(constant_folding, "topo_constant_folding")
rules.stabilize(constant_folding, "topo_constant_folding")
rules.specialize(constant_folding, "topo_constant_folding")

__all__ = ["constant_folding", "topo_constant_folding"]
