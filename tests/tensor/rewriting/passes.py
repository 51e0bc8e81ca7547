"""Applies the databases of rewriters to graphs, without compiling them."""

import aesara.tensor.rewriting  # noqa: F401 - registers the rules
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.databases import (
    canonicalize,
    specialize,
    specialize_device,
    stabilize,
    uncanonicalize,
)
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.merge import MergeOptimizer

DATABASES = {
    "canonicalize": canonicalize,
    "stabilize": stabilize,
    "specialize": specialize,
    "uncanonicalize": uncanonicalize,
    "specialize_device": specialize_device,
}


def rewrite(outputs, passes=tuple(DATABASES), exclude=()):
    """The outputs after the passes, and what each pass did; inputs stay the same variables."""
    several = isinstance(outputs, (list, tuple))
    fgraph = FunctionGraph(outputs=list(outputs) if several else [outputs], clone=False, features=None)
    profiles = rewrite_fgraph(fgraph, passes, exclude)
    return (list(fgraph.outputs) if several else fgraph.outputs[0]), profiles


def rewrite_fgraph(fgraph, passes=tuple(DATABASES), exclude=()):
    """Apply the passes to a graph, with errors raised; what each pass did."""
    query = RewriteDatabaseQuery(include=["fast_run"], exclude=exclude)
    profiles = []
    MergeOptimizer().rewrite(fgraph)
    for name in passes:
        rewriter = DATABASES[name].query(query)
        if rewriter is None:
            continue
        rewriter.failure_callback = None
        profiles.append(rewriter.rewrite(fgraph))
        MergeOptimizer().rewrite(fgraph)
    fgraph.check_integrity()
    assert not any(profile.stopped for profile in profiles)
    return profiles


def ops_of(variable):
    """The names of the operations in the graph of a variable, sorted."""
    names = []
    for node in FunctionGraph(outputs=[variable], clone=False).toposort():
        op = node.op
        scalar_op = getattr(op, "scalar_op", None)
        is_elemwise = type(op).__name__ == "Elemwise"
        names.append(type(scalar_op).__name__ if is_elemwise else type(op).__name__)
    return sorted(names)
