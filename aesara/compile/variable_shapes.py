"""The shapes of all variables of a graph, from the shapes of its inputs."""

from __future__ import annotations

from typing import Any

from aesara.compile.function import function
from aesara.graph import hooks
from aesara.graph.cloning import clone_replace
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import applys_between, graph_inputs
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.creation.make_vector import vector_of
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.shape import Shape, Shape_i


@hooks.shape_of_variables.set
def shape_of_variables(fgraph: FunctionGraph, input_shapes: dict[Variable, object]) -> dict[Variable, tuple[int, ...]]:
    """See `aesara.tensor.utils.shape_of_variables`."""
    # On a copy, because the feature would stay attached.
    graph, copies = fgraph.clone_get_equiv(check_integrity=False, attach_feature=False)
    feature = ShapeFeature()
    graph.attach_feature(feature)
    for variable, shape in input_shapes.items():
        _give_shape(feature, variable, copies.get(variable), shape)
    variables = [v for v in fgraph.clients if hasattr(v.type, "ndim")]
    symbolic = {v: feature.shape_of[copies[v]] for v in variables}
    lengths = _without_shape_nodes([as_tensor_variable(n) for v in variables for n in symbolic[v]], feature)
    _refuse_inputs(lengths, {copies[v]: v for v in fgraph.inputs})
    compute = function([], lengths, mode="FAST_COMPILE")  # type: ignore[operator]  # named like its module
    numbers = iter(compute())
    return {v: tuple([int(next(numbers)) for _ in symbolic[v]]) for v in variables}


def _give_shape(feature: ShapeFeature, variable: Variable, copy: Variable | None, shape: Any) -> None:
    if copy is None or copy.owner is not None:
        raise ValueError(f"A shape was given for {describe(variable)}, which is not an input of the graph.")
    shape = tuple([int(n) for n in shape])
    static = variable.type.shape
    if len(shape) != len(static) or any(n not in (None, length) for n, length in zip(static, shape)):
        raise ValueError(
            f"{describe(variable)} of type {variable.type} cannot have the shape {shape} that was given for it."
        )
    feature.shape_of[copy] = tuple([constant(n, dtype="int64") for n in shape])


def _without_shape_nodes(lengths: list[Variable], feature: ShapeFeature) -> list[Variable]:
    """Replace shapes of variables in `lengths` by the expressions that the shape feature infers."""
    graph = feature.fgraph
    assert graph is not None
    while True:
        replacements = {}
        for node in applys_between([], lengths):
            if isinstance(node.op, (Shape, Shape_i)) and node.inputs[0] in graph.clients:
                shape = feature.shape_of[node.inputs[0]]
                if isinstance(node.op, Shape):
                    replacements[node.outputs[0]] = vector_of(shape)
                elif not _is_own_length(shape[node.op.i], node.inputs[0]):
                    replacements[node.outputs[0]] = shape[node.op.i]
        if not replacements:
            return lengths
        lengths = clone_replace(lengths, replacements)


def _is_own_length(length: Variable, variable: Variable) -> bool:
    """Return whether a length is a `Shape_i` of the variable itself, and so not computed from anything else."""
    return length.owner is not None and isinstance(length.owner.op, Shape_i) and length.owner.inputs[0] is variable


def _refuse_inputs(lengths: list[Variable], originals: dict[Variable, Variable]) -> None:
    left = [originals[v] for v in graph_inputs(lengths) if not isinstance(v, Constant) and v in originals]
    if left:
        raise ValueError(
            f"The shapes depend on {', '.join(map(str, dict.fromkeys(left)))}: give the shape of every input that is "
            "not known from its type. Shapes that depend on the values of inputs cannot be told."
        )
