"""Rules for operations on lists in place."""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.databases import optdb
from aesara.tensor.rewriting.inplace import InplaceWriter
from aesara.tensor.rewriting.registration import Rules
from aesara.typed_list.basic import Append, Extend, Insert, Remove, Reverse

__all__ = ["optdb", "typed_list_inplace_rewrite"]

rules = Rules()


@node_rewriter([Append, Extend, Insert, Reverse, Remove])
def typed_list_inplace_rewrite(fgraph: FunctionGraph, node: Apply) -> Any:
    """``append(x, y)`` -> ``append{inplace}(x, y)``, and likewise for other modifications, if `x` is not read
    afterwards
    """
    if node.op.inplace:
        return False
    return [type(node.op)(inplace=True)(*node.inputs)]


rules.into(
    optdb,
    InplaceWriter(typed_list_inplace_rewrite),
    "fast_run",
    "inplace",
    name=typed_list_inplace_rewrite.name,
    position=60,
)
