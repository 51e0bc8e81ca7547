"""Replacing variables of graphs."""

from aesara.graph.cloning import clone_replace, graph_replace
from aesara.graph.vectorization import vectorize_graph, vectorize_node

__all__ = ["clone_replace", "graph_replace", "vectorize_graph", "vectorize_node"]
