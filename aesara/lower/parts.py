"""Lowering of ops on composite values: their parts are variables, and the op is an expression of parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.parts import OnParts, flat, group_by_type, has_parts
from aesara.graph.source import inherit_source
from aesara.graph.traversal import io_toposort
from aesara.lower.context import Context
from aesara.lower.errors import Unsupported

__all__ = ["lower_on_parts", "parts_of"]


def parts_of(variable: Variable, context: Context) -> tuple[Variable, ...]:
    """Return the parts of a variable."""
    parts = context.parts_of.get(variable)
    if parts is None:
        if not isinstance(variable, Constant):
            raise Unsupported(f"a value of type {variable.type}")
        kinds = variable.type.part_types()
        assert kinds is not None
        parts = tuple([kind.make_constant(part) for kind, part in zip(kinds, variable.type.take_apart(variable.data))])
        context.parts_of[variable] = parts
    return parts


def lower_on_parts(node: Apply, context: Context, lower: Callable[[Apply, Context], None]) -> dict[Variable, Variable]:
    """Lower a node with composite inputs or outputs, by `lower` for each node on their parts.

    Returns
    -------
    dict
        The variables that replace the outputs without parts.
    """
    first = len(context.items)
    inputs = [parts_of(v, context) if has_parts(v) else v for v in node.inputs]
    with inherit_source(node):
        results = _expression(node, inputs)
    known = flat(inputs)
    for inner_node in io_toposort(known, [v for v in flat(results) if v not in known]):
        if not all(map(context.has, inner_node.outputs)):
            lower(inner_node, context)
            if isinstance(inner_node.op, OnParts):  # it replaces the node
                context.item_numbers.pop(inner_node)
                if inner_node in context.reasons:
                    context.reasons[node] = context.reasons.pop(inner_node)
    replacements: dict[Variable, Variable] = {}
    for variable, result in zip(node.outputs, results, strict=True):
        if isinstance(result, tuple):
            context.parts_of[variable] = result
        else:
            replacements[variable] = result
    context.item_numbers[node] = range(first, len(context.items))
    return replacements


def _expression(
    node: Apply, inputs: Sequence[Variable | tuple[Variable, ...]]
) -> list[Variable | tuple[Variable, ...]]:
    """Return the outputs of a node, in terms of parts."""
    in_parts = getattr(node.op, "in_parts", None)
    results = None if in_parts is None else in_parts(node, *inputs)
    if results is None:
        on_parts = OnParts(node).make_node(*flat(inputs))
        return list(group_by_type([variable.type for variable in node.outputs], on_parts.outputs))
    for variable, result in zip(node.outputs, results, strict=True):
        kinds = variable.type.part_types()
        expected = (variable.type,) if kinds is None else kinds
        for kind, part in zip(expected, result if isinstance(result, tuple) else (result,), strict=True):
            assert part.type.dtype == kind.dtype and part.type.ndim == kind.ndim, (node, part.type, kind)
    return list(results)
