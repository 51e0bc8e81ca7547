"""A set that remembers the order in which elements were added, under Aesara's path."""

from aesara.graph.rewriting.ordered_set import OrderedSet

__all__ = ["OrderedSet"]
