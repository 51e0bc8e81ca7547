"""Elementwise operations that are computed together with the reduction of their result.

Native code does that below the graph, for all that a reduction reads. This is for those who ask for it in the graph:
``mode.including("fusion")`` or ``mode.including("local_careduce_fusion")``.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.matching import ops
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.fused_reduction import FusedReduction
from aesara.tensor.rewriting.rows import row


def _fused(f: Any, g: Any, x: list[Variable], out: Variable) -> Variable | None:
    """one operation"""
    fused = FusedReduction(f, g, [v.type.dtype for v in x])(*x)
    return fused if fused.type == out.type else None


local_careduce_fusion = row(
    "local_careduce_fusion",
    (ops(CAReduce, name="f"), (ops(Elemwise, name="g", inplace_pattern=lambda pattern: not pattern), "**x")),
    _fused,
    each=None,
    single_client=True,
    why="sum(exp(x)) -> one operation, and so for any reduction of an elementwise operation that nothing else reads",
)
