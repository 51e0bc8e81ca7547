"""The names of ``aesara.graph.basic``; what they mean is defined where each concept lives."""

from aesara.configdefaults import config
from aesara.graph.cloning import (
    clone,
    clone_get_equiv,
    clone_node_and_cache,
    clone_replace,
    graph_replace,
    replace_nominals_with_dummies,
)
from aesara.graph.equality import equal_computations
from aesara.graph.formatting import as_string, default_leaf_formatter, default_node_formatter, op_as_string
from aesara.graph.nodes import Apply, AtomicVariable, Constant, Node, NominalVariable, Variable
from aesara.graph.traversal import (
    ancestors,
    apply_depends_on,
    applys_between,
    explicit_graph_inputs,
    general_toposort,
    get_var_by_name,
    graph_inputs,
    io_connection_pattern,
    io_toposort,
    is_in_ancestors,
    list_of_nodes,
    orphans_between,
    truncated_graph_inputs,
    variable_depends_on,
    vars_between,
    view_roots,
    walk,
)
from aesara.graph.utils import NoParams

__all__ = [
    "Apply",
    "AtomicVariable",
    "Constant",
    "NoParams",
    "Node",
    "NominalVariable",
    "Variable",
    "ancestors",
    "apply_depends_on",
    "applys_between",
    "as_string",
    "clone",
    "clone_get_equiv",
    "clone_node_and_cache",
    "clone_replace",
    "config",
    "default_leaf_formatter",
    "default_node_formatter",
    "equal_computations",
    "explicit_graph_inputs",
    "general_toposort",
    "get_var_by_name",
    "graph_inputs",
    "graph_replace",
    "io_connection_pattern",
    "io_toposort",
    "is_in_ancestors",
    "list_of_nodes",
    "op_as_string",
    "orphans_between",
    "replace_nominals_with_dummies",
    "truncated_graph_inputs",
    "variable_depends_on",
    "vars_between",
    "view_roots",
    "walk",
]
