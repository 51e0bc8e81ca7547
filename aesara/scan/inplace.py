"""In-place loops: states are written into the memory of their buffers."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scan.op import Scan
from aesara.tensor.rewriting.inplace import FreeMemory, InplaceRewriter

__all__ = ["ScanInplaceOptimizer"]


class ScanInplaceOptimizer(InplaceRewriter):
    """Lets loops overwrite buffers that no other node reads, instead of copying them.

    This concerns loops that run in Python; native code does so in any case.
    """

    def concerns(self, op: Op) -> bool:
        return isinstance(op, Scan) and not op.destroy_map

    def in_place(self, fgraph: FunctionGraph, node: Apply, memory: FreeMemory) -> Op | None:
        destroy_map = {}
        info = node.op.info
        for k in range(info.n_mit_mot + info.n_mit_sot + info.n_sit_sot):
            position = 1 + info.n_seqs + k
            if node.inputs[position].owner is not None and memory.may_be_taken(node, position):
                memory.take(node, position)
                destroy_map[k] = [position]
        return node.op.overwriting(destroy_map) if destroy_map else None

    def apply(self, fgraph: FunctionGraph) -> int:
        """Return the number of loops that were replaced."""
        self.add_requirements(fgraph)
        return super().apply(fgraph)
