"""The parts of a graph that drawings show: nodes, inputs, outputs and updates."""

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
        The nodes in the order of execution.
    inputs, outputs
        The inputs, without constants, and the outputs.
    updated
        The shared variable for each output, by position, that is its new value.
    """

    nodes: Sequence[Apply]
    inputs: Sequence[Variable]
    outputs: Sequence[Variable]
    updated: Mapping[int, Variable] = field(default_factory=dict)


def graph_between(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> GraphParts:
    """Return the graph from inputs to outputs."""
    return GraphParts(list(io_toposort(inputs, outputs)), list(inputs), list(outputs))


def parts_of(fct: Any) -> GraphParts:
    """Return the parts of a function, a `FunctionGraph`, an Apply, a variable, or a list of variables."""
    if isinstance(fct, Function):
        fct = fct.maker.fgraph
    if isinstance(fct, FunctionGraph):
        updates = getattr(fct, "update_mapping", None) or {}
        updated = {output: fct.inputs[position] for output, position in updates.items()}
        return GraphParts(list(fct.toposort()), list(fct.inputs), list(fct.outputs), updated)
    if isinstance(fct, Apply):
        fct = fct.outputs
    outputs = [fct] if isinstance(fct, Variable) else list(fct) if isinstance(fct, (list, tuple)) else None
    if outputs is None or not all(isinstance(variable, Variable) for variable in outputs):
        raise TypeError(f"Only functions, FunctionGraphs, Apply nodes and variables can be drawn, got {describe(fct)}.")
    return graph_between(
        [variable for variable in graph_inputs(outputs) if not isinstance(variable, Constant)], outputs
    )


def outer_positions(node: Apply, inner_inputs: Sequence[Variable]) -> dict[Variable, int]:
    """Return, for inputs of the inner graph of a node, the positions of the corresponding inputs of
    the node, if known.
    """
    op: Any = node.op
    if isinstance(op, Scan):
        return dict(zip(inner_inputs, op.outer_positions()[0]))
    if isinstance(op, OpFromGraph):
        return {variable: k for k, variable in enumerate(inner_inputs)}
    mappings = getattr(op, "get_oinp_iinp_iout_oout_mappings", None)
    if mappings is None:
        return {}
    return {inner_inputs[inner]: outer for inner, outer in mappings()["outer_inp_from_inner_inp"].items()}
