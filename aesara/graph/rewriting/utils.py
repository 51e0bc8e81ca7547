"""Rewriting of graphs without compiling them, and comparison of graphs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from aesara.graph.cloning import clone_replace
from aesara.graph.equality import equal_computations
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, AtomicVariable, Variable
from aesara.graph.rewriting.databases import load_rules, optdb
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.merge import MergeOptimizer
from aesara.graph.rewriting.older_names import older_names
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.traversal import graph_inputs
from aesara.user_code import warn_user


def rewrite_graph(
    graph: Variable | Sequence[Variable] | FunctionGraph,
    include: Sequence[str] = ("canonicalize",),
    custom_rewrite: GraphRewriter | None = None,
    clone: bool = False,
    custom_opt: GraphRewriter | None = None,
    **kwargs: Any,
) -> Variable | Sequence[Variable] | FunctionGraph:
    """Apply the rewrites of some tags to a graph, without compiling it.

    Parameters
    ----------
    graph
        A variable, a list of variables or a `FunctionGraph`.
    include
        Tags of the rewrites.
    custom_rewrite
        A rewriter to apply after them.
    clone
        Leave the graph as it is and return a rewritten copy. (A `FunctionGraph` is otherwise
        rewritten in place.)
    custom_opt
        Old name of `custom_rewrite`.
    kwargs
        Further arguments of the `RewriteDatabaseQuery`, such as `exclude`.

    Returns
    -------
    The rewritten variable, list of variables or `FunctionGraph`.

    Examples
    --------
    >>> x, y = at.dvectors("x", "y")
    >>> rewrite_graph(x * y / x)
    y
    """
    if custom_opt is not None:
        warn_user("`custom_opt` is deprecated; use `custom_rewrite` instead.", DeprecationWarning)
        custom_rewrite = custom_opt
    if isinstance(graph, FunctionGraph):
        fgraph = graph.clone() if clone else graph
    else:
        outputs = [graph] if isinstance(graph, Variable) else list(graph)
        fgraph = FunctionGraph(outputs=outputs, clone=clone)
    query = RewriteDatabaseQuery(include=include, **kwargs)
    load_rules()
    optdb.query(query).rewrite(fgraph)
    if custom_rewrite is not None:
        custom_rewrite.rewrite(fgraph)
    if isinstance(graph, FunctionGraph):
        return fgraph
    if isinstance(graph, Variable):
        return fgraph.outputs[0]
    return list(fgraph.outputs)


def is_same_graph_with_merge(var1: Variable, var2: Variable, givens: Any = None) -> bool:
    """`is_same_graph` by merging: both are the same when they merge into one variable."""
    pair = [var1, var2]
    if givens:
        pair = clone_replace(pair, replace=dict(givens))
    inputs = [var for var in graph_inputs(pair) if not isinstance(var, AtomicVariable)]
    fgraph = FunctionGraph(inputs, pair, clone=True, features=None)
    MergeOptimizer().rewrite(fgraph)
    return fgraph.outputs[0] is fgraph.outputs[1]


def is_same_graph(var1: Variable, var2: Variable, givens: Any = None) -> bool:
    """Return whether two variables are computed in the same way from the same inputs.

    Parameters
    ----------
    var1, var2
        The variables.
    givens
        Variables to be taken for others: a dict or pairs ``(variable, replacement)``.

    Returns
    -------
    bool

    Examples
    --------
    >>> x, y = at.dvectors("x", "y")
    >>> is_same_graph(x + 1, x + 1), is_same_graph(x + 1, y + 1)
    (True, False)
    >>> is_same_graph(x + 1, y + 1, givens={x: y})
    True
    """
    pair = [var1, var2]
    if givens:
        pair = clone_replace(pair, replace=dict(givens))
    return bool(equal_computations([pair[0]], [pair[1]]))


def get_clients_at_depth(fgraph: FunctionGraph, node: Apply, depth: int) -> Generator[Apply, None, None]:
    """The nodes that use the outputs of `node`, `depth` steps up.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> inner = x + 1
    >>> fgraph = FunctionGraph([x], [at.exp(inner)], clone=False)
    >>> [str(node.op) for node in get_clients_at_depth(fgraph, inner.owner, 1)]
    ['Elemwise{exp,no_inplace}']
    """
    level = [node]
    for _ in range(depth):
        level = [
            client
            for below in level
            for output in below.outputs
            for client, _index in fgraph.clients.get(output, ())
            if isinstance(client, Apply)
        ]
    yield from level


#: Old names, and what they are called today.
DEPRECATED_NAMES = {"optimize_graph": "rewrite_graph"}
__getattr__ = older_names(globals(), DEPRECATED_NAMES)
