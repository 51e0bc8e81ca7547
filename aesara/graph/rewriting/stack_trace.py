"""Source locations of nodes in the user's program, and their preservation by rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from aesara.configdefaults import config
from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.source import inherit_source
from aesara.user_code import warn_user


def _as_list(vars: Any) -> list[Variable]:
    return list(vars) if isinstance(vars, (list, tuple)) else [vars]


def copy_stack_trace(from_var: Any, to_var: Any) -> Any:
    """Let `to_var` be known to come from the lines that `from_var` comes from.

    Parameters
    ----------
    from_var, to_var
        A variable or a list of variables. Nodes of `to_var` that know their line keep it.

    Returns
    -------
    `to_var`
    """
    source = None
    trace: list[Any] = []
    for var in _as_list(from_var):
        if var.owner is not None and source is None:
            source = var.owner.source
        trace.extend(getattr(var.tag, "trace", ()))
    for var in _as_list(to_var):
        if var.owner is not None and var.owner.source is None:
            var.owner.source = source
        if trace:
            known = getattr(var.tag, "trace", [])
            var.tag.trace = [
                *known,
                *(entry for entry in trace if entry not in known),
            ]
    return to_var


def inherit_stack_trace(from_var: Any) -> Any:
    """A context in which new nodes are known to come from where `from_var` comes from."""
    from_vars = _as_list(from_var)
    owner = next((var.owner for var in from_vars if var.owner is not None), None)
    return inherit_source(owner.source if owner is not None else None)


def has_source(node: Apply) -> bool:
    """Return whether the source line of a node is known."""
    if node.source is not None:
        return True
    return any(getattr(var.tag, "trace", None) for var in node.outputs)


def check_stack_trace(
    f_or_fgraph: Any, ops_to_check: Any = "last", bug_print: Literal["raise", "warn", "ignore"] = "raise"
) -> bool:
    """Return whether the source lines of a graph's nodes are known.

    Parameters
    ----------
    f_or_fgraph
        A compiled function or a `FunctionGraph`.
    ops_to_check
        ``"last"`` (the nodes of the outputs), ``"all"``, an op, a class of ops, a function of a
        node, or a sequence of ops and classes.
    bug_print
        What to do if one does not: ``"raise"``, ``"warn"`` or ``"ignore"``.

    Returns
    -------
    bool
    """
    fgraph = f_or_fgraph
    if not isinstance(fgraph, FunctionGraph):
        fgraph = getattr(getattr(f_or_fgraph, "maker", None), "fgraph", None)
        if fgraph is None:
            raise ValueError(f"`f_or_fgraph` must be a compiled function or a FunctionGraph; got {f_or_fgraph!r}.")
    nodes = _nodes_to_check(fgraph, ops_to_check)
    missing = [node for node in nodes if not has_source(node)]
    if missing:
        text = f"These nodes do not know which line they come from: {missing}"
        if bug_print == "raise":
            raise Exception(text)
        if bug_print == "warn":
            warn_user(text)
    return not missing


def _nodes_to_check(fgraph: FunctionGraph, ops_to_check: Any) -> list[Apply]:
    if isinstance(ops_to_check, str):
        if ops_to_check == "last":
            owners = [var.owner for var in fgraph.outputs if var.owner is not None]
            return list(dict.fromkeys(owners))
        if ops_to_check == "all":
            return list(fgraph.apply_nodes)
        raise ValueError(f"`ops_to_check` as a string is 'last' or 'all'; got {ops_to_check!r}.")
    if isinstance(ops_to_check, type):
        return [node for node in fgraph.apply_nodes if isinstance(node.op, ops_to_check)]
    if isinstance(ops_to_check, Sequence):
        classes = tuple(op for op in ops_to_check if isinstance(op, type))
        others = [op for op in ops_to_check if not isinstance(op, type)]
        return [n for n in fgraph.apply_nodes if isinstance(n.op, classes) or n.op in others]
    if isinstance(ops_to_check, Op):
        return [node for node in fgraph.apply_nodes if node.op == ops_to_check]
    if callable(ops_to_check):
        return [node for node in fgraph.apply_nodes if ops_to_check(node)]
    raise ValueError(f"`ops_to_check` is not understood: {ops_to_check!r}.")


class CheckStackTraceFeature(Feature):
    """Reports nodes that enter a graph without knowing the line that they come from."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        choice = config.check_stack_trace
        if choice == "off" or has_source(node):
            return
        text = f"The node {node} entered the graph without its line (by {reason})."
        if choice == "raise":
            raise AssertionError(text)
        if choice in ("log", "warn"):
            warn_user(text)


class CheckStackTraceRewriter(GraphRewriter):
    """Attaches a `CheckStackTraceFeature` where `config.check_stack_trace` asks for it."""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        if config.check_stack_trace != "off":
            fgraph.attach_feature(CheckStackTraceFeature())

    def apply(self, fgraph: FunctionGraph) -> None:
        """Nothing to do: the feature does the work."""
