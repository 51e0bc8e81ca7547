"""Dispatch of lowering: a registered function for each Op class maps arrays of inputs to arrays of outputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.parts import OnParts, has_parts
from aesara.graph.source import inherit_source
from aesara.graph.traversal import io_toposort
from aesara.ir.expr import NoComplexForm, sharing
from aesara.lower.arrays import Array
from aesara.lower.assemble import Lowered, assemble
from aesara.lower.context import Context
from aesara.lower.control.branches import branches_of_choices, nodes_of_sides
from aesara.lower.errors import Unsupported
from aesara.lower.families import load_lowering
from aesara.lower.parts import lower_on_parts
from aesara.scalar.types import ScalarType
from aesara.tensor.core.tensor_type import TensorType

__all__ = [
    "is_array",
    "lower_all",
    "lower_definition",
    "lower_graph",
    "lower_inline",
    "lower_node",
    "lower_nodes",
    "lower_op",
]


@functools.singledispatch
def lower_op(op: Op, node: Apply, context: Context) -> Sequence[Array]:
    """Lower a node to the arrays of its outputs; raise `Unsupported` if there is no native lowering.

    An Op class of a higher layer with `passes_value_on = True` returns its first input unchanged.
    """
    if getattr(op, "passes_value_on", False):
        return [context.array(node.inputs[0])]
    computed = op.node.op if isinstance(op, OnParts) else op
    raise Unsupported(f"no native lowering for {type(computed).__name__}")


def is_array(variable: Variable) -> bool:
    """Return whether a variable is an array in native code: a dense tensor, a scalar, or the words of a generator."""
    kind = variable.type
    return kind.is_dense if isinstance(kind, TensorType) else isinstance(kind, ScalarType) or kind.in_words


def lower_graph(
    inputs: Sequence[tuple[Variable, bool]],
    outputs: Sequence[Variable],
    updates: dict[int, int],
    returned: int,
    unpack_single: bool,
    checks: Sequence[Variable] = (),
    overwritable: Sequence[int] = (),
    lent: Sequence[int] = (),
) -> Lowered:
    """Lower a graph to a program.

    Parameters
    ----------
    inputs
        The graph's inputs, each with whether it is implicit (a shared variable).
    outputs
        Outputs of the graph: first the `returned` results, then new values of shared variables.
    updates
        Map from the number of an output to that of the shared variable that it updates.
    checks
        Unused results of `CheckAndRaise`, whose checks run before any update.
    overwritable
        Numbers of donated arguments, which lent results may overwrite.
    lent
        Numbers of the results whose memory later calls may reuse.

    Raises
    ------
    Unsupported
        If what enters or leaves the function, or a Python node, is not a tensor.
    """
    for k, variable in enumerate(outputs):
        if variable.type.in_words and k < returned:
            raise Unsupported(f"a result of type {variable.type}")
    with sharing():
        context = lower_nodes(inputs, [*outputs, *checks])
        return assemble(context, outputs, updates, returned, unpack_single, overwritable, lent)


def lower_nodes(inputs: Sequence[tuple[Variable, bool]], outputs: Sequence[Variable]) -> Context:
    """Lower the nodes of a graph to arrays."""
    context = Context()
    for variable, implicit in inputs:
        if not is_array(variable) or (variable.type.in_words and not implicit):
            raise Unsupported(f"an input of type {variable.type}")
        context.add_input(variable, implicit)
    lower_all([v for v, _ in inputs], outputs, context)
    return context


def lower_all(inputs: Sequence[Variable], outputs: Sequence[Variable], context: Context) -> None:
    """Lower all nodes of a graph, except those that only one side of a lazy choice needs."""
    order = io_toposort(inputs, outputs)
    branches = branches_of_choices(order, outputs)
    context.branches |= branches
    lazy = {node for nodes in branches.values() for node in nodes}
    for node in order:
        if node not in lazy:
            lower_node(node, context)


def lower_inline(inputs: Sequence[Variable], outputs: Sequence[Variable], context: Context) -> list[Array]:
    """Lower a graph as part of the node that is being lowered, and return the arrays of its outputs."""
    before = len(context.item_numbers)
    lower_all(inputs, outputs, context)
    while len(context.item_numbers) > before:
        context.item_numbers.popitem()  # the items belong to the node
    return [context.array(v) for v in outputs]


def lower_definition(node: Apply, build: Callable[[list[Any]], Sequence[Variable]], context: Context) -> list[Array]:
    """Lower the graph that defines a node inline; `build` takes a variable for each input."""
    # Arrays are looked up by variable, so each node needs variables of its own.
    inner: list[Any] = [v if isinstance(v, Constant) else v.type() for v in node.inputs]
    for outer, variable in zip(node.inputs, inner, strict=True):
        if variable is not outer:
            context.set(variable, context.array(outer))
    return lower_inline(inner, build(inner), context)


def lower_node(node: Apply, context: Context) -> None:
    if any(map(has_parts, node.inputs)) or any(map(has_parts, node.outputs)):
        for variable, result in lower_on_parts(node, context, lower_node).items():
            context.set(variable, context.array(result))
        return
    if not all(map(is_array, node.outputs)):
        context.deferred.add(node)
        return
    first = len(context.items)
    load_lowering(type(node.op))
    try:
        with inherit_source(node):  # for nodes that are built to be lowered inline
            arrays = [context.ensure_added(array) for array in lower_op(node.op, node, context)]
    except (NoComplexForm, Unsupported) as error:
        reason = str(error)
        if isinstance(error, NoComplexForm):
            reason = f"no native lowering for {type(node.op).__name__} of complex numbers"
        is_lazy = getattr(node.op, "is_lazy", False)
        if is_lazy and (context.outer is not None or any(out.type.in_words for out in node.outputs)):
            # It would hide the reason of a side, and the length of the next state would be unknown.
            raise Unsupported(reason) from None
        leaves, deferred = python_leaves(node, context)
        arrays = context.python_node(node, leaves, reason)
        for inner_node in deferred:
            context.reasons.setdefault(inner_node, _reason_deferred(inner_node))
            numbers = context.item_numbers.get(inner_node, ())
            context.item_numbers[inner_node] = (*numbers, *range(first, len(context.items)))
    for variable, array in zip(node.outputs, arrays, strict=True):
        context.set(variable, array)
    context.item_numbers[node] = range(first, len(context.items))


def _reason_deferred(node: Apply) -> str:
    """Return the reason why a node runs inside of the Python nodes that read its results."""
    return next(f"a value of type {v.type}" for v in node.outputs if not is_array(v))


def python_leaves(node: Apply, context: Context) -> tuple[list[Variable], list[Apply]]:
    """Return the arrays that a Python node reads, and the deferred nodes that it runs first.

    A lazy choice also runs the nodes that only its sides need.
    """
    sides = nodes_of_sides(node, context.branches)
    leaves: dict[Variable, None] = {}
    inlined: dict[Apply, None] = {}
    stack = list(reversed(node.inputs))
    while stack:
        variable = stack.pop()
        if variable in context.arrays:
            leaves[variable] = None
        elif variable.owner is not None:
            if variable.owner not in context.deferred and variable.owner not in sides:
                raise Unsupported(f"{node.op} needs a value of type {variable.type}")
            if variable.owner not in inlined:
                inlined[variable.owner] = None
                stack.extend(reversed(variable.owner.inputs))
    return list(leaves), [inner_node for inner_node in reversed(inlined) if inner_node in context.deferred]
