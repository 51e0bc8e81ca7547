"""Loops that write their states into the memory of their buffers."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scan.op import Scan
from aesara.tensor.rewriting.inplace import FreeMemory, InplaceRewriter

__all__ = ["ScanInplaceOptimizer"]


class ScanInplaceOptimizer(InplaceRewriter):
    """Lets loops overwrite buffers that nobody else reads, instead of copies of them.

    Natively this changes nothing: states are written where they belong in any case.
    """

    def concerns(self, op: Op) -> bool:
        return isinstance(op, Scan) and not op.destroy_map

    def in_place(self, fgraph: FunctionGraph, node: Apply, memory: FreeMemory) -> Op | None:
        taken = {}
        info = node.op.info
        for k in range(info.n_mit_mot + info.n_mit_sot + info.n_sit_sot):
            position = 1 + info.n_seqs + k
            if node.inputs[position].owner is not None and memory.may_be_taken(node, position):
                memory.take(node, position)
                taken[k] = [position]
        return node.op.overwriting(taken) if taken else None

    def apply(self, fgraph: FunctionGraph) -> int:
        """The number of loops that overwrite buffers now."""
        self.add_requirements(fgraph)
        return super().apply(fgraph)
