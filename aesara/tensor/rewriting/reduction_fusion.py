"""Elementwise operations that are computed together with the reduction of their result.

Native code does that below the graph, for all that a reduction reads. This is for those who ask for it in the graph:
``mode.including("fusion")`` or ``mode.including("local_careduce_fusion")``.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.fused_reduction import FusedReduction


@node_rewriter([CAReduce])
def local_careduce_fusion(fgraph: FunctionGraph, node: Apply) -> Any:
    """A reduction of an elementwise operation that nothing else reads, as one operation."""
    (x,) = node.inputs
    inner = x.owner
    if inner is None or not isinstance(inner.op, Elemwise) or len(inner.outputs) != 1 or inner.op.inplace_pattern:
        return False
    if len(fgraph.clients[x]) != 1:
        return False
    fused = FusedReduction(node.op, inner.op, [v.type.dtype for v in inner.inputs])(*inner.inputs)
    return [fused] if fused.type == node.outputs[0].type else False
