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
from aesara.graph.type import Type

__all__ = [
    "Apply",
    "Constant",
    "FunctionGraph",
    "Op",
    "Type",
    "Variable",
    "ancestors",
    "clone",
    "clone_replace",
    "graph_inputs",
    "graph_replace",
]
