"""Parts of a graph to draw: nodes in the order of execution, inputs, outputs, updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from aesara.compile.function.function import Function
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.traversal import graph_inputs, io_toposort
from aesara.records import dataclass
from aesara.scan.op import Scan
from aesara.subgraph import OpFromGraph

__all__ = ["GraphParts", "graph_between", "outer_positions", "parts_of"]


@dataclass(frozen=True)
class GraphParts:
    """A graph.

    Attributes
    ----------
    nodes
        In the order of execution.
    inputs, outputs
        The ends; constants are no inputs.
    updated
        Number of an output that is a shared variable's new value -> the variable.
    """

    nodes: Sequence[Apply]
    inputs: Sequence[Variable]
    outputs: Sequence[Variable]
    updated: Mapping[int, Variable] = field(default_factory=dict)


def graph_between(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> GraphParts:
    """The graph from inputs to outputs."""
    return GraphParts(list(io_toposort(inputs, outputs)), list(inputs), list(outputs))


def parts_of(fct: Any) -> GraphParts:
    """The parts of a function, a `FunctionGraph`, an Apply, a variable, or a list of variables."""
    if isinstance(fct, Function):
        fct = fct.maker.fgraph
    if isinstance(fct, FunctionGraph):
        updates = getattr(fct, "update_mapping", None) or {}
        updated = {output: fct.inputs[at] for output, at in updates.items()}
        return GraphParts(list(fct.toposort()), list(fct.inputs), list(fct.outputs), updated)
    if isinstance(fct, Apply):
        fct = fct.outputs
    outputs = [fct] if isinstance(fct, Variable) else list(fct) if isinstance(fct, (list, tuple)) else None
    if outputs is None or not all(isinstance(one, Variable) for one in outputs):
        raise TypeError(f"Only functions, FunctionGraphs, Apply nodes and variables can be drawn, got {describe(fct)}.")
    return graph_between([one for one in graph_inputs(outputs) if not isinstance(one, Constant)], outputs)


def outer_positions(node: Apply, inner_inputs: Sequence[Variable]) -> dict[Variable, int]:
    """Input of the graph inside of a node -> number of the node's input that it stands for, if that is known."""
    op: Any = node.op
    if isinstance(op, Scan):
        return dict(zip(inner_inputs, op.outer_positions()[0]))
    if isinstance(op, OpFromGraph):
        return {variable: k for k, variable in enumerate(inner_inputs)}
    mappings = getattr(op, "get_oinp_iinp_iout_oout_mappings", None)
    if mappings is None:
        return {}
    return {inner_inputs[inner]: outer for inner, outer in mappings()["outer_inp_from_inner_inp"].items()}
