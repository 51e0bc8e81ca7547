"""Graphs: types, variables, applications of Ops, and what is done with them."""

from aesara.graph.basic import (
    Apply,
    Constant,
    Variable,
    ancestors,
    clone,
    clone_replace,
    graph_inputs,
    graph_replace,
)
from aesara.graph.fg import FunctionGraph
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import graph_rewriter, node_rewriter
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.graph.type import Type

__all__ = [
    "Apply",
    "Constant",
    "FunctionGraph",
    "Op",
    "RewriteDatabaseQuery",
    "Type",
    "Variable",
    "ancestors",
    "clone",
    "clone_replace",
    "graph_inputs",
    "graph_replace",
    "graph_rewriter",
    "node_rewriter",
    "rewrite_graph",
]
