"""Graphs as one-line formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.traversal import io_toposort, orphans_between


def default_leaf_formatter(leaf: Variable) -> str:
    """Return the text of an input."""
    return str(leaf)


def default_node_formatter(op: Apply, argstrings: list[str]) -> str:
    """Return the text of a node, given those of its inputs.

    Parameters
    ----------
    op
        The node.
    argstrings
        Texts of the inputs.
    """
    return f"{op.op}({', '.join(argstrings)})"


def op_as_string(
    i: list[Variable],
    op: Apply,
    leaf_formatter: Callable[..., Any] = default_leaf_formatter,
    node_formatter: Callable[..., Any] = default_node_formatter,
) -> str:
    """Return the text of a node whose graph begins at the variables `i`."""
    argstrings = as_string(i, op.inputs, leaf_formatter, node_formatter)
    return node_formatter(op, argstrings)


def as_string(
    inputs: list[Variable],
    outputs: list[Variable],
    leaf_formatter: Callable[..., Any] = default_leaf_formatter,
    node_formatter: Callable[..., Any] = default_node_formatter,
) -> list[str]:
    """Return the formulas of `outputs`.

    What is used several times is written once, as ``*1 -> ...``, and then as ``*1``.

    Parameters
    ----------
    inputs, outputs
        Borders of the graph.
    leaf_formatter
        Returns the text of an input.
    node_formatter
        Returns the text of a node, given the texts of its inputs.

    Examples
    --------
    ::

        as_string([x], [(x + x) * (x + x)])  # ['mul(*1 -> add(x, x), *1)']
    """
    shared = _numbered_nodes(inputs, outputs)
    if node_formatter is default_node_formatter:
        stop = set(inputs)
        written: set[Apply] = set()
        return [_formula(output, stop, shared, written, leaf_formatter) for output in outputs]
    return _formulas_by(inputs, outputs, shared, leaf_formatter, node_formatter)


def _numbered_nodes(inputs: list[Variable], outputs: list[Variable]) -> dict[Apply, int]:
    """Number the nodes that are used more than once, in the order of their first use."""
    stop = set(inputs) | set(orphans_between(inputs, outputs))
    uses: dict[Apply, int] = {}
    stack = list(reversed(outputs))
    first_use: list[Apply] = []
    while stack:
        variable = stack.pop()
        if variable in stop:
            continue
        node = variable.owner
        assert node is not None
        uses[node] = uses.get(node, 0) + 1
        if uses[node] == 1:
            first_use.append(node)
            stack.extend(reversed(node.inputs))
    repeated = [node for node in first_use if uses[node] > 1]
    return {node: number for number, node in enumerate(repeated, 1)}


def _output_prefix(variable: Variable) -> str:
    node = variable.owner
    assert node is not None
    is_default = variable.index == (getattr(node.op, "default_output", None) or 0)
    return "" if is_default else f"::{variable.index}"


def _formula(
    output: Variable,
    stop: set[Variable],
    shared: dict[Apply, int],
    written: set[Apply],
    leaf_formatter: Callable[..., Any],
) -> str:
    """Write a formula piece by piece, so that the time does not grow with the square of the depth."""
    parts: list[str] = []
    stack: list[Any] = [output]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        node = item.owner
        if node is None or item in stop:
            parts.append(leaf_formatter(item))
            continue
        suffix = _output_prefix(item)
        if node in shared:
            if node in written:
                parts.append(f"*{shared[node]}{suffix}")
                continue
            written.add(node)
            parts.append(f"*{shared[node]}{suffix} -> ")
        elif suffix:
            parts.append(f"{suffix[2:]}:")
        parts.append(f"{node.op}(")
        stack.append(")")
        for position, variable in enumerate(reversed(node.inputs)):
            if position:
                stack.append(", ")
            stack.append(variable)
    return "".join(parts)


def _formulas_by(
    inputs: list[Variable],
    outputs: list[Variable],
    shared: dict[Apply, int],
    leaf_formatter: Callable[..., Any],
    node_formatter: Callable[..., Any],
) -> list[str]:
    """Write formulas with a formatter that needs whole texts of the inputs."""
    stop = set(inputs)
    first: dict[Apply, str] = {}
    used: set[Apply] = set()

    def text_of(variable: Variable) -> str:
        node = variable.owner
        if node is None or variable in stop:
            return leaf_formatter(variable)
        suffix = _output_prefix(variable)
        if node not in shared:
            return f"{suffix[2:]}:{first[node]}" if suffix else first[node]
        if node in used:
            return f"*{shared[node]}{suffix}"
        used.add(node)
        return f"*{shared[node]}{suffix} -> {first[node]}"

    for node in io_toposort(inputs, outputs):
        first[node] = node_formatter(node, [text_of(variable) for variable in node.inputs])
    return [text_of(output) for output in outputs]
