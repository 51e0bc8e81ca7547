"""Removal of sequences that are read only for their shapes.

The step of a gradient often reads the shape of a state, as in ``zeros_like(state)``. If it reads nothing else of the
state, the loop that has computed the state need not keep its rows.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.source import inherit_source
from aesara.graph.traversal import io_toposort
from aesara.scan.arguments import ScanArgs
from aesara.scan.editing import apply_edited
from aesara.scan.op import Scan
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import AllocEmpty
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.shape import Shape_i

__all__ = ["read_shapes_elsewhere"]


@node_rewriter([Scan])
def read_shapes_elsewhere(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Remove sequences that are rows of other loops and of which the step reads only lengths.

    The step reads the lengths from its states or non-sequences instead, or from an uninitialized array of the same
    shape.
    """
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None:
        return False
    positions = [k for k, outer in enumerate(node.op.outer_seqs(node.inputs)) if _is_of_loop(outer)]
    if not positions:
        return False
    args = ScanArgs.from_node(node)
    readers = _readers(args)
    positions = [k for k in positions if _is_read_for_lengths(args.inner_in_seqs[k], readers)]
    if not positions:
        return False
    replacements: dict[Variable, Variable] = {}
    shape_arrays: list[tuple[Any, Any]] = []
    for k in positions:
        outer, inner = args.outer_in_seqs[k], args.inner_in_seqs[k]
        for reader in readers.get(inner, ()):
            length = _same_length(feature, outer, 1 + reader.op.i, args)
            if length is None:
                with inherit_source(node):
                    shape_arrays.append(_shape_array(outer, inner))
                length = Shape_i(reader.op.i)(shape_arrays[-1][1])
            replacements[reader.outputs[0]] = length
    args.outer_in_seqs = [v for k, v in enumerate(args.outer_in_seqs) if k not in positions]
    args.inner_in_seqs = [v for k, v in enumerate(args.inner_in_seqs) if k not in positions]
    for outer, inner in shape_arrays:
        args.outer_in_non_seqs.append(outer)
        args.inner_in_non_seqs.append(inner)
    args.replace_inner(replacements)
    return apply_edited(args, node)


def _is_of_loop(rows: Variable) -> bool:
    """Return whether the rows of a sequence are computed by a loop."""
    while rows.owner is not None and isinstance(rows.owner.op, Subtensor):
        rows = rows.owner.inputs[0]
    return rows.owner is not None and isinstance(rows.owner.op, Scan)


def _readers(args: ScanArgs) -> dict[Variable, list[Any]]:
    """Return the nodes of the step that read each variable; None stands for an output of the step."""
    readers: dict[Variable, list[Any]] = {}
    for node in io_toposort(args.inner_inputs, args.inner_outputs):
        for v in node.inputs:
            readers.setdefault(v, []).append(node)
    for v in args.inner_outputs:
        readers.setdefault(v, []).append(None)
    return readers


def _is_read_for_lengths(inner: Variable, readers: dict[Variable, list[Any]]) -> bool:
    return all(reader is not None and isinstance(reader.op, Shape_i) for reader in readers.get(inner, ()))


def _same_length(feature: Any, outer: Variable | None, axis: int, args: ScanArgs) -> Variable | None:
    """Return the length of a dimension as that of another variable of the step or as a constant, or None."""
    length = feature.shape_of[outer][axis]
    if isinstance(length, Constant):
        return constant(int(length.data), dtype="int64")
    states = [*zip(args.outer_in_sit_sot, args.inner_in_sit_sot)]
    states += [(buffer, inner[0]) for buffer, inner in zip(args.outer_in_mit_sot, args.inner_in_mit_sot)]
    for first, pairs in ((1, states), (0, zip(args.outer_in_non_seqs, args.inner_in_non_seqs))):
        for other, inner in pairs:
            for d in range(first, getattr(other.type, "ndim", 0)):
                if feature.same_shape(outer, other, axis, d):
                    return Shape_i(d - first)(inner)
    return None


def _shape_array(outer: Any, inner: Any) -> tuple[Any, Any]:
    """Return an uninitialized array with the shape of a row, and the variable of the step for it."""
    sizes = sizes_of(outer)[1:]
    return AllocEmpty("int8")(*sizes), TensorType("int8", inner.type.shape)()
