"""Nodes of PyTensor that run in Python."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.scalar.basic import ScalarType

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.type import Type

__all__ = ["PerformOp"]


class PerformOp(Op):
    """A node of PyTensor that is computed by the ``perform`` of its Op.

    Two `PerformOp` objects are equal if PyTensor would merge their nodes, given equal inputs.

    Parameters
    ----------
    node
        The node.
    symbolic
        The positions of inputs that are variables; the others are constants.
    output_types
        The converted types of its outputs.
    """

    __props__ = ("computation",)

    def __init__(self, node: PyTensorApply, symbolic: Sequence[int], output_types: Sequence[Type]) -> None:
        self.node = node
        self.symbolic, self.output_types = tuple(symbolic), tuple(output_types)
        self.computation = _computation(node, self.symbolic)
        index_of = {position: i for i, position in enumerate(symbolic)}
        views = {o: [index_of[i] for i in viewed if i in index_of] for o, viewed in node.op.view_map.items()}
        if views:
            self.view_map = views
        self._prepared = False

    def __str__(self) -> str:
        return f"{self.node.op}"

    def make_node(self, *inputs: Variable) -> Apply:
        return Apply(self, list(inputs), [type() for type in self.output_types])

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: Sequence[list[Any]]) -> None:
        their_node = self.node
        if not self._prepared:
            their_node.op.prepare_node(their_node, None, None, "py")
            self._prepared = True
        values = [getattr(variable, "data", None) for variable in their_node.inputs]
        for position, value in zip(self.symbolic, inputs):
            values[position] = value[()] if isinstance(their_node.inputs[position].type, ScalarType) else value
        for positions in their_node.op.destroy_map.values():
            for position in positions:
                values[position] = deepcopy(values[position])
        cells: list[list[Any]] = [[None] for _ in their_node.outputs]
        their_node.op.perform(their_node, values, cells)
        for variable, cell, output in zip(their_node.outputs, cells, outputs):
            value = cell[0]
            output[0] = np.asarray(value, variable.type.dtype) if isinstance(variable.type, ScalarType) else value


def _computation(node: PyTensorApply, symbolic: tuple[int, ...]) -> Hashable:
    """Return the Op of a node, its constants and types, or the node itself if one of them is not hashable.

    Constants among the symbolic inputs are treated as inputs.
    """
    constants = tuple(
        (position, variable.signature() if hasattr(variable, "signature") else variable)
        for position, variable in enumerate(node.inputs)
        if position not in symbolic
    )
    types = tuple(variable.type for variable in (*node.inputs, *node.outputs))
    computation = node.op, symbolic, constants, types
    try:
        hash(computation)
    except TypeError:
        return node
    return computation
