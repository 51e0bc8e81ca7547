"""The graph of a function, from descriptions of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.compile.function.aliasing import Supervisor
from aesara.compile.io import SymbolicInput, SymbolicOutput
from aesara.graph.features import PreserveVariableAttributes
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Variable
from aesara.graph.traversal import view_roots


def fgraph_updated_vars(fgraph: FunctionGraph, expanded_inputs: Sequence[SymbolicInput]) -> dict[Variable, Variable]:
    """Return a map from the inputs of a graph that are updated to the outputs with their new values."""
    mapping = fgraph.update_mapping or {}
    return {fgraph.inputs[position]: fgraph.outputs[index] for index, position in mapping.items()}


def std_fgraph(
    input_specs: Sequence[SymbolicInput],
    output_specs: Sequence[SymbolicOutput],
    accept_inplace: bool = False,
    fgraph: FunctionGraph | None = None,
    features: Sequence[type] = (PreserveVariableAttributes,),
    force_clone: bool = False,
) -> tuple[FunctionGraph, list[SymbolicOutput]]:
    """Make the graph of a function.

    Parameters
    ----------
    input_specs, output_specs
        Descriptions of the inputs and outputs.
    accept_inplace
        Whether the graph may hold operations that overwrite their inputs.
    fgraph
        A graph to use instead of building one; its updates must be in its ``update_mapping``.
    features
        Classes of features to attach.
    force_clone
        Clone a given `fgraph`.

    Returns
    -------
    The graph, and descriptions of the outputs that were added for updates.
    """
    positions = [index for index, spec in enumerate(input_specs) if spec.update is not None]
    if fgraph is None:
        updates = [spec.update for spec in input_specs if spec.update is not None]
        mapping = {len(output_specs) + offset: index for offset, index in enumerate(positions)}
        fgraph = FunctionGraph(
            [spec.variable for spec in input_specs],
            [spec.variable for spec in output_specs] + updates,
            update_mapping=mapping,
            clone=True,
        )
    elif force_clone:
        fgraph = fgraph.clone(check_integrity=False)
    n_updates = len(fgraph.outputs) - len(output_specs)
    additional = [SymbolicOutput(variable) for variable in fgraph.outputs[len(output_specs) :]]
    if n_updates != len(fgraph.update_mapping or {}):
        raise ValueError(
            f"The graph has {len(fgraph.outputs)} outputs: {len(output_specs)} are described and "
            f"{len(fgraph.update_mapping or {})} are updates."
        )
    destructive = any(node.op.destroy_map for node in fgraph.apply_nodes)
    if destructive and not accept_inplace:
        names = sorted({str(node.op) for node in fgraph.apply_nodes if node.op.destroy_map})
        raise TypeError(
            f"Graph must not contain inplace operations: {', '.join(names)}. "
            "Build it with operations that do not overwrite their inputs, or pass accept_inplace=True."
        )
    for feature in features:
        fgraph.attach_feature(feature())
    if not hasattr(fgraph, "_supervisor_protected"):
        updated = set((fgraph.update_mapping or {}).values())
        protected = [
            variable
            for index, (variable, spec) in enumerate(zip(fgraph.inputs, input_specs))
            # The value of a state stays if the call fails, and a default value serves the next call, too.
            if not spec.mutable or (not variable.type.restorable if index in updated else spec.value is not None)
        ]
        fgraph.attach_feature(Supervisor(protected))
    return fgraph, additional


def overwrites_arguments(fgraph: FunctionGraph, input_specs: Sequence[SymbolicInput]) -> bool:
    """Tell whether a node of a graph writes over the memory of an argument, or of a part of it."""
    arguments = {variable for variable, spec in zip(fgraph.inputs, input_specs) if not spec.implicit}
    return any(
        not arguments.isdisjoint(view_roots(node.inputs[index]))
        for node in fgraph.apply_nodes
        for indices in (node.op.destroy_map or {}).values()
        for index in indices
    )
