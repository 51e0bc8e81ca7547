"""The graph of a function in a pickle.

It is stored rewritten, in a nested pickle that is decoded when somebody looks at the graph, beside what the linker has
made of it, which serves if it suits the machine where the function is loaded.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from aesara.compile.io import SymbolicInput, SymbolicOutput
from aesara.graph.container import Container
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Variable
from aesara.graph.pickling import NestedPickle
from aesara.graph.shared import SharedVariable
from aesara.records import dataclass
from aesara.tensor.core.tensor_type import TensorType

#: bytes of a constant that is worth a place of its own in a pickle
_SMALL = 512


@dataclass
class StoredGraph:
    """The graph of a maker: inputs, outputs and what the linker knows of nodes; facts of its outputs."""

    content: NestedPickle | tuple
    borrow: list[bool]
    types: list[tuple[object, str | None]]

    @classmethod
    def pack(
        cls, fgraph: FunctionGraph, inputs: list[SymbolicInput], outputs: list[SymbolicOutput], symbols: object
    ) -> StoredGraph:
        """Put a graph into a nested pickle.

        Parameters
        ----------
        fgraph
            The graph.
        inputs, outputs
            Descriptions of its inputs and of the outputs that the function returns.
        symbols
            What the linker knows of its nodes.
        """
        content = list(fgraph.inputs), list(fgraph.outputs), symbols
        explicit = {id(spec.variable) for spec in inputs}

        def stays_outside(item: object) -> bool:
            if isinstance(item, np.ndarray):
                return item.nbytes > _SMALL
            return isinstance(item, (Container, SharedVariable)) or id(item) in explicit

        nested = NestedPickle.pack(content, stays_outside) or content
        return cls(nested, [spec.borrow for spec in outputs], [(out.type, out.name) for out in fgraph.outputs])

    def unpack(self, update_mapping: dict[int, int]) -> tuple[FunctionGraph, list[SymbolicOutput], Any]:
        """Take the graph out: itself, descriptions of the returned outputs, and what the linker knows of its nodes."""
        content = self.content.unpack() if isinstance(self.content, NestedPickle) else self.content
        inputs, outputs, symbols = content
        graph = FunctionGraph(inputs, outputs, clone=False, update_mapping=dict(update_mapping))
        if any(node.op.destroy_map for node in graph.apply_nodes):
            graph.attach_feature(DestroyHandler())
        return graph, [SymbolicOutput(variable, borrow) for variable, borrow in zip(outputs, self.borrow)], symbols


def without_graph(spec: SymbolicInput) -> SymbolicInput:
    """A description without the update's expression, which the graph holds anyway."""
    spec = copy.copy(spec)
    spec.update = None
    return spec


def facts_of(value: object) -> Any:
    """Reduce the description of a function to plain values, for the checksum of a pickle.

    Parts with a checksum of their own are left out, as are the values of arguments and shared variables, and objects
    that are needed only to compile the function again.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [facts_of(one) for one in value]
    if isinstance(value, dict):
        return [(facts_of(key), facts_of(one)) for key, one in value.items()]
    if isinstance(value, TensorType):
        return value.dtype, value.shape
    if isinstance(value, Variable):
        return facts_of(value.type), value.name
    if isinstance(value, (SymbolicInput, StoredGraph)):
        return facts_of({key: one for key, one in vars(value).items() if key not in ("value", "content")})
    return type(value).__qualname__
